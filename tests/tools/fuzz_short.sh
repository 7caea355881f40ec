#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fuzz_short.sh BUILD SECONDS: runs every fuzz target for a while from its seed corpus; a finding fails. By hand
# with more seconds; prints how many inputs were tried.
set -euo pipefail
build=$1 seconds=$2 found=0
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
total=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/bin/make-seeds" "$work"
for target in "$build"/bin/fuzz_*; do
    [ -x "$target" ] || continue
    name=${target##*/}
    found=1
    mkdir -p "$work/$name"
    seeds="$source_dir/tests/fuzz/corpus/$name"
    [ -d "$seeds" ] && cp -r "$seeds/." "$work/$name/"
    if ! "$target" -max_total_time="$seconds" -max_len=65536 -artifact_prefix="$work/" "$work/$name" >"$work/log" 2>&1; then
        tail -30 "$work/log"
        echo "$name: failed"
        exit 1
    fi
    printf '%-20s %s\n' "$name" "$(grep -E '^Done' "$work/log" || tail -1 "$work/log")"
    runs=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$work/log")
    total=$((total + ${runs:-0}))
done
[ $found = 1 ] || { echo "no fuzz target in $build/bin"; exit 1; }
echo "$total inputs"
