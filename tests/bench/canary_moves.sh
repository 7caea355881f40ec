#!/bin/bash
# SPDX-License-Identifier: MIT
# canary_moves.sh [BIN [SAMPLES]]: tests whether a canary is worth having. A canary is two fixed pieces of work of about
# 100 us, once a second on each core. Their CPU time would show a slow core or crowded memory without hardware counters.
#
# Measured on a virtual machine (AMD EPYC, two cores, 32 MB of last-level cache, Linux 6.18), 100 samples a state, while
# other programs used the machine as well:
#     a copying program takes +5 % CPU time while others copy (74, 77 us)
#     nothing                  arithmetic 90.5 us (medians of 10: 89.9 to 92.7)  copying 70.3 us (62.2 to 82.4)
#     arithmetic here          arithmetic 91.6 us (90.7 to 92.9)                 copying 69.1 us (63.0 to 77.2)
#     arithmetic on all cores  arithmetic 91.1 us (89.9 to 99.4)                 copying 73.4 us (69.4 to 96.9)
#     copying here             arithmetic 92.4 us (92.1 to 95.0)                 copying 62.8 us (59.6 to 97.5)
#     copying elsewhere        arithmetic 93.6 us (92.7 to 95.2)                 copying 66.4 us (60.7 to 72.8)
#     copying on all cores     arithmetic 93.7 us (92.3 to 95.2)                 copying 66.6 us (61.1 to 91.5)
# The copying piece does not show crowded memory: another core slows memory by 5 % here, and samples of ten seconds differ
# by half in states without a fault. The arithmetic piece is steady to 10 %, but a slow core cannot be planted here (no
# frequency to set, no sibling core), so nothing shows that the piece would notice it. Decision: no canary probe, and a rank
# that needs more CPU than its peers never has a slow core for certain. This may change on a machine where this bench
# succeeds (several cores can fill the memory's bandwidth). The bench fails if the copying piece does not notice copying.
set -eu
bin=${1:-${CHOKEPOINT_BIN:?usage: canary_moves.sh BIN}}
exec "$bin/bench_canary_moves" "${2:-100}"
