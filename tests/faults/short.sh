#!/bin/bash
# SPDX-License-Identifier: MIT
# The short form of the fault matrix: eight runs with known truth, on two emulated hosts with a core each, three for the
# link. Passes if no innocent host is blamed with confidence and most of the clear faults are found. Wrong answers get a
# second try before it fails, as the machine may be busy. The whole matrix: tests/faults/matrix --help.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
skip() { echo "skipped: $*"; exit 77; }
[ "$(id -u)" = 0 ] || skip "emulated hosts need root"
for tool in python3 mpirun; do command -v $tool >/dev/null || skip "no $tool"; done
[ -x "$CHOKEPOINT_BIN/chokepoint-sgd" ] || skip "chokepoint-sgd is not built (no MPI)"
[ "$(nproc)" -ge 2 ] || skip "two hosts with a core each need two cores"
export ASAN_OPTIONS=detect_leaks=0
python3 "$CHOKEPOINT_SOURCE/tests/faults/short.py" "$CHOKEPOINT_BIN" "$work/results"
