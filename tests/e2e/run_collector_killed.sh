#!/bin/bash
# SPDX-License-Identifier: MIT
# A killed collector is restarted on the same port, the agents send what they kept, and neither the
# command nor the samples are affected.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

mkfifo go
"$chokepoint" run $slow_start --db "$db" sh -c ': >started; read x <go; exit 5' >out 2>err &
pid=$!
until_true test -e started
collector() { pgrep -P $pid -f 'chokepoint collector'; }
frames() { sql 'SELECT count(*) FROM frame'; }
for round in 1 2 3; do
    old=$(collector)
    n=$(frames)
    kill -9 "$old" || fail "no collector"
    changed() { new=$(collector) && [ "$new" != "$old" ]; }
    until_true changed
    grew() { [ "$(frames)" -gt $((n + 10)) ]; }
    until_true grew
done
echo >go
wait $pid
[ $? -eq 5 ] || fail "exit status"
said 'collector ended (killed by SIGKILL) and is started again' || fail "it does not say so"
[ "$(state_of 1)" = failed ] || fail "the run is $(state_of 1)"
# A slot missed on a busy machine is no lost sample.
lost=$(sql 'SELECT sum(gaps), sum(lost_frames) FROM stream')
[ "$lost" = "0|0" ] || fail "gaps, lost: $lost"
[ "$(sql 'SELECT count(*), count(DISTINCT seq), max(seq) FROM frame' | tr '|' '\n' | sort -u | wc -l)" -eq 1 ] ||
    fail "samples are lost or twice: $(sql 'SELECT count(*), count(DISTINCT seq), max(seq) FROM frame')"

# Killed as soon as it is there, seven times: it comes back each time, later and later, and nothing is lost.
rm -f started
"$chokepoint" run $slow_start --db "$db" sh -c 'echo $CHOKEPOINT_RUN >id; : >started; read x <go; exit 6' >out 2>err &
pid=$!
until_true test -e started
n_killed=0
kill_one() {
    kill -9 "$(collector)" 2>/dev/null && n_killed=$((n_killed + 1))
    [ $n_killed -ge 7 ]
}
until_true kill_one
n=$(frames)
until_true grew
echo >go
wait $pid
[ $? -eq 6 ] || fail "exit status"
[ "$(state_of 2)" = failed ] || fail "the run is $(state_of 2)"
lost=$(sql 'SELECT sum(gaps), sum(lost_frames) FROM stream')
[ "$lost" = "0|0" ] || fail "gaps, lost: $lost"
[ -z "$(traces_of "$(cat id)")" ] || fail "left: $(traces_of "$(cat id)")"
