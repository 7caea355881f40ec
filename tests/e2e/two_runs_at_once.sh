#!/bin/bash
# SPDX-License-Identifier: MIT
# Runs at the same time on one machine, into one new database, and into separate databases: each is
# recorded completely, as if it were alone.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

mkfifo go
both_at() { # DATABASE DATABASE
    local i db_of=("$@") pids=() from
    rm -f started*
    for i in 0 1; do
        "$chokepoint" run $slow_start --db "${db_of[i]}" --rate 20 -n "n$i" sh -c ": >started$i; read x <go; exit $((i + 3))" >"out$i" 2>"err$i" &
        pids+=($!)
    done
    for i in 0 1; do until_true test -e started$i; done
    for i in 0 1; do
        db=${db_of[i]}
        from=$(frames_of n$i)
        grew() { [ "$(frames_of n$i)" -gt $((from + 20)) ]; }
        until_true grew
    done
    printf '\n\n' >go
    for i in 0 1; do
        wait "${pids[i]}"
        [ $? -eq $((i + 3)) ] || fail "exit status of $i: $(cat err$i)"
        db=${db_of[i]}
        whole n$i $((i + 3))
    done
}
frames_of() { sql "SELECT count(*) FROM frame JOIN stream USING (stream) JOIN host USING (host) JOIN run USING (run) WHERE run.name = '$1'"; }
whole() { # NAME EXIT STATUS
    [ "$(sql "SELECT state || exit_status FROM run WHERE name = '$1'")" = "failed$2" ] || fail "$1: $(sql 'SELECT * FROM run')"
    [ "$(sql "SELECT count(*) || ' ' || (max(seq) = count(*)) || (count(DISTINCT seq) = count(*)) || min(seq) || ' ' || count(DISTINCT stream)
        FROM frame JOIN stream USING (stream) JOIN host USING (host) JOIN run USING (run) WHERE run.name = '$1'" | cut -d ' ' -f 2-)" = "111 1" ] ||
        fail "$1: not one stream of samples 1..N, each once"
    [ "$(sql "SELECT sum(gaps) + sum(duplicates) + sum(restarts) + sum(lost_frames) FROM stream")" = 0 ] || fail "gaps"
    [ "$(sql 'PRAGMA integrity_check')" = ok ] || fail "damaged: $(sql 'PRAGMA integrity_check')"
    "$chokepoint" report --db "$db" "$1" >out 2>err || fail "no report of $1"
}
both_at "$work/same.db" "$work/same.db"
both_at "$work/a.db" "$work/b.db"

# Many runs find no database, make it together, and change its journal when they come and go.
for round in $(seq 1 12); do
    rm -f crowd.db*
    pids=()
    for i in 1 2 3 4 5 6 7 8; do
        "$CHOKEPOINT_BIN/new-run" crowd.db >/dev/null 2>err$i &
        pids+=($!)
    done
    for i in 1 2 3 4 5 6 7 8; do wait "${pids[i - 1]}" || fail "round $round, $i of the crowd: $(cat err$i)"; done
    db=$work/crowd.db
    [ "$(sql 'SELECT count(*) FROM run')" = 8 ] || fail "round $round of the crowd: $(sql 'SELECT count(*) FROM run') of 8 runs"
done
