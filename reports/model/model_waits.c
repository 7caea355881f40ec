/* SPDX-License-Identifier: MIT */
/* Pairs of processes of which one waited for the other, where wait clocks tell. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/model_private.h"

#define SHOWN_MIN 0.01 /* of the life of the one that waited */
#define WAITS_MAX 20

static int compare_waits(const void *a, const void *b) {
    const struct report_wait *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    int by_name = strcmp(x->process, y->process);
    return by_name ? by_name : strcmp(x->whom, y->whom);
}

int report_fill_waits(struct report *report, const struct run_model *model) {
    static const char *const kinds[WAIT_KIND_COUNT_] = {[WAIT_KIND_MESSAGE] = "message",
                                                        [WAIT_KIND_LOCK] = "lock",
                                                        [WAIT_KIND_PIPE] = "pipe",
                                                        [WAIT_KIND_CHILD] = "end"};
    const struct rank_budgets *b = &model->budgets;
    report->waits = calloc(b->n_waits + 1, sizeof *report->waits);
    for (size_t i = 0; report->waits && i < b->n_waits; i++) {
        const struct process_wait *w = &b->waits[i];
        const struct rank_budget *who = &b->items[w->who], *whom = &b->items[w->whom];
        double wall_s = who->groups[model->main_group].wall_s;
        if (!(w->seconds >= SHOWN_MIN * wall_s))
            continue;
        struct report_wait *to = &report->waits[report->n_waits++];
        *to = (struct report_wait){.host = who->host,
                                   .whom_host = whom->host,
                                   .process = strdup(who->process),
                                   .whom = strdup(whom->process),
                                   .what = kinds[w->kind],
                                   .seconds = w->seconds,
                                   .share_pct = 100 * w->seconds / wall_s};
        if (!to->process || !to->whom)
            return -ENOMEM;
    }
    if (report->n_waits)
        qsort(report->waits, report->n_waits, sizeof *report->waits, compare_waits);
    report->n_waits_all = report->n_waits;
    for (; report->n_waits > WAITS_MAX; report->n_waits--) {
        free(report->waits[report->n_waits - 1].process);
        free(report->waits[report->n_waits - 1].whom);
    }
    return report->waits ? 0 : -ENOMEM;
}
