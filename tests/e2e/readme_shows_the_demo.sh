#!/bin/bash
# SPDX-License-Identifier: MIT
# The five lines and the picture of README.md are what these programs say of the demo's run that they were made from.
set -u
command -v python3 >/dev/null || { echo "SKIPPED: no python3"; exit 77; }
exec python3 -B "${CHOKEPOINT_SOURCE:?}/tests/tools/readme_sample.py"
