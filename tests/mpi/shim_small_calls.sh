#!/bin/bash
# SPDX-License-Identifier: MIT
# A storm of small one-sided calls becomes few events, which have the calls, bytes and time of the totals, and do
# not overlap.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh" || exit 1
watched 2 "$programs/calls_small" || fail "the program ended with $?"
totals_agree
events_agree
awk '$1 == "event" && $3 ~ /Accumulate|Put/ { bytes[$2 " " $3] += $9 }
     $1 == "total" && $3 ~ /Accumulate|Put/ && bytes[$2 " " $3] != $8 { print "bytes of rank", $2, $3 ":", bytes[$2 " " $3], "total:", $8; bad = 1 }
     END { exit bad }' "$work/dump" || fail "bytes of events and totals differ"
awk '$1 == "event" && $5 !~ /[pr]/ { if ($2 in until && $11 < until[$2]) { print "before the end of the event before it:", $0; bad = 1 } until[$2] = $11 + $12 }
     END { exit bad }' <(sort -k2,2n -k11,11n "$work/dump") || fail "events of a thread overlap"
# A row ends after 20 ms, or at a call recorded alone. Then at most 8 places are recorded, and as many again if the
# places of the next row do not fit beside those that it began with.
awk '$1 == "event" { row = $5 ~ /f/; rows[$2] += row; ends[$2] += before[$2] && !row; before[$2] = row; if ($11 + $12 > end[$2]) end[$2] = $11 + $12 }
     END { for (r in rows) { most = 16 * (ends[r] + end[r] / 20e6 + 1)
               print "rank", r ":", rows[r], "rows, at most", int(most), "where", ends[r], "times an event by itself came next, in", int(end[r] / 1e6), "ms"
               if (rows[r] > most) bad = 1 }
           exit bad || !length(rows) }' "$work/dump" || fail "too many rows"
