#!/bin/bash
# SPDX-License-Identifier: MIT
# A run with --pack-after packs its samples while it goes on: sqlite3 refuses the file and says what reads it, all verbs
# read it, a collector that is killed meanwhile loses nothing, and the next run is recorded into the same file.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

# ask SQL: one number
ask() { "$chokepoint" sql --db "$db" --format csv "$1" 2>asked | tail -1 | tr -d "\r"; }
command='i=0; while [ $i -lt 60 ] && ! [ -e go ]; do sleep .2; i=$((i + 1)); done; sleep 4'
# The command ends when samples are packed, and the collector has been killed since.
while_it_runs() {
    for _ in $(seq 300); do
        [ "$(ask "SELECT coalesce(sum(n), 0) > 20 FROM block")" = 1 ] && break
        sleep .1
    done
    rows=$(sqlite3 -readonly "$db" "SELECT count(*) FROM cpu" 2>&1) && echo "sqlite3 finds $rows samples" >>meanwhile
    echo "$rows" | grep -q "read this file with chokepoint" || echo "sqlite3 says: $rows" >>meanwhile
    kill -KILL "$(pgrep -f "collector --db $db" | head -1)" || echo "no collector" >>meanwhile
    sleep .5
    touch go
}
while_it_runs &
run --pack-after 1 sh -c "$command"
wait $!
[ $status -eq 0 ] || fail "no recording: $(cat err)"
[ ! -s meanwhile ] || fail "$(cat meanwhile)"
[ "$(ask "SELECT count(*) FROM block JOIN table_info USING(table_id) WHERE name = 'cpu'")" -gt 1 ] || fail "little is packed"
frames=$(ask "SELECT count(*) FROM frame JOIN stream USING(stream) WHERE period_ns > 0")
[ "$(ask "SELECT count(*) FROM memory")" = "$frames" ] || fail "samples of memory are missing among $frames"
[ "$(ask "SELECT count(DISTINCT frame) FROM cpu")" -ge $((frames - 1)) ] || fail "samples of cores are missing among $frames"
[ "$(ask "SELECT missed + lost + gaps FROM run_host")" = 0 ] || fail "samples were lost"
"$chokepoint" report --db "$db" >out 2>err || fail "no report: $(cat err)"
"$chokepoint" list --db "$db" >out 2>err || fail "no list: $(cat err)"
"$chokepoint" verify "$db" >out 2>err || fail "verify: $(cat out err)"
run true
[ $status -eq 0 ] && [ "$(ask "SELECT count(*) FROM run")" = 2 ] || fail "no second run: $(cat err)"
"$chokepoint" rm -f --db "$db" 2 >out 2>err || fail "rm: $(cat err)"
"$chokepoint" pack "$db" >out 2>err && "$chokepoint" unpack "$db.zst" >out 2>err || fail "pack and unpack: $(cat err)"
[ "$(sqlite3 -readonly "$db" "SELECT count(*) FROM memory")" = "$frames" ] || fail "the unpacked file has other samples"
