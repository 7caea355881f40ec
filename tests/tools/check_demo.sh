#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs ./demo --small as a user does: interrupted half-way it leaves nothing behind; run again it ends with
# three recorded runs, their tables, a verdict each, and a page with plots.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
demo=
finish() {
    local status=$?
    [ -z "$demo" ] || kill -INT -- "-$demo" 2>/dev/null || true
    rm -rf "$work"
    exit $status
}
trap finish EXIT
fail() { echo "FAILED: $1"; tail -n 20 "$work/log"; exit 1; }

leftovers() {
    ip netns list 2>/dev/null | grep '^demo-' || true
    find /sys/fs/cgroup -maxdepth 2 -name 'demo-testbed' 2>/dev/null
    find /tmp /dev/shm -maxdepth 1 -name 'chokepoint-[0-9a-f]*[-.]vm[1-5]' -newer "$work/start" 2>/dev/null | while read -r path; do
        id=${path##*/chokepoint-}
        id=${id%%[-.]*} # belongs to another run that still lives
        grep -qsa -- "$id" /proc/[0-9]*/cmdline || echo "$path"
    done
}

touch "$work/start"
mkfifo "$work/watch"
# Job control gives it a process group of its own that heeds SIGINT, as a terminal would, even if this script's
# caller ignores SIGINT; the second run's heading is the signal to interrupt.
set -m
env --default-signal=INT ./demo --small --out "$work/out" >"$work/watch" 2>&1 &
demo=$!
while IFS= read -r line; do
    printf '%s\n' "$line" >>"$work/log"
    case "$line" in *'== sync-sparse'*) kill -INT -- "-$demo" 2>/dev/null || true ;; esac
done <"$work/watch"
status=0
wait "$demo" || status=$?
demo=
[ $status = 130 ] || fail "interrupted, the demo exits with $status"
[ -z "$(leftovers)" ] || fail "after Ctrl-C there is left: $(leftovers)"

./demo --small --out "$work/out" >"$work/log" 2>&1 || fail "the demo exits with $?"
[ -z "$(leftovers)" ] || fail "after its end there is left: $(leftovers)"
[ "$(sqlite3 "$work/out/chokepoint.db" "SELECT group_concat(state) FROM run")" = done,done,done ] || fail "not three runs that are done"
for words in 'chokepoint: sync-dense, ' 'chokepoint: async-sparse, ' 'limit   ' 'worth   ' 'more    ./build/release/bin/chokepoint report 3 --why --db '; do
    grep -qF "$words" "$work/log" || fail "it does not print: $words"
done
[ "$(grep -o '<svg role' "$work/out/report.html" | wc -l)" -ge 10 ] || fail "the page has no plots"
tail -n 5 "$work/log"
