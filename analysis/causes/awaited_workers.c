/* SPDX-License-Identifier: MIT */
/*
 * Worker processes that are all in use: a dispatcher hands requests to them through pipes, and more
 * requests are under way than there are workers, for example in a broker. A worker sleeps in each
 * request, so several at once would take no longer: the number of workers causes the delay.
 */
#include <errno.h>

#include "analysis/causes/causes_private.h"
#include "analysis/evidence/awaited_queue.h"

#define OWN_NUMBERS                                                                                \
    NUMBER(QUEUE_DEEP, 2, "requests a worker",                                                     \
           "under way on average: with one for one nobody waits for a free worker")                \
    NUMBER(WORKERS_OCCUPIED, 0.8, "of the time",                                                   \
           "a worker has a request: a known ceiling is reached at four fifths")
#define OWN_REMARKS                                                                                \
    REMARK(WORKERS_ARE_FEW, "%s has %d worker process%[|es], which its requests wait for",         \
           SLOTS("workers", "workers"), SLOTS("process"))                                          \
    REMARK(WORKERS_OCCUPIED_BY,                                                                    \
           "%.0f requests were under way on average; %s had one of them %.0f %% of the time",      \
           SLOTS("requests", "occupied, %"), SLOTS("process"))                                     \
    REMARK(ADVISE_WORKERS, "start more workers of that program on %s", SLOTS(), SLOTS("host"))
#include "analysis/causes/own.h"

static int add_workers(const struct run_model *model, size_t group, size_t worker,
                       const struct awaited_queue *q, double demand,
                       struct candidates *candidates) {
    const struct rank_budget *dispatcher = &model->budgets.items[q->dispatcher];
    struct candidate c = pause_candidate(model, group, worker, CAUSE_POOL, BUDGET_IDLE, demand);
    remark_set(&c.cause, WORKERS_ARE_FEW, NUMBERS((double)q->workers, (double)q->workers),
               NAMES(dispatcher->process));
    remarks_add(&c.evidence, WORKERS_OCCUPIED_BY, NUMBERS(q->waiting, 100 * q->occupied),
                NAMES(model->budgets.items[worker].process));
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

static int detect(const struct run_model *model, size_t group, struct candidates *candidates) {
    double demand;
    size_t worker = awaited_most(model, group, BUDGET_IDLE, &demand);
    struct awaited_queue q;
    if (group != model->main_group || worker == SIZE_MAX ||
        !awaited_queue_find(model, worker, &q) ||
        q.waiting < number_of(model, QUEUE_DEEP) * (double)q.workers ||
        q.occupied < number_of(model, WORKERS_OCCUPIED))
        return 0;
    return add_workers(model, group, worker, &q, demand, candidates);
}

static void advise(const struct advised *advised) {
    remarks_add(advised->next, ADVISE_WORKERS, NUMBERS(), NAMES(advised->host));
}

const struct cause cause_awaited_workers = {
    .name = "awaited-workers",
    .resource = RESOURCE_APPLICATION,
    .kind = CAUSE_POOL,
    .needs = 1u << SOURCE_WAITS,
    .numbers = own_numbers,
    .remarks = own_remarks,
    .reason = "requests wait for a free worker process while each worker sleeps in one of them",
    .detect = detect,
    .advise = advise,
};
