#!/bin/bash
# SPDX-License-Identifier: MIT
# Predictions of `chokepoint whatif` beside measured times: pairs of real runs over emulated hosts that differ in one
# thing; each run of a pair is asked to predict the other. Usage: whatif_error.sh [BIN] [CASE...], with the binaries of a
# release build; HOSTS, ITERATIONS, FEATURES in the environment; CASE: dense sparse quota skew lammps (default: all but
# lammps). The goal is a median error of 4 % and 10 % at the 90th percentile.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: whatif_error.sh BIN}}
shift
cases=${*:-dense sparse quota skew}
hosts=${HOSTS:-3} iterations=${ITERATIONS:-30} features=${FEATURES:-500000}
work=$(mktemp -d)
db=$work/runs.db
testbed() { "$bin/chokepoint" testbed --name "wif$$" "$@"; }
finish() { testbed down >/dev/null 2>&1; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }
command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }

# up RATE: new hosts, on the CPUs in turn
up() {
    testbed up "$hosts" --rate "$1" --cpus "$(seq -s, 0 $(($(nproc) - 1)))" --replace >/dev/null ||
        { echo "skipped: this machine cannot have a testbed"; exit 77; }
}
# record NAME COMMAND...: one rank on each host
record() {
    local name=$1
    shift
    # shellcheck disable=SC2016 # for the shell inside the host
    testbed exec -- bash -c 'db=$1 name=$2 chokepoint=$3 n=$4; shift 4
        exec "$chokepoint" run -n "$name" --db "$db" --no-report -- mpirun --hostfile "$CHOKEPOINT_HOSTFILE" -np "$n" "$@"' \
        bash "$db" "$name" "$bin/chokepoint" "$hosts" "$@" >"$work/out" 2>&1 || fail "$name: $(tail -3 "$work/out")"
}
measured() { "$bin/chokepoint" whatif "$1" --db "$db" --balanced --format json | jq -r .measured_s; }
# predict CASE FROM TO QUESTION...: prints a line of the table
predict() {
    local name=$1 from=$2 to=$3
    shift 3
    "$bin/chokepoint" whatif "$from" --db "$db" "$@" --together --format json >"$work/answer" || fail "whatif"
    jq -r --arg c "$name" --arg q "$*" --argjson m "$(measured "$to")" '.answers[0] as $a | [$c, .measured_s, $m,
        ($a.predicted_s // "refused"), (if $a.predicted_s then 100 * ($a.predicted_s / $m - 1) else "-" end), $q, ($a.refused // "")] | @tsv' \
        "$work/answer" | tee -a "$work/table" |
        awk -F'\t' '$5 == "-" { printf "%-8s %8.3f s, twin %8.3f s, refused: %s\n", $1, $2, $3, $7; next }
                     { printf "%-8s %8.3f s, twin %8.3f s, predicted %8.3f s: %+6.1f %%  %s\n", $1, $2, $3, $4, $5, $6 }'
}
sgd() {
    local name=$1
    shift
    record "$name" "$bin/chokepoint-sgd" --mode sync --features "$features" --data "$work/data" --batch 1000 \
        --iterations "$iterations" --quiet "$@"
}
# links CASE SLOW FAST FACTOR COMMAND...: the same at two rates, each predicted from the other
links() {
    local case=$1 slow=$2 fast=$3 factor=$4
    shift 4
    up "$slow"
    "$@" "$case-slow"
    up "$fast"
    "$@" "$case-fast"
    predict "$case" "$case-slow" "$case-fast" --link "all=${factor}x"
    predict "$case" "$case-fast" "$case-slow" --link "all=$(awk -v f="$factor" 'BEGIN { print 1 / f }')x"
}
dense() { sgd "$1" --transfer dense; }
sparse() { sgd "$1" --transfer sparse; }
lammps() { record "$1" lmp -in "${LAMMPS_INPUT:-$(cd "$(dirname "$0")/../faults" && pwd)/in.lj}" -log none; }

"$bin/chokepoint-sgd" generate --features "$features" --examples 60000 --files "$hosts" --out "$work/data" \
    --test-examples 500 >/dev/null || fail "generate"
for case in $cases; do
    case $case in
        dense) links dense 200mbit 400mbit 2 dense ;;
        sparse) links sparse 20mbit 40mbit 2 sparse ;;
        lammps) hosts=2 && links lammps 20mbit 40mbit 2 lammps ;;
        skew) # the last rank computes three times as long
            up 1.8gbit
            sgd skewed --transfer sparse --plant "skew:$((hosts - 1)):3"
            sgd even --transfer sparse
            predict skew skewed even --without-straggler $((hosts - 1)) ;;
        quota)
            up 1.8gbit
            sgd free --transfer sparse --plant "spin:1:20"
            quota=$(find /sys/fs/cgroup -path "*wif$$*vm2*" -name cpu.cfs_quota_us -o -path "*wif$$*vm2*" -name cpu.max | head -1)
            [ -n "$quota" ] || { echo "quota: no control of CPU time here"; continue; }
            case $quota in
                *cpu.max) echo "50000 100000" >"$quota" ;;
                *) echo 50000 >"$quota" ;;
            esac
            sgd capped --transfer sparse --plant "spin:1:20"
            predict quota capped free --without vm2:quota ;;
        *) fail "no case '$case'" ;;
    esac
done
awk -F'\t' '$5 != "-" { e = $5 < 0 ? -$5 : $5; v[n++] = e } $5 == "-" { refused++ }
    END {
        for (i = 1; i < n; i++) for (j = i; j > 0 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
        if (n) printf "%d predictions, %d refused: median error %.1f %%, 90th percentile %.1f %% (goal 4 and 10)\n", n, refused, v[int((n - 1) / 2)], v[int((n - 1) * 0.9 + 0.5)]
    }' "$work/table"
