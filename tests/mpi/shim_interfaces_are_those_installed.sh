#!/bin/bash
# SPDX-License-Identifier: MIT
# The shim's constants and layouts of each binary interface are those of the installed mpi.h.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
source=${CHOKEPOINT_SOURCE:?}/tests/mpi/abi_constants.c
n=0
agrees() { # INTERFACE COMPILER FLAGS...
    local name=$1 compiler=$2
    shift 2
    command -v "$compiler" >/dev/null || return
    "$compiler" "$@" "$source" -o "$work/theirs" || fail "$compiler"
    "${CC:-cc}" "$@" -I"$CHOKEPOINT_SOURCE" -DOURS="\"agent/shim/abi/$name.h\"" "$source" -o "$work/ours" || fail "our header"
    "$work/theirs" >"$work/theirs.txt" && "$work/ours" >"$work/ours.txt" && [ -s "$work/ours.txt" ] || fail "$name says nothing"
    diff "$work/theirs.txt" "$work/ours.txt" || fail "$name (<: its mpi.h, >: ours)"
    echo "$(wc -l <"$work/ours.txt") facts of $name agree"
    n=$((n + 1))
}
agrees openmpi mpicc.openmpi
agrees mpich mpicc.mpich -DMPICH_FACTS
agrees standard mpicc_abi -DSTANDARD_FACTS # of MPICH 4.3 and later
[ $n -gt 0 ] || { echo "skipped: neither OpenMPI nor MPICH"; exit 77; }
