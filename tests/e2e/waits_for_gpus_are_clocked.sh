#!/bin/bash
# SPDX-License-Identifier: MIT
# A program waits for a GPU and copies to and from it through a libcuda of our own, polling or asleep, alone and with threads. The
# clocks of these states agree within 3 % with what it measured, in `run --wait-clocks` and in `attach`, with the library there from the
# beginning or loaded late, and in a process that starts after the library has been seen. They agree within 30 % where the clocks run in
# slices, because calls are many, or because other processes of the job switch often and calls are few and long.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
export ASAN_OPTIONS=detect_leaks=0
plant=$CHOKEPOINT_BIN/gpu-plant library=$CHOKEPOINT_BIN/gpu/libcuda.so.1
clocks='--wait-clocks --process-rate 10'

# Each process first computes for 2 s on each side of loading the library, so that the agent has seen it. The last one begins after that,
# and loads it at once: its calls are seen from the first.
cat >programs <<'DONE'
"$1" "$2" spin 1 2000 2000 >spin
"$1" "$2" sleep 1 2000 2000 >sleep
"$1" "$2" sleep 3 2000 2000 >threads
"$1" "$2" sleep 1 1500 >at-once
"$1" "$2" spin 1 15000 0 20 >often
"${1%/*}/process-plant" storm >storm &
"$1" "$2" sleep 1 8000 2000 30000 >beside-storm
wait
DONE
# shellcheck disable=SC2086
run $clocks -- bash programs "$plant" "$library"
[ "$status" -eq 0 ] || fail "run: $status"
if [ "$(sql "SELECT count(*) FROM wait")" -eq 0 ]; then
    why=$(sql "SELECT DISTINCT name FROM note JOIN instance USING (instance) WHERE name LIKE 'wait: %'")
    case "$why" in
        *"not permitted"* | *"no description of itself"* | *"built without"* | *"cannot be loaded"*)
            echo "SKIPPED: $why"
            exit 77 ;;
    esac
    fail "no clocks: $why"
fi

# The same to a process that already runs, also of a name that is not the library's first.
mkfifo go
cp "$library" libcuda.so.580.65
(read -r <go; exec "$plant" "$work/libcuda.so.580.65" spin 2 2000 3000) >attached &
attached=$!
# shellcheck disable=SC2086
env --default-signal=INT "$chokepoint" attach $slow_start $clocks --db "$db" --job "pid=$attached" >"$work/out" 2>"$work/err" &
watcher=$!
is_watched() { [ "$(sql "SELECT count(*) FROM wait_rate WHERE run = 2")" -gt 1 ]; }
until_true is_watched
echo >go
wait "$attached" || fail "the attached process ended with $?"
kill -INT "$watcher"
wait "$watcher" || fail "attach: $?"

for name in spin sleep threads at-once often beside-storm attached; do sed "s/^/$name /" "$name"; done >planted
claims planted "$db" <<'DONE' || fail "see above"
import re, sqlite3, sys

db = sqlite3.connect(f"file:{sys.argv[2]}?mode=ro", uri=True)
wrong = 0
for line in open(sys.argv[1]):
    name, pid, *planted = line.split()
    for column, ns in (word.split("=") for word in planted):
        ns, part = int(ns), .03
        if name in ("often", "beside-storm"): # in slices, one in three seconds; the process has one thread that works
            if column == "run_ns":
                continue # its own measurements, and traps, are a large part of it
            column, part = f"process_{column}", .3
        clocked = db.execute(f"SELECT sum({column}) FROM wait WHERE pid = ?", (pid,)).fetchone()[0] or 0
        # computing includes what the program does outside of its own measurements
        good = abs(clocked - ns) <= part * ns + (60e6 if column == "run_ns" else 5e6)
        wrong += not good
        print(f"{'ok' if good else 'WRONG'}: {name}: {column}: planted {ns / 1e9:.3f} s, clocked {clocked / 1e9:.3f} s")
sys.exit(wrong > 0)
DONE
