#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that burns one core is limited by it; with a library of GPUs mapped it may only wait for one, so that its
# limit is not known. The library is planted and does nothing.
. "$(dirname "$0")/run_lib.sh" || exit 1
mkdir lib
cp "$CHOKEPOINT_BIN/libno-gpu.so" lib/libcuda.so.1
cp "$CHOKEPOINT_BIN/libno-gpu.so" lib/libplain.so.1
run --name with "$CHOKEPOINT_BIN/spin-with-gpu" "$work/lib/libcuda.so.1" 6
[ "$status" -eq 0 ] || fail "run: $status"
[ "$(sql "SELECT max(gpu) FROM process p JOIN instance i USING(instance) WHERE i.name LIKE 'spin-with-gpu%'")" = 1 ] ||
    fail "no library of GPUs is recorded"
said 'a GPU is in use, which this version does not see' || fail "with it: $(cat err)"
"$chokepoint" report with --db "$db" --format json >with.json || fail "no report"
claims with.json <<'END' || fail "the verdict blames: $(cat err)"
import json, sys
verdict = json.load(open(sys.argv[1]))["verdict"]
assert verdict["state"] == "insufficient", verdict
assert not verdict.get("resource") or verdict["resource"] == "none", verdict
END
run --name without "$CHOKEPOINT_BIN/spin-with-gpu" "$work/lib/libplain.so.1" 6
[ "$status" -eq 0 ] || fail "run: $status"
! said 'GPU' || fail "without it: $(cat err)"
[ "$(sql "SELECT max(gpu) FROM process p JOIN instance i USING(instance) JOIN host h ON h.host = i.host WHERE h.run = 2")" = 0 ] ||
    fail "a library of GPUs that is none"
exit 0
