#!/bin/bash
# SPDX-License-Identifier: MIT
# A rank that is killed leaves readable totals and events, and the call that it waited in.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh" || exit 1
mkdir -m 700 "$marks"
ranks 2 "$programs/calls_simple" forever >/dev/null 2>&1 &
job=$!
trap 'kill -9 $job 2>/dev/null; wait $job 2>/dev/null; rm -rf "$work"' EXIT
# Both have made 1001 rounds; rank 1 sleeps, and rank 0 soon waits for it, in either call.
waits() { dump; grep -qE '^rank 0 .* MPI_(Send|Allreduce)$' "$work/dump" && [ -e "$EXPECT.0" ] && [ -e "$EXPECT.1" ]; }
for _ in $(seq 600); do waits && break; sleep 0.1; done
waits || fail "rank 0 does not wait"
pids=()
for file in "$marks"/*.calls; do pids+=("$(basename "$file" .calls)"); done
kill -9 "${pids[@]}" || fail "no ranks ${pids[*]}" # all at once: a launcher ends the others when one is gone
wait $job
dump
grep '^rank' "$work/dump"
[ "$(grep -c '^rank' "$work/dump")" -eq 2 ] || fail "two ranks left files"
awk '$1 == "total" && $3 == "MPI_Recv" && $4 == 1001 && $9 == 1001 * 800 { n++ }
     $1 == "total" && $3 == "MPI_Allreduce" && $2 == 1 && $4 == 1001 { n++ }
     $1 == "rank" && $2 == 0 && $13 ~ /^MPI_(Send|Allreduce)$/ { n++ }
     $1 == "rank" && !$10 { n++ }
     END { exit n != 5 }' "$work/dump" || fail "what they left is not what they did"
events_agree
