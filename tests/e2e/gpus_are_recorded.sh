#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# GPUs come into a recording by a library of ours in the place of NVIDIA's: figures, facts and processes, and what the
# driver does not tell is NULL. Without a driver there is no table and no word about it. `doctor` tells what is seen.
. "${BASH_SOURCE[0]%/*}/run_lib.sh" || exit 1
player=$(cd "$CHOKEPOINT_BIN/../tests/nvml-player" && pwd) || fail "no player"
plays=$CHOKEPOINT_SOURCE/tests/gpu/plays
with_gpu() { # PLAY COMMAND...
    LD_LIBRARY_PATH=$player CHOKEPOINT_NVML_PLAY=$plays/$1 "${@:2}"
}
expect() { # WORDS SQL WANTED
    local got
    got=$(sql "$2") || fail "$1: $got"
    [ "$got" = "$3" ] || fail "$1: '$got' instead of '$3'"
}

with_gpu eight.play "$chokepoint" run $slow_start --db "$db" -n eight -- sleep 4 >out 2>err || fail "run"
expect "cards" "SELECT count(DISTINCT gpu) FROM gpu_rate" 8
# The driver is read before a frame, and each time a little earlier or later on a busy machine: sums are compared.
expect "units" "SELECT count(*) FROM (SELECT sum(busy_ns) AS busy, sum(sm_ns) AS sm, sum(tensor_ns) AS tensor,
    sum(nvlink_send_bytes) AS bytes FROM gpu WHERE sm_ns IS NOT NULL GROUP BY instance)
    WHERE abs(tensor * 90.0 / sm / 50 - 1) < .001 AND abs(bytes * .9 / sm / 20.97152 - 1) < .001
    AND abs(busy * .9 / sm - 1) < .2" 8
expect "the slow card" "SELECT max(sm_clock_hz) FROM gpu_rate WHERE gpu = 'gpu3'" 1200000000
expect "errors" "SELECT max(last_xid) FROM gpu_rate WHERE gpu = 'gpu5'" 94
expect "facts" "SELECT count(*) FROM gpu_device WHERE watts_limit_nano = 700000000000 AND nvlinks = 18" 8
expect "processes" "SELECT count(DISTINCT process) FROM gpu_process_rate" 3
expect "memory" "SELECT max(memory_bytes) FROM gpu_process_rate WHERE process LIKE 'gpu0 %[1]'" 3000000000
expect "cost" "SELECT sum(cpu_pct) > 0 FROM self_rate WHERE probe = 'gpu'" 1

with_gpu virtual.play "$chokepoint" run $slow_start --db "$db" -n virtual -- sleep 3 >out 2>err || fail "run"
of="FROM gpu_rate WHERE run = 2"
expect "what is refused" "SELECT count(watts), count(sm_pct), count(nvlink_send_bytes_per_s), count(busy_pct) > 0 $of" "0|0|0|1"

"$chokepoint" run $slow_start --db "$work/none.db" -- sleep 2 >out 2>err || fail "run"
db=$work/none.db
[ -e /dev/nvidiactl ] || [ -e /sys/class/drm/card0 ] ||
    expect "no driver, no word" "SELECT count(*) FROM run_note WHERE text LIKE '%gpu%'" 0

with_gpu mig.play "$chokepoint" doctor -v >out 2>err
grep -q 'gpu0/mig1 NVIDIA H100' out || fail "doctor names no instance"
grep -q 'nvmlDeviceGetNvLinkState 3 (not supported)' out || fail "doctor does not tell how calls were answered"
