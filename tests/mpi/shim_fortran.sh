#!/bin/bash
# SPDX-License-Identifier: MIT
# Fortran is recorded exactly, like C, by mpif.h, use mpi or use mpi_f08, and calls are told apart by their places
# in the program.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh" || exit 1
command -v $fortran >/dev/null && command -v gfortran >/dev/null || { echo "skipped: no gfortran"; exit 77; }

for rank in 0 1; do
    cat >"$EXPECT.$rank" <<TOTALS
total $rank MPI_Init_thread 1 0 0
total $rank MPI_Finalize 1 0 0
total $rank MPI_Send 10 8000 0
total $rank MPI_Recv 10 0 8000
total $rank MPI_Comm_dup 1 0 0
total $rank MPI_Comm_free 1 0 0
total $rank MPI_Irecv 1 0 400
total $rank MPI_Isend 1 400 0
total $rank MPI_Waitall 1 0 0
total $rank MPI_Bcast 1 $((rank * 80)) $((80 - rank * 80))
total $rank MPI_Allreduce 1 160 160
total $rank MPI_File_open 1 0 0
total $rank MPI_File_write_at 1 80 0
total $rank MPI_File_close 1 0 0
total $rank MPI_Barrier 1 0 0
TOTALS
done
sites() { # calls of that name that rank 0 made from Fortran
    awk -v f="$1" '$1 == "event" && $2 == 0 && $3 == f && $5 ~ /F/ && $5 !~ /r/ { print $16 }' "$work/dump" | sort -u
}
for way in H MPI F08; do
    echo "-- $way"
    $fortran -O1 -cpp -DWAY_$way -fallow-argument-mismatch "$CHOKEPOINT_SOURCE/tests/mpi/calls_fortran.F90" -o "$work/fortran" 2>"$work/err" ||
        $fortran -O1 -cpp -DWAY_$way "$CHOKEPOINT_SOURCE/tests/mpi/calls_fortran.F90" -o "$work/fortran" ||
        { cat "$work/err"; fail "compiling"; }
    watched 2 "$work/fortran" "$work/file" || fail "the program ended with $?"
    totals_agree
    events_agree
    [ "$(sites MPI_Send | wc -l)" -eq 1 ] || fail "one place sends, not $(sites MPI_Send | wc -l)"
    all=$(for f in Send Recv Isend Irecv Waitall Bcast Allreduce Comm_dup File_write_at Barrier Finalize; do sites MPI_$f; done)
    [ "$(sort -u <<<"$all" | wc -l)" -eq 11 ] || fail "11 places, not $(sort -u <<<"$all" | wc -l)"
    [ "$(cut -d: -f1 <<<"$all" | sort -u | wc -l)" -eq 1 ] || fail "all are in the program"
done
