#!/bin/bash
# SPDX-License-Identifier: MIT
# Both engines answer every query of the dashboard and every alert, for hosts of which one lacks cores, memory, disks and power.
. "$(dirname "$0")/run_lib.sh" || exit 1
for tool in prometheus victoria-metrics promtool curl jq python3; do
    command -v $tool >/dev/null || { echo "skipped: no $tool here (packages prometheus, victoria-metrics)"; exit 77; }
done
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/engines_lib.sh" || exit 1
promtool check rules "$CHOKEPOINT_SOURCE/packaging/engines/rules.yml" >out 2>&1 || fail "promtool refuses the rules"

"$CHOKEPOINT_BIN/bench_remote_write_hosts" "$db" 3 330 1 >out 2>err || fail "no recording"
span=$(sql "SELECT printf('%.3f %.3f', started_wall_ns / 1e9, ended_wall_ns / 1e9) FROM run")
prometheus_port=$(free_port) victoria_port=$(free_port)
start_prometheus "$prometheus_port"
start_victoria "$victoria_port"
for port in $prometheus_port $victoria_port; do
    "$chokepoint" export --db "$db" --remote-write "http://127.0.0.1:$port/api/v1/write" 2>err || fail "port $port"
done
until_true has_samples "http://127.0.0.1:$victoria_port"
curl -sf "http://127.0.0.1:$victoria_port/internal/force_flush"
for port in $prometheus_port $victoria_port; do
    # shellcheck disable=SC2086 # begin and end
    python3 "$CHOKEPOINT_SOURCE/tests/e2e/engine_queries.py" "http://127.0.0.1:$port" $span >out 2>err || fail "port $port"
    if [ "$(cut -d' ' -f1 out)" -lt 20 ] || [ "$(cut -d' ' -f5 out)" != 8 ]; then fail "too few queries: $(cat out)"; fi
done
exit 0
