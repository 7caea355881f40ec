#!/bin/bash
# SPDX-License-Identifier: MIT
# Planted waits of each kind: the clock of the process and reason agrees within 2 % with the process's own measurement, and so
# does that of the connection or of the pair of processes. The clocks of a whole process are not those of its idle threads, and
# their sum is its life within 1 %, even in a ring of threads and with paused clocks. A job that exists before the agent has
# clocks, too, and its new processes have them from their birth.
set -u
work=$(mktemp -d)
started=()
group=/sys/fs/cgroup/blkio/chokepoint-waits$$ loop=''
finish() {
    local pid
    set +e
    for pid in "${started[@]}"; do kill -KILL "$pid" 2>/dev/null; done
    wait 2>/dev/null
    umount "$work/disk" 2>/dev/null
    [ -z "$loop" ] || losetup -d "$loop"
    rmdir "$group" 2>/dev/null
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM
. "${BASH_SOURCE%/*}/until_lib.sh" || exit 1
fail() { echo "FAILED: $*"; cat "$work/agent.err"; exit 1; }

export ASAN_OPTIONS=detect_leaks=0
mkfifo "$work/go"
plants=(starved polled pipe unix unread send lock timer child stopped)
processes=(pool loop together ticks handed pour) crowds=(ring storm) # these want all cores, so they run after the others
# A disk of 1 MB/s, if one can be made: the group of the reading process is throttled.
if [ "$(id -u)" = 0 ] && mkdir "$group" 2>/dev/null && [ -e "$group/blkio.throttle.read_bps_device" ] &&
    truncate -s 32M "$work/image" && mkfs.ext4 -qF "$work/image" 2>/dev/null && loop=$(losetup --show -f "$work/image") &&
    mkdir "$work/disk" && mount "$loop" "$work/disk" && head -c 4M /dev/zero >"$work/disk/file" && sync; then
    echo "$(cat "/sys/block/${loop#/dev/}/dev") 1048576" >"$group/blkio.throttle.read_bps_device" && plants+=(disk)
else
    echo "note: no disk that could be throttled: its clock is not looked at"
fi
# shellcheck disable=SC2016 # for the shell of the job
CHOKEPOINT_RUN=waits bash -c 'read -r <"$1/go"
    for plant in $4; do "${2%/*}/process-plant" "$plant" >"$1/process.$plant" 2>&1 & done
    for plant in "${@:6}"; do
        (
            [ "$plant" = disk ] || exec "$2" "$plant"
            echo "$BASHPID" >"$3/tasks"
            exec "$2" "$plant" "$1/disk/file"
        ) >"$1/plant.$plant" 2>&1 &
    done
    wait
    for plant in $5; do "${2%/*}/process-plant" "$plant" >"$1/process.$plant" 2>&1; done
    ' job "$work" "$CHOKEPOINT_BIN/wait-plant" "$group" "${processes[*]}" "${crowds[*]}" "${plants[@]}" &
job=$!
started+=("$job")
CHOKEPOINT_RUN=waits "$CHOKEPOINT_BIN/chokepoint-agent" --no-push --no-supervise --spool "$work/spool" --host here --wait-clocks \
    --process-rate 10 >"$work/agent" 2>"$work/agent.err" &
agent=$!
started+=("$agent")
dump() {
    local segment
    for segment in "$work"/spool/*.spool; do "$CHOKEPOINT_BIN/frame-dump" "$segment"; done >"$work/dump" 2>/dev/null
}
knows_job_or_says_no() { dump; grep -qE "wait \[bash\[$job\]\]" "$work/dump" || grep -qE 'note \[wait: ' "$work/dump"; }
until_true knows_job_or_says_no || fail "the job has no clocks"
if grep -E 'note \[wait: ' "$work/dump"; then
    echo "skipped: no wait clocks here"
    exit 77
fi
echo >"$work/go"
wait "$job" || fail "the job ended with $?"
kill -TERM "$agent" && wait "$agent" || fail "the agent ended with $?"
dump
for plant in "${plants[@]}"; do cat "$work/plant.$plant"; done >"$work/planted"
for plant in "${processes[@]}" "${crowds[@]}"; do sed "s/^/$plant /" "$work/process.$plant"; done >"$work/processes"
python3 - "$work/planted" "$work/dump" "$work/processes" <<'END' || fail "see above"
import re, sys

rows = {}
for line in open(sys.argv[2]):
    m = re.match(r"row \d+ (wait|socket_wait|wakeup) \[(.*)\] (pid=.*)", line)
    if m: # the last row counts
        rows[m[1], m[2]] = {k: int(v) for k, v in (x.split("=") for x in m[3].split()) if v != "-"}
failed = False

def hold(name, found, least, most, part=.02, allowed_ns=0):
    global failed
    good = found is not None and (1 - part) * least - allowed_ns <= found <= (1 + part) * most + allowed_ns
    failed |= not good
    print(f"{'ok' if good else 'WRONG'}: {name}: planted {least / 1e9:.4f} to {most / 1e9:.4f} s, clocked {(found or 0) / 1e9:.4f} s")

CLOCKS = {"starved": "socket_receive_ns", "polled": "poll_ns", "pipe": "pipe_ns", "unix": "unix_ns", "send": "socket_send_ns",
          "lock": "futex_ns", "timer": "timer_ns", "child": "child_ns", "stopped": "stopped_ns", "disk": "disk_ns"}
SOCKETS = {"starved": "starved_ns", "polled": "starved_ns", "unread": "unread_ns", "send": "send_blocked_ns"}
n = 0
for line in open(sys.argv[1]):
    words = line.split()
    if len(words) != 6 or not words[1].isdigit():
        sys.exit(f"FAILED: a plant says: {line}")
    kind, pid, other, least, most, port = words[0], *map(int, words[1:])
    n += 1
    own = next((row for (table, name), row in rows.items() if table == "wait" and name == f"wait-plant[{pid}]"), {})
    if kind in CLOCKS:
        hold(f"{kind}: {CLOCKS[kind]}", own.get(CLOCKS[kind]), least, most)
    if kind in SOCKETS:
        socket = next((row for (table, name), row in rows.items() if table == "socket_wait" and f":{port}>" in name), {})
        hold(f"{kind}: {SOCKETS[kind]} of the connection", socket.get(SOCKETS[kind]), least, most)
    if kind in ("lock", "pipe", "unix"):
        pair = next((row for (table, _), row in rows.items()
                     if table == "wakeup" and row.get("pid") == pid and row["waker_pid"] == other and row["reason"] == {"lock": 7, "pipe": 8, "unix": 9}[kind]), {})
        hold(f"{kind}: of its waker", pair.get("wait_ns"), least, most)
for line in open(sys.argv[3]):
    words = line.split()
    if len(words) != 6 or not words[2].isdigit():
        sys.exit(f"FAILED: a plant says: {line}")
    kind, what, of, column, least, most = words[0], words[1], words[2], words[3], int(words[4]), int(words[5])
    n += 1
    if what == "socket":
        own = next((row for (table, name), row in rows.items() if table == "socket_wait" and f":{of}>" in name), {})
        name = f"{kind}: {column} of the connection"
    else:
        own = next((row for (table, name), row in rows.items() if table == "wait" and name == f"process-plant[{of}]"), {})
        name = f"{kind}: {column}"
    if what == "life":
        sum_ns = sum(v for k, v in own.items() if k.startswith("process_") and k != "process_unclocked_ns")
        hold(f"{kind}: the sum of the clocks of the process", sum_ns, least, most, .01)
    else:
        # ticks at a sample, or that take long to get a core, count as work
        hold(name, own.get(column), least, most, {"ticks": .1, "loop": .05, "together": .05}.get(kind, .02), allowed_ns=0 if most else 30e6)
sys.exit(failed or n < 20)
END
echo "every wait is clocked where it was planted"
