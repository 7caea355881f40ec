#!/bin/bash
# SPDX-License-Identifier: MIT
# Incomplete recordings get answers that say what is missing, and blame no host with confidence: only two iterations,
# no shim, a killed rank, unknown clocks; and so do comparisons of other hosts and of other commands.
. "${CHOKEPOINT_SOURCE:?}/tests/e2e/run_lib.sh" || exit 1
sgd=$CHOKEPOINT_BIN/chokepoint-sgd
[ -x "$sgd" ] || { echo "skipped: no MPI"; exit 77; }
need_testbed 2
hostfile=$(inside printenv CHOKEPOINT_HOSTFILE)
"$sgd" generate --features 2000 --examples 4000 --files 2 --out data >/dev/null || fail "no data"
# MPI leaves memory behind that is not ours to free.
train() { echo mpirun --hostfile "$hostfile" -x "ASAN_OPTIONS=detect_leaks=0" -np "$1" -N 1 "${@:2}" "$sgd" --mode sync --transfer sparse --features 2000 --data "$work/data" --batch 50 --quiet; }

report() { "$chokepoint" report --db "$db" "$@" >report || fail "no report of $*"; }
json() { report "$1" --format json; jq -r "$2" report; }
notes() { json "$1" '.quality.notes[]'; }
confident() { [ "$(json "$1" ".verdict.confidence > $2")" = true ]; }

# Two iterations are too few, and the answer says so.
run_inside -n two $(train 2) --iterations 2
[ $status -eq 0 ] || fail "two iterations: exit status $status"
[ "$(json two .verdict.state)" = insufficient ] || fail "two iterations: $(json two .verdict)"
said 'run 1, two: The run took .* too short to judge' 'not known. Only 2 iterations were marked; 10 are needed' || fail "two iterations: the screen does not say so"
[ "$(json two .verdict.host)" = null ] || fail "two iterations: somebody is named"

# No shim: time inside MPI is not known.
run_inside --no-shim -n blind $(train 2) --iterations 100000000 --time-limit 2.5 # its processes are scanned once a second
[ $status -eq 0 ] || fail "no shim: exit status $status"
notes blind | grep -q 'inside MPI is not recorded' || fail "no shim: $(notes blind)"
! confident blind 0.7 || fail "no shim: $(json blind .verdict)"

# A rank that dies ends the run; the report is of the time until then.
cat >dies <<'END'
#!/bin/sh
[ "$OMPI_COMM_WORLD_RANK" != 1 ] || { "$@" & sleep 2; kill -9 $!; wait $!; exit 137; }
exec "$@"
END
chmod +x dies
run_inside -n killed $(train 2 "$work/dies") --iterations 10000000
[ $status -ne 0 ] || fail "a rank was killed, and the exit status is 0"
[ "$(json killed .run.state)" = failed ] || fail "killed: the run is $(json killed .run.state)"
notes killed | grep -q 'the command failed after [0-9.]* s; this covers those' || fail "killed: $(notes killed)"
said '^limit  *killed by SIGKILL after ' || fail "killed: the screen does not say so"

# Clocks that were never measured: the recording gets no top grade, and the screen says why.
of_vm2="(SELECT host FROM host WHERE run = 2 AND name = 'vm2')"
sqlite3 "$db" "DELETE FROM clock_piece WHERE stream IN (SELECT stream FROM stream WHERE host IN $of_vm2);
               UPDATE stream SET clock_offset_ns = NULL, clock_error_ns = NULL WHERE host IN $of_vm2" || fail "no clocks to forget"
notes 2 | grep -q 'vm2: the offset of its clock was never measured' || fail "clocks: $(notes 2)"
[ "$(json 2 .quality.grade)" != A ] || fail "clocks: grade A"
report 2 --format screen
grep -q '^  mind: ' report || fail "clocks: the screen does not say so: $(cat report)"

# Other hosts, other commands.
run_inside -n alone --hosts vm1 $(train 1 -H vm1) --iterations 40
"$chokepoint" compare -v --db "$db" blind alone >out 2>err || fail "compare"
grep -q 'alone had other hosts than the baseline blind (1 and 2)' out || fail "other hosts: $(sed -n '/Mind/,$p' out)"
"$chokepoint" compare -v --db "$db" two,blind killed >out 2>err || fail "compare of a list"
grep -q 'had another command than its first' out || fail "other commands: $(sed -n '/Mind/,$p' out)"
grep -q 'did not end well: failed' out || fail "a killed run is compared as if it had ended"
