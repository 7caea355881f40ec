#!/bin/bash
# SPDX-License-Identifier: MIT
# A database is moved during a run: the command goes on, the run reports where its database is, another database in its
# place is left alone, and what the hosts kept can be imported.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

mkfifo go
"$chokepoint" run $slow_start --db "$db" sh -c 'echo $CHOKEPOINT_RUN >id; : >started; read x <go; exit 5' >out 2>err &
pid=$!
until_true test -e started
frames() { sqlite3 "file:$1?mode=ro" 'SELECT count(*) FROM frame'; }
has_frames() { [ "$(frames "$db")" -ge 5 ]; }
until_true has_frames
"$CHOKEPOINT_BIN/new-run" other.db >/dev/null || fail "no other database"
mv "$db" moved.db && cp other.db other && mv other "$db"
until_true said "was moved to .*moved.db, and another file is in its place; what was recorded until then is there; agents keep"
echo >go
wait $pid
[ $? -eq 5 ] || fail "the command's status is lost"
said "another file is in the place of $db, which was moved or removed" || fail "the run does not say why it has no end"
! said 'not an error' || fail "an error that is none"
cmp "$db" other.db || fail "another database was written to"
kept=$(directories_of "$(cat id)" | grep spool) || fail "nothing is kept"
before=$(frames moved.db)
"$chokepoint" import "$kept" --db moved.db --run 1 >out 2>err || fail "import"
[ "$(frames moved.db)" -gt "$before" ] || fail "nothing was brought in"
[ "$(sqlite3 moved.db 'SELECT count(*) = max(seq) AND count(*) = count(DISTINCT seq) FROM frame')" = 1 ] ||
    fail "samples are lost or twice: $(sqlite3 moved.db 'SELECT count(*), max(seq), count(DISTINCT seq) FROM frame')"
rm -rf "$kept"
