#!/bin/bash
# SPDX-License-Identifier: MIT
# A collector that is killed and restarted loses nothing: every frame is stored exactly once.
set -u
work=$(mktemp -d)
db=$work/x.db
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/collector_lib.sh" || exit 1
trap clean_up EXIT

"$CHOKEPOINT_BIN/new-run" "$db" >/dev/null || fail "no run"
start_collector
start_agent --rate 20
until_true has_stored 10

for round in 1 2 3; do
    kill -KILL "$collector"
    wait "$collector" 2>/dev/null
    before=$(stored)
    until_true has_spooled $((before + 40))
    lives "$agent" || fail "the agent died with the collector"
    [ "$(stored)" = "$before" ] || fail "frames without a collector"
    start_collector
    until_true has_stored $((before + 45))
done

stop_both
expect_all_once
[ ! -e "$work/spool" ] || fail "the spool was left behind: $(ls "$work/spool")"
