#!/bin/bash
# SPDX-License-Identifier: MIT
# LeNet: sync on several ranks gives the weights that one rank gives on the joined batch; a run repeats bit by bit; both
# modes learn the drawn digits; the bytes moved are those of the arithmetic; phases, iterations and operators are marked.
workload=lenet weights=61706
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/training.sh" || exit 1
images digits "$work/data" 4000 500
train joined 1 48 --iterations 8
train apart 3 16 --iterations 8
agree joined apart 0.1
# Batches that pass through the net in pieces, of which the last is smaller
train joined_pieces 1 130 --iterations 4
train apart_pieces 2 65 --iterations 4
agree joined_pieces apart_pieces 0.1
train first 1 48 --iterations 1
cmp -s "$work/joined" "$work/first" && fail "the weights do not move"
train again 1 48 --iterations 8
cmp "$work/joined" "$work/again" || fail "a run does not repeat"

marked sync 2 32 --iterations 20 --test-every 10
[ "$(count ' iteration ')" -eq 40 ] || fail "sync: marks of iterations"
[ "$(count ' begin .* testing$')" -eq 4 ] || fail "sync: marks of tests, $(count ' begin .* testing$')"
[ "$(count '^0 value .* accuracy$')" -eq 2 ] || fail "sync: marks of accuracy"
[ "$(count '^0 value [-0-9]+ 0[.]0+ .* staleness$')" -eq 2 ] || fail "sync: marks of staleness"
[ "$(count ' operator .* all-reduce$')" -eq 40 ] || fail "sync: marks of all-reduce"
[ "$(count ' operator .* digits drawn, seed 1$')" -eq 2 ] || fail "sync: marks of what was read"
for operator in 'read batch' 'conv1 forward' 'conv2 backward weights' 'full1 backward data' apply; do
    [ "$(count " operator .* $operator\$")" -ge 40 ] || fail "sync: marks of $operator"
done
# 61,706 weights, the loss and two votes
[ "$(sed -n 's/.*"sent_bytes": \([0-9]*\).*/\1/p' "$work/sync.json" | sort -u)" = $((20 * 4 * (61706 + 3))) ] ||
    fail "sync: bytes"

marked async 3 32 --iterations 30 --mode async --test-every 10 --plant sleep:2:3
[ "$(count ' iteration ')" -eq 90 ] || fail "async: marks of iterations"
[ "$(json "$work/async.json" updates)" -eq 90 ] || fail "async: updates"
[ "$(json "$work/async.json" examples)" -eq $((90 * 32)) ] || fail "async: images"
holds "$(json "$work/async.json" staleness) > 0" || fail "async gradients are never stale"
[ "$(count ' begin .* testing$')" -eq 5 ] || fail "async: marks of tests, three of the model and one of each worker's copy"
[ "$(count '^[12] value .* own accuracy$')" -eq 2 ] || fail "async: marks of the workers' own accuracy"
[ "$(count '^0 value .* staleness$')" -eq 90 ] || fail "async: marks of staleness"
[ "$(count '^0 operator .* serve$')" -eq 60 ] || fail "async: marks of serving"

# Learning: a tenth of the answers would be right by chance. The accuracy of async depends on which ranks were late, and
# when.
train learnt 2 32 --epochs 3
train learnt_async 2 32 --epochs 4 --mode async --rate 0.1
echo "accuracy: sync $(last_accuracy learnt), async $(last_accuracy learnt_async)"
holds "$(last_accuracy learnt) > .85 && $(last_accuracy learnt_async) > .5" || fail "it does not learn"

for mode in sync async; do
    train limited 2 32 --epochs 1000000 --time-limit 1 --mode $mode
    grep -q '"out_of_time": true' "$work/limited.json" || fail "time limit, $mode"
done
train spinning 2 32 --iterations 3 --spin
exit 0
