#!/bin/bash
# SPDX-License-Identifier: MIT
# GFLOP/s of the whole chokepoint-matmul on one core, from exec to exit, beside OpenBLAS's sgemm alone on the same
# size, in turns. Judged by CPU time, which neighbours on the machine disturb less; wall time is shown too. Each run is held
# against the yardstick just before it, and the median of these counts: over minutes a core may change its pace by a tenth.
# Usage: matmul_gflops.sh [BIN], the binaries of a release build; SIZE, BLOCK, TURNS in the environment.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: matmul_gflops.sh BIN}}
size=${SIZE:-8192} block=${BLOCK:-2048} turns=${TURNS:-3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%R %U %S'
for ((i = 0; i < turns; i++)); do
    "$bin/bench_matmul_gemm" "$size" >>"$work/alone" || exit 1
    { time "$bin/chokepoint-matmul" --size "$size" --block "$block" --quiet >"$work/out" 2>&1; } 2>>"$work/program" ||
        { cat "$work/out"; exit 1; }
    sed -n 's/.*rounds in \([0-9.]*\) s: .*/\1/p' "$work/out" >>"$work/rounds"
done
awk -v n="$size" -v block="$block" -v turns="$turns" '
    function median(v, n,    i, j, t) {
        for (i = 2; i <= n; i++)
            for (j = i; j > 1 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
        return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
    }
    FILENAME ~ /alone$/ { alone_wall[FNR] = $1; alone[FNR] = base[FNR] = $2 }
    FILENAME ~ /program$/ { wall[FNR] = $1; cpu[FNR] = $2 + $3; share[FNR] = 100 * base[FNR] / ($2 + $3); in_user[FNR] = 100 * base[FNR] / $2 }
    FILENAME ~ /rounds$/ { rounds[FNR] = $1 }
    END {
        flop = 2 * n * n * n * 1e-9
        printf "%d x %d floats, one core, medians of %d turns, GFLOP/s:\n", n, n, turns
        printf "  OpenBLAS alone                 %6.1f by CPU time  %6.1f by wall time\n", flop / median(alone, turns), flop / median(alone_wall, turns)
        printf "  chokepoint-matmul, whole run   %6.1f by CPU time  %6.1f by wall time (blocks of %d)\n", flop / median(cpu, turns), flop / median(wall, turns), block
        printf "  chokepoint-matmul, its rounds                      %6.1f by wall time\n", flop / median(rounds, turns)
        ours = median(share, turns)
        printf "whole run / alone, CPU time: %.1f %% (at least 95 %%; %.1f to %.1f)\n", ours, share[1], share[turns]
        printf "  of it in user space alone: %.1f %%; the rest is the kernel clearing memory that nobody had touched before\n", median(in_user, turns)
        exit ours < 95
    }' "$work/alone" "$work/program" "$work/rounds"
