#!/bin/bash
# SPDX-License-Identifier: MIT
# `chokepoint top` with its own agents: nothing is left of them, however it ends, unless it records. The test
# has its own shared memory, if it may, so that views of other tests do not count.
if [ -z "${CHOKEPOINT_TEST_INSIDE:-}" ] && unshare -m true 2>/dev/null; then
    CHOKEPOINT_TEST_INSIDE=1 exec unshare -m --propagation private bash "$0"
fi
[ -z "${CHOKEPOINT_TEST_INSIDE:-}" ] || mount -t tmpfs tmpfs /dev/shm || exit 1
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
# shellcheck source=tests/e2e/top_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/top_lib.sh" || exit 1
export TMPDIR=$work
host=$(hostname)
left() {
    find /dev/shm "$work" -maxdepth 1 -name 'chokepoint-top-*' -user "$(id -un)" -newer "$work/begun"
    pgrep -f -- "--db $work|chokepoint-agent.*$work" # of -w
}
nothing_left() { [ -z "$(left)" ]; }
touch "$work/begun"

open_screen 80 24
until_true shows "watching for"
until_true shows "1.$host +[0-9]"
until_true shows "PROCESS"
shows "fullest now" || fail "no fullest"
press q
until_true shows "^status 0"
nothing_left || fail "left behind: $(left)"

# --- killed
open_screen 80 24
until_true shows "1.$host +[0-9]"
tty=$(tmux_here display-message -p -t 0 '#{pane_tty}')
pid=$(pgrep -o -x -t "${tty#/dev/}" chokepoint) || fail "no chokepoint on the screen" # the first one; others are its children
kill -KILL "$pid"
until_true nothing_left

# --- temporary memory is bounded: another database takes over
CHOKEPOINT_TOP_BYTES=150k "$chokepoint" top -b -d 0.2 -n 100000 >"$work/out" 2>"$work/err" &
watcher=$!
second() { compgen -G '/dev/shm/chokepoint-top-*/top[1-9]*.db' >/dev/null || compgen -G "$work/chokepoint-top-*/top[1-9]*.db" >/dev/null; }
until_true second
pictures() { grep -c "^  1 $host  *[0-9]" "$work/out"; }
shown=$(pictures)
more() { [ "$(pictures)" -gt $((shown + 5)) ]; }
until_true more
[ ! -s "$work/err" ] || fail "another database: $(cat "$work/err")"
kill -TERM $watcher
wait $watcher
[ $? -eq 143 ] || fail "SIGTERM"
nothing_left || fail "left behind: $(left)"

# --- recorded
"$chokepoint" top -w "$work/kept.db" -n 2 >"$work/out" 2>"$work/err" || fail "-w: $?"
grep -q "watching" "$work/out" || fail "-w shows nothing"
db=$work/kept.db
[ "$(sql "SELECT count(*) FROM host WHERE name = '$host'")" = 1 ] || fail "-w records nothing"

# --- hosts that do not answer
CHOKEPOINT_RSH=false timeout 120 "$chokepoint" top --hosts no-such-host.invalid -n 1 >"$work/out" 2>"$work/err"
status=$?
[ $status -eq 1 ] && [ "$(wc -l <"$work/err")" -eq 1 ] || fail "a host that is none: $status $(cat "$work/err")"
