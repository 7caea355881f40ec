#!/bin/bash
# SPDX-License-Identifier: MIT
# Every verb, given an unknown option, no database, another file, or a database of another version,
# cut short or overwritten in places, answers with a line that says why, with exit status 2 if the
# user can correct it, and makes and changes nothing.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

mkdir place
cd place || exit 1
refused() { # TEXT, WORDS...
    local text=$1 status
    shift
    "$chokepoint" "$@" >../out 2>../err </dev/null
    status=$?
    [ $status -eq 2 ] || fail "chokepoint $* exits with $status"
    [ ! -s ../out ] && [ "$(wc -l <../err)" -eq 1 ] && grep -q -- "$text" ../err || fail "chokepoint $*: not one line with '$text'"
}
for verb in $("$chokepoint" --help | awk '/^  [a-z]/ { print $1 }'); do
    refused 'option' "$verb" --no-such-option
    refused 'option' "$verb" --no-such-option=x last
done
# The user's words are printed as text: they move no cursor and begin no line.
harm=$'none\e[31m\nsecond\rline'
for words in "list --db" "report --db" "compare 1 2 --db" "export --format csv --db" "report --format" "run --rate" \
    "calibrate --only" "list"; do
    refused 'none?\[31m?second?line' $words "$harm"
    ! grep -q $'[\e\r]' ../err || fail "chokepoint $words: raw bytes from outside"
done
refused "after '--db'" report --db
refused "after '-o'" export -o
refused "option '-x'" run -qx true
refused "no value: '--quick=1'" calibrate --quick=1
needs_database=("list" "report" "report last" "compare 1 2")
for words in "${needs_database[@]}"; do
    refused 'no database .*chokepoint run' $words
    refused 'no database' $words --db none/such.db
    refused 'directory' $words --db .
    refused 'regular file' $words --db /dev/null
    mkfifo pipe
    refused 'regular file' $words --db pipe
    rm pipe
    refused 'name of the database is empty\|empty' $words --db ''
done
[ -z "$(ls -A)" ] || fail "made $(ls -A)"

# Files that are no database of ours, or were one.
run -q sh -c 'sleep 0.3' && run -q true || fail "no runs"
[ "$("$chokepoint" list --db "$db" | wc -l)" -eq 3 ] || fail "list"
size=$(stat -c %s "$db")
sqlite3 "$db" '.backup later.db' && sqlite3 later.db 'PRAGMA user_version = 99'
sqlite3 foreign.db 'CREATE TABLE run(run)'
: >empty.db
head -c 100 "$db" >header.db
head -c 6000 "$db" >cut.db
head -c 4096 "$db" >page.db
echo "something else that is long enough to be looked at" >text.db
sum() { sha256sum -- *; }
before=$(sum)
for words in "${needs_database[@]}"; do
    refused 'version 99' $words --db later.db
    for file in foreign.db text.db; do refused "$file is not a Chokepoint database" $words --db $file; done
    for file in empty.db header.db; do refused "$file.*\(no run was begun\|not a Chokepoint\)" $words --db $file; done
    for file in cut.db page.db; do refused "$file.*\(damaged\|not a Chokepoint\)" $words --db $file; done
done
refused "no run 'nobody'" report nobody --db "$db"
[ "$(sum)" = "$before" ] || fail "something was made or changed: $(ls -A)"

# Overwritten in places: an answer or an orderly end, and never a crash.
noise() { LC_ALL=C awk -v seed="$1" 'BEGIN { srand(seed); for (i = 0; i < 300; i++) printf "%c", 1 + int(255 * rand()) }'; }
for i in $(seq 1 20); do
    cp "$db" hurt.db
    noise "$i" | dd of=hurt.db bs=1 seek=$((4096 + (i * 7919 * 41) % (size - 5000))) conv=notrunc 2>/dev/null
    for words in "list" "report 1 --format json" "report 1 --format html" "compare 1 2"; do
        timeout 60 "$chokepoint" $words --db hurt.db >../out 2>../err
        status=$?
        [ $status -le 2 ] && [ "$(wc -l <../err)" -le 1 ] && ! grep -q 'Sanitizer\|runtime error' ../err ||
            fail "chokepoint $words of hurt database $i: $status"
    done
done
