#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# nccl_cost.sh [EVENTS]: nanoseconds that the plug-in of NCCL adds to an operation (group, collective, their ends),
# played, for each version of the interface: loaded where nobody listens, and writing. Beside it what the MPI shim adds
# to a call, where there is an MPI. Goal: at most 500 ns, a tenth of what a launch costs. A/A: a second run where nobody
# listens.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=${CHOKEPOINT_BIN:-$here/build/release/bin}
events=${1:-300000}
marks=/dev/shm/chokepoint-bench-$$
mkdir -m 700 "$marks.$(hostname)"
trap 'rm -rf "$marks.$(hostname)"' EXIT
export NCCL_PROFILER_PLUGIN=$bin/libchokepoint-mpi.so NCCL_PLAYER_ANY_MASK=1
printf '%-10s %16s %16s %16s   (ns an operation)\n' version 'nobody listens' 'A/A: again' writing
for version in 1 2 3 4 5 6; do
    silent=$("$bin/nccl-player" "$version" cost "$events")
    writing=$(CHOKEPOINT_MARKS=$marks "$bin/nccl-player" "$version" cost "$events")
    rm -f "$marks.$(hostname)"/*
    echo "$silent $writing $("$bin/nccl-player" "$version" cost "$events")"
done | awk '{
    printf "%-10s %16.1f %16.1f %16.1f\n", $1, $2 - $3, $8 - $9, $5 - $6
    if ($5 - $6 > worst) worst = $5 - $6
} END {
    printf "the plug-in adds at most %.0f ns to an operation (goal: at most 500)\n", worst
    exit worst > 500
}'
unset NCCL_PROFILER_PLUGIN
[ ! -x "$bin/bench_shim_cost" ] || ! command -v mpirun >/dev/null || "$here/tests/bench/shim_cost.sh" 3
