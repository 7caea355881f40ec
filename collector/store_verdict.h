/* SPDX-License-Identifier: MIT */
/* The verdict of each run as it was said at its end, for lists of runs. A report judges anew. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_VERDICT_H
#define CHOKEPOINT_COLLECTOR_STORE_VERDICT_H

#include <stddef.h>
#include <stdint.h>

struct store;

/* The caller owns the texts on writing, the verdict owns them on reading. */
struct store_verdict {
    int64_t run;
    char *state;       /* "saturated", "suspected", "balanced", "insufficient", "idle" */
    char *host;        /* NULL: none */
    char *resource;    /* "cpu", "none" */
    char *limit;       /* one line for people: "disk of vm1: 60 % of the run" */
    double confidence; /* 0 to 1 */
};

/* Replaces the verdict of its run. -ENOENT: there is no such run. */
int store_verdict_keep(struct store *store, const struct store_verdict *verdict);

/* All verdicts, by run. Owned by the caller; NULL and 0 in files that have none. */
int store_list_verdicts(struct store *store, struct store_verdict **ret_verdicts, size_t *ret_n);
void store_verdicts_free(struct store_verdict *verdicts, size_t n);

#endif
