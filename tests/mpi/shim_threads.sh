#!/bin/bash
# SPDX-License-Identifier: MIT
# Eight threads of a rank at once: totals stay exact, every event is taken or counted as lost.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh" || exit 1
[ "$library" != openmpi ] || mpi+=(--mca btl self,tcp)
watched 2 "$programs/calls_threads" || fail "the program ended with $?"
totals_agree
# Per rank: 3 calls and the life of a request, 8000 times; init and finalize.
awk '$1 == "rank" { print "rank", $2 ":", $5, "events,", $6, "lost,", $7, "malformed"; if ($5 + $6 != 32002 || $7 || $4 != 3) bad = 1; n++ }
     END { exit bad || n != 2 }' "$work/dump" || fail "events are neither there nor counted as lost"
awk '$1 == "event" { seen[$2 " " $15]++ } END { for (k in seen) n++; exit n < 16 }' "$work/dump" ||
    fail "threads are not told apart"
