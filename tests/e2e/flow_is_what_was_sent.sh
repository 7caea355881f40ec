#!/bin/bash
# SPDX-License-Identifier: MIT
# Captured flows of a known transfer: both directions within 1 % of the interface's own counters, no drops, and the
# pair of hosts named. Without the right to capture, one line says what would help, and everything else works.
. "${BASH_SOURCE%/*}/wire_lib.sh" || exit 1
lay_wire 9000
start_agent --rate 10 --flows
if grep -q ' flow: ' "$work/agent.err"; then echo "skipped: $(grep ' flow: ' "$work/agent.err")"; exit 77; fi
size=100000000 # so slow that the packets between two samples, even late ones, fit into the ring
transfer 7001 $size 20000000
inside "$a" "$CHOKEPOINT_BIN/tcp-transfer" sink 10.99.77.1 7002 20000000 >"$work/back" & # and the other way
back=$!
started+=($back)
await "$work/back" ready
inside "$b" "$CHOKEPOINT_BIN/tcp-transfer" send 10.99.77.1 7002 50000000 >/dev/null || fail "the way back"
wait $back || fail "the sink of the way back"
# The kernel hands over blocks of packets when they are full or 50 ms old.
sleep 0.3
counters=$(inside "$a" cat /proc/net/dev | sed -n 's/^ *wire0: *//p')
stop_agent

failures=0
complain() { echo "FAILED: $*"; failures=$((failures + 1)); }
# within NAME VALUE EXPECTED [MORE]: 1 %, or MORE below, for traffic outside the pair
within() {
    awk -v v="$2" -v e="$3" -v more="${4:-0}" 'BEGIN { exit !(v != "" && v >= 0.99 * e - more && v <= 1.01 * e) }' ||
        complain "$1 is '$2', not within 1 % of $3"
}
new_link=60 # packets by which IPv6 learns about a link, and of ARP
pair='wire0 10.99.77.1 10.99.77.2'
read -r receive_bytes receive_packets _ _ _ _ _ _ send_bytes send_packets _ <<<"$counters"
within "send_bytes" "$(column flow "$pair" send_bytes)" "$send_bytes"
within "send_packets" "$(column flow "$pair" send_packets)" "$send_packets" $new_link
within "receive_bytes" "$(column flow "$pair" receive_bytes)" "$receive_bytes"
within "receive_packets" "$(column flow "$pair" receive_packets)" "$receive_packets" $new_link
within "send_bytes and what was sent" "$(column flow "$pair" send_bytes)" $size
[ "$(column flow 'not captured' drops)" = 0 ] || complain "$(column flow 'not captured' drops) packets dropped"
grep -q "row .* flow \[wire0 arp\]" "$work/dump" || complain "no row of another protocol than IP"
echo "flow: $(column flow "$pair" send_bytes) bytes sent, interface: $send_bytes"

if command -v setpriv >/dev/null; then
    rm -rf "$work/spool"
    inside "$a" setpriv --bounding-set -net_raw --inh-caps -net_raw "$CHOKEPOINT_BIN/chokepoint-agent" --no-push --no-supervise \
        --spool "$work/spool" --host wire --samples 3 --flows 2>"$work/denied" || complain "the agent ends without the right to capture"
    grep -q ' flow: .*CAP_NET_RAW' "$work/denied" || complain "no word about CAP_NET_RAW: $(cat "$work/denied")"
fi
exit $failures
