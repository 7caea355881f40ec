#!/bin/bash
# SPDX-License-Identifier: MIT
# `chokepoint attach` records running processes: chosen by id, by the port they listen on, or by user; for a time, or
# until Ctrl-C, which is a normal end. Nothing else belongs to the job. Wrong words get one line and status 2.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
attach() {
    "$chokepoint" attach $slow_start --db "$db" --process-rate 5 "$@" >"$work/out" 2>"$work/err"
    status=$?
}
members() { # RUN: programs in its job
    sql "SELECT DISTINCT substr(process, 1, instr(process, '[') - 1) FROM process_rate WHERE run = $1 AND job = 1 ORDER BY 1" |
        tr '\n' ' '
}
ids() { sql "SELECT DISTINCT pid FROM process_rate WHERE run = $1 AND job = 1 ORDER BY pid" | tr '\n' ' '; }
last_run() { sql "SELECT max(run) FROM run"; }

# A server with a child, which wiped its title and environment long ago.
cat >server.py <<'END'
import ctypes, os, socket, sys, time
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
if os.fork() == 0:
    os.setsid()
    while os.getppid() == int(sys.argv[1] or 0) or True:
        sum(range(100000))
        time.sleep(0.01)
print(s.getsockname()[1], os.getpid(), flush=True)
while True:
    sum(range(100000))
    time.sleep(0.01)
END
: >address
setsid env -i "$(command -v python3)" server.py 0 >address &
started() { [ "$(wc -w <address)" -eq 2 ]; }
until_true started
read -r port server <address
child=$(pgrep -P "$server")
stop() {
    local status=$?
    kill "$server" "$child" 2>/dev/null
    (exit $status)
    leave
}
trap stop EXIT

attach --job "pid=$server" --duration 2s
[ $status -eq 0 ] || fail "pid: $status"
[ "$(ids 1)" = "$(printf '%s\n' "$server" "$child" | sort -n | tr '\n' ' ')" ] || fail "pid: $(ids 1), not $server $child"
[ "$(state_of 1)" = done ] || fail "state $(state_of 1)"
said "recording 1 host" || fail "nothing is said"
[ "$(sql 'SELECT name FROM run WHERE run = 1')" = "pid=$server" ] || fail "name"

# --- until Ctrl-C
env --default-signal=INT "$chokepoint" attach $slow_start --db "$db" --process-rate 5 --job "$(hostname):port=$port" -n port >"$work/out" 2>"$work/err" &
watcher=$!
has_rows() { [ "$(sql "SELECT count(*) FROM process_rate WHERE run = 2 AND job = 1")" -gt 4 ]; }
until_true has_rows
kill -INT $watcher
wait $watcher
[ $? -eq 0 ] || fail "Ctrl-C"
[ "$(state_of 2)" = done ] || fail "Ctrl-C: state $(state_of 2)"
[ "$(ids 2)" = "$(ids 1)" ] || fail "port: $(ids 2)"

# --- no process
attach --job pid=999999999
[ $status -eq 2 ] || fail "nobody: $status"
grep -q "nothing was recorded: no process matched --job pid=999999999" "$work/err" || fail "nobody is there, and that is not said"
[ "$(state_of "$(last_run)")" = not-started ] || fail "nobody: state $(state_of "$(last_run)")"
attach --job unit=no-such-unit --duration 0.5s # is over before the processes were scanned often
[ $status -eq 2 ] && grep -q "no process matched --job unit=no-such-unit" "$work/err" || fail "no unit: $status"
attach --job pid=999999999 --duration 2s
grep -q "names a process that is not on this host: 999999999" "$work/err" || fail "the agent says nothing"

# --- run: a service that it uses
run --process-rate 5 --job "pid=$server" -- sleep 2
[ $status -eq 0 ] || fail "run: $status"
[[ " $(ids "$(last_run)") " == *" $server $child "* ]] || fail "run: $(ids "$(last_run)")"
members "$(last_run)" | grep -q sleep || fail "the command is not the job: $(members "$(last_run)")"

# --- wrong words
refused() {
    attach "$@"
    [ $status -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] || fail "$*: status $status"
}
before=$(last_run)
refused
refused --job port=0
refused --job nothing
refused --job :port=5
refused --job "no-such-host:pid=5"
refused --job pid=5 --duration 0
refused --job pid=5 --duration soon
refused --job pid=5 make
refused --job $'unit=a\nb'
[ "$(last_run)" = "$before" ] || fail "a refused run is recorded"
