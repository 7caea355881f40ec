#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# slowdown.sh [--shim|--same] [PAIRS] [-- COMMAND...]: the cost of profiling at 10 Hz for the program, by interleaved pairs: the
# same command alone and under `chokepoint run`, in alternating order; the program's own wall time and CPU time (user + system of
# the program and its children, getrusage), as the median of the pairs' ratios with a 95 % bootstrap interval. --shim: the cost of
# the MPI shim alone: `chokepoint run --no-shim` replaces "alone". --same: the command alone both times, which shows the
# resolution of the figures. Default command: 2 ranks of chokepoint-sgd on this machine, both cores busy for some seconds.
set -euo pipefail
here=$(cd "$(dirname "$0")/../.." && pwd)
bin=${CHOKEPOINT_BIN:-$here/build/release/bin}
pairs=15 alone=(env) goal="profiling at 10 Hz" most=1
profiled=("$bin/chokepoint" run --quiet --no-report --db)
if [ "${1:-}" = --shim ]; then
    shift
    alone=("${profiled[@]}") goal="the MPI shim" most=0.4
fi
if [ "${1:-}" = --same ]; then
    shift
    profiled=(env) goal="nothing" most=0
fi
if [ $# -gt 0 ] && [ "$1" != -- ]; then pairs=$1; shift; fi
[ "${1:-}" != -- ] || shift
. "$here/tests/bench/pairs.sh"
need_pairs "$pairs"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

if [ $# = 0 ]; then
    "$bin/chokepoint-sgd" generate --features 200000 --examples 120000 --files 2 --test-examples 1000 --seed 1 \
        --out "$work/data" >/dev/null
    set -- mpirun -np 2 --bind-to core "$bin/chokepoint-sgd" --mode async --transfer sparse --features 200000 \
        --batch 1000 --iterations 1200 --data "$work/data" --test-every 100000 --quiet
fi

# once FILE PREFIX...: runs PREFIX COMMAND; the program's own wall and CPU seconds go to FILE.
cat >"$work/timed" <<'TIMED'
file=$1
shift
TIMEFORMAT='%R %U %S'
{ time "$@" >/dev/null 2>&1; } 2>"$file"
TIMED
once() {
    local file=$1
    shift
    "$@" bash "$work/timed" "$file" "${command[@]}" >/dev/null 2>&1
}
command=("$@")
[ ${#profiled[@]} = 1 ] || profiled+=("$work/slowdown.db" --)
[ ${#alone[@]} = 1 ] || alone+=("$work/slowdown.db" --no-shim --)

once "$work/warm" env
: >"$work/pairs"
for i in $(seq "$pairs"); do
    if [ $((i % 2)) = 0 ]; then
        once "$work/a" "${alone[@]}"; once "$work/b" "${profiled[@]}"
    else
        once "$work/b" "${profiled[@]}"; once "$work/a" "${alone[@]}"
    fi
    echo "$(cat "$work/a") $(cat "$work/b")" >>"$work/pairs"
done

awk -v seed=1 -v goal="$goal" -v most="$most" '
function median(values, n,    i, j, t) {
    for (i = 2; i <= n; i++) { t = values[i]; for (j = i - 1; j >= 1 && values[j] > t; j--) values[j + 1] = values[j]; values[j + 1] = t }
    return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
}
function interval(ratios, n, name,    b, i, sample, medians) {
    for (b = 1; b <= 2000; b++) {
        for (i = 1; i <= n; i++) sample[i] = ratios[int(rand() * n) + 1]
        medians[b] = median(sample, n)
    }
    for (i = 1; i <= n; i++) sample[i] = ratios[i]
    m = median(sample, n)
    median(medians, 2000)
    printf "%-10s alone %8.3f s   profiled %8.3f s   slowdown %+.2f %%   95 %% interval %+.2f to %+.2f %%\n", name, base[name], prof[name], 100 * (m - 1), 100 * (medians[50] - 1), 100 * (medians[1950] - 1)
}
# The command alone against its next run alone: what the machine itself does.
function show_alike(n,    i, again) {
    for (i = 1; i < n; i++) again[i] = a[i + 1] / a[i]
    base["A/A, wall"] = prof["A/A, wall"] = base["wall"]
    if (n > 2) interval(again, n - 1, "A/A, wall")
}
{ n++; a[n] = $1; b[n] = $4; ca[n] = $2 + $3; cb[n] = $5 + $6; w[n] = b[n] / a[n]; c[n] = cb[n] / ca[n] }
END {
    srand(seed)
    for (i = 1; i <= n; i++) t[i] = a[i];  base["wall"] = median(t, n)
    for (i = 1; i <= n; i++) t[i] = b[i];  prof["wall"] = median(t, n)
    for (i = 1; i <= n; i++) t[i] = ca[i]; base["CPU"] = median(t, n)
    for (i = 1; i <= n; i++) t[i] = cb[i]; prof["CPU"] = median(t, n)
    printf "slowdown by %s, %d interleaved pairs (goal: at most %s %%)\n", goal, n, most
    interval(w, n, "wall")
    interval(c, n, "CPU")
    show_alike(n)
}' "$work/pairs"
