#!/bin/bash
# SPDX-License-Identifier: MIT
# Ranks that live for half a second, less than the time between two scans of processes: each is found by its calls,
# and has a budget. Five runs, since scans come at any time in them.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/mpi_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
for _ in 1 2 3 4 5; do
    run --no-report "${mpi[@]}" -np 2 "$CHOKEPOINT_BIN/planted_waits" bcast 10 20
    [ $status -eq 0 ] || fail "exits with $status"
    "$chokepoint" report --db "$db" last --format json >report.json || fail "no report"
    ranks=$(python3 -c 'import json
print(*sorted(b["rank"] for b in json.load(open("report.json"))["budget"] if b["phase"] == "work" and b["rank"] is not None))')
    [ "$ranks" = "0 1" ] || fail "budgets of ranks '$ranks', of 0 and 1 expected"
done
exit 0
