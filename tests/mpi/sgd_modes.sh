#!/bin/bash
# SPDX-License-Identifier: MIT
# All four modes learn the planted model, do the requested work, move the bytes of the arithmetic, and
# mark phases and iterations if a profiler listens.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh" || exit 1

features=20000 batch=200 iterations=20 n=4
best=$("$sgd" generate --features $features --examples 20000 --files 5 --out "$work/data" \
    --test-examples 3000) || fail "generate"
base=$(sed 's/.*base rate \([0-9.]*\).*/\1/' <<<"$best")

export CHOKEPOINT_MARKS="$work/marks"
host=$(uname -n)
train() { # MODE TRANSFER
    mkdir -m 700 "$work/marks.$host"
    ranks $n --mode "$1" --transfer "$2" --features $features --data "$work/data" --batch $batch \
        --iterations $iterations --test-every 5 --json "$work/summary" 2>"$work/stderr" >"$work/stdout" ||
        fail "$1 $2: $(cat "$work/stderr")"
    "$CHOKEPOINT_BIN/mark_dump" "$work/marks.$host" >"$work/dump" || fail "$1 $2: marks"
    rm -r "$work/marks.$host"
}
count() { grep -cE "$1" "$work/dump"; }

for transfer in dense sparse dense-down; do
    for mode in sync async; do
        train $mode $transfer
        accuracy=$(sed -n 's/.*"accuracy": \([0-9.]*\).*/\1/p' "$work/summary")
        updates=$(json "$work/summary" updates)
        staleness=$(json "$work/summary" staleness)
        examples=$(json "$work/summary" examples)
        echo "$mode $transfer: accuracy $accuracy (base $base %), $updates updates, staleness $staleness"
        holds "$accuracy * 100 > $base + 8" || fail "it does not learn"
        if [ $mode = sync ]; then
            [ "$updates" -eq $iterations ] || fail "updates"
            [ "$examples" -eq $((n * iterations * batch)) ] || fail "examples"
            holds "$staleness == 0" || fail "sync gradients are stale"
            [ "$(count ' iteration ')" -eq $((n * iterations)) ] || fail "marks of iterations"
            # A test at the start, and after each fifth iteration; workers take part in the phase.
            [ "$(count ' begin .* testing$')" -eq $((n * (iterations / 5 + 1))) ] || fail "marks of tests"
        else
            [ "$updates" -ge $((n * iterations)) ] && [ "$updates" -lt $((n * iterations + n)) ] ||
                fail "updates"
            holds "$staleness > 0" || fail "async gradients are never stale"
            [ "$(count '^0 begin .* testing$')" -eq $((iterations / 5 + 1)) ] || fail "marks of tests"
            [ "$(count '^0 operator .* apply gradient$')" -eq "$updates" ] || fail "marks of the operator that applies"
        fi
        [ "$(count ' begin .* loading$')" -eq $n ] || fail "marks of loading"
        [ "$(count ' end .* training$')" -ge $n ] || fail "marks of training"
        [ "$(count '^0 value .* accuracy$')" -eq $((iterations / 5 + 1)) ] || fail "marks of accuracy"
        for operator in 'sparse x dense' sigmoid 'transposed sparse x dense'; do
            [ "$(count " operator .* $operator\$")" -ge $((n * 2)) ] || fail "marks of $operator"
        done
    done
done

# Sync dense: (n - 1) models out and gradients back in an iteration, plus 16 bytes for each message.
train sync dense
expected=$((iterations * (n - 1) * (4 * features + 16) + (n - 1) * 16))
sent=$(sed -n 's/.*"sent_bytes": \([0-9]*\).*/\1/p' "$work/summary" | head -n 1)
[ "$sent" -eq $expected ] || fail "the server sent $sent bytes, not $expected"

# Sync dense-down: the same models out, and back 4 bytes for each feature and 4 for its gradient: less than
# a tenth here.
train sync dense-down
sent=$(sed -n 's/.*"sent_bytes": \([0-9]*\).*/\1/p' "$work/summary" | head -n 1)
received=$(sed -n 's/.*"received_bytes": \([0-9]*\).*/\1/p' "$work/summary" | head -n 1)
[ "$sent" -eq $expected ] || fail "dense-down: the server sent $sent bytes, not $expected"
touched=$(((received - (2 * iterations + 1) * (n - 1) * 16) % 8))
holds "$received < .6 * $sent && $touched == 0" || fail "dense-down: the server received $received bytes"

# Async, with a model of several chunks
large_best=$("$sgd" generate --features 1400000 --examples 20000 --files 5 --out "$work/large" --test-examples 3000) ||
    fail "generate"
