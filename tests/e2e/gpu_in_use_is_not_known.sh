#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that burns one core is limited by it; with a GPU library mapped it may only be waiting for a GPU, so its
# limit is not known. The library is planted and does nothing.
. "$(dirname "$0")/run_lib.sh" || exit 1
mkdir lib
cp "$CHOKEPOINT_BIN/libno-gpu.so" lib/libcuda.so.1
cp "$CHOKEPOINT_BIN/libno-gpu.so" lib/libplain.so.1
run --name with "$CHOKEPOINT_BIN/spin-with-gpu" "$work/lib/libcuda.so.1" 6
[ "$status" -eq 0 ] || fail "run: $status"
[ "$(sql "SELECT max(gpu) FROM process p JOIN instance i USING(instance) WHERE i.name LIKE 'spin-with-gpu%'")" = 1 ] ||
    fail "no library of GPUs is recorded"
"$chokepoint" report with --db "$db" --format json >with.json || fail "no report"
# If other programs have the cores, it waits for those, with or without a GPU.
claims with.json <<'END' || fail "computing is blamed: $(cat err)"
import json, sys
verdict = json.load(open(sys.argv[1]))["verdict"]
others = verdict["cause_kind"] in ("contention", "steal", "quota")
unknown = verdict["state"] == "insufficient" and "a GPU is in use" in verdict["summary"]
assert others or unknown, verdict
END
run --name without "$CHOKEPOINT_BIN/spin-with-gpu" "$work/lib/libplain.so.1" 6
[ "$status" -eq 0 ] || fail "run: $status"
! said 'a GPU is in use' || fail "without it: $(cat err)"
[ "$(sql "SELECT max(gpu) FROM process p JOIN instance i USING(instance) JOIN host h ON h.host = i.host WHERE h.run = 2")" = 0 ] ||
    fail "a library of GPUs that is none"
exit 0
