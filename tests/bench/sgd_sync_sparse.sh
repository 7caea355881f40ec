#!/bin/bash
# SPDX-License-Identifier: MIT
# A sparse sync iteration, batch 100, over emulated hosts with unshaped links, beside the same bytes and messages alone
# (sgd_exchange.c), in turns, medians. It is compared with those waiting as the program does, with naps; the time in blocking
# calls, which spin, shows the price of the naps. (The program with --spin is not run: where hosts share cores, ranks that
# spin take the time from the one they wait for.) Usage: sgd_sync_sparse.sh [BIN], the binaries of a release build; HOSTS,
# TURNS, ITERATIONS in the environment.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: sgd_sync_sparse.sh BIN}}
hosts=${HOSTS:-5} turns=${TURNS:-5} features=33762578 iterations=${ITERATIONS:-200}
# shellcheck source-path=SCRIPTDIR source=sgd_lib.sh
. "$(dirname "$0")/sgd_lib.sh"
# shellcheck source-path=SCRIPTDIR source=median.sh
. "$(dirname "$0")/median.sh"
mpicc -O2 -std=gnu17 -D_GNU_SOURCE -I"$here/../.." -o "$work/exchange" "$here/sgd_exchange.c" \
    "$here/../../workloads/common/wait.c" || fail "mpicc"
"$bin/chokepoint-sgd" generate --features $features --examples 50000 --files "$hosts" --out "$work/data" >/dev/null ||
    fail "generate"
testbed up "$hosts" --rate none || { echo "skipped: this machine cannot have a testbed"; exit 77; }

train() { # seconds of an iteration
    over "$bin/chokepoint-sgd" --mode sync --transfer sparse --features $features --data "$work/data" --preload --batch 100 \
        --iterations "$iterations" --json "$work/summary" --quiet >"$work/out" 2>&1 || fail "training: $(cat "$work/out")"
    json "$work/summary" iteration_s
}
train >/dev/null
# Floats sent to the first worker in an iteration, without the head: the features of its batch
floats=$(sed -n 's/.*"received_bytes": \([0-9]*\).*/\1/p' "$work/summary" | sed -n 2p |
    awk -v n="$iterations" '{ printf "%d", ($1 / n - 16) / 4 }')
for ((i = 0; i < turns; i++)); do
    train >>"$work/ours"
    for how in nap spin; do
        over "$work/exchange" "$iterations" "$floats" $how >>"$work/$how" 2>"$work/out" || fail "exchange: $(cat "$work/out")"
    done
done
middle() { awk "$median_of"'{ v[NR] = $1 } END { print median(v, NR) }' "$1"; }
awk -v workers=$((hosts - 1)) -v bytes=$((3 * (floats * 4 + 16))) -v ours="$(middle "$work/ours")" \
    -v nap="$(middle "$work/nap")" -v spin="$(middle "$work/spin")" -v turns="$turns" '
    BEGIN {
        printf "sync sparse, %d workers, %d bytes in 6 messages with each, medians of %d:\n", workers, bytes, turns
        printf "  an iteration                      %.3f ms\n", ours * 1e3
        printf "  the messages alone, with naps     %.3f ms: %.2f times (at most 2)\n", nap * 1e3, ours / nap
        printf "  the messages alone, spinning      %.3f ms: %.2f times\n", spin * 1e3, ours / spin
        exit ours > 2 * nap
    }'
