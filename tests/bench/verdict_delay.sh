#!/bin/bash
# SPDX-License-Identifier: MIT
# verdict_delay.sh [REPEATS=10] [HOSTS=5] [SECONDS=5]: the time from the end of the command to the
# end of `chokepoint run`, including its verdict. Yardstick: 5 s. HOSTS 1: this machine; more: a
# testbed.
set -u
repeats=${1:-10} hosts=${2:-5} seconds=${3:-5}
chokepoint=${CHOKEPOINT_BIN:?the directory of the binaries}/chokepoint
work=$(mktemp -d)
name=delay$$
leave() { [ "$hosts" -eq 1 ] || "$chokepoint" testbed --name $name down >/dev/null; rm -rf "$work"; }
trap leave EXIT
command=(sh -c "sleep $seconds; date +%s%N >$work/end")
prefix=()
if [ "$hosts" -gt 1 ]; then
    "$chokepoint" testbed --name $name up "$hosts" >/dev/null || exit 77
    hostfile=$("$chokepoint" testbed --name $name exec -- printenv CHOKEPOINT_HOSTFILE)
    prefix=("$chokepoint" testbed --name $name exec --)
    command=(mpirun --hostfile "$hostfile" -N 1 sh -c "sleep $seconds; [ \$OMPI_COMM_WORLD_RANK != 0 ] || date +%s%N >$work/end")
fi
for ((i = 0; i < repeats; i++)); do
    "${prefix[@]}" "$chokepoint" run --db "$work/runs.db" "${command[@]}" 2>"$work/err" || { cat "$work/err"; exit 1; }
    echo $((($(date +%s%N) - $(cat "$work/end")) / 1000000)) >>"$work/delays"
done
tail -n 30 "$work/err"
sort -n "$work/delays" | awk -v hosts="$hosts" '{ d[NR] = $1 / 1000 }
    END { printf "end of command to verdict, %d host(s), %d runs: median %.2f s, min %.2f s, max %.2f s (at most 5 s)\n",
                 hosts, NR, d[int((NR + 1) / 2)], d[1], d[NR] }'
