#!/bin/bash
# SPDX-License-Identifier: MIT
# A worker with --prefetch may send only a bounded amount before the server has received it: its next weights stay
# behind the gradient that it is sending.
. "${CHOKEPOINT_SOURCE:?}/tests/mpi/common.sh" || exit 1
program=$CHOKEPOINT_BIN/prefetch_bound
ranks 2 || fail "prefetch_bound ended with $?"
exit 0
