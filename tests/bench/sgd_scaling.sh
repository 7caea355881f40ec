#!/bin/bash
# SPDX-License-Identifier: MIT
# The program's own overhead from 2 to 16 ranks: CPU time of all ranks and of mpirun a gigabyte moved, in sync dense training
# with batches of one example, so that there is next to nothing to compute and much to wait for. A long run less a short
# one, 3 GB however many ranks, so that what a start costs now and then decides nothing; medians. At most linear in bytes moved: no more a gigabyte with 16 ranks than with 2.
# Usage: sgd_scaling.sh [BIN], the binaries of a release build; RANKS, TURNS in the environment.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: sgd_scaling.sh BIN}}
turns=${TURNS:-3} features=500000
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$bin/chokepoint-sgd" generate --features $features --examples 3200 --files 16 --out "$work/data" >/dev/null || exit 1
TIMEFORMAT='%U %S'
# train RANKS ITERATIONS: CPU seconds and bytes that all ranks sent
train() {
    { time mpirun --oversubscribe -np "$1" "$bin/chokepoint-sgd" --mode sync --transfer dense --features $features \
        --data "$work/data" --preload --batch 1 --iterations "$2" --json "$work/summary" --quiet >"$work/out" 2>&1; } \
        2>"$work/time" || { cat "$work/out" >&2; exit 1; }
    awk '{ print $1 + $2 }' "$work/time"
    sed -n 's/.*"sent_bytes": \([0-9]*\).*/\1/p' "$work/summary" | awk '{ s += $1 } END { print s }'
}
for ((i = 0; i < turns; i++)); do
    for n in ${RANKS:-2 4 8 16}; do
        more=$((750 / (n - 1)))
        echo "$n $(train "$n" 10 | tr '\n' ' ') $(train "$n" $((10 + more)) | tr '\n' ' ') $more"
    done
done | awk '{ print $1, ($4 - $2) / ($5 - $3) * 1e9, ($5 - $3) / $6 / 1e6 }' | sort -k 1,1n -k 2,2g >"$work/figures"
awk '
    { n[$1]++; value[$1, n[$1]] = $2; moved[$1] = $3; if (!seen[$1]++) order[++k] = $1 }
    END {
        first = value[order[1], int((n[order[1]] + 1) / 2)]
        for (i = 1; i <= k; i++) {
            r = order[i]
            m = value[r, int((n[r] + 1) / 2)]
            printf "%2d ranks, %6.1f MB an iteration: %.2f CPU seconds a gigabyte, %.2f times that of %d ranks\n", r, moved[r], m, m / first, order[1]
        }
        printf "with %d ranks at most 1 times as much: %.2f\n", r, m / first
        exit m > first
    }' "$work/figures"
