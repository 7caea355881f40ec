#!/bin/bash
# SPDX-License-Identifier: MIT
# A database with other tables than ours, and links that another user controls, are refused with the reason before
# anything starts, exit 2. A file without tables counts as new.
. "$(dirname "$0")/run_lib.sh" || exit 1
run -q --no-report true
[ "$status" -eq 0 ] || fail "no recording"

refused() { # TEXT
    run -q --no-report sh -c ': >started'
    [ "$status" -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q -- "$1" err || fail "$1: $status"
    [ ! -e started ] || fail "$1: the command was started"
}
keep=$db
for change in 'DROP VIEW cpu_rate; DROP TABLE cpu|no such table: cpu' 'DROP VIEW run_host; DROP TABLE frame|no such table: frame' \
    'DROP VIEW memory_rate; ALTER TABLE memory DROP COLUMN free_bytes|free_bytes'; do
    db=$work/changed.db
    rm -f "$db"
    cp "$keep" "$db"
    sqlite3 "$db" "${change%|*}" || fail "cannot change it: $change"
    refused "${change#*|}"
done

# Killed within its first milliseconds.
for size in 0 100; do
    db=$work/killed$size.db
    head -c $size "$keep" >"$db"
    "$chokepoint" list --db "$db" >out 2>err
    ! grep -q 'not a Chokepoint database' err && grep -q 'no run was begun in it' err || fail "$size bytes: $(cat err)"
    run -q --no-report true
    [ "$status" -eq 0 ] || fail "$size bytes are not taken as new"
done

[ "$(id -u)" -eq 0 ] || exit 0
mkdir theirs && chmod 711 "$work"
ln -s "$work/made" theirs/link.db
ln -s "$work" theirs/way
chown -R -h 1234:1234 theirs
for db in "$work/theirs/link.db" "$work/theirs/way/made"; do
    refused 'is a link that another user owns'
    [ ! -e made ] || fail "$db is followed"
done
"$chokepoint" report 1 --db "$keep" --format json -o theirs/link.db >out 2>err
[ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'is a link that another user owns' err && [ ! -e made ] || fail "-o: $(cat err)"
"$chokepoint" export 1 --db "$keep" --format csv -o theirs/way/made >out 2>err
[ $? -eq 2 ] && [ ! -e made ] || fail "export -o: $(cat err)"
ln -s "$work/made" own.db
db=$work/own.db
refused 'is a link to a file that is not there'
exit 0
