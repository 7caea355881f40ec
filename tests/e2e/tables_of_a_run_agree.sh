#!/bin/bash
# SPDX-License-Identifier: MIT
# A reader with a calculator: the table of processes adds up to the job's line, and both to what the kernel charged to the
# command, also for a run that is shorter than a sample and for processes that no sample saw.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh"
export LC_ALL=C

near() { awk -v a="$1" -v b="$2" -v least="$3" 'BEGIN { m = b > least ? b : least; exit !(a - b <= m / 100 && b - a <= m / 100) }'; }
# The sum over the job's processes of that field, times the run's length.
sum_of() { jq "(.run.duration_s) as \$s | [.processes[] | select(.job) | .$1 // 0] | add * \$s" report.json; }

check() {
    run -q --no-report sh -c "$1"
    [ $status -eq 0 ] || fail "$1: exit status $status"
    "$chokepoint" report last --db "$db" --format json >report.json || fail "no report"
    "$chokepoint" report last --db "$db" >report.txt || fail "no report"
    length=$(jq .run.duration_s report.json)
    cpu=$(sql 'SELECT (user_ns + system_ns) / 1e9 FROM run_usage ORDER BY run DESC LIMIT 1')
    written=$(sql 'SELECT write_bytes / 1e6 FROM run_usage ORDER BY run DESC LIMIT 1')
    rows=$(awk -v c="$(sum_of cpu_pct)" 'BEGIN { print c / 100 }')
    line=$(awk -v s="$length" '/^The job as a whole/ { on = 1 } on && $1 ~ /^[0-9.]+$/ { print $1 * s / 100; exit }' report.txt)
    near "$rows" "$cpu" 0.01 || fail "$1: processes used $rows s, the kernel says $cpu"
    near "$line" "$cpu" 0.05 || fail "$1: the job's line says $line s, the kernel $cpu"
    near "$(sum_of write_mb_s)" "$written" 1 || fail "$1: processes wrote $(sum_of write_mb_s) MB, the kernel says $written"
}

check 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
check 'for i in $(seq 300); do /bin/true; done'
check 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do (sleep 1.5; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done) & done; wait'
check "dd if=/dev/zero of=$work/file bs=1M count=150 conv=fsync 2>/dev/null; sh -c 'dd if=/dev/zero of=$work/file bs=1M count=50 conv=fsync 2>/dev/null; sleep 1.2'"
