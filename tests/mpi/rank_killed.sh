#!/bin/bash
# SPDX-License-Identifier: MIT
# A rank that is killed in the middle of its work ends all others: no hang, no process left, and a status other than
# 0, whether it served or worked, and for any rank that waited for it. Each part needs only its own program.
for workload in sgd lenet matmul; do
    [ -x "${CHOKEPOINT_BIN:?}/chokepoint-$workload" ] && break
done
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh" || exit 1

export CHOKEPOINT_MARKS="$work/marks"
marks=$work/marks.$(uname -n)

# RANK: it has marked 20 iterations or more, as its ring holds only the last ones
trained() { "$CHOKEPOINT_BIN/mark_dump" "$marks" 2>/dev/null | awk -v rank="$1" '$1 == rank && $2 == "iteration" && $3 >= 20 { n++ } END { exit !n }'; }
rank_pid() { # RANK: prints the id of the process with that rank in its environment, among those that leave marks
    local file pid
    for file in "$marks"/*; do
        pid=$(basename "$file" | sed 's/[^0-9].*//')
        tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$1" && echo "$pid" && return
    done
}
killed() { # RANK OPTIONS...
    local rank=$1 status pids pid what
    shift
    what="${program##*/} $*"
    mkdir -m 700 "$marks"
    # Not through ranks(): the shell must have the process id to wait for.
    timeout -k 5 120 mpirun --oversubscribe -np 3 "$program" "${words[@]}" --quiet "$@" \
        >"$work/out" 2>&1 &
    local job=$!
    for _ in $(seq 600); do trained "$rank" && break; sleep 0.1; done
    trained "$rank" || { kill $job; fail "$what: rank $rank does not train"; }
    pids=$(for r in 0 1 2; do rank_pid $r; done)
    kill -9 "$(rank_pid "$rank")"
    wait $job
    status=$?
    [ $status -ne 0 ] && [ $status -lt 124 ] || [ $status -eq 137 ] || fail "$what: rank $rank killed: $status"
    for pid in $pids; do
        for _ in $(seq 300); do [ -e "/proc/$pid" ] || break; sleep 0.1; done
        [ ! -e "/proc/$pid" ] || fail "$what: process $pid is left"
    done
    [ "$(wc -w <<<"$pids")" -eq 3 ] || fail "$what: 3 ranks, found $pids"
    rm -r "$marks"
}
there() { # PROGRAM
    program=$CHOKEPOINT_BIN/chokepoint-$1
    [ -x "$program" ] || { echo "chokepoint-$1 is not built: left out"; return 1; }
}

if there sgd; then
    "$program" generate --features 5000 --examples 2000 --files 3 --out "$work/records" --test-examples 100 \
        >/dev/null || fail "generate"
    words=(--data "$work/records" --features 5000 --transfer sparse --batch 50 --iterations 100000000)
    killed 2 --mode sync
    killed 0 --mode async
    killed 1 --mode async --transfer dense --prefetch
    killed 1 --mode sync --exchange allreduce
fi
if there lenet; then # and what cifar shares with it
    "$CHOKEPOINT_BIN/chokepoint-data" generate digits --out "$work/digits" --train 600 --test 50 --quiet >/dev/null ||
        fail "digits"
    words=(--data "$work/digits" --batch 8 --iterations 100000000 --test-every 100000000)
    killed 1 --mode sync
    killed 0 --mode async
fi
if there matmul; then
    words=(--size 240 --block 40 --repeat 1000000)
    killed 1
fi
exit 0
