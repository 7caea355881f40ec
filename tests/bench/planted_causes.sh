#!/bin/bash
# SPDX-License-Identifier: MIT
# Whether the right term of a rank's time budget grows by what was planted, and no other: for each cause a clean and a
# planted run of the same program (tests/mpi/planted_causes.c) on two emulated hosts, a core each; the cause sits at
# rank 1 on vm2. The planted time is known from the program's own clocks around it (time it was put aside while
# computing, slept, blocked in reading; longer MPI_Send), for the quota from arithmetic too. Only rank 1's phase "work"
# is compared.
# Usage: planted_causes.sh [BIN [CAUSE...]], BIN of a release build; SECONDS_EACH (4) and ROUNDS (1) in the environment:
# pairs of a clean and a planted run, of which the medians count. Fails where the right term is off by more than 10 %
# or another grows by more than 10 % of what was planted. Needs root. The testbed's group has the highest weight, so
# that other programs of the machine hardly take part; how much CPU these used meanwhile is told: above a few percent
# their noise (term runqueue) is in the figures.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: planted_causes.sh BIN}}
shift
causes=("$@")
[ $# -gt 0 ] || causes=(hog quota skew sleep path-limited receiver-limited send-buffer disk-throttle memory-limit)
seconds=${SECONDS_EACH:-4}
name=planted$$
work=$(mktemp -d)
export EXPECT=$work/expect
rounds=${ROUNDS:-1} round=0
loop='' delays='' wire=''
testbed() { "$bin/chokepoint" testbed --name "$name" "$@"; }
hog_caller=''
end_hog() {
    kill -KILL "$(cat "$work/hog")"
    rm "$work/hog"
    wait "$hog_caller" 2>/dev/null
}
finish() {
    [ ! -e "$work/hog" ] || end_hog
    [ -z "$wire" ] || kill "$wire"
    testbed down >/dev/null 2>&1
    [ -z "$loop" ] || losetup -d "$loop"
    [ -z "$delays" ] || echo "$delays" >/proc/sys/kernel/task_delayacct
    ${KEEP:-rm -rf} "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM
fail() { echo "FAILED: $*"; exit 1; }

# ---- the testbed and its limits ----

testbed up 2 --cpus 0,1 >"$work/up" 2>&1 || { cat "$work/up"; echo "skipped: this machine cannot have a testbed"; exit 77; }
[ -e /sys/fs/cgroup/cpu/$name-testbed/vm2/cpu.cfs_quota_us ] || { echo "skipped: limits are set as cgroup v1 has them"; exit 77; }
group() { echo "/sys/fs/cgroup/$1/$name-testbed/vm2/$2"; }
echo 262144 >"/sys/fs/cgroup/cpu/$name-testbed/cpu.shares"
if [ "$(cat /proc/sys/kernel/task_delayacct 2>/dev/null)" = 0 ]; then
    delays=0
    echo 1 >/proc/sys/kernel/task_delayacct
fi

# ---- a run ----

used_by_others() { # ns of CPU used by programs outside the testbed
    awk -v own="$(cat "/sys/fs/cgroup/cpuacct/$name-testbed/cpuacct.usage")" -v ns=$((1000000000 / $(getconf CLK_TCK))) \
        '$1 == "cpu" { printf "%.0f\n", ($2 + $3 + $4 + $7 + $8) * ns - own }' /proc/stat
}
# recorded LABEL MPI-OPTIONS... -- WORDS...: records both ranks; their own figures go to LABEL.ROUND.known, budgets to
# .json
recorded() {
    local label=$1 options=() others start
    shift
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    rm -f "$EXPECT".*
    others=$(used_by_others) start=$(date +%s%N)
    # shellcheck disable=SC2016 # for the shell inside the host
    testbed exec -- sh -c 'bin=$1; db=$2; shift 2
        exec "$bin/chokepoint" run --no-report --db "$db" mpirun --hostfile "$CHOKEPOINT_HOSTFILE" -x EXPECT -N 1 "$@"' \
        sh "$bin" "$work/db" "${options[@]}" "$bin/planted_causes" "$@" >"$work/$label.log" 2>&1 ||
        { tail -5 "$work/$label.log"; fail "$label"; }
    cat "$EXPECT".* >"$work/$label.$round.known"
    echo "others 1 cpu $((($(used_by_others) - others) * 1000 / ($(date +%s%N) - start) * 1000000))" >>"$work/$label.$round.known"
    "$bin/chokepoint" report --db "$work/db" last --format json >"$work/$label.$round.json" || fail "report of $label"
}
# once LABEL ...: the same, if this round has no such run yet
once() { [ -e "$work/$1.$round.json" ] || recorded "$@"; }
# judge CAUSE CLEAN PLANTED TERM NAME...: after the last round, compares TERM of rank 1 with the growth of the known
# amounts NAME
judge() {
    [ "$round" = "$rounds" ] || return 0
    python3 - "$work" "$rounds" "$@" <<'PY'
import json, statistics, sys
work, rounds, cause, clean, planted, right, *names = sys.argv[1:]
parts = {"path": "path_limited_pct", "receiver": "receiver_limited_pct", "sndbuf": "send_buffer_limited_pct"}
def budget(label):
    rows = [b for b in json.load(open(f"{work}/{label}.json"))["budget"] if b["rank"] == 1 and b["phase"] == "work"]
    if not rows:
        sys.exit(f"FAILED: {label}: no budget of rank 1 in its phase")
    row = rows[0]
    terms = {k[:-2]: v or 0 for k, v in row.items() if k.endswith("_s") and k not in ("wall_s", "awaited_s", "other_threads_cpu_s")}
    for part, share in parts.items():
        terms[f"transfer:{part}"] = terms["transfer"] * (row[share] or 0) / 100
    terms["transfer:unknown"] = terms["transfer"] if row["path_limited_pct"] is None else 0
    del terms["transfer"]
    return terms, row
def known(label):
    return {n: int(ns) / 1e9 for _, r, n, ns in map(str.split, open(f"{work}/{label}.known")) if r == "1"}
pairs = []
for i in range(1, int(rounds) + 1):
    (before, row), (after, row_after) = budget(f"{clean}.{i}"), budget(f"{planted}.{i}")
    k, l = known(f"{clean}.{i}"), known(f"{planted}.{i}")
    pairs.append({"amount": sum(l[n] - k[n] for n in names), "growth": {t: after[t] - before[t] for t in after}, "from": k["wall"],
                  "to": l["wall"], "others": max(k["cpu"], l["cpu"]), "closes": min(row["closure_pct"], row_after["closure_pct"], key=lambda c: -abs(c - 100)),
                  "source": row_after["source"]})
middle = statistics.median
amount = middle(p["amount"] for p in pairs)
error = 100 * middle(p["growth"][right] / p["amount"] - 1 for p in pairs)
other = {t: 100 * middle(p["growth"][t] / p["amount"] for p in pairs) for t in pairs[0]["growth"] if t != right}
worst = max(other, key=lambda t: abs(other[t]))
good = abs(error) <= 10 and abs(other[worst]) <= 10
closes = max((p["closes"] for p in pairs), key=lambda c: abs(c - 100))
print(f"{cause:17s} planted {amount:6.3f} s, {right} {error:+.1f} %; next {worst} {other[worst]:+.1f} % of it; wall {middle(p['from'] for p in pairs):.2f} -> "
      f"{middle(p['to'] for p in pairs):.2f} s, closes {closes:.1f} %, {pairs[-1]['source']}; others used {100 * max(p['others'] for p in pairs):.0f} % of a core"
      f"{'' if good else '   NOT WITHIN 10 %'}")
sys.exit(not good)
PY
}

# ---- causes ----

# No run is shorter than a second: processes are scanned once a second.
iterations=$((seconds * 20))
clean_compute() { once compute -- $iterations --compute 50; }

try_hog() {
    clean_compute
    testbed ssh vm2 "echo \$\$ >$work/hog.new && mv $work/hog.new $work/hog && while :; do :; done" &
    hog_caller=$!
    until [ -e "$work/hog" ]; do sleep 0.05; done
    recorded hog -- $iterations --compute 50
    end_hog
    judge hog compute hog runqueue compute_away
}
try_quota() {
    clean_compute
    echo 50000 >"$(group cpu cpu.cfs_quota_us)"
    recorded quota -- $iterations --compute 50
    echo -1 >"$(group cpu cpu.cfs_quota_us)"
    judge quota compute quota quota compute_away
}
try_skew() {
    clean_compute
    recorded skew -- $iterations --compute 50 --skew 2
    judge skew compute skew cpu compute_cpu
}
try_sleep() {
    clean_compute
    recorded sleep -- $iterations --compute 50 --sleep 50
    judge sleep compute sleep idle slept
}
link_rate() { # RATE: towards vm1, at its switch port
    ip netns exec "$name-switch" tc qdisc change dev vm1 root tbf rate "$1" burst 450000 limit 2700000
}
try_path-limited() {
    once send -- 4 --compute 300 --send 100000000
    link_rate 800mbit || fail "no qdisc on the port of vm1"
    recorded path -- 4 --compute 300 --send 100000000
    link_rate 1800mbit
    judge path-limited send path transfer:path sending
}
# A small receive buffer in both runs: the data that fit into it are not waited for.
try_receiver-limited() {
    recorded reader --mca btl_tcp_rcvbuf 131072 -- 2 --compute 700 --send 50000000
    recorded receiver --mca btl_tcp_rcvbuf 131072 -- 2 --compute 700 --send 50000000 --nap 50
    judge receiver-limited reader receiver transfer:receiver sending
}
# A link of 10 ms there and back, in both runs: on a short one a small buffer is no trouble. The kernel takes twice what
# it is told, and a segment of 64 kB more. A buffer that holds less than two segments the kernel does not call a limit at
# all (it looks only while segments wait behind one just sent), and none once there is room again, until the program has
# written: such time is in the budget as path-limited. Off by 7 to 13 % while the machine is quiet, by up to a third when
# ranks wait for a core between two writes.
make_distant() {
    ip -n "$name-switch" link add slow0 mtu 9000 type veth peer name slow1 mtu 9000 &&
        ip -n "$name-switch" link set slow0 master chokepoint0 up && ip -n "$name-switch" link set slow1 up &&
        ip -n "$name-switch" link set vm2 nomaster || fail "no distant link"
    ip netns exec "$name-switch" "$bin/slow-wire" vm2 slow1 5000 >"$work/wire" &
    wire=$!
    until grep -qs ready "$work/wire"; do
        kill -0 $wire 2>/dev/null || fail "no distant link"
        sleep 0.05
    done
}
make_near() {
    kill "$wire"
    wait "$wire" 2>/dev/null
    wire=
    ip -n "$name-switch" link set vm2 master chokepoint0
    ip -n "$name-switch" link del slow0
}
try_send-buffer() {
    make_distant
    recorded distant -- 2 --compute 700 --send 50000000
    recorded sndbuf --mca btl_tcp_sndbuf 131072 -- 2 --compute 700 --send 50000000
    make_near
    judge send-buffer distant sndbuf transfer:sndbuf sending
}
a_disk() { # MB
    [ -z "$loop" ] || losetup -d "$loop"
    loop=
    dd if=/dev/urandom of="$work/disk" bs=1M count="$1" conv=fsync status=none
    loop=$(losetup --show -f "$work/disk") || fail "no loop device"
}
throttle() { # BYTES per second, 0: no limit
    echo "$(cat "/sys/block/${loop#/dev/}/dev") $1" >"$(group blkio blkio.throttle.read_bps_device)"
}
try_disk-throttle() {
    a_disk 2
    recorded disk -- $iterations --compute 20 --read "$loop" 2097152
    throttle 20971520
    recorded throttled -- $iterations --compute 20 --read "$loop" 2097152
    throttle 0
    judge disk-throttle disk throttled disk io_away
}
# The disk has 60 MB/s in both runs; the working set is mapped, and read once before the phase.
try_memory-limit() {
    a_disk 128
    throttle 62914560
    recorded memory -- 2 --compute 1000 --touch "$loop"
    blockdev --flushbufs "$loop"
    echo $((110 << 20)) >"$(group memory memory.limit_in_bytes)"
    recorded limit -- 2 --compute 1000 --touch "$loop"
    echo -1 >"$(group memory memory.limit_in_bytes)"
    throttle 0
    judge memory-limit memory limit memory io_away
}

status=0
for round in $(seq "$rounds"); do
    for cause in "${causes[@]}"; do
        "try_$cause" || status=1
    done
done
exit $status
