#!/bin/bash
# SPDX-License-Identifier: MIT
# Two hosts with two interfaces each, which lead to each other: data go over the slower one, while the faster one is idle. The
# verdict names both with their rates, and the advice how to change that. If data go over the faster one, neither is said.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
need_testbed 2 --rate 40mbit
ip link add eth1 netns "$name-vm1" type veth peer name eth1 netns "$name-vm2" || { echo "SKIPPED: no second interface"; exit 77; }
for host in 1 2; do
    ip -n "$name-vm$host" addr add "10.99.7.$host/24" dev eth1 || fail "no address"
    ip -n "$name-vm$host" link set eth1 up || fail "eth1 is down"
    ip netns exec "$name-vm$host" tc qdisc add dev eth1 root tbf rate 400mbit burst 100k limit 1m || fail "eth1 is not shaped"
done
cat >send.py <<'END_OF_PROGRAM'
import socket, sys, time
role, address = sys.argv[1:3]
MESSAGE = 1 << 18
def receive(s, n):
    while n > 0:
        data = s.recv(min(n, 1 << 16))
        if not data:
            sys.exit()
        n -= len(data)
if role == "server":
    s, _ = socket.create_server((address, 7511)).accept()
    while True:
        receive(s, MESSAGE)
        s.sendall(b"x")
while True:
    try:
        s = socket.create_connection((address, 7511))
        break
    except OSError:
        time.sleep(.02)
until = time.monotonic() + 8
while time.monotonic() < until:
    s.sendall(bytes(MESSAGE))
    receive(s, 1)
END_OF_PROGRAM
python=$(command -v python3)
cat >start.sh <<END_OF_SCRIPT
#!/bin/sh
"$chokepoint" testbed --name "$name" exec vm2 -- "$python" "$work/send.py" server \$1 &
"$chokepoint" testbed --name "$name" exec vm1 -- "$python" "$work/send.py" client \$1
wait
END_OF_SCRIPT
chmod +x start.sh
record() { # ADDRESS NAME
    run_inside --hosts vm1,vm2 --process-rate 5 -- ./start.sh "$1"
    [ $status -eq 0 ] || fail "$2: $status"
    "$chokepoint" report --db "$db" --format json >"$work/$2.json" || fail "$2: no report"
    "$chokepoint" report --db "$db" >"$work/$2.txt" || fail "$2: no report"
}
record "$(inside getent hosts vm2 | cut -d' ' -f1)" slow
record 10.99.7.2 fast
[ "$(sql "SELECT count(DISTINCT network) FROM net WHERE network IS NOT NULL")" = 2 ] || fail "networks: $(sql "SELECT DISTINCT host, instance, network FROM net")"
claims "$work/slow.json" "$work/fast.json" <<'END_OF_CHECK' || fail "$(cat "$work/slow.txt" "$work/fast.txt")"
import json, sys
from claims import done, hold
slow, fast = (json.load(open(path))["verdict"] for path in sys.argv[1:])
hold("the sender's network is the limit", (slow["host"], slow["resource"]) == ("vm1", "net-egress"), (slow["host"], slow["resource"]))
hold("by its interface", slow["cause_kind"] == "wrong-interface", slow["cause_kind"])
hold("both are named", all(name in slow["cause"] for name in ("eth0 sends", "of 40 Mbit/s", "eth1", "400")), slow["cause"])
hold("the advice says how, without words of MPI", any("traffic go over eth1" in line and "btl_tcp" not in line for line in slow["next"]), slow["next"])
hold("the faster one is no wrong one", fast["cause_kind"] != "wrong-interface", fast["cause_kind"])
done()
END_OF_CHECK
