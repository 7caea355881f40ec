#!/bin/bash
# SPDX-License-Identifier: MIT
# A collector that is stopped for a while during a run and then continues: nothing is lost or stored
# twice. If it stays stopped when the command ends, the command's status and committed data are
# kept, and undelivered data are reported and kept.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
leave_stopped() { local s=$?; [ -z "${stopped:-}" ] || kill -CONT "$stopped" 2>/dev/null; (exit $s); leave; }
trap leave_stopped EXIT

mkfifo go
begin() { # EXIT STATUS
    rm -f started
    TMPDIR=$work "$chokepoint" run $slow_start --db "$db" --rate 200 sh -c ": >started; read x <go; exit $1" >out 2>err &
    pid=$!
    until_true test -e started
    stopped=$(pgrep -P $pid -f 'chokepoint collector')
}
frames() { sql 'SELECT count(*) FROM frame'; }
spooled() { cat "$work"/chokepoint-*/*.spool 2>/dev/null | wc -c; }

begin 5
n=$(frames)
grew() { [ "$(frames)" -gt $((n + 20)) ]; }
until_true grew
kill -STOP "$stopped"
size=$(spooled)
waits() { [ "$(spooled)" -gt $((size + 100000)) ]; }
until_true waits
kill -CONT "$stopped"
n=$(frames)
until_true grew
echo >go
wait $pid
[ $? -eq 5 ] || fail "exit status"
[ "$(sql 'SELECT sum(gaps), sum(lost_frames), sum(duplicates), sum(restarts) FROM stream')" = "0|0|0|0" ] ||
    fail "gaps, lost, twice, restarts: $(sql 'SELECT sum(gaps), sum(lost_frames), sum(duplicates), sum(restarts) FROM stream')"
[ "$(sql 'SELECT min(seq) = 1 AND max(seq) = count(*) AND count(*) = count(DISTINCT seq) FROM frame')" = 1 ] ||
    fail "not 1..N once: $(sql 'SELECT min(seq), max(seq), count(*), count(DISTINCT seq) FROM frame')"
[ "$(sql "SELECT sum(c.interval_ns) - (SELECT max(mono_ns) - min(mono_ns) FROM frame) FROM cpu c JOIN instance i USING (instance) WHERE i.name = 'cpu0'")" = 0 ] ||
    fail "a seam in cpu0"
[ -z "$(ls -d chokepoint-* 2>/dev/null)" ] || fail "a spool is left"

# Stopped for good.
begin 6
kill -STOP "$stopped"
echo >go
wait $pid
[ $? -eq 6 ] || fail "exit status"
! kill -0 "$stopped" 2>/dev/null || fail "a stopped collector is left"
stopped=
said 'samples were not delivered to .*they are kept in' || fail "not said what was not delivered"
[ -n "$(ls chokepoint-*/*.spool)" ] || fail "what was said to be kept is not there"
for segment in chokepoint-*/*.spool; do
    "$CHOKEPOINT_BIN/frame-dump" "$segment" >dump || fail "$segment is damaged"
done
grep -q '^frame' dump || fail "no samples are kept"
[ "$(state_of 2)" = failed ] || fail "run 2 is $(state_of 2)"
[ "$(sql 'PRAGMA integrity_check')" = ok ] || fail "damaged: $(sql 'PRAGMA integrity_check')"
"$chokepoint" report --db "$db" 2 >out 2>err || fail "no report of what there is"
