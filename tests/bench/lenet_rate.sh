#!/bin/bash
# SPDX-License-Identifier: MIT
# Images/s that chokepoint-lenet trains on one core, batch 64 and 256, beside PyTorch with the same net and one thread, in turns.
# The best turn counts, by CPU time of the training (a long run minus a short one). Then the processor's limits: the share of an
# iteration in oneDNN's convolutions, their rate (the net's own products; padding does not count), and OpenBLAS's sgemm beside it,
# with the fastest kernels for this processor, which PyTorch has to use, too (blas_kernels.sh). The A/A row is PyTorch's turns
# against each other. Usage: lenet_rate.sh [BIN], the binaries of a release build; TURNS and BATCHES in the environment.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: lenet_rate.sh BIN}}
turns=${TURNS:-3}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/median.sh"
. "$here/blas_kernels.sh"
python=/usr/bin/python3 # the distribution's modules are in its Python
"$python" -c 'import torch, numpy' 2>/dev/null || { echo "skipped: no python3-torch"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'
"$bin/chokepoint-data" generate digits --out "$work/data" --test 64 --quiet >/dev/null || exit 1
# train BATCH ITERATIONS: CPU seconds of the whole program
train() {
    { time "$bin/chokepoint-lenet" --data "$work/data" --batch "$1" --iterations "$2" --test-every 100000 --quiet \
        >"$work/out" 2>&1; } 2>"$work/time" || { cat "$work/out" >&2; exit 1; }
    awk '{ print $1 + $2 }' "$work/time"
}
# The convolutions' milliseconds in an iteration: the median of each kind of call, as oneDNN prints
# them
convolutions() {
    DNNL_VERBOSE=1 "$bin/chokepoint-lenet" --data "$work/data" --batch "$1" --iterations 200 --test-every 100000 --quiet |
        awk -F , -v iterations=200 "$median_of"'
            $2 == "exec" && $4 == "convolution" {
                kind = $5 $6 $7 $10
                for (i = 1; i <= n_kinds && kinds[i] != kind; i++) ;
                if (i > n_kinds) kinds[++n_kinds] = kind
                took[i, ++calls[i]] = $NF
            }
            END {
                for (i = 1; i <= n_kinds; i++) {
                    for (j = 1; j <= calls[i]; j++) v[j] = took[i, j]
                    sum += median(v, calls[i]) * calls[i] / iterations
                }
                print sum
            }'
}
# The least CPU seconds of a product of 2048 x 2048, over some turns
force_kernels "$bin"
echo "kernels of OpenBLAS for $OPENBLAS_CORETYPE"
gemm() {
    for ((t = 0; t < turns; t++)); do
        "$bin/bench_matmul_gemm" 2048 || exit 1
    done | sort -k 2 -n | awk 'NR == 1 { print $2 }'
}
bad=0
for batch in ${BATCHES:-64 256}; do
    short=20 long=$((20 + 25600 / batch))
    : >"$work/ours"
    : >"$work/theirs"
    for ((i = 0; i < turns; i++)); do
        "$python" "$here/lenet_torch.py" "$work/data" $batch $((long - short)) >>"$work/theirs" || exit 1
        echo "$(train $batch $short) $(train $batch $long)" >>"$work/ours"
    done
    awk -v images=$((batch * (long - short))) -v batch=$batch -v conv_ms="$(convolutions $batch)" -v gemm_s="$(gemm)" '
        FILENAME ~ /theirs$/ { if ($2 > theirs) theirs = $2; if (!least || $2 < least) least = $2 }
        FILENAME ~ /ours$/ { if (!short || $1 < short) short = $1; if (!all || $2 < all) all = $2 }
        END {
            ours = images / (all - short)
            iteration_ms = batch / ours * 1e3
            # 6 of 1 x 5 x 5 at 28 x 28 places, twice; 16 of 6 x 5 x 5 at 10 x 10, three times
            conv = batch * 2 * (2 * 6 * 25 * 784 + 3 * 16 * 150 * 100) / conv_ms * 1e-6
            gemm = 2 * 2048 ^ 3 / gemm_s * 1e-9
            at_peak = batch / (iteration_ms - conv_ms + conv_ms * conv / gemm) * 1e3
            printf "batch %3d, images per CPU second: chokepoint-lenet %.0f, PyTorch %.0f: %.2f times (wanted: 2.5)\n",
                batch, ours, theirs, ours / theirs
            printf "  A/A: PyTorch, its slowest turn: %.2f of its best\n", least / theirs
            printf "  convolutions: %.0f %% of an iteration of %.2f ms, %.0f GFLOP/s; sgemm: %.0f GFLOP/s\n",
                100 * conv_ms / iteration_ms, iteration_ms, conv, gemm
            printf "  with convolutions as fast as sgemm it would be %.2f times\n", at_peak / theirs
            exit ours < 2.5 * theirs
        }' "$work/theirs" "$work/ours" || bad=1
done
exit $bad
