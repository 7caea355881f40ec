#!/bin/bash
# SPDX-License-Identifier: MIT
# A host gets in while 1500 connections without a key occupy the collector: more than it keeps.
"${CHOKEPOINT_SOURCE:?}/tests/bench/slow_connections.py" --connections 1500 --again 50 --seconds 1 --within 20
