#!/bin/bash
# SPDX-License-Identifier: MIT
# The kernel's verifier follows each way through a program that clocks waits. Before a run begins it looks at no more than
# twice the instructions of today, whatever the machine's speed: a function with many results in the midst of a program had
# it look at five times as many, and every run begin 0.4 s later.
[ "$(id -u)" -eq 0 ] || { echo "skipped: not root"; exit 77; }
exec python3 "${CHOKEPOINT_SOURCE:?}/tests/bench/clock_programs.py" --most 160000 "$CHOKEPOINT_BIN"
