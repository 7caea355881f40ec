#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that no launcher started gets no OpenMPI daemon, and the user's own settings for OpenMPI stay.
workload=matmul
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh" || exit 1

# The daemon would be a child while the program runs.
"$program" --size 256 --repeat 1000000 --time-limit 2 --quiet >"$work/out" 2>&1 &
alone=$!
while kill -0 $alone 2>/dev/null; do
    children=$(ps -o comm= --ppid $alone | grep -vx chokepoint-matm) # a sanitizer's leak check is a child of the same name
    [ -z "$children" ] || fail "a child beside it: $children"
done
wait $alone || fail "alone: $(cat "$work/out")"
OMPI_MCA_pml=nonesuch "$program" --size 64 --quiet >"$work/out" 2>&1 && fail "the user's OMPI_MCA_pml is overridden"
exit 0
