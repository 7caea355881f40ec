#!/bin/bash
# SPDX-License-Identifier: MIT
# JSON of report, its pages, compare, whatif, list and doctor conforms to docs/schema/*.json, and a document that does not is
# found.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
python3 -c 'import jsonschema' 2>/dev/null || { echo "skipped: no jsonschema here (package python3-jsonschema)"; exit 77; }
schemas=$CHOKEPOINT_SOURCE/docs/schema
check() { python3 "$CHOKEPOINT_SOURCE/tests/tools/check_schema.py" "$schemas/$1.json" "${@:2}" >said 2>&1; }
holds() { check "$@" || fail "$1: $(head -5 said)"; }

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0
for i in 1 2; do
    run -q -n "run$i" sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; sleep 1'
    [ $status -eq 0 ] || fail "no recording"
done
run -q -n fails sh -c 'exit 3'
"$chokepoint" note 1 --db "$db" "what it was" || fail "note"
sgd=$CHOKEPOINT_BIN/chokepoint-sgd
if command -v mpirun >/dev/null && [ -x "$sgd" ]; then
    "$sgd" generate --features 2000 --examples 2000 --files 3 --out data >out 2>&1 || fail "generate"
    run -q -n ranks mpirun --oversubscribe -np 2 "$sgd" --mode sync --transfer dense --features 200000 --data data --iterations 300
    [ $status -eq 0 ] || fail "no recording of ranks: $(tail -3 err)"
fi
for which in $(sql 'SELECT run FROM run'); do
    "$chokepoint" report "$which" --db "$db" --format json >"report.$which" 2>err || fail "report $which"
done
holds report report.*
"$chokepoint" report 1 --db "$db" --format json --max-bytes 5000 >page.1 2>err || fail "a page"
holds page page.1
"$chokepoint" compare 1 2 --db "$db" --format json >compare && holds compare compare
"$chokepoint" whatif last --db "$db" --latency 0.5x --format json >whatif && holds whatif whatif
"$chokepoint" list --db "$db" --format json >list && holds list list
"$chokepoint" doctor --db "$db" --start-timeout 120 --format json >doctor
holds doctor doctor
for golden in report compare; do holds $golden "$CHOKEPOINT_SOURCE/tests/golden/$golden.json"; done
culprit() { jq -c "$2.verdict.properties.culprit" "$schemas/$1.json"; }
[ "$(culprit report .properties)" = "$(culprit compare .properties.runs.items.properties)" ] || fail "a culprit is not the same in both schemas"

# A wrong document does not pass.
wrong() { # SCHEMA FILE FILTER
    jq "$3" "$2" >wrong || fail "jq $3"
    check "$1" wrong && fail "$1 takes $3"
}
wrong report report.1 'del(.run.id)'
wrong report report.1 '.verdict.state = "perhaps"'
wrong report report.1 '.ruled_out[0].reason = null'
wrong report report.1 '.coverage.hosts[0].heard = 1'
wrong report report.1 'del(.coverage.sources[0].recorded)'
wrong page page.1 'del(.cursor)'
wrong report report.1 '.schema = "chokepoint.report/2"'
wrong report report.1 '.resources[0].mean = "much"'
wrong compare compare '.runs = 3'
wrong whatif whatif 'del(.answers[0].scenario)'
wrong list list '.runs[0].state = 1'
wrong doctor doctor '.findings[0].level = "bad"'
exit 0
