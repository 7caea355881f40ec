#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# analysis_speed.sh [BIN] [SECONDS]: CPU time and memory of `chokepoint report` on synthetic recordings (bench_analysis_speed),
# beside the goals: 2 s for 5 hosts x 10 minutes at 10 Hz with MPI calls; 60 s and 2 GB for 100 hosts x 64 cores x 1 hour;
# twice the hosts at most 2.2 times as long. The large ones are SECONDS long (default 60) and what an hour would take follows
# from two lengths; SECONDS=3600 measures it (about 12 GB in $TMPDIR, and hours to make).
set -euo pipefail
bin=${1:-${CHOKEPOINT_BIN:?usage: analysis_speed.sh BIN [SECONDS]}}
seconds=${2:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# measure HOSTS CORES SECONDS RANKS ITERATIONS_S: sets cpu, peak (MB), bytes
measure() {
    rm -f "$work"/*
    "$bin/bench_analysis_speed" make "$work/db" "$@"
    bytes=$(stat -c %s "$work/db")
    local wall status
    read -r wall cpu peak status < <("$bin/bench_analysis_speed" time "$bin/chokepoint" report --db "$work/db" --format json -o "$work/out.json")
    [ "$status" = 0 ] || { echo "FAILED: exit status $status"; exit 1; }
    printf '%3d hosts x %2d cores x %4d s: %6d MB of file, %7.2f s CPU (%.2f s in all), %5d MB of memory\n' \
        "$1" "$2" "$3" $((bytes >> 20)) "$cpu" "$wall" "$peak"
}
measure 5 4 600 1 10
echo "     goal: 2 s"
before=
for hosts in 25 50 100; do
    measure "$hosts" 64 "$seconds" 1 0
    [ -z "$before" ] || awk -v a="$before" -v b="$cpu" 'BEGIN { printf "     twice the hosts: %.2f times as long (goal 2.2)\n", b / a }'
    before=$cpu
done
long=$cpu long_peak=$peak
[ "$seconds" -ge 3600 ] || {
    measure 100 64 $((seconds / 2)) 1 0
    awk -v a="$cpu" -v b="$long" -v s="$seconds" -v p="$long_peak" 'BEGIN {
        per = (b - a) / (s / 2); printf "100 hosts x 64 cores x 1 hour, from these two: %.0f s CPU (goal 60 s); memory is bounded (goal 2048 MB): measure it with SECONDS=3600\n", b + per * (3600 - s) }'
}
