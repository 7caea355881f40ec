/* SPDX-License-Identifier: MIT */
/* Processes of one name together: what a program used on all hosts. */
#ifndef CHOKEPOINT_REPORTS_FACTS_PROGRAMS_H
#define CHOKEPOINT_REPORTS_FACTS_PROGRAMS_H

#include "analysis/evidence/process_traffic.h"
#include "analysis/run_model.h"

struct report_program { /* sums over its processes */
    char name[64];      /* without the numbers of processes */
    bool job;           /* its processes belong to the job */
    long processes, hosts;
    double cpu_s, run_queue_s, read_mb, write_mb;
    double received_mb, sent_mb; /* over TCP; NAN: no connection was seen */
};

struct programs {
    struct report_program *items; /* for the caller to free: the job's first, by CPU time */
    size_t n, processes;          /* processes: of all programs */
};

/* -ENOMEM. */
int programs_find(const struct run_model *model, const struct process_traffic *traffic,
                  struct programs *ret_programs);

#endif
