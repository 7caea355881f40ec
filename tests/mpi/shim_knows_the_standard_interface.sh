#!/bin/bash
# SPDX-License-Identifier: MIT
# Calls and bytes of a program that uses MPI 5's standard binary interface are exactly its own. OpenMPI, on which that
# interface's library is built here, is in the process as well: its interface must not be taken for the program's.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/shim_lib.sh" || exit 1
[ "$library" = openmpi ] && [ -x "$programs/calls_standard" ] || { echo "skipped: no OpenMPI to rest on"; exit 77; }
watched 2 "$programs/calls_standard" || fail "the program ended with $?"
totals_agree
events_agree
awk '$1 == "rank" && ($7 || $8 || $9 || !$10) { print; exit 1 }' "$work/dump" ||
    fail "requests or communicators were lost, or the end was not seen"
awk '$1 == "rank" && $4 != 3 { print; exit 1 }' "$work/dump" || fail "the level of threads is the standard's number"
# A message to MPI_PROC_NULL has no peer; one from MPI_ANY_SOURCE has the peer that sent it.
[ "$(awk '$1 == "event" && $3 == "MPI_Send" && $9 == 0' "$work/dump" | wc -l)" -eq 2 ] || fail "messages to nobody"
awk '$1 == "event" && $3 == "MPI_Recv" && $7 != 0 { print; exit 1 }' "$work/dump" || fail "a message from elsewhere than rank 0"
# A cancelled receive has no bytes, whatever size was requested: totals_agree has counted those.
ranks 2 "$programs/calls_standard" || fail "nobody listens: the program ended with $?"
