#!/bin/sh
# SPDX-License-Identifier: MIT
# Prolog of Slurm, as root on each node of a job: the kernel accounts what tasks wait for. A node where that cannot be set runs
# the job all the same: a prolog that fails would drain it.
file=${CHOKEPOINT_PROC:-/proc}/sys/kernel/task_delayacct
[ ! -w "$file" ] || echo 1 >"$file"
exit 0
