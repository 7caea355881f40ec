#!/bin/bash
# SPDX-License-Identifier: MIT
# For the command and its caller `chokepoint run` is invisible: streams, arguments, exit status.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

printf 'in\n' | "$chokepoint" run $slow_start --no-report --db "$db" sh -c 'cat; echo out; echo err >&2' >out 2>err ||
    fail "exit status $?"
[ "$(cat out)" = "in
out" ] || fail "stdout is not the command's alone: $(cat out)"
[ "$(grep -v '^chokepoint: ' err)" = err ] || fail "stderr: $(cat err)"
said 'recording 1 host' || fail "it does not say what it records"

printf 'in\n' | "$chokepoint" run $slow_start -q --db "$db" sh -c 'cat >&2' >out 2>err
[ "$(cat out err)" = in ] || fail "--quiet is not quiet: $(cat out err)"

run sh -c 'exit 3'
[ $status -eq 3 ] || fail "exit 3 became $status"
run sh -c 'kill -TERM $$'
[ $status -eq 143 ] || fail "SIGTERM became $status"
said 'killed by SIGTERM' || fail "a killed command is not called so"
run printf '%s|' -np 4 --db x -- 'a  b'
[ "$(cat out)" = '-np|4|--db|x|--|a  b|' ] || fail "arguments: $(cat out)"
run -- printf %s --help
[ "$(cat out)" = --help ] || fail "-- does not end the options"

# A command that ends at once gets one line, which says that it was too short.
run true
[ $status -eq 0 ] || fail "true gives $status"
[ "$(grep -c . err)" = 2 ] && said '^chokepoint: run [0-9]*, true: The run took .* too short to judge' ||
    fail "of true it says: $(cat err)"

run no-such-command
[ $status -eq 127 ] || fail "a command that is not there gives $status"
said 'no-such-command: command not found' || fail "it does not say that it is not there"
touch plain
run ./plain
[ $status -eq 126 ] || fail "a file that is no program gives $status"
printf '#!/no/such/interpreter\n' >bad && chmod +x bad
run ./bad
[ $status -eq 127 ] || fail "a script without interpreter gives $status"
[ "$(wc -l <err)" -le 2 ] || fail "too much is said about it"

# The command's environment is clean: no token, no descriptors, no blocked or ignored signals.
look='ls /proc/self/fd; grep -E "Sig(Blk|Ign)" /proc/self/status'
sh -c "$look" >plain_look 2>err
run sh -c "$look"
cmp -s out plain_look || fail "descriptors or signals: $(diff out plain_look)"
sh -c "$look" <&- >plain_look 2>/dev/null
"$chokepoint" run $slow_start -q --db "$db" sh -c "$look" <&- >out 2>/dev/null || fail "a closed stdin is too much"
cmp -s out plain_look || fail "a closed stdin: $(diff out plain_look)"
run env
grep -q '^CHOKEPOINT_RUN=[0-9a-f]\{16\}$' out || fail "the job is not marked"
! grep -q TOKEN out || fail "the token is in the command's environment"

for id in 1 2; do [ "$(state_of $id)" = done ] || fail "run $id is $(state_of $id)"; done
[ "$(state_of 3)$(state_of 4)" = failedkilled ] || fail "runs 3 and 4: $(state_of 3) $(state_of 4)"
"$chokepoint" list --db "$db" >out || fail "list"
grep -q "^ *3 .*exit 3 .*sh -c 'exit 3'" out || fail "list: $(cat out)"
