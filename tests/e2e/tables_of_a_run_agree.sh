#!/bin/bash
# SPDX-License-Identifier: MIT
# As a reader with a calculator would check: the table of processes adds up to the job's line, and both to the kernel's charge
# to the command, even for a run shorter than a sample and for processes that no sample saw. Network bytes: processes, pairs
# of hosts, roles of ranks and the program's own count agree for one run.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
export LC_ALL=C

near() { awk -v a="$1" -v b="$2" -v least="$3" 'BEGIN { m = b > least ? b : least; exit !(a - b <= m / 100 && b - a <= m / 100) }'; }
# The sum of that field over the job's processes, times the run's length.
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

# ---- bytes on the network ----
rm -f "$work/file"
need_testbed 2

# Half-closed at the end, so that both sides have everything before they end: python3 SENDER BYTES there, BYTES / 4
# back.
cat >talk.py <<'EOF'
import os, socket, sys, time
role, port, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def take(s, n):
    while n > 0:
        n -= len(s.recv(min(n, 1 << 20))) or sys.exit('short')
if role == 'serve':
    server = socket.create_server(('', port))
    s = server.accept()[0]
    take(s, size)
    s.sendall(bytes(size // 4))
else:
    for _ in range(600):
        try:
            s = socket.create_connection((role, port))
            break
        except OSError:
            time.sleep(.1)
    s.sendall(bytes(size))
    take(s, size // 4)
time.sleep(2.5) # until both are sampled again, once a second: connections that end are not asked any more
EOF
hosts=$(inside printenv CHOKEPOINT_HOSTFILE)
both() { # OPTIONS... -- COMMAND of rank 0 on vm1 and rank 1 on vm2
    run_inside -q --no-report "$@"
    [ $status -eq 0 ] || fail "$*: status $status"
    "$chokepoint" report last --db "$db" --format json >report.json || fail "no report"
}
pairs_mb() { jq "[.pairs[] | select($1) | .bytes] | add / 1e6" report.json; }
roles_mb() { jq "[.roles[].$1] | add" report.json; }

both mpirun --hostfile "$hosts" -N 1 sh -c '[ "$OMPI_COMM_WORLD_RANK" = 0 ] && exec python3 talk.py serve 7777 200000000; exec python3 talk.py vm1 7777 200000000'
near "$(sum_of sent_mb_s)" 250 1 || fail "processes sent $(sum_of sent_mb_s) MB of 250"
near "$(sum_of received_mb_s)" 250 1 || fail "processes received $(sum_of received_mb_s) MB of 250"
near "$(sum_of sent_mb_s)" "$(pairs_mb true)" 0.1 || fail "processes sent $(sum_of sent_mb_s) MB, pairs $(pairs_mb true)"
near "$(jq '(.run.duration_s) as $s | [.processes[] | select(.job and .host == "vm2") | .sent_mb_s // 0] | add * $s' report.json)" \
    "$(pairs_mb '.from == "vm2"')" 0.1 || fail "vm2: processes and pairs differ"
jq -e '[.processes[] | select(.job and .sent_mb_s == 0 and .received_mb_s == null)] == []' report.json >/dev/null || fail "half known"
jq -e '[.processes[] | select((.process | startswith("sh[")) and .sent_mb_s != null)] == []' report.json >/dev/null ||
    fail "a process without connections has sent $(jq -c '[.processes[] | [.process, .sent_mb_s]]' report.json)"

if [ -x "$CHOKEPOINT_BIN/chokepoint-sgd" ] && [ -e "$CHOKEPOINT_BIN/libchokepoint-mpi.so" ]; then
    export ASAN_OPTIONS=detect_leaks=0
    "$CHOKEPOINT_BIN/chokepoint-sgd" generate --features 1000000 --examples 4000 --files 2 --out clicks >/dev/null || fail "no data"
    train=(mpirun --hostfile "$hosts" -N 1 -x ASAN_OPTIONS "$CHOKEPOINT_BIN/chokepoint-sgd" --data "$work/clicks" --features 1000000 --quiet
        --mode sync --transfer dense --batch 500 --iterations 30 --plant sleep:0:50)
    # Both tables have one source if MPI's own count is missing; otherwise they are close to MPI's.
    both --no-shim "${train[@]}"
    [ "$(jq -c '[.roles[].bytes_source] | unique' report.json)" = '["connections"]' ] || fail "roles: $(jq -c '.roles' report.json)"
    near "$(sum_of sent_mb_s)" "$(roles_mb sent_mb)" 1 || fail "processes sent $(sum_of sent_mb_s) MB, roles $(roles_mb sent_mb)"
    near "$(sum_of sent_mb_s)" "$(pairs_mb true)" 1 || fail "processes sent $(sum_of sent_mb_s) MB, pairs $(pairs_mb true)"
    both "${train[@]}"
    [ "$(jq -c '[.roles[].bytes_source] | unique' report.json)" = '["mpi"]' ] || fail "roles: $(jq -c '.roles' report.json)"
    near "$(sum_of sent_mb_s)" "$(roles_mb sent_mb)" 1 || fail "processes sent $(sum_of sent_mb_s) MB, MPI calls $(roles_mb sent_mb)"
fi
