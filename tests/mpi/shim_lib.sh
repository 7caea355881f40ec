# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Shared by the tests of the MPI shim, which source it. Ranks run on this machine, more of them than cores.
# CHOKEPOINT_MPI in the environment names the MPI library: openmpi, or mpich, whose programs are in a separate folder.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
library=${CHOKEPOINT_MPI:-openmpi}
case $library in
openmpi)
    launcher=mpirun programs=$CHOKEPOINT_BIN fortran=mpif90 marks_name=OMPI_CHOKEPOINT_MARKS
    # Without osc/rdma: its compare-and-swap over shared memory crashes in OpenMPI 4.1.4, with and without the shim.
    mpi=(mpirun --oversubscribe --mca osc ^rdma -x EXPECT)
    ;;
mpich)
    launcher=mpirun.mpich programs=$CHOKEPOINT_BIN/mpich fortran=mpifort.mpich marks_name=CHOKEPOINT_MARKS
    mpi=(mpirun.mpich)
    ;;
*) echo "no MPI library of this name is known: $library"; exit 2 ;;
esac
command -v $launcher >/dev/null && [ -x "$programs/calls_planted" ] || { echo "skipped: no $launcher, or no programs for it"; exit 77; }
shim="$CHOKEPOINT_BIN/libchokepoint-mpi.so"
[ -e "$shim" ] || { echo "skipped: libchokepoint-mpi.so is not built (no MPI)"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export EXPECT="$work/expect"
preload=$shim
patience=120
# ranks N PROGRAM...: N ranks under the shim.
ranks() {
    local n=$1 with=(-x LD_PRELOAD="$preload")
    shift
    [ "$library" = openmpi ] || with=(-genv LD_PRELOAD "$preload")
    env "$marks_name=$work/marks" timeout -k 5 $patience "${mpi[@]}" -np "$n" "${with[@]}" "$@"
}

marks=$work/marks.$(hostname)
# watched N PROGRAM...: N ranks under the shim, whose records go to $work/dump. Returns the program's
# status.
watched() {
    local n=$1 status
    shift
    rm -rf "$marks"
    mkdir -m 700 "$marks"
    ranks "$n" "$@"
    status=$?
    dump
    return $status
}
dump() { "$CHOKEPOINT_BIN/calls_dump" "$marks" >"$work/dump" || fail "the files of the ranks cannot be read"; }
# Totals must equal the program's own: for every function and rank, calls and bytes.
totals_agree() {
    cat "$EXPECT".* | sort >"$work/want"
    awk '$1 == "total" { print $1, $2, $3, $4, $8, $9 }' "$work/dump" | sort >"$work/got"
    diff "$work/want" "$work/got" || fail "totals (<: what the program knows, >: what the shim saw)"
    [ -s "$work/want" ] || fail "the program says nothing"
    echo "$(wc -l <"$work/want") totals agree exactly"
}
# If no event was lost, events and totals must agree on calls and time.
events_agree() {
    awk '$1 == "rank" && ($6 || $7) { print "lost or malformed:", $0; bad = 1 }
         $1 == "event" { calls[$2 " " $3] += $10; time[$2 " " $3] += $12 }
         $1 == "total" { k = $2 " " $3; if (calls[k] != $4 || time[k] != $5) { print "events of rank", k ":", calls[k] + 0, time[k] + 0, "total:", $4, $5; bad = 1 } }
         END { exit bad }' "$work/dump" || fail "events and totals differ"
    echo "$(grep -c ^event "$work/dump") events agree with the totals"
}
