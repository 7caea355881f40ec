#!/bin/bash
# SPDX-License-Identifier: MIT
# Examples/s of CPU time that chokepoint-sgd trains alone, 39 of 33.7 M features set, data in memory, beside scikit-learn's
# SGDClassifier.partial_fit on the same records, in turns; medians. It is judged with 10,000 records a call, as training in
# mini-batches requires; all records in one call are shown, too. Ours: a long run minus a short one, with batches of 1000.
# Beside it stands the limit of this machine's memory: w[i] += value for the same features in the same order, and nothing else.
# Usage: sgd_single_rate.sh [BIN], the binaries of a release build; TURNS in the environment.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: sgd_single_rate.sh BIN}}
turns=${TURNS:-5} features=33762578 examples=100000 batch=1000
here=$(cd "$(dirname "$0")" && pwd)
. "$here/median.sh"
python=/usr/bin/python3 # the distribution's modules are in its Python
"$python" -c 'import sklearn' 2>/dev/null || { echo "skipped: no python3-sklearn"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'
"$bin/chokepoint-sgd" generate --features $features --examples $examples --files 1 --out "$work/data" >/dev/null || exit 1
# train ITERATIONS: CPU seconds of the whole program
train() {
    { time "$bin/chokepoint-sgd" --mode single --preload --features $features --data "$work/data" --batch $batch \
        --iterations "$1" --quiet >"$work/out" 2>&1; } 2>"$work/time" || { cat "$work/out" >&2; exit 1; }
    awk '{ print $1 + $2 }' "$work/time"
}
short=200 long=2200
for ((i = 0; i < turns; i++)); do
    "$python" "$here/sgd_single_sklearn.py" "$work/data/train-00.libsvm" $features >>"$work/theirs" || exit 1
    echo "$(train $short) $(train $long)" >>"$work/ours"
    "$bin/bench_random_update" "$work/data/train-00.libsvm" $features >>"$work/memory" || exit 1
done
awk -v examples=$((batch * (long - short))) -v set=39 "$median_of"'
    FILENAME ~ /theirs$/ { whole[++n] = $1; calls[n] = $2 }
    FILENAME ~ /memory$/ { in_order[++k] = $1; evenly[k] = $2 }
    FILENAME ~ /ours$/ { ours[++m] = examples / ($2 - $1) }
    END {
        same = alike(calls, n)
        o = median(ours, m); w = median(whole, n); c = median(calls, n)
        printf "examples per CPU second, medians of %d (least to most):\n", m
        printf "  chokepoint-sgd --mode single     %9.0f (%.0f to %.0f)\n", o, ours[1], ours[m]
        printf "  scikit-learn, 10,000 a call      %9.0f (%.0f to %.0f): %.1f times (at least 8)\n", c, calls[1], calls[n], o / c
        printf "  scikit-learn, all in one call    %9.0f (%.0f to %.0f): %.1f times\n", w, whole[1], whole[n], o / w
        printf "  A/A: scikit-learn, its odd turns over its even ones: %.2f times\n", same
        u = set * o; f = median(in_order, k); e = median(evenly, k)
        printf "weights updated per CPU second, millions:\n"
        printf "  chokepoint-sgd --mode single     %9.1f (each is read for the margin, too)\n", u / 1e6
        printf "  w[i] += value, same features     %9.1f: training runs at %.0f %% of it\n", f / 1e6, 100 * u / f
        printf "  w[i] += value, drawn evenly      %9.1f: %.0f %%\n", e / 1e6, 100 * u / e
        exit o < 8 * c
    }' "$work/theirs" "$work/ours" "$work/memory"
