#!/bin/bash
# SPDX-License-Identifier: MIT
# A database is intact until a byte of it is changed: then verify names the page and its table, and a report that reads
# that page says so in one line.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

# verified STATUS TEXT
verified() {
    "$chokepoint" verify "$db" >out 2>err
    status=$?
    [ $status -eq "$1" ] && grep -q -- "$2" out && [ ! -s err ] || fail "verify: status $status, not '$2'"
}
run sh -c 'sleep 1'
[ $status -eq 0 ] || fail "no recording"
verified 0 ': intact, [0-9]* pages$'
cp "$db" whole.db

page=$(sql "SELECT max(pageno) FROM dbstat WHERE name = 'host'")
printf '\x55' | dd of="$db" bs=1 seek=$((page * 4096 - 30)) conv=notrunc 2>/dev/null
verified 1 "page $page is damaged (bytes $((page * 4096 - 4096)) to $((page * 4096 - 1)), table host)"
grep -q 'damaged: 1 of' out || fail "no sum"
"$chokepoint" report --db "$db" >out 2>err
[ $? -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'damaged.*chokepoint verify' err || fail "report of a damaged page"

cp whole.db "$db" && sqlite3 "$db" "UPDATE run SET name = 'mine'"
verified 0 'seal was broken by another program'
"$chokepoint" list --db "$db" | grep -q ' mine ' || fail "list of a changed one"
"$chokepoint" verify none.db >out 2>err
[ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] || fail "verify of no file"
