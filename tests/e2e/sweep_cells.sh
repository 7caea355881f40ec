#!/bin/bash
# SPDX-License-Identifier: MIT
# sweep: each combination of values is a run, in turn; existing runs are not made again; a failing cell is kept and
# the others go on; wrong words give one line; hostile values do no harm in any format.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

sweep() {
    "$chokepoint" sweep --db "$db" "$@" >"$work/out" 2>"$work/err"
    status=$?
}
show() { "$chokepoint" sweep report --db "$db" "$@" >"$work/out" 2>"$work/err"; }
json() { jq -r "$1" out; }

# Two by two, twice, in turn; the command sees the values, the database has them by name.
sweep -n four -L mode sync,async -L batch '1,a\,b' -r 2 --no-report sh -c 'echo "$0 $1" >>order' '{mode}' '<{batch}>'
[ $status -eq 0 ] || fail "exit status $status"
[ "$(cat order)" = "sync <1>
sync <a,b>
async <1>
async <a,b>
sync <1>
sync <a,b>
async <1>
async <a,b>" ] || fail "not in turn: $(cat order)"
[ "$(sql "SELECT group_concat(name || '=' || value, ' ') FROM run_label WHERE run = 2")" = 'batch=a,b mode=sync' ] ||
    fail "labels: $(sql 'SELECT * FROM run_label')"
[ "$(sql "SELECT group_concat(repeat || ' of ' || repeats || ' of ' || group_run, ', ') FROM run_repeat JOIN run_label
    USING (run) WHERE value = 'async' AND run % 2")" = '1 of 2 of 3, 2 of 2 of 3' ] || fail "repeats are not kept"
[ "$(sql "SELECT name FROM run WHERE run = 3")" = four/mode=async/batch=1 ] || fail "the run's name"
said 'run 8 of 8: mode=async batch=a,b, repeat 2 of 2: ' || fail "no progress"
said 'run 2 of 8: .*; about .* left' || fail "no time left"

# Nothing is left to make; one more value and repeat are made.
sweep -n four -L mode sync,async -L batch '1,a\,b' -r 2 --no-report sh -c 'echo "$0 $1" >>order' '{mode}' '<{batch}>'
[ $status -eq 0 ] && [ "$(wc -l <order)" = 8 ] || fail "made again: status $status, $(wc -l <order) runs"
said '8 of 8 runs are in' || fail "it does not say that all is there"
sweep -n four -L mode sync,third -L batch 1 -r 3 --no-report sh -c 'echo "$0 $1" >>order' '{mode}' '<{batch}>'
[ "$(tail -n +9 order | tr '\n' ' ')" = 'third <1> third <1> sync <1> third <1> ' ] || fail "more: $(tail -n +9 order)"
said '2 of 6 runs are in .* already, 4 to make; about .* left' || fail "what is there does not tell how long the rest takes"

# Values that look secret reach the command, and nothing stored or printed; the same words still continue the
# sweep.
secret_sweep() { sweep -n keys -L token 'hunter2,tr0ub4dor' -L p 'sw0rdfish' "$@" sh -c 'echo "$0 $2" >>keys' '{token}' --password '{p}'; }
secret_sweep --no-report
[ $status -eq 0 ] && [ "$(cat keys)" = "hunter2 sw0rdfish
tr0ub4dor sw0rdfish" ] || fail "secret values: status $status, $(cat keys)"
[ "$(sql "SELECT group_concat(l.name || '=' || l.value, ' ') FROM run_label l JOIN run r USING (run) WHERE r.name LIKE 'keys/%'")" = \
    'p=*** token=*** p=*** token=***2' ] || fail "labels of secrets: $(sql 'SELECT * FROM run_label')"
cat out err >said_of_keys
secret_sweep
said '2 of 2 runs are in' || fail "a sweep with secrets does not go on: $(cat err)"
show keys --format json || fail "sweep report keys"
! grep -q 'hunter2\|tr0ub4dor\|sw0rdfish' said_of_keys out err "$db" "$db"-* 2>/dev/null || fail "a secret value was kept"

# A failing cell is kept and shown, the others go on, the exit status shows it; --retry-failed makes it
# again.
sweep -n bad -L code 0,3 -L other x,y sh -c 'exit $0' '{code}' '{other}'
[ $status -eq 1 ] || fail "a failing cell gives $status"
[ "$(sql "SELECT count(*) FROM run WHERE name LIKE 'bad/%'")" = 4 ] || fail "it did not go on"
said '2 runs of sweep .bad. failed' || fail "failures are not counted"
show bad --format json || fail "sweep report"
[ "$(json '.sweeps[0].cells | map(.in_short) | unique | .[0]')" = 'failed: exit status 3' ] || fail "$(cat out)"
[ "$(json '.sweeps[0].cells[0].figures.time.runs')" = 1 ] || fail "the good cell has no figure"
sweep -n bad -L code 0,3 -L other x,y -q --no-report sh -c 'exit $0' '{code}' '{other}'
[ "$(sql "SELECT count(*) FROM run WHERE name LIKE 'bad/%'")" = 4 ] || fail "a failed run is made again"
[ $status -eq 1 ] || fail "an old failure is forgotten: $status"
sweep -n bad -L code 0,3 -L other x,y --retry-failed --stop-on-failure --no-report sh -c 'exit $0' '{code}' '{other}'
[ "$(sql "SELECT count(*) FROM run WHERE name LIKE 'bad/%'")" = 5 ] || fail "--retry-failed --stop-on-failure"
said 'a run failed: 1 of 2 runs are not made' || fail "it does not say what is left"
sweep -n gone -L program true,no-such-program -q --no-report '{program}'
[ $status -eq 1 ] || fail "a program that is not there gives $status"
[ "$(sql "SELECT state FROM run WHERE name = 'gone/program=true'")" = done ] || fail "the other one did not run"

# The sweep's cells are groups to compare.
"$chokepoint" compare --db "$db" four --format json >out 2>err || fail "compare four: $(cat err)"
[ "$(json '.groups | map(.counted) | tostring')" = '[3,2,2,2,3]' ] || fail "groups: $(json '.groups | map(.counted) | tostring')"

# Interrupted in the second run: it is marked, and made again by the same words; the first is not.
printf '#!/bin/sh\n%s\n' 'echo $1 >>starts; [ $(wc -l <starts) != 2 ] || exec sleep 60' >often
chmod +x often
env --default-signal=INT setsid "$chokepoint" sweep --db "$db" -n stopped -L n 1,2,3 --no-report ./often '{n}' >out 2>err &
pid=$!
second_runs() { [ "$(sql "SELECT count(*) FROM run WHERE name LIKE 'stopped/%'")" = 2 ] && [ "$(cat starts 2>/dev/null | wc -l)" = 2 ]; }
until_true second_runs
kill -INT -- -$pid
wait $pid
[ $? -eq 130 ] || fail "exit status is not 130"
said 'interrupted: 2 of 3 runs are not made' || fail "it does not say what is left"
sweep -n stopped -L n 1,2,3 --no-report ./often '{n}'
[ $status -eq 0 ] || fail "resuming gives $status"
[ "$(tr '\n' ' ' <starts)" = '1 2 2 3 ' ] || fail "resumed: $(tr '\n' ' ' <starts)"
[ "$(sql "SELECT group_concat(state) FROM run WHERE name LIKE 'stopped/%'")" = done,interrupted,done,done ] || fail "states"

# A ready sweep has the published figures below ours, a sweep with another name has none.
for name in r3-batches-short own; do
    sweep -n $name -L mode sync,async -L batch 1,100 -q --no-report true '{mode}' '{batch}'
    show $name --measure for:1000000 --table grid --format md || fail "no report of $name: $(cat err)"
    cp out $name.md
done
grep -q '\*135.7\*' r3-batches-short.md && grep -q '^## R3: run time' r3-batches-short.md || fail "no figures beside: $(cat r3-batches-short.md)"
! grep -q reference own.md || fail "figures of nobody: $(cat own.md)"

# Hostile values.
sweep -n harm -L value $'<script>alert(1)</script>,=1+1,\e[31mred|x,"q"' -L second '1,<b>' -q true '{value}' '{second}'
[ $status -eq 0 ] || fail "harmful values give $status"
! grep -q $'\e' err || fail "the terminal is coloured by a value"
for format in text md html csv json; do
    show harm --format $format || fail "no $format of it: $(cat err)"
    ! grep -q $'\e' out || fail "an escape sequence in $format"
    cp out harm.$format
done
! grep -q '<script>alert' harm.html harm.md || fail "a script in the page"
sed '/<script/,/<\/script>/d' harm.html >harm.text # dygraphs itself makes such tags
! grep -q '<b>' harm.text harm.md || fail "a tag in the page"
grep -q '&lt;b&gt;' harm.text || fail "the value is not in the page"
grep -q "\"'=1+1\"" harm.csv || fail "a formula in the CSV: $(cat harm.csv)"
jq -e '.schema == "chokepoint.sweep/1"' harm.json >/dev/null || fail "JSON"

# Pictures in a separate directory, linked from the page, whatever the names of both.
if command -v gnuplot >/dev/null; then
    mkdir 'a page'
    show harm --pictures 'a page/its (1)' -o 'a page/harm.md' || fail "pictures: $(cat err)"
    [ -s 'a page/its (1)/harm-by-time.svg' ] || fail "no picture: $(ls 'a page/'*)"
    grep -qF '](its%20%281%29/harm-by-time.svg)' 'a page/harm.md' || fail "no link: $(cat 'a page/harm.md')"
    for page in deep/er/p.md pics/p.md $PWD/p.md p.md; do
        mkdir -p "$(dirname $page)" && show harm --pictures pics -o $page || fail "pictures: $(cat err)"
        link=$(sed -n 's/^!\[.*](\(.*\))$/\1/p' $page | head -n 1)
        [ -n "$link" ] && (cd "$(dirname $page)" && [ -s "$link" ]) || fail "no picture at '$link' beside $page"
    done
    ! show harm --pictures a\ page/harm.md --format md || fail "a file is taken for a directory"
    [ "$(wc -l <err)" = 1 ] || fail "more than a line: $(cat err)"
fi

# wrong WORDS...: exit status 2, one line, no run.
wrong() {
    sweep "$@"
    [ $status -eq 2 ] || fail "'$*' gives $status"
    [ "$(wc -l <err)" = 1 ] || fail "more than a line about '$*': $(cat err)"
}
before=$(sql 'SELECT count(*) FROM run')
wrong true
wrong -L a 1
wrong -L a
wrong -L a 1 true
wrong -L a 1 true '{b}'
wrong -L a '' true '{a}'
wrong -L a 1,,2 true '{a}'
wrong -L a 1,1 true '{a}'
wrong -L a 1 -L a 2 true '{a}'
wrong -L 'a b' 1 true '{a b}'
wrong -L a:b 1,2:3 true '{a}'
wrong -L a $'\e[1m,?[1m' true '{a}'
wrong -P a 1 x true '{a}'
wrong -P a 2 1 true '{a}'
wrong -P a 1 2 -D 0 true '{a}'
wrong -P a 1 100000 true '{a}'
wrong -P a 1
wrong -L a 1 --measure speed true '{a}'
wrong -L a 1 -r 0 true '{a}'
wrong -n four -L mode sync -L batch 1 true '{mode}' '{batch}'
wrong report nobody
wrong report four --table nothing
wrong report four --measure to:200
wrong report four bad
wrong reference r9
wrong reference --size huge
[ "$(sql 'SELECT count(*) FROM run')" = "$before" ] || fail "wrong words made a run"
sweep -L a 1 no-such-command '{a}'
[ $status -eq 127 ] && [ "$(wc -l <err)" = 1 ] || fail "a command that is not there: $status"
sweep -n scan -P rate 0.1 0.3 -D 0.1 -q --no-report true '{rate}'
[ "$(sql "SELECT group_concat(value) FROM run_label JOIN sweep_run USING (run) JOIN sweep USING (sweep) WHERE sweep.name = 'scan'")" = 0.1,0.2,0.3 ] || fail "scan"
exit 0
