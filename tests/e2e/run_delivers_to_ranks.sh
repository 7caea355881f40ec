#!/bin/bash
# SPDX-License-Identifier: MIT
# mpirun of both libraries over hosts on which nothing of ours is installed: agents and the MPI library are delivered, every
# rank gets the library that all hosts have confirmed, its calls are recorded exactly, and hosts keep only that library. The
# machine of `run` has its own /tmp, as real machines do.
export TMPDIR=/var/tmp
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
need_testbed 3
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/deliver_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh" || exit 1
printf 'vm%d\n' 1 2 3 >hostfile

# rank PROGRAM: a program for ranks on each host, in a folder that is not hidden.
rank() {
    rm -f program "$EXPECT".*
    cp "$1" program
    printf '#!/bin/sh\necho "$(hostname) $LD_PRELOAD" >>%s/preloaded\necho "${CHOKEPOINT_RUN:-$OMPI_CHOKEPOINT_RUN}" >%s/id\nexec env EXPECT=%s %s/program\n' "$work" "$work" "$EXPECT" "$work" >rank
    chmod +x rank
}
with_mpi() { # COMMAND...
    rm -f calls preloaded
    timeout -k 30 90 "$chokepoint" testbed --name "$name" exec -- unshare -m sh -c 'mount -t tmpfs none /tmp && exec "$@"' - \
        env OMPI_MCA_plm_rsh_agent="$rsh" CHOKEPOINT_RSH="$rsh" "$chokepoint" run $slow_start --no-report --db "$db" "$@" >out 2>err
    status=$?
}
none() { [ -z "$(directories_of "$(cat id)")" ]; }
recorded_exactly() { # HOSTS
    [ $status -eq 0 ] || fail "exit status $status"
    [ "$(sql 'SELECT count(*) FROM host WHERE run = (SELECT max(run) FROM run)')" -eq 3 ] || fail "not three hosts"
    sent=$(ls "$HOME"/.cache/chokepoint/????????????????/libchokepoint-mpi.so)
    printf 'vm%s\n' "1 $sent" "2 $sent" "3 $sent" | diff - <(sort preloaded) || fail "what is preloaded"
    totals_agree
    [ -s id ] || fail "ranks have no id of the run"
    patience=30 until_true none
}

rank "$CHOKEPOINT_BIN/calls_simple"
with_mpi mpirun --hostfile hostfile --wdir "$work" --bind-to none -N 1 -np 3 ./rank
recorded_exactly
[ "$(connections_to vm2)" -eq 3 ] || fail "$(connections_to vm2) connections to vm2: one asks, one brings the agent, one is the ranks'"
rank "$CHOKEPOINT_BIN/calls_simple"
with_mpi mpirun --hostfile hostfile --wdir "$work" --bind-to none -N 1 -np 3 ./rank
recorded_exactly
[ "$(connections_to vm2)" -eq 2 ] || fail "$(connections_to vm2) connections to vm2, which is known to have no agent"

if [ -x "$CHOKEPOINT_BIN/mpich/calls_simple" ] && command -v mpirun.mpich >/dev/null; then
    rank "$CHOKEPOINT_BIN/mpich/calls_simple"
    # MPICH 4.0 over UCX sometimes hangs in MPI_Finalize on a busy machine: one rank waits in ucp_worker_progress for others,
    # which wait for it at the launcher's barrier and make no progress. Then it is started again.
    for _ in 1 2 3; do
        with_mpi mpirun.mpich -launcher ssh -launcher-exec "$rsh" -f hostfile -ppn 1 -n 3 -wdir "$work" ./rank
        [ $status -eq 124 ] || break
    done
    recorded_exactly
fi
