#!/bin/bash
# SPDX-License-Identifier: MIT
# Ctrl-C at a terminal, SIGTERM, and kill -9: the run is kept and marked, and nothing of it stays.
. "$CHOKEPOINT_SOURCE/tests/e2e/run_lib.sh"

id() { cat "$work/id"; }
started() { [ -s "$work/id" ]; }

# Ctrl-C, typed at a terminal: the command takes it, and has the last word about the exit status.
mkfifo keys
env --default-signal=INT script -qec "'$chokepoint' run --db '$db' ./forever; echo status \$? >status" /dev/null <keys >out 2>&1 &
printf '#!/bin/sh\n%s\n' 'echo $CHOKEPOINT_RUN >id.new; mv id.new id; trap "exit 9" INT; sleep 60' >forever
chmod +x forever
exec 8>keys
until_true 20 started
printf '\003' >&8
until_true 20 test -s status
exec 8>&-
wait
[ "$(cat status)" = "status 9" ] || fail "$(cat status)"
[ "$(state_of 1)" = interrupted ] || fail "run 1 is $(state_of 1)"
[ "$(sql 'SELECT count(*) > 0 FROM frame')" = 1 ] || fail "nothing was recorded"
no_traces_of "$(id)" || fail "Ctrl-C left $(traces_of "$(id)")"

# A command without a trap dies of it.
rm -f id status
sed -i 's/trap "exit 9" INT; /exec /' forever
env --default-signal=INT setsid "$chokepoint" run --db "$db" ./forever >out 2>err &
pid=$!
until_true 20 started
kill -INT -- -$pid
wait $pid
[ $? -eq 130 ] || fail "exit status is not 130"
[ "$(state_of 2)" = interrupted ] || fail "run 2 is $(state_of 2)"
no_traces_of "$(id)" || fail "SIGINT left $(traces_of "$(id)")"

# SIGTERM to us alone reaches the command.
rm -f id
setsid "$chokepoint" run --db "$db" ./forever >out 2>err &
pid=$!
until_true 20 started
kill -TERM $pid
wait $pid
[ $? -eq 143 ] || fail "exit status is not 143"
[ "$(state_of 3)" = interrupted ] || fail "run 3 is $(state_of 3)"
no_traces_of "$(id)" || fail "SIGTERM left $(traces_of "$(id)")"

# kill -9 of us: collector and agents end by themselves, the command goes on, the next run is well.
# Samples that nobody takes any more are kept where they are.
rm -f id
setsid "$chokepoint" run --db "$db" ./forever >out 2>err &
pid=$!
until_true 20 started
children=$(pgrep -P $pid)
kill -9 $pid
wait $pid 2>/dev/null
group=$pid
ours_gone() { for p in $children; do grep -qsa chokepoint "/proc/$p/cmdline" && return 1; done; true; }
until_true 20 ours_gone
pgrep -g $group >/dev/null || fail "the command was ended"
kill -TERM -- -$group
rm -rf "/tmp/chokepoint-$(id)"-* "${TMPDIR:-/tmp}/chokepoint-$(id)"-*
until_true 10 no_traces_of "$(id)"
[ "$(state_of 4)" = running ] || fail "run 4 is $(state_of 4)"
"$chokepoint" list --db "$db" >out && grep -q '^ *4 .*unfinished' out || fail "list: $(cat out)"
run true
[ $status -eq 0 ] && [ "$(state_of 5)" = done ] || fail "the next run: $(cat err)"
