#!/bin/bash
# SPDX-License-Identifier: MIT
# The collector refuses in one line, with a status that tells usage errors from failures, and leaves
# no trace. An agent whose token is refused reports it once and keeps its frames.
set -u
work=$(mktemp -d)
db=$work/x.db
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/collector_lib.sh" || exit 1
trap clean_up EXIT

refused() { # STATUS PATTERN ARGUMENTS...
    local wanted=$1 pattern=$2 status
    shift 2
    "$chokepoint" collector "$@" </dev/null >"$work/refused.out" 2>"$work/refused.err"
    status=$?
    [ $status = "$wanted" ] || fail "collector $* ended with $status, not $wanted"
    [ "$(wc -l <"$work/refused.err")" = 1 ] || fail "collector $*: not one line"
    grep -q -- "$pattern" "$work/refused.err" || fail "collector $*: $(cat "$work/refused.err")"
}

"$CHOKEPOINT_BIN/new-run" "$db" >/dev/null || fail "no run"
refused 2 'needed'
refused 2 'needed' --db "$db" --run 1
refused 2 'number of a run' --db "$db" --run x --listen 127.0.0.1:0
refused 2 'unknown option' --db "$db" --run 1 --listen 127.0.0.1:0 --frobnicate
refused 2 'options only' --db "$db" --run 1 --listen 127.0.0.1:0 more
CHOKEPOINT_TOKEN='' refused 2 'CHOKEPOINT_TOKEN' --db "$db" --run 1 --listen 127.0.0.1:0
CHOKEPOINT_TOKEN=short refused 1 'token' --db "$db" --run 1 --listen 127.0.0.1:0
refused 1 'no database at' --db "$work/none.db" --run 1 --listen 127.0.0.1:0
[ ! -e "$work/none.db" ] || fail "made a database out of a typing error"
refused 1 'no run 2' --db "$db" --run 2 --listen 127.0.0.1:0
refused 1 'ADDR:PORT' --db "$db" --run 1 --listen localhost:0
echo "just a text" >"$work/text"
refused 1 'not a Chokepoint database' --db "$work/text" --run 1 --listen 127.0.0.1:0

start_collector
refused 1 'cannot listen' --db "$db" --run 1 --listen "$address"
grep -qz CHOKEPOINT_TOKEN "/proc/$collector/cmdline" && fail "the token is on the command line"
for secret in "$CHOKEPOINT_TOKEN" "$(sed -n 2p <<<"$CHOKEPOINT_KEY")"; do
    grep -aqF -e "$secret" "/proc/$$/environ" "/proc/$collector/environ" && fail "a secret stays in the collector's environment"
done

CHOKEPOINT_TOKEN=ffffffffffffffffffffffffffffffff "$CHOKEPOINT_BIN/chokepoint-agent" --collector "https://$address" \
    --pin "$pin" --spool "$work/spool" --host h1 --no-supervise --samples 5 --drain 3 2>"$work/agent.err"
status=$?
[ $status = 3 ] || fail "an agent that could not deliver ends with $status"
[ "$(grep -c '401' "$work/agent.err")" = 1 ] || fail "the agent does not say once that its key was refused"
[ -n "$(ls "$work"/spool/*.spool)" ] || fail "what was sampled is gone"

start_agent
until_true has_stored 5
stop_both
[ "$(ask "SELECT n FROM refused WHERE kind = 'unauthorized'")" -ge 1 ] || fail "not counted: $(ask 'SELECT * FROM refused')"
expect_all_once
