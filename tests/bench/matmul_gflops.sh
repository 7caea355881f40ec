#!/bin/bash
# SPDX-License-Identifier: MIT
# GFLOP/s of the whole chokepoint-matmul on one core, from exec to exit, beside OpenBLAS's sgemm alone on the same
# size, in turns. Judged by CPU time, which neighbours on the machine disturb less; wall time is shown too.
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
    function least(old, new) { return old == "" || new < old ? new : old }
    FILENAME ~ /alone$/ { alone_wall = least(alone_wall, $1); alone = least(alone, $2) }
    FILENAME ~ /program$/ { wall = least(wall, $1); cpu = least(cpu, $2 + $3); user = least(user, $2) }
    FILENAME ~ /rounds$/ { rounds = least(rounds, $1) }
    END {
        flop = 2 * n * n * n * 1e-9
        printf "%d x %d floats, one core, best of %d turns, GFLOP/s:\n", n, n, turns
        printf "  OpenBLAS alone                 %6.1f by CPU time  %6.1f by wall time\n", flop / alone, flop / alone_wall
        printf "  chokepoint-matmul, whole run   %6.1f by CPU time  %6.1f by wall time (blocks of %d)\n", flop / cpu, flop / wall, block
        printf "  chokepoint-matmul, its rounds                      %6.1f by wall time\n", flop / rounds
        printf "whole run / alone, CPU time: %.1f %% (at least 95 %%)\n", 100 * alone / cpu
        printf "  of it in user space alone: %.1f %%; the rest is the kernel clearing memory that nobody had touched before\n", 100 * alone / user
        exit alone < .95 * cpu
    }' "$work/alone" "$work/program" "$work/rounds"
