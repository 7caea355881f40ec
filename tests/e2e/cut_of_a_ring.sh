#!/bin/bash
# SPDX-License-Identifier: MIT
# An agent of another user, with the two capabilities that reading processes takes, keeps a ring; nobody has named a job.
# Cuts that are made afterwards name the program that computes, and the one that waits for the disk. Kills of the agent
# cost no sample that was taken. A disk is named where cores are idle, too. A small ring wraps, and a full disk costs the
# oldest samples; a time that the ring lacks, and a directory of all, are said.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
command -v setpriv >/dev/null && command -v jq >/dev/null || { echo "SKIPPED: no setpriv or jq"; exit 77; }
chmod 755 "$work"
mkdir "$work/tmp"
ring=$work/ring
install -d -o nobody -m 700 "$ring"
agent=
keep() { # OPTIONS...: an agent as another user
    setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps=+dac_read_search,+sys_ptrace \
        --ambient-caps=+dac_read_search,+sys_ptrace --no-new-privs \
        "$CHOKEPOINT_BIN/chokepoint-agent" --host here --ring "$@" 2>>"$work/agent" &
    agent=$!
}
stop() {
    local status=$?
    umount -l "$work/full" 2>/dev/null
    (exit $status)
    leave
}
trap stop EXIT
end_agent() { kill "$agent" && wait "$agent"; }
cut() {
    TMPDIR=$work/tmp "$chokepoint" cut $slow_start --ring "$ring" --db "$db" "$@" >"$work/out" 2>"$work/err"
    status=$?
}
last() { sql 'SELECT max(run) FROM run'; }
verdict() { "$chokepoint" report "$(last)" --db "$db" --format json | jq -r ".verdict.$1"; }
samples() { sql "SELECT frames FROM stream JOIN host USING (host) WHERE run = $(last)" | paste -sd+ | bc; }

cat >compute.py <<'END'
while True:
    sum(range(100000))
