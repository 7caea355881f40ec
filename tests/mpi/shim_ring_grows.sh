#!/bin/bash
# SPDX-License-Identifier: MIT
# A rank that calls without a pause gets a larger ring at the end of its first lap: nobody reads meanwhile, and no event
# is lost. With threads that may call at the same time it does not grow, and the loss is counted.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh" || exit 1
calls=30000 first=16384
size() { stat -c %s "$marks"/*.calls; }
lost() { awk '$1 == "rank" { print $6 }' "$work/dump"; }
# The ring grows by the rate of the lap's last part: a rank that loses its core there tells of a slower one.
for _ in 1 2 3 4 5; do
    watched 1 "$programs/calls_many" $calls || fail "the program ended with $?"
    [ "$(lost)" != 0 ] || break
done
[ "$(lost)" = 0 ] || fail "lost: $(lost) events of a ring of $(size) bytes"
events_agree
grown=$(size)
[ "$grown" -ge $((2 * calls * 64)) ] || fail "a file of $grown bytes holds $((2 * calls)) events"
watched 1 "$programs/calls_many" $calls threads || fail "the program with threads ended with $?"
awk -v calls=$calls -v first=$first '$1 == "rank" { all = $5 + $6; bad = $5 > first || all < 2 * calls } END { exit bad }' "$work/dump" ||
    fail "with threads: $(grep ^rank "$work/dump")"
[ "$(size)" -lt $((2 * first * 64)) ] || fail "a ring of several writers grew"
echo "a file of $grown bytes holds all events of $calls messages"
