#!/bin/bash
# SPDX-License-Identifier: MIT
# Ctrl-C while the agents are starting: the command never starts, the run is kept and marked, and no process,
# spool or directory of marks is left on any host.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
need_testbed 3
hostfile=$(inside printenv CHOKEPOINT_HOSTFILE)

# The run's id, once one of its agents exists on vm2.
find_id() {
    for process in $(processes_of vm2); do
        id=$({ tr '\0' '\n' <"/proc/$process/environ"; } 2>/dev/null | sed -n 's/^CHOKEPOINT_AGENT=\([0-9a-f]*\)$/\1/p')
        [ -z "$id" ] || return 0
    done
    return 1
}
# mpirun starts the agents, too; as the command it leaves a file.
real=$(command -v mpirun)
mkdir bin
printf '#!/bin/sh\ncase "$*" in *" touch started") : >commanded ;; esac\nexec %s "$@"\n' "$real" >bin/mpirun
chmod +x bin/mpirun
env --default-signal=INT setsid "$chokepoint" testbed --name "$name" exec -- \
    "$chokepoint" run $slow_start --db "$db" "$work/bin/mpirun" --hostfile "$hostfile" -N 1 touch started >out 2>err &
pid=$!
until_true find_id
kill -INT -- -$pid
wait $pid
status=$?
# 130: the command never started; otherwise the status is its own, and mpirun gives 1 (0 if it had
# finished).
[ $status -eq 130 ] || { [ -e commanded ] && [ $status -le 1 ]; } || fail "exit status $status"
[ -e commanded ] || [ ! -e started ] || fail "it ran without having been started"
[ "$(state_of 1)" = interrupted ] || fail "the run is $(state_of 1)"
until_true no_traces_of "$id"
