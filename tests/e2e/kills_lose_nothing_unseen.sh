#!/bin/bash
# SPDX-License-Identifier: MIT
# Each part of a recording is killed with SIGKILL while ranks call MPI and mark iterations: no sample, call or mark is
# stored twice, and missing ones are counted in the report.
[ -x "$CHOKEPOINT_BIN/calls_until" ] || { echo "skipped: no MPI"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
table=$(bash "$CHOKEPOINT_SOURCE/tests/bench/kills.sh" 1 ${PARTS:-supervisor sampler both both-back collector}) || { echo "$table"; exit 1; }
echo "$table"
awk -F'|' 'NR > 2 { n++; for (f = 2; f <= 4; f++) { split($f, v, " "); if (v[1] != 0 || v[3] != 0) bad = 1 } } END { exit bad || n < 5 }' <<<"$table" ||
    { echo "FAILED: something is missing and not counted, or there twice"; exit 1; }
