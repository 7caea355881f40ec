#!/bin/bash
# SPDX-License-Identifier: MIT
# Transfers of known size: the connection, qdisc and net tables are right to the byte, or within 1 % where headers count.
# Planted limits (a slow reader, a send buffer too small for the path, a full link) each show where they belong, and
# nowhere else.
. "${BASH_SOURCE%/*}/wire_lib.sh" || exit 1
lay_wire 9000 # headers are then below 1 %
start_agent --rate 10 --process-rate 2

size=100000000
transfer 7001 $size 60000000 0 # longer than two samples are apart
transfer 7002 12000000 4000000 0 # the reader takes 3 s for it
slow='root handle 1: tbf rate 100mbit burst 32k latency'
tc -n "$switch" qdisc add dev port-b $slow 500ms || { echo "skipped: no tbf"; exit 77; }
# The kernel starts this clock only when a packet leaves after the buffer was found full: always with pacing, seldom
# without.
transfer 7003 25000000 0 16384 25000000 # 2 s at 12.5 MB/s, behind the sender's own queues
tc -n "$switch" qdisc del dev port-b root
tc -n "$a" qdisc add dev wire0 $slow 15ms
transfer 7004 25000000 0 0
stop_agent

failures=0
complain() { echo "FAILED: $*"; failures=$((failures + 1)); }
# between NAME VALUE LOW HIGH
between() {
    awk -v v="$2" -v l="$3" -v h="$4" 'BEGIN { exit !(v != "" && v + 0 >= l + 0 && v + 0 <= h + 0) }' ||
        complain "$1 is '$2', not between $3 and $4"
}
# Acknowledged bytes include the SYN and the FIN as a byte each.
for port_bytes in 7001:$size 7002:12000000 7003:25000000 7004:25000000; do
    port=${port_bytes%:*} bytes=${port_bytes#*:}
    between "send_bytes to port $port" "$(column connection ":$port]" send_bytes)" "$bytes" $((bytes + 2))
    between "rank of port $port" "$(column connection ":$port]" rank)" 3 3
    between "state of port $port" "$(column connection ":$port]" state)" 7 7
done
total=$((size + 12000000 + 25000000 + 25000000))
between "net send_bytes of wire0" "$(column net wire0 send_bytes)" $total $((total / 100 * 101))
shaped=25000000
between "qdisc send_bytes" "$(column qdisc 'wire0 tbf 1:' send_bytes)" $shaped $((shaped / 100 * 103))
between "qdisc rate" "$(column qdisc 'wire0 tbf 1:' rate_bytes_per_s)" 12500000 12500000
between "qdisc overlimits" "$(column qdisc 'wire0 tbf 1:' overlimits)" 1 1e12

# share PORT COLUMN: in % of the time for which the connection was busy.
share() {
    awk -v x="$(column connection ":$1]" "$2")" -v y="$(column connection ":$1]" busy_ns)" 'BEGIN { printf "%d", (y > 0 ? 100 * x / y : -1) }'
}
between "busy_ns of a slow reader's sender" "$(column connection :7002] busy_ns)" 2e9 60e9
between "share held back by a slow reader" "$(share 7002 rwnd_limited_ns)" 60 100
between "share held back by a slow reader's send buffer" "$(share 7002 sndbuf_limited_ns)" 0 20
between "busy_ns with a small buffer" "$(column connection :7003] busy_ns)" 1.8e9 60e9
between "share held back by a small buffer" "$(share 7003 sndbuf_limited_ns)" 30 100
between "share of a small buffer's reader" "$(share 7003 rwnd_limited_ns)" 0 20
between "busy_ns on a slow link" "$(column connection :7004] busy_ns)" 1.8e9 60e9
between "share of the reader on a slow link" "$(share 7004 rwnd_limited_ns)" 0 25
between "share of the buffer on a slow link" "$(share 7004 sndbuf_limited_ns)" 0 25
grep -E '^row [0-9]+ connection ' "$work/dump" | grep -vq ':700[1-4]\]\|ended unseen' && complain "connections of nobody's"
echo "limited by: reader $(share 7002 rwnd_limited_ns) %, buffer $(share 7003 sndbuf_limited_ns) %," \
    "link $((100 - $(share 7004 rwnd_limited_ns) - $(share 7004 sndbuf_limited_ns))) %"
[ $failures = 0 ] || { grep -E ' (connection|qdisc) ' "$work/dump" | tail -20; cat "$work/agent.err"; }
exit $failures
