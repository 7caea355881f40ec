/* SPDX-License-Identifier: MIT */
/*
 * Requests that queue before worker processes. A dispatcher on the same host hands a request to a
 * worker through a pipe; requests that wait for a free worker lie in the dispatcher, or in a broker
 * before it, where no counter of the kernel shows them. They show as a lead: somebody reads as many
 * requests as the workers handle, one for one, but earlier.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_AWAITED_QUEUE_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_AWAITED_QUEUE_H

#include "analysis/run_model.h"

struct awaited_queue {
    size_t dispatcher; /* index of the budgets */
    size_t workers;    /* processes to which it hands requests */
    double handled;    /* requests, by all of them */
    double waiting;    /* requests under way on average, those that a worker has included */
    double occupied;   /* share of its time in which the worker had a request */
};

/* The queue before process `worker` (index of the budgets) in the main group, which sleeps once in
 * each request. False if it is no worker, or if nobody reads requests as they are handled.
 */
bool awaited_queue_find(const struct run_model *model, size_t worker,
                        struct awaited_queue *ret_queue);

#endif
