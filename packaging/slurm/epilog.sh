#!/bin/sh
# SPDX-License-Identifier: MIT
# Epilog of Slurm, as root on each node of a job: removes spools and marks that agents of the job's user left here when they
# were killed, once they are a week old. Directories of that user only, by their names, without following links.
[ -n "$SLURM_JOB_UID" ] || exit 0
for place in ${CHOKEPOINT_PLACES:-/tmp /dev/shm}; do
    find "$place" -xdev -mindepth 1 -maxdepth 1 -type d \( -name 'chokepoint-spool-??????' -o -name 'chokepoint-????????????????' \) \
        -uid "$SLURM_JOB_UID" -mtime +7 \
        -exec rm -rf --one-file-system -- {} + 2>/dev/null
done
exit 0
