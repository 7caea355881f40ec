#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls and bytes of every family of MPI functions are exactly those that the program made; events and totals
# agree.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh" || exit 1
watched 4 "$programs/calls_planted" "$work/file" || fail "the program ended with $?"
totals_agree
events_agree
awk '$1 == "rank" && ($7 || $8 || $9 || !$10) { print; exit 1 }' "$work/dump" ||
    fail "requests or communicators were lost, or the end was not seen"
# The two messages of a call that sends and receives differ in size: rank r sends 11 + r integers.
awk '$1 == "event" && $3 == "MPI_Sendrecv" { n++; if ($9 != 44 + 4 * ($5 ~ /p/ ? $7 : $2)) { print; bad = 1 } }
     END { exit bad || n != 8 }' "$work/dump" || fail "what was sent and what was received are mixed up"
# A failed call counts as a call, and as failed.
[ "$(awk '$1 == "total" && $11 == 1' "$work/dump" | grep -c MPI_Send)" -eq 4 ] || fail "the failed sends"
[ "$(awk '$1 == "total" && $11 > 0' "$work/dump" | wc -l)" -eq 4 ] || fail "nothing else failed"

# With the shim and no listener, the program does the same and leaves nothing.
rm -rf "$marks" "$EXPECT".*
ranks 4 "$programs/calls_planted" "$work/file" ||
    fail "nobody listens: the program ended with $?"
[ ! -e "$marks" ] || fail "nobody listens, and yet there is $marks"
