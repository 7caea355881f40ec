#!/bin/bash
# SPDX-License-Identifier: MIT
# A known transfer between two emulated hosts: T1's bytes against the interface's counters, within 1 %.
here=$(cd "$(dirname "$0")" && pwd)
BYTES=${BYTES:-300000000} exec bash "$here/../bench/transfer_bytes.sh" "$CHOKEPOINT_BIN"