large_base=$(sed 's/.*base rate \([0-9.]*\).*/\1/' <<<"$large_best")
large() { # NAME RANKS OPTIONS...
    local name=$1 n=$2
    shift 2
    ranks "$n" --mode async --features 1400000 --data "$work/large" --batch $batch --iterations 30 \
        --json "$work/$name" --weights "$work/$name.weights" --quiet "$@" >/dev/null || fail "async, large: $*"
}
large sparse 3 --transfer sparse
large dense 3 --transfer dense
large down 3 --transfer dense-down
large prefetch 3 --transfer dense --prefetch
for name in sparse dense down prefetch; do
    accuracy=$(sed -n 's/.*"accuracy": \([0-9.]*\).*/\1/p' "$work/$name")
    echo "$name, large: accuracy $accuracy (base $large_base %), staleness $(json "$work/$name" staleness)"
    holds "$(json "$work/$name" updates) >= 90 && $accuracy * 100 > $large_base + 8" || fail "async $name, large"
done

# One worker and a separate server: each gradient is of the newest model, or with --prefetch of the one before. So
# asynchronous training equals synchronous training; with --prefetch only if the rate is so low that all gradients are those
# of the first model.
large newest 2 --transfer dense --server apart
[ "$(json "$work/newest" most_stale)" -eq 0 ] || fail "one worker: most stale $(json "$work/newest" most_stale)"
large in_step 2 --mode sync --transfer dense --server apart
cmp -s "$work/newest.weights" "$work/in_step.weights" || agree newest.weights in_step.weights 0
large before 2 --transfer dense --server apart --prefetch --rate 1e-5
[ "$(json "$work/before" most_stale)" -eq 1 ] && holds "$(json "$work/before" staleness) > .5" ||
    fail "one worker, --prefetch: staleness $(json "$work/before" staleness), most $(json "$work/before" most_stale)"
[ "$(json "$work/before" updates)" -eq 30 ] || fail "one worker, --prefetch: updates"
large slowly 2 --mode sync --transfer dense --server apart --rate 1e-5
nearly slowly.weights before.weights

# Updates of async are marked with their staleness, and tests of sync with none. Batches have one example, or more than a file
# holds; in all there are as many examples as asked for, rounded up to whole iterations.
[ "$(count '^0 value [-0-9]+ 0[.]0+ .* staleness$')" -eq $((iterations / 5 + 1)) ] || fail "sync: marks of staleness"
train async sparse
[ "$(count '^0 value .* staleness$')" -eq "$(json "$work/summary" updates)" ] || fail "async: marks of staleness"
[ "$(json "$work/summary" most_stale)" -ge 1 ] || fail "async: most stale"
for mode in sync async; do
    for b in 1 100 10000; do
        ranks 2 --mode $mode --transfer sparse --features $features --data "$work/data" --batch $b --examples 200 \
            --rate 0.1 --decay 0.01 --json "$work/summary" --quiet >/dev/null || fail "$mode, batch $b"
        iterations_of_each=$(((200 + 2 * b - 1) / (2 * b)))
        [ "$(json "$work/summary" examples)" -ge $((2 * b * iterations_of_each)) ] &&
            [ "$(json "$work/summary" examples)" -le $((2 * b * iterations_of_each + 2 * b)) ] ||
            fail "$mode, batch $b: $(json "$work/summary" examples) examples"
        holds "$(json "$work/summary" examples_per_s) > 0" || fail "$mode, batch $b: examples/s"
    done
done

# One rank alone has no rank to exchange with.
for mode in sync async single; do
    ranks 1 --mode $mode --transfer sparse --features $features --data "$work/data" --iterations 5 \
        --json "$work/summary" --quiet >/dev/null || fail "one rank, $mode"
    [ "$(json "$work/summary" updates)" -eq 5 ] || fail "one rank, $mode: updates"
done

# The time limit ends an endless run in order. The model that it leaves is tested, though no test was due.
model_of_the_end_is_tested() {
    local tested
    grep -q '"out_of_time": true' "$work/summary" || fail "$1: no word of the time limit"
    "$CHOKEPOINT_BIN/mark_dump" "$work/marks.$host" 2>/dev/null >"$work/dump"
    rm -r "$work/marks.$host"
    tested=$(sed -n 's/^0 value [-0-9]* \([0-9]*\)[.].* updates$/\1/p' "$work/dump" | tail -n 1)
    [ "$tested" = "$(json "$work/summary" updates)" ] ||
        fail "$1: tested after ${tested:-no} updates of $(json "$work/summary" updates)"
}
for mode in sync async; do
    mkdir -m 700 "$work/marks.$host"
    ranks 3 --mode $mode --transfer sparse --features $features --data "$work/data" --time-limit 1 \
        --iterations 100000000 --json "$work/summary" --quiet >/dev/null || fail "time limit, $mode"
    model_of_the_end_is_tested "time limit, $mode"
done
large limited 3 --transfer dense --prefetch --iterations 100000000 --time-limit 1
grep -q '"out_of_time": true' "$work/limited" || fail "time limit, --prefetch"
mkdir -m 700 "$work/marks.$host"
ranks 2 --mode sync --exchange allreduce --transfer sparse --features $features --data "$work/data" --time-limit 1 \
    --iterations 100000000 --json "$work/summary" --quiet >/dev/null || fail "time limit, all-reduce"
model_of_the_end_is_tested "time limit, all-reduce"
ranks 2 --spin --mode sync --transfer dense --features $features --data "$work/data" \
    --iterations 2 --quiet >/dev/null || fail "--spin"
exit 0
