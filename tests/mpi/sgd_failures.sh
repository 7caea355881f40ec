#!/bin/bash
# SPDX-License-Identifier: MIT
# A failure on one rank ends all ranks, with one line that names it and the rank, and without a
# hang.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh" || exit 1

features=5000
"$sgd" generate --features $features --examples 2000 --files 4 --out "$work/data" \
    --test-examples 100 >/dev/null || fail "generate"

# refused RANKS PATTERN OPTIONS...: exits non-zero in time, and exactly one of our lines matches PATTERN. The training is
# too long to end before a rank that gets no core has read the bad input: async waits for no rank.
refused() {
    local n=$1 pattern=$2
    shift 2
    ranks "$n" --features $features --iterations 100000000 --batch 100 --quiet "$@" 2>"$work/out" >/dev/null
    local status=$?
    [ $status -ne 0 ] || fail "$*: exits with 0"
    [ $status -ne 99 ] && [ $status -lt 124 ] || fail "$*: hangs or crashes ($status): $(cat "$work/out")"
    [ "$(grep -c '^chokepoint-sgd: ' "$work/out")" -eq 1 ] || fail "$*: $(cat "$work/out")"
    grep -q "^chokepoint-sgd: .*$pattern" "$work/out" || fail "$*: $(cat "$work/out")"
}

# Rank R reads train-0R: damages one line of a worker's file, then of the server's.
spoil() { sed -i "300s/.*/$2/" "$work/data/train-0$1.libsvm"; }
cp -r "$work/data" "$work/good"
for how in "sync --transfer dense" "sync --transfer sparse" "async --transfer dense" "async --transfer sparse" \
    "async --transfer dense --prefetch" "sync --transfer dense-down"; do
    spoil 2 "1 7:x"
    # shellcheck disable=SC2086 # words
    refused 4 "rank 2 .*train-02.libsvm: line 300, column 5: expected a finite number, found \"x\"" \
        --data "$work/data" --mode $how
    cp "$work/good/"* "$work/data/"
    spoil 0 "1 5001:1"
    # shellcheck disable=SC2086
    refused 4 "rank 0 .*line 300, column 3: expected an index within --features, found \"5001:1\"" \
        --data "$work/data" --mode $how
    cp "$work/good/"* "$work/data/"
done
echo "0 9:9:9" >"$work/bad-test"
refused 3 "bad-test: line 1" --mode sync --transfer sparse --data "$work/data" --test-data "$work/bad-test"
refused 3 "bad-test: line 1" --mode async --transfer dense --data "$work/data" --test-data "$work/bad-test"

for mode in sync async; do
    refused 3 "the loss is .* the training diverges" --mode $mode --transfer sparse \
        --data "$work/data" --rate 3e38
done
refused 3 "the loss is .* the training diverges" --mode async --transfer dense --prefetch --data "$work/data" --rate 3e38
for transfer in dense sparse; do
    refused 3 "rank 0 .*the loss is .* the training diverges" --mode sync --exchange allreduce --transfer $transfer \
        --data "$work/data" --rate 3e38
done
refused 1 "the loss is .* the training diverges" --mode single --data "$work/data" --rate 3e38
spoil 2 "1 7:x"
refused 4 "rank 2 .*train-02.libsvm: line 300, column 5: expected a finite number" \
    --mode sync --exchange allreduce --transfer sparse --data "$work/data"
refused 4 "rank 2 .*train-02.libsvm: line 300, column 5: expected a finite number" \
    --mode sync --transfer sparse --data "$work/data" --preload
# Cut in the middle of an entry
cp "$work/good/"* "$work/data/"
head -c $(($(head -n 299 "$work/good/train-01.libsvm" | wc -c) + 3)) "$work/good/train-01.libsvm" >"$work/data/train-01.libsvm"
refused 5 "rank 2 .*train-01.libsvm: line 300, column [0-9]*: expected .*, found \"" \
    --mode async --transfer sparse --data "$work/data" --server apart
cp "$work/good/"* "$work/data/"

"$sgd" generate --features 1000 --examples 200 --files 1 --out "$work/small" >/dev/full 2>"$work/out" &&
    fail "generate: a full standard output is not noticed"
[ "$(cat "$work/out")" = "chokepoint-sgd: cannot write standard output: No space left on device" ] ||
    fail "generate: $(cat "$work/out")"
# A full disk, for results that fit into a buffer and some that do not
for what in json weights; do
    refused 2 "cannot write /dev/full: No space left on device" --mode sync --transfer sparse --data "$work/data" \
        --iterations 2 --$what /dev/full
done
refused 2 "cannot write /nonexistent/summary" --mode sync --transfer sparse --data "$work/data" --iterations 2 \
    --json /nonexistent/summary
# A full disk leaves the earlier files unchanged, and no part of the new one.
mkdir "$work/disk"
if mount -t tmpfs -o size=16k tmpfs "$work/disk" 2>/dev/null; then
    trap 'umount "$work/disk"; rm -rf "$work"' EXIT
    echo before >"$work/disk/weights"
    head -c 12288 /dev/zero >"$work/disk/fill" # no page is free
    for what in json weights; do
        refused 2 "cannot write $work/disk/$what: No space left on device" --mode sync --transfer sparse --data "$work/data" \
            --iterations 2 --$what "$work/disk/$what"
        [ "$(ls "$work/disk")" = "$(printf 'fill\nweights')" ] || fail "full disk, $what: $(ls "$work/disk")"
    done
    [ "$(cat "$work/disk/weights")" = before ] || fail "full disk: weights are lost"
