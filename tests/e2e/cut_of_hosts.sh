#!/bin/bash
# SPDX-License-Identifier: MIT
# A cut of two emulated hosts, of which one computes; of a third that has no ring, and a fourth that is gone: each is
# told in one line, and the rest is judged. The job is a control group, and a process of one host.
# shellcheck source=tests/e2e/run_lib.sh
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
need_testbed 3
printf 'while True:\n    sum(range(100000))\n' >compute.py
mkdir rings
at() { "$chokepoint" testbed --name "$name" exec "$1" -- "${@:2}" & }
for host in vm1 vm2; do at $host "$CHOKEPOINT_BIN/chokepoint-agent" --host $host --scope cgroup --ring "$work/rings/%h" 2>>agents; done
at vm2 python3 "$work/compute.py"
has_tail() { ls "$work/rings/$1"/*.spool >/dev/null 2>&1; }
until_true has_tail vm1
until_true has_tail vm2
sleep 23
cut() {
    inside "$chokepoint" cut $slow_start --ring "$work/rings/%h" --db "$db" "$@" >"$work/out" 2>"$work/err"
    status=$?
}
worker=$(pgrep -f "$work/compute.py" | grep -xFf <(processes_of vm2) | tail -n 1)

cut --hosts vm1,vm2,vm3,nobody.invalid --last 20s --job "vm2:pid=$worker"
[ $status -eq 0 ] || fail "exit status $status"
[ "$(hosts_recorded 1)" -eq 2 ] || fail "$(hosts_recorded 1) hosts"
said '^chokepoint: nobody.invalid cannot be reached' || fail "the host that is gone is not told"
said '^chokepoint: vm3: .*rings/vm3: No such file' || fail "vm3 has no ring, and that is not told"
[ "$(grep -c '^chokepoint: .*vm3' err)" -eq 1 ] || fail "vm3 is told in $(grep -c '^chokepoint: .*vm3' err) lines"
# The hosts share the cores of this machine with whatever else runs on it, so the verdict is not always the same.
said '^limit ' || fail "there is no verdict"
[ "$(sql "SELECT sum(user_pct * interval_s) / sum(interval_s) > 10 FROM process_rate WHERE run = 1 AND job = 1")" = 1 ] || fail "the program did not compute"
[ "$(sql "SELECT group_concat(DISTINCT host || pid) FROM process_rate WHERE run = 1 AND job = 1")" = "vm2$worker" ] || fail "the job"
sql 'SELECT text FROM run_note WHERE run = 1' | grep -q 'vm3' || fail "it is not noted"
[ "$(state_of 1)" = done ] || fail "$(state_of 1)"

group=$(sed -n 's/^[0-9]*:[^:]*:\(.*testbed.vm2.*\)/\1/p' "/proc/$worker/cgroup" | head -n 1)
cut --hosts vm1,vm2 --last 20s --cgroup "$group"
[ $status -eq 0 ] || fail "group: $status"
[ "$(sql "SELECT group_concat(DISTINCT host) FROM process_rate WHERE run = 2 AND job = 1")" = vm2 ] || fail "the group's job"
printf 'vm1\nvm2\n' >hostfile
cut --hostfile hostfile --last 10s --no-report
[ $status -eq 0 ] && [ "$(hosts_recorded 3)" -eq 2 ] || fail "hostfile: $status"
cut --hosts nobody.invalid --last 10s
[ $status -eq 1 ] && [ "$(state_of 4)" = not-started ] || fail "nobody: $status, $(state_of 4)"

# --- a host on which nothing is installed any more: an agent is sent there, and sends what the ring has
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/deliver_lib.sh" || exit 1
inside env CHOKEPOINT_RSH="$rsh" "$chokepoint" cut $slow_start --ring "$work/rings/%h" --db "$db" --hosts vm1,vm2 --last 10s \
    --cgroup "$group" --no-report >out 2>err
[ $? -eq 0 ] && [ "$(hosts_recorded 5)" -eq 2 ] || fail "delivered: $(cat err)"
[ "$(sql "SELECT group_concat(DISTINCT host) FROM process_rate WHERE run = 5 AND job = 1")" = vm2 ] || fail "the job of a delivered agent"
[ "$(connections_to vm2)" -eq 1 ] || fail "$(connections_to vm2) connections"
