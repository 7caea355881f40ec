#!/bin/bash
# SPDX-License-Identifier: MIT
# The sampling process is killed with SIGKILL, twice: its spooled frames are kept, sequence numbers
# continue without doubles, time without samples is counted as missed slots, and a note says so.
set -u
work=$(mktemp -d)
supervisor=
finish() {
    [ -z "$supervisor" ] || kill -KILL "$supervisor" 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
fail() { echo "FAILED: $*"; [ -s "$work/err" ] && cat "$work/err"; exit 1; }
child() { cat "/proc/$supervisor/task/$supervisor/children"; }
frames() { cat "$work"/spool/*.spool 2>/dev/null | wc -c; }
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/until_lib.sh" || exit 1
grown() { [ "$(frames)" -gt "$1" ]; }

"$CHOKEPOINT_BIN/chokepoint-agent" --no-push --spool "$work/spool" --host vm7 --rate 20 \
    --spool-limit 8m 2>"$work/err" &
supervisor=$!
for kill in 1 2; do
    until_true grown "$(($(frames) + 3000))"
    victim=$(child)
    [ "$(wc -w <<<"$victim")" = 1 ] || fail "not one child but '$victim'"
    kill -STOP $victim # half a second of slots without samples
    sleep 0.5
    kill -KILL $victim
    before=$(frames)
    until_true grown "$((before + 3000))"
    [ "$(child)" != "$victim" ] || fail "the dead child is still there"
done
[ "$(grep -c 'died of signal 9' "$work/err")" = 2 ] || fail "the deaths were not told"
kill -TERM $supervisor
wait $supervisor
status=$?
supervisor=
[ $status = 0 ] || fail "exit status $status after SIGTERM"

for segment in "$work"/spool/*.spool; do
    "$CHOKEPOINT_BIN/frame-dump" "$segment" >>"$work/dump" || fail "$segment is damaged"
done
[ "$(grep -c '^stream ' "$work/dump")" = 3 ] || fail "not three segments"
[ "$(grep '^stream ' "$work/dump" | sort -u | wc -l)" = 1 ] || fail "not one stream"
[ "$(grep -c 'note \[agent: started again' "$work/dump")" = 2 ] || fail "the restarts are not noted"
awk '
    function value(name, i) {
        for (i = 2; i <= NF; i++)
            if (index($i, name "=") == 1) return substr($i, length(name) + 2)
    }
    $1 != "frame" { next }
    {
        n++
        seq = value("seq"); missed = value("missed") + 0
        mono = value("mono_ns") / 1e9
        slot = mono - value("late_ns") / 1e9 # when it was due, even if a busy machine took it late
        if (seq != n) { print "frame " n " has number " seq; bad = 1 }
        if (n > 1 && mono <= before) { print "time runs backwards at frame " seq; bad = 1 }
        if (n > 1 && missed > missed_before) {
            gaps++
            slots = missed - missed_before
            # 20 Hz: a gap of t seconds misses t*20 - 1 slots, plus or minus the ends.
            if (slots > (slot - slot_before) * 20 + 1 || slots < (slot - slot_before) * 20 - 2.5) {
                print "gap of " slot - slot_before " s counted as " slots " slots"; bad = 1
            }
        }
        if (mono - before > 0.45 && n > 1) long++
        before = mono; slot_before = slot; missed_before = missed
    }
    END {
        if (long < 2) { print "only " long + 0 " gaps of half a second"; bad = 1 }
        if (gaps < 2) { print "only " gaps + 0 " gaps counted"; bad = 1 }
        exit bad
    }' "$work/dump" || fail "see above"
echo "$(grep -c '^frame ' "$work/dump") frames through two kills"
