/* SPDX-License-Identifier: MIT */
/* The state of a run that is being recorded: how much is stored, and which resource is the fullest
 * now. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_NOW_H
#define CHOKEPOINT_COLLECTOR_STORE_NOW_H

#include "collector/store_read.h"

struct store_now {
    int64_t samples;
    size_t hosts;                /* hosts that have sent samples */
    const char *resource;        /* static: the fullest in the newest samples; NULL */
    char host[INSTANCE_MAX + 1]; /* the host of this resource */
    char what[INSTANCE_MAX + 1]; /* the core or device; "" if the host has only one */
    double used_pct;
};

/* Reads a few rows only. Negative errno. */
int store_look_now(struct store *store, int64_t run, struct store_now *ret_now);

#endif
