#!/bin/bash
# SPDX-License-Identifier: MIT
# The disk under the spool is full for a while: the agent reports it once and keeps sampling; every
# frame without room is counted, and with room frames are kept again. No file is damaged.
set -u
work=$(mktemp -d)
agent=
finish() {
    [ -z "$agent" ] || { kill -KILL $agent; wait $agent; } 2>/dev/null
    umount "$work/disk" 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
fail() { echo "FAILED: $*"; cat "$work/err" "$work/dump" 2>/dev/null | tail -n 20; exit 1; }
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/until_lib.sh" || exit 1
said() { grep -q "spool: $1" "$work/err"; }
grown() { [ "$(cat "$work"/disk/*.spool 2>/dev/null | wc -c)" -gt "$1" ]; }

mkdir "$work/disk"
mount -t tmpfs -o size=4m,mode=700 tmpfs "$work/disk" 2>/dev/null || { echo "no right to mount a small disk"; exit 77; }
"$CHOKEPOINT_BIN/chokepoint-agent" --no-push --rate 50 --spool "$work/disk" 2>"$work/err" &
agent=$!
until_true grown 4000
dd if=/dev/zero of="$work/disk/fill" bs=4k 2>/dev/null # all the remaining room
until_true said 'No space left'
sleep 0.5 # frames find no room meanwhile
[ "$(grep -c 'No space left' "$work/err")" = 1 ] || fail "not said once"
rm "$work/disk/fill"
size=$(cat "$work"/disk/*.spool | wc -c)
until_true said 'takes frames again'
until_true grown $((size + 8000))
kill -TERM $agent
wait $agent || fail "exit $?"
agent=
for segment in "$work"/disk/*.spool; do
    "$CHOKEPOINT_BIN/frame-dump" "$segment" >>"$work/dump" || fail "$segment is damaged"
done
grep -q 'note \[spool: No space left' "$work/dump" || fail "no note for the report"
awk '$1 == "frame" {
        n++
        split($2, seq, "="); last = seq[2] + 0
        for (i = 3; i <= NF; i++) if (index($i, "lost=") == 1) lost = substr($i, 6) + 0
    }
    END {
        print n " frames kept, " lost " lost of " last
        exit !(lost > 0 && n + lost == last)
    }' "$work/dump" || fail "frames that are neither kept nor counted"
