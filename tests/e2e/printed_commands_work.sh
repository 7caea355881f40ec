#!/bin/bash
# SPDX-License-Identifier: MIT
# A run ends with five lines, and each command that `run` and `report` print works when it is pasted: in the folder of
# the run, with its database, under any name.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh" || exit 1
mkdir "a b" && cd "a b" || exit 1
PATH=${PATH//"$CHOKEPOINT_BIN":/}
db="it's.db"
for turn in 1 2; do # for compare last~1 last
    run -n "skewed $turn" "${mpi[@]}" -np 2 "$CHOKEPOINT_BIN/planted_causes" 40 --compute 30 --skew 3
    [ $status -eq 0 ] || fail "exits with $status"
done
grep '^chokepoint: skewed 2, .* on 1 host  *run 2, .' ../err || fail "no first line"
for label in limit worth 'do' more; do grep -q "^$label " ../err || fail "no line '$label'"; done
# "chokepoint: recording ..." comes first
lines=$(sed '/: recording 1 host/d' ../err | wc -l)
[ "$lines" -ge 5 ] && [ "$lines" -le 9 ] || fail "$lines lines, not about five"

{
    sed -n -e 's/^more *//p' -e 's/^page *//p' ../err | sed 's/    page: /\n/'
    for how in --why "--format text"; do
        # shellcheck disable=SC2086
        "$chokepoint" report 2 --db "$db" $how
    done | tr '\n' ' ' | sed 's/  */ /g' | grep -o '`[^`]*chokepoint [^`]*`' | tr -d '`'
} | grep -v -e ' calibrate ' -e ' run ' | sort -u >../commands
cat ../commands
grep -q ' whatif 2 --' ../commands || fail "no question of whatif is printed"
grep -q ' compare last~1 last' ../commands || fail "no comparison is printed"
[ "$(wc -l <../commands)" -ge 4 ] || fail "few commands are printed"
while IFS= read -r command; do
    sh -c "$command" >../out 2>../err || fail "does not work: $command"
done <../commands
[ -s run-2.html ] || fail "no page was written"

# So does the one that ends a sweep, whatever the sweep's name.
"$chokepoint" sweep --db "$db" -n "a 'sweep'" -L n 1,2 true '{n}' 2>../err >../out || fail "the sweep: $(cat ../err)"
command=$(sed -n 's/^chokepoint: page: //p' ../err)
[ -n "$command" ] && sh -c "$command" >../out 2>../err && [ -s sweep.html ] || fail "does not work: '$command': $(cat ../err)"
exit 0
