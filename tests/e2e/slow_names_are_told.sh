#!/bin/bash
# SPDX-License-Identifier: MIT
# A program resolves a name through libc before each of its steps. If answers take 200 ms, the verdict says that it waits
# for look-ups, not that it sleeps. If they come at once, names are not mentioned.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
need_testbed 1
cat >server.py <<'END_OF_PROGRAM'
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 53))
open("ready", "w").close()
while True:
    question, whom = s.recvfrom(512)
    time.sleep(float(sys.argv[1]))
    end = 12
    while question[end]:
        end += question[end] + 1
    end += 5
    answer = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x09\x08\x07"
    s.sendto(question[:2] + b"\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00" + question[12:end] + answer, whom)
END_OF_PROGRAM
cat >asks.py <<'END_OF_PROGRAM'
import socket, time
until = time.monotonic() + 8
while time.monotonic() < until:
    assert socket.getaddrinfo("db.example.test", 80, socket.AF_INET)[0][4][0] == "10.9.8.7"
    step = time.thread_time() + .02
    while time.thread_time() < step:
        pass
END_OF_PROGRAM
echo "nameserver 127.0.0.1" >resolv.conf
python=$(python3 -c 'import sys; print(sys.executable)') # not a script that would start it
cat >start.sh <<END_OF_SCRIPT
#!/bin/sh
exec unshare -m sh -c 'mount --bind "$work/resolv.conf" /etc/resolv.conf && exec "$python" "$work/asks.py"'
END_OF_SCRIPT
chmod +x start.sh
record() { # SECONDS NAME
    rm -f ready
    "$chokepoint" testbed --name "$name" exec vm1 -- env -i "$python" "$work/server.py" "$1" &
    until_true test -e ready
    run_inside --process-rate 5 --wait-clocks -- ./start.sh
    kill %%
    wait %%
    [ $status -eq 0 ] || fail "$2: $status"
    if [ "$(sql "SELECT count(*) FROM sqlite_master WHERE name = 'wait'")" = 0 ]; then
        echo "SKIPPED: no wait clocks here"
        exit 77
    fi
    "$chokepoint" report --db "$db" --format json >"$work/$2.json" || fail "$2: no report"
    "$chokepoint" report --db "$db" >"$work/$2.txt" || fail "$2: no report"
}
[ -f /etc/resolv.conf ] || { echo "SKIPPED: no /etc/resolv.conf to mount over"; exit 77; }
record .2 slow
waited=$(sql "SELECT sum(process_wait_ns) / 1000000 FROM wakeup WHERE reason = 18")
[ "${waited:-0}" -gt 4000 ] || fail "of 8 s it waited $waited ms for names"
record 0 fast
claims "$work/slow.json" "$work/fast.json" <<'END_OF_CHECK' || fail "$(cat "$work/slow.txt" "$work/fast.txt")"
import json, sys
from claims import done, hold
slow, fast = (json.load(open(path))["verdict"] for path in sys.argv[1:])
hold("look-ups are the limit", (slow["resource"], slow["cause_kind"]) == ("application", "names"), (slow["resource"], slow["cause_kind"]))
hold("they are said to be", "name look-ups" in slow["summary"], slow["summary"])
gain = slow["gain_pct"]["estimate"] or 0
hold("most would be gained", gain > 60, gain)
hold("the advice names the list of servers", any("resolv.conf" in line for line in slow["next"]), slow["next"])
hold("quick answers are no limit", fast["cause_kind"] != "names", (fast["resource"], fast["cause_kind"]))
done()
END_OF_CHECK
