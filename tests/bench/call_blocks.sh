#!/bin/bash
# SPDX-License-Identifier: MIT
# The cost of a recorded MPI call after the command: two ranks pass messages for SECONDS, then bench_call_blocks stores and reads
# their calls as blocks, as rows, and as blocks again (A/A). Usage: call_blocks.sh [BIN]; SECONDS_LONG, ROUNDS in the environment.
set -u
bin=$(readlink -f "${1:-${CHOKEPOINT_BIN:?usage: call_blocks.sh BIN}}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -x "$bin/bench_mpi_rounds" ] || { echo "skipped: no MPI"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"$bin/chokepoint" run --no-report --quiet --db "$work/db" mpirun --oversubscribe -np 2 "$bin/bench_mpi_rounds" pingpong "${SECONDS_LONG:-1}" || exit
TMPDIR=$work "$bin/bench_call_blocks" "$work/db" "${ROUNDS:-5}"
