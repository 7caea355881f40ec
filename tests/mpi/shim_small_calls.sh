#!/bin/bash
# SPDX-License-Identifier: MIT
# A storm of small one-sided calls is told as few events, which say of calls, bytes and time what the totals say,
# and lie one after the other.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh"
watched 2 "$CHOKEPOINT_BIN/calls_small" || fail "the program ended with $?"
totals_agree
events_agree
awk '$1 == "event" && $3 ~ /Accumulate|Put/ { bytes[$2 " " $3] += $9 }
     $1 == "total" && $3 ~ /Accumulate|Put/ && bytes[$2 " " $3] != $8 { print "bytes of rank", $2, $3 ":", bytes[$2 " " $3], "total:", $8; bad = 1 }
     END { exit bad }' "$work/dump" || fail "bytes of events and totals differ"
awk '$1 == "event" && $5 !~ /[pr]/ { if ($2 in until && $11 < until[$2]) { print "before the end of the event before it:", $0; bad = 1 } until[$2] = $11 + $12 }
     END { exit bad }' <(sort -k2,2n -k11,11n "$work/dump") || fail "events of a thread overlap"
# 500,000 calls; what is told by itself took or followed 100 us, which is seldom however busy the machine is.
events=$(grep -c '^event' "$work/dump")
echo "$events events"
[ "$events" -lt 50000 ] || fail "$events events"
