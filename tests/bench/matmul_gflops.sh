#!/bin/bash
# SPDX-License-Identifier: MIT
# GFLOP/s of the whole chokepoint-matmul on one core beside OpenBLAS's sgemm alone on matrices of the same size. Ours
# counts from exec to exit, with all user and system CPU time: loading libraries, MPI_Init(), first touches of memory,
# drawing both matrices, every product of blocks, the check of the trace. The yardstick counts only one call, on
# existing matrices. Both run at once, in turns of a tenth of a second, so that both meet the same neighbours on the
# machine; the median of the TURNS ratios counts. Only one of them has a core at any moment. Usage: matmul_gflops.sh
# [BIN], the binaries of a release build; SIZE, BLOCK, TURNS in the environment, and OPENBLAS_CORETYPE for kernels
# that OpenBLAS would not choose (both programs print which they used).
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/median.sh"
bin=${1:-${CHOKEPOINT_BIN:?usage: matmul_gflops.sh BIN}}
size=${SIZE:-8192} block=${BLOCK:-2048} turns=${TURNS:-3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for ((i = 0; i < turns; i++)); do
    "$here/take_turns.py" "$work/gemm" "$work/out" "$bin/bench_matmul_gemm" "$size" -- \
        "$bin/chokepoint-matmul" --size "$size" --block "$block" --quiet >"$work/times" || exit 1
    echo "$(cut -d ' ' -f 2 "$work/gemm") $(sed -n 2p "$work/times")" >>"$work/turns" # gemm's CPU; our user, system, wall
done
kernels=$(sed -n 's/.*(kernels: \(.*\))$/\1/p' "$work/out")
awk -v n="$size" -v block="$block" -v kernels="$kernels" "$median_of"'
    { gemm[NR] = $1; cpu[NR] = $2 + $3; share[NR] = 100 * $1 / cpu[NR]; in_user[NR] = 100 * $1 / $2 }
    END {
        flop = 2 * n * n * n * 1e-9
        printf "%d x %d floats, one core, kernels for %s, medians of %d turns, GFLOP a second of CPU:\n", n, n, kernels, NR
        printf "  OpenBLAS sgemm alone          %6.1f\n", flop / median(gemm, NR)
        printf "  chokepoint-matmul, whole run  %6.1f (blocks of %d)\n", flop / median(cpu, NR), block
        ours = median(share, NR)
        printf "whole run / alone: %.1f %% (at least 95 %%; %.1f to %.1f)\n", ours, share[1], share[NR]
        printf "  of it in user space alone: %.1f %%; the rest is the kernel clearing memory that nobody had touched before\n", median(in_user, NR)
        exit ours < 95
    }' "$work/turns"
