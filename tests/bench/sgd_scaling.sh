#!/bin/bash
# SPDX-License-Identifier: MIT
# The program's own overhead from 2 to 16 ranks: CPU time of the server and of the workers per gigabyte moved, from the first
# iteration to the last, in sync dense training with batches of one example, so that there is hardly anything to compute and much
# to wait for. In turns; medians, also of each turn's ratio. Goal: at most linear in bytes moved, that is no more per gigabyte
# with the most ranks than with the fewest. The number of iterations is the same for any number of ranks: the first one costs more
# (it maps the pages of each worker's gradient, among others, 8000 faults of the server), and the same bytes in fewer iterations
# would count that 15 times as often with 16 ranks as with 2. Starts of ranks are left out, as 16 of them cost more CPU time than
# everything measured here. The model, 32 MB, is larger than caches: models of 2 and 8 MB (FEATURES=2000000) stay there with two
# ranks and not with 16, and copies then cost up to half as much again, which says nothing about the program. 16 ranks need 1.5 GB
# of memory. Usage: sgd_scaling.sh [BIN], the binaries of a release build; RANKS, TURNS, FEATURES, ITERATIONS in the environment.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: sgd_scaling.sh BIN}}
# shellcheck source-path=SCRIPTDIR source=median.sh
. "$(dirname "$0")/median.sh"
turns=${TURNS:-5} features=${FEATURES:-8000000} iterations=${ITERATIONS:-30}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$bin/chokepoint-sgd" generate --features "$features" --examples 3200 --files 16 --out "$work/data" >/dev/null || exit 1
# train RANKS: ranks, CPU seconds of the server and of all workers, bytes sent by all, MB in an iteration
train() {
    mpirun --oversubscribe -np "$1" "$bin/chokepoint-sgd" --mode sync --transfer dense --features "$features" \
        --data "$work/data" --preload --batch 1 --iterations "$iterations" --json "$work/summary" --quiet >"$work/out" 2>&1 ||
        { cat "$work/out" >&2; exit 1; }
    awk -v ranks="$1" -v iterations="$iterations" -F '[:,]' '
        /"cpu_s"/ { if (!n++) server = $2; else workers += $2 }
        /"sent_bytes"/ { bytes += $2 }
        END { print ranks, server, workers, bytes, bytes / iterations / 1e6 }' "$work/summary"
}
for ((i = 0; i < turns; i++)); do
    for n in ${RANKS:-2 4 8 16}; do train "$n" || exit 1; done
done >"$work/figures" || exit 1
awk "$median_of"'
    function of(what, r,  i, v) { # median over the turns
        for (i = 1; i <= n[r]; i++) v[i] = what[r, i]
        return median(v, n[r])
    }
    {
        if (!($1 in n)) order[++k] = $1
        i = ++n[$1]
        server[$1, i] = $2 / $4 * 1e9; workers[$1, i] = $3 / $4 * 1e9; all[$1, i] = ($2 + $3) / $4 * 1e9
        ratio[$1, i] = all[$1, i] / all[order[1], i]; moved[$1] = $5
    }
    END {
        for (i = 1; i <= k; i++) {
            r = order[i]
            least = most = ratio[r, 1]
            for (j = 2; j <= n[r]; j++) { if (ratio[r, j] < least) least = ratio[r, j]; if (ratio[r, j] > most) most = ratio[r, j] }
            printf "%2d ranks, %6.1f MB an iteration: %.3f CPU seconds a gigabyte (server %.3f, workers %.3f), %.2f times that of %d ranks (%.2f to %.2f)\n",
                r, moved[r], of(all, r), of(server, r), of(workers, r), of(ratio, r), order[1], least, most
        }
        printf "with %d ranks at most 1 times as much, median of %d turns: %.2f\n", r, n[r], of(ratio, r)
        exit of(ratio, r) > 1
    }' "$work/figures"
