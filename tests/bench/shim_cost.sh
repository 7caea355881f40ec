#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# shim_cost.sh [PAIRS]: nanoseconds that the MPI shim adds to a call, including clocks and the record, by
# interleaved pairs of the same program without it, with it but no listener, and with it writing. Goal: at most
# 150 ns. The A/A column is the program without it in its odd turns against its even ones.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=${CHOKEPOINT_BIN:-$here/build/release/bin}
pairs=${1:-7}
. "$here/tests/bench/pairs.sh"
. "$here/tests/bench/median.sh"
need_pairs "$pairs"
work=$(mktemp -d)
mkdir -m 700 "/dev/shm/chokepoint-bench-$$.$(hostname)"
trap 'rm -rf "$work" "/dev/shm/chokepoint-bench-$$.$(hostname)"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
shim=$bin/libchokepoint-mpi.so

run() { "$@" mpirun -np 1 --bind-to core "$bin/bench_shim_cost"; }
for i in $(seq "$pairs"); do
    run env | sed 's/^/alone /'
    run env OMPI_MCA_mca_base_env_list="LD_PRELOAD=$shim" | sed 's/^/silent /'
    run env OMPI_MCA_mca_base_env_list="LD_PRELOAD=$shim" OMPI_CHOKEPOINT_MARKS="/dev/shm/chokepoint-bench-$$" | sed 's/^/writing /'
    rm -f "/dev/shm/chokepoint-bench-$$.$(hostname)"/*
done >"$work/all"

awk "$median_of"'
function of(who, name,    values, n, i) {
    n = split(ns[who, name], values, " ")
    for (i = 1; i <= n; i++) values[i] += 0
    return median(values, n)
}
function twice(name,    values, n, i) {
    n = split(ns["alone", name], values, " ")
    for (i = 1; i <= n; i++) values[i] += 0
    return alike(values, n)
}
{ if (!($2 in seen)) { seen[$2] = 1; names[++n] = $2 } ns[$1, $2] = ns[$1, $2] " " $3 }
END {
    printf "%-22s %10s %16s %16s %8s   (ns a call)\n", "", "without", "nobody listens", "writing", "A/A"
    for (i = 1; i <= n; i++) {
        a = of("alone", names[i]); b = of("silent", names[i]); c = of("writing", names[i])
        printf "%-22s %10.1f %8.1f (%+5.1f) %8.1f (%+5.1f) %+8.1f\n", names[i], a, b, b - a, c, c - a, a * (twice(names[i]) - 1)
        if (c - a > worst) worst = c - a
    }
    printf "the shim adds at most %.0f ns to a call (goal: at most 150)\n", worst
    exit worst > 150
}' "$work/all"
