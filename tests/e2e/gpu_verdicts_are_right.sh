#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Runs of a real GPU whose truth is known are judged anew: 21 of the 23 phases are right at least, and no run is wrong with
# a confidence of .8 or more. A truth that is turned round is noticed.
. "${BASH_SOURCE[0]%/*}/run_lib.sh" || exit 1
command -v zstd >/dev/null || fail "no zstd"
score=$CHOKEPOINT_SOURCE/tests/gpu/score
"$score" --bin "$CHOKEPOINT_BIN" --least 21 >out 2>err || { cat out err; fail "the score fell"; }
grep -q '^23 phases: ' out || fail "not all phases are scored"
cp -r "$CHOKEPOINT_SOURCE/tests/gpu" gpu || fail "no copy"
sed -i '/"phase": "dram"/s/gpu-compute/gpu-launch/' gpu/recorded/truth.jsonl
gpu/score --bin "$CHOKEPOINT_BIN" --least 21 >out 2>err && fail "a wrong verdict is not noticed"
grep -q '^dram: wrong at ' out || fail "a wrong verdict is not named"
