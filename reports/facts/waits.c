/* SPDX-License-Identifier: MIT */
#include "reports/facts/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MIN 0.01 /* of the waiter's life */
#define WAITS_MAX 20

static int compare_waits(const void *a, const void *b) {
    const struct report_wait *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    int by_name = strcmp(x->process, y->process);
    return by_name ? by_name : strcmp(x->whom, y->whom);
}

static struct report_wait wait_of(const struct run_model *model, const struct process_wait *w) {
    static const char *const kinds[WAIT_KIND_COUNT_] = {[WAIT_KIND_MESSAGE] = "message",
                                                        [WAIT_KIND_LOCK] = "lock",
                                                        [WAIT_KIND_PIPE] = "pipe",
                                                        [WAIT_KIND_CHILD] = "end"};
    const struct rank_budget *who = &model->budgets.items[w->who],
                             *whom = &model->budgets.items[w->whom];
    return (struct report_wait){.host = who->host,
                                .whom_host = whom->host,
                                .process = who->process,
                                .whom = whom->process,
                                .what = kinds[w->kind],
                                .seconds = w->seconds,
                                .share_pct =
                                    100 * w->seconds / who->groups[model->main_group].wall_s};
}

static bool is_worth_a_row(const struct run_model *model, const struct process_wait *w) {
    double wall_s = model->budgets.items[w->who].groups[model->main_group].wall_s;
    return w->seconds >= SHOWN_MIN * wall_s;
}

int waits_find(const struct run_model *model, struct waits *ret_waits) {
    const struct rank_budgets *b = &model->budgets;
    struct waits waits = {.items = calloc(b->n_waits + 1, sizeof *waits.items)};
    if (!waits.items)
        return -ENOMEM;
    for (size_t i = 0; i < b->n_waits; i++)
        if (is_worth_a_row(model, &b->waits[i]))
            waits.items[waits.n_all++] = wait_of(model, &b->waits[i]);
    if (waits.n_all)
        qsort(waits.items, waits.n_all, sizeof *waits.items, compare_waits);
    waits.n = waits.n_all < WAITS_MAX ? waits.n_all : WAITS_MAX;
    *ret_waits = waits;
    return 0;
}
