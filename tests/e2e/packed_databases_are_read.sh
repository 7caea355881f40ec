#!/bin/bash
# SPDX-License-Identifier: MIT
# A packed database can be read by either name, shows the same rows to SQL, and is the same when unpacked; no other program
# takes it for one with fewer samples; damage is reported, a database in use is
# refused, and a pack that is killed at any moment leaves a complete file.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

# refused VERB FILE STATUS TEXT: one line, and no change
refused() {
    before=$(ls -i)
    "$chokepoint" "$1" "$2" >out 2>err
    status=$?
    [ $status -eq "$3" ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -q -- "$4" err || fail "$1 $2: status $status, not '$4'"
    [ "$(ls -i)" = "$before" ] || fail "$1 $2 changed files"
}
: >out >err
run sh -c 'sleep 1'
[ $status -eq 0 ] || fail "no recording"
"$chokepoint" report --db "$db" --format json >plain.json || fail "no report"
sqlite3 "$db" .dump >plain.dump
cp "$db" kept.db
# ask FILE: answers to queries by hand, and exports
ask() {
    "$chokepoint" sql --db "$1" "SELECT * FROM cpu ORDER BY frame, instance" &&
        "$chokepoint" sql --db "$1" "SELECT run, host, process, count(*), sum(interval_s), avg(user_pct) FROM process_rate GROUP BY 1, 2, 3" &&
        "$chokepoint" export --db "$1" --format csv --table memory && "$chokepoint" export --db "$1" --format openmetrics
}
ask "$db" >plain.asked 2>err || fail "no answers"
[ "$(grep -c . plain.asked)" -gt 50 ] || fail "few answers"

"$chokepoint" pack "$db" >out 2>err || fail "pack: $(cat err)"
[ ! -e "$db" ] && [ -e "$db.zst" ] && grep -q "^$db.zst: [0-9]* bytes plain, [0-9]* packed$" out || fail "no packed file"
[ "$(stat -c %a "$db.zst")" = 600 ] || fail "others may read it"
for file in "$db" "$db.zst"; do
    "$chokepoint" report --db "$file" --format json >packed.json || fail "no report of $file"
    cmp plain.json packed.json || fail "another report of $file"
    "$chokepoint" verify "$file" | grep -q ': intact, ' || fail "verify of $file"
    ask "$file" 2>err | cmp - plain.asked || fail "other answers of $file"
done
zstd -dc "$db.zst" >by_hand.db || fail "zstd does not know the file"
for file in "$db.zst" by_hand.db; do
    rows=$(sqlite3 -readonly "$file" "SELECT count(*) FROM cpu" 2>&1) && fail "sqlite3 finds $rows samples in $file"
done
refused pack "$db.zst" 2 'is packed already'
"$chokepoint" rm -f --db "$db.zst" 1 >out 2>err
[ $? -eq 2 ] && grep -q 'chokepoint unpack' err || fail "a packed file was written to"
run true
[ $status -eq 2 ] && [ ! -e "$db" ] && [ "$(wc -l <err)" -eq 1 ] && said 'zst is packed: .*chokepoint unpack' ||
    fail "a new file hides the runs of the packed one: $status"
cp kept.db "$db"
refused pack "$db" 2 'zst is there already'
refused unpack "$db.zst" 2 'is there already'
rm "$db"

cp "$db.zst" cut.zst && truncate -s -100 cut.zst
refused unpack cut.zst 1 'cut.zst is damaged'
"$chokepoint" verify cut.zst >out 2>err
[ $? -eq 1 ] && grep -q 'packed bytes are damaged' out || fail "verify of a cut file"
"$chokepoint" list --db cut.zst >out 2>err
[ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'damaged' err || fail "list of a cut file"
refused unpack by_hand.db 2 'not a packed database'
refused unpack none.zst 2 'no database at'
refused pack none.db 2 'no database at'

"$chokepoint" unpack "$db.zst" >out 2>err || fail "unpack: $(cat err)"
[ -e "$db" ] && [ ! -e "$db.zst" ] || fail "no plain file"
sqlite3 "$db" .dump | cmp - plain.dump || fail "not the same database"

page=$(sql "SELECT max(pageno) FROM dbstat WHERE name = 'host'")
cp "$db" damaged.db && printf '\x55' | dd of=damaged.db bs=1 seek=$((page * 4096 - 30)) conv=notrunc 2>/dev/null
refused pack damaged.db 1 'damaged.db is damaged'

# Another program reads it.
coproc sqlite3 "$db"
reader=$COPROC_PID
printf 'BEGIN;\nSELECT count(*) FROM run;\n' >&"${COPROC[1]}"
read -r _ <&"${COPROC[0]}"
"$chokepoint" pack "$db" >out 2>err
[ $? -eq 2 ] && grep -q 'another program' err && [ -e "$db" ] && [ ! -e "$db.zst" ] || fail "a database in use was packed"
eval "exec ${COPROC[1]}>&-"
wait "$reader"

for ms in 1 2 3 5 8 12 17 23 30 40 60 90; do
    rm -f ./*.zst ./*.part ./*.cold
    cp kept.db killed.db
    timeout -s KILL "0.0$(printf %02d $ms)" "$chokepoint" pack killed.db >out 2>&1
    good=0
    for file in killed.db killed.db.zst; do
        [ ! -e $file ] || { "$chokepoint" verify $file >out 2>&1 && good=1 || fail "after $ms ms $file is no whole file"; }
    done
    [ $good = 1 ] || fail "after $ms ms both files are gone"
done
