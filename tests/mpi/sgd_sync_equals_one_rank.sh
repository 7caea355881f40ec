#!/bin/bash
# SPDX-License-Identifier: MIT
# Sync training on several ranks gives the weights that one rank gives on the joined batch, whether the model travels dense
# or sparse, through a server that works, one that only serves, or none; and a run repeats bit by bit.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh" || exit 1

# Each file has as many examples as the batch: iteration i of rank r of R reads file i R + r.
features=3000 batch=50 files=12
"$sgd" generate --features $features --examples $((files * batch)) --files $files \
    --out "$work/data" --test-examples 100 >/dev/null || fail "generate"

train() { # NAME RANKS TRANSFER BATCH ITERATIONS OPTIONS...
    local name=$1 n=$2 transfer=$3 batch=$4 iterations=$5
    shift 5
    ranks "$n" --mode sync --transfer "$transfer" --features $features --data "$work/data" --batch "$batch" \
        --iterations "$iterations" --rate 2 --weights "$work/$name" --json "$work/$name.json" --quiet "$@" \
        >/dev/null || fail "training $name"
    [ "$(stat -c %s "$work/$name")" -eq $((features * 4)) ] || fail "weights of $name"
}

train one 1 sparse $((4 * batch)) 3
train sparse4 4 sparse $batch 3
train dense4 4 dense $batch 3
train dense1 1 dense $((4 * batch)) 3
train again4 4 dense $batch 3
agree one sparse4 0.05
agree one dense4 0.05
cmp "$work/one" "$work/dense1" || fail "one rank: dense and sparse differ"
cmp "$work/dense4" "$work/again4" || fail "a dense run does not repeat"

# A single rank that applies each batch in place; its data are read once beforehand or throughout
train single 1 sparse $((4 * batch)) 3 --mode single
train preloaded 1 sparse $((4 * batch)) 3 --mode single --preload
agree one single 0.05
cmp "$work/single" "$work/preloaded" || fail "--preload changes what is learnt"
# ... also if reading begins in the middle of its files, and wraps round
train seeded 1 sparse $((4 * batch)) 7 --mode single --seed 7
train seeded_preloaded 1 sparse $((4 * batch)) 7 --mode single --seed 7 --preload
cmp "$work/seeded" "$work/seeded_preloaded" || fail "--preload with --seed keeps other data than the files"
cmp -s "$work/single" "$work/seeded" && fail "--seed does not change what is learnt"
train reduced 4 dense $batch 3 --exchange allreduce
train gathered 4 sparse $batch 3 --exchange allreduce
train down 4 dense-down $batch 3
cmp "$work/down" "$work/sparse4" || fail "dense-down and sparse differ"
train apart 5 sparse $batch 3 --server apart
for name in reduced gathered apart; do agree one $name 0.05; done

train one2 1 sparse $((3 * batch)) 4
train sparse3 3 sparse $batch 4
agree one2 sparse3 0.05

# A model of six chunks, more than are in flight at once, the last one short.
features=1400000
rm -r "$work/data"
"$sgd" generate --features $features --examples $((files * batch)) --files $files \
    --out "$work/data" --test-examples 100 >/dev/null || fail "generate"
train many_sparse 3 sparse $batch 4
train many_dense 3 dense $batch 4
train many_down 3 dense-down $batch 4
cmp "$work/many_down" "$work/many_sparse" || fail "dense-down and sparse differ, large"
agree many_sparse many_dense 0.05
