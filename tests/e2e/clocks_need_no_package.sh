#!/bin/bash
# SPDX-License-Identifier: MIT
# On a host without the package of libbpf an agent keeps wait clocks all the same, if it was built where libbpf's archive is:
# the one that is delivered, which is static, and the installed one.
set -u
work=$(mktemp -d)
job=''
finish() {
    [ -z "$job" ] || kill -KILL "$job" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM
. "${BASH_SOURCE%/*}/until_lib.sh" || exit 1
fail() { echo "FAILED: $*"; cat "$work"/*.err 2>/dev/null; exit 1; }
skip() { echo "skipped: $*"; exit 77; }
export ASAN_OPTIONS=detect_leaks=0
grep -q '^STATIC_LIBBPF:FILEPATH=/' "$CHOKEPOINT_BIN/../CMakeCache.txt" 2>/dev/null || skip "built without libbpf's archive"
[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || skip "needs a mount namespace of its own"

agents=("$CHOKEPOINT_BIN/chokepoint-agent")
for delivered in "$CHOKEPOINT_BIN"/agents/*/chokepoint-agent; do
    [ -x "$delivered" ] && readelf -h "$delivered" 2>/dev/null | grep -q 'Type: *\(EXEC\|DYN\)' || continue
    agents+=("$delivered")
    # with sanitizers the delivered agent is for tests alone, and not static
    nm -D "$CHOKEPOINT_BIN/chokepoint-agent" 2>/dev/null | grep -q __asan_init && continue
    ! readelf -d "$delivered" | grep NEEDED || fail "$delivered needs libraries"
    ! readelf -l "$delivered" | grep INTERP || fail "$delivered needs a loader"
done
[ "${#agents[@]}" -gt 1 ] || skip "no agent that can be delivered was built"

# without PROGRAM...: runs it where no file of libbpf.so can be loaded
# shellcheck disable=SC2016 # for the shell in the namespace
without() {
    unshare -m --propagation private bash -c '
        for file in $(ldconfig -p | sed -n "s/.*libbpf\.so.* => //p" | xargs -r realpath | sort -u); do mount --bind /dev/null "$file" || exit 99; done
        exec "$@"' without "$@"
}
if command -v python3 >/dev/null; then
    without python3 -c 'import ctypes, sys; ctypes.CDLL("libbpf.so.1")' 2>/dev/null && fail "libbpf can be loaded all the same"
fi
export CHOKEPOINT_RUN=nopackage
sleep 1000 &
job=$!
for i in "${!agents[@]}"; do
    without "${agents[i]}" --no-push --no-supervise --spool "$work/spool.$i" --host here --wait-clocks --rate 20 --process-rate 20 \
        --samples 40 >"$work/out.$i" 2>"$work/$i.err" || fail "${agents[i]} ends with $?"
    for segment in "$work/spool.$i"/*.spool; do "$CHOKEPOINT_BIN/frame-dump" "$segment"; done >"$work/dump.$i" 2>/dev/null
    if grep 'note \[wait: ' "$work/dump.$i"; then
        grep -q 'note \[wait: .*libbpf' "$work/dump.$i" && fail "${agents[i]} asks for libbpf"
        skip "no wait clocks here"
    fi
    slept=$(sed -n "s/.*row [0-9]* wait \[sleep\[$job\]\].* timer_ns=\([0-9]*\) .*/\1/p" "$work/dump.$i" | tail -n 1)
    [ "${slept:-0}" -gt 1000000000 ] || fail "${agents[i]}: the job slept ${slept:-not at all}"
done
echo "clocks are kept by ${#agents[@]} agents where libbpf is not"
