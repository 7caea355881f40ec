#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# slowdown_kinds.sh [PAIRS [KIND...]]: the cost of profiling at 10 Hz for programs that compute, that make system calls, that
# start processes, and a parallel make, by slowdown.sh; and the first of them against itself, which shows the resolution of the
# figures. If other programs use the cores, read the line of CPU time.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
pairs=${1:-15}
[ $# = 0 ] || shift
[ $# -gt 0 ] || set -- same cpu calls forks make
. "$here/pairs.sh"
need_pairs "$pairs"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cpu=(awk 'BEGIN { for (i = 0; i < 12000000; i++) x = (x * 7 + i) % 1000003; print x }')
calls=(dd if=/dev/zero of=/dev/null bs=1 count=2000000)
forks=(bash -c 'for i in {1..1000}; do /bin/true; done')
make_some() {
    for i in {1..8}; do
        printf '#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint f%d(int x) { return printf("%%d", x); }\n' "$i" >"$work/f$i.c"
    done
    printf 'all: %s\n%%.o: %%.c\n\t@cc -O2 -c -o $@ $<\n' "$(printf 'f%d.o ' {1..8})" >"$work/Makefile"
}

for kind in "$@"; do
    command=() option=()
    case $kind in
    same) command=("${cpu[@]}") option=(--same) ;;
    cpu) command=("${cpu[@]}") ;;
    calls) command=("${calls[@]}") ;;
    forks) command=("${forks[@]}") ;;
    make) make_some; command=(env CCACHE_DISABLE=1 make -s -B -j2 -C "$work") ;;
    *) echo "slowdown_kinds.sh: $kind: no such kind" >&2; exit 2 ;;
    esac
    [ "$kind" != same ] || kind="A/A: cpu against itself"
    echo "== $kind"
    "$here/slowdown.sh" "${option[@]}" "$pairs" -- "${command[@]}" | tail -n +2
done
