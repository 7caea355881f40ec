#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that read outside data make only the calls that they need: a filter (seccomp) is on the collector, the page server
# and the programs that it starts, and import, in each of their threads; none of them can gain privileges by executing a
# program.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/serve_lib.sh" || exit 1
value() { awk -v name="$2:" '$1 == name { print $2 }' "$1" 2>/dev/null; }
readelf -d "$chokepoint" | grep -q libseccomp || { echo "built without libseccomp"; exit 77; }

# is_confined PID [FILTERS]: in each of its threads
is_confined() {
    local status
    for status in /proc/"$1"/task/*/status; do
        [ "$(value "$status" Seccomp)" = 2 ] && [ "$(value "$status" NoNewPrivs)" = 1 ] &&
            [ "$(value "$status" Seccomp_filters)" -ge "${2:-1}" ] || return 1
    done
}

mkfifo go
"$chokepoint" run $slow_start -q --no-report --db "$db" sh -c ': >started; read x <go' >out 2>err &
pid=$!
until_true test -e started
collector=$(pgrep -P $pid -f 'chokepoint collector') || fail "no collector"
is_confined "$collector" || fail "the collector is not: $(grep -H Seccomp: /proc/"$collector"/task/*/status)"

serve
is_confined "$server" || fail "the server is not: $(grep -H Seccomp: /proc/"$server"/task/*/status)"
curl -sSN "${url%/}/live/1/events" >events 2>/dev/null &
reader=$!
until_true test -s events
feed=$(pgrep -P "$server" -f 'chokepoint top') || fail "no program reads for the live view"
is_confined "$feed" 2 || fail "what reads for the live view has one filter: $(cat /proc/"$feed"/status)"
kill $reader
echo >go
wait $pid || fail "the run ended with $?"
expect 200 /run/1
if command -v gnuplot >/dev/null; then
    pictures() { grep -c '<svg' "$1"; }
    "$chokepoint" report 1 --format html --db "$db" >alone.html || fail "report"
    [ "$(pictures "$work/body")" = "$(pictures alone.html)" ] || fail "confined it draws $(pictures "$work/body") pictures, not $(pictures alone.html)"
fi
ends TERM

# Import blocks when it reports its end, since its output is not read.
"$CHOKEPOINT_BIN/chokepoint-agent" --no-push --spool "$work/spool" --samples 20 2>agent.err || fail "$(cat agent.err)"
mkfifo said.pipe
exec 7<>said.pipe
head -c 65536 /dev/zero >&7
"$chokepoint" import spool --db "$db" --run 1 >said.pipe 2>err &
pid=$!
waits_confined() { ! kill -0 $pid 2>/dev/null || is_confined $pid; }
until_true waits_confined
is_confined $pid || fail "import is not: $(cat /proc/$pid/status 2>/dev/null || cat err)"
cat <&7 >imported &
reader=$!
wait $pid || fail "import: $(cat err)"
until_true grep -aq 'run 1: 20 samples' imported
kill $reader
echo "confined: collector, serve and its programs, import"
