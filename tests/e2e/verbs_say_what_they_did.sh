#!/bin/bash
# SPDX-License-Identifier: MIT
# On a terminal, rename, note, rm and -o say what they did; in a script they are silent. attach takes a process by its
# number, as -p, and a unit as -u. Common mistakes get a hint. The next run of a command is compared with the last.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
command -v script >/dev/null || { echo "SKIPPED: no script"; exit 77; }
busy='i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done; sleep 3'
for _ in 1 2; do
    "$chokepoint" run -q --db "$db" -n work sh -c "$busy" >out 2>err || fail "no run: $(cat err)"
done
"$chokepoint" run --db "$db" -n work sh -c "$busy" >out 2>err || fail "no run: $(cat err)"
grep -q '^since   .* the last run of this command (run 2, ' err || fail "not compared with the last run: $(cat err)"
[ "$(sql 'SELECT count(*) FROM run_verdict')" = 3 ] || fail "verdicts: $(sql 'SELECT * FROM run_verdict')"
"$chokepoint" list --db "$db" >out || fail "list"
limit=$(sql 'SELECT substr(limit_said, 1, 20) FROM run_verdict WHERE run = 3')
grep -qF "$limit" out || fail "no limit '$limit' in the list: $(cat out)"
"$chokepoint" list -v --db "$db" | grep -qF "$busy" || fail "-v does not show the whole command"

said() { # WORDS...: what a terminal shows
    script -qec "$(printf '%q ' "$chokepoint" "$@" --db "$db")" /dev/null </dev/null | tr -d '\r'
}
[ "$(said rename 3 third)" = "chokepoint: run 3, 'work', is called 'third' now" ] || fail "rename"
[ "$(said note third "it was slow")" = "chokepoint: run 3, 'third', has the note 'it was slow'" ] || fail "note"
[[ $(said report third -o page.html) == "chokepoint: wrote page.html, "*" kB" ]] || fail "report -o"
[[ $(said compare 1 2 -o both.html) == *"chokepoint: wrote both.html, "*" kB" ]] || fail "compare -o"
[ "$(said rm -f third)" = "chokepoint: removed run 3, 'third'" ] || fail "rm"
"$chokepoint" rename 2 second --db "$db" >out 2>&1 && [ ! -s out ] || fail "a script hears: $(cat out)"

sleep 60 &
pid=$!
trap 'kill $pid; leave' EXIT
for words in "$pid" "-p $pid" "--pid $pid"; do
    "$chokepoint" attach $words --duration 1s --no-report -q --db "$db" >out 2>err || fail "attach $words: $(cat err)"
done
hint() { # TEXT WORDS...
    local text=$1
    shift
    "$chokepoint" "$@" >out 2>err
    local status=$?
    [ $status -ne 0 ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$text" err || fail "$*: status $status, $(cat err)"
}
hint "no process of the job" attach -u nosuchunit --duration 1s -q --db "$db"
hint "a process is named by its number, a unit by -u NAME" attach nginx
hint "say what to watch" attach
hint "leave the quotes away" run -q --db "$db" "sleep 1"
hint "command not found" run -q --db "$db" nosuchprogram
: >a-file.py
hint "begins with ./" run -q --db "$db" a-file.py
exit 0
