#!/bin/bash
# SPDX-License-Identifier: MIT
# mpirun of OpenMPI and Hydra start the command over their own ssh, as root and as a user, from and to hosts with noisy login
# shells and nothing installed: all hosts and every rank's calls are recorded exactly.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/sshd_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh" || exit 1
need_sshd 3
printf 'vm%d\n' 1 2 3 >hostfile
for host in vm2 vm3; do
    for user in $users; do
        on $host sh -c 'echo "echo noise; echo more >&2; printf unfinished" >"$0/.bashrc"; chown "$1" "$0/.bashrc"' "$(home_of $user)" $user
    done
    kept_on $host >"$ssh/$host.kept"
done

# ranks PROGRAM USER: copies the program, and its expected results, to a folder of the user's on all
# hosts.
ranks() {
    export EXPECT=$work/$2/expect
    rm -f program "$EXPECT".*
    cp "$1" program
    printf '#!/bin/sh\nexec env EXPECT=%s %s/program\n' "$EXPECT" "$work" >rank
    chmod +x rank
}
connections() { grep -c '^Accepted publickey' "$ssh/vm3.log"; }
recorded_exactly() { # USER CONNECTIONS
    [ $(($(connections) - before)) -eq $2 ] || fail "$(($(connections) - before)) connections to vm3: one is the command's"
    [ $status -eq 0 ] || fail "exit status $status"
    [ "$(sql 'SELECT count(*) FROM host WHERE run = (SELECT max(run) FROM run)')" -eq 3 ] || fail "not three hosts"
    totals_agree
    local host
    kept() { keeps_nothing_new $host; }
    for host in vm1 vm2 vm3; do patience=30 until_true kept; done
}
for user in $users; do
    ranks "$CHOKEPOINT_BIN/calls_simple" $user
    before=$(connections)
    run_as $user --no-report mpirun --hostfile hostfile --wdir "$work" --bind-to none -N 1 -np 3 ./rank
    recorded_exactly $user 3 # one asks for an agent, one brings it
    [ -x "$CHOKEPOINT_BIN/mpich/calls_simple" ] && command -v mpirun.mpich >/dev/null || continue
    ranks "$CHOKEPOINT_BIN/mpich/calls_simple" $user
    for _ in 1 2 3; do # MPICH may hang in MPI_Finalize: see run_delivers_to_ranks.sh
        before=$(connections)
        run_as $user --no-report timeout -k 10 60 mpiexec.hydra -f hostfile -ppn 1 -n 3 -wdir "$work" ./rank
        [ $status -eq 124 ] || break
    done
    recorded_exactly $user 2
done
