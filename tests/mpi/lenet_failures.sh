#!/bin/bash
# SPDX-License-Identifier: MIT
# A failure on one rank of a LeNet training ends all ranks, with a line that names it, and without a
# hang.
workload=lenet weights=61706
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/training.sh" || exit 1
images digits "$work/data" 200 50
refused 2 1 "cannot write /nonexistent/summary" --data "$work/data" --iterations 2 --json /nonexistent/summary
for what in json weights; do
    refused 2 1 "cannot write /dev/full: No space left on device" --data "$work/data" --iterations 2 --$what /dev/full
done
refused 2 1 "names rank 2 of 2" --data "$work/data" --plant sleep:2:1
refused 3 3 "/nonexistent: no training images" --data /nonexistent
refused 2 2 "200 training images are not enough for 2 ranks with a --batch of 101" --data "$work/data" --batch 101
diverges 2 --rate 1e30
diverges 2 --rate 1e30 --mode async
cp -r "$work/data" "$work/cut"
truncate -s -1 "$work/cut/t10k-images-idx3-ubyte" # only rank 0 reads it
refused 2 1 "rank 0 .*t10k-images-idx3-ubyte: offset 39215: expected 39216 bytes by its head, found 39215" --data "$work/cut"
images textures "$work/textures" 50 10
refused 1 1 "expected images of 28 x 28 x 1, found 32 x 32 x 3" --data "$work/textures"

usage() {
    "$program" "$@" >"$work/out" 2>&1
    [ $? -eq 2 ] && [ "$(wc -l <"$work/out")" -eq 1 ] || fail "usage $*: $(cat "$work/out")"
}
usage
usage --data x --mode both
usage --data x --batch 0
usage --data x --momentum 1
usage --data x --target 0
usage --data x --target 101
usage --data x --optimizer lbfgs
usage --data x --rate 0
usage --data x --plant skew:0:0.5
usage --data x surplus
ranks 3 --batch 0 >"$work/out" 2>&1
[ $? -eq 2 ] && [ "$(grep -c '^chokepoint-lenet' "$work/out")" -eq 1 ] || fail "usage: $(cat "$work/out")"
"$program" --help | grep -q 'usage:' || fail "--help"
exit 0
