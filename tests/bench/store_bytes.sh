#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# store_bytes.sh [SECONDS]: bytes that one full system sample costs in SQLite, at 10 Hz and at 1 Hz, beside the bytes of a
# record of `sadc -S ALL`, all recorded on this machine during the same seconds (default 60). A table has whole pages: at 1 Hz
# most of each first page is empty after a minute, which "used" leaves out. Packed: the whole file by `chokepoint pack`,
# and compressed as it is.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=${CHOKEPOINT_BIN:-$here/build/release/bin}
seconds=${1:-60}
sadc=$(command -v sadc || true)
for path in /usr/lib/sysstat/sadc /usr/lib64/sa/sadc /usr/lib/sa/sadc; do
    if [ -z "$sadc" ] && [ -x "$path" ]; then sadc=$path; fi
done
work=$(mktemp -d)
agents=() sadc_pid=''
cleanup() {
    for pid in "${agents[@]}" $sadc_pid; do [ ! -d "/proc/$pid" ] || kill "$pid"; done
    rm -rf "$work"
}
trap cleanup EXIT

for rate in 10 1; do
    "$bin/chokepoint-agent" --no-push --spool "$work/spool$rate" --rate $rate --samples $((seconds * rate)) --scope host \
        --collector https://127.0.0.1:9 --pin sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= 2>"$work/agent.log$rate" &
    agents+=($!)
done
if [ -n "$sadc" ]; then
    "$sadc" -S ALL 1 "$seconds" "$work/sa" &
    sadc_pid=$!
fi
for pid in "${agents[@]}"; do wait "$pid" || { cat "$work"/agent.log* >&2; exit 1; }; done
agents=()
for rate in 10 1; do
    echo "at $rate Hz:"
    "$bin/bench_store_bytes" "$work/db$rate" "$work/spool$rate"/*.spool
done
if [ -z "$sadc" ]; then
    echo "sadc is not installed: no yardstick"
    exit 0
fi
wait "$sadc_pid"
sadc_pid=''
"$sadc" -S ALL 1 1 "$work/sa1" # a header and one record: subtracting it leaves records only
per_record=$((($(stat -c %s "$work/sa") - $(stat -c %s "$work/sa1")) / (seconds - 1)))
echo "sadc -S ALL: $per_record bytes a record; an eighth of it: $((per_record / 8)), a sixteenth: $((per_record / 16))"
