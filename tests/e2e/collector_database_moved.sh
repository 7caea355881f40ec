#!/bin/bash
# SPDX-License-Identifier: MIT
# A database is moved, replaced or removed under the collector, or loses its log: nothing more is acknowledged into it,
# which is reported at once; hosts keep their frames, and acknowledged ones stay where they went.
set -u
work=$(mktemp -d)
db=$work/x.db
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/collector_lib.sh" || exit 1
trap clean_up EXIT

highest() { sqlite3 "$1" 'SELECT max(seq) || " " || count(*) FROM frame'; }
# The first frame that the agent still keeps: one more than the collector has acknowledged of the stream.
first_kept() {
    "$CHOKEPOINT_BIN/frame-dump" "$(ls "$work"/spool/*.spool | head -n 1)" | sed -n 's/^frame seq=\([0-9]*\) .*/\1/p' | head -n 1
}

"$CHOKEPOINT_BIN/new-run" "$db" >/dev/null || fail "no run"
start_collector
start_agent --rate 20
until_true has_stored 10

# Moved, with another database in its place.
"$CHOKEPOINT_BIN/new-run" "$work/other.db" >/dev/null || fail "no other database"
mv "$db" "$work/y.db" && mv "$work/other.db" "$db"
until_true said "^unwritable .*x.db was moved to .*y.db, and another file is in its place; what was recorded until then is there"
at=$(spooled)
until_true has_spooled $((at + 30))
lives "$collector" && lives "$agent" || fail "something died of it"
[ "$(ask 'SELECT count(*) FROM frame')" = 0 ] || fail "frames in a database that is not the run's"
cp "$work/y.db" "$work/copy.db"
[ "$(sqlite3 "$work/copy.db" 'PRAGMA integrity_check')" = ok ] || fail "the moved one is not whole"
read -r last n <<<"$(highest "$work/copy.db")"
[ "$last" = "$n" ] && [ "$last" -ge "$(($(first_kept) - 1))" ] ||
    fail "acknowledged up to $(($(first_kept) - 1)), in the moved one $n up to $last"

# Back in its place: nothing was lost.
rm "$db"
mv "$work/y.db" "$db"
until_true has_stored $((at + 40))

# Its log is removed.
rm "$db-wal" "$db-shm"
at=$(stored)
until_true has_stored $((at + 40))
stop_both
expect_all_once

# Removed: the agent keeps what was not acknowledged, and reports it.
: >"$work/collector.out"
address=127.0.0.1:0
start_collector
start_agent --rate 20
frames() { ask 'SELECT count(*) FROM frame'; }
at=$(frames)
has_more() { [ "$(frames)" -gt "$at" ]; }
until_true has_more
rm "$db"
until_true said '^unwritable .*x.db was removed; what was recorded until then is lost'
kill "$agent"
wait "$agent"
agent=
grep -q 'were not delivered.*they are kept in' "$work/agent.err" || fail "the agent does not say what it kept"
exec 9>&-
wait "$collector"
collector=
[ -z "$(ls "$work" | grep '^x.db')" ] || fail "left behind: $(ls "$work")"
