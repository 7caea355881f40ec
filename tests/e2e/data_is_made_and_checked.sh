#!/bin/bash
# SPDX-License-Identifier: MIT
# chokepoint-data: the same words give the same bytes; check reads what generate wrote (also packed); a fault in a
# file is reported in one line with its name and the position.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=$CHOKEPOINT_BIN/chokepoint-data
fail() { echo "FAILED: $*"; exit 1; }

"$data" generate digits --out "$work/a" --train 600 --test 200 --seed 5 >/dev/null 2>&1 || fail "generate digits"
"$data" generate digits --out "$work/b" --train 600 --test 200 --seed 5 --quiet >/dev/null || fail "generate again"
"$data" generate digits --out "$work/c" --train 600 --test 200 --seed 6 --quiet >/dev/null || fail "another seed"
diff -r "$work/a" "$work/b" || fail "the same words give other bytes"
grep -qx 'digits drawn, seed 5' "$work/a/origin.txt" || fail "origin: $(cat "$work/a/origin.txt")"
cmp -s "$work/a/train-images-idx3-ubyte" "$work/c/train-images-idx3-ubyte" && fail "another seed gives the same bytes"
"$data" check "$work/a" >"$work/out" || fail "check"
grep -q '^training: 600 images of 28 x 28 x 1; of each class [0-9 ]*$' "$work/out" || fail "check: $(cat "$work/out")"
grep -q '^test: 200 images' "$work/out" || fail "check: $(cat "$work/out")"
gzip "$work"/b/*
"$data" check "$work/b" | diff - "$work/out" || fail "packed files are read otherwise"

"$data" generate textures --out "$work/t" --train 103 --test 20 --quiet >/dev/null || fail "generate textures"
[ "$(ls "$work/t" | tr '\n' ' ')" = "data_batch_1.bin data_batch_2.bin data_batch_3.bin data_batch_4.bin data_batch_5.bin origin.txt test_batch.bin " ] ||
    fail "files of textures: $(ls "$work/t")"
"$data" check "$work/t" | grep -q '^training: 103 images of 32 x 32 x 3;' || fail "check of textures"

# refused PATTERN: for a damaged copy of the digits
refused() {
    "$data" check "$work/x" >"$work/out" 2>&1
    local status=$?
    [ $status -eq 1 ] && [ "$(grep -c '^chokepoint-data: ' "$work/out")" -eq 1 ] && grep -q "$1" "$work/out" ||
        fail "expected $1, found status $status, $(cat "$work/out")"
    rm -r "$work/x"
}
cp -r "$work/a" "$work/x"
truncate -s 100000 "$work/x/train-images-idx3-ubyte"
refused 'train-images-idx3-ubyte: offset 100000: expected 470416 bytes by its head, found 100000'
cp -r "$work/b" "$work/x"
truncate -s -100 "$work/x/train-images-idx3-ubyte.gz"
refused 'train-images-idx3-ubyte.gz: offset [0-9]*: the gzip stream ends too early'
cp -r "$work/t" "$work/x"
printf '\012' | dd of="$work/x/data_batch_2.bin" bs=1 seek=3073 conv=notrunc status=none
refused 'data_batch_2.bin: offset 3073: expected a label from 0 to 9, found 10'
mkdir "$work/x"
refused 'no training images (IDX or CIFAR-10 binary)'
cp -r "$work/a" "$work/x"
rm "$work/x/t10k-labels-idx1-ubyte"
refused 'no labels beside its images'

# A full disk: one line, and no file that looks complete.
if [ -e /dev/full ]; then
    mkdir "$work/full"
    ln -s /dev/full "$work/full/train-images-idx3-ubyte.part"
    "$data" generate digits --out "$work/full" --train 600 --test 0 --quiet >"$work/out" 2>&1 && fail "full disk: exits with 0"
    [ "$(wc -l <"$work/out")" -eq 1 ] && grep -q 'No space left on device' "$work/out" || fail "full disk: $(cat "$work/out")"
    [ -z "$(ls "$work/full")" ] || fail "full disk leaves $(ls "$work/full")"
    "$data" check "$work/a" >/dev/full 2>"$work/out" && fail "a full standard output is not noticed"
    [ "$(cat "$work/out")" = "chokepoint-data: cannot write standard output: No space left on device" ] ||
        fail "full standard output: $(cat "$work/out")"
fi

usage() {
    "$data" "$@" >"$work/out" 2>&1
    [ $? -eq 2 ] && [ "$(wc -l <"$work/out")" -eq 1 ] || fail "usage $*: $(cat "$work/out")"
}
usage
usage invent
usage generate
usage generate digits
usage generate faces --out x
usage generate digits --out x --train 0
usage generate digits --out x surplus
usage fetch
usage fetch imagenet
usage fetch mnist --sha256 0000000000000000000000000000000000000000000000000000000000000000
usage fetch http://localhost/x --from http://localhost
usage fetch http://localhost/x --sha256 12
usage check
exit 0
