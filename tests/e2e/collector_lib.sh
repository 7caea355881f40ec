# SPDX-License-Identifier: MIT
# For tests that start an agent and a collector by hand; to be sourced. Needs $work and $db; keeps
# the ids of started processes, and ends those.
export CHOKEPOINT_TOKEN=00112233445566778899aabbccddeeff
chokepoint=$CHOKEPOINT_BIN/chokepoint
# As in `run`, so that a restarted collector has the key that agents know.
CHOKEPOINT_KEY=$(openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256)
export CHOKEPOINT_KEY
key_of() { "$chokepoint" collector --key-of "$1"; }
collector=
agent=
address=127.0.0.1:0

fail() { echo "FAILED: $*"; tail -n 5 "$work"/*.out "$work"/*.err 2>/dev/null; exit 1; }

. "${BASH_SOURCE[0]%/*}/until_lib.sh" || exit 1

ask() { sqlite3 -cmd ".timeout 5000" "file:$db?mode=ro" "$1" 2>>"$work/sqlite3.err"; }
stored() { local n; n=$(ask "SELECT coalesce(max(seq), 0) FROM frame"); echo "${n:-0}"; }
has_stored() { [ "$(stored)" -ge "$1" ]; }

# The highest sequence number in the spool.
spooled() {
    local last
    last=$(ls "$work"/spool/*.spool 2>/dev/null | tail -n 1)
    [ -n "$last" ] || { echo 0; return; }
    "$CHOKEPOINT_BIN/frame-dump" "$last" 2>/dev/null | sed -n 's/^frame seq=\([0-9]*\) .*/\1/p' |
        tail -n 1 | grep . || echo 0
}
has_spooled() { [ "$(spooled)" -ge "$1" ]; }
said() { grep -q "$1" "$work/collector.out"; }
lives() { kill -0 "$1" 2>/dev/null; }

# Its standard input is a pipe that this shell holds open as descriptor 9.
start_collector() {
    rm -f "$work/stdin"
    mkfifo "$work/stdin"
    "$chokepoint" collector --db "$db" --run 1 --listen "$address" <"$work/stdin" >>"$work/collector.out" 2>>"$work/collector.err" &
    collector=$!
    exec 9>"$work/stdin"
    if [ "$address" = 127.0.0.1:0 ]; then
        until_true said '^listening '
        address=$(sed -n 's/^listening //p' "$work/collector.out" | head -n 1)
        pin=$(sed -n 's/^pin //p' "$work/collector.out" | head -n 1)
    fi
}
start_agent() {
    CHOKEPOINT_TOKEN=$(key_of h1) "$CHOKEPOINT_BIN/chokepoint-agent" --collector "https://$address" --pin "$pin" --spool "$work/spool" --host h1 "$@" 9>&- 2>>"$work/agent.err" &
    agent=$!
}
# Asks the agent to stop, waits for both, and expects that both succeed.
stop_both() {
    echo stop >&9
    wait "$agent" || fail "the agent ended with $?"
    agent=
    exec 9>&-
    wait "$collector" || fail "the collector ended with $?"
    collector=
}
clean_up() {
    [ -z "$agent" ] || { kill "$agent" && wait "$agent"; } 2>/dev/null
    [ -z "$collector" ] || { kill "$collector" && wait "$collector"; } 2>/dev/null
    rm -rf "$work"
}

# Every frame 1..N is there once, N is the last one that the agent pushed, and intervals have no
# gaps.
expect_all_once() {
    local n
    n=$(sed -n 's/^final h1 //p' "$work/collector.out" | tail -n 1)
    [ -n "$n" ] || fail "no last push"
    [ "$(ask "SELECT min(seq) || ' ' || max(seq) || ' ' || count(*) || ' ' || count(DISTINCT seq) FROM frame")" = "1 $n $n $n" ] ||
        fail "of $n frames: $(ask 'SELECT min(seq), max(seq), count(*), count(DISTINCT seq) FROM frame')"
    [ "$(ask "SELECT sum(lost) FROM frame")" = 0 ] || fail "lost frames"
    [ "$(ask "SELECT sum(c.interval_ns) - (SELECT max(mono_ns) - min(mono_ns) FROM frame)
              FROM cpu c JOIN instance i USING (instance) WHERE i.name = 'cpu0'")" = 0 ] || fail "a seam in cpu0"
    [ "$(ask "PRAGMA integrity_check")" = ok ] || fail "$(ask "PRAGMA integrity_check")"
    echo "$n frames, each once"
}
