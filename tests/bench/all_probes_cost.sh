#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# all_probes_cost.sh [SECONDS [AGENT_OPTION...]]: CPU time of the agent with every probe on, at 10 Hz, pushing to a
# collector on this host: 8 processes of the job marked as ranks hold 200 TCP connections (25 each, over loopback,
# some data on each) to 8 processes outside the job. The goal is 1 % of a core. The agent's own table gives the cost
# of each probe; the rest is frames, spool and push. Yardstick in the same run: `ss -tnip`, once.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=${CHOKEPOINT_BIN:-$here/build/release/bin}
seconds=${1:-20}
[ $# = 0 ] || shift
work=$(mktemp -d)
started=()
finish() {
    for pid in "${started[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM
await() {
    for _ in $(seq 200); do ! grep -q "$2" "$1" 2>/dev/null || return 0; sleep 0.05; done
    echo "$1: no '$2' within 10 s" >&2
    exit 1
}
export CHOKEPOINT_TOKEN=0123456789abcdef0123456789abcdef
mkfifo "$work/hold" "$work/stop"
exec 8<>"$work/hold" 9<>"$work/stop"
run=$("$bin/new-run" "$work/cost.db")
"$bin/chokepoint" collector --db "$work/cost.db" --run "$run" --listen 127.0.0.1:0 <"$work/stop" >"$work/collector" 2>"$work/collector.err" &
started+=($!)
await "$work/collector" '^listening'
address=$(awk '$1 == "listening" { print $2 }' "$work/collector")
pin=$(awk '$1 == "pin" { print $2 }' "$work/collector")
key=$("$bin/chokepoint" collector --key-of cost)
for rank in 0 1 2 3 4 5 6 7; do
    "$bin/tcp-transfer" sink 127.0.0.1 $((47100 + rank)) >"$work/sink.$rank" &
    started+=($!)
    await "$work/sink.$rank" ready
    CHOKEPOINT_RUN=cost OMPI_COMM_WORLD_RANK=$rank CHOKEPOINT_MARKS=$work/marks \
        "$bin/tcp-transfer" hold 127.0.0.1 $((47100 + rank)) 25 1000 20 <"$work/hold" >"$work/hold.$rank" 8>&- 9>&- &
    started+=($!)
done
for rank in 0 1 2 3 4 5 6 7; do await "$work/hold.$rank" connected; done
CHOKEPOINT_TOKEN=$key CHOKEPOINT_RUN=cost CHOKEPOINT_MARKS=$work/marks "$bin/chokepoint-agent" --collector "https://$address" --pin "$pin" --spool "$work/spool" \
    --host cost "$@" 2>"$work/agent.err" 8>&- 9>&- &
agent=$!
started+=($agent)
await "$work/collector" '^host'
sleep 4 # processes are scanned repeatedly until they are 3 s old
child=$(cat /proc/$agent/task/$agent/children)
cpu_ns() { cat /proc/$agent/task/*/schedstat /proc/${child% }/task/*/schedstat | awk '{ n += $1 } END { printf "%.0f", n }'; }
before=$(cpu_ns) since=$(date +%s%N)
sleep "$seconds"
after=$(cpu_ns) until=$(date +%s%N)
TIMEFORMAT='%U %S'
ss_s=$({ time ss -tnip >"$work/ss"; } 2>&1)
again_s=$({ time ss -tnip >"$work/ss"; } 2>&1)
rss=$(cat /proc/$agent/status /proc/${child% }/status | awk '/^VmRSS/ { n += $2 } END { print n }')
kill -TERM $agent
wait $agent || { cat "$work/agent.err" >&2; exit 1; }
echo stop >&9
connections=$(grep -c ESTAB "$work/ss")
cat "$work/agent.err"
awk -v ns=$((after - before)) -v wall=$((until - since)) -v rss="$((rss * 1024))" -v sockets="$connections" 'BEGIN {
    printf "agent: %.3f %% of a core over %.0f s (goal: 1 %%); %.1f MB resident, supervisor included; %d sockets on the host\n", 100 * ns / wall, wall / 1e9, rss / 1e6, sockets }'
awk -v s="$ss_s $again_s" 'BEGIN { split(s, t, " "); printf "yardstick: one `ss -tnip`: %.1f ms of CPU; A/A: another one: %.1f ms\n", 1e3 * (t[1] + t[2]), 1e3 * (t[3] + t[4]) }'
sqlite3 "$work/cost.db" "SELECT count(*) || ' rows of connections in ' || count(DISTINCT frame) || ' frames, of ' ||
    (SELECT count(*) FROM frame) FROM connection"
sqlite3 "$work/cost.db" "SELECT printf('  %-12s %7.1f us a second', i.name, sum(s.cpu_ns) / 1e3 /
    (SELECT (max(mono_ns) - min(mono_ns)) / 1e9 FROM frame)) FROM self s JOIN instance i USING (instance) GROUP BY i.name ORDER BY sum(s.cpu_ns) DESC"
