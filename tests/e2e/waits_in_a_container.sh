#!/bin/bash
# SPDX-License-Identifier: MIT
# Wait clocks in a process id namespace with its own /proc, as in a container, and in a nested one: the job's process has clocks
# under the id that the agent knows, or the agent says why there are none.
set -u
[ "$(id -u)" = 0 ] && unshare --pid --fork --mount-proc true 2>/dev/null || { echo "SKIPPED: no namespace of process ids"; exit 77; }
if [ "${1:-}" != inside ]; then
    unshare --pid --fork --kill-child --mount-proc "$0" inside once || exit
    exec unshare --pid --fork --kill-child --mount-proc unshare --pid --fork --kill-child --mount-proc "$0" inside twice
fi
. "${BASH_SOURCE%/*}/until_lib.sh" || exit 1
work=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() { echo "FAILED: $*"; cat err; exit 1; }
export ASAN_OPTIONS=detect_leaks=0
mkfifo go
CHOKEPOINT_RUN=waits bash -c 'while ! read -t .05 x; do :; done' <>go &
job=$!
[ "$job" -lt 100 ] || fail "process $job is in no namespace of its own"
CHOKEPOINT_RUN=waits "$CHOKEPOINT_BIN/chokepoint-agent" --no-push --no-supervise --spool spool --host here --wait-clocks >out 2>err &
dump() { for segment in spool/*.spool; do "$CHOKEPOINT_BIN/frame-dump" "$segment"; done 2>/dev/null; }
knows_job() { dump | grep -qE "wait \[bash\[$job\]\]|note \[wait: "; }
until_true knows_job || fail "$2 in a container: the job has no clocks, and nothing says why"
