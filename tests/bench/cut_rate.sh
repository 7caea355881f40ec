#!/bin/bash
# SPDX-License-Identifier: MIT
# cut_rate.sh [HOSTS [SECONDS [TURNS [STEP]]]] (5 3600 5 3s, the usual step of an hour), root: cuts of rings of that many emulated hosts, with and without the verdict,
# in turns. The rings are made of a minute of this machine beside a crowd of 64 busy processes (make-ring). Wall times and CPU time of the whole
# (agents, collector, command), medians with range; the A/A row is the first cut against the same again. Wanted: 5 s.
set -u
n=${1:-5} seconds=${2:-3600} turns=${3:-5} step=${4:-3s}
here=$(dirname "$(readlink -f "$0")")
bin=${CHOKEPOINT_BIN:-$here/../../build/release/bin}
. "$here/median.sh"
work=$(mktemp -d) name=cut$$
trap 'exec 3>&-; "$bin/chokepoint" testbed --name $name down >/dev/null; rm -rf "$work"' EXIT
"$bin/chokepoint" testbed --name $name up "$n" >/dev/null || exit 1
mkfifo "$work/crowd"
setsid "$bin/bench_crowd" 64 0 <"$work/crowd" >/dev/null &
exec 3>"$work/crowd"
"$bin/chokepoint-agent" --ring "$work/source" --samples 60 || exit 1
exec 3>&-
mkdir "$work/rings"
hosts=
for ((i = 1; i <= n; i++)); do
    "$bin/make-ring" "$work/source" "$work/rings/vm$i" vm$i "$seconds" || exit 1
    hosts=$hosts${hosts:+,}vm$i
done
cut() { # NAME OPTIONS...: a line with its wall and CPU time
    local TIMEFORMAT='%R %U %S' took
    rm -f "$work/db"*
    took=$( { time "$bin/chokepoint" testbed --name $name exec -- "$bin/chokepoint" cut -q --ring "$work/rings/%h" --hosts $hosts \
        --last "$((seconds + 600))s" --step "$step" --db "$work/db" "${@:2}" >/dev/null 2>"$work/err"; } 2>&1) || { cat "$work/err"; exit 1; }
    echo "$1 $took" | awk '{ print $1, $2, $3 + $4 }' >>"$work/times"
}
for ((i = 0; i < turns; i++)); do
    cut cut --no-report
    cut again --no-report
    cut verdict
done
echo "$(sqlite3 "$work/db" 'SELECT sum(frames) FROM stream') samples of $n hosts, a database of $(($(stat -c %s "$work/db") >> 20)) MB"
for what in cut again verdict; do
    awk -v what=$what "$median_of"'$1 == what { wall[++n] = $2; cpu[n] = $3 }
        END { w = median(wall, n); c = median(cpu, n); printf "%-8s %6.2f s (%.2f to %.2f), CPU %.2f s (%.2f to %.2f)\n", what, w, wall[1], wall[n], c, cpu[1], cpu[n] }' "$work/times"
done
awk "$median_of"'$1 == "cut" { a[++n] = $2 } $1 == "again" { b[++m] = $2 } END { printf "A/A      %.2f\n", median(a, n) / median(b, m) }' "$work/times"
