#!/bin/bash
# SPDX-License-Identifier: MIT
# clock_error.sh [SECONDS=20]: the error of the clocks of four emulated hosts against planted offsets of 5 s and drifts of
# 100 millionths, and the claimed bounds: idle, with the collector host's link full in either direction, with busy cores.
# Figure: error below 0.2 ms, every sample within its bound.
set -u
seconds=${1:-20}
export CHOKEPOINT_SOURCE=${CHOKEPOINT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
library=${CHOKEPOINT_BIN:?the directory of the binaries}/clockdrift.so
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/clock_lib.sh" || exit 1
need_testbed 4
clock_plants vm2:5:100 vm3:-5:-100 vm4:5:-100
cat >flood.py <<'END'
import os, socket, sys, time
if sys.argv[1] == "take":
    s = socket.create_server(("", 5999))
    open(sys.argv[2], "w").close()
    c, _ = s.accept()
    while c.recv(1 << 20):
        pass
else:
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.01)
    s, end = socket.create_connection((sys.argv[3], 5999)), time.time() + float(sys.argv[4])
    while time.time() < end:
        s.sendall(b"x" * (1 << 18))
END
flood() { # FROM TO
    printf '"%s" testbed --name %s ssh %s "cd %s && python3 flood.py take ready-%s" &\n' "$chokepoint" "$name" "$2" "$work" "$1$2"
    printf '"%s" testbed --name %s ssh %s "cd %s && python3 flood.py give ready-%s %s %s" &\n' "$chokepoint" "$name" "$1" "$work" "$1$2" "$2" "$seconds"
}
echo "sleep $seconds" >idle
{ flood vm1 vm2; echo wait; } >sending
{ flood vm2 vm1; echo wait; } >receiving
echo "for i in 1 2 3 4; do timeout $seconds sh -c 'while :; do :; done' & done; wait" >computing
for load in idle sending receiving computing; do
    rm -f ready-*
    db=$work/$load.db
    echo "== $load"
    run_planted vm1,vm2,vm3,vm4 sh "$load" || fail "$load: exit status $?"
    judge_clocks "$db" || fail "see above"
done
