#!/bin/bash
# SPDX-License-Identifier: MIT
# How an agent begins and ends: one line for a wrong command line, the promised exit status, no
# leftovers, no visible secrets, and no life after the process that started it.
set -u
work=$(mktemp -d)
agent=$CHOKEPOINT_BIN/chokepoint-agent
pin=sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA= # of no collector
started=
finish() {
    [ -z "$started" ] || kill -KILL $started 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
fail() { echo "FAILED: $*"; cat "$work/err" 2>/dev/null; exit 1; }
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/until_lib.sh" || exit 1
refused() { # ARGUMENTS...: exit 2 with one line on standard error
    "$agent" "$@" >"$work/out" 2>"$work/err"
    local status=$?
    [ $status = 2 ] || fail "'$*' exits with $status"
    [ "$(wc -l <"$work/err")" = 1 ] || fail "'$*' does not say one line"
}
gone() { ! kill -0 "$1" 2>/dev/null; }
children() { cat "/proc/$1/task/$1/children" 2>/dev/null; }
has_child() { [ -n "$(children "$1")" ]; }
has_frames() { [ "$(cat "$1"/*.spool 2>/dev/null | wc -c)" -gt 4000 ]; }

# ---- command lines ----
refused
refused --spool "$work/s"
refused --spool "$work/s" --collector host:1
refused --spool "$work/s" --collector ftp://host
refused --spool "$work/s" --collector "http://host:1" --pin "$pin"
refused --spool "$work/s" --collector https://host:1
refused --spool "$work/s" --collector https://host:1 --pin sha256//short
refused --spool "$work/s" --no-push --token-stdin </dev/null
refused --spool "$work/s" --no-push --rate 0
refused --spool "$work/s" --no-push --rate 5000
refused --spool "$work/s" --no-push --rate 1 --process-rate 2
refused --spool "$work/s" --no-push --spool-limit 5
refused --spool "$work/s" --no-push --samples 0
refused --spool "$work/s" --no-push --host $'a\nb'
refused --spool "$work/s" --no-push --scope galaxy
refused --spool "$work/s" --no-push --samples
refused --spool "$work/s" --no-push --frobnicate
refused --spool "$work/s" --no-push surplus
CHOKEPOINT_SCOPE=galaxy refused --spool "$work/s" --no-push
CHOKEPOINT_TOKEN='a b' refused --spool "$work/s" --no-push
[ ! -e "$work/s" ] || fail "a refused command line left a spool"
"$agent" --help | grep -q -- --spool || fail "no help"

# ---- a directory that cannot be ----
"$agent" --no-push --spool "$work/no/such" --samples 1 2>"$work/err"
[ $? = 1 ] || fail "a spool below nothing was accepted"
[ "$(wc -l <"$work/err")" = 1 ] || fail "not one line"

# ---- undelivered: exit 3, kept, said ----
"$agent" --collector https://127.0.0.1:9 --pin "$pin" --drain 0.2 --spool "$work/kept" --samples 3 2>"$work/err"
[ $? = 3 ] || fail "not 3 when nobody takes the samples"
grep -q "3 samples were not delivered.*kept in $work/kept/.*-\*.spool" "$work/err" || fail "where are they?"
[ "$("$CHOKEPOINT_BIN/frame-dump" "$work"/kept/*.spool | grep -c ^frame)" = 3 ] || fail "not kept"

# ---- secrets; a clean end on SIGTERM and SIGINT ----
for signal in TERM INT; do
    CHOKEPOINT_TOKEN=secretsecret CHOKEPOINT_RUN=runrunrun "$agent" --no-push --rate 50 --spool "$work/$signal" 2>"$work/err" &
    started=$!
    until_true has_frames "$work/$signal"
    for id in $started $(children $started); do
        grep -aq -e secretsecret -e runrunrun "/proc/$id/environ" && fail "secrets in /proc/$id/environ"
        grep -aq secretsecret "/proc/$id/cmdline" && fail "secrets in /proc/$id/cmdline"
    done
    kill -$signal $started
    wait $started || fail "exit $? after SIG$signal"
    started=
    # The last frame is taken between slots, and contains all tables.
    last=$("$CHOKEPOINT_BIN/frame-dump" "$work/$signal"/*.spool | sed -n 's/^frame seq=\([0-9]*\) .*/\1/p' | tail -n 1)
    "$CHOKEPOINT_BIN/frame-dump" "$work/$signal"/*.spool | grep -q "^row $last self \[agent\]" || fail "no last frame"
done

# ---- whoever started it is gone: so is the agent, both processes ----
(
    "$agent" --no-push --rate 50 --spool "$work/orphan" 2>/dev/null &
    echo $! >"$work/id"
    until [ -s "$work/go" ]; do sleep 0.05; done
) &
shell=$!
until_true test -s "$work/id"
started=$(cat "$work/id")
until_true has_frames "$work/orphan"
child=$(children "$started")
kill -KILL $shell
wait $shell 2>/dev/null
until_true gone "$started"
until_true gone "$child"
started=
"$CHOKEPOINT_BIN/frame-dump" "$work"/orphan/*.spool >/dev/null || fail "damaged by the end"

# ---- the supervisor is killed: the sampling process ends by itself, in order ----
"$agent" --no-push --rate 50 --spool "$work/headless" 2>/dev/null &
started=$!
until_true has_frames "$work/headless"
child=$(children $started)
kill -KILL $started
wait $started 2>/dev/null
started=$child
until_true gone "$child"
started=
"$CHOKEPOINT_BIN/frame-dump" "$work"/headless/*.spool >/dev/null || fail "damaged by the end"

echo "an agent's begin and end are as promised"
