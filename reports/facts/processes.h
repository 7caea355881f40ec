/* SPDX-License-Identifier: MIT */
/* The busiest processes of each host, the job's first. */
#ifndef CHOKEPOINT_REPORTS_FACTS_PROCESSES_H
#define CHOKEPOINT_REPORTS_FACTS_PROCESSES_H

#include "analysis/evidence/process_traffic.h"
#include "analysis/run_model.h"

struct report_process { /* the busiest processes, the job's first */
    int host;
    const char *name; /* owned by the model */
    int rank;         /* -1: none */
    bool job;
    double cpu_pct, rss_gb, run_queue_pct, read_mb_s, write_mb_s;
    double received_mb_s, sent_mb_s; /* over TCP; NAN: no connection was seen */
};

struct processes {
    struct report_process *items; /* for the caller to free */
    size_t n;
};

/* CPU time of the host's job that no row of its processes has: of RECORDING_ENDED. */
double processes_unseen_s(const struct run_model *model, int host, struct windows windows);

/* -ENOMEM. */
int processes_find(const struct run_model *model, const struct process_traffic *traffic,
                   struct processes *ret_processes);

#endif
