#!/bin/bash
# SPDX-License-Identifier: MIT
# A database with triggers that would fill the disk is refused by every verb in one line, with status 2, and is not
# changed; secrets of a command are not in the database, and no other user can read it.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

umask 0
run -q --no-report sh -c 'true --password=hunter2' hunter --token hunter2 MY_API_KEY=hunter2
[ $status -eq 0 ] || fail "exit status $status"
[ "$(stat -c %a "$db")" = 600 ] || fail "mode $(stat -c %a "$db")"
[ "$(sql "SELECT command FROM run")" = "sh -c 'true --password=***' hunter --token '***' 'MY_API_KEY=***'" ] ||
    fail "command: $(sql "SELECT command FROM run")"
! grep -q hunter2 "$db" || fail "a secret is in the database"
run -q --no-report --no-command-lines sh -c 'true' some words
[ "$(sql "SELECT command FROM run WHERE run = 2")" = sh ] || fail "command: $(sql "SELECT command FROM run WHERE run = 2")"
run -q --no-report --no-mask true --token shown2
[ "$(sql "SELECT command FROM run WHERE run = 3")" = 'true --token shown2' ] || fail "command: $(sql "SELECT command FROM run WHERE run = 3")"

# refused FILE TEXT WORDS...
refused() {
    local file=$1 text=$2 sum status
    shift 2
    sum=$(sha256sum "$file")
    timeout 60 "$chokepoint" "${1}" --db "$file" "${@:2}" >out 2>err </dev/null
    status=$?
    [ $status -eq 2 ] || fail "chokepoint $*: exit status $status"
    [ "$(wc -l <err)" -eq 1 ] && grep -q -- "$text" err || fail "chokepoint $*: not one line with '$text'"
    [ "$(sha256sum "$file")" = "$sum" ] || fail "chokepoint $*: the file was changed"
    [ ! -s out ] || fail "chokepoint $*: $(head -c 200 out)"
}
cp "$db" triggers.db
sqlite3 triggers.db "PRAGMA recursive_triggers = ON;
    CREATE TRIGGER more AFTER INSERT ON frame BEGIN
        INSERT INTO clock WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT i, new.frame, i, i FROM x; END;
    CREATE TRIGGER also AFTER INSERT ON run BEGIN
        INSERT INTO run_note WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x) SELECT new.run, i, 'x' FROM x; END" ||
    fail "no triggers"
cp "$db" generated.db
sqlite3 generated.db "ALTER TABLE run ADD COLUMN g INTEGER GENERATED ALWAYS AS (run) VIRTUAL" || fail "no generated column"
for file in "triggers.db trigger" "generated.db GENERATED"; do
    for words in "run true" "list" "report 1" "compare 1 2" "export 1 --format csv --table cpu" "whatif 1 --cpu x=2x"; do
        refused ${file% *} "${file#* }" $words
    done
done
