#!/bin/bash
# SPDX-License-Identifier: MIT
# However a parallel run ends, every host is left as it was: without processes, spools, directories
# of marks, or files of mpirun. The run is kept and records how it ended.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
need_testbed 2
hostfile=$(inside printenv CHOKEPOINT_HOSTFILE)
mkdir sessions
export OMPI_MCA_orte_tmpdir_base=$work/sessions

hosts_empty() { [ -z "$(processes_of vm1)$(processes_of vm2)" ]; }
clean() { # HOW, STATE
    until_true hosts_empty
    id=$(sort -u ids | head -n 1)
    [ -n "$id" ] || fail "$1: no id"
    clean_now() { no_traces_of "$id" || { traces_of "$id" >>err; false; }; }
    until_true clean_now
    [ -z "$(find sessions -type f -o -type s)" ] || fail "$1: left $(find sessions -type f -o -type s)"
    [ "$(sql 'SELECT state FROM run ORDER BY run DESC LIMIT 1')" = "$2" ] || fail "$1: the run is $(sql 'SELECT state FROM run ORDER BY run DESC LIMIT 1'), not $2"
    "$chokepoint" report --db "$db" --format json -o report.json || fail "$1: no report"
    rm -f ids
}
begin() { # SHELL WORDS of each rank
    printf '#!/bin/sh\necho $OMPI_CHOKEPOINT_RUN >>%s/ids\n%s\n' "$work" "$1" >rank
    chmod +x rank
    env --default-signal=INT setsid "$chokepoint" testbed --name "$name" exec -- \
        "$chokepoint" run $slow_start --db "$db" mpirun --hostfile "$hostfile" -N 1 ./rank >out 2>err &
    pid=$!
}
all_run() { [ "$(cat ids 2>/dev/null | wc -l)" -eq 2 ]; }
begin_and_wait() { begin 'exec sleep 60'; until_true all_run; }

begin 'exit 0'
wait $pid || fail "exit status $?"
clean "a command that ends" done

begin '[ "$OMPI_COMM_WORLD_RANK" != 1 ] || exit 3; exec sleep 60'
wait $pid
[ $? -eq 3 ] || fail "not the rank's exit status"
clean "a rank that fails" failed

begin_and_wait
kill -TERM $pid
wait $pid
clean SIGTERM interrupted
! said 'samples were not delivered' || fail "SIGTERM: the last samples were lost"

# `run` itself is killed: collector and agents notice it and still finish.
begin_and_wait
kill -KILL $pid
wait $pid 2>/dev/null
kill -TERM -- -$pid # `run` does not end the command then
clean SIGKILL running
"$chokepoint" list --db "$db" | tail -n 1 | grep -q unfinished || fail "not called unfinished"
