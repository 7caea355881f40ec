#!/bin/bash
# SPDX-License-Identifier: MIT
# An engine that is busy gets the same bytes again, when it asked for them; one that refuses samples is quoted once; one that
# takes nothing ends the sending, and nothing is lost. Secrets stand on no command line and go to verified addresses alone.
. "$(dirname "$0")/run_lib.sh" || exit 1
for tool in curl python3 openssl; do
    command -v $tool >/dev/null || { echo "skipped: no $tool here"; exit 77; }
done
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/engines_lib.sh" || exit 1
"$CHOKEPOINT_BIN/bench_remote_write_hosts" "$db" 10 4 1 >out 2>err || fail "no recording" # two bodies

# engine ANSWER...: its id in $engine, its address in $url
engine() {
    rm -rf log port "$db-remote"
    python3 "$CHOKEPOINT_SOURCE/tests/tools/strict_engine.py" log "$@" >port 2>engine.err &
    engine=$!
    until_true test -s port
    url=http://127.0.0.1:$(cat port)/write
}
engine_ends() { kill $engine; wait $engine 2>/dev/null; }
# sends STATUS WORDS...
sends() {
    local wanted=$1
    shift
    "$chokepoint" export --db "$db" --remote-write "$url" "$@" >out 2>err
    local got=$?
    [ $got = "$wanted" ] || fail "exit status $got, not $wanted: $(cat err)"
}
column() { cut -d' ' -f"$1" log; }

engine 503 lost 429:2 204
sends 0
[ "$(column 2 | tr '\n' ' ')" = '503 lost 429:2 204 204 204 ' ] || fail "busy: $(cat log)"
[ "$(column 3 | head -4 | sort -u | wc -l)" = 1 ] || fail "other bytes the second time"
[ "$(column 3 | sort -u | wc -l)" = 3 ] || fail "not three bodies: $(cat log)"
awk 'NR == 3 { asked = $1 } NR == 4 { exit !($1 - asked >= 2) }' log || fail "did not wait as it was asked"
[ "$(column 4- | sort -u)" = 'snappy|application/x-protobuf|0.1.0|-' ] || fail "headers: $(column 4-)"
[ "$(grep -c 'trying again' err)" = 1 ] || fail "said more than once that it tries again"
engine_ends

engine 400 204 400
sends 1
[ "$(grep -c 'refuses' err)" = 1 ] || fail "refused twice: $(cat err)"
grep -q 'refuses 10[0-9]* samples for good, 400: no ?\[31msuch?sample' err || fail "its words: $(cat err)"
[ "$(wc -l <log)" = 3 ] || fail "a body that is refused is sent again, or the next one is not"
engine_ends

# Nothing is lost when the token is wrong.
engine 204 401 204
echo wrong >token
sends 1 --remote-write-token token
grep -q 'takes nothing from here, 401' err || fail "401: $(cat err)"
cut -d' ' -f3 log | sed -n 2p >refused
echo 'right, with "quotes"' >token
sends 0 --remote-write-token token
[ "$(column 3 | sed -n 3p)" = "$(cat refused)" ] || fail "goes on with another body"
[ "$(wc -l <log)" = 4 ] || fail "not the rest alone: $(cat log)"
[ "$(column 4- | tail -1)" = 'snappy|application/x-protobuf|0.1.0|Bearer right, with "quotes"' ] || fail "token: $(column 4-)"
rm -rf "$db-remote"
CHOKEPOINT_REMOTE_WRITE_TOKEN=environment sends 0
[ "$(column 4- | tail -1)" = 'snappy|application/x-protobuf|0.1.0|Bearer environment' ] || fail "token of the environment"
rm -rf "$db-remote"
echo 'user:pass:word' >login
sends 0 --remote-write-login login
[ "$(column 4- | tail -1)" = "snappy|application/x-protobuf|0.1.0|Basic $(printf user:pass:word | base64)" ] || fail "login"
engine_ends

# One process sends, and it can be killed while it waits.
engine 503
"$chokepoint" export --db "$db" --remote-write "$url" --remote-write-token token >out 2>err &
sender=$!
until_true grep -q 'trying again' err
tr '\0' ' ' </proc/$sender/cmdline | grep -q quotes && fail "the token stands on a command line"
sends 2
grep -q 'another process sends run 1 there already' err || fail "a second sender: $(cat err)"
kill -9 $sender
wait $sender 2>/dev/null
engine_ends

# A certificate is checked.
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out own.pem -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost >/dev/null 2>&1 || fail openssl
engine 204 --certificate own.pem --key key.pem
url=https://localhost:$(cat port)/write
sends 1 --remote-write-token token
grep -qi 'certificate' err || fail "certificate: $(cat err)"
[ ! -s log ] || fail "a request went to an engine that nobody vouches for"
sends 0 --remote-write-token token --remote-write-ca own.pem
url=https://127.0.0.1:$(cat port)/write # another name
sends 1 --remote-write-ca own.pem
engine_ends

# refuses TEXT URL WORDS...
refuses() {
    local text=$1
    url=$2
    shift 2
    sends 2 "$@"
    [ "$(wc -l <err)" = 1 ] || fail "not one line: $(cat err)"
    grep -q -- "$text" err || fail "does not say '$text': $(cat err)"
}
refuses 'has no place in an address' http://user:secret@127.0.0.1/write
refuses 'https:// alone' http://engine.example/write --remote-write-token token
refuses 'begins with http' ftp://127.0.0.1/write
refuses 'first line is empty' http://127.0.0.1/write --remote-write-token /dev/null
refuses 'sends and writes nothing' http://127.0.0.1/write --format csv
refuses 'No such file' http://127.0.0.1/write --remote-write-token nosuch
"$chokepoint" export --db "$db" --remote-write-token token >out 2>err && fail "no address"
grep -q 'remote-write is missing' err || fail "no address: $(cat err)"

# `run` sends meanwhile, and says how the rest is sent where the engine is away.
engine 204
rm -f "$db"*
run -q --remote-write "$url" sleep 1
if [ "$status" != 0 ] || [ -s err ]; then fail "run: $(cat err)"; fi
[ -s log ] || fail "run sends nothing"
CHOKEPOINT_REMOTE_WRITE_TOKEN=hidden run -q --no-report --remote-write "$url" sh -c 'env >variables'
column 4- | grep -q 'Bearer hidden' || fail "run sends without the token"
grep -q hidden variables && fail "the command gets the token"
[ "$("$chokepoint" export --db "$db" --remote-write "$url" 2>&1; wc -l <log)" = "$(wc -l <log)" ] || fail "run has not sent all"
engine_ends
run --remote-write "$url" --no-report sleep 1
rest=$(sed -n 's/.*has not got all; `\(.*\)` sends the rest/\1/p' err)
[ -n "$rest" ] || fail "run does not say how the rest is sent: $(cat err)"
case $rest in *" export 3 --remote-write $url --db $db") ;; *) fail "the rest: $rest" ;; esac
exit 0
