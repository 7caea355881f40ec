#!/bin/bash
# SPDX-License-Identifier: MIT
# A failure ends all ranks, with one line that names it, and without a hang; a product with one
# wrong element is found.
workload=matmul
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh" || exit 1

# refused RANKS PATTERN OPTIONS...: exits non-zero in time, and exactly one of our lines matches
# PATTERN
refused() {
    local n=$1 pattern=$2
    shift 2
    ranks "$n" --quiet "$@" 2>"$work/out" >/dev/null
    local status=$?
    [ $status -ne 0 ] || fail "$*: exits with 0"
    [ $status -ne 99 ] && [ $status -lt 124 ] || fail "$*: hangs or crashes ($status): $(cat "$work/out")"
    [ "$(grep -c '^chokepoint-matmul: rank' "$work/out")" -eq 1 ] || fail "$*: $(cat "$work/out")"
    grep -q "^chokepoint-matmul: .*$pattern" "$work/out" || fail "$*: $(cat "$work/out")"
}
refused 2 "cannot write /nonexistent/summary" --size 50 --json /nonexistent/summary
refused 2 "cannot write /dev/full: No space left on device" --size 50 --json /dev/full
refused 2 "names rank 2 of 2" --size 50 --plant sleep:2:1
"$program" --size 50 --quiet 2>"$work/out" >/dev/full && fail "a full standard output is not noticed"
[ "$(grep -c 'rank 0 .*cannot write standard output: No space left on device' "$work/out")" -eq 1 ] ||
    fail "full standard output: $(cat "$work/out")"
# No place for a working set, in the middle of a round
timeout -k 5 120 mpirun --oversubscribe -np 3 env TMPDIR=/dev/null "$program" --size 300 --block 100 --quiet \
    --plant memory:1:1 >"$work/out" 2>&1
status=$?
[ $status -ne 0 ] && [ $status -lt 124 ] || fail "no working set: $status: $(cat "$work/out")"
[ "$(grep -c '^chokepoint-matmul: rank 1 .*no working set to be had' "$work/out")" -eq 1 ] ||
    fail "no working set: $(cat "$work/out")"
# 262143^2 floats three times: on one rank more than any test machine has
refused 1 "GB of matrices for the 1 rank of this host" --size 262143 --block 8192

# An OpenBLAS with an error in one element of one call of rank 1. Sanitizers want to be loaded first, but work
# without that.
export ASAN_OPTIONS="$ASAN_OPTIONS:verify_asan_link_order=0"
export LD_PRELOAD="$CHOKEPOINT_BIN/libwrong_blas.so"
refused 1 "row 42 of C is not that of A B" --size 100 --block 100 --check
unset LD_PRELOAD

# Usage errors: one line for any number of ranks, and status 2.
usage() {
    "$program" "$@" >"$work/out" 2>&1
    [ $? -eq 2 ] && [ "$(wc -l <"$work/out")" -eq 1 ] || fail "usage $*: $(cat "$work/out")"
}
usage
usage --size 0
usage --size 10 --block 9000
usage --size 10 --precision half
usage --size 300000
usage --size 200000 --block 10
usage --size 10 --product trace --check
usage --size 10 --repeat -1
usage --size 10 --time-limit nan
usage --size 10 --plant apply:3
usage --size 10 --plant skew:0:0.5
usage --size 10 --plant what
usage --size
usage --what
usage --size 10 surplus
ranks 3 --size 0 >"$work/out" 2>&1
[ $? -eq 2 ] && [ "$(grep -c '^chokepoint-matmul' "$work/out")" -eq 1 ] || fail "usage: $(cat "$work/out")"
"$program" --help | grep -q 'usage:' || fail "--help"
exit 0
