#!/bin/bash
# SPDX-License-Identifier: MIT
# A host that does not answer is named, with the attempted command. Only with --allow-missing does
# the command start without it. Hosts that do answer are not disturbed.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
need_testbed 2
subnet=$(inside printenv CHOKEPOINT_HOSTFILE | xargs dirname)
subnet=$(awk '/vm1/ { sub(/\.1$/, "", $1); print $1 }' "$subnet/hosts")
[ -n "$subnet" ] || fail "no subnet"

# A name that does not exist, and an address without a host.
printf 'vm1\nvm2\nnobody.invalid\n%s.99\n' "$subnet" >hostfile
run_inside mpirun --hostfile hostfile -np 1 -H vm1 true
[ $status -eq 0 ] || fail "mpirun's --host does not choose from the hostfile: $(cat err)"
run_inside mpirun --hostfile hostfile -np 1 touch started
[ $status -eq 1 ] || fail "exit status $status"
[ ! -e started ] || fail "the command was started"
said '^chokepoint: nobody.invalid cannot be reached: ' || fail "no word about nobody.invalid"
said "^chokepoint: $subnet.99 did not answer: tried by mpirun, exit status .*it said: .*$subnet.99" ||
    fail "no word about $subnet.99"
! said 'vm[12] did not' || fail "blames those that answered"
said 'not started: 2 of 4 hosts did not answer (--allow-missing' || fail "does not say what to do"
[ "$(state_of 2)" = not-started ] || fail "the run is $(state_of 2)"
"$chokepoint" report --db "$db" --format json | grep -q '"id": 1,' || fail "the run that never started is the last one"
"$chokepoint" report 2 --db "$db" >report 2>&1 && fail "a run that never started has a report"
[ "$(cat report)" = "chokepoint report: the command of run 2 was not started: 2 of 4 hosts did not answer (--allow-missing goes on without them)" ] ||
    fail "the reason is: $(cat report)"
[ "$(sql 'SELECT count(*) FROM run_note WHERE run = 2')" -ge 2 ] || fail "it is not noted"

# Allowed: it goes on with the two, and the run reports that two were missing.
run_inside --allow-missing mpirun --hostfile hostfile -np 1 -H vm1 sh -c 'echo ran; exit 4'
[ $status -eq 4 ] && [ "$(cat out)" = ran ] || fail "exit status $status"
run_inside --allow-missing --hosts hostfile mpirun -np 1 sh -c 'echo ran; exit 4'
[ $status -eq 4 ] && [ "$(cat out)" = ran ] || fail "exit status $status: $(cat out)"
said 'going on without 2 of 4 hosts' || fail "it does not say that hosts are missing"
said 'recording 2 hosts' || fail "it does not record two"
[ "$(hosts_recorded 4)" -eq 2 ] || fail "$(hosts_recorded 4) hosts were recorded"
sql 'SELECT text FROM run_note WHERE run = 4' | grep -q "$subnet.99 did not answer" ||
    fail "it is not noted"

# mpirun reaches all hosts, but there is no such program: no rank ever ran.
run_inside --hosts vm1,vm2 mpirun --hostfile hostfile -np 2 -H vm1,vm2 ./nowhere
[ $status -ne 0 ] && [ "$(state_of 5)" = not-started ] || fail "exit status $status, the run is $(state_of 5)"
said 'the command was not started: mpirun found no program ./nowhere' || fail "it does not say why"
! said 'confidence' || fail "there is a verdict of a program that never ran"

# No host at all: even with --allow-missing the command is not started.
run_inside --allow-missing --hosts nobody.invalid touch started
[ $status -eq 1 ] && [ ! -e started ] || fail "exit status $status"

# A host that accepts the connection and does not answer.
nap=60.$RANDOM$$ # nobody else's
printf '#!/bin/sh\n: >%s/asked\necho "knocking at $*" >&2\nexec sleep %s\n' "$work" $nap >silent
chmod +x silent
run_inside true # so that the start of `inside` itself is not counted below
inside env CHOKEPOINT_RSH="$work/silent" "$chokepoint" run --db "$db" --start-timeout 10 --hosts vm1,vm2 touch started >out 2>err
[ $? -eq 1 ] && [ ! -e started ] || fail "the command was started"
said '^chokepoint: vm2 did not answer: tried by ssh for 10 s; it said: knocking at .*vm2' || fail "vm2"
no_launcher() { ! pgrep -f "^sleep $nap\$" >/dev/null; }
patience=30 until_true no_launcher

# Ctrl-C while waiting for it: the command is never started.
rm -f asked
CHOKEPOINT_RSH="$work/silent" env --default-signal=INT setsid "$chokepoint" testbed --name "$name" exec -- \
    env CHOKEPOINT_RSH="$work/silent" "$chokepoint" run $slow_start --db "$db" --hosts vm1,vm2 touch started >out 2>err &
pid=$!
until_true test -e asked
kill -INT $pid
wait $pid
[ $? -eq 130 ] || fail "exit status is not 130"
[ ! -e started ] || fail "the command was started"
[ "$(sql 'SELECT state FROM run ORDER BY run DESC LIMIT 1')" = interrupted ] || fail "not interrupted"
[ "$(sql 'SELECT count(*) FROM run WHERE state = "running"')" -eq 0 ] || fail "a run has no end"

# The report of the run without two hosts names them.
"$chokepoint" report 4 --db "$db" --format text >report || fail "no report"
for host in nobody.invalid "$subnet.99"; do
    grep -q "$host" report || fail "the report does not mention $host: $(sed -n '/Quality/,$p' report)"
done
grep -q 'Quality of the recording: [CD]' report || fail "a run that misses hosts has $(grep 'Quality of' report)"
