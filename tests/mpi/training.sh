# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Shared by the tests of lenet and cifar, which source it after they have set `workload` and `weights` (the
# number of weights in the net).
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh" || exit 1
data=$CHOKEPOINT_BIN/chokepoint-data
[ -x "$data" ] || { echo "skipped: chokepoint-data is not built"; exit 77; }

# images KIND DIRECTORY TRAIN TEST
images() { "$data" generate "$1" --out "$2" --train "$3" --test "$4" --quiet >/dev/null || fail "generate $1"; }

# train NAME RANKS BATCH OPTIONS...: leaves NAME (the weights), NAME.json and said in $work
train() {
    local name=$1 n=$2 batch=$3
    shift 3
    ranks "$n" --data "$work/data" --batch "$batch" --quiet --weights "$work/$name" --json "$work/$name.json" "$@" \
        >"$work/said" 2>"$work/stderr" || fail "training $name: $(cat "$work/stderr")"
    [ "$(stat -c %s "$work/$name")" -eq $((weights * 4)) ] || fail "weights of $name"
}
# marked NAME ...: like train; leaves its marks in $work/dump for count
marked() {
    export CHOKEPOINT_MARKS="$work/marks"
    local directory
    directory="$work/marks.$(uname -n)"
    mkdir -m 700 "$directory"
    train "$@"
    "$CHOKEPOINT_BIN/mark_dump" "$directory" >"$work/dump" 2>/dev/null || fail "marks"
    rm -r "$directory"
    unset CHOKEPOINT_MARKS
}
count() { grep -cE "$1" "$work/dump"; }
last_accuracy() { sed -n 's/.*"accuracy": \([0-9.]*\).*/\1/p' "$work/$1.json" | head -n 1; }

# refused RANKS LINES PATTERN OPTIONS...: exits non-zero in time, and that many of our lines match PATTERN, and no
# others
refused() {
    local n=$1 lines=$2 pattern=$3
    shift 3
    ranks "$n" --batch 16 --epochs 20 --quiet "$@" 2>"$work/out" >/dev/null
    local status=$?
    [ $status -ne 0 ] || fail "$*: exits with 0"
    [ $status -ne 99 ] && [ $status -lt 124 ] || fail "$*: hangs or crashes ($status): $(cat "$work/out")"
    [ "$(grep -c "^${program##*/}: rank" "$work/out")" -eq "$lines" ] || fail "$*: $(cat "$work/out")"
    [ "$(grep -c "^${program##*/}: .*$pattern" "$work/out")" -eq "$lines" ] || fail "$*: $(cat "$work/out")"
}
# diverges RANKS OPTIONS...: a loss that is not a number ends all ranks, perhaps several in the same
# iteration.
diverges() {
    ranks "$1" --batch 16 --epochs 20 --quiet --data "$work/data" "${@:2}" 2>"$work/out" >/dev/null
    local status=$?
    [ $status -ne 0 ] && [ $status -ne 99 ] && [ $status -lt 124 ] || fail "diverging, ${*:2}: $status: $(cat "$work/out")"
    grep -q "^${program##*/}: rank [0-9]* .*the loss is .*: the training diverges" "$work/out" ||
        fail "diverging, ${*:2}: $(cat "$work/out")"
}
