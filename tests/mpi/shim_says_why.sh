#!/bin/bash
# SPDX-License-Identifier: MIT
# If a rank cannot make its file, the program runs as without the shim, and the reason is left for the
# agent.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh" || exit 1
[ "$(id -u)" = 0 ] || { echo "skipped: needs a small tmpfs, so root"; exit 77; }
mkdir -m 700 "$marks"
mount -t tmpfs -o size=64k,mode=700 tmpfs "$marks" || { echo "skipped: no mount"; exit 77; }
trap 'umount "$marks"; rm -rf "$work"' EXIT
ranks 2 "$programs/calls_simple" || fail "the program ended with $?"
n=0
for why in "$marks"/*.why; do
    [ "$(readlink "$why")" = "no file for it: No space left on device" ] || fail "$why says: $(readlink "$why")"
    n=$((n + 1))
done
[ $n -eq 2 ] || fail "$n of 2 ranks say why"
[ -z "$(find "$marks" -name '*.calls')" ] || fail "a file that nobody can use was left"
echo "2 ranks without room say so"