else
    echo "no right to mount a small disk: left out"
fi
refused 2 "rank 0 .*--mode single is for one rank, there are 2" --mode single --data "$work/data"
refused 1 "rank 0 .*--server apart needs 2 ranks or more, there is 1" --mode sync --transfer sparse --server apart \
    --data "$work/data"
refused 2 "rank 0 .*--plant names rank 2 of 2" --mode sync --transfer sparse --data "$work/data" --plant sleep:2:1

# More ranks than lines: each rank without a line prints which bytes were its own.
mkdir "$work/short"
printf '0 1:1 2:1\n1 3:1 4:1\n' >"$work/short/train-00.libsvm"
ranks 5 --mode sync --transfer sparse --features $features --data "$work/short" >"$work/out" 2>&1 &&
    fail "more ranks than examples: exits with 0"
grep -q '^chokepoint-sgd: rank [0-9] .*train-00.libsvm: expected at least one example in bytes [0-9]* to [0-9]*, the share of this rank, found none' \
    "$work/out" || fail "more ranks than examples: $(cat "$work/out")"
[ "$(grep -c '^chokepoint-sgd:' "$work/out")" -eq 3 ] || fail "more ranks than examples: $(cat "$work/out")"

# Images
if [ -x "$CHOKEPOINT_BIN/chokepoint-data" ]; then
    "$CHOKEPOINT_BIN/chokepoint-data" generate digits --out "$work/digits" --train 200 --test 50 --quiet >/dev/null ||
        fail "generate digits"
    softmax() { # RANKS LINES PATTERN OPTIONS...: that many of our lines, all of which match PATTERN
        local n=$1 lines=$2 pattern=$3
        shift 3
        ranks "$n" --model softmax --mode sync --quiet "$@" 2>"$work/out" >/dev/null
        local status=$?
        [ $status -ne 0 ] && [ $status -ne 99 ] && [ $status -lt 124 ] || fail "$*: $status: $(cat "$work/out")"
        [ "$(grep -c '^chokepoint-sgd: ' "$work/out")" -eq "$lines" ] &&
            [ "$(grep -c "^chokepoint-sgd: rank .*$pattern" "$work/out")" -eq "$lines" ] || fail "$*: $(cat "$work/out")"
    }
    softmax 3 3 "expected 300 training images or more, for each of 3 ranks a --batch of 100, found 200" \
        --data "$work/digits" --batch 100
    softmax 2 1 "the training diverges" --data "$work/digits" --batch 20 --rate 1e38
    softmax 2 1 "cannot write /dev/full: No space left on device" --data "$work/digits" --batch 20 --epochs 1 --weights /dev/full
    cp -r "$work/digits" "$work/cut"
    truncate -s -1 "$work/cut/t10k-images-idx3-ubyte" # rank 0 reads it, and a worker for its own copy
    softmax 2 2 "t10k-images-idx3-ubyte: offset 39215: expected 39216 bytes by its head, found 39215" --data "$work/cut" --batch 20
    printf '\377' | dd of="$work/digits/train-labels-idx1-ubyte" bs=1 seek=20 conv=notrunc 2>/dev/null
    softmax 2 2 "train-labels-idx1-ubyte: offset 20: expected " --data "$work/digits" --batch 20
fi

# Every rank finds that there are no data, and prints a line about it.
ranks 3 --mode sync --transfer sparse --features 10 --data /nonexistent >"$work/out" 2>&1 &&
    fail "no data: exits with 0"
[ "$(grep -c '^chokepoint-sgd: rank [0-2] .*: /nonexistent: cannot open the data' "$work/out")" -eq 3 ] ||
    fail "no data: $(cat "$work/out")"

# Usage errors: one line for any number of ranks, and status 2.
usage() {
    "$sgd" "$@" >"$work/out" 2>&1
    [ $? -eq 2 ] && [ "$(wc -l <"$work/out")" -eq 1 ] || fail "usage $*: $(cat "$work/out")"
}
good=(--mode sync --transfer dense --features 10 --data x)
usage
usage "${good[@]}" --mode both
usage "${good[@]}" --features 0
usage "${good[@]}" --features 5000000000
usage "${good[@]}" --batch -1
usage "${good[@]}" --rate nan
usage "${good[@]}" --batch
usage "${good[@]}" --what
usage "${good[@]}" --decay -1
usage "${good[@]}" --model softmax
usage "${good[@]}" --epochs 3
usage "${good[@]}" --iterations 3 --examples 3
usage "${good[@]}" --mode async --exchange allreduce
usage "${good[@]}" --exchange allreduce --server apart
usage "${good[@]}" --mode single --server apart
usage "${good[@]}" --prefetch
usage "${good[@]}" --transfer dense-up
usage "${good[@]}" --transfer dense-down --exchange allreduce
usage "${good[@]}" --mode async --transfer dense-down --prefetch
usage "${good[@]}" --mode async --transfer sparse --prefetch
usage --mode sync --features 10 --data x
usage "${good[@]}" surplus
usage generate --features 1000
ranks 3 --mode sync >"$work/out" 2>&1
[ $? -eq 2 ] && [ "$(grep -c '^chokepoint-sgd' "$work/out")" -eq 1 ] || fail "usage: $(cat "$work/out")"
"$sgd" --help | grep -q 'usage:' || fail "--help"
exit 0
