#!/bin/bash
# SPDX-License-Identifier: MIT
# What goes wrong on one rank ends all ranks, with one line that says what and where, and no hang.
. "$CHOKEPOINT_SOURCE/tests/mpi/common.sh"

features=5000
"$sgd" generate --features $features --examples 2000 --files 4 --out "$work/data" \
    --test-examples 100 >/dev/null || fail "generate"

# refused RANKS PATTERN OPTIONS...: exits non-zero in time, and exactly one line of ours says PATTERN
refused() {
    local n=$1 pattern=$2
    shift 2
    ranks "$n" --features $features --iterations 50 --batch 100 --quiet "$@" 2>"$work/out" >/dev/null
    local status=$?
    [ $status -ne 0 ] || fail "$*: exits with 0"
    [ $status -ne 99 ] && [ $status -lt 124 ] || fail "$*: hangs or crashes ($status): $(cat "$work/out")"
    [ "$(grep -c '^chokepoint-sgd: ' "$work/out")" -eq 1 ] || fail "$*: $(cat "$work/out")"
    grep -q "^chokepoint-sgd: .*$pattern" "$work/out" || fail "$*: $(cat "$work/out")"
}

# Rank R reads train-0R: spoil one line of a worker's file, then of the server's.
spoil() { sed -i "300s/.*/$2/" "$work/data/train-0$1.libsvm"; }
cp -r "$work/data" "$work/good"
for mode in sync async; do
    for transfer in dense sparse; do
        spoil 2 "1 7:x"
        refused 4 "rank 2 .*train-02.libsvm: line 300, column 5: expected a finite number, found \"x\"" \
            --mode $mode --transfer $transfer --data "$work/data"
        cp "$work/good/"* "$work/data/"
        spoil 0 "1 5001:1"
        refused 4 "rank 0 .*line 300, column 3: expected an index within --features, found \"5001:1\"" \
            --mode $mode --transfer $transfer --data "$work/data"
        cp "$work/good/"* "$work/data/"
    done
done
echo "0 9:9:9" >"$work/bad-test"
refused 3 "bad-test: line 1" --mode sync --transfer sparse --data "$work/data" --test-data "$work/bad-test"
refused 3 "bad-test: line 1" --mode async --transfer dense --data "$work/data" --test-data "$work/bad-test"

for mode in sync async; do
    refused 3 "the loss is .* the training diverges" --mode $mode --transfer sparse \
        --data "$work/data" --rate 3e38
done
refused 2 "cannot write /nonexistent/summary" --mode sync --transfer sparse --data "$work/data" \
    --json /nonexistent/summary

# Every rank finds that there is no data, and says so: a line each.
ranks 3 --mode sync --transfer sparse --features 10 --data /nonexistent >"$work/out" 2>&1 &&
    fail "no data: exits with 0"
[ "$(grep -c '^chokepoint-sgd: rank [0-2] .*: /nonexistent: cannot open the data' "$work/out")" -eq 3 ] ||
    fail "no data: $(cat "$work/out")"

# Usage errors: one line however many ranks, status 2.
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
usage "${good[@]}" surplus
usage generate --features 1000
ranks 3 --mode sync >"$work/out" 2>&1
[ $? -eq 2 ] && [ "$(grep -c '^chokepoint-sgd' "$work/out")" -eq 1 ] || fail "usage: $(cat "$work/out")"
"$sgd" --help | grep -q 'usage:' || fail "--help"
exit 0
