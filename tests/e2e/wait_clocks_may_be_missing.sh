#!/bin/bash
# SPDX-License-Identifier: MIT
# If programs may not be loaded into the kernel (no right to it, no description of the kernel) the agent works without wait
# clocks, and one note says why. If they were not asked for, nothing is loaded and nothing said.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
complain() { echo "FAILED: $*"; failures=$((failures + 1)); }
export CHOKEPOINT_RUN=none ASAN_OPTIONS=detect_leaks=0
# observe NAME PREFIX... -- OPTION...: takes three samples; their text is $work/NAME
observe() {
    local name=$1 prefix=()
    shift
    while [ "$1" != -- ]; do prefix+=("$1"); shift; done
    shift
    "${prefix[@]}" "$CHOKEPOINT_BIN/chokepoint-agent" --no-push --no-supervise --spool "$work/spool.$name" --host here \
        --rate 100 --process-rate 100 --samples 3 "$@" 2>"$work/$name.err" || complain "$name: the agent ends with $?"
    cat "$work/spool.$name"/*.spool >"$work/$name.bytes"
    "$CHOKEPOINT_BIN/frame-dump" "$work/$name.bytes" >"$work/$name" || complain "$name: what it sampled is damaged"
    grep -q '^row 3 cpu ' "$work/$name" || complain "$name: no samples"
}
# says NAME PATTERN: the note appears once, and there are no clocks
says() {
    [ "$(grep -cE "note \[wait: .*$2" "$work/$1")" = 1 ] || complain "$1: no note, or not one, that says '$2': $(grep note "$work/$1")"
    grep -qE '^table [0-9]+ (wait|socket_wait|wakeup) ' "$work/$1" && complain "$1: a table all the same"
}
if grep -q 'without libbpf' <("$CHOKEPOINT_BIN/chokepoint-agent" --no-push --no-supervise --spool "$work/probe" --host here --wait-clocks --samples 1 2>&1); then
    echo "skipped: built without wait clocks"
    exit 77
fi
mkdir "$work/sys"
observe undescribed -- --wait-clocks --sys "$work/sys"
says undescribed 'no description of itself'
observe off --
grep -q 'note \[wait' "$work/off" && complain "off: a note about clocks that nobody asked for"
grep -qE '^table [0-9]+ wait ' "$work/off" && complain "off: a table all the same"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    observe denied setpriv --bounding-set -all --inh-caps -all -- --wait-clocks
    says denied 'not permitted'
fi
[ $failures -eq 0 ] && echo "missing clocks are said, and do no harm"
exit $((failures > 0))
