#!/bin/bash
# SPDX-License-Identifier: MIT
# CIFAR: sync on several ranks gives the weights that one rank gives on the joined batch, with and without Adam; training
# reaches the accuracy that the head of its file states and ends there; an error ends all ranks with a line that names it.
workload=cifar weights=122570
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/training.sh" || exit 1
images textures "$work/data" 200 50
train joined 1 24 --iterations 3 --rate .0002 # a small step: Adam amplifies rounding as much as a gradient
train apart 3 8 --iterations 3 --rate .0002
agree joined apart 0.1
train joined_sgd 1 24 --iterations 3 --optimizer sgd
train apart_sgd 3 8 --iterations 3 --optimizer sgd
agree joined_sgd apart_sgd 0.1
cmp -s "$work/joined" "$work/joined_sgd" && fail "Adam and plain descent give the same weights"

marked async 3 16 --iterations 6 --mode async --test-every 3
[ "$(json "$work/async.json" updates)" -eq 18 ] || fail "async: updates"
[ "$(count ' iteration ')" -eq 18 ] || fail "async: marks of iterations"
for operator in 'textures drawn, seed 1' 'conv3 forward' 'pool2 backward' 'full1 backward data' apply; do
    [ "$(count " operator .* $operator\$")" -ge 3 ] || fail "async: marks of $operator"
done
for value in accuracy loss 'examples trained' updates; do
    [ "$(count "^0 value .* $value\$")" -ge 2 ] || fail "async: marks of $value"
done
grep -q '"data": "textures drawn, seed 1"' "$work/async.json" || fail "the summary does not say which data it was"

refused 2 2 "200 training images are not enough for 2 ranks with a --batch of 101" --data "$work/data" --batch 101
diverges 3 --rate 1e30 --optimizer sgd
cp -r "$work/data" "$work/bad"
truncate -s -1 "$work/bad/data_batch_3.bin" # every rank reads it
refused 2 2 'data_batch_3.bin: offset [0-9]*: expected .*' --data "$work/bad"
rm "$work/bad/data_batch_3.bin"
refused 1 1 "$work/bad/data_batch_3.bin: missing beside the other batches (CIFAR-10): " --data "$work/bad"
ranks 1 --batch 16 --data "$work/bad" --quiet 2>/dev/null >&2
[ $? -eq 2 ] || fail "a missing batch does not end with status 2"
images digits "$work/digits" 50 10
refused 1 1 "expected images of 32 x 32 x 3, found 28 x 28 x 1" --data "$work/digits"

# The accuracy in the file's head, with half an epoch of slack; both modes end when a target is
# reached.
images textures "$work/data" 10000 1000
patience=400 train learnt 1 32 --epochs 6 --test-every 156 --target 75 # ten seconds on one core
tail -n 1 "$work/said"
grep -q '"target_s": [0-9]' "$work/learnt.json" && holds "$(last_accuracy learnt) >= .75" || fail "75 % is not reached"
[ "$(json "$work/learnt.json" updates)" -lt 1872 ] || fail "it goes on when the target is reached"
# The run ends with the test that reaches the target; how many updates a worker has made by then is
# chance.
for mode in sync async; do
    train easy 2 16 --epochs 6 --test-every 2 --target 1 --mode $mode
    grep -q '"target_s": [0-9]' "$work/easy.json" || fail "$mode: the target is not reached"
    last_test=$(sed -n 's/.*"iterations": \([0-9]*\).*/\1/p' "$work/easy.json" | head -n 1)
    of_rank_0=$(sed -n '/"rank": 0,/{n;s/.*"iterations": \([0-9]*\).*/\1/p}' "$work/easy.json")
    [ "$of_rank_0" = "$last_test" ] || fail "$mode goes on when the target is reached: $of_rank_0 iterations, test at $last_test"
done
train missed 1 16 --iterations 2 --target 100
grep -q '100 % not reached' "$work/said" && grep -q '"target_s": null' "$work/missed.json" || fail "a target that is missed"
exit 0
