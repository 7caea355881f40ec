#!/bin/bash
# SPDX-License-Identifier: MIT
# A server in its own network namespace, as in a container, and one with the same name in another: `--job port=` finds
# both by their port there, and no server on another port. Their waits are clocked like others.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
unshare -n true 2>/dev/null || { echo "SKIPPED: no network namespaces here"; exit 77; }
cat >server.py <<'END'
import socket, sys, time
s = socket.create_server(("0.0.0.0", int(sys.argv[1])))
open(sys.argv[2], "w").close()
while True:
    sum(range(100000))
    time.sleep(0.01)
END
python=$(python3 -c 'import sys; print(sys.executable)') # not a script that would start it
servers=
serve() { # PORT NAME: its id in $!
    env -i unshare -n "$python" "$work/server.py" "$1" "$work/$2" &
    servers="$servers $!"
    until_true test -e "$work/$2"
}
serve 7431 one; one=$!
serve 7431 two; two=$!
serve 7432 three
"$chokepoint" attach $slow_start --db "$db" --process-rate 5 --job port=7431 --duration 3s --wait-clocks >"$work/out" 2>"$work/err" ||
    fail "attach: $?"
found=$(sql "SELECT DISTINCT pid FROM process_rate WHERE job = 1 ORDER BY pid" | tr '\n' ' ')
[ "$found" = "$(printf '%s\n' "$one" "$two" | sort -n | tr '\n' ' ')" ] || fail "found $found, not $one $two"
[ "$(sql "SELECT count(*) FROM sqlite_master WHERE name = 'wait'")" = 0 ] && { echo "no wait clocks here"; exit 0; }
slept=$(sql "SELECT count(*) FROM (SELECT pid FROM wait GROUP BY pid HAVING sum(timer_ns) > 500000000)")
[ "$slept" = 2 ] || fail "$slept of 2 servers were clocked"
