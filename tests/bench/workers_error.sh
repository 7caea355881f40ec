#!/bin/bash
# SPDX-License-Identifier: MIT
# Predictions of `chokepoint whatif --workers` beside a sweep over hosts: each workload runs on two to five emulated
# hosts, and the run on FROM hosts (3) is asked for the others. Links are slow, so that two cores are enough for five hosts;
# "computing" sleeps in its place, as if each host had cores of its own. Synchronous training does the same number of
# iterations with any number of workers; where the answer for asynchronous training is a bound, it shares them out among all.
# Usage: workers_error.sh [BIN] [CASE...], the binaries of a release build; FROM, REPEATS, ITERATIONS in the environment; CASE:
# dense sparse computing async-dense async-sparse allreduce. The goal is a median error of 8 % and 20 % at the 90th
# percentile, or a refusal in words.
set -u
bin=${1:-${CHOKEPOINT_BIN:?usage: workers_error.sh BIN}}
shift
cases=${*:-dense sparse computing async-dense async-sparse allreduce}
from=${FROM:-3} repeats=${REPEATS:-3} iterations=${ITERATIONS:-12}
work=$(mktemp -d)
db=$work/runs.db
testbed() { "$bin/chokepoint" testbed --name "wkr$$" "$@"; }
finish() { testbed down >/dev/null 2>&1; rm -rf "$work"; }
trap finish EXIT
fail() { echo "FAILED: $*"; exit 1; }
command -v jq >/dev/null || { echo "skipped: no jq"; exit 77; }

# up HOSTS RATE: new hosts, on the CPUs in turn
up() {
    testbed up "$1" --rate "$2" --cpus "$(seq -s, 0 $(($(nproc) - 1)))" --replace >/dev/null ||
        { echo "skipped: this machine cannot have a testbed"; exit 77; }
}
# train NAME HOSTS OPTIONS...: one rank on each host
train() {
    local name=$1 hosts=$2 sleeps=()
    shift 2
    [ "${name%%-*}" != computing ] || for ((rank = 0; rank < hosts; rank++)); do sleeps+=(--plant "sleep:$rank:150"); done
    # shellcheck disable=SC2016 # for the shell inside the host
    testbed exec -- bash -c 'db=$1 name=$2 bin=$3 n=$4 data=$5; shift 5
        exec "$bin/chokepoint" run -n "$name" --db "$db" --no-report -- mpirun --hostfile "$CHOKEPOINT_HOSTFILE" -np "$n" \
            "$bin/chokepoint-sgd" --data "$data" --preload --batch 200 --quiet "$@"' \
        bash "$db" "$name" "$bin" "$hosts" "$work/data" --features 300000 --iterations "$iterations" "${sleeps[@]}" "$@" >"$work/out" 2>&1 ||
        fail "$name: $(tail -3 "$work/out")"
}
measured() { "$bin/chokepoint" whatif "$1" --db "$db" --balanced --format json | jq -r .measured_s; }
# median NAMES...: of the measured times of these runs
median() { for name in "$@"; do measured "$name"; done | sort -g | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'; }
names() { for ((r = 1; r <= repeats; r++)); do echo "$1-$2-$r"; done; }
lines() {
    awk -F'\t' '$4 == "-" { printf "%-12s %d hosts: measured %7.3f s, refused: %s\n", $1, $2, $3, $5; next }
        { printf "%-12s %d hosts: measured %7.3f s, predicted %7.3f s: %+6.1f %%  %s\n", $1, $2, $3, $4, 100 * ($4 / $3 - 1), substr($5, 1, 60) }'
}
# predict CASE HOSTS SHARED: a line of the table; SHARED: all ranks together do the work of those of the run on FROM hosts
predict() {
    local name=$1 hosts=$2 shared=$3 more=$(($2 - from)) times=1
    local took
    # shellcheck disable=SC2046 # one word a name
    took=$(median $(names "$name" "$hosts"))
    [ -z "$shared" ] || times=$(awk -v n="$from" -v m="$hosts" 'BEGIN { print n / m }')
    "$bin/chokepoint" whatif "$name-$from-1" --db "$db" --workers "$(printf '%+d' "$more")" --format json >"$work/answer" 2>"$work/why" ||
        { printf '%s\t%s\t%s\t-\t%s\n' "$name" "$hosts" "$took" "$(sed 's/^chokepoint whatif: //' "$work/why")" >>"$work/table"; return; }
    jq -r --arg c "$name" --argjson n "$hosts" --argjson m "$took" --argjson x "$times" '.answers[0] as $a |
        [$c, $n, (if $a.predicted_s then $m else $m * $x end), ($a.predicted_s // (if $x == 1 then null else $a.bound_s end) // "-"),
        (if $a.predicted_s then "" elif $x == 1 then $a.refused else "bound: " + $a.refused end)] | @tsv' \
        "$work/answer" >>"$work/table"
}
# sweep CASE RATE SHARED OPTIONS...
sweep() {
    local name=$1 rate=$2 shared=$3 hosts r
    shift 3
    for hosts in 2 3 4 5; do
        up "$hosts" "$rate"
        for ((r = 1; r <= repeats; r++)); do train "$name-$hosts-$r" "$hosts" "$@"; done
    done
    for hosts in 2 3 4 5; do
        [ "$hosts" = "$from" ] || predict "$name" "$hosts" "$shared"
    done
    grep "^$name	" "$work/table" | lines
}

"$bin/chokepoint-sgd" generate --features 300000 --examples 20000 --files 5 --out "$work/data" --test-examples 200 >/dev/null || fail "generate"
for case in $cases; do
    case $case in
        dense) sweep dense 100mbit '' --mode sync --transfer dense ;;
        sparse) sweep sparse 20mbit '' --mode sync --transfer sparse --batch 2000 ;;
        computing) sweep computing 100mbit '' --mode sync --transfer dense ;;
        async-dense) sweep async-dense 100mbit shared --mode async --transfer dense ;;
        async-sparse) sweep async-sparse 20mbit shared --mode async --transfer sparse --batch 2000 ;;
        allreduce) sweep allreduce 100mbit '' --mode sync --transfer dense --exchange allreduce ;;
        *) fail "no case '$case'" ;;
    esac
done
awk -F'\t' '
    function sorted(v, n,  i, j, t) { for (i = 1; i < n; i++) for (j = i; j > 0 && v[j - 1] > v[j]; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t } }
    $4 == "-" { refused++; next }
    {
        error = 100 * ($4 / $3 - 1)
        if ($5 == "") v[n++] = error < 0 ? -error : error; else { bounds++; if ($4 > 1.05 * $3) beaten++ }
    }
    END {
        sorted(v, n)
        printf "%d predictions, %d bounds (%d of them beaten), %d refused", n, bounds, beaten, refused
        if (n) printf ": median error %.1f %%, 90th percentile %.1f %% (goal 8 and 20)", v[int((n - 1) / 2)], v[int((n - 1) * 0.9 + 0.5)]
        print ""
    }' "$work/table"
