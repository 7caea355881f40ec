#!/bin/bash
# SPDX-License-Identifier: MIT
# On emulated hosts: a group and a session of one host, and a port of the other, each applied only to its host. A host
# without processes of the job is named in the five lines.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
need_testbed 2
cat >server.py <<'END'
import socket, sys, time
s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(("0.0.0.0", 7411))
s.listen()
while True:
    sum(range(100000))
    time.sleep(0.01)
END
at() { # HOST COMMAND...: in the background, in a new session, with an empty environment
    "$chokepoint" testbed --name "$name" exec "$1" -- setsid env -i "${@:2}" &
}
at vm1 "$(command -v python3)" "$work/server.py"
at vm2 "$(command -v python3)" "$work/server.py"
has_server() { pgrep -f "$work/server.py" | grep -qxFf <(processes_of "$1"); }
until_true has_server vm1
until_true has_server vm2
server_of() { pgrep -f "$work/server.py" | grep -xFf <(processes_of "$1") | sort -n | tail -1; }
on() { # HOST: ids of its processes in the job of the last run
    sql "SELECT DISTINCT pid FROM process_rate WHERE run = (SELECT max(run) FROM run) AND job = 1 AND host = '$1' ORDER BY pid" |
        tr '\n' ' '
}
attach() {
    inside "$chokepoint" attach $slow_start --db "$db" --hosts vm1,vm2 --process-rate 5 --duration 4s "$@" >"$work/out" 2>"$work/err"
    status=$?
}

attach --job vm2:port=7411
[ $status -eq 0 ] || fail "port: $status"
[[ " $(on vm2) " == *" $(server_of vm2) "* ]] || fail "vm2's server is not the job: $(on vm2)"
[ -z "$(on vm1)" ] || fail "vm1: $(on vm1)"
said "vm1: no process of the job was seen" || fail "vm1's absence is not said"

group=$(sed -n 's/^[0-9]*:[^:]*:\(.*testbed.vm1.*\)/\1/p' "/proc/$(server_of vm1)/cgroup" | head -n 1)
[ -n "$group" ] || fail "no group"
attach --job "cgroup=$group" --job "vm2:session=$(ps -o sid= -p "$(server_of vm2)" | tr -d ' ')"
[ $status -eq 0 ] || fail "group: $status"
[[ " $(on vm1) " == *" $(server_of vm1) "* ]] || fail "vm1's server is not the job: $(on vm1)"
[[ " $(on vm2) " == *" $(server_of vm2) "* ]] || fail "vm2's server is not the job by its session: $(on vm2)"
said "no process of the job" && fail "an absence that is none"

attach --job vm3:port=1
[ $status -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] || fail "vm3: $status"
