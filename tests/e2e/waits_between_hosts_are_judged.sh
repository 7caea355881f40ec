#!/bin/bash
# SPDX-License-Identifier: MIT
# A client asks a server on its host, which asks another host's server, which sleeps before it answers. Without MPI the verdict
# names the sleeper, three processes away from the client's wait, and the report shows who waited for whom. If the last one
# computes instead, no sleep is reported. Sleep and computing are long compared with what other tests on this machine can take
# away.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
need_testbed 2
cat >chain.py <<'END_OF_PROGRAM'
import os, socket, sys, time
role, port = sys.argv[1], int(sys.argv[2])
def connected(address):
    while True:
        try:
            return socket.create_connection(address)
        except OSError:
            time.sleep(.02)
def compute(s):
    until = time.thread_time() + s
    while time.thread_time() < until:
        pass
if role == "client":
    server, until = connected(("127.0.0.1", port)), time.monotonic() + 8
    while time.monotonic() < until:
        server.sendall(b"x")
        server.recv(1)
        compute(.003)
    sys.exit()
listener = socket.create_server(("0.0.0.0", port))
behind = connected((sys.argv[3], int(sys.argv[4]))) if role == "front" else None
client, _ = listener.accept()
while client.recv(1):
    if behind:
        behind.sendall(b"x")
        behind.recv(1)
        compute(.003)
    elif sys.argv[3] == "sleep":
        time.sleep(.2)
    else:
        compute(.2)
    client.sendall(b"x")
END_OF_PROGRAM
address=$(inside getent hosts vm2 | cut -d' ' -f1)
[ -n "$address" ] || address=$("$chokepoint" testbed --name "$name" exec vm2 -- hostname -I | tr ' ' '\n' | grep -v '^127' | head -n 1)
python=$(command -v python3)
cat >start.sh <<END_OF_SCRIPT
#!/bin/sh
"$chokepoint" testbed --name "$name" exec vm2 -- "$python" "$work/chain.py" back 7502 \$1 &
"$chokepoint" testbed --name "$name" exec vm1 -- "$python" "$work/chain.py" front 7501 $address 7502 &
"$chokepoint" testbed --name "$name" exec vm1 -- "$python" "$work/chain.py" client 7501
wait
END_OF_SCRIPT
chmod +x start.sh
record() { # HOW: run.json
    inside "$chokepoint" run $slow_start --db "$db" --hosts vm1,vm2 --process-rate 5 --wait-clocks -- ./start.sh "$1" >"$work/out" 2>"$work/err" ||
        fail "$1: $?"
    if [ "$(sql "SELECT count(*) FROM sqlite_master WHERE name = 'wait'")" = 0 ]; then
        echo "SKIPPED: no wait clocks here"
        exit 77
    fi
    "$chokepoint" report --db "$db" --format json >"$work/$1.json" || fail "$1: no report"
}
record sleep
record compute
# both hosts are one kernel: a process has its rows on the host it is on, except for its first moments
twice=$(sql "SELECT pid, min(n), max(n) FROM (SELECT pid, host, count(*) AS n FROM wait_rate WHERE pid IS NOT NULL GROUP BY run, pid, host) GROUP BY pid HAVING count(*) > 1 AND 4 * min(n) > max(n) AND max(n) > 20")
[ -z "$twice" ] || fail "told by two hosts: $twice"
# each tried to connect before its server listened: sockets without their own port
[ "$(sql "SELECT sum(dropped_rows) FROM stream")" = 0 ] || fail "$(sql "SELECT sum(dropped_rows) FROM stream") rows could not be stored"
claims "$work/sleep.json" "$work/compute.json" <<'END_OF_CHECK' || fail "see above"
import json, sys
from claims import done, hold
sleep, compute = (json.load(open(path)) for path in sys.argv[1:])
v = sleep["verdict"]
hold("the sleeper's host is the limit", v["host"] == "vm2", v["host"])
hold("it sleeps", (v["resource"], v["cause_kind"]) == ("application", "sleep"), (v["resource"], v["cause_kind"]))
gain = v["gain_pct"]["estimate"] or 0
hold("most would be gained", gain > 50, gain)
pairs = {(w["host"], w["whom_host"]): w["share_pct"] for w in sleep["waits"] if w["what"] == "message"}
hold("the front waited for the sleeper", pairs.get(("vm1", "vm2"), 0) > 60, pairs)
hold("the client waited for the front", any(w["host"] == w["whom_host"] == "vm1" and w["share_pct"] > 60 for w in sleep["waits"]), pairs)
path = {(p["host"], p["term"]): p["share_pct"] for p in sleep["critical_path"] if p["phase"] == "all"}
hold("the path is in the sleep", path.get(("vm2", "idle"), 0) > 60, path)
hold("it follows waits", {p["source"] for p in sleep["critical_path"]} == {"waits"}, "")
v = compute["verdict"]
hold("a server that computes does not sleep", v["cause_kind"] != "sleep", (v["host"], v["resource"], v["cause_kind"]))
path = {(p["host"], p["term"]): p["share_pct"] for p in compute["critical_path"] if p["phase"] == "all"}
# its two hosts may share their cores with other programs of this machine
hold("its computing is on the path", path.get(("vm2", "cpu"), 0) + path.get(("vm2", "runqueue"), 0) > 50, path)
done()
END_OF_CHECK
