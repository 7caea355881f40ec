#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# store_bytes.sh [SECONDS]: bytes that one full system sample at 10 Hz costs in SQLite, beside the bytes of a record of
# `sadc -S ALL`, both recorded on this machine during the same seconds (default 60).
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=${CHOKEPOINT_BIN:-$here/build/release/bin}
seconds=${1:-60}
sadc=$(command -v sadc || true)
for path in /usr/lib/sysstat/sadc /usr/lib64/sa/sadc /usr/lib/sa/sadc; do
    if [ -z "$sadc" ] && [ -x "$path" ]; then sadc=$path; fi
done
work=$(mktemp -d)
agent='' sadc_pid=''
cleanup() {
    for pid in $agent $sadc_pid; do kill "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap cleanup EXIT

"$bin/chokepoint-agent" --no-push --spool "$work/spool" --samples $((seconds * 10)) --scope host \
    --collector https://127.0.0.1:9 --pin sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= 2>"$work/agent.log" &
agent=$!
if [ -n "$sadc" ]; then
    "$sadc" -S ALL 1 "$seconds" "$work/sa" &
    sadc_pid=$!
fi
wait "$agent" || { cat "$work/agent.log" >&2; exit 1; }
agent=''
"$bin/bench_store_bytes" "$work/db" "$work"/spool/*.spool
if [ -z "$sadc" ]; then
    echo "sadc is not installed: no yardstick"
    exit 0
fi
wait "$sadc_pid"
sadc_pid=''
"$sadc" -S ALL 1 1 "$work/sa1" # a header and one record: what is left of the difference are records
per_record=$((($(stat -c %s "$work/sa") - $(stat -c %s "$work/sa1")) / (seconds - 1)))
echo "sadc -S ALL: $per_record bytes a record; an eighth of it: $((per_record / 8))"
