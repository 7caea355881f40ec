# SPDX-License-Identifier: MIT
# Two hosts on one wire: network namespaces $a (10.99.77.1) and $b (10.99.77.2), each with an interface wire0 to the
# bridge in $switch, whose ports are port-a and port-b. The agent and the sender live in $a. To be sourced; sets $work
# and the functions below; removes everything at the end, also on failure.
set -u
work=$(mktemp -d)
a=cpwire-$$-a b=cpwire-$$-b switch=cpwire-$$-s started=()
finish() {
    local pid
    set +e
    for pid in "${started[@]}"; do kill -KILL "$pid" 2>/dev/null; done
    wait
    ip netns del "$a" 2>/dev/null
    ip netns del "$b" 2>/dev/null
    ip netns del "$switch" 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM
fail() { echo "FAILED: $*"; [ -s "$work/agent.err" ] && cat "$work/agent.err"; exit 1; }

if ! command -v ip >/dev/null || ! ip netns add "$a" 2>"$work/why"; then
    echo "skipped: no network namespaces here ($(head -1 "$work/why"))"
    exit 77
fi
# lay_wire MTU
lay_wire() {
    local ns
    ip netns add "$b" && ip netns add "$switch" && ip -n "$switch" link add bridge0 mtu "$1" type bridge ||
        fail "no bridge"
    for ns in a b; do
        ip link add wire0 netns "${!ns}" mtu "$1" type veth peer name port-$ns netns "$switch" mtu "$1" || fail "no veth pair"
        ip -n "$switch" link set port-$ns master bridge0 up
        ip -n "${!ns}" link set lo up
        ip -n "${!ns}" link set wire0 up
    done
    ip -n "$switch" link set bridge0 up
    ip -n "$a" addr add 10.99.77.1/24 dev wire0 && ip -n "$b" addr add 10.99.77.2/24 dev wire0
}
inside() { local ns=$1; shift; nsenter --net="/run/netns/$ns" -- "$@"; }
# start_in NAMESPACE NAME COMMAND...: in the background; its output is $work/NAME; $! is its id.
start_in() {
    local ns=$1 name=$2
    shift 2
    nsenter --net="/run/netns/$ns" -- "$@" >"$work/$name" 2>"$work/$name.err" &
    started+=($!)
}
. "${BASH_SOURCE[0]%/*}/until_lib.sh" || exit 1
# await FILE PATTERN
await() { until_true grep -qs -- "$2" "$1"; }
samples() { [ "$(cat "$work"/spool/*.spool 2>/dev/null | wc -c)" -gt 1000 ]; }
# start_agent OPTION...: starts the agent of the run "wire"; $agent is its id.
start_agent() {
    CHOKEPOINT_RUN=wire start_in "$a" agent "$CHOKEPOINT_BIN/chokepoint-agent" --no-push --no-supervise \
        --spool "$work/spool" --host wire "$@"
    agent=$!
    until_true samples
}
# stop_agent: takes a last sample; then everything is in $work/dump.
stop_agent() {
    kill -TERM "$agent" && wait "$agent" || fail "the agent ended with status $?"
    for segment in "$work"/spool/*.spool; do
        "$CHOKEPOINT_BIN/frame-dump" "$segment" >>"$work/dump" || fail "$segment is damaged"
    done
    cp "$work/agent.err" "$work/agent.notes" 2>/dev/null
}
# transfer PORT BYTES SINK_BYTES_PER_S [SNDBUF [PACING]]: from $a to $b, by a process of the run with rank 3.
transfer() {
    start_in "$b" "sink.$1" "$CHOKEPOINT_BIN/tcp-transfer" sink 10.99.77.2 "$1" "$3"
    local sink=$!
    await "$work/sink.$1" ready
    CHOKEPOINT_RUN=wire OMPI_COMM_WORLD_RANK=3 inside "$a" "$CHOKEPOINT_BIN/tcp-transfer" send 10.99.77.2 "$1" "$2" "${@:4}" \
        >"$work/send.$1" || fail "the transfer to port $1 failed"
    wait "$sink" || fail "the sink of port $1 failed"
}
# column TABLE PATTERN COLUMN: the last value of COLUMN in rows of TABLE whose instance contains PATTERN.
column() {
    awk -v t="$1" -v p="$2" -v c="$3" '
        $1 == "row" && $3 == t && index(substr($0, index($0, "["), index($0, "]") - index($0, "[") + 1), p) {
            for (i = 4; i <= NF; i++) if (index($i, c "=") == 1) v = substr($i, length(c) + 2)
        }
        END { print v }' "$work/dump"
}
