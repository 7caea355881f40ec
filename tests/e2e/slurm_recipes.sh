#!/bin/bash
# SPDX-License-Identifier: MIT
# packaging/slurm: the epilog removes only old leftovers of the job's user, and the prolog sets what its head says; neither
# fails, as that would drain a node.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
recipes=${CHOKEPOINT_SOURCE:?}/packaging/slurm

mkdir -p "$work/tmp/chokepoint-spool-oooold" "$work/tmp/chokepoint-spool-nnnnew" "$work/tmp/chokepoint-0123456789abcdef" "$work/tmp/chokepoint-notes" "$work/tmp/other" "$work/keep"
: >"$work/tmp/chokepoint-spool-oooold/spool"
: >"$work/keep/file"
ln -s "$work/keep" "$work/tmp/chokepoint-spool-a.link"
touch -h -d '10 days ago' "$work"/tmp/*old "$work"/tmp/*cdef "$work"/tmp/*notes "$work"/tmp/other "$work"/tmp/*link
left() { (cd "$work/tmp" && echo *); }
all=$(left)
CHOKEPOINT_PLACES=$work/tmp "$recipes/epilog.sh" || fail "the epilog fails without a user"
[ "$(left)" = "$all" ] || fail "it removes without a user: $(left)"
SLURM_JOB_UID=$(($(id -u) + 1)) CHOKEPOINT_PLACES=$work/tmp "$recipes/epilog.sh" || fail "the epilog fails for another user"
[ "$(left)" = "$all" ] || fail "it removes what is another user's: $(left)"
SLURM_JOB_UID=$(id -u) CHOKEPOINT_PLACES="$work/tmp $work/none" "$recipes/epilog.sh" || fail "the epilog fails"
[ "$(left)" = "chokepoint-notes chokepoint-spool-a.link chokepoint-spool-nnnnew other" ] || fail "left: $(left)"
[ -e "$work/keep/file" ] || fail "it follows a link"

mkdir -p "$work/proc/sys/kernel"
echo 0 >"$work/proc/sys/kernel/task_delayacct"
CHOKEPOINT_PROC=$work/proc "$recipes/prolog.sh" || fail "the prolog fails"
[ "$(cat "$work/proc/sys/kernel/task_delayacct")" = 1 ] || fail "waits for disks are not accounted"
CHOKEPOINT_PROC=$work/none "$recipes/prolog.sh" || fail "the prolog fails where nothing can be set"
