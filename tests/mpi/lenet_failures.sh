#!/bin/bash
# SPDX-License-Identifier: MIT
# What goes wrong on one rank of a LeNet training ends all ranks, with a line that says what, and no hang.
workload=lenet
. "$CHOKEPOINT_SOURCE/tests/mpi/common.sh"
data=$CHOKEPOINT_BIN/chokepoint-data
[ -x "$data" ] || { echo "skipped: chokepoint-data is not built"; exit 77; }
"$data" generate digits --out "$work/data" --train 200 --test 50 --quiet >/dev/null || fail "generate"

# refused RANKS LINES PATTERN OPTIONS...: exits non-zero in time, and so many lines of ours say PATTERN, and no others
refused() {
    local n=$1 lines=$2 pattern=$3
    shift 3
    ranks "$n" --batch 16 --epochs 20 --quiet "$@" 2>"$work/out" >/dev/null
    local status=$?
    [ $status -ne 0 ] || fail "$*: exits with 0"
    [ $status -ne 99 ] && [ $status -lt 124 ] || fail "$*: hangs or crashes ($status): $(cat "$work/out")"
    [ "$(grep -c '^chokepoint-lenet: rank' "$work/out")" -eq "$lines" ] || fail "$*: $(cat "$work/out")"
    [ "$(grep -c "^chokepoint-lenet: .*$pattern" "$work/out")" -eq "$lines" ] || fail "$*: $(cat "$work/out")"
}
refused 2 1 "cannot write /nonexistent/summary" --data "$work/data" --iterations 2 --json /nonexistent/summary
refused 2 1 "names rank 2 of 2" --data "$work/data" --plant sleep:2:1
refused 3 3 "/nonexistent: no training images" --data /nonexistent
refused 2 2 "200 training images are not enough for 2 ranks with a --batch of 101" --data "$work/data" --batch 101
# Ranks may find that out in the same iteration.
for mode in sync async; do
    ranks 2 --batch 16 --epochs 20 --quiet --data "$work/data" --rate 1e30 --mode $mode 2>"$work/out" >/dev/null
    status=$?
    [ $status -ne 0 ] && [ $status -ne 99 ] && [ $status -lt 124 ] || fail "diverging, $mode: $status: $(cat "$work/out")"
    grep -q '^chokepoint-lenet: rank [01] .*the loss is .*: the training diverges' "$work/out" ||
        fail "diverging, $mode: $(cat "$work/out")"
done
cp -r "$work/data" "$work/cut"
truncate -s -1 "$work/cut/t10k-images-idx3-ubyte" # only rank 0 reads it
refused 2 1 "rank 0 .*t10k-images-idx3-ubyte: offset 39215: expected 39216 bytes by its head, found 39215" --data "$work/cut"
"$data" generate textures --out "$work/textures" --train 50 --test 10 --quiet >/dev/null || fail "generate"
refused 1 1 "expected images of 28 x 28 x 1, found 32 x 32 x 3" --data "$work/textures"

usage() {
    "$program" "$@" >"$work/out" 2>&1
    [ $? -eq 2 ] && [ "$(wc -l <"$work/out")" -eq 1 ] || fail "usage $*: $(cat "$work/out")"
}
usage
usage --data x --mode both
usage --data x --batch 0
usage --data x --momentum 1
usage --data x --rate 0
usage --data x --plant skew:0:0.5
usage --data x surplus
ranks 3 --batch 0 >"$work/out" 2>&1
[ $? -eq 2 ] && [ "$(grep -c '^chokepoint-lenet' "$work/out")" -eq 1 ] || fail "usage: $(cat "$work/out")"
"$program" --help | grep -q 'usage:' || fail "--help"
exit 0
