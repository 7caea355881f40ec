/* SPDX-License-Identifier: MIT */
/*
 * Processes of the job on this host: found by the process probe at its pace, read by the probes
 * that come after it (connections, cgroups), so that processes are told apart in one place.
 */
#ifndef CHOKEPOINT_AGENT_JOB_H
#define CHOKEPOINT_AGENT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JOB_PROCESSES_MAX 1024
#define JOB_NAME_MAX 63

struct job_process {
    int32_t pid;
    int32_t rank;                /* -1: none */
    uint64_t born;               /* with the pid, tells it from a later process of the same pid */
    char name[JOB_NAME_MAX + 1]; /* of its row in table process */
};

struct job { /* all zero: nobody */
    size_t n;
    uint64_t changes; /* grows when somebody came or went */
    uint64_t passes;  /* how often all of them were looked at */
    bool differs;     /* during a pass: from what was there before */
    struct job_process processes[JOB_PROCESSES_MAX];
};

/* Takes the next process of a pass over all of them, the at-th from 0. False: no room. */
bool job_set(struct job *job, size_t at, const struct job_process *process);

/* Ends a pass that set n processes. */
void job_end(struct job *job, size_t n);

#endif
