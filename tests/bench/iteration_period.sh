#!/bin/bash
# SPDX-License-Identifier: MIT
# Iterations found without marks, beside the program's own marks on the same recordings: sgd sync and async
# (marks are deleted from a copy of the recording; then the single calls, too, so that only counters are left),
# and LAMMPS, whose steps are known from its run length. Usage: iteration_period.sh [BIN], with the binaries of
# a release build; HOSTS, FEATURES, ITERATIONS in the environment. Fails above 2 % by calls, 8 % by counters.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: iteration_period.sh BIN}}
hosts=${HOSTS:-2} features=${FEATURES:-8000000} iterations=${ITERATIONS:-40} rate=${RATE:-400mbit}
work=$(mktemp -d)
lammps=$(cd "$(dirname "$0")/../faults" && pwd)/in.lj
testbed() { "$bin/chokepoint" testbed --name "period$$" "$@"; }
finish() { testbed down >/dev/null 2>&1; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }
command -v sqlite3 >/dev/null || { echo "skipped: no sqlite3"; exit 77; }
# recorded NAME PROGRAM OPTIONS...: one rank on each host, recorded as NAME
recorded() {
    # shellcheck disable=SC2016 # for the shell inside the host
    testbed exec -- sh -c 'bin=$1; db=$2; n=$3; name=$4; shift 4
        exec "$bin/chokepoint" run --db "$db" -n "$name" mpirun --hostfile "$CHOKEPOINT_HOSTFILE" -np "$n" \
            --bind-to core "$@"' sh "$bin" "$work/marks" "$hosts" "$@" >"$work/$1.log" 2>&1 ||
        { tail -5 "$work/$1.log"; fail "$1"; }
}
# without FROM TO TABLE: copies a recording without a table
without() { sqlite3 "$work/$1" "VACUUM INTO '$work/$2'" && sqlite3 "$work/$2" "DELETE FROM \"$3\""; }

testbed up "$hosts" --rate "$rate" --cpus "${CPUS:-0,1}" || { echo "skipped: this machine cannot have a testbed"; exit 77; }
"$bin/chokepoint-sgd" generate --features "$features" --examples 20000 --files "$hosts" --out "$work/data" \
    --test-examples 500 >/dev/null || fail "generate"
for mode in sync async; do
    recorded "$mode" "$bin/chokepoint-sgd" --mode "$mode" --transfer dense --features "$features" \
        --data "$work/data" --iterations "$iterations" --quiet
done
command -v lmp >/dev/null && {
    recorded lammps lmp -log none -in "$lammps" -var steps 400
}
without marks calls mark && without calls counters call || fail "copy"
for name in sync async lammps; do
    [ -e "$work/$name.log" ] || continue
    for source in marks calls counters; do
        "$bin/chokepoint" report --db "$work/$source" "$name" --format json >"$work/$name.$source" || fail "report $name"
    done
done
python3 - "$work" <<'PY'
import json, os, re, sys
work, bad = sys.argv[1], False
def ranks(name, source):
    i = json.load(open(f"{work}/{name}.{source}"))["iterations"]
    return i["source"], {r["rank"]: r for r in i["by_rank"]}
for name in ("sync", "async"):
    _, truth = ranks(name, "marks")
    workers = [r for r in truth if name == "sync" or r != 0]   # async: rank 0 continues computing without any call
    for source, goal in (("calls", 2), ("counters", 8)):
        said, found = ranks(name, source)
        for r in workers:
            if r not in found or said != source:
                print(f"{name} rank {r}: nothing found from {source} ({said})")
                bad = True
                continue
            t, f = truth[r]["median_s"], found[r]["median_s"]
            error = 100 * abs(f - t) / t
            bad |= error > goal
            print(f"{name} rank {r}: {f:.4f} s from {source}, {t:.4f} s by its marks: off by {error:.2f} % "
                  f"(at most {goal}); {found[r]['count']} of {truth[r]['count']} iterations")
if os.path.exists(f"{work}/lammps.log"):
    steps = 400
    said, found = ranks("lammps", "calls")
    for r, it in found.items():
        error = 100 * abs(it["count"] - steps) / steps
        bad |= error > 2
        print(f"lammps rank {r}: {it['count']} iterations from {said}, {steps} steps run: off by {error:.2f} % (at most 2)")
    bad |= not found
sys.exit(bad)
PY
