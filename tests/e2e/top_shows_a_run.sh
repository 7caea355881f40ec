#!/bin/bash
# SPDX-License-Identifier: MIT
# `chokepoint top` on screens of three sizes: a run that has ended, one that ends while it is watched, and as text. A
# screen or run that it cannot show gets one line.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
# shellcheck source=tests/e2e/top_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/top_lib.sh" || exit 1
host=$(hostname)
grind='end=$((SECONDS + 8)); while [ $SECONDS -lt $end ]; do :; done'
run --no-report -n past -- bash -c "$grind"
[ $status -eq 0 ] || fail "run"

# --- a run that has ended, at three sizes
for size in "80 24" "120 40" "200 60"; do
    # shellcheck disable=SC2086
    open_screen $size --db "$db"
    until_true shows "^limit  .*"
    until_true shows "confidence|too short|none stands out|not clear"
    for part in "chokepoint top  run 1 past  ended after ([789]|1[0-9]) s: done" "1 host" "HOST .*CPU% cores" "1.$host" \
        "PROCESS" "q quit"; do
        shows "$part" || fail "$size has no '$part'"
    done
    [ "$(seen | wc -l)" -eq "${size#* }" ] || fail "$size: $(seen | wc -l) lines"
    press Enter
    until_true shows "pressure"
    press q
    until_true shows "q quit"
    press h
    until_true shows "amber"
    press q
    press q
    until_true shows "^status 0"
done
# --- smaller screens, the last minute, and a filter that is typed
open_screen 39 9 --db "$db"
until_true shows "needs 40 x 10, has 39 x 9"
tmux_here resize-window -x 40 -y 10
until_true shows "run 1 past"
shows "^limit " || fail "40 x 10 has no limit"
shows "HOST .*CPU%" || fail "40 x 10 has no hosts"
shows "PROCESS" || fail "40 x 10 has no processes"
tmux_here resize-window -x 120 -y 40
until_true shows "60 s  core .*[▁▂▃▄▅▆▇█].* mem "
press / b a s h
until_true shows "/bash_"
until_true shows "/bash  1 host"
shows " bash -c" || shows " bash$" || fail "the filter hides what has its letters"
press z
until_true shows_not " bash$"
press Escape
until_true shows "q quit"
press g
until_true shows_not "60 s  core"
press q
until_true shows "^status 0"
open_screen 90 30 --db "$db"
until_true shows "past"
press C-c
until_true shows "^status 0"

# --- without colours, without UTF-8, on an unusable terminal
screen_env='NO_COLOR=1'
open_screen 80 24 --db "$db"
until_true shows "past"
tmux_here capture-pane -p -e -t 0 | grep -qE $'\033\\[[0-9;]*(3[1-7]|38)' && fail "colours in spite of NO_COLOR"
screen_env='LC_ALL=C'
open_screen 80 24 --db "$db"
until_true shows "past"
seen | LC_ALL=C grep -q '[^ -~]' && fail "more than ASCII in the C locale"
screen_env=

# --- as text
"$chokepoint" top --db "$db" >"$work/out" 2>"$work/err" || fail "piped: $?"
grep -q "run 1 past" "$work/out" || fail "piped, it prints no picture"
grep -q $'\033' "$work/out" && fail "escapes in text"
"$chokepoint" top --db "$db" -b -n 2 -d 0.1 >"$work/out" || fail "-n 2"
[ "$(grep -c "run 1 past" "$work/out")" -eq 2 ] || fail "-n 2 prints $(grep -c "run 1 past" "$work/out")"
"$chokepoint" top --db "$db" -b -n 1 --format json | jq -e '.schema == "chokepoint.live/1" and .state == "ended"
    and .limit.final and (.hosts | length) == 1 and (.hosts[0].cores | length) > 0' >/dev/null || fail "json"
# a moment of it, in which it still computes
"$chokepoint" top past --at 4 --db "$db" >"$work/out" || fail "--at: $?"
grep -q "run 1 past  as it was at 4 s" "$work/out" || fail "--at 4"
"$chokepoint" top 1 --at 4 --db "$db" --format json | jq -e '.at_s == 4 and .elapsed_s == 4 and (.limit.known | not)
    and .hosts[0].seen_s <= 4.01 and .hosts[0].cpu_core_max > 30 and any(.processes[]; .job and .name == "bash")' >/dev/null || fail "--at as JSON"
TERM=dumb "$chokepoint" top --db "$db" | grep -q "run 1 past" || fail "TERM=dumb"

# --- a run that goes on, and ends while it is watched
mkfifo hold
"$chokepoint" run $slow_start -q --no-report --db "$db" -n now -- cat hold 2>"$work/err" &
recorder=$!
begun() { [ "$(sql "SELECT count(*) FROM run WHERE name = 'now'")" = 1 ]; }
until_true begun
open_screen 120 40 --db "$db" -d 0.2
until_true shows "run 2 now  running for"
until_true shows "1.$host +[0-9]"
until_true shows "job .* cat hold" # its command line, since it runs on this machine
press d
until_true shows "Seconds between pictures"
press 1 Enter
press Space
until_true shows "Paused"
press Space
until_true shows_not "Paused"
# text of a run that goes on is a complete picture
"$chokepoint" top --db "$db" -n 1 | grep -q "run 2 now  running" || fail "text of a run that goes on"
: >hold
wait $recorder
until_true shows "run 2 now  ended after .*: done"
until_true shows "^limit  "

# --- the database is removed
mv "$db" "$work/elsewhere.db"
until_true shows "is gone"
shows "run 2 now" || fail "the last picture is gone, too"
press q
until_true shows "^status 0"

# --- each error is one line
refuses() {
    "$chokepoint" top "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] || fail "top $*: $(cat "$work/err")"
}
refuses --db "$work/none.db"
refuses --db "$work/elsewhere.db" no-such-run
refuses -d 0
refuses -n 0
refuses --format xml
refuses --at -1
refuses --at 4 --hosts a
refuses 1 --hosts a
refuses a b
