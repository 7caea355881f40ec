#!/bin/bash
# SPDX-License-Identifier: MIT
# `report` and `compare` answer impossible requests with one line that says why, and exit status 2; the
# file that they were to write keeps its contents.
. "$(dirname "$0")/run_lib.sh" || exit 1

# refuses WORDS... -- TEXT: exit status 2 and one line on standard error that contains TEXT
refuses() {
    local words=()
    while [ "$1" != -- ]; do words+=("$1"); shift; done
    "$chokepoint" "${words[@]}" >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] || fail "chokepoint ${words[*]}: not refused"
    [ ! -s "$work/out" ] || fail "chokepoint ${words[*]}: says something on standard output"
    [ "$(wc -l <"$work/err")" -eq 1 ] || fail "chokepoint ${words[*]}: not one line"
    grep -q -- "$2" "$work/err" || fail "chokepoint ${words[*]}: does not say '$2'"
}

sqlite3 "$work/foreign.db" "CREATE TABLE x(y)"
for verb in report compare; do
    runs=(last); [ $verb = report ] || runs=(1 2)
    refuses $verb "${runs[@]}" --db "$work/none.db" -- "no database"
    [ ! -e "$work/none.db" ] || fail "$verb makes a database"
    echo "not a database, but long enough to be looked at as one" >"$work/text"
    refuses $verb "${runs[@]}" --db "$work/text" -- "cannot read"
    refuses $verb "${runs[@]}" --db "$work/foreign.db" -- "cannot read"
    refuses $verb "${runs[@]}" --db "$work" -- "cannot read"
    refuses $verb "${runs[@]}" --format doc -- "unknown format"
    refuses $verb "${runs[@]}" -o "$work/it.doc" -- "unknown file type"
    refuses $verb "${runs[@]}" -o "$work/it.DOC" -- "unknown file type"
    refuses $verb --no-such-option -- "option"
done
refuses compare 1 -- "two runs"
refuses compare 1 2 --format screen -- "no screen"
refuses compare 1 2 -o "$work/it.pdf" -- "unknown file type"
refuses report 1 2 -- "one run"
refuses report -o "$work/it.png" --plot cpu,nonsense -- "unknown plot 'nonsense'; there are cpu, .* and marks"
refuses report -o "$work/it.png" --plot "" -- "unknown plot ''"
refuses report --plot cpu -- "--plot needs a file of pictures"
refuses report -o "$work/it.html" --plot cpu -- "--plot needs a file of pictures"

run -n one true
run -n two sh -c 'exit 3'
refuses report 7 --db "$db" -- "no run '7'"
refuses report nobody --db "$db" -- "no run 'nobody'"
refuses report last~9 --db "$db" -- "no run 'last~9'"
refuses compare one nobody --db "$db" -- "no run 'nobody'"
refuses compare one 1 --db "$db" -- "twice"
refuses report one --db "$db" -o "$work/no/such/directory/x.md" -- "cannot write"
refuses report one --db "$db" -o "$work" -- "cannot write"
echo precious >"$work/keep.png"
real=$chokepoint chokepoint=without_gnuplot
without_gnuplot() { PATH=/nonexistent "$real" "$@"; }
refuses report one --db "$db" -o "$work/keep.png" -- "gnuplot is not installed"
chokepoint=$real
[ "$(cat "$work/keep.png")" = precious ] || fail "the picture before is lost"
sqlite3 "$db" ".backup $work/later.db" && sqlite3 "$work/later.db" "PRAGMA user_version = 99"
refuses report one --db "$work/later.db" -- "version"

# A full disk: the file is not lost, and nothing is left beside it.
echo precious >"$work/keep.md"
mkdir "$work/small"
if mount -t tmpfs -o size=4k tmpfs "$work/small" 2>/dev/null; then
    echo precious >"$work/small/keep.json"
    "$chokepoint" report one --db "$db" -o "$work/small/keep.json" 2>"$work/err"
    status=$? kept=$(cat "$work/small/keep.json") there=$(ls "$work/small")
    umount "$work/small"
    [ $status -eq 2 ] && said "No space" || fail "a full disk: exit status $status"
    [ "$kept" = precious ] || fail "the file is lost"
    [ "$there" = keep.json ] || fail "something is left beside it: $there"
fi

# The format follows the file's ending; the file gets the mode of any new file; a run that failed has a
# report.
"$chokepoint" report two --db "$db" -o "$work/keep.md" || fail "report into a file"
grep -q "^# Run 2 two" "$work/keep.md" || fail "not Markdown: $(head -n 1 "$work/keep.md")"
(umask 027 && "$chokepoint" report two --db "$db" -o "$work/new.json") || fail "report into a new file"
[ "$(stat -c %a "$work/new.json")" = 640 ] || fail "mode $(stat -c %a "$work/new.json")"
grep -q '"exit_status": 3' "$work/new.json" || fail "the status of the failed run is not there"
"$chokepoint" report two --db "$db" -o "$work/new.HTML" && grep -q '<html' "$work/new.HTML" || fail "an ending in large letters"
"$chokepoint" report two --db "$db" -o /dev/stdout | grep -q "failed, exit status 3" || fail "/dev/stdout"

# An interrupted command has not failed, whatever status the launcher gives.
sqlite3 "$db" ".backup $work/ended.db"
failed() {
    "$chokepoint" report two --db "$work/ended.db" --format json >"$work/ended.json" || fail "no report"
    grep -q "command failed" "$work/ended.json"
}
failed || fail "exit status 3 is no failure"
sqlite3 "$work/ended.db" "UPDATE run SET state = 'interrupted' WHERE name = 'two'"
failed && fail "an interrupted run is told as a failure"
"$chokepoint" report --db "$db" one --format csv | head -n 1 | grep -q "^run,host,phase,metric,unit,mean,p95,peak" || fail "csv"
"$chokepoint" report --db "$db" one >/dev/full 2>"$work/err" && fail "a full standard output is not noticed"
"$chokepoint" compare one two -v --db "$db" >"$work/out" || fail "compare"
grep -q "not established: 1 run each" "$work/out" || fail "compare claims something"
"$chokepoint" compare two --baseline one --db "$db" --format json | grep -q '"baseline": 0' || fail "--baseline"
