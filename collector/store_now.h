/* SPDX-License-Identifier: MIT */
/* A look at a run that is being recorded: how much of it there is, and what is full right now. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_NOW_H
#define CHOKEPOINT_COLLECTOR_STORE_NOW_H

#include "collector/store_read.h"

struct store_now {
    int64_t samples;
    size_t hosts;                /* that have sent some */
    const char *resource;        /* static: the fullest, in the newest sample of each host; NULL */
    char host[INSTANCE_MAX + 1]; /* on which it is */
    char what[INSTANCE_MAX + 1]; /* the core or device; "" where it is the host's only one */
    double used_pct;
};

/* A few rows are read. Negative errno. */
int store_look_now(struct store *store, int64_t run, struct store_now *ret_now);

#endif
