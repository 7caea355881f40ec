#!/bin/bash
# SPDX-License-Identifier: MIT
# Eight threads of a rank at once: totals stay exact, and every event is read or counted as lost.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh" || exit 1
[ "$library" != openmpi ] || mpi+=(--mca btl self,tcp)
threads() { # ROUNDS: in each rank 3 calls and the life of a request in each of 8 threads; init and finalize
    watched 2 "$programs/calls_threads" "$1" || fail "the program ended with $?"
    totals_agree
    awk -v all=$(($1 * 32 + 2)) '$1 == "rank" { print "rank", $2 ":", $5, "events,", $6, "lost,", $7, "malformed"; if ($5 + $6 != all || $7 || $4 != 3) bad = 1; n++ }
         END { exit bad || n != 2 }' "$work/dump" || fail "events are neither there nor counted as lost"
}
threads 1000 # more events than the ring holds
awk '$1 == "rank" && $6 == 0 { exit 1 }' "$work/dump" || fail "nothing is lost: this shows nothing"
rm -f "$EXPECT".*
threads 400 # all of them fit
awk '$1 == "rank" && $6 { exit 1 }' "$work/dump" || fail "events are lost"
awk '$1 == "event" { seen[$2 " " $15]++ } END { for (k in seen) n++; exit n < 16 }' "$work/dump" ||
    fail "threads are not told apart"
