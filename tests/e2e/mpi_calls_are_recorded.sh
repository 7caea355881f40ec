#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls of ranks reach the database: calls and bytes equal the program's own counts, by function and as single
# calls; waits of known length are within 1 %, also while they last; and no call looks like a sample.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh" || exit 1

# ---- calls and bytes of every family ----
run --no-report "${mpi[@]}" -np 4 "$programs/calls_planted" "$work/file"
[ $status -eq 0 ] || fail "exits with $status"
totals_agree
[ "$(sql "SELECT sum(events), sum(lost_events) FROM mpi $of_last_run")" = "$(sql "SELECT count(*) FROM call")|0" ] ||
    fail "single calls are not as many as were written"
# The single calls of each function add up to its totals, in number and in time.
sql "SELECT rank, i.name, sum(coalesce(polls, flags & 12 = 0)), sum(CASE WHEN flags & 12 THEN 0 ELSE coalesce(inside_ns, duration_ns) END)
     FROM call $of_last_run GROUP BY 1, 2 HAVING 3 > 0 ORDER BY 1, 2" >by_call
sql "SELECT k.rank, substr(i.name, instr(i.name, 'MPI_')), sum(calls), sum(inside_ns) FROM mpi_function m
     JOIN (SELECT DISTINCT instance, rank FROM mpi_function) k USING (instance) $of_last_run GROUP BY i.instance ORDER BY 1, 2" >by_total
diff by_call by_total >&2 || fail "single calls (<) and totals (>) differ"
echo "$(sql 'SELECT count(*) FROM call') single calls agree with the totals"
# A host misses only slots of samples (a busy machine may miss one); events have no slots to miss.
[ "$(sql "SELECT gaps, missed - (SELECT sum(missed_slots) FROM stream WHERE period_ns <> 0), (SELECT max(missed_slots) FROM stream WHERE period_ns = 0) FROM run_host")" = "0|0|0" ] ||
    fail "events look like gaps: $(sql "SELECT * FROM run_host")"
[ "$(sql "SELECT samples FROM run_host")" = "$(sql "SELECT count(*) FROM frame f WHERE EXISTS (SELECT 1 FROM cpu WHERE cpu.frame = f.frame)")" ] ||
    fail "events count as samples"
[ -z "$(sql 'SELECT text FROM run_note')" ] || fail "noted: $(sql 'SELECT text FROM run_note')"

# ---- waits of known length ----
rm -f "$EXPECT".*
run --no-report "${mpi[@]}" -np 2 "$programs/calls_waits"
[ $status -eq 0 ] || fail "exits with $status"
sql "SELECT substr(i.name, 8), sum(inside_ns) FROM mpi_function $of_last_run AND i.name LIKE 'rank 0 %' GROUP BY 1" | tr '|' ' ' >inside
# The program reads its clock outside the shim: the difference may be a wait for a core between the two.
awk 'FNR == NR { if ($1 == "wait" && $3 !~ /Recv|Test/) { want[$3] += $4; ready[$3] += $6 } next }
     $1 in want { n++; off = $2 / want[$1] - 1; printf "%-14s program %.3f ms, recorded %.3f ms (%+.3f %%)\n", $1, want[$1] / 1e6, $2 / 1e6, 100 * off
                  if (off > 0.001 || $2 < 0.99 * want[$1] - ready[$1]) bad = 1 }
     END { exit bad || n != 7 }' "$EXPECT.0" inside || fail "waits are not what was planted"
# Also while they last: a sample's total lies between the sum of single calls up to the sample and that up to the next
# sample, which may be late. Polls recorded as one event count once all of them are over.
single="(SELECT start_ns, start_ns + duration_ns AS end_ns, coalesce(inside_ns, duration_ns) AS ns, inside_ns IS NOT NULL AS folded, \"rank\" AS r
         FROM call $of_last_run AND flags & 12 = 0)"
sql "WITH single AS MATERIALIZED $single,
     sample AS (SELECT m.rank AS r, f.mono_ns AS at_ns, sum(m.inside_ns) OVER w AS told_ns, lead(f.mono_ns, 1, 1 << 62) OVER w AS next_ns
                FROM mpi m JOIN frame f USING (frame) $of_last_run WINDOW w AS (PARTITION BY m.instance ORDER BY f.mono_ns))
     SELECT r, told_ns,
            (SELECT coalesce(sum(CASE WHEN end_ns <= at_ns THEN ns WHEN folded THEN 0 ELSE at_ns - start_ns END), 0)
             FROM single WHERE single.r = sample.r AND start_ns < at_ns),
            (SELECT coalesce(sum(CASE WHEN end_ns <= next_ns OR folded THEN ns ELSE next_ns - start_ns END), 0)
             FROM single WHERE single.r = sample.r AND start_ns < next_ns),
            (SELECT count(*) FROM single WHERE single.r = sample.r AND NOT folded AND start_ns < at_ns - 20000000 AND end_ns > at_ns)
     FROM sample ORDER BY r, at_ns" | tr '|' ' ' >samples
# A rank that loses its core between reading its clock and recording the call is wrong by that call until it continues: a
# few such samples may pass. Without counting calls under way, all samples during a wait would be wrong; after a wrong
# sum, all later ones.
awk '{ if ($5) during[$1]++; if ($2 < $3 - 1e6 || $2 > $4 + 1e6) { n++; print "rank " $1 ": " $2 " ns inside, by single calls " $3 " to " $4 } }
     END { printf "%d samples, %d of them while rank 0 had waited for 20 ms, %d out\n", NR, during[0], n; exit 8 * n > NR || !during[0] }' samples ||
    fail "samples and single calls differ"
# Rank 1's sleep, by its own clock, lies outside MPI.
sql "SELECT sum(inside_ns) FROM mpi_function $of_last_run AND i.name LIKE 'rank 1 %' AND i.name NOT LIKE '%MPI_Init%'
     AND i.name NOT LIKE '%Barrier' AND i.name NOT LIKE '%Finalize'" >inside
awk 'FILENAME == "inside" { inside = $1 } $1 == "slept" { slept = $3 } $1 == "wall" { wall = $4 }
     END { printf "rank 1: %.3f s, %.3f s of it asleep, %.3f s inside MPI\n", wall / 1e9, slept / 1e9, inside / 1e9
           exit !(slept > 2e9 && inside > 0 && inside <= wall - slept) }' inside "$EXPECT.1" || fail "sleep counts as time inside MPI"

# ---- off ----
run --no-report --no-shim "${mpi[@]}" -np 2 "$programs/calls_waits"
[ $status -eq 0 ] || fail "exits with $status"
[ "$(sql "SELECT count(*) FROM mpi $of_last_run")" = 0 ] || fail "recorded in spite of --no-shim"
exit 0
