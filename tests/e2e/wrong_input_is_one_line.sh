#!/bin/bash
# SPDX-License-Identifier: MIT
# A wrong word, file, run, host or number, as a new user may give it, leads to one line that says so, and exit status 2.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
run -q --no-report true
[ $status -eq 0 ] || fail "run"
: >empty.db
head -c 5000 /dev/urandom >junk.db
printf 'SQLite format 3\0' >short.db
sqlite3 other.db 'CREATE TABLE x(a); INSERT INTO x VALUES (1)'
mkdir folder.db
cp "$db" cut.db && truncate -s 20000 cut.db || fail "no copy"
# wrong PATTERN WORDS...
wrong() {
    local pattern=$1 status
    shift
    timeout 60 "$chokepoint" "$@" >out 2>err </dev/null
    status=$?
    [ $status -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] && grep -qE -- "$pattern" err ||
        fail "chokepoint $*: exit status $status, not one line like '$pattern'"
}
for verb in report list compare verify export; do
    words=()
    [ $verb != compare ] || words=(1 2)
    [ $verb != export ] || words=(--format csv --table net)
    wrong 'no database' $verb "${words[@]}" --db none.db
    for file in empty junk short other folder; do wrong "$file.db" $verb "${words[@]}" --db $file.db; done
done
wrong 'cut.db is damaged' report --db cut.db
for run in 99 0 1.5 nobody last~9 99999999999999999999; do wrong "no run '$run' in .*list" report "$run" --db "$db"; done
wrong "'-1'" report -1 --db "$db"
wrong 'one run at a time' report 1 2 --db "$db"
wrong "no run '9'" compare 1 9 --db "$db"
wrong 'named twice' compare 1 1 --db "$db"
wrong "no host 'nohost'" whatif 1 --link nohost=2x --db "$db"
wrong "'-2x' is no speed" whatif 1 --link "$(hostname)=-2x" --db "$db"
wrong "'200' has no unit; right are 200x" whatif 1 --link "$(hostname)=200" --db "$db"
wrong "no run '9'" rm 9 --db "$db"
wrong "there are text, md, html" report --format xml --db "$db"
wrong 'cannot write /no/such/x.html' report -o /no/such/x.html --db "$db"
wrong "unknown verb 'nosuch'" help nosuch
wrong 'one verb at a time' help report list
wrong "hostfile 'none'.*No such file" doctor --hostfile none
wrong "hostfile 'none'.*No such file" top --hostfile none
wrong "hostfile none.*No such file" calibrate --hostfile none
wrong "names no host" top --hosts ,
wrong "names no host" run --hosts '' true
wrong "'-1'; give a number" run --rate -1 true
wrong "'99999'" serve --port 99999 --db "$db"
wrong "run --flows" top 1 --flows --db "$db"
