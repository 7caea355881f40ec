#!/bin/bash
# SPDX-License-Identifier: MIT
# The table budget: after a run it has each rank's time by phase and iteration, as in the report. It can be made
# again, by several programs at once; if it cannot be written, the report is still printed.
. "$(dirname "$0")/run_lib.sh" || exit 1
[ -x "$CHOKEPOINT_BIN/chokepoint-sgd" ] || { echo "skipped: no MPI"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0
sgd=$CHOKEPOINT_BIN/chokepoint-sgd
"$sgd" generate --features 2000 --examples 400 --files 2 --out data --test-examples 50 >/dev/null || fail "no data"
# Two seconds, sampled ten times a second: so short that the last sample may meet a rank as it ends.
train() { run --process-rate 10 "$@" mpirun --oversubscribe -np 2 "$sgd" --mode sync --transfer sparse --features 2000 --data data \
    --batch 50 --iterations 20 --plant sleep:0:100 --quiet; }
budget_of() { sql "SELECT * FROM budget WHERE run = $1 ORDER BY n"; }

train -q -n first
[ "$status" -eq 0 ] && ! said '^chokepoint: ' || fail "run -q: $status"
[ "$(sql "SELECT count(*), count(DISTINCT rank), min(every), max(every) FROM budget WHERE run = 1 AND
          iteration IS NOT NULL")" = '40|2|1|1' ] || fail "not the iterations of two ranks: $(budget_of 1 | head -5)"
[ "$(sql "SELECT group_concat(rank) FROM budget WHERE run = 1 AND phase = 'all' AND iteration IS NULL")" = '0,1' ] ||
    fail "not the whole run of two ranks"
untrue=$(sql "SELECT count(*) FROM budget WHERE run = 1 AND trusted AND abs(coalesce(cpu_ns, 0) + coalesce(runqueue_ns, 0) +
    coalesce(quota_ns, 0) + coalesce(steal_ns, 0) + coalesce(disk_ns, 0) + coalesce(memory_ns, 0) + coalesce(idle_ns, 0) +
    coalesce(peer_wait_ns, 0) + coalesce(transfer_ns, 0) + coalesce(mpi_overhead_ns, 0) + coalesce(mpi_unsplit_ns, 0) +
    coalesce(stopped_ns, 0) + coalesce(file_ns, 0) +
    unknown_ns - wall_ns) > 0.021 * wall_ns + 20")
[ "$untrue" -eq 0 ] || fail "$untrue rows say that they close and do not"
[ "$(sql "SELECT count(*) FROM budget WHERE run = 1 AND (end_ns <= begin_ns OR wall_ns > end_ns - begin_ns + 1)")" -eq 0 ] ||
    fail "rows that end before they begin"
# The report shows the same.
"$chokepoint" report 1 --db "$db" --format json >report.json || fail "report"
[ "$(jq '[.budget_iterations.ranks[].rows[]] | length' report.json)" -eq 40 ] || fail "iterations in JSON"
jq -r '.budget_iterations as $b | ($b.columns | index("cpu_s")) as $c | $b.ranks[] | .rank as $r | .rows[] |
       [$r, .[0], (.[$c] * 1e9 | round)] | join("|")' report.json >said
sql "SELECT rank, iteration, cpu_ns FROM budget WHERE run = 1 AND iteration IS NOT NULL ORDER BY n" >stored
[ "$(wc -l <stored)" -eq 40 ] || fail "iterations in the database: $(wc -l <stored)"
# JSON has ten digits of a figure, and the database whole nanoseconds: rounded twice, they may differ by
# one.
paste -d '|' said stored | awk -F '|' '$1 != $4 || $2 != $5 || $3 - $6 > 1 || $6 - $3 > 1' >differ
[ ! -s differ ] || fail "JSON (rank, iteration, ns) and database (the same) differ: $(head -5 differ)"

# Made again it is the same, even by many at once, and the other run's stays.
train -n second --no-report
[ "$status" -eq 0 ] && [ -z "$(budget_of 2)" ] || fail "--no-report: $status"
budget_of 1 >before
for i in 1 2 3; do
    "$chokepoint" report 1 --db "$db" --store-budget -o "report$i.txt" 2>"err$i" &
    makers[i]=$!
done
for i in 1 2 3; do wait "${makers[i]}" || fail "maker $i of 3: $(cat "err$i")"; done
"$chokepoint" report second --db "$db" --store-budget >/dev/null || fail "a run without"
budget_of 1 | diff before - >differ || fail "made again it differs: $(head -5 differ)"
[ "$(budget_of 2 | wc -l)" -ge 40 ] || fail "the second run's was not made"

# A database that cannot be written: the report, one line, and no change.
mkdir small
if mount -t tmpfs -o size=64m tmpfs small 2>/dev/null; then # more room than ranks on a busy machine take
    sqlite3 "$db" ".backup small/runs.db" || fail "no copy"
    # If several connections close at once, perhaps none of them folds the log back, and a full disk has no room for its
    # index.
    sqlite3 small/runs.db "PRAGMA journal_mode = DELETE; DELETE FROM budget WHERE run = 1" >/dev/null
    head -c 65m /dev/zero >small/filler 2>/dev/null
    "$chokepoint" report 1 --db small/runs.db --store-budget >out 2>err
    full=$?
    rows=$(sqlite3 small/runs.db "SELECT count(*) FROM budget WHERE run = 1; PRAGMA integrity_check")
    rm -f small/filler
    mount -o remount,ro small
    "$chokepoint" report 1 --db small/runs.db --store-budget >out.ro 2>err.ro
    readonly=$?
    umount small
    [ $full -eq 1 ] && [ -s out ] && [ "$(wc -l <err)" -eq 1 ] || fail "a full disk: $full"
    [ "$rows" = $'0\nok' ] || fail "a full disk leaves: $rows"
    [ $readonly -eq 1 ] && [ -s out.ro ] && [ "$(wc -l <err.ro)" -eq 1 ] || fail "read-only: $readonly, $(cat err.ro)"
    grep -q 'report 1 --store-budget' err.ro || fail "the line does not say what to do: $(cat err.ro)"
fi
exit 0
