#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# analysis_speed.sh [BIN] [SECONDS]: CPU time and memory of `chokepoint report` on synthetic recordings (bench_analysis_speed),
# beside the goals: 2 s for 5 hosts x 10 minutes at 10 Hz with MPI calls, 3 s and 300 MB for an hour of them; 60 s and 2 GB for 100 hosts x 64 cores x 1 hour;
# twice the hosts at most 2.2 times as long, on recordings of SECONDS (default 60) and on runs of MPI programs, medians of 3 in
# turns. The hour takes 16 GB in $TMPDIR and ten minutes to make, and is read from the disk, not from memory; LONG=SECONDS
# makes a shorter one, LONG=0 leaves it out.
set -euo pipefail
bin=${1:-${CHOKEPOINT_BIN:?usage: analysis_speed.sh BIN [SECONDS]}}
seconds=${2:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# measure HOSTS CORES SECONDS RANKS ITERATIONS_S PATTERN: sets cpu, peak (MB), bytes
measure() {
    rm -f "$work"/*
    "$bin/bench_analysis_speed" make "$work/db" "$@"
    bytes=$(stat -c %s "$work/db")
    sync "$work/db"
    dd if="$work/db" of=/dev/null iflag=nocache count=0 status=none # drops it from the page cache
    local wall status
    read -r wall cpu peak status < <("$bin/bench_analysis_speed" time "$bin/chokepoint" report --db "$work/db" --format json -o "$work/out.json")
    [ "$status" = 0 ] || { echo "FAILED: exit status $status"; exit 1; }
    printf '%3d hosts x %2d cores x %4d s: %6d MB of file, %7.2f s CPU (%.2f s in all), %5d MB of memory\n' \
        "$1" "$2" "$3" $((bytes >> 20)) "$cpu" "$wall" "$peak"
}
measure 5 4 600 1 10 star
echo "     goal: 2 s"
measure 5 4 3600 1 10 star
echo "     goal: 3 s, 300 MB"
# scaling WHAT RANKS ITERATIONS_S PATTERN CORES SECONDS HOSTS...: medians of 3 in turns, and by how much each doubling costs
scaling() {
    local what=$1 ranks=$2 iterations=$3 pattern=$4 cores=$5 length=$6 hosts before=
    shift 6
    rm -f "$work"/*
    for hosts; do "$bin/bench_analysis_speed" make "$work/db$hosts" "$hosts" "$cores" "$length" "$ranks" "$iterations" "$pattern"; done
    for _ in 1 2 3; do
        for hosts; do
            read -r _ cpu peak status < <("$bin/bench_analysis_speed" time "$bin/chokepoint" report --db "$work/db$hosts" --format json -o "$work/out.json")
            [ "$status" = 0 ] || { echo "FAILED: exit status $status"; exit 1; }
            echo "$cpu $peak" >>"$work/took$hosts"
        done
    done
    for hosts; do
        read -r cpu peak < <(sort -n "$work/took$hosts" | sed -n 2p)
        printf '%3d hosts x %2d cores x %4d s, %s: %7.2f s CPU, %5d MB of memory\n' "$hosts" "$cores" "$length" "$what" "$cpu" "$peak"
        [ -z "$before" ] || awk -v a="$before" -v b="$cpu" 'BEGIN { printf "     twice the hosts: %.2f times as long (goal 2.2)\n", b / a }'
        before=$cpu
    done
}
scaling "samples" 1 0 star 64 "$seconds" 25 50 100
scaling "MPI calls, neighbours" 1 5 ring 4 20 20 40 80 160
scaling "MPI calls, a server" 1 5 star 4 20 20 40 80 160
[ "${LONG:-}" != 0 ] || exit 0
long=${LONG:-3600}
rm -f "$work"/*
need=$((long * 5)) free=$(df --output=avail -B 1M "$work" | tail -1)
[ "$free" -gt "$need" ] || { echo "FAILED: $long s of 100 hosts take $need MB in $work, which has $free; LONG=SECONDS makes less"; exit 1; }
measure 100 64 "$long" 1 0 star
[ "$long" -lt 3600 ] || echo "     goal: 60 s, 2048 MB"
