#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The packages that `./demo` installs suffice to build everything but the tests: without cmocka the build succeeds,
# without unit tests.
set -euo pipefail
command -v ninja >/dev/null || { echo "skipped: no ninja"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -S "$CHOKEPOINT_SOURCE" -B "$work/build" -G Ninja -DCMOCKA_LIBRARY= >"$work/log" 2>&1 || { tail -n 5 "$work/log"; exit 1; }
ninja -C "$work/build" -t commands all >"$work/plan"
grep -q -- "-o bin/chokepoint " "$work/plan" || { echo "FAILED: chokepoint is not built"; exit 1; }
! grep -o "bin/test_[a-z_]*" "$work/plan" || { echo "FAILED: unit tests are built without cmocka"; exit 1; }
