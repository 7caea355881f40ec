#!/bin/bash
# SPDX-License-Identifier: MIT
# The share of time budgets that add up to the wall time within 2 %: sgd sync and async, matmul, and LAMMPS and HPC Challenge if
# they are installed (each iteration, phase and whole run of each rank). Usage: budget_closure.sh [BIN], with the binaries of a
# release build; HOSTS, FEATURES, ITERATIONS in the environment. Fails below 99 %.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: budget_closure.sh BIN}}
hosts=${HOSTS:-2} features=${FEATURES:-2000000} iterations=${ITERATIONS:-60}
work=$(mktemp -d)
lammps=$(cd "$(dirname "$0")/../faults" && pwd)/in.lj
testbed() { "$bin/chokepoint" testbed --name "closure$$" "$@"; }
finish() { testbed down >/dev/null 2>&1; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }
# recorded NAME PROGRAM OPTIONS...: one rank on each host, recorded as NAME
recorded() {
    # shellcheck disable=SC2016 # for the shell inside the host
    testbed exec -- sh -c 'bin=$1; db=$2; n=$3; name=$4; shift 4
        exec "$bin/chokepoint" run --db "$db" -n "$name" mpirun --hostfile "$CHOKEPOINT_HOSTFILE" -np "$n" "$@"' \
        sh "$bin" "$work/db" "$hosts" "$@" >"$work/$1.log" 2>&1 || { tail -5 "$work/$1.log"; fail "$1"; }
}
# closing NAME: prints windows, those whose terms add up, the worst rank's closure over the whole
# run
closing() {
    "$bin/chokepoint" report --db "$work/db" "$1" --format json >"$work/$1.json" || fail "report $1"
    "$bin/chokepoint" report --db "$work/db" "$1" >"$work/$1.txt"
    python3 - "$1" "$work/$1.json" "$work/$1.txt" <<'PY'
import json, re, sys
name, report, text = sys.argv[1], json.load(open(sys.argv[2])), open(sys.argv[3]).read()
whole = [b for b in report["budget"] if b["phase"] == "all"]
rows = report["budget"]
found = re.search(r"(\d+) of (\d+) iterations add up", text)
closing, windows = (int(found[1]), int(found[2])) if found else (0, 0)
closing += sum(b["trusted"] for b in rows)
windows += len(rows)
worst = max(abs(b["closure_pct"] - 100) for b in whole)
print(f"{name}: {closing} of {windows} windows close ({100 * closing / windows:.1f} %), "
      f"whole run off by {worst:.2f} % at most, from {sorted({b['source'] for b in rows})}")
sys.exit(closing < 0.99 * windows)
PY
}

testbed up "$hosts" || { echo "skipped: this machine cannot have a testbed"; exit 77; }
"$bin/chokepoint-sgd" generate --features "$features" --examples 20000 --files "$hosts" --out "$work/data" \
    --test-examples 500 >/dev/null || fail "generate"
status=0
for mode in sync async; do
    recorded "$mode" "$bin/chokepoint-sgd" --mode "$mode" --transfer dense --features "$features" \
        --data "$work/data" --iterations "$iterations" --quiet
    closing "$mode" || status=1
done
recorded matmul "$bin/chokepoint-matmul" --size 4096 --repeat 8 --quiet
closing matmul || status=1
if command -v lmp >/dev/null; then
    recorded lammps lmp -log none -in "$lammps" -var size 20 -var steps 600
    closing lammps || status=1
else
    echo "lammps: not installed"
fi
if command -v hpcc >/dev/null; then
    sed -e 's/^2  *Ps/1 Ps/' /usr/share/doc/hpcc/examples/_hpccinf.txt >"$work/hpccinf.txt"
    recorded hpcc -wdir "$work" hpcc
    closing hpcc || status=1
else
    echo "hpcc: not installed"
fi
exit $status
