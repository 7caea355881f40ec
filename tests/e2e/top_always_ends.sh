#!/bin/bash
# SPDX-License-Identifier: MIT
# `chokepoint top -b -n 1` beside a database whose last run has ended: a thread judges that run while agents are
# started, and no child may wait for a lock of that thread. No view out of ROUNDS (default 20; 60 for the figure) hangs,
# and nothing is left of them, of a view whose child is killed or stopped, or of a view and its child killed together.
# The test has its own shared memory, if it may.
if [ -z "${CHOKEPOINT_TEST_INSIDE:-}" ] && unshare -m true 2>/dev/null; then
    CHOKEPOINT_TEST_INSIDE=1 exec unshare -m --propagation private bash "$0"
fi
[ -z "${CHOKEPOINT_TEST_INSIDE:-}" ] || mount -t tmpfs tmpfs /dev/shm || exit 1
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
export TMPDIR=$work
left() {
    find /dev/shm "$work" -maxdepth 1 -name 'chokepoint-*' -user "$(id -un)" -newer "$work/begun"
    pgrep -f -- "--db (/dev/shm|$work)/chokepoint-top-"
}
nothing_left() { left >left; [ ! -s left ]; }
touch begun
db=$work/chokepoint.db
run -q --no-report -- sh -c 'sleep 1'
[ "$status" -eq 0 ] || fail "no recording"

fail() {
    echo "FAILED: $*"
    cat left out err 2>/dev/null
    exit 1
}
rounds=${ROUNDS:-20}
for ((i = 1; i <= rounds; i++)); do
    timeout -k 1 100 "$chokepoint" top -b -n 1 >out 2>err || fail "round $i of $rounds: $?"
    grep -q watching out || fail "round $i shows no picture"
    nothing_left || fail "round $i leaves: $(left)"
done

# watch: starts a view that goes on; its process and its child
watch() {
    : >out
    "$chokepoint" top -b -d 0.2 -n 100000 >out 2>err &
    view=$!
    until_true grep -q watching out
    child=$(pgrep -P "$view" -o -x chokepoint) || fail "no child"
}
watch
kill -9 "$child"
kill -TERM "$view"
wait "$view"
until_true nothing_left

watch
kill -STOP "$child"
kill -TERM "$view"
wait "$view" # it ends after a while
until_true nothing_left

# Killed together they cannot remove it; the next one does.
watch
kill -9 "$view" "$child"
wait "$view" 2>/dev/null
directory=$(find /dev/shm "$work" -maxdepth 1 -name 'chokepoint-top-*')
[ -d "$directory" ] || fail "nothing to find"
no_writer() { ! pgrep -f -- "--db $directory" >/dev/null; }
until_true no_writer
touch -d '1 minute ago' "$directory"
timeout -k 1 100 "$chokepoint" top -b -n 1 >out 2>err || fail "after that: $?"
nothing_left || fail "an abandoned view stays: $(left)"
exit 0
