#!/bin/bash
# SPDX-License-Identifier: MIT
# What ranks do inside MPI reaches the database: calls and bytes exactly as the program knows them, by function and
# as single calls; waits of known length within 1 %, also while they last; and nothing of it looks like samples.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh"
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh"

# ---- calls and bytes of every family ----
run --no-report "${mpi[@]}" -np 4 "$CHOKEPOINT_BIN/calls_planted" "$work/file"
[ $status -eq 0 ] || fail "exits with $status"
totals_agree
[ "$(sql "SELECT sum(events), sum(lost_events) FROM mpi $of_last_run")" = "$(sql "SELECT count(*) FROM call")|0" ] ||
    fail "single calls are not as many as were written"
# Of the single calls of each function: so many calls, so much time as its totals say.
sql "SELECT rank, i.name, sum(coalesce(polls, flags & 12 = 0)), sum(CASE WHEN flags & 12 THEN 0 ELSE coalesce(inside_ns, duration_ns) END)
     FROM call $of_last_run GROUP BY 1, 2 HAVING 3 > 0 ORDER BY 1, 2" >by_call
sql "SELECT k.rank, substr(i.name, instr(i.name, 'MPI_')), sum(calls), sum(inside_ns) FROM mpi_function m
     JOIN (SELECT DISTINCT instance, rank FROM mpi_function) k USING (instance) $of_last_run GROUP BY i.instance ORDER BY 1, 2" >by_total
diff by_call by_total >&2 || fail "single calls (<) and totals (>) differ"
echo "$(sql 'SELECT count(*) FROM call') single calls agree with the totals"
# What a host missed is what its samples missed (a busy machine may miss one); events have no slots to miss.
[ "$(sql "SELECT gaps, missed - (SELECT sum(missed_slots) FROM stream WHERE period_ns <> 0), (SELECT max(missed_slots) FROM stream WHERE period_ns = 0) FROM run_host")" = "0|0|0" ] ||
    fail "events look like gaps: $(sql "SELECT * FROM run_host")"
[ "$(sql "SELECT samples FROM run_host")" = "$(sql "SELECT count(*) FROM frame f WHERE EXISTS (SELECT 1 FROM cpu WHERE cpu.frame = f.frame)")" ] ||
    fail "events count as samples"
[ -z "$(sql 'SELECT text FROM run_note')" ] || fail "noted: $(sql 'SELECT text FROM run_note')"

# ---- waits of known length ----
rm -f "$EXPECT".*
run --no-report "${mpi[@]}" -np 2 "$CHOKEPOINT_BIN/calls_waits"
[ $status -eq 0 ] || fail "exits with $status"
sql "SELECT substr(i.name, 8), sum(inside_ns) FROM mpi_function $of_last_run AND i.name LIKE 'rank 0 %' GROUP BY 1" | tr '|' ' ' >inside
awk 'FNR == NR { if ($1 == "wait" && $3 !~ /Recv|Test/) want[$3] = $4; next }
     $1 in want { n++; off = $2 / want[$1] - 1; printf "%-14s program %.3f ms, recorded %.3f ms (%+.3f %%)\n", $1, want[$1] / 1e6, $2 / 1e6, 100 * off
                  if (off > 0.01 || off < -0.01) bad = 1 }
     END { exit bad || n != 7 }' "$EXPECT.0" inside || fail "waits are not what was planted"
# Nine waits of 250 ms, seen at 10 Hz while they last: rank 0 is inside MPI, rank 1 is not.
busy() { sql "SELECT count(*) FROM mpi $of_last_run AND i.name = 'rank $1' AND 1.0 * inside_ns / interval_ns BETWEEN 0.95 AND 1.05"; }
[ "$(busy 0)" -ge 15 ] || fail "only $(busy 0) samples show rank 0 waiting"
[ "$(busy 1)" -le 5 ] || fail "$(busy 1) samples show rank 1 waiting"
[ "$(sql "SELECT count(*) FROM mpi $of_last_run AND inside_ns > 1.05 * interval_ns AND interval_ns > 20000000")" = 0 ] ||
    fail "more time inside MPI than there was: $(sql "SELECT i.name, inside_ns, interval_ns FROM mpi $of_last_run AND inside_ns > 1.05 * interval_ns")"

# ---- off ----
run --no-report --no-shim "${mpi[@]}" -np 2 "$CHOKEPOINT_BIN/calls_waits"
[ $status -eq 0 ] || fail "exits with $status"
[ "$(sql "SELECT count(*) FROM mpi $of_last_run")" = 0 ] || fail "recorded in spite of --no-shim"
exit 0
