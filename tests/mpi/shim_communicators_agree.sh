#!/bin/bash
# SPDX-License-Identifier: MIT
# Members of a communicator give it the same number without a message, no two communicators have the same,
# the world has 0; peers are ranks of the world.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh" || exit 1
watched 4 "$programs/calls_comms" || fail "the program ended with $?"
awk 'BEGIN {
         members[100] = members[110] = members[111] = members[112] = members[120] = members[121] = members[122] = "0123"
         members[200] = members[220] = "02"; members[201] = members[221] = "13"; members[210] = "01"
         members[300] = members[301] = "03"; members[302] = "13"
         members[310] = "0123"; members[0] = "1"
         root[200] = root[220] = 2; root[201] = root[221] = root[302] = 3
     }
     $1 == "event" && $3 == "MPI_Bcast" {
         k = $9; n++
         if (k in comm && comm[k] != $6) { print "rank", $2, "says", $6, "of", k, "others", comm[k]; bad = 1 }
         if (index(members[k], $2) == 0) { print "rank", $2, "is no member of", k; bad = 1 }
         if (k == 0) { k = 310; $7 = 0 } # the root and its own side: no bytes, no root
         if (k == 310 && $2 == 0 && $7 == -1) $7 = 0 # the root itself has none
         if ($7 != root[k] + 0) { print "root of", k, "is", $7; bad = 1 }
         comm[k] = $6
     }
     END {
         for (k in comm) { if (comm[k] in seen) { print k, "and", seen[comm[k]], "are both", comm[k]; bad = 1 } seen[comm[k]] = k; different++ }
         print n " uses of " different " communicators"
         exit bad || n != 48 || comm[100] != 0
     }' "$work/dump" || fail "communicators"
awk '$1 == "rank" && $9 { exit 1 }' "$work/dump" || fail "communicators were lost"
