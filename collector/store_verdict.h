/* SPDX-License-Identifier: MIT */
/* The verdict of each run as it was said at its end, and what the run had and used, for lists of
 * runs. A report judges anew. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_VERDICT_H
#define CHOKEPOINT_COLLECTOR_STORE_VERDICT_H

#include <stddef.h>
#include <stdint.h>

struct store;

/* The cores, memory and GPUs of all hosts of a run, and how much of them it used. NAN: not
 * known. */
struct store_use {
    double cores, cores_used; /* used: mean over the run */
    double memory_gb, memory_peak_gb;
    double gpus, gpus_used; /* used: mean share of time with work on them, summed */
};

/* The caller owns the texts on writing, the verdict owns them on reading. */
struct store_verdict {
    int64_t run;
    char *state;       /* "saturated", "suspected", "balanced", "insufficient", "idle" */
    char *host;        /* NULL: none */
    char *resource;    /* "cpu", "none" */
    char *limit;       /* one line for people: "disk of vm1: 60 % of the run" */
    double confidence; /* 0 to 1 */
    struct store_use use;
};

/* Replaces the verdict of its run. -ENOENT: there is no such run. */
int store_verdict_keep(struct store *store, const struct store_verdict *verdict);

/* All verdicts, by run. Owned by the caller; NULL and 0 in files that have none. */
int store_list_verdicts(struct store *store, struct store_verdict **ret_verdicts, size_t *ret_n);
void store_verdicts_free(struct store_verdict *verdicts, size_t n);

#endif
