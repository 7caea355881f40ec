#!/bin/bash
# SPDX-License-Identifier: MIT
# Time inside MPI equals the program's own measurement within 1 %, for each event and, with polls, for the
# gaps between them; and the waiting rank's CPU clock tells spinning from sleeping.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh" || exit 1
watched 2 "$programs/calls_waits" || fail "the program ended with $?"
events_agree
# The longest event of a function is its longest wait; polls follow each other. The program reads its clock before and after:
# a rank that gets no core there measures more than MPI took, at most by the kernel's count of waits for a core.
awk 'FNR == NR { if ($1 == "wait" && $2 == 0 && $4 > want[$3]) { want[$3] = $4; cpu[$3] = $5; ready[$3] = $6 } next }
     $1 == "event" && $2 == 0 && $3 == "MPI_Test" && $5 !~ /r/ { if (!first) first = $11; last = $11 + $12; next }
     $1 == "event" && $2 == 0 && $12 > got[$3] { got[$3] = $12; took[$3] = $13 }
     END {
         for (f in want) {
             n++
             if (f == "MPI_Test") got[f] = last - first
             off = got[f] / want[f] - 1
             printf "%-14s program %.3f ms, shim %.3f ms (%+.3f %%)", f, want[f] / 1e6, got[f] / 1e6, 100 * off
             if (off > 0.01 || off < -0.01 - ready[f] / want[f]) bad = 1
             if (f == "MPI_Test") { print ""; continue }
             off = (took[f] - cpu[f]) / want[f]
             printf "; CPU %.3f ms, shim %.3f ms\n", cpu[f] / 1e6, took[f] / 1e6
             if (off > 0.01 || off < -0.01) bad = 1
         }
         exit bad || n != 9
     }' "$EXPECT.0" "$work/dump" || fail "waits are not what was planted"
# Rank 1 slept between its calls: its gaps were long and used no CPU time.
awk '$1 == "rank" && $2 == 1 { print "gaps of the late rank:", $11 / 1e6, "ms, CPU", $12 / 1e6, "ms"; exit !($11 > 9 * 240e6 && $12 < 0.05 * $11) }' \
    "$work/dump" || fail "the late rank's gaps are not what was planted"
