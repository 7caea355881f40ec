#!/bin/bash
# SPDX-License-Identifier: MIT
# A process of the job under a CPU quota of 20 %: the cgroup table has its group and quota, and the kernel's CPU time and
# throttling to the ns.
set -u
work=$(mktemp -d)
group= pids=()
finish() {
    local pid
    for pid in "${pids[@]}"; do kill -KILL "$pid" 2>/dev/null; done
    wait
    for directory in $group; do rmdir "$directory" 2>/dev/null; done
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM
fail() { echo "FAILED: $*"; cat "$work/err"; exit 1; }
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/until_lib.sh" || exit 1
name=chokepoint-test-$$
if [ -e /sys/fs/cgroup/cpu/cpu.cfs_quota_us ] || [ -e /sys/fs/cgroup/cpu/cpu.shares ]; then
    group="/sys/fs/cgroup/cpu/$name /sys/fs/cgroup/cpuacct/$name"
    mkdir -p $group 2>"$work/why" && echo 100000 >/sys/fs/cgroup/cpu/$name/cpu.cfs_period_us 2>"$work/why" &&
        echo 20000 >/sys/fs/cgroup/cpu/$name/cpu.cfs_quota_us 2>"$work/why" || { echo "skipped: $(cat "$work/why")"; exit 77; }
else
    group=/sys/fs/cgroup/$name
    mkdir "$group" 2>"$work/why" && echo "20000 100000" 2>"$work/why" >"$group/cpu.max" || { echo "skipped: $(cat "$work/why")"; exit 77; }
fi
CHOKEPOINT_RUN=quota "$CHOKEPOINT_BIN/chokepoint-agent" --no-push --no-supervise --spool "$work/spool" --host q \
    --rate 10 --process-rate 5 2>"$work/err" &
agent=$!
pids+=($agent)
samples() { [ "$(cat "$work"/spool/*.spool 2>/dev/null | wc -c)" -gt 1000 ]; }
until_true samples
for directory in $group; do echo "echo \$\$ >$directory/cgroup.procs"; done >"$work/busy"
echo 'while :; do :; done' >>"$work/busy"
CHOKEPOINT_RUN=quota bash "$work/busy" &
busy=$!
pids+=($busy)
stat=${group%% *}/cpu.stat
for _ in $(seq 400); do [ "$(awk '$1 == "nr_throttled" { print $2 }' "$stat")" -ge 25 ] && break; sleep 0.05; done
kill -KILL $busy
wait $busy 2>/dev/null
# The kernel counts a throttled period at its end: waits until nothing changes for longer than one
# period (100 ms).
settled() { local then=$now; now=$(cat "$stat"); [ "$now" = "$then" ] || { sleep 0.15; return 1; }; }
now=""
until_true settled
kill -TERM $agent && wait $agent || fail "the agent ended with status $?"
for segment in "$work"/spool/*.spool; do "$CHOKEPOINT_BIN/frame-dump" "$segment"; done >"$work/dump"
column() { grep -F " cgroup [/$name]" "$work/dump" | tail -1 | grep -oE " $1=[0-9-]+" | cut -d= -f2; }
expected=$(awk '$1 == "throttled_time" { print $2 } $1 == "throttled_usec" { print $2 * 1000 }' "$stat")
[ "$(column throttled_ns)" = "$expected" ] || fail "throttled_ns is '$(column throttled_ns)', the kernel has $expected"
[ "$(column quota_ns)/$(column period_ns)" = 20000000/100000000 ] || fail "quota $(column quota_ns)/$(column period_ns)"
[ "$expected" -ge 500000000 ] || { echo "skipped: the machine is too busy for the group to reach its quota ($expected ns throttled)"; exit 77; }
expected_periods=$(awk '$1 == "nr_throttled" { print $2 }' "$stat")
[ "$(column throttled_periods)" = "$expected_periods" ] || fail "throttled_periods $(column throttled_periods), the kernel has $expected_periods"
[ "$(column cpu_ns)" -gt 100000000 ] || fail "cpu_ns $(column cpu_ns)"
echo "throttled for $expected ns in $(column throttled_periods) of $(column periods) periods"
