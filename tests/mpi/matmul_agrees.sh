#!/bin/bash
# SPDX-License-Identifier: MIT
# One rank and many give the same trace to the last digit, for whole products and traces alone, in both
# precisions, with any blocks; every element of C is right; the bytes moved are those of the arithmetic;
# phases, rounds and operators are marked; planted faults change no result.
workload=matmul
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh" || exit 1

trace() { json "$work/summary" trace; }
multiply() { # RANKS OPTIONS...
    local n=$1
    shift
    ranks "$n" --size 500 --seed 7 "$@" --json "$work/summary" --quiet 2>"$work/stderr" >"$work/stdout" ||
        fail "$*: $(cat "$work/stderr")"
}
multiply 1 --block 500 --check
expected=$(trace)
[ -n "$expected" ] || fail "no trace"
# A short last block, equal blocks, ranks without a block in some row
for cell in "1 60" "2 100" "3 333" "5 60"; do
    read -r n block <<<"$cell"
    multiply "$n" --block "$block" --check
    [ "$(trace)" = "$expected" ] || fail "$n ranks, blocks of $block: trace $(trace), not $expected"
    grep -q '"checked": true' "$work/summary" || fail "not checked"
done
for n in 1 4; do
    multiply $n --block 60 --product trace
    [ "$(trace)" = "$expected" ] || fail "$n ranks, trace alone: $(trace), not $expected"
    ! grep -q '"sent_bytes": [1-9]' "$work/summary" || fail "a trace alone sends"
done
multiply 3 --block 100 --check --precision double
[ "$(trace)" = "$expected" ] || fail "double: $(trace)"
multiply 2 --block 100 --seed 8
[ "$(trace)" != "$expected" ] || fail "another seed, the same trace"
multiply 3 --block 100 --check --repeat 2 --spin --plant skew:1:1.5 --plant sleep:2:1 --plant memory:0:1
[ "$(trace)" = "$expected" ] || fail "planted: $(trace)"
grep -q 'planted: rank 1: 1.5 times the work' "$work/stderr" || fail "silent about what is planted"
[ "$(json "$work/summary" rounds)" -eq 10 ] || fail "rounds"

# 5 x 5 blocks of 100 x 100 floats over 5 ranks: a rank has one block in each row and each column, and lacks
# four of each panel of five, of A and of B, in each of five rounds.
multiply 5 --block 100
sent=$(sed -n 's/.*"sent_bytes": \([0-9]*\).*/\1/p' "$work/summary" | sort -u)
[ "$sent" = $((5 * 2 * 4 * 100 * 100 * 4)) ] || fail "each rank sent $sent bytes"
received=$(sed -n 's/.*"received_bytes": \([0-9]*\).*/\1/p' "$work/summary" | sort -u)
[ "$received" = "$sent" ] || fail "each rank received $received bytes"

export CHOKEPOINT_MARKS="$work/marks"
host=$(uname -n)
mkdir -m 700 "$work/marks.$host"
multiply 3 --block 100
"$CHOKEPOINT_BIN/mark_dump" "$work/marks.$host" >"$work/dump" || fail "marks"
count() { grep -cE "$1" "$work/dump"; }
[ "$(count ' iteration ')" -eq 15 ] || fail "marks of rounds: $(count ' iteration ')"
[ "$(count ' operator .* block product$')" -eq 125 ] || fail "marks of block products"
[ "$(count ' operator .* exchange$')" -eq 15 ] || fail "marks of exchanges"
for phase in loading multiplying checking; do
    [ "$(count " begin .* $phase\$")" -eq 3 ] || fail "marks of $phase"
done
[ "$(count ' value .* trace$')" -eq 3 ] || fail "marks of the trace"
unset CHOKEPOINT_MARKS

# The limit ends a long run in order; an unfinished product has no trace.
multiply 2 --block 5 --repeat 1000000 --time-limit 0.5
grep -q '"out_of_time": true' "$work/summary" || fail "time limit"
exit 0
