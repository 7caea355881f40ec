/* SPDX-License-Identifier: MIT */
/*
 * Processes of the job on this host. The process probe finds them at its pace; later probes
 * (connections, cgroups) read them, so that the choice is made in one place.
 */
#ifndef CHOKEPOINT_AGENT_JOB_H
#define CHOKEPOINT_AGENT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/table.h"

#define JOB_PROCESSES_MAX 1024

struct job_process {
    int32_t pid;
    int32_t rank;                /* -1: none */
    uint64_t born;               /* with the pid it identifies a process when pids are reused */
    char name[INSTANCE_MAX + 1]; /* instance of its row in table process */
};

struct job { /* all zero: no processes */
    size_t n;
    uint64_t changes; /* changes when a process came or went */
    uint64_t passes;  /* number of passes */
    bool differs;     /* during a pass: entries left from the previous one */
    struct job_process processes[JOB_PROCESSES_MAX];
};

/* Adds the at-th process of a pass, from 0. False: no room. */
bool job_set(struct job *job, size_t at, const struct job_process *process);

/* Ends a pass that found n processes. */
void job_end(struct job *job, size_t n);

#endif
