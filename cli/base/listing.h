/* SPDX-License-Identifier: MIT */
/* The runs of a database with their notes, their limits and what they used. */
#ifndef CHOKEPOINT_CLI_LISTING_H
#define CHOKEPOINT_CLI_LISTING_H

#include <stddef.h>

#include "collector/store_read.h"
#include "reports/runs.h"

struct store_comment;
struct store_verdict;

struct listing {
    struct store_run *runs;         /* owned */
    struct store_comment *comments; /* owned; by run */
    struct listed_run *listed;      /* owned; borrows from both */
    struct store_verdict *verdicts; /* owned; by run */
    char **notes;                   /* owned; texts borrowed from comments */
    size_t n, n_comments, n_verdicts;
};

/* Reads all runs, oldest first. Negative errno; the listing is released in either case. */
int listing_load(struct store *store, struct listing *l);
void listing_release(struct listing *l);

#endif
