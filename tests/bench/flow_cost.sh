#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# flow_cost.sh [PAIRS]: the cost of capturing flows, per GB and as a share of a core, at 216 MB/s (a link of 1.8 Gbit/s,
# tbf) between two network namespaces with MTU 9000 and segmentation offload, and at MTU 1500 without offload: CPU time of
# the agent beyond that of an agent without --flows, and CPU time of sender and receiver with and without (the kernel
# copies packets for the capture on their account), in interleaved pairs, medians. Needs root.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
CHOKEPOINT_BIN=${CHOKEPOINT_BIN:-$here/build/release/bin}
pairs=${1:-3}
. "$here/tests/e2e/wire_lib.sh"
. "$here/tests/bench/median.sh"
. "$here/tests/bench/pairs.sh"
need_pairs "$pairs"
bytes=648000000 # 3 s

cpu_ns() { awk '{ n += $1 } END { printf "%.0f", n }' /proc/"$1"/task/*/schedstat; }
# once LABEL OPTION...: the agent's ns, its ns while nothing was sent, sender's and receiver's ms
once() {
    local label=$1 sink before after
    shift
    rm -rf "$work/spool"
    start_agent "$@"
    sleep 1
    start_in "$b" sink bash -c 'TIMEFORMAT="cpu %U %S"; { time "$0" sink 10.99.77.2 7001; } 2>&1' "$CHOKEPOINT_BIN/tcp-transfer"
    sink=$!
    await "$work/sink" ready
    before=$(cpu_ns "$agent")
    TIMEFORMAT='%R %U %S'
    { time inside "$a" "$CHOKEPOINT_BIN/tcp-transfer" send 10.99.77.2 7001 $bytes >/dev/null; } 2>"$work/send.time"
    sleep 0.2
    after=$(cpu_ns "$agent")
    wait "$sink" || { echo "the receiver failed with $?"; cat "$work/sink"; exit 1; }
    kill -TERM "$agent"
    wait "$agent" || { echo "the agent failed with $?"; exit 1; }
    echo "$label $((after - before)) $(cat "$work/send.time") $(sed -n 's/^cpu //p' "$work/sink")" >>"$work/figures"
}
measure() {
    : >"$work/figures"
    for _ in $(seq "$pairs"); do
        once with --flows
        once without
    done
    awk -v what="$1" -v gb="$(awk -v b=$bytes 'BEGIN { print b / 1e9 }')" "$median_of"'
        { n[$1]++; agent[$1, n[$1]] = $2 / 1e6; ends[$1, n[$1]] = 1e3 * ($4 + $5 + $6 + $7); wall = $3 }
        function of(values, label,    i, copy) { for (i = 1; i <= n[label]; i++) copy[i] = values[label, i]; return median(copy, n[label]) }
        END {
            a = (of(agent, "with") - of(agent, "without")) / gb; e = (of(ends, "with") - of(ends, "without")) / gb
            printf "%s: agent %.1f ms a GB, %.2f %% of a core at 216 MB/s; sender and receiver %+.1f ms a GB, %+.2f %% (of %.0f ms a GB without)\n",
                what, a, a * 0.0216, e, e * 0.0216, of(ends, "without") / gb
        }' "$work/figures"
}
lay_wire 9000
tc -n "$a" qdisc add dev wire0 root tbf rate 1.8gbit burst 1m latency 50ms
measure "MTU 9000, offload"
for ns in a b; do ip -n "${!ns}" link set wire0 mtu 1500 gso_max_segs 1; done
measure "MTU 1500, no offload"
