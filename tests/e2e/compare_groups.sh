#!/bin/bash
# SPDX-License-Identifier: MIT
# compare takes a name for all its repeats and reports which differences are real. The runs' durations are written
# into the database afterwards, since a busy machine must not decide.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1

run --repeat 5 -n slow sh -c ': slow'
[ $status -eq 0 ] || fail "exit status $status"
for _ in 1 2 3 4 5; do # one run of each in turn: the name stands for all of these, too
    run -q -n fast sh -c ': fast'
    run -q -n other sh -c ': other'
done
took() { sqlite3 "$db" "UPDATE run SET ended_mono_ns = started_mono_ns + $2 + 1000000 * run WHERE name = '$1'"; }
took slow 4000000000
took fast 2000000000
took other 2000000000

compare() { "$chokepoint" compare --db "$db" "$@" >out 2>err; }
json() { jq -r "$1" out; }
row() { json ".summary[] | select(.label == \"duration\") | .groups[1] | $1"; }

compare slow fast --format json || fail "compare"
[ "$(json '.groups | map(.counted) | tostring')" = '[5,5]' ] || fail "groups: $(json .groups)"
[ "$(row .finding)" = faster ] || fail "not faster: $(row .)"
[ "$(row '.p * 252 | round')" = 2 ] || fail "p is $(row .p)"
[ "$(row '.ratio * 100 | round')" = 50 ] || fail "the ratio is $(row .ratio)"
case "$(json .headline)" in 'fast is 1.99 times as fast as slow: '*) ;; *) fail "headline: $(json .headline)" ;; esac
compare slow fast --baseline fast --format json || fail "--baseline"
[ "$(json '.summary[0].groups[0].finding')" = slower ] || fail "against fast: $(json '.summary[0].groups')"

# Equal groups show no difference, nor does a group against itself.
compare fast other --format json || fail "compare"
[ "$(row .finding)" = 'no difference' ] || fail "fast and other: $(row .)"
compare slow slow --format json || fail "a group against itself"
[ "$(row .finding)" = 'no difference' ] || fail "slow against itself: $(row .)"

# Without a format it is one screen, whose last line has all. A gate decides for a build server.
compare slow other || fail "the screen"
[ "$(wc -l <out)" -le 25 ] || fail "more than 25 lines: $(cat out)"
grep -q '^  duration (s)  *4\.[0-9]*  *2\.[0-9]* *0\.50[0-9] x$' out || fail "no factor: $(cat out)"
more=$(sed -n 's/^more  *//p' out)
(cd / && eval "$more") >all 2>err || fail "'$more' does not work: $(cat err)"
grep -q '^Averages per host' all || fail "'$more' has no averages"
compare slow fast --gate 5% || fail "a faster run fails at the gate: $(cat out)"
grep -q '^gate      fast: passed, [0-9.]* % shorter (limit 5 %)$' out || fail "the gate does not say it: $(cat out)"
compare fast slow --gate 5%
[ $? -eq 3 ] || fail "the exit status of a slower run"
compare fast slow --gate 50% --format json
[ $? -eq 3 ] && [ "$(json '.gate.groups[0].slower_pct | . > 98 and . < 101')" = true ] || fail "the gate in JSON: $(json .gate)"
compare fast slow --gate 150% || fail "a run within the limit fails"
for gate in 5 % -1% x% 1e9%; do
    compare fast slow --gate "$gate"
    [ $? -eq 2 ] && [ "$(wc -l <err)" = 1 ] || fail "--gate '$gate' is taken: $(cat err)"
done

# Too few runs: the difference, and no claim. Lists form groups by hand.
compare 1,2,3,4 6,8,10,12 --format json || fail "lists"
[ "$(row .finding)" = 'not established' ] || fail "four of each: $(row .)"
[ "$(row '.difference | round')" = -2 ] || fail "the difference is $(row .difference)"
! json .headline | grep -q 'times as' || fail "a claim of four: $(json .headline)"
# Single runs with the same name and command are repeats of each other, in any order.
compare 1 6 2 8 3 --format json || fail "single runs"
[ "$(json '.groups | map(.counted) | tostring')" = '[3,2]' ] || fail "groups: $(json .groups)"
compare 1 2 --format json || fail "two repeats"
[ "$(json '.groups | length')" = 2 ] || fail "two runs of one name are one group: nothing to compare"

# Runs with that name but another command, or interrupted ones, do not count, and a note says so.
run -q -n fast sh -c ': faster'
took fast 2000000000
compare slow fast --format json || fail "compare"
[ "$(json '.groups[1].counted')" = 1 ] || fail "commands are mixed: $(json '.groups[1]')"
json '.notes[]' | grep -q '5 older runs called fast had another command' || fail "notes: $(json .notes)"
sqlite3 "$db" "UPDATE run SET state = 'interrupted' WHERE run = 1"
compare slow other --format json || fail "compare"
[ "$(json '.groups[0].counted')" = 4 ] || fail "an interrupted run counts: $(json '.groups[0]')"
json '.notes[]' | grep -q 'run 1 (slow) did not end well: interrupted; it is left out' || fail "notes: $(json .notes)"

for format in text md html csv; do
    compare slow other --format $format || fail "no comparison as $format"
    [ -s out ] || fail "nothing as $format"
done
compare slow other,1 --format json && fail "a run in two groups"
grep -q 'named twice' err || fail "no reason: $(cat err)"
compare slow nobody && fail "nobody is compared"
grep -q "no run 'nobody'" err || fail "no reason: $(cat err)"
