#!/bin/bash
# SPDX-License-Identifier: MIT
# A training that resumes from a checkpoint ends with the weights of one that never stopped, bit for bit in sync. A run killed
# while it writes a checkpoint leaves the one before. A file that is no checkpoint of this training is refused in one line
# with status 2.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh" || exit 1

features=3000
# Fewer examples than are used, so that positions wrap round, and --seed, so that ranks begin in the middle.
"$sgd" generate --features $features --examples 1100 --files 7 --out "$work/data" --test-examples 100 >/dev/null || fail "generate"
train() { # NAME RANKS ITERATIONS OPTIONS...
    ranks "$2" --features $features --data "$work/data" --batch 50 --seed 2 --rate 2 --decay .1 --test-every 4 \
        --iterations "$3" --weights "$work/$1" --json "$work/$1.json" --quiet "${@:4}" >"$work/said" || fail "training $1: ${*:4}"
}
resumes() { # NAME RANKS OPTIONS...: 20 iterations at once, and with two stops, one between checkpoints and one at a checkpoint
    local name=$1 n=$2
    shift 2
    local keep=(--checkpoint "$work/$name.d")
    train "$name.whole" "$n" 20 "$@"
    train "$name.a" "$n" 7 "$@" "${keep[@]}"
    train "$name.b" "$n" 13 "$@" "${keep[@]}" --resume --checkpoint-every 2
    [ "$(json "$work/$name.b.json" checkpoints)" -eq 4 ] || fail "$name: after 8, 10, 12 and 13: $(cat "$work/said")"
    grep -q 'resumed after 7 updates' "$work/said" || fail "$name: $(cat "$work/said")"
    train "$name.c" "$n" 20 "$@" "${keep[@]}" --resume
    cmp "$work/$name.whole" "$work/$name.c" || fail "$name: resumed weights differ"
    cmp -s "$work/$name.b" "$work/$name.c" && fail "$name: nothing was trained"
}
resumes sparse 3 --mode sync --transfer sparse
resumes dense 3 --mode sync --transfer dense
resumes down 3 --mode sync --transfer dense-down --server apart
resumes gathered 2 --mode sync --transfer sparse --exchange allreduce
resumes single 1 --mode single
resumes preloaded 1 --mode single --preload

# Async: the same number of updates in all.
train async.a 3 10 --mode async --transfer sparse --checkpoint "$work/async.d"
train async.b 3 20 --mode async --transfer sparse --checkpoint "$work/async.d" --resume
[ "$(json "$work/async.b.json" resumed_updates)" -ge 30 ] && [ "$(json "$work/async.b.json" updates)" -ge 60 ] &&
    [ "$(json "$work/async.b.json" updates)" -lt 63 ] || fail "async: $(cat "$work/said")"

# Marked as phases of their own, at the worker as well
export CHOKEPOINT_MARKS="$work/marks"
mkdir -m 700 "$work/marks.$(uname -n)"
train marked 2 6 --mode sync --transfer sparse --checkpoint "$work/marked.d" --checkpoint-every 3
"$CHOKEPOINT_BIN/mark_dump" "$work/marks.$(uname -n)" >"$work/dump" || fail "marks"
unset CHOKEPOINT_MARKS
[ "$(grep -c '^0 begin .* checkpoint$' "$work/dump")" -eq 2 ] && [ "$(grep -c '^0 operator .* write checkpoint$' "$work/dump")" -eq 2 ] ||
    fail "marks of checkpoints"
[ "$(grep -c '^1 begin .* checkpoint$' "$work/dump")" -ge 1 ] || fail "a worker's marks of checkpoints"

# The partial file of a run that was killed while it wrote is neither read nor in the way.
echo half >"$work/single.d/checkpoint.part"
train single.more 1 21 --mode single --checkpoint "$work/single.d" --resume
[ "$(ls "$work/single.d")" = checkpoint ] || fail "left: $(ls "$work/single.d")"

refused() { # PATTERN OPTIONS...: one line, status 2, and no checkpoint is touched
    local pattern=$1 before
    shift
    before=$(cksum "$work/bad/checkpoint" 2>&1)
    timeout -k 5 60 mpirun --oversubscribe -np 2 "$sgd" --mode sync --transfer sparse --features $features --data "$work/data" \
        --batch 50 --seed 2 --quiet --checkpoint "$work/bad" --resume "$@" 2>"$work/out" >/dev/null
    local status=$?
    [ $status -eq 2 ] && [ "$(grep -c '^chokepoint-sgd: ' "$work/out")" -eq 1 ] &&
        grep -q "^chokepoint-sgd: rank 0 .*$work/bad/checkpoint: $pattern" "$work/out" || fail "$pattern: $status: $(cat "$work/out")"
    [ "$(cksum "$work/bad/checkpoint" 2>&1)" = "$before" ] || fail "$pattern: the file is not as it was"
}
mkdir "$work/bad"
refused 'no checkpoint to resume: No such file'
good=$work/marked.d/checkpoint
cp "$good" "$work/bad/checkpoint"
refused 'a checkpoint of another training: --batch is 50, expected 51' --batch 51
refused 'a checkpoint of another training: --seed is 2, expected 3' --seed 3
refused 'a checkpoint of another training: features is 3000, expected 4000' --features 4000
refused 'a checkpoint of another training: --mode .* is 0, expected 1' --mode async
refused 'a checkpoint of another training: ranks that work is 2, expected 1' --server apart
printf 'x' | dd of="$work/bad/checkpoint" bs=1 seek=500 conv=notrunc 2>/dev/null
refused 'damaged: its checksum is wrong'
cp "$good" "$work/bad/checkpoint"
echo >>"$work/bad/checkpoint"
refused 'expected a checkpoint of [0-9]* bytes, found [0-9]*'
truncate -s 1000 "$work/bad/checkpoint"
refused 'expected a checkpoint of [0-9]* bytes, found 1000'
truncate -s 5 "$work/bad/checkpoint"
refused 'it ends too early'
head -c 20000 /dev/urandom >"$work/bad/checkpoint"
refused 'no checkpoint of chokepoint-sgd'
for words in --resume "--checkpoint-every 3" "--checkpoint x --checkpoint-every 0"; do
    # shellcheck disable=SC2086 # words
    "$sgd" --mode single --features 10 --data x $words >"$work/out" 2>&1
    [ $? -eq 2 ] && [ "$(wc -l <"$work/out")" -eq 1 ] || fail "$words: $(cat "$work/out")"
done
exit 0
