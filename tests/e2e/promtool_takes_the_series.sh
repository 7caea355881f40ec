#!/bin/bash
# SPDX-License-Identifier: MIT
# `promtool tsdb create-blocks-from openmetrics` accepts an export, and its blocks give the means and sums of the
# database.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
promtool=${PROMTOOL:-promtool}
command -v "$promtool" >/dev/null || { echo "skipped: no promtool here (package prometheus)"; exit 77; }

run -q sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; sleep 1.5'
[ $status -eq 0 ] || fail "no recording"
"$chokepoint" export --db "$db" --format openmetrics >metrics || fail "export"
python3 "$CHOKEPOINT_SOURCE/tests/tools/check_openmetrics.py" metrics >out || fail "$(cat out)"
"$promtool" tsdb create-blocks-from openmetrics metrics blocks >out 2>&1 || fail "promtool refuses it"
mkdir -p blocks/wal # which exists in a database that was served
"$promtool" tsdb dump blocks >dump 2>err || fail "promtool reads nothing back"
series() { grep -F "__name__=\"$1\"" dump | grep -- "${2:-}"; } # {labels} value time

mean() { series "$1" | awk '{ sum += $(NF - 1); n++ } END { printf "%.6g", sum / n }'; }
plan=$(sql "SELECT printf('%.6g', avg(available_bytes)) FROM memory")
[ "$(mean chokepoint_memory_available_bytes)" = "$plan" ] || fail "memory: $(mean chokepoint_memory_available_bytes) for $plan"
[ "$(series chokepoint_memory_available_bytes | wc -l)" = "$(sql 'SELECT count(*) FROM memory')" ] || fail "not a sample each row"
grown=$(series chokepoint_cpu_user_seconds_total 'core="cpu0"' | awk 'NR == 1 { first = $(NF - 1) } { last = $(NF - 1) } END { printf "%.3f", last - first }')
plan=$(sql "SELECT printf('%.3f', sum(user_ns) / 1e9) FROM cpu JOIN instance USING (instance) WHERE name = 'cpu0'")
[ "$grown" = "$plan" ] || fail "CPU time: $grown for $plan"
[ "$(series chokepoint_run_info | wc -l)" = 2 ] || fail "the run has no span"
# A mean over time, from first sample to last, equals that of the rates in the database.
rate=$(series chokepoint_cpu_idle_seconds_total 'core="cpu0"' | awk 'NR == 1 { v = $(NF - 1); t = $NF } END { printf "%.2f", ($(NF - 1) - v) / ($NF - t) * 1000 }')
plan=$(sql "SELECT printf('%.2f', sum(idle_ns) * 1.0 / sum(interval_ns)) FROM cpu JOIN instance USING (instance) WHERE name = 'cpu0'")
awk -v a="$rate" -v b="$plan" 'BEGIN { exit !(a - b < 0.02 && b - a < 0.02) }' || fail "idle: $rate for $plan"
exit 0
