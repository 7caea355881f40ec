#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tests/gpu/check.sh, which needs a GPU, does all but that here: a driver of ours plays a recorded card, and other work
# stands in for PyTorch's. Each phase has its truth, verdict and medians, and a phase that fails ends nothing.
. "${BASH_SOURCE[0]%/*}/run_lib.sh" || exit 1
player=$(cd "$CHOKEPOINT_BIN/../tests/nvml-player" && pwd) || fail "no player"
gpu=$CHOKEPOINT_SOURCE/tests/gpu
LD_LIBRARY_PATH=$player CHOKEPOINT_NVML_PLAY=$gpu/plays/h200.play timeout 200 bash "$gpu/check.sh" "$work/kept" --bin "$CHOKEPOINT_BIN" \
    --work "$gpu/pretended_work.py" --phases idle,train_gpu,cpu_starved --whole idle --seconds 3 --no-wait-clocks >out 2>err ||
    fail "check.sh ended with $?"
for words in 'ok | gpu | gpu0 NVIDIA H200' 'nvmlInit_v2 0 1x' '^idle: truth: nothing runs' '^train_gpu-at-1Hz: truth' '^cpu_starved: truth' \
    '^idle-whole: truth' '^    limit: ..*; state ..*, confidence [0-9]' 'GPU probe [0-9.]*; busy [0-9]* SM [0-9]*' \
    '^10 Hz: its GPU probe used' '^1 Hz: the agent used' '^all took'; do
    grep -q -- "$words" out || fail "nothing like '$words'"
done
[ "$(sqlite3 "file:$work/kept/runs.db?mode=ro" 'SELECT count(*) FROM run')" = 6 ] || fail "not each run is kept"
LD_LIBRARY_PATH=$player CHOKEPOINT_NVML_PLAY=$gpu/plays/h200.play timeout 200 bash "$gpu/check.sh" "$work/broken" --bin "$CHOKEPOINT_BIN" \
    --work "$work/nothing.py" --phases idle --whole idle --seconds 1 --no-wait-clocks >out 2>err || fail "a failure ended it"
grep -q '^idle-whole: chokepoint run ended with' out || fail "a failure is not named"
grep -q '^all took' out || fail "a failure ended it"
