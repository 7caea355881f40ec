#!/bin/bash
# SPDX-License-Identifier: MIT
# `run --live` prints the address of its live view once; its readers see the run going on, and its end; the view ends
# with the run and leaves nothing behind, however the run ends. A reader that reads nothing does not delay others.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/serve_lib.sh" || exit 1
events() { grep -c "^event: $1" "$2"; }
# last_picture FILE FILTER: applies FILTER to the last whole picture in FILE
last_picture() { grep '^data: {' "$1" | tail -1 | sed 's/^data: //' | jq -r "$2"; }
# The process of the server at the run's address.
servers() { pgrep -f "chokepoint serve [0-9]* --db $db" >"$work/servers"; }
no_servers() { ! servers; }

mkfifo "$work/go"
begin() {
    : >"$work/err" # removes the address of the run before
    "$chokepoint" run $slow_start --db "$db" --no-report --live "$@" sh -c "read x <'$work/go'; exit 5" \
        >"$work/out" 2>"$work/err" </dev/null &
    run=$!
    until_true said 'http://'
    url=$(grep -o 'http://[^ ]*' "$work/err")
}
begin -n watched
[ "$(grep -c http:// "$work/err")" -eq 1 ] || fail "the address is said more than once"
[[ $url == http://127.0.0.1:*/live/1 ]] || fail "the address is $url"
curl -sSN "$url/events" >"$work/one" &
one=$!
curl -sSN "$url/events" >"$work/two" &
two=$!
# A reader that never reads.
port=${url#http://127.0.0.1:}
exec 4<>"/dev/tcp/127.0.0.1/${port%%/*}"
printf 'GET /live/1/events HTTP/1.1\r\nHost: localhost\r\n\r\n' >&4
three_of_each() { [ "$(events snapshot "$work/one")" -ge 3 ] && [ "$(events snapshot "$work/two")" -ge 3 ]; }
until_true three_of_each
[ "$(last_picture "$work/one" '"\(.run) \(.name) \(.state) \(.hosts | length)"')" = '1 watched running 1' ] ||
    fail "the picture is $(last_picture "$work/one" .)"
grep -q '^id: [0-9]' "$work/one" || fail "events have no ids"
curl -sSI "$url/events" | grep -qi '^content-type: text/event-stream' || fail "events are of another type"
# A reader that comes back gets everything at once.
curl -sSN -H 'Last-Event-ID: 1' "$url/events" >"$work/again" &
again=$!
comes_back() { [ "$(events snapshot "$work/again")" -ge 1 ]; }
until_true comes_back
expect_live() { [ "$(curl -sS -o /dev/null -w '%{http_code}' "${url%/live/*}$1")" = "$2" ] || fail "$1 is not $2"; }
expect_live /run/1 200 # its report so far
expect_live /live/1 200

echo >"$work/go"
wait $run
[ $? -eq 5 ] || fail "the exit status of the command is not that of the run: $(cat "$work/err")"
wait $one $two $again || fail "a reader was cut off"
for reader in one two again; do
    [ $(($(events ended "$work/$reader") + $(events closing "$work/$reader"))) -eq 1 ] || fail "$reader was not told the end"
    tail -c 2 "$work/$reader" | od -An -c | grep -q '\\n *\\n' || fail "the last event of $reader is not whole"
done
exec 4>&-
until_true no_servers

# A run that has ended: one picture, its end, and the report.
serve --port 0
url=${url%/}
timeout 240 curl -sSN "$url/live/1/events" >"$work/after" || fail "the events of a run that is over do not end"
[ "$(events ended "$work/after")" -eq 1 ] || fail "no event says that it is over: $(cut -c 1-200 "$work/after")"
[ "$(last_picture "$work/after" '"\(.state) \(.exit_status)"')" = 'ended 5' ] || fail "its last picture: $(last_picture "$work/after" .)"
# No run has that number: the reader is told, and keeps waiting.
curl -sSN "$url/live/9/events" >"$work/none" &
none=$!
hears_why() { grep -q "^data: .*no run '9'" "$work/none"; }
until_true hears_why
kill $none

# The database is removed, and comes back.
begin -n gone
run_url=$url
curl -sSN "$run_url/events" >"$work/three" &
three=$!
one_of_three() { [ "$(events snapshot "$work/three")" -ge 1 ]; }
until_true one_of_three
mv "$db" "$db.away"
in_trouble() { grep -q '^event: trouble' "$work/three" || grep -q '"trouble":"' "$work/three"; }
until_true in_trouble
mv "$db.away" "$db"
kill -KILL $run
wait $run 2>"$work/out"
wait $three 2>"$work/out" # the server has lost its run, and ends
until_true no_servers
timeout 20 sh -c "echo >'$work/go'" # the command itself lives on
ends TERM
