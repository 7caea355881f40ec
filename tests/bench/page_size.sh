#!/bin/bash
# SPDX-License-Identifier: MIT
# The page of a run beside its goals: 2 MB for 5 hosts x 10 minutes at 10 Hz with MPI calls, 8 MB for 100 hosts x 1 hour, and
# interactive within 1 s: from the request until its script has run and the contents answer a click, in headless Chromium. And how
# long the report of the 5 hosts takes, as text (goal 1 s) and as a page (2 s).
#     tests/bench/page_size.sh BIN_DIR      SHORT, LONG: seconds (600, 3600); WORK: a folder with room (4 MB a second of LONG)
# playwright-core comes from npm, as tests/browser/run.sh gets it; without it, node or chromium sizes alone are printed.
set -u
bin=${1:?say where the programs are: page_size.sh BIN_DIR}
bin=$(cd "$bin" && pwd) || exit 1
here=${CHOKEPOINT_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
short=${SHORT:-600} long=${LONG:-3600}
work=$(mktemp -d -p "${WORK:-/tmp}")
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
export NODE_PATH=${NODE_PATH:-$bin/../browser-tests/node_modules}
CHROMIUM=$(command -v chromium || command -v chromium-browser)
export CHROMIUM

# seconds COMMAND... : of 5 runs, the median, least to most
seconds() {
    for _ in 1 2 3 4 5; do
        local TIMEFORMAT=%R
        { time "$@" >/dev/null 2>&1; } 2>&1
    done | sort -n | awk '{ t[NR] = $1 } END { printf "%.2f s (%.2f to %.2f)", t[3], t[1], t[5] }'
}
times_of_report() { # DATABASE SECONDS: lines that are shown after the table
    report_times="report of 5 hosts, $2 s: as text $(seconds "$bin/chokepoint" report 1 --db "$1"), goal 1 s; as a page $(
        seconds "$bin/chokepoint" report 1 --db "$1" -o "$work/again.html"), goal 2 s"
    rm -f "$work/again.html"
}
report_times=

# measure NAME GOAL_MB HOSTS SECONDS ITERATIONS_S: one row
measure() {
    local name=$1 goal=$2 db=$work/$3.db page=$work/$3.html times=not\ measured
    "$bin/bench_analysis_speed" make "$db" "$3" 2 "$4" 1 "$5" star || fail "no recording"
    "$bin/chokepoint" report 1 --db "$db" -o "$page" || fail "no page"
    [ "$3" != 5 ] || times_of_report "$db" "$4"
    rm -f "$db"*
    [ -z "$CHROMIUM" ] || times=$(node "$here/tests/bench/page_ready.js" "$page" 2>/dev/null) || times="not measured"
    printf '| page of %s, %s s | %s MB | %s MB | %s | 1 s |\n' "$name" "$4" \
        "$(awk -v n="$(stat -c %s "$page")" 'BEGIN { printf "%.2f", n / 1e6 }')" "$goal" "$times"
    rm -f "$page"
}
echo "| what | size | goal | interactive after (median of 5, least to most) | goal |"
echo "|---|--:|--:|--:|--:|"
measure "5 hosts" 2 5 "$short" 10
measure "100 hosts" 8 100 "$long" 0
echo "$report_times"
