#!/bin/bash
# SPDX-License-Identifier: MIT
# `roles` of a report compared with the ranks' own figures: the kernel's accounting of each ended process (wait4, by a
# waiting parent), the bytes that the program passed to MPI, the accuracy that it marked.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
[ -e "$CHOKEPOINT_BIN/libchokepoint-mpi.so" ] || { echo "skipped: no MPI"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 ASAN_OPTIONS=detect_leaks=0
bin=$CHOKEPOINT_BIN
"$bin/chokepoint-data" generate digits --out digits --train 20000 --test 2000 --quiet || fail "no digits"
cat >accounted.py <<'EOF'
import json, os, resource, subprocess, sys
def of_children():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime, use.ru_maxrss * 1024
before = of_children()[0]  # if python3 is a script that ended in python3, these are its children
status = subprocess.run(sys.argv[1:]).returncode
cpu, memory = of_children()
rank = os.environ['OMPI_COMM_WORLD_RANK']
json.dump({'cpu_s': cpu - before, 'memory': memory}, open('use.' + rank, 'w'))
sys.exit(status)
EOF
run --name async -- mpirun --oversubscribe -np 3 python3 accounted.py "$bin/chokepoint-sgd" --model softmax \
    --mode async --data digits --batch 200 --rate 0.5 --epochs 15 --quiet --json summary.json
[ $status = 0 ] || fail "status $status"
"$chokepoint" report --db "$db" --format json -o report.json || fail "no report"
cat >compare.py <<'EOF'
import json, sys
roles = json.load(open('report.json'))['roles']
summary = json.load(open('summary.json'))['by_rank']
failures = []
def expect(what, is_so):
    if not is_so: failures.append(what)
expect('a row a rank', [r['rank'] for r in roles] == [0, 1, 2])
for r in roles:
    use, own = json.load(open('use.%d' % r['rank'])), summary[r['rank']]
    cpu = r['cpu_s']
    print('rank %d: CPU %.2f of %.2f s, memory %.4f of %.4f GB, sent %.3f of %.3f MB, received %.3f of %.3f MB, accuracy %.2f %%' % (
        r['rank'], cpu, use['cpu_s'], r['peak_memory_gb'], use['memory'] / 1e9, r['sent_mb'], own['sent_bytes'] / 1e6,
        r['received_mb'], own['received_bytes'] / 1e6, r['accuracy_pct']))
    # a tenth of a second between two samples, and as much at the start and the end
    expect('CPU of rank %d' % r['rank'], abs(cpu - use['cpu_s']) <= .05 * use['cpu_s'] + .2)
    # a peak within the last tenth of a second is missed
    expect('memory of rank %d' % r['rank'], .7 <= r['peak_memory_gb'] * 1e9 / use['memory'] <= 1.02)
    for is_, should in (('sent_mb', 'sent_bytes'), ('received_mb', 'received_bytes')):
        # the ranks agree with each other outside the training
        expect('%s of rank %d' % (is_, r['rank']), own[should] <= r[is_] * 1e6 <= own[should] * 1.001 + 10000)
    expect('bytes of rank %d come from its calls' % r['rank'], r['bytes_source'] == 'mpi')
    expect('time of rank %d' % r['rank'], 0 < r['time_s'] <= r['lived_s'])
    expect('accuracy of rank %d' % r['rank'], 70 < r['accuracy_pct'] < 100)
sent, received = (sum(r[m] for r in roles) for m in ('sent_mb', 'received_mb'))
expect('what is sent is received', abs(sent - received) <= .001 * sent + .01)
print('\n'.join('FAILED: ' + f for f in failures))
sys.exit(len(failures) > 0)
EOF
python3 compare.py || fail "roles are not those of the ranks"
"$chokepoint" report --db "$db" --format text | grep -q '^Ranks' || fail "no table in the text"
"$chokepoint" report --db "$db" --format csv | grep -q '"rank 2 accuracy",%' || fail "no row in the CSV"

# A server that only serves ends no iteration, but still has its role.
for mode in async sync; do
    run -q --no-report --name "apart-$mode" -- mpirun --oversubscribe -np 3 "$bin/chokepoint-sgd" --model softmax --mode $mode \
        --server apart --data digits --batch 200 --rate 0.5 --epochs 6 --quiet
    [ $status = 0 ] || fail "apart, $mode: status $status"
    "$chokepoint" report "apart-$mode" --db "$db" --format json -o apart.json || fail "no report"
    [ "$(jq -c '[.roles[] | .role]' apart.json)" = '["server","worker","worker"]' ] ||
        fail "apart, $mode: roles are $(jq -c '[.roles[] | .role]' apart.json)"
    jq -e '[.operators[] | select(.name == "receive weights" or .name == "apply gradient" or .name == "reduce and apply") | .role] |
        index("server") != null and index("worker") != null and index("") == null' apart.json >/dev/null ||
        fail "apart, $mode: operators are $(jq -c '[.operators[] | [.name, .role]]' apart.json)"
done
