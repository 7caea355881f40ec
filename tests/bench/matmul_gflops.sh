#!/bin/bash
# SPDX-License-Identifier: MIT
# GFLOP/s of the whole chokepoint-matmul on one core beside OpenBLAS's sgemm alone on matrices of the same size. Ours
# counts from exec to exit, with all user and system CPU time: loading libraries, MPI_Init(), first touches of memory,
# drawing both matrices, every product of blocks, the check of the trace. The yardstick counts only one call, on
# existing matrices. Both run at once, in turns of a tenth of a second, so that both meet the same neighbours on the
# machine; the median of the TURNS ratios counts. Only one of them has a core at any moment. The A/A row is sgemm beside
# itself. Usage: matmul_gflops.sh [BIN], the binaries of a release build; SIZE, BLOCK, TURNS in the environment. Both
# programs use the fastest kernels of this processor (blas_kernels.sh), or those that OPENBLAS_CORETYPE names, and print
# which.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/median.sh"
. "$here/blas_kernels.sh"
bin=${1:-${CHOKEPOINT_BIN:?usage: matmul_gflops.sh BIN}}
size=${SIZE:-8192} block=${BLOCK:-2048} turns=${TURNS:-3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
force_kernels "$bin"
for ((i = 0; i < turns; i++)); do
    "$here/take_turns.py" "$work/gemm" "$work/out" "$bin/bench_matmul_gemm" "$size" -- \
        "$bin/chokepoint-matmul" --size "$size" --block "$block" --quiet >"$work/times" || exit 1
    echo "$(cut -d ' ' -f 2 "$work/gemm") $(sed -n 2p "$work/times")" >"$work/turn" # gemm's CPU; our user, system, wall
    "$here/take_turns.py" "$work/gemm" "$work/again" "$bin/bench_matmul_gemm" "$size" -- "$bin/bench_matmul_gemm" "$size" >/dev/null || exit 1
    echo "$(cat "$work/turn") $(cut -d ' ' -f 2 "$work/gemm") $(cut -d ' ' -f 2 "$work/again")" >>"$work/turns"
done
kernels=$(sed -n 's/.*(kernels: \(.*\))$/\1/p' "$work/out")
awk -v n="$size" -v block="$block" -v kernels="$kernels" "$median_of"'
    { gemm[NR] = $1; cpu[NR] = $2 + $3; share[NR] = 100 * $1 / cpu[NR]; in_user[NR] = 100 * $1 / $2
      alike[NR] = 100 * $5 / $6 }
    END {
        flop = 2 * n * n * n * 1e-9
        printf "%d x %d floats, one core, kernels for %s, medians of %d turns, GFLOP a second of CPU:\n", n, n, kernels, NR
        printf "  OpenBLAS sgemm alone          %6.1f\n", flop / median(gemm, NR)
        printf "  chokepoint-matmul, whole run  %6.1f (blocks of %d)\n", flop / median(cpu, NR), block
        ours = median(share, NR)
        middle = median(alike, NR)
        printf "A/A: sgemm beside itself: %.1f %% (%.1f to %.1f)\n", middle, alike[1], alike[NR]
        printf "whole run / alone: %.1f %% (wanted: 92 %%; %.1f to %.1f)\n", ours, share[1], share[NR]
        printf "  of it in user space alone: %.1f %%; the rest is the kernel clearing memory that nobody had touched before\n", median(in_user, NR)
        exit ours < 92
    }' "$work/turns"
