#!/bin/bash
# SPDX-License-Identifier: MIT
# Backup workers: a synchronous training does not wait for its slowest workers, drops what they send late, and reports
# that; without backup workers it is the same training as before, bit by bit.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh" || exit 1

features=20000 batch=100 iterations=60 n=4
best=$("$sgd" generate --features $features --examples 8000 --files 4 --out "$work/data" --test-examples 2000) ||
    fail "generate"
base=$(sed 's/.*base rate \([0-9.]*\).*/\1/' <<<"$best")
train() { # NAME OPTIONS...
    local name=$1
    shift
    ranks $n --mode sync --features $features --data "$work/data" --batch $batch --iterations $iterations \
        --json "$work/$name.json" --weights "$work/$name" "$@" 2>"$work/stderr" >"$work/stdout" ||
        fail "$name: $(cat "$work/stderr")"
}
iterations_of() { sed -n 's/.*"iterations": \([0-9]*\).*/\1/p' "$work/$1.json" | sed -n "$(($2 + 1))p"; }

for transfer in sparse dense dense-down; do
    train "$transfer" --transfer $transfer --backup 1 --plant sleep:1:4 --plant sleep:2:4 --plant sleep:3:40
    dropped=$(json "$work/$transfer.json" dropped_gradients)
    examples=$(json "$work/$transfer.json" examples)
    accuracy=$(sed -n 's/.*"accuracy": \([0-9.]*\).*/\1/p' "$work/$transfer.json")
    echo "$transfer: $dropped dropped, $examples examples, rank 3: $(iterations_of "$transfer" 3) iterations, accuracy $accuracy"
    [ "$(json "$work/$transfer.json" updates)" -eq $iterations ] || fail "$transfer: updates"
    [ "$dropped" -ge 1 ] || fail "$transfer: nothing came late"
    holds "$(json "$work/$transfer.json" spared_s) > 0" || fail "$transfer: no time was spared"
    [ "$examples" -ge $((iterations * (n - 1) * batch)) ] && [ "$examples" -lt $((iterations * n * batch)) ] ||
        fail "$transfer: $examples examples"
    [ "$(iterations_of "$transfer" 3)" -lt $iterations ] || fail "$transfer: the slow rank did all iterations"
    holds "$accuracy * 100 > $base + 5" || fail "$transfer: it does not learn"
    grep -q "^  $dropped gradients came late and were dropped" "$work/stdout" || fail "$transfer: not said"
done

train plain --transfer sparse
train none --transfer sparse --backup 0
cmp "$work/plain" "$work/none" || fail "without backup workers it is another training"

export CHOKEPOINT_MARKS="$work/marks"
mkdir -m 700 "$work/marks.$(uname -n)"
train marked --transfer sparse --backup 1 --plant sleep:3:20
"$CHOKEPOINT_BIN/mark_dump" "$work/marks.$(uname -n)" >"$work/dump" || fail "marks"
unset CHOKEPOINT_MARKS
[ "$(grep -cE '^0 value .* gradients of an update$' "$work/dump")" -eq $iterations ] || fail "marks of gradients"

refused() { # PATTERN OPTIONS...
    local pattern=$1
    shift
    ranks 3 --features $features --data "$work/data" --transfer sparse "$@" >/dev/null 2>"$work/stderr"
    local status=$?
    [ $status -ne 0 ] && [ $status -lt 124 ] || fail "$*: exit status $status"
    grep -q -- "$pattern" "$work/stderr" || fail "$*: $(cat "$work/stderr")"
}
refused 'more workers than it does not wait for' --mode sync --backup 2
refused 'is for --mode sync' --mode async --backup 1
refused 'is for --mode sync' --mode sync --exchange allreduce --backup 1
refused 'do not go together' --mode sync --backup 1 --checkpoint "$work/checkpoints"
