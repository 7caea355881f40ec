#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of a message: more bytes take longer; the summary, its JSON and the marks agree; wrong words and numbers of
# ranks are refused.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh" || exit 1
messages=$CHOKEPOINT_BIN/chokepoint-messages
[ -x "$messages" ] || { echo "skipped: chokepoint-messages is not built"; exit 77; }
pair() { timeout 60 mpirun --oversubscribe -np 2 --mca btl "self,$1" "$messages" --seconds .2 "${@:2}" 2>"$work/stderr"; }

export CHOKEPOINT_MARKS="$work/marks"
for transport in vader tcp; do
    for bytes in 8 4000000; do
        mkdir -m 700 "$work/marks.$(uname -n)"
        pair $transport --bytes $bytes --json "$work/$bytes.json" >"$work/$bytes" || fail "$transport: $(cat "$work/stderr")"
        "$CHOKEPOINT_BIN/mark_dump" "$work/marks.$(uname -n)" >"$work/dump" || fail "marks"
        rm -r "$work/marks.$(uname -n)"
        latency=$(json "$work/$bytes.json" latency_s) rate=$(json "$work/$bytes.json" mb_s)
        holds "$latency > 0 && $(json "$work/$bytes.json" least_latency_s) <= $latency" || fail "$transport: latency $latency"
        holds "$rate * $latency / ($bytes * 1e-6) > .999 && $rate * $latency / ($bytes * 1e-6) < 1.001" ||
            fail "$transport: $rate MB/s at $latency s"
        said=$(sed -n 's/^  one way \([0-9.]*\) us.*/\1/p' "$work/$bytes")
        holds "$said - $latency * 1e6 < .001 && $latency * 1e6 - $said < .001" || fail "$transport: says $said us, not $latency s"
        grep -qE '^0 value .* latency \(us\)$' "$work/dump" || fail "$transport: no mark of the latency"
        # A batch takes a millisecond, except those that measure how many round trips that is.
        [ "$(grep -c '^0 iteration ' "$work/dump")" -le 300 ] || fail "$transport: batches are too short"
    done
    holds "$(json "$work/4000000.json" latency_s) > 10 * $(json "$work/8.json" latency_s)" || fail "$transport: size costs nothing"
done

timeout 60 mpirun --oversubscribe -np 3 "$messages" >/dev/null 2>"$work/stderr" && fail "three ranks"
grep -q 'two ranks' "$work/stderr" || fail "three ranks: $(cat "$work/stderr")"
"$messages" --bytes 0 2>"$work/stderr"
[ $? -eq 2 ] && [ "$(wc -l <"$work/stderr")" -eq 1 ] || fail "0 bytes"
