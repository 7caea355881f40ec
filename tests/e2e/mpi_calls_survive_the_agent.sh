#!/bin/bash
# SPDX-License-Identifier: MIT
# The sampling process is killed while ranks call MPI: totals stay exact, no single call is recorded twice, and only those are
# missing that were overwritten before its successor came, which are counted. A ring that fills between two samples wakes the
# agent. Single calls that outgrow their spool are dropped, counted and reported.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
export STARTED=$work/started

"$chokepoint" run $slow_start --no-report --db "$db" "${mpi[@]}" -np 2 -x STARTED "$CHOKEPOINT_BIN/calls_paced" 3000 1000 >out 2>err &
pid=$!
until_true test -e "$STARTED"
[ -z "$(sql "SELECT name FROM sqlite_schema WHERE name = 'call'")" ] || fail "single calls came while the job ran"
children() { cat "/proc/$1/task/$1/children" 2>/dev/null; }
is_agent() { [ "$(readlink "/proc/$1/exe")" -ef "$CHOKEPOINT_BIN/chokepoint-agent" ]; }
for child in $(children $pid); do ! is_agent "$child" || supervisor=$child; done
first=$(children "$supervisor")
kill -9 $first || fail "no sampling process"
again() { [ -n "$(children "$supervisor")" ] && [ "$(children "$supervisor")" != "$first" ]; }
until_true again
wait $pid || fail "exit status $?"
totals_agree
events=$(sql "SELECT sum(events) FROM mpi $of_last_run") calls=$(sql "SELECT count(*) FROM call")
[ "$events" = 12004 ] || fail "$events events were written, not 12004"
[ "$(sql "SELECT count(DISTINCT pid * 100000 + sequence) FROM call")" = "$calls" ] || fail "some are told twice"
lost=$(sql "SELECT sum(lost_events) FROM mpi $of_last_run")
[ $((calls + lost)) = "$events" ] || fail "of $events single calls $calls are there, and $lost are counted as lost"
echo "$calls of $events single calls"

# ---- more calls between two samples than their ring holds: 16384 of the 18002 of a rank ----
rm -f "$EXPECT".*
run --no-report --rate 0.1 --process-rate 0.1 "${mpi[@]}" -np 2 "$CHOKEPOINT_BIN/calls_paced" 9000 100
[ $status -eq 0 ] || fail "exits with $status"
lost=$(sql "SELECT sum(lost_events) FROM mpi $of_last_run") calls=$(sql "SELECT count(*) FROM call $of_last_run")
[ "$lost|$calls" = "0|36004" ] || fail "$lost of 36004 single calls were lost, $calls are there: nobody woke the agent"

# ---- a spool too small ----
rm -f "$EXPECT".*
run --no-report --call-spool-limit 128k "${mpi[@]}" -np 2 "$CHOKEPOINT_BIN/calls_paced" 20000 0
[ $status -eq 0 ] || fail "exits with $status"
totals_agree
kept=$(sql "SELECT count(*) FROM call $of_last_run")
[ "$kept" -gt 0 ] && [ "$kept" -lt 40000 ] || fail "$kept single calls of 80004 fit into 128 KiB"
"$chokepoint" report --db "$db" --format json >report 2>&1 || fail "no report"
grep -q 'batches of single MPI calls were lost; totals are complete' report || fail "the report does not say it"
[ "$(sql "SELECT gaps + lost FROM run_host WHERE run = 3")" = 0 ] || fail "samples seem lost"

# The agent alone reports it, too, and keeps the end of the calls.
rm -f "$EXPECT".*
CHOKEPOINT_MARKS=$work/marks CHOKEPOINT_RUN=0123456789abcdef "$CHOKEPOINT_BIN/chokepoint-agent" \
    --no-push --call-spool-limit 128k --spool "$work/spool" 2>err &
agent=$!
until_true test -d "$work/marks.$(hostname)"
OMPI_CHOKEPOINT_MARKS=$work/marks LD_PRELOAD="$CHOKEPOINT_BIN/libchokepoint-mpi.so" GO=$work/go \
    "${mpi[@]}" -np 2 -x LD_PRELOAD -x GO "$CHOKEPOINT_BIN/calls_paced" 20000 0 >out 2>&1 &
program=$!
# The end of both ranks' calls fits into the spool: it comes only once the calls before it have been taken. (A late
# agent takes more at once than the spool holds, one rank after the other.)
taken() { # rank 1 is there: after its barrier no rank calls MPI before the file appears
    local file
    for file in "$work"/spool/*.spool; do "$CHOKEPOINT_BIN/frame-dump" "$file" 2>/dev/null; done |
        awk '/^row [0-9]* call / { match($0, / sequence=[0-9]+/); n = substr($0, RSTART + 10, RLENGTH - 10) + 0; if (n > most) most = n }
             END { exit most < 39801 }'
}
patience=300 until_true taken
touch "$work/go"
wait $program || fail "the program ended with $?"
kill $agent
wait $agent
grep -q 'calls: their spool holds the last [0-9]* s at this rate, older ones go: see --call-spool-limit' err || fail "it is not said: $(cat err)"
[ "$(grep -c 'older ones go' err)" -eq 1 ] || fail "it is said more than once"
# Two streams: one with the samples, the other with the calls, of which the end is left, without a
# gap.
for file in "$work"/spool/*.spool; do
    "$CHOKEPOINT_BIN/frame-dump" "$file" >dump
    ! grep -q '^row [0-9]* call ' dump || { echo "$file"; grep '^row [0-9]* call ' dump >>calls; }
done >files
[ -s files ] || fail "no single calls are left"
[ "$(cat $(cat files) | wc -c)" -le 131072 ] || fail "the spool has $(cat $(cat files) | wc -c) bytes"
sed 's/.* pid=\([0-9]*\) sequence=\([0-9]*\) .*/\1 \2/' calls | sort -n -k1,1 -k2,2 |
    awk '$1 == pid && $2 > last + 1 { gaps++ } { pid = $1; last = $2; ends[pid] = last }
         END { for (p in ends) { n++; if (ends[p] != 40002) bad = 1 } print gaps + 0, "gaps"; exit n != 2 || bad }' ||
    fail "the last calls are not the ones that were kept"
exit 0
