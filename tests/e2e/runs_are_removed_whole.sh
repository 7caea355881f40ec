#!/bin/bash
# SPDX-License-Identifier: MIT
# `chokepoint rm`, `rename`, `note` and `list --format`: a removed run leaves no row and no byte, another run's report
# is unchanged, every page is still sealed, and a run that is being recorded, or another user's file, is refused.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

can() { "$chokepoint" "$@" --db "$db" >out 2>err </dev/null || fail "chokepoint $*: exit status $?"; }
refused() { # TEXT, WORDS...
    local text=$1 status
    shift
    "$chokepoint" "$@" --db "$db" >out 2>err </dev/null
    status=$?
    [ $status -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && said "$text" || fail "chokepoint $*: $status"
}
intact() { can verify && grep -q ' intact, ' out || fail "a page is not as it was written"; }
rows() { # of all tables except those that describe tables
    sql "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('table_info', 'column_info', 'ceiling')" |
        while read -r table; do sql "SELECT '$table ' || count(*) FROM \"$table\" HAVING count(*) > 0"; done
}
run -q -n first sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; sleep 1.2'
run -q -r 2 -n twice sleep 0.3
"$chokepoint" sweep --db "$db" -q -L n 1,2 sleep 0.{n} >out 2>err || fail "no sweep"
[ "$(sql 'SELECT count(*) FROM run')" = 5 ] && [ "$(sql 'SELECT count(*) FROM sweep_run')" = 2 ] || fail "runs"

# Names and notes.
can note 1 $'the \e[31mold switch'
can note first "and the old cable"
can rename last 'second sweep run'
can list && [ "$(wc -l <out)" -eq 8 ] && grep -q 'note: and the old cable' out && ! grep -q $'\e' out || fail "list"
can list --format json && jq -e '.schema == "chokepoint.list/1" and (.runs | length) == 5 and .runs[0].notes[1] == "and the old cable"
    and .runs[4].name == "second sweep run" and .runs[1].repeats == 2 and .runs[0].repeat == null' out >/dev/null || fail "list --format json"
can list --format csv && [ "$(wc -l <out)" -eq 6 ] && grep -q 'old switch; and the old cable' out || fail "list --format csv"
can report 1 --format json && jq -e '.run.notes | length == 2' out >/dev/null || fail "no notes in the report"
can report 1 --format md && grep -q 'old cable' out || fail "no notes for readers"
refused "unknown format 'xml'" list --format xml
refused 'a word is missing' rename 1
refused 'empty' note 1 ' '
refused "no run '99'" note 99 x
refused "no run '99'" rm 1 99
refused "stands for 2 runs" rm twice
[ "$(sql 'SELECT count(*) FROM run')" = 5 ] || fail "removed what it refused"
intact

# One of several.
can report 2 --format json && mv out before
size=$(stat -c %s "$db")
can rm 1 3 1
[ "$(sql 'SELECT group_concat(run) FROM run')" = 2,4,5 ] || fail "not the runs that were named"
[ "$(stat -c %s "$db")" -lt "$size" ] && [ "$(sql 'PRAGMA freelist_count')" = 0 ] || fail "no space given back"
[ ! -e "$db-wal" ] && [ ! -e "$db-journal" ] || fail "a log stayed"
can report 2 --format json && cmp out before || fail "another run's report has changed"
intact
can rm 4
[ "$(sql 'SELECT count(*) FROM sweep')" = 1 ] || fail "a sweep went before its last run"

# All of them: nothing is left.
can rm -f 2 5
[ -z "$(rows)" ] || fail "left: $(rows)"
intact

# During a recording, and after its recorder was killed.
mkfifo go
"$chokepoint" run $slow_start --db "$db" -q sh -c 'read -r x <go' >out 2>err &
recorder=$!
records() { [ "$(sql "SELECT count(*) FROM frame")" -gt 3 ]; }
until_true records
refused 'may be being recorded' rm last
[ "$(sql 'SELECT count(*) FROM run')" = 1 ] || fail "removed a run that goes on"
echo x >go
wait $recorder || fail "the recording was disturbed"
can report last
sql2() { sqlite3 "$db" "$1"; }
sql2 "UPDATE run SET state = 'running', ended_mono_ns = NULL"
can rm last
[ -z "$(rows)" ] || fail "left: $(rows)"

# Confirmed on a terminal.
run -q true
for answer in n y; do
    echo $answer | script -qec "'$chokepoint' rm last --db '$db'" typescript >out
    grep -q 'remove run .*true.*\[y/N\]' out || fail "did not ask: $(cat out)"
    [ "$(sql 'SELECT count(*) FROM run')" = "$([ $answer = n ] && echo 1 || echo 0)" ] || fail "answer $answer"
done

# Another user's.
run -q true
if [ "$(id -u)" = 0 ]; then
    chown 65534 "$db"
    for words in "rm last" "rename last x" "note last x"; do refused 'another user' $words; done
fi
exit 0
