#!/bin/bash
# SPDX-License-Identifier: MIT
# summary_cost.sh [SECONDS [TURNS]] (600 9), root: the CPU time that the summary of a job of so many seconds costs a node, which is that of sending
# its part of the ring to the controller (packaging/slurm/epilog-slurmctld.sh), by the control group of an emulated host. The ring is made of a
# minute of this machine beside a crowd of 64 busy processes (make-ring), and the job is all of them. The yardstick is a login that runs
# `true`; there is no sshd in either. Medians with range; the A/A row is the first cut against the same again. Wanted: 50 ms.
set -u
seconds=${1:-600} turns=${2:-9}
here=$(dirname "$(readlink -f "$0")")
bin=${CHOKEPOINT_BIN:-$here/../../build/release/bin}
. "$here/median.sh"
work=$(mktemp -d) name=cost$$
trap 'exec 3>&-; "$bin/chokepoint" testbed --name $name down >/dev/null; rm -rf "$work"' EXIT
"$bin/chokepoint" testbed --name $name up 2 >/dev/null || exit 1
mkfifo "$work/crowd"
setsid "$bin/bench_crowd" 64 0 <"$work/crowd" >/dev/null &
exec 3>"$work/crowd"
"$bin/chokepoint-agent" --ring "$work/source" --samples 60 || exit 1
exec 3>&-
mkdir "$work/rings"
"$bin/make-ring" "$work/source" "$work/rings/vm2" vm2 "$seconds" || exit 1
inside() { "$bin/chokepoint" testbed --name $name exec -- "$@"; }
used_ns() {
    cat "/sys/fs/cgroup/cpuacct/$name-testbed/vm2/cpuacct.usage" 2>/dev/null ||
        awk '$1 == "usage_usec" { print 1000 * $2 }' "/sys/fs/cgroup/$name-testbed/vm2/cpu.stat"
}
cost() { # NAME COMMAND...
    local before
    rm -f "$work/db"*
    before=$(used_ns)
    "${@:2}" >/dev/null 2>"$work/err" || { cat "$work/err"; exit 1; }
    echo "$1 $((($(used_ns) - before) / 1000))" >>"$work/times"
}
cut() { inside "$bin/chokepoint" cut --no-report --ring "$work/rings/%h" --hosts vm2 --last "$((seconds + 600))s" --db "$work/db"; }
for ((i = 0; i < turns; i++)); do
    cost login inside sh -c '$CHOKEPOINT_RSH vm2 true'
    cost summary cut
    cost again cut
done
for what in login summary again; do
    awk -v what=$what "$median_of"'$1 == what { v[++n] = $2 / 1000 } END { m = median(v, n); printf "%-8s %6.1f ms of CPU (%.1f to %.1f)\n", what, m, v[1], v[n] }' "$work/times"
done
awk "$median_of"'$1 == "summary" { a[++n] = $2 } $1 == "again" { b[++m] = $2 } END { printf "A/A      %.2f\n", median(a, n) / median(b, m) }' "$work/times"
