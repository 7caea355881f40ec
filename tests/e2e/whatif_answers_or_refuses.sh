#!/bin/bash
# SPDX-License-Identifier: MIT
# `chokepoint whatif` on real recordings: every question gets a bound no larger than the measured time, and a prediction
# or the reason why there is none, with the same bytes each time; senseless questions are refused in one line with exit
# status 2.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh" || exit 1
command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }
ask() { "$chokepoint" whatif --db "$db" "$@"; }

# ---- with its calls ----
run --no-report -n calls "${mpi[@]}" -np 2 "$CHOKEPOINT_BIN/calls_waits"
[ $status -eq 0 ] || fail "exits with $status"
host=$(sql "SELECT name FROM host")
questions=(--link "$host:egress=2x" --link all=200mbit --without "$host:contention" --without all:sleep
    --without-straggler 1 --balanced --cpu "$host=2x")
ask calls "${questions[@]}" --format json >out || fail "whatif exits with $?"
ask calls "${questions[@]}" -o again.json || fail "whatif -o exits with $?"
cmp out again.json || fail "two answers to one question"
jq -e '.schema == "chokepoint.whatif/1" and .run.name == "calls" and .mpi_calls and (.answers | length) == 7' out >/dev/null ||
    fail "not what was asked"
jq -e '.measured_s as $m | [.answers[] | .bound_s >= 0 and .bound_s <= $m] | all' out >/dev/null || fail "bounds"
jq -e '[.answers[] | if .replayed then .refused == null and .predicted_s > 0 and .interval_s.low <= .predicted_s and
        .predicted_s <= .interval_s.high else (.refused | length) > 0 and .predicted_s == null end] | all' out >/dev/null ||
    fail "neither a prediction nor a reason"
jq -e '.answers[0].scenario == "--link " + $h + ":egress=2x"' --arg h "$host" out >/dev/null || fail "the question is not said"
ask calls "${questions[@]}" --together --format json >out || fail "--together exits with $?"
jq -e '(.answers | length) == 1' out >/dev/null || fail "--together is several answers"
ask calls --balanced >out || fail "text exits with $?"
grep -q -- '--balanced' out || fail "the text does not say what was asked"
[ "$(wc -L <out)" -le 100 ] || fail "wider than a terminal"
"$chokepoint" report calls --db "$db" --format json | jq -e '[.critical_path[] | select(.phase == "all") | .seconds] | add > 0' >/dev/null ||
    fail "no critical path in the report"

# ---- the same recording, the same bytes ----
for format in text html json; do
    "$chokepoint" report calls --db "$db" --format $format -o first.$format && "$chokepoint" report calls --db "$db" --format $format -o again.$format ||
        fail "report exits with $?"
    cmp first.$format again.$format || fail "the report in $format differs from one time to the next"
done

# ---- without ----
run --no-report --no-shim -n dark "${mpi[@]}" -np 2 "$CHOKEPOINT_BIN/calls_waits"
[ $status -eq 0 ] || fail "exits with $status"
ask dark --without all:contention --format json >out || fail "whatif exits with $?"
jq -e '.mpi_calls == false and (.answers[0] | (.replayed | not) and .refused == "no MPI calls were recorded")' out >/dev/null ||
    fail "what was not recorded was predicted"

# ---- refused ----
refused() {
    ask "$@" >out 2>err
    local said=$?
    [ $said -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] || fail "whatif $*: exits with $said"
}
refused calls
refused calls --link nowhere=2x
refused calls --link "$host"
refused calls --link "$host=fast"
refused calls --link "$host:sideways=2x"
refused calls --link "$host=-2x"
refused calls --link "$host=1e-300kbit"
refused calls --link "$host=200mbit,fast"
refused calls --quota "$host=0%"
refused calls --quota "$host=2x"
refused calls --link "$host=200mbit,-1kB"
refused calls --without "$host:rain"
refused calls --without contention
refused calls --without-straggler 99
refused calls --without-straggler "$host" # two ranks
refused calls --without-straggler=nowhere
refused --without-straggler nowhere # no such run
refused calls --cpu "$host"
refused calls --cpu "$host=0x"
refused calls --rank 99=2x
for bare in --cpu\ "$host=2" --link\ "$host=200" --disk\ "$host=2" --rank\ 0=2 --latency\ 2; do
    # shellcheck disable=SC2086 # an option and its value
    refused calls $bare
    grep -q "has no unit; right " err || fail "whatif $bare does not say what to write"
done
refused calls --workers 1
refused calls --workers +1
refused calls --balanced --format html
refused nothing --balanced
refused calls dark --balanced
refused calls --balanced --db "$work/none.db"
refused calls --balanced -o "$work/no/such/place"
exit 0
