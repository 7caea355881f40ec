#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# fuzz_short.sh BUILD SECONDS: runs every fuzz target for a while from its seed corpus, as many at once as there are
# cores; a finding fails. By hand it may run for longer; prints how many inputs were tried.
set -euo pipefail
build=$1 seconds=$2
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
if [ -w /dev/shm ]; then export TMPDIR=/dev/shm; fi # corpora are read and written all the time
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$build/bin/make-seeds" "$work"

# Freed memory need not stay in quarantine for long, nor with a long history: an input is small, and its
# faults are near.
export ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=4:max_malloc_fill_size=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}

# longest TARGET: the maximum bytes of an input. A longer row of pieces finds nothing new.
longest() {
    case $1 in
    fuzz_flow | fuzz_datagrams) echo 4096 ;;
    fuzz_database) echo 256 ;; # 16 pieces of 12 bytes are used
    *) echo 65536 ;;
    esac
}

# fuzz TARGET: leaves its number of inputs in $work/NAME.runs.
fuzz() {
    local name=${1##*/}
    local log=$work/$name.log seeds=$source_dir/tests/fuzz/corpus/$name
    mkdir -p "$work/$name"
    [ ! -d "$seeds" ] || cp -r "$seeds/." "$work/$name/"
    if ! "$1" -max_total_time="$seconds" -max_len="$(longest "$name")" -artifact_prefix="$work/" "$work/$name" >"$log" 2>&1; then
        { tail -30 "$log"; echo "$name: failed"; } >&2
        return 255 # makes xargs start no others
    fi
    printf '%-20s %s\n' "$name" "$(grep -E '^Done' "$log" || tail -1 "$log")"
    sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log" >"$work/$name.runs"
}
export -f fuzz longest
export seconds source_dir work

targets=()
for target in "$build"/bin/fuzz_*; do [ ! -x "$target" ] || targets+=("$target"); done
[ ${#targets[@]} != 0 ] || { echo "no fuzz target in $build/bin"; exit 1; }
printf '%s\0' "${targets[@]}" | xargs -0 -P "$(nproc)" -n 1 bash -c 'fuzz "$1"' fuzz || exit 1
echo "$(cat "$work"/*.runs | awk '{ n += $1 } END { print n + 0 }') inputs"
