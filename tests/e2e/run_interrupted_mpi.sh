#!/bin/bash
# SPDX-License-Identifier: MIT
# Ctrl-C while a parallel program runs on several hosts, and a rank that aborts: the run is kept and
# marked, and nothing of it is left on any host.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
need_testbed 3
hostfile=$(inside printenv CHOKEPOINT_HOSTFILE)

printf '#!/bin/sh\necho $OMPI_CHOKEPOINT_RUN >>%s/ids\nexec sleep 60\n' "$work" >rank
chmod +x rank
all_run() { [ "$(cat ids 2>/dev/null | wc -l)" -eq 3 ]; }
env --default-signal=INT setsid "$chokepoint" testbed --name "$name" exec -- \
    "$chokepoint" run --db "$db" $slow_start mpirun --hostfile "$hostfile" -N 1 ./rank >out 2>err &
pid=$!
until_true all_run
kill -INT -- -$pid
wait $pid
status=$?
[ $status -ne 0 ] || fail "exit status 0"
[ "$(state_of 1)" = interrupted ] || fail "run 1 is $(state_of 1)"
[ "$(hosts_recorded 1)" -eq 3 ] || fail "$(hosts_recorded 1) hosts were recorded"
! said 'are missing' || fail "the last samples were lost"
until_true no_traces_of "$(sort -u ids)"

printf '#!/bin/sh\necho $OMPI_CHOKEPOINT_RUN >>%s/ids\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] && kill -SEGV $$\nexec sleep 60\n' "$work" >rank
rm -f ids
run_inside mpirun --hostfile "$hostfile" -N 1 ./rank
[ $status -eq 139 ] || fail "a rank that dies of SIGSEGV gives $status"
[ "$(state_of 2)" = failed ] || fail "run 2 is $(state_of 2)"
until_true no_traces_of "$(sort -u ids)"

# kill -9 of `run`: the agents on all hosts end by themselves, and so does the mpirun that started
# them.
printf '#!/bin/sh\necho $OMPI_CHOKEPOINT_RUN >>%s/ids\nexec sleep 60\n' "$work" >rank
rm -f ids
setsid "$chokepoint" testbed --name "$name" exec -- \
    "$chokepoint" run --db "$db" $slow_start mpirun --hostfile "$hostfile" -N 1 ./rank >out 2>err &
pid=$!
until_true all_run
id=$(sort -u ids)
kill -9 $pid
wait $pid 2>/dev/null
agents_gone() { [ -z "$(agents_of "$id")" ]; }
until_true agents_gone
pgrep -g $pid >/dev/null || fail "the command was ended"
kill -TERM -- -$pid
rm -rf $(directories_of "$id") # samples that can no longer be delivered
until_true no_traces_of "$id"
