# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For tests of MPI calls in the database, with ranks on this machine; to be sourced after run_lib.sh. CHOKEPOINT_MPI
# in the environment names the MPI library: openmpi, or mpich, whose programs are in a separate folder.
library=${CHOKEPOINT_MPI:-openmpi}
programs=$CHOKEPOINT_BIN
[ "$library" = openmpi ] || programs=$CHOKEPOINT_BIN/$library
[ -x "$programs/calls_planted" ] || { echo "skipped: no MPI"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export EXPECT="$work/expect"
# Without osc/rdma: its compare-and-swap over shared memory crashes in OpenMPI 4.1.4.
mpi=(mpirun --oversubscribe --mca osc ^rdma -x EXPECT)
[ "$library" = openmpi ] || mpi=(mpirun.mpich)

# The program's own totals, and those recorded in the last run: "RANK FUNCTION CALLS SENT RECEIVED".
expected() { cat "$EXPECT".* | sed -n 's/^total //p' | sort; }
totals() {
    sql "SELECT k.rank, substr(i.name, instr(i.name, 'MPI_')), sum(m.calls), sum(m.sent_bytes), sum(m.received_bytes)
         FROM mpi_function m JOIN instance i USING (instance) JOIN host h USING (host)
         JOIN (SELECT DISTINCT instance, rank FROM mpi_function) k USING (instance)
         WHERE h.run = (SELECT max(run) FROM run) GROUP BY i.instance" | tr '|' ' ' | sort
}
totals_agree() {
    expected >"$work/want"
    totals >"$work/got"
    diff "$work/want" "$work/got" >&2 || fail "totals (<: what the program knows, >: what was recorded)"
    [ -s "$work/want" ] || fail "the program says nothing"
    echo "$(wc -l <"$work/want") totals agree exactly"
}
of_last_run="JOIN instance i USING (instance) JOIN host h USING (host) WHERE h.run = (SELECT max(run) FROM run)"
