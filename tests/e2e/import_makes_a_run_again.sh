#!/bin/bash
# SPDX-License-Identifier: MIT
# The database is lost during a run, so that agents keep their frames: the command that they print works as it stands,
# in a directory whose name needs quoting, and restores the run. Hosts of one run become one run.
. "$(dirname "$0")/run_lib.sh" || exit 1

mkdir tmp "my data" elsewhere
mkfifo go
db="$work/my data/x y.db"
(
    cd "my data" || exit 1
    TMPDIR=$work/tmp exec "$chokepoint" run $slow_start --no-report --name trial --db 'x y.db' \
        sh -c ': >../started; read x <../go' >../out 2>../err
) &
pid=$!
until_true test -e started
lines() { sql "SELECT count(*) FROM $1"; }
some() { [ "$(lines frame)" -gt 5 ]; }
until_true some
rm "$db"*
spooled() { cat tmp/*/*.spool 2>/dev/null | wc -c; }
size=$(spooled)
grew() { [ "$(spooled)" -gt $((size + 4000)) ]; }
until_true grew
echo >go
wait $pid 2>/dev/null
command=$(sed -n "s/.*they are kept in .*\`\(chokepoint import .*\)\` brings them in.*/\1/p" err | head -1)
[ -n "$command" ] || fail "no command is printed: $(cat err)"
directory=$(dirname "$(find "$work/tmp" -name '*.spool' | head -1)")

# Pasted in another directory, into a shell that finds the program.
paste() { (cd elsewhere && PATH=$(dirname "$chokepoint"):$PATH sh -c "$command") >out 2>err; }
paste || fail "the printed command: $command"
grep -q '^run 1: [1-9][0-9]* samples from [1-9]' out || fail "it says: $(cat out)"
[ "$(sql "SELECT name, command LIKE 'sh -c %started%' FROM run")" = "trial|1" ] || fail "name and command: $(sql 'SELECT name, command FROM run')"
[ "$(lines host)" -eq 1 ] && [ "$(lines frame)" -gt 5 ] || fail "no samples"
sql "SELECT text FROM run_note" | grep -q 'exit status, when its command began and ended.*are not known' || fail "not said what is not known"
"$chokepoint" report 1 --db "$db" >report 2>err || fail "no report"
grep -q 'without the database' report || fail "the report does not say where it is from"
before=$(lines frame)
paste && [ "$(lines frame)" -eq "$before" ] && [ "$(lines run)" -eq 1 ] || fail "twice: $(cat out err)"

# A database that was made anew meanwhile: imported only on request.
rm "$db"
(cd "my data" && "$chokepoint" run $slow_start -q --no-report --db 'x y.db' true) || fail "another run"
paste && fail "a run is made in another database unasked"
grep -q -- '--new' err && [ "$(wc -l <err)" -eq 1 ] || fail "not told of --new: $(cat err)"
"$chokepoint" import --new "$directory" --db "$db" >out 2>err || fail "--new"
grep -q '^run 2: ' out || fail "--new says: $(cat out)"

# A second host of the same run, whose agent knows no name: in one call or in two, first or last.
"$CHOKEPOINT_BIN/rename-host" "$directory" second vm-second || fail "no second host"
for order in "$directory second" "second $directory"; do
    # shellcheck disable=SC2086 # two words
    rm "$db" && "$chokepoint" import $order --db "$db" >out 2>err || fail "two directories"
    [ "$(sql 'SELECT count(*), max(name) FROM run')" = "1|trial" ] && [ "$(lines host)" -eq 2 ] || fail "$order: $(sql 'SELECT * FROM run')"
done
rm "$db"
for one in "$directory" second; do
    "$chokepoint" import --new "$one" --db "$db" >out 2>err || fail "one after the other"
done
[ "$(lines run)" -eq 1 ] && [ "$(lines host)" -eq 2 ] || fail "one after the other: $(sql 'SELECT * FROM run')"

# Without anything to import no database is made.
mkdir empty
"$chokepoint" import empty --db none.db >out 2>err && fail "nothing is taken"
[ ! -e none.db ] || fail "an empty database is left"
exit 0
