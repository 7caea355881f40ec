#!/bin/bash
# SPDX-License-Identifier: MIT
# Sync dense training of R1's model over emulated hosts: the median iteration beside the limit of the
# server's links, by a raw TCP transfer over the same links just before. Usage: sgd_sync_dense.sh [BIN],
# with the binaries of a release build; HOSTS, RATE, FEATURES, BATCH, ITERATIONS in the environment.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: sgd_sync_dense.sh BIN}}
hosts=${HOSTS:-5} rate=${RATE:-1.8gbit} features=${FEATURES:-33762578} iterations=${ITERATIONS:-7} batch=${BATCH:-1000}
# shellcheck source-path=SCRIPTDIR source=sgd_lib.sh
. "$(dirname "$0")/sgd_lib.sh"
mpicc -O2 -D_GNU_SOURCE -o "$work/raw_link" "$here/raw_link.c" || fail "mpicc"
"$bin/chokepoint-sgd" generate --features "$features" --examples 100000 --files "$hosts" \
    --out "$work/data" --test-examples 1000 >/dev/null || fail "generate"
testbed up "$hosts" --rate "$rate" || { echo "skipped: this machine cannot have a testbed"; exit 77; }

over "$work/raw_link" eth0 $((features * 4)) >"$work/raw" || fail "raw transfer"
over "$bin/chokepoint-sgd" --mode sync --transfer dense --features "$features" --data "$work/data" \
    --batch "$batch" --iterations "$iterations" --json "$work/summary" --quiet >"$work/out" || fail "training"
cat "$work/out"
awk -v s="$(json "$work/summary" iteration_s)" -v n="$features" -v h="$hosts" '
    { rate[$1] = $2 }
    END {
        bytes = (h - 1) * 4 * n
        out = bytes / rate["out_bytes_per_s"]; in_ = bytes / rate["in_bytes_per_s"]
        printf "raw TCP of the server: %.1f MB/s out, %.1f MB/s in\n", rate["out_bytes_per_s"] / 1e6, rate["in_bytes_per_s"] / 1e6
        printf "bound: %.1f MB out + %.1f MB in = %.3f s + %.3f s = %.3f s\n", bytes / 1e6, bytes / 1e6, out, in_, out + in_
        printf "sync dense iteration, median: %.3f s = %.3f times the bound (at most 1.1)\n", s, s / (out + in_)
        exit s > 1.1 * (out + in_)
    }' "$work/raw"
