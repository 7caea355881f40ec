#!/bin/bash
# SPDX-License-Identifier: MIT
# Images/s that chokepoint-lenet trains on one core, batch 64 and 256, beside PyTorch with the same net and one thread, in
# turns. The best of the turns counts, by CPU time (of the training: that of a long run less that of a short one).
# Usage: lenet_rate.sh [BIN], the binaries of a release build; TURNS in the environment.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: lenet_rate.sh BIN}}
turns=${TURNS:-3}
here=$(cd "$(dirname "$0")" && pwd)
python=/usr/bin/python3 # where the distribution's modules are
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
bad=0
for batch in 64 256; do
    short=20 long=$((20 + 25600 / batch))
    : >"$work/ours"
    : >"$work/theirs"
    for ((i = 0; i < turns; i++)); do
        "$python" "$here/lenet_torch.py" "$work/data" $batch $((long - short)) >>"$work/theirs" || exit 1
        echo "$(train $batch $short) $(train $batch $long)" >>"$work/ours"
    done
    awk -v images=$((batch * (long - short))) -v batch=$batch '
        FILENAME ~ /theirs$/ { if ($2 > theirs) theirs = $2 }
        FILENAME ~ /ours$/ { if (!short || $1 < short) short = $1; if (!all || $2 < all) all = $2 }
        END {
            ours = images / (all - short)
            printf "batch %3d, images per CPU second: chokepoint-lenet %.0f, PyTorch %.0f: %.2f times (at least 1.5)\n",
                batch, ours, theirs, ours / theirs
            exit ours < 1.5 * theirs
        }' "$work/theirs" "$work/ours" || bad=1
done
exit $bad
