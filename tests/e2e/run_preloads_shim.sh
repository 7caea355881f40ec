#!/bin/bash
# SPDX-License-Identifier: MIT
# `chokepoint run` brings the MPI shim into the ranks of an unmodified command on every host, beside the user's own
# -x and LD_PRELOAD, also from a script; --no-shim does not; and if OpenMPI would refuse to start, the command goes
# first.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
program=$CHOKEPOINT_BIN/calls_simple
[ -x "$program" ] || { echo "skipped: no MPI"; exit 77; }
need_testbed 2
hostfile=$(inside printenv CHOKEPOINT_HOSTFILE)
job=(mpirun --hostfile "$hostfile" -N 1 -np 2 -x "EXPECT=$work/expect")

# Totals that a run recorded, as "host 'rank R FUNCTION' rank calls sent received".
recorded() {
    sql "SELECT h.name, i.name, r.rank, sum(m.calls), sum(m.sent_bytes), sum(m.received_bytes)
         FROM mpi_function m JOIN instance i USING (instance) JOIN host h USING (host)
         JOIN (SELECT DISTINCT instance, rank FROM mpi_function) r USING (instance)
         WHERE h.run = $1 GROUP BY h.name, i.name ORDER BY 1, 2" 2>/dev/null | tr '|' ' '
}
has_calls() { # RUN
    recorded "$1" >"$work/recorded"
    grep -qE '^vm1 .*MPI_Send 0 20 16000 0$' "$work/recorded" &&
        grep -qE '^vm2 .*MPI_Recv 1 20 0 16000$' "$work/recorded" ||
        fail "run $1 recorded: $(cat "$work/recorded")"
}

run_inside --no-report "${job[@]}" "$program"
[ $status -eq 0 ] || fail "exits with $status"
has_calls 1

# A script that calls mpirun, which may reach hosts that were not examined: nothing is preloaded from a shared
# directory such as /tmp.
printf '%s\n' '#!/bin/sh' 'mpirun "$@" && echo done' >"$work/job.sh"
run_inside --no-report sh "$work/job.sh" "${job[@]:1}" "$program"
[ $status -eq 0 ] && grep -qx done "$work/out" || fail "the script exits with $status"
shared=no directory=$CHOKEPOINT_BIN
while [ -n "$directory" ]; do
    [ ! -k "$directory" ] || shared=yes
    directory=${directory%/*}
done
has=$(sql "SELECT count(*) > 0 FROM mpi_function m JOIN instance USING (instance) JOIN host h USING (host) WHERE h.run = 2")
[ "$shared $has" = 'no 1' ] || [ "$shared $has" = 'yes 0' ] || fail "of a script's mpirun, with a shared directory: $shared, recorded: $has"

run_inside --no-report --no-shim "${job[@]}" "$program"
[ $status -eq 0 ] || fail "--no-shim exits with $status"
[ -z "$(recorded 3)" ] || fail "--no-shim, and yet: $(recorded 3)"

# The user's own -x with the same name wins, and works.
run_inside --no-report "${job[@]}" -x "LD_PRELOAD=$CHOKEPOINT_BIN/other_tool_pmpi.so" "$program"
[ $status -eq 0 ] && grep -q 'other tool: rank 1 sends 0 reductions 20' "$work/out" || fail "the user's LD_PRELOAD: $status"

# OpenMPI takes no other variables beside mca_base_env_list: the command must run, the shim stays out, and a note
# says so.
run_inside --no-report mpirun --hostfile "$hostfile" -N 1 -np 2 --mca mca_base_env_list "EXPECT=$work/expect" "$program"
[ $status -eq 0 ] || fail "beside mca_base_env_list it exits with $status"
said 'MPI calls are not recorded: .*mca_base_env_list' || fail "and does not say why there are no calls"
