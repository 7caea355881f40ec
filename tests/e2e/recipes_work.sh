#!/bin/bash
# SPDX-License-Identifier: MIT
# A probe, a column, a verb, a section, a cause and a launcher are added by the words of CONTRIBUTING.md alone, and work.
exec "${CHOKEPOINT_SOURCE:?}/tests/tools/recipes.sh"
