#!/bin/bash
# SPDX-License-Identifier: MIT
# The trace of five ranks beside its goal, 10 MB a minute, and as much for a shorter run: logistic regression, synchronous and asynchronous (whose server polls
# for messages), on five emulated hosts with links of 1.8 Gbit/s. check_trace.py holds each trace to the viewer's rules.
#     tests/bench/perfetto_size.sh BIN_DIR [SYNC_ITERATIONS] [ASYNC_ITERATIONS]       needs root
set -u
bin=${1:?say where the programs are: perfetto_size.sh BIN_DIR [SYNC_ITERATIONS] [ASYNC_ITERATIONS]}
export CHOKEPOINT_BIN=$bin CHOKEPOINT_SOURCE=${CHOKEPOINT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$CHOKEPOINT_SOURCE/tests/e2e/run_lib.sh"
need_testbed 5
hostfile=$(inside printenv CHOKEPOINT_HOSTFILE)
"$bin/chokepoint-sgd" generate --features 500000 --examples 50000 --files 5 --seed 1 --out data >out || fail "no data"
echo "| what | run | trace | a minute, or the shorter run | goal | slices, as check_trace.py counts |"
echo "|---|--:|--:|--:|--:|---|"
for mode in "sync dense ${2:-900}" "async sparse ${3:-6000}"; do
    read -r way transfer iterations <<<"$mode"
    inside "$chokepoint" run $slow_start -q --no-report --db "$db" -n "$way" mpirun --hostfile "$hostfile" -np 5 "$bin/chokepoint-sgd" \
        --mode "$way" --transfer "$transfer" --features 500000 --data data --batch 500 --iterations "$iterations" --quiet 2>err ||
        fail "$way: $(tail -1 err)"
    "$chokepoint" export last --db "$db" --format perfetto -o trace.json || fail "no trace"
    counts=$(python3 "$CHOKEPOINT_SOURCE/tests/tools/check_trace.py" trace.json) || fail "$counts"
    seconds=$(sql "SELECT (ended_mono_ns - started_mono_ns) / 1e9 FROM run ORDER BY run DESC LIMIT 1")
    awk -v what="$way $transfer" -v s="$seconds" -v size="$(stat -c %s trace.json)" -v counts="$counts" 'BEGIN {
        printf "| %s | %.1f s | %.1f MB | %.1f MB | 10 MB | %s |\n", what, s, size / 1e6, size / 1e6 / (s > 60 ? s / 60 : 1), counts }'
done
