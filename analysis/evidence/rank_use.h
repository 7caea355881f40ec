/* SPDX-License-Identifier: MIT */
/*
 * Resources that a rank's process uses (T5): time on cores, memory, bytes sent and received. Only
 * counters of that process are used. CPU time and memory come ten times a second from table rank;
 * before its first row and after its last, once a second from table process, which also has the
 * kernel's record of the process's end. Bytes come from its MPI calls, else from its TCP
 * connections.
 *
 * The share of a core is that of a window, since over a whole run it depends on the length of the
 * start; memory is the peak, since its mean depends on that, too. With one sample a second, runs of
 * two seconds had 23 % or 61 % of a core, and .015 or .156 GB.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_RANK_USE_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_RANK_USE_H

#include "analysis/evidence/process_traffic.h"
#include "analysis/run_model.h"

enum rank_bytes {
    RANK_BYTES_UNKNOWN,
    RANK_BYTES_MPI,         /* passed to and received from MPI calls, including its own host */
    RANK_BYTES_MPI_AT_MOST, /* some receives count with all the bytes that they had room for */
    RANK_BYTES_CONNECTIONS  /* payload of its TCP connections */
};

struct rank_use {     /* NAN: not known */
    double lived_s;   /* the part of its life with known cpu_s */
    double cpu_s;     /* of all its threads, user and system, including MPI's spinning */
    double cpu_share; /* CPU time in the window over the part of the window for which it is known */
    double peak_bytes; /* peak memory, including shared pages */
    double sent_bytes, received_bytes;
    enum rank_bytes bytes;
};

/* Fills in the use by the rank's process; the model must have its budgets. traffic: that of the
 * model's recording. window: for cpu_share; NULL: its life.
 */
struct rank_use rank_use_find(const struct run_model *model, const struct process_traffic *traffic,
                              const struct rank_budget *rank, const struct window *window);

#endif
