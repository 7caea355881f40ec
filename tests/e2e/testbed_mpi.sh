#!/bin/bash
# SPDX-License-Identifier: MIT
# Unmodified mpirun over three emulated hosts: each rank finds itself on a separate host, and the
# bytes of a known transfer cross the shaped link and no other.
set -u
work=$(mktemp -d)
testbed() { "$CHOKEPOINT_BIN/chokepoint" testbed --name "tbm$$" "$@"; }
finish() { testbed down >/dev/null; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }
value() { awk -v key="$1" '$1 == key { print $2 }' "$work/traffic.txt"; }

command -v mpicc mpirun >/dev/null || { echo "skipped: no mpicc or mpirun"; exit 77; }
mpicc -O2 -o "$work/traffic" "$CHOKEPOINT_SOURCE/tests/mpi/testbed_traffic.c" || fail "mpicc"

rate=1800000000
testbed up 3 --rate $rate
status=$?
[ $status -eq 3 ] && { echo "skipped: this machine cannot have a testbed"; exit 77; }
[ $status -eq 0 ] || fail "up exits with $status"

# shellcheck disable=SC2016 # for the shell inside the host
names=$(testbed exec -- sh -c 'mpirun --hostfile $CHOKEPOINT_HOSTFILE -np 3 hostname' | sort | xargs)
[ "$names" = "vm1 vm2 vm3" ] || fail "ranks ran on '$names'"
# shellcheck disable=SC2016
names=$(testbed exec vm3 -- sh -c 'mpirun --hostfile $CHOKEPOINT_HOSTFILE -np 3 hostname' | sort | xargs)
[ "$names" = "vm1 vm2 vm3" ] || fail "ranks started from vm3 ran on '$names'"

# The remote ranks' variables come from the testbed, not from its caller.
# shellcheck disable=SC2016
scopes=$(SECRET_OF_CALLER=1 testbed exec -- sh -c 'mpirun --hostfile $CHOKEPOINT_HOSTFILE -np 3 \
    sh -c "echo \$(hostname) \$CHOKEPOINT_SCOPE \${SECRET_OF_CALLER:-none}"' | grep -v vm1 | sort | xargs)
[ "$scopes" = "vm2 cgroup none vm3 cgroup none" ] || fail "variables of remote ranks: '$scopes'"

# shellcheck disable=SC2016
testbed exec -- sh -c 'mpirun --hostfile $CHOKEPOINT_HOSTFILE -np 3 "$0" 400000000 eth0' \
    "$work/traffic" >"$work/traffic.txt" || fail "traffic: $(cat "$work/traffic.txt")"
[ "$(value ring)" = whole ] && [ "$(value content)" = intact ] || fail "$(cat "$work/traffic.txt")"

bytes=$(value bytes)
sent=$(value interface_sent)
echo "transferred $bytes bytes, vm1's eth0 counted $sent sent"
[ "$sent" -ge "$bytes" ] && [ $((sent - bytes)) -le $((bytes / 100)) ] ||
    fail "the interface's bytes are not the transfer's"
awk -v got="$(value bytes_per_s)" -v rate=$rate \
    'BEGIN { printf "%.1f MB/s of a link of %.1f MB/s: %.1f %%\n", got / 1e6, rate / 8e6, 800 * got / rate }'
