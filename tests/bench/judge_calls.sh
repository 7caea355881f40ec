#!/bin/bash
# SPDX-License-Identifier: MIT
# judge_calls.sh [BIN] [REPEATS=3]: what judging single MPI calls costs after the command. Ping-pongs of two ranks, of .25, .5
# and 1 s: the time from the end of the command to the end of `chokepoint run`, CPU time and memory of `chokepoint report` a
# call, twice in turns (A/A); beside the ranks' own time and an aggregate by sqlite3 over the same rows. Medians, with the
# least and the most. Then by how much each doubling of the calls costs.
set -euo pipefail
bin=$(readlink -f "${1:-${CHOKEPOINT_BIN:?usage: judge_calls.sh BIN [REPEATS]}}")
repeats=${2:-3}
[ -x "$bin/bench_mpi_rounds" ] || { echo "skipped: no MPI"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# spread FILE COLUMN: "median (least to most)"
spread() { sort -n -k"$2" "$1" | awk -v c="$2" '{ v[NR] = $c } END { printf "%.2f (%.2f to %.2f)", v[int((NR + 1) / 2)], v[1], v[NR] }'; }
median() { sort -n -k"$2" "$1" | awk -v c="$2" '{ v[NR] = $c } END { print v[int((NR + 1) / 2)] }'; }
aggregate="SELECT count(*), sum(duration_ns), sum(bytes) FROM call GROUP BY rank, peer, tag"

for seconds in .25 .5 1; do
    for ((i = 0; i < repeats; i++)); do
        rm -f db
        "$bin/chokepoint" run --quiet --db db mpirun -np 2 "$bin/bench_mpi_rounds" pingpong $seconds >/dev/null
        now=$(date +%s%N)
        sqlite3 -separator ' ' db \
            "SELECT ($now - ended_wall_ns) / 1e9, (ended_mono_ns - started_mono_ns) / 1e9 FROM run" >>"after$seconds"
    done
    calls=$(sqlite3 db "SELECT sum(n) FROM block JOIN table_info USING (table_id) WHERE name = 'call'")
    for ((i = 0; i < repeats; i++)); do
        for turn in a b; do
            "$bin/bench_analysis_speed" time "$bin/chokepoint" report --db db --format json -o out.json >>"report$seconds$turn"
        done
        "$bin/bench_analysis_speed" time sqlite3 -cmd ".load $bin/libchokepoint-sql.so" db ".output aggregate" "$aggregate" >>"sql$seconds"
    done
    echo "$calls calls of $(median "after$seconds" 2) s"
    echo "  end of command to verdict: $(spread "after$seconds" 1) s"
    echo "  report: $(spread "report${seconds}a" 2) s of CPU, $(median "report${seconds}a" 3) MB;" \
        "A/A $(spread "report${seconds}b" 2) s; sqlite3 aggregate $(spread "sql$seconds" 2) s"
    awk -v cpu="$(median "report${seconds}a" 2)" -v mb="$(median "report${seconds}a" 3)" -v n="$calls" \
        'BEGIN { printf "  a call: %.2f us of CPU, %.0f bytes of memory\n", 1e6 * cpu / n, 1048576 * mb / n }'
    [ -z "${before:-}" ] || awk -v a="$before" -v b="$(median "report${seconds}a" 2)" -v m="$calls_before" -v n="$calls" \
        'BEGIN { printf "  %.2f times the calls: %.2f times as long, %.2f a doubling (goal 2.1)\n", n / m, b / a, exp(log(b / a) * log(2) / log(n / m)) }'
    before=$(median "report${seconds}a" 2) calls_before=$calls
done
