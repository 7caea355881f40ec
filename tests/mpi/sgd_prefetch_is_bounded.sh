#!/bin/bash
# SPDX-License-Identifier: MIT
# What a worker with --prefetch may send before the server has taken it in is bounded: its next weights stay behind the gradient
# that it is sending.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh"
program=$CHOKEPOINT_BIN/prefetch_bound
ranks 2 || fail "prefetch_bound ended with $?"
exit 0
