/* SPDX-License-Identifier: MIT */
/*
 * Use of resources by the process of a rank (T5): time on cores, memory, bytes sent and received.
 * Only counters of that process are used: CPU time and memory ten times a second (table rank), and
 * once a second before the first such row and after the last (table process), where the kernel's
 * record of its end stands, too; bytes as its MPI calls counted them, else those of its TCP
 * connections.
 *
 * The share of a core is of a window, since one of the whole run depends on how long the start
 * took, and memory is the most, since its mean depends on that, too. By one sample a second runs of
 * two seconds had 23 % or 61 % of a core, and .015 or .156 GB.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_RANK_USE_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_RANK_USE_H

#include "analysis/evidence/process_traffic.h"
#include "analysis/run_model.h"

enum rank_bytes {
    RANK_BYTES_UNKNOWN,
    RANK_BYTES_MPI,         /* handed to MPI calls and taken out of them, on its own host too */
    RANK_BYTES_MPI_AT_MOST, /* some receives count as all the bytes they had room for */
    RANK_BYTES_CONNECTIONS  /* payload of its TCP connections */
};

struct rank_use {      /* NAN: not known */
    double lived_s;    /* the part of its life for which cpu_s is known */
    double cpu_s;      /* all its threads, user and system, MPI's spinning included */
    double cpu_share;  /* CPU time in the window / the part of the window for which it is known */
    double peak_bytes; /* the most it was seen to hold in memory, shared pages included */
    double sent_bytes, received_bytes;
    enum rank_bytes bytes;
};

/* Fills in the rank's process; the model must have its budgets. traffic: of the model's recording.
 * window: of cpu_share, NULL: its life. */
struct rank_use rank_use_find(const struct run_model *model, const struct process_traffic *traffic,
                              const struct rank_budget *rank, const struct window *window);

#endif
