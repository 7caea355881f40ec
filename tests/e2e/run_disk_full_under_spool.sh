#!/bin/bash
# SPDX-License-Identifier: MIT
# During a run the disk under an agent's spool fills while the collector is away: that is reported
# once and counted, the command is not affected, and with room again sampling goes on.
if [ -z "${CHOKEPOINT_TEST_INSIDE:-}" ]; then
    unshare -m true 2>/dev/null || { echo "SKIPPED: no right to mount a small file system"; exit 77; }
    CHOKEPOINT_TEST_INSIDE=1 exec unshare -m --propagation private bash "$0"
fi
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
leave_disk() {
    local s=$?
    [ -z "${collector:-}" ] || kill -CONT "$collector" 2>/dev/null
    umount -l "$work/small" 2>/dev/null
    (exit $s)
    leave
}
trap leave_disk EXIT
mkdir small
mount -t tmpfs -o size=16m tmpfs small || { echo "SKIPPED: no tmpfs"; exit 77; }

mkfifo go
TMPDIR=$work/small "$chokepoint" run $slow_start --db "$db" --rate 200 sh -c ': >started; read x <go; exit 7' >out 2>err &
pid=$!
until_true test -e started
frames() { sql 'SELECT count(*) FROM frame'; }
grew() { [ "$(frames)" -gt $((n + 20)) ]; }
n=$(frames)
until_true grew
collector=$(pgrep -P $pid -f 'chokepoint collector')
kill -STOP "$collector"
dd if=/dev/zero of=small/ballast bs=4k 2>/dev/null
full() { said 'spool: No space left'; }
until_true full
sleep 1 # frames find no room meanwhile, which is not reported for each
[ "$(grep -c 'No space left' err)" -eq 1 ] || fail "not said once"
n=$(frames)
rm small/ballast
kill -CONT "$collector"
again() { said 'spool: takes frames again'; }
until_true again
until_true grew
echo >go
wait $pid
[ $? -eq 7 ] || fail "exit status"
counts=$(sql 'SELECT frames || " " || lost_frames || " " || last_seq || " " || gaps || " " || duplicates FROM stream')
read -r kept lost last gaps twice <<<"$counts"
echo "$kept samples kept, $lost lost of $last"
[ "$lost" -gt 0 ] && [ $((kept + lost)) -eq "$last" ] && [ "$twice" -eq 0 ] || fail "kept, lost, last, gaps, twice: $counts"
[ "$(sql 'SELECT count(*) = count(DISTINCT seq) FROM frame')" = 1 ] || fail "samples are there twice"
[ "$(sql 'PRAGMA integrity_check')" = ok ] || fail "damaged"
[ -z "$(ls small)" ] || fail "left in the spool: $(ls small)"
"$chokepoint" report --db "$db" --format text >report 2>&1 || fail "no report"
grep -q "$lost dropped from a full spool" report || fail "the report does not say that $lost were dropped: $(grep -i drop report)"
