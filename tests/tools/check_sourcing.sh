#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A test that does not find its library must stop, or it continues in its caller's folder and writes there: each line of a
# test that sources a file ends in `|| exit 1`, and if the path comes from a caller's variable, an empty one is an error.
set -euo pipefail
cd "$(dirname "$0")/../.."
awk '
    { where = FILENAME ":" FNR ": " }
    /^[ \t]*(\.|source) / { sourced++ }
    /^[ \t]*(\.|source) / && !/\|\| exit 1$/ { print where "does not end in || exit 1: " $0; bad = 1 }
    /^[ \t]*(\.|source|cd) ["{$]*CHOKEPOINT_/ && !/\{CHOKEPOINT_[A-Z]*:\?\}/ { print where "takes an empty variable: " $0; bad = 1 }
    END {
        if (sourced < 50) { print "only " sourced + 0 " lines that source a library"; bad = 1 }
        exit bad
    }' tests/e2e/*.sh tests/mpi/*.sh
