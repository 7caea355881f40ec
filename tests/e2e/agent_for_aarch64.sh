#!/bin/bash
# SPDX-License-Identifier: MIT
# The agent that is sent to hosts is built for aarch64 on another machine with only a cross compiler, and samples
# there (under qemu); the MPI shim comes with it.
set -u
for program in aarch64-linux-gnu-gcc qemu-aarch64-static cmake ninja; do
    command -v $program >/dev/null || { echo "skipped: no $program"; exit 77; }
done
[ -e /usr/aarch64-linux-gnu/lib/libc.a ] || { echo "skipped: no libc6-dev-arm64-cross"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; tail -n 20 "$work"/*.log; exit 1; }
source_dir=${CHOKEPOINT_SOURCE:?}
cmake -G Ninja -S "$source_dir" -B "$work/build" -DCMAKE_TOOLCHAIN_FILE="$source_dir/setup/aarch64.cmake" -DCHOKEPOINT_AGENT_ALONE=ON \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS=-Werror >"$work/configure.log" 2>&1 || fail "it is not configured"
cmake --build "$work/build" -j2 >"$work/build.log" 2>&1 || fail "it is not built"
agents=$work/build/bin/agents/aarch64
agent=$agents/chokepoint-agent
[ "$(od -An -tx1 -j18 -N2 "$agent" | tr -d ' ')" = b700 ] || fail "the agent is of another machine" # ELF: EM_AARCH64
[ "$(od -An -tx1 -j18 -N2 "$agents/libchokepoint-mpi.so" | tr -d ' ')" = b700 ] || fail "the shim is of another machine"
[ "$(stat -c %s "$agent")" -le 2000000 ] || fail "the agent has $(stat -c %s "$agent") bytes"
qemu-aarch64-static "$agent" --version | grep -qx "chokepoint-agent [0-9.]*" || fail "it tells no version"
qemu-aarch64-static "$agent" --no-push --samples 2 --spool "$work/spool" 2>"$work/err.log" || fail "it does not sample: $?"
[ -n "$(find "$work/spool" -name '*.spool' -size +2k)" ] || fail "it has kept no samples"
