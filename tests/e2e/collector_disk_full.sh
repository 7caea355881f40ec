#!/bin/bash
# SPDX-License-Identifier: MIT
# A full disk under the database is reported, does no harm to stored data, and collecting goes on
# once there is room.
set -u
if [ -z "${CHOKEPOINT_TEST_INSIDE:-}" ]; then
    unshare -m true 2>/dev/null || { echo "SKIPPED: no right to mount a small file system"; exit 77; }
    CHOKEPOINT_TEST_INSIDE=1 exec unshare -m --propagation private bash "$0"
fi
work=$(mktemp -d)
db=$work/disk/x.db
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/collector_lib.sh" || exit 1
finish() { clean_up 2>/dev/null; umount "$work/disk" 2>/dev/null; rm -rf "$work"; }
trap finish EXIT
mkdir "$work/disk"
mount -t tmpfs -o size=16m tmpfs "$work/disk" || { echo "SKIPPED: no tmpfs"; exit 77; }

"$CHOKEPOINT_BIN/new-run" "$db" >/dev/null || fail "no run"
start_collector
start_agent --rate 20
until_true has_stored 10

dd if=/dev/zero of="$work/disk/ballast" bs=4k 2>/dev/null
until_true said '^unwritable .*cannot be written.*[Nn]o space'
before=$(stored)
until_true has_spooled $((before + 60))
lives "$agent" || fail "the agent died of it"
lives "$collector" || fail "the collector died of it"
[ "$(grep -c '^unwritable' "$work/collector.out")" = 1 ] || fail "said more than once"

# The spool's segment is a valid body: what answer does a push get for which there is no room?
answer=$(for segment in "$work"/spool/*.spool; do
    curl -s -m 30 -o "$work/answer" -w '%{http_code}\n' --data-binary @"$segment" -H "Authorization: Bearer $(key_of h1)" \
        -H "Chokepoint-Host: h1" -k --pinnedpubkey "$pin" "https://$address/v1/frames"
done | sort -u | tail -n 1)
[ "$answer" = 503 ] || fail "a push that cannot be stored got $answer: $(cat "$work/answer")"
grep -qi 'no space' "$work/answer" || fail "and does not say why: $(cat "$work/answer")"
[ "$(ask "PRAGMA integrity_check")" = ok ] || fail "damaged while full: $(ask 'PRAGMA integrity_check')"

rm "$work/disk/ballast"
until_true has_stored $((before + 70))
stop_both
expect_all_once
