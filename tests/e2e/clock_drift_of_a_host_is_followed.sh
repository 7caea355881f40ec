#!/bin/bash
# SPDX-License-Identifier: MIT
# Clocks of three hosts are 5 s ahead or behind and gain or lose 100 millionths. At every sample the
# stored line is within its stored bound and within 0.2 ms of the planted clock, and the report
# shows the drift.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
library=$CHOKEPOINT_BIN/clockdrift.so
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/clock_lib.sh" || exit 1
need_testbed 4
clock_plants vm2:5:100 vm3:-5:-100 vm4:-5:100
mkfifo go
run_planted vm1,vm2,vm3,vm4 sh -c 'read x <go' &
pid=$!
# Each host needs ten exchanges, and two so good and so far apart that no line through both is off by more than 15
# millionths.
exchanges() {
    [ "$(sql "SELECT count(*) FROM host h WHERE (SELECT count(*) FROM clock c WHERE c.host = h.host) >= 10 AND EXISTS (
              SELECT 1 FROM clock a JOIN clock b USING (host) WHERE a.host = h.host AND
              a.error_ns + b.error_ns < min(150000, 15e-6 * (b.mono_ns - a.mono_ns)))" 2>/dev/null)" = 4 ]
}
until_true test -e "$db"
until_true exchanges
echo >go
wait $pid || fail "exit status $?"
judge_clocks "$db" || fail "see above"
"$chokepoint" report --db "$db" --format json -o report.json || fail "no report"
python3 - <<'END' || fail "see above"
import json
detail = {h["name"]: h for h in json.load(open("report.json"))["run"]["host_details"]}
for name, ppm, offset in ("vm1", 0, 0), ("vm2", -100, -5), ("vm3", 100, 5), ("vm4", -100, 5):
    h = detail[name]
    assert abs(h["clock_drift_ppm"] - ppm) < 20, (name, h)
    assert abs(h["clock_offset_s"] - offset) < 0.1, (name, h)
    assert 0 < h["clock_error_s"] < 0.02, (name, h)
END
[ "$(sql "SELECT count(*) FROM run_note WHERE text LIKE '%jumped%'")" = 0 ] || fail "a clock that only drifts is said to jump"
