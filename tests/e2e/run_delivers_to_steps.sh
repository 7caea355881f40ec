#!/bin/bash
# SPDX-License-Identifier: MIT
# srun over nodes with slurmd and nothing of ours: agents and the MPI shim are delivered through a separate step.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/slurm_lib.sh" || exit 1
cat >bare <<END
#!/bin/sh
[ "\$(hostname)" = vm1 ] || . "$work/hide" || exit
exec "\$@"
END
chmod +x bare
slurmd_under="unshare -m $work/bare"
name=none
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/deliver_lib.sh" || exit 1
need_slurm 3
export EXPECT=$work/expect

run_inside --no-report srun -N3 -n3 sh -c 'echo $SLURM_CHOKEPOINT_RUN >>ids; [ -x "$0" ] && hostname; true' "$CHOKEPOINT_BIN/chokepoint-agent"
[ $status -eq 0 ] || fail "exit status $status"
[ "$(cat out)" = vm1 ] || fail "our programs are on $(xargs <out)"
[ "$(hosts_recorded 1)" -eq 3 ] || fail "$(hosts_recorded 1) hosts were recorded"
no_traces() { [ -s ids ] && no_traces_of "$(sort -u ids)"; }
until_true no_traces

inside srun --mpi=list 2>&1 | grep -q pmix && [ -x "$CHOKEPOINT_BIN/calls_simple" ] || { echo "left out: MPI"; exit 0; }
cp "$CHOKEPOINT_BIN/calls_simple" program
run_inside --no-report srun --mpi=pmix -N3 -n3 ./program
[ $status -eq 0 ] || fail "exit status $status"
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh" || exit 1
totals_agree
