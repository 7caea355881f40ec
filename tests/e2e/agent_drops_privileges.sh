#!/bin/bash
# SPDX-License-Identifier: MIT
# An agent of root keeps only the capabilities that it samples with, in every thread, and cannot gain others by
# executing a program. Its supervisor keeps them all, so that a restarted sampler loads and records the same.
set -u
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
work=$(mktemp -d)
supervisor= job=
finish() {
    [ -z "$supervisor" ] || { kill -TERM "$supervisor" && wait "$supervisor"; } 2>/dev/null
    [ -z "$job" ] || { kill -KILL "$job" && wait "$job"; } 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
fail() { echo "FAILED: $*"; [ -s "$work/err" ] && cat "$work/err"; exit 1; }
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/until_lib.sh" || exit 1
child() { cat "/proc/$supervisor/task/$supervisor/children"; }
frames() { cat "$work"/spool/*.spool 2>/dev/null | wc -c; }
grown() { [ "$(frames)" -gt "$1" ]; }
value() { awk -v name="$2:" '$1 == name { print $2 }' "$1"; }
other_child() { [ -n "$(child)" ] && [ "$(child)" != "$1" ]; }
mask() { local bits=0 bit; for bit in "$@"; do ((bits |= 1 << bit)); done; printf '%016x' $bits; }
rows() { for segment in "$work"/spool/*.spool; do "$CHOKEPOINT_BIN/frame-dump" "$segment"; done; }

# expect MASK: the capabilities of the sampler's first thread, and none beyond them in its other
# threads
expect() {
    local sampler status
    sampler=$(echo $(child))
    [ "$(value "/proc/$sampler/status" CapEff)" = "$1" ] || fail "CapEff $(value "/proc/$sampler/status" CapEff), not $1"
    for status in /proc/"$sampler"/task/*/status; do
        ((("0x$(value "$status" CapPrm)" & ~"0x$1") == 0)) || fail "$status: CapPrm $(value "$status" CapPrm), not within $1"
        [ "$(value "$status" CapBnd)" = "$(mask)" ] || fail "$status: CapBnd $(value "$status" CapBnd)"
        [ "$(value "$status" NoNewPrivs)" = 1 ] || fail "$status: another program could bring more"
    done
}

# record MASK OPTIONS...: a job of another user, whose io, files and environment are visible only
# with privileges
record() {
    local expected=$1
    shift
    rm -rf "$work/spool"
    CHOKEPOINT_RUN=$run "$CHOKEPOINT_BIN/chokepoint-agent" --no-push --spool "$work/spool" --host vm7 --rate 10 --process-rate 10 \
        --spool-limit 16m "$@" 2>"$work/err" &
    supervisor=$!
    until_true grown 40000
    expect "$expected"
    [ "$(value "/proc/$supervisor/status" CapEff)" = "$(value /proc/self/status CapEff)" ] ||
        fail "the supervisor has lost what a sampler loads with"
    local before
    before=$(child)
    kill -KILL $before
    until_true other_child "$before"
    until_true grown "$(($(frames) + 40000))"
    expect "$expected"
    kill -TERM $supervisor
    wait $supervisor || fail "exit status $?"
    supervisor=
}

run=0123456789abcdef
setpriv --reuid 65534 --regid 65534 --clear-groups env CHOKEPOINT_RUN=$run \
    python3 -c 'import socket, time
a = socket.create_server(("127.0.0.1", 0))
b = socket.create_connection(a.getsockname())
c, _ = a.accept()
while True:
    b.send(b"x" * 1000)
    c.recv(1000)
    time.sleep(.01)' &
job=$!

read_search=2 net_admin=12 net_raw=13 ptrace=19 perfmon=38 bpf=39
record "$(mask $read_search $net_admin $ptrace)"
rows >"$work/rows"
grep -q "^row .* process .*pid=$job .*job=1 .*read_bytes=[0-9]" "$work/rows" || fail "the job of another user is not seen: $(grep " process " "$work/rows" | tail -3)"
grep -q "^row .* connection .*pid=$job" "$work/rows" || fail "its connections are not seen: $(grep " connection " "$work/rows" | tail -3)"

record "$(mask $read_search $net_admin $net_raw $ptrace)" --flows
if grep -q "captur" "$work/err"; then echo "no flows here: $(tail -1 "$work/err")"; fi

record "$(mask $read_search $net_admin $ptrace $perfmon $bpf)" --wait-clocks
rows >"$work/rows"
grep -q "^row .* wait .*\[$job\|^row .* wait .*pid=$job" "$work/rows" || fail "its waits are not clocked: $(grep " wait " "$work/rows" | tail -3; cat "$work/err")"
echo "capabilities are dropped, and nothing is lost"
