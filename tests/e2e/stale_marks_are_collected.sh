#!/bin/bash
# SPDX-License-Identifier: MIT
# A run that is killed with all its processes leaves its directory of marks in memory; the next run of the same user
# removes it, but not that of a run that goes on.
# Places of its own: the agent of any other run would take the directory away.
if [ -z "${CHOKEPOINT_TEST_INSIDE:-}" ]; then
    unshare --mount --pid --fork true 2>/dev/null || { echo "SKIPPED: no right to have processes and a memory of its own"; exit 77; }
    CHOKEPOINT_TEST_INSIDE=1 exec unshare --mount --propagation private --pid --fork --kill-child --mount-proc bash "$0"
fi
mount -t tmpfs tmpfs /dev/shm || { echo "SKIPPED: no right to mount a memory"; exit 77; }
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
unset TMPDIR

# begin NAME: starts a lasting run; its id in $id, the process of `run` in $pid.
begin() {
    mkfifo "$1.go"
    "$chokepoint" run $slow_start -q --no-report --db "$work/$1.db" \
        sh -c "echo \$CHOKEPOINT_RUN >$1.id; : >$1.started; read x <$1.go" >/dev/null 2>&1 &
    pid=$!
    until_true test -e "$1.started"
    id=$(cat "$1.id")
    has_directory() { directory=$(directories_of "$id" | grep ^/dev/shm) && [ -e "$directory/cursors" ]; }
    until_true has_directory
}
processes_with() { grep -lsa -- "$1" /proc/[0-9]*/environ | cut -d/ -f3 | sort -un; }
# Their memory goes before their files, so that environ says nothing of locks that they still hold.
are_dead() { for p in "$@"; do ! grep -q '^State:[[:space:]]*[^ZX]' "/proc/$p/status" 2>/dev/null || return 1; done; }

begin killed
killed=$id
left=$directory
# Killed one by one, the others would have time to clean up: all are stopped before the first dies.
kill -STOP $pid
kill -STOP $(processes_with "$killed") 2>/dev/null
all=$(processes_with "$killed")
kill -KILL $all 2>/dev/null
kill -KILL $pid
wait $pid 2>/dev/null
until_true are_dead $all $pid
[ -d "$left" ] || fail "nothing was left: the test shows nothing"
mkdir -m 700 "$work/other" && mv "$work/other" "$left.elsewhere" # another form

begin living
is_gone() { [ ! -e "$left" ]; }
until_true is_gone # its own directory is there before the agent looks for what others left
[ -e "$left.elsewhere" ] || fail "a directory of another form was removed"
rmdir "$left.elsewhere"
run -q --no-report true
[ $status = 0 ] || fail "status $status"
[ -e "$directory/cursors" ] || fail "the directory of a run that goes on was removed"
echo >living.go
wait $pid || fail "the run that went on ended with $?"
[ ! -e "$directory" ] || fail "the run that went on left its directory"
# shellcheck disable=SC2046
rm -rf $(directories_of "$killed")
