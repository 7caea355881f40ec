#!/bin/bash
# SPDX-License-Identifier: MIT
# Bytes of a known transfer over the testbed in T1, beside the kernel's interface counters read in
# the same run: at most 1 % apart. Usage: transfer_bytes.sh [BIN]; BYTES in the environment.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: transfer_bytes.sh BIN}}
bytes=${BYTES:-1000000000}
work=$(mktemp -d)
testbed() { "$bin/chokepoint" testbed --name "bytes$$" "$@"; }
finish() { testbed down >/dev/null 2>&1; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; cat "$work/said" 2>/dev/null; exit 1; }

command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
testbed up 2 >"$work/said" 2>&1 || { [ $? -eq 3 ] && { cat "$work/said"; exit 77; }; fail "no testbed"; }

cat >"$work/receive.py" <<'PY'
import socket, sys
server = socket.create_server(("", 0))
with open(sys.argv[1], "w") as port:
    port.write("%d\n" % server.getsockname()[1])
peer = server.accept()[0]
while peer.recv(1 << 20):
    pass
PY
cat >"$work/send.py" <<'PY'
import socket, sys
def counters():
    return [int(open("/sys/class/net/eth0/statistics/%s_bytes" % way).read()) for way in ("tx", "rx")]
host, port, left = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
before = counters()
with socket.create_connection((host, port)) as s:
    block = bytes(1 << 20)
    while left > 0:
        left -= s.send(block[:min(left, 1 << 20)])
    s.shutdown(socket.SHUT_WR)
    s.recv(1)
after = counters()
print(after[0] - before[0], after[1] - before[1])
PY
mkfifo "$work/port"
testbed exec vm2 -- python3 "$work/receive.py" "$work/port" &
read -r port <"$work/port"
address=$(testbed exec vm2 -- ip -4 -o addr show eth0 | sed -n 's/.* inet \([0-9.]*\).*/\1/p')
testbed exec vm1 -- "$bin/chokepoint" run --db "$work/runs.db" -n transfer -- \
    python3 "$work/send.py" "$address" "$port" "$bytes" >"$work/counted" 2>"$work/said" || fail "run"
wait

"$bin/chokepoint" report --db "$work/runs.db" --format csv -o "$work/report.csv" || fail "report"
seconds=$(sqlite3 "file:$work/runs.db?mode=ro" "SELECT (ended_mono_ns - started_mono_ns) / 1e9 FROM run")
rate=$(awk -F, '$3 == "\"all\"" && $4 == "net_send" { print $6 }' "$work/report.csv")
awk -v asked="$bytes" -v rate="$rate" -v s="$seconds" '{
    said = rate * s * 1e6
    printf "asked for %.2f MB; kernel counted %.2f MB sent; T1: %.3f MB/s x %.3f s = %.2f MB (%+.3f %%, at most 1 %%)\n", asked / 1e6, $1 / 1e6, rate, s, said / 1e6, 100 * (said / $1 - 1)
    exit said > 1.01 * $1 || said < 0.99 * $1 || $1 < asked
}' "$work/counted" || fail "T1 and the interface disagree"
