#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# live_cost.sh [BIN] [SECONDS]: the share of a core that `chokepoint top` uses on a screen of 120 x 40 while 20 hosts of 8 cores
# are recorded (bench_analysis_speed live), over SECONDS (default 60) after its first picture, including the verdict so far; goal:
# 5 %. And the time from this machine's first sample to its first picture, when top starts the agents; goal: 1 s. Medians of 5;
# needs tmux.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=${1:-${CHOKEPOINT_BIN:-$here/build/release/bin}}
seconds=${2:-60}
. "$here/tests/bench/median.sh"
work=$(mktemp -d)
screen=live$$
leave() {
    tmux -L "$screen" kill-server 2>/dev/null || :
    [ -z "${writer:-}" ] || kill "$writer" 2>/dev/null || :
    wait
    rm -rf "$work"
}
trap leave EXIT
on_screen() { tmux -L "$screen" -f /dev/null new-session -d -x 120 -y 40 "exec $*"; }
shown() { tmux -L "$screen" capture-pane -p -t 0 2>/dev/null | grep -qE -- "$1"; }
# await PATTERN: at most 10 s
await() {
    local end=$((SECONDS + 30))
    until shown "$1"; do
        [ $SECONDS -lt $end ] || { echo "FAILED: nothing like '$1' is shown"; exit 1; }
        sleep 0.01
    done
}
cpu_ns() { awk '{ n += $1 } END { printf "%.0f", n }' /proc/"$1"/task/*/schedstat; }

"$bin/bench_analysis_speed" live "$work/db" 20 8 $((seconds + 30)) 2 &
writer=$!
until [ -s "$work/db" ]; do
    kill -0 $writer
    sleep 0.1
done
sleep 2
on_screen "$bin/chokepoint top --db $work/db"
await '20 hosts.*'
pid=$(tmux -L "$screen" display-message -p -t 0 '#{pane_pid}')
before=$(cut -d' ' -f14,15 /proc/"$pid"/stat | tr ' ' +)
start=$(date +%s%N)
sleep "$seconds"
after=$(cut -d' ' -f14,15 /proc/"$pid"/stat | tr ' ' +)
end=$(date +%s%N)
awk -v ticks=$((after - (before))) -v hz="$(getconf CLK_TCK)" -v ns=$((end - start)) -v s="$seconds" \
    'BEGIN { printf "top with 20 hosts: %.1f %% of a core over %d s (goal: 5 %%)\n", 100 * ticks / hz / (ns / 1e9), s }'
tmux -L "$screen" kill-server
kill "$writer"
wait "$writer" || :
writer=

for i in 1 2 3 4 5; do
    screen=live$$.$i
    on_screen "$bin/chokepoint top -w $work/own$i.db"
    await "^ +1.$(hostname) "
    now=$(date +%s%N)
    first=$(sqlite3 -cmd '.timeout 5000' "file:$work/own$i.db?mode=ro" 'SELECT min(wall_ns) FROM frame')
    echo $(((now - first) / 1000000))
    tmux -L "$screen" send-keys -t 0 q
    while tmux -L "$screen" has-session 2>/dev/null; do sleep 0.05; done
done | awk "$median_of"'{ v[NR] = $1 } END { m = median(v, NR); printf "first sample to first picture: %d ms (%d to %d; goal: 1000)\n", m, v[1], v[NR] }'
