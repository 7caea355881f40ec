#!/bin/bash
# SPDX-License-Identifier: MIT
# run --repeat: one run after the other, kept as a group under one name; a failure or Ctrl-C ends it and keeps the
# finished runs.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

repeats() { sql "SELECT group_concat(repeat || '/' || repeats || ' of ' || group_run, ', ') FROM run_repeat WHERE group_run = $1"; }

run --repeat 3 -n three sh -c 'echo once >>times; echo out'
[ $status -eq 0 ] || fail "exit status $status"
[ "$(wc -l <times)" = 3 ] || fail "it ran $(wc -l <times) times"
[ "$(cat out)" = "out
out
out" ] || fail "stdout is not the command's: $(cat out)"
[ "$(repeats 1)" = "1/3 of 1, 2/3 of 1, 3/3 of 1" ] || fail "kept as: $(repeats 1)"
[ "$(sql "SELECT count(*) FROM run WHERE name = 'three' AND state = 'done'")" = 3 ] || fail "not three runs"
said '3 repeats: .* only from 5 runs' || fail "it does not say that three are too few for a claim"
said 'repeat 1 of 3: .*; about .* left' || fail "no time left"
said 'repeat 3 of 3: ' || fail "no progress"
! said 'repeat 3 of 3: .*left' || fail "time left after the last"
said '3 of 3 repeats ended well' || fail "no end"
[ "$(grep -c 'too short to judge' err)" = 1 ] || fail "not one verdict"
"$chokepoint" list --db "$db" >list
grep -q 'three *2 of 3 ' list || fail "list: $(cat list)"

# A single run is no repeat, and a list without repeats has no such column.
run --db "$work/alone.db" -n alone true
"$chokepoint" list --db "$work/alone.db" >list
! grep -q repeat list || fail "a column for nothing: $(cat list)"

# The first failure ends it; with --ignore-failure it goes on, and the status is that of the first failing
# run.
run --repeat 4 -n bad sh -c 'echo once >>bad; exit $(wc -l <bad)'
[ $status -eq 1 ] || fail "exit status $status, not that of the first run"
[ "$(wc -l <bad)" = 1 ] || fail "it went on after a failure"
said 'the command failed in repeat 1 of 4' || fail "it does not say why it ends"
run --repeat 4 --ignore-failure -n worse sh -c 'echo once >>worse; [ $(wc -l <worse) = 1 ] || exit $(wc -l <worse)'
[ $status -eq 2 ] || fail "exit status $status, not that of the first failing run"
[ "$(wc -l <worse)" = 4 ] || fail "it did not go on: $(wc -l <worse)"
said '1 of 4 repeats ended well' || fail "the good ones are not counted"
run --repeat 3 no-such-command
[ $status -eq 127 ] || fail "a command that is not there gives $status"
[ "$(grep -c 'command not found' err)" = 1 ] || fail "tried again and again"

# Ctrl-C in the second run: the first is kept, the second is marked, no third begins, even with
# --ignore-failure.
printf '#!/bin/sh\n%s\n' 'echo once >>starts; [ $(wc -l <starts) = 1 ] || exec sleep 60' >often
chmod +x often
env --default-signal=INT setsid "$chokepoint" run $slow_start --db "$db" --repeat 3 --ignore-failure -n stopped ./often >out 2>err &
pid=$!
second_runs() { [ "$(sql "SELECT count(*) FROM run_repeat JOIN run USING (run) WHERE name = 'stopped'")" = 2 ] && [ "$(cat starts 2>/dev/null | wc -l)" = 2 ]; }
until_true second_runs
kill -INT -- -$pid
wait $pid
[ $? -eq 130 ] || fail "exit status is not 130"
[ "$(sql "SELECT group_concat(state) FROM run WHERE name = 'stopped'")" = done,interrupted ] ||
    fail "kept: $(sql "SELECT group_concat(state) FROM run WHERE name = 'stopped'")"
said 'interrupted in repeat 2 of 3' || fail "it does not say that the others are not made"

# One address for the live views of all repeats, printed once: it shows the first, then the second.
mkfifo hold
"$chokepoint" run $slow_start --db "$db" --repeat 2 --live --no-report -n seen sh -c 'read x <hold' >out 2>err </dev/null &
pid=$!
until_true said 'http://'
url=$(grep -o 'http://[^ ]*' err)
[[ $url == http://127.0.0.1:*/live/last ]] || fail "the address is $url"
first=$(sql "SELECT max(run) FROM run")
sees() { timeout 20 curl -sN --max-time 2 "$url/events" | grep -q "^data: .*\"run\":$1,"; }
until_true sees "$first"
echo >hold
until_true sees $((first + 1))
echo >hold
wait $pid || fail "repeats with a live view: $(cat err)"
[ "$(grep -c http:// err)" = 1 ] || fail "the address is said again: $(cat err)"

for wrong in 0 -1 x 1.5 1001 ''; do
    run --repeat "$wrong" true
    [ $status -eq 2 ] || fail "--repeat '$wrong' gives $status"
    [ "$(wc -l <err)" = 1 ] || fail "more than a line about --repeat '$wrong'"
done

# The program is replaced between two repeats, as by an update: the second is still recorded.
mkdir bin
cp "$chokepoint" "$CHOKEPOINT_BIN/chokepoint-agent" bin
mkfifo turn
n=$(sql "SELECT count(*) FROM run WHERE state = 'done'")
bin/chokepoint run $slow_start --db "$db" --repeat 2 -q sh -c ': >>begun; read x <turn' >out 2>err &
pid=$!
repeats() { [ "$(sql "SELECT count(*) FROM run WHERE state = 'done'")" = $((n + $1)) ]; }
until_true test -e begun
cp bin/chokepoint bin/chokepoint.new
mv bin/chokepoint.new bin/chokepoint
echo >turn
until_true repeats 1
echo >turn & # a run that could not be started does not read it
wait $pid || fail "a repeat after an update exits with $?"
repeats 2 || fail "a repeat after an update is not recorded"
