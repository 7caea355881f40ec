#!/bin/bash
# SPDX-License-Identifier: MIT
# Updates/s of async dense training where the links of a server apart are the limit, beside what a raw TCP transfer over
# the same links carries just before: bytes an update over the slower direction. Both directions can be full at once, but
# not while all workers fetch their first weights or send their last gradients: 40 iterations make that a fortieth.
# Usage: sgd_async_rate.sh [BIN], the binaries of a release build; HOSTS, RATE, TURNS in the environment.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: sgd_async_rate.sh BIN}}
hosts=${HOSTS:-5} rate=${RATE:-400mbit} turns=${TURNS:-3} features=${FEATURES:-4000000} iterations=${ITERATIONS:-40}
# shellcheck source-path=SCRIPTDIR source=sgd_lib.sh
. "$(dirname "$0")/sgd_lib.sh"
mpicc -O2 -D_GNU_SOURCE -o "$work/raw_link" "$here/raw_link.c" || fail "mpicc"
"$bin/chokepoint-sgd" generate --features "$features" --examples 20000 --files "$hosts" --out "$work/data" >/dev/null ||
    fail "generate"
testbed up "$hosts" --rate "$rate" || { echo "skipped: this machine cannot have a testbed"; exit 77; }
for ((i = 0; i < turns; i++)); do
    over "$work/raw_link" eth0 $((features * 4)) >"$work/raw" || fail "raw transfer"
    over "$bin/chokepoint-sgd" --mode async --transfer dense --server apart --features "$features" --data "$work/data" \
        --preload --batch 100 --iterations "$iterations" --json "$work/summary" --quiet >"$work/out" || fail "training"
    awk -v bytes=$((features * 4)) -v updates="$(json "$work/summary" updates)" -v s="$(json "$work/summary" duration_s)" '
        { rate[$1] = $2 }
        END { slower = rate["out_bytes_per_s"] < rate["in_bytes_per_s"] ? rate["out_bytes_per_s"] : rate["in_bytes_per_s"]
              print updates / s, slower / bytes, updates / s / (slower / bytes) }' "$work/raw" | tee -a "$work/shares" >/dev/null
done
sort -g -k 3 "$work/shares" | awk -v hosts="$hosts" -v bytes=$((features * 4)) '
    { updates[NR] = $1; bound[NR] = $2; share[NR] = $3 }
    END {
        m = int((NR + 1) / 2)
        printf "async dense, %d workers, %.1f MB an update each way: %.2f updates/s, the link carries %.2f: %.0f %% (at least 90; %.0f to %.0f in %d runs)\n",
            hosts - 1, bytes / 1e6, updates[m], bound[m], 100 * share[m], 100 * share[1], 100 * share[NR], NR
        exit share[m] < .9
    }'
