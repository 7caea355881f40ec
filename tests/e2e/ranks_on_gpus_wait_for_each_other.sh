#!/bin/bash
# SPDX-License-Identifier: MIT
# Ranks that exchange data through NCCL, played, wait for each other: the one whose host gives its GPU work late is the straggler, and the
# one whose card a power limit holds down at equal work is the cause gpu-peer, whatever else competes for the machine.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
player=$CHOKEPOINT_BIN/nccl-player cuda=$CHOKEPOINT_BIN/gpu/libcuda.so.1
nvml=$(cd "$CHOKEPOINT_BIN/../tests/nvml-player" && pwd) || fail "no player"
unset NCCL_PROFILER_PLUGIN LD_PRELOAD
export NCCL_PLAYER_SLEEPS=1
cat >ranks <<'DONE'
player=$1 cuda=$2 steps=$3 meet=$4
shift 4
n=$#
for r in $(seq 0 $((n - 1))); do
    (echo "$BASHPID" >"pid$r"; RANK=$r WORLD_SIZE=$n LOCAL_RANK=$r exec "$player" 5 step "$PWD/$meet" "$cuda" "$steps" ${1/,/ }) &
    shift
done
wait
DONE
clocks='--wait-clocks --process-rate 10'
# shellcheck disable=SC2086
run --no-report $clocks -- bash ranks "$player" "$cuda" 150 late 3000,5000 40000,5000 3000,5000
[ "$status" -eq 0 ] || fail "run: $status"
[ "$(sql "SELECT count(*) FROM wait")" -gt 0 ] || { echo "SKIPPED: no wait clocks"; exit 77; }
"$chokepoint" report 1 --format json --db "$db" >late.json || fail "report"
sed "s,@,@$work/," "$CHOKEPOINT_SOURCE/tests/gpu/plays/capped.play" >capped.play
# shellcheck disable=SC2086
LD_LIBRARY_PATH=$nvml CHOKEPOINT_NVML_PLAY=$work/capped.play run --no-report $clocks -- bash ranks "$player" "$cuda" 150 capped 3000,30000 3000,50000
[ "$status" -eq 0 ] || fail "run: $status"
"$chokepoint" report 2 --format json --db "$db" >capped.json || fail "report"
claims late.json capped.json <<'DONE' || fail "see above"
import json, sys

late, capped = (json.load(open(name)) for name in sys.argv[1:])
stragglers = [row["rank"] for row in late["stragglers"]]
causes = [row["cause_kind"] for row in capped["ranking"]]
print("stragglers", stragglers, "causes", causes)
sys.exit(not (stragglers == [1] and "gpu-peer" in causes))
DONE