END
keep "$ring"
has_tail() { ls "$ring"/*.spool >/dev/null 2>&1; }
until_true has_tail
python3 compute.py &
computes=$!
while :; do dd if=/dev/zero of="$work/fill" bs=256k count=64 oflag=dsync status=none; done &
fills=$!
sleep 24
cut --last 22s --pid "$computes" -n computes
[ $status -eq 0 ] || fail "exit status $status"
[ "$(verdict resource)" = cpu ] || fail "$(verdict resource): $(verdict summary)"
# On a machine with idle cores it is the thread's own core; beside other work it is whoever takes it.
said 'python3 compute.py' 'contention with' || fail "the program that computes is not named"
said 'samples missing' && fail "a cut begins with a gap"
[ "$(sql "SELECT group_concat(DISTINCT pid) FROM process_rate WHERE run = $(last) AND job = 1")" = "$computes" ] || fail "the job is not $computes"
said 'this is a cut' || fail "what a ring has not is not said"
cut --last 22s --pid "$fills" -n fills
[ $status -eq 0 ] || fail "fills: $status"
written=$(sql "SELECT CAST(sum(write_bytes_per_s * interval_s) AS INTEGER) FROM process_rate WHERE run = $(last) AND job = 1")
[ "${written:-0}" -gt 10000000 ] || fail "the job wrote ${written:-nothing}"
case $(verdict resource) in
disk) ;;
cpu | none) [ "$(sql "SELECT avg(idle_pct) < 20 FROM cpu_rate WHERE run = $(last)")" = 1 ] || fail "the disk is not named: $(verdict summary)" ;;
*) fail "$(verdict resource) is named: $(verdict summary)" ;;
esac
{ kill "$fills" && wait "$fills"; } 2>/dev/null

# --- cuts without a job, and of nobody
cut --last 15s
[ $status -eq 0 ] && [ "$(sql "SELECT count(DISTINCT pid) > 1 FROM process_rate WHERE run = $(last) AND job = 1")" = 1 ] || fail "without a job: $status"
cut --last 15s --unit no-such-unit
[ $status -eq 0 ] && said "$(hostname): its ring has no process of the job" || fail "nobody is the job, and that is not said"
cut --from -2h --to -1h
[ $status -eq 1 ] && said "$(hostname): its ring has nothing of that time, only of" || fail "no such time: $status"
[ "$(grep -c . err)" -eq 2 ] || fail "it is said in $(grep -c . err) lines"
cut --last 1h --step 1s
said "$(hostname): its ring begins at" || fail "an hour is not there, and that is not said"

# --- kill -9 of the sampling process, and of all; the next agent goes on
before=$(samples)
sampler=$(cat "/proc/$agent/task/$agent/children")
kill -9 $sampler
other() { local now; now=$(cat "/proc/$agent/task/$agent/children"); [ -n "$now" ] && [ "$now" != "$sampler" ]; }
until_true other
sleep 3
sampler=$(cat "/proc/$agent/task/$agent/children")
{ kill -9 "$agent" $sampler; wait "$agent"; } 2>/dev/null
keep "$ring"
sleep 4
cut --last 1h --step 1s --pid "$computes"
[ $status -eq 0 ] || fail "after kills: $status"
[ "$(sql "SELECT count(*) FROM stream JOIN host USING (host) WHERE run = $(last)")" -eq 2 ] || fail "not two streams"
[ "$(samples)" -ge $((before + 5)) ] || fail "$(samples) samples after kills, $before before"
[ "$(sql "SELECT count(DISTINCT pid) FROM process_rate WHERE run = $(last) AND job = 1")" = 1 ] || fail "the job has other processes"

# --- one agent a ring
setpriv --reuid nobody --regid nogroup --clear-groups "$CHOKEPOINT_BIN/chokepoint-agent" --ring "$ring" 2>err && fail "two agents keep one ring"
grep -q 'another agent keeps this ring' err || fail "that another agent keeps it is not said"
end_agent

# --- a small ring wraps, and its end is whole
small=$work/small
install -d -o nobody -m 700 "$small"
keep "$small" --ring-size 1m --rate 200 --process-rate 1
wrapped() { ls "$small"/*.ring >/dev/null 2>&1 && [ ! -e "$small/0000000001.ring" ]; }
until_true wrapped
[ "$(cat "$small"/* | wc -c)" -le 1048576 ] || fail "$(cat "$small"/* | wc -c) bytes"
ring=$small cut --last 3s
[ $status -eq 0 ] || fail "of a ring that wraps: $status"
end_agent

# --- a full disk costs the oldest samples, which is said once; the newest are there
install -d "$work/full"
mount -t tmpfs -o size=600k,mode=700,uid="$(id -u nobody)" none "$work/full" || fail "no tmpfs"
: >"$work/agent"
keep "$work/full/ring" --rate 200 --process-rate 1
is_full() { grep -q 'the disk is full' "$work/agent"; }
until_true is_full
sleep 3
ring=$work/full/ring cut --last 2s --no-report
[ $status -eq 0 ] || fail "of a full disk: $status"
[ "$(grep -c 'the disk is full' "$work/agent")" -eq 1 ] || fail "it is said $(grep -c 'the disk is full' "$work/agent") times"
end_agent
umount "$work/full"

# --- Ctrl-C ends a cut and leaves nothing
TMPDIR=$work/tmp env --default-signal=INT "$chokepoint" cut --ring "$work/ring" --db "$db" --last 1h -q >/dev/null 2>err &
asked=$!
begun() { [ "$(sql "SELECT count(*) FROM run WHERE state = 'running'")" = 1 ] || ! kill -0 $asked 2>/dev/null; }
until_true begun
kill -INT $asked 2>/dev/null
wait $asked
case $? in 0 | 130) ;; *) fail "Ctrl-C: $?: $(cat err)" ;; esac

# --- others may write to the directory
chmod 777 "$small"
ring=$small cut --last 1h
[ $status -eq 1 ] && said 'others may write to this ring' || fail "a directory of all is read: $status"
[ -z "$(ls "$work/tmp")" ] || fail "spools are left: $(ls "$work/tmp")"
