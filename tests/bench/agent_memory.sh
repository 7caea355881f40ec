#!/bin/bash
# SPDX-License-Identifier: MIT
# Resident memory of an agent that samples and pushes, both of its processes, beside sadc's, in the
# same run. The collector it is given does not answer: spooling and trying again go on meanwhile.
#     tests/bench/agent_memory.sh BIN_DIR [SECONDS]
set -eu
bin=${1:?say where the programs are: agent_memory.sh BIN_DIR [SECONDS]}
seconds=${2:-5}
sadc=$(command -v sadc || echo /usr/lib/sysstat/sadc)
work=$(mktemp -d)
trap 'kill $agent ${sadc_id:-} 2>/dev/null; wait; rm -rf "$work"' EXIT
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$1/status"; }
shared_once() { awk '/^Pss:/ { print $2 }' "/proc/$1/smaps_rollup"; }

CHOKEPOINT_MARKS="$work/marks" "$bin/chokepoint-agent" --collector https://127.0.0.1:9 --pin sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= --drain 0 \
    --spool "$work/spool" 2>/dev/null &
agent=$!
if [ -x "$sadc" ]; then
    "$sadc" -S ALL 1 "$work/sa" &
    sadc_id=$!
fi
sleep "$seconds"
child=$(cat "/proc/$agent/task/$agent/children")
awk -v a="$(resident $agent)" -v b="$(resident $child)" -v limit=10 'BEGIN {
    printf "agent: supervisor %.1f MB + sampler %.1f MB = %.1f MB resident (at most %d MB)\n",
           a * 1024 / 1e6, b * 1024 / 1e6, (a + b) * 1024 / 1e6, limit }'
awk -v a="$(shared_once $agent)" -v b="$(shared_once $child)" 'BEGIN {
    printf "agent: %.1f MB with shared pages counted by their share (PSS)\n", (a + b) * 1024 / 1e6 }'
[ -z "${sadc_id:-}" ] || awk -v a="$(resident $sadc_id)" 'BEGIN {
    printf "sadc:  %.1f MB resident\n", a * 1024 / 1e6 }'
