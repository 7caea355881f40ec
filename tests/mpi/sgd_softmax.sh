#!/bin/bash
# SPDX-License-Identifier: MIT
# Softmax regression on drawn digits reaches the accuracy that the head of workloads/sgd/main.c states in every mode and
# moves the bytes of the arithmetic; and N ranks give the weights that one gives on the joined batch.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh" || exit 1
data=$CHOKEPOINT_BIN/chokepoint-data
[ -x "$data" ] || { echo "skipped: chokepoint-data is not built"; exit 77; }
"$data" generate digits --out "$work/data" --train 6000 --test 2000 --quiet >/dev/null || fail "generate"
weights=7850 # 785 x 10

train() { # NAME RANKS OPTIONS...
    local name=$1 n=$2
    shift 2
    ranks "$n" --model softmax --data "$work/data" --quiet --json "$work/$name.json" --weights "$work/$name" "$@" \
        >/dev/null 2>"$work/stderr" || fail "$name: $(cat "$work/stderr")"
    [ "$(stat -c %s "$work/$name")" -eq $((4 * weights)) ] || fail "$name: weights"
}
accuracy() { sed -n 's/.*"accuracy": \([0-9.]*\).*/\1/p' "$work/$1.json"; }
reaches() { # NAME PERCENT
    echo "$1: accuracy $(accuracy "$1"), stated $2 %"
    holds "100 * $(accuracy "$1") > $2 - 1 && 100 * $(accuracy "$1") < $2 + 1" || fail "$1 does not reach what is stated"
}

train single 1 --mode single --epochs 10
reaches single 92.9
train sync 3 --mode sync --epochs 10
reaches sync 89.9
# The staleness of each gradient is chance; with a rate that decays to a sixth, the model converges however stale they are.
for name in async prefetch; do
    words=(--mode async --epochs 10 --decay 0.05)
    [ $name = prefetch ] && words+=(--prefetch)
    train $name 3 "${words[@]}"
    echo "$name: staleness $(json "$work/$name.json" staleness)"
    reaches $name 90
    updates=$(json "$work/$name.json" updates)
    [ "$updates" -ge 300 ] && [ "$updates" -lt 303 ] || fail "$name: $updates updates"
done
# With one working rank nothing is chance. Its pull during a push may lack its last gradient: there the rate is so
# low that all gradients are those of the first model, and each must be applied once.
train alone 1 --mode single --iterations 20
train own 1 --mode async --iterations 20
train worker 2 --mode async --iterations 20 --server apart
for name in own worker; do agree alone $name 0.05; done
train alone_slowly 1 --mode single --iterations 20 --rate 1e-5
train prefetch_slowly 2 --mode async --iterations 20 --rate 1e-5 --server apart --prefetch
nearly alone_slowly prefetch_slowly

# The kind of images appears in the summary and in the marks.
grep -q '"data": "digits drawn, seed 1"' "$work/single.json" || fail "the summary does not say which data these are"

# The decay is in the weights, and equal in those of all ranks.
train joined 1 --mode single --batch 300 --iterations 5 --decay 0.3
train constant 1 --mode single --batch 300 --iterations 5
cmp -s "$work/joined" "$work/constant" && fail "--decay changes nothing"
train server 3 --mode sync --batch 100 --iterations 5 --decay 0.3
train sparse 3 --mode sync --batch 100 --iterations 5 --decay 0.3 --transfer sparse
train allreduce 3 --mode sync --batch 100 --iterations 5 --decay 0.3 --exchange allreduce
train gathered 3 --mode sync --batch 100 --iterations 5 --decay 0.3 --exchange allreduce --transfer sparse
train apart 4 --mode sync --batch 100 --iterations 5 --decay 0.3 --server apart
for name in server sparse allreduce gathered apart; do agree joined $name 0.05; done
train again 3 --mode sync --batch 100 --iterations 5 --decay 0.3 --exchange allreduce
cmp "$work/allreduce" "$work/again" || fail "all-reduce does not repeat"

# A separate server sends the model to each of its workers, trains nothing itself, and counts their
# examples.
[ "$(sed -n 's/.*"sent_bytes": \([0-9]*\).*/\1/p' "$work/apart.json" | head -n 1)" -eq \
    $((5 * 3 * (4 * weights + 16) + 3 * 16)) ] || fail "bytes of a server apart"
[ "$(json "$work/apart.json" examples)" -eq 1500 ] || fail "examples of a server apart"
[ "$(sed -n 's/.*"examples": \([0-9]*\),$/\1/p' "$work/apart.json" | sed -n 2p)" -eq 0 ] || fail "a server apart works"
train apart_async 3 --mode async --examples 4000 --server apart
[ "$(json "$work/apart_async.json" updates)" -ge 20 ] || fail "async, a server apart: updates"
holds "$(accuracy apart_async) > .5" || fail "async, a server apart: it does not learn"
exit 0
