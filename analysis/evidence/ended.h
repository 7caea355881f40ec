/* SPDX-License-Identifier: MIT */
/* The end of a command, as counters of hosts tell it: processes killed for want of memory, and
 * file systems that filled up. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_ENDED_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_ENDED_H

#include "analysis/run_model.h"

/* The kernel killed processes for want of memory. */
struct memory_kill {
    int host;
    double kills;
    const struct series *group;     /* the job's control group whose limit it was; NULL: unknown */
    double used_mb, limit_mb, hits; /* of the group: the most it used, how often at the limit */
    double total_gb, free_gb;       /* of the host, and the least that was free; NAN: unknown */
    const struct series *process;   /* of the job: held most memory there; NULL: none was seen */
    double process_mb;              /* what it held */
};

/* Fills *ret_kill for a host whose kernel killed a process after the command started, until the
 * last sample. False: none was counted there. */
bool memory_kill_of(const struct run_model *model, int host, struct memory_kill *ret_kill);
/* As memory_kill_of() for the host with most kills; one in a group of the job goes first. */
bool memory_kill_find(const struct run_model *model, struct memory_kill *ret_kill);
/* Whether kills would have been counted on every host. */
bool memory_kills_counted(const struct run_model *model);

/* A file system that had room when the recording began and had none when it ended. */
struct full_disk {
    int host;
    const char *mount;          /* borrowed from the recording */
    double before_mb, after_mb; /* free for everybody */
};

/* Finds one on a host where the job wrote to files. False: there is none. */
bool full_disk_find(const struct run_model *model, struct full_disk *ret_full);

#endif
