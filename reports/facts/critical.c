/* SPDX-License-Identifier: MIT */
#include "reports/facts/critical.h"

#include <errno.h>
#include <stdlib.h>

static int compare_parts(const void *a, const void *b) {
    const struct report_critical *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds > y->seconds ? -1 : 1;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->term != y->term)
        return x->term < y->term ? -1 : 1;
    return (x->to_host > y->to_host) - (x->to_host < y->to_host);
}

static void add_critical_part(struct critical_parts *parts, size_t group,
                              const struct critical_part *part, int host, enum budget_term term,
                              int to_host, double seconds) {
    if (seconds <= 0)
        return;
    parts->items[parts->n++] = (struct report_critical){.group = group,
                                                        .host = host,
                                                        .term = term,
                                                        .to_host = to_host,
                                                        .seconds = seconds,
                                                        .share_pct = 100 * seconds / part->total_s};
}

/* Adds transfers by sender and receiver, if known; the rest of the term belongs to a host. */
static void add_transfers(struct critical_parts *parts, size_t group,
                          const struct critical_path *path) {
    const struct critical_part *part = &path->groups[group];
    size_t n = path->n_hosts;
    double known = 0, all = 0;
    for (size_t h = 0; h < n; h++)
        all += critical_seconds(part, (int)h, BUDGET_TRANSFER);
    for (size_t from = 0; from <= n; from++)
        for (size_t to = 0; to <= n; to++) {
            double seconds = part->transfers[from * (n + 1) + to];
            known += seconds;
            add_critical_part(parts, group, part, from == n ? -1 : (int)from, BUDGET_TRANSFER,
                              to == n ? -1 : (int)to, seconds);
        }
    if (all - known > 1e-9 * all)
        add_critical_part(parts, group, part, -1, BUDGET_TRANSFER, -1, all - known);
}

static void add_group(struct critical_parts *parts, size_t group,
                      const struct critical_path *path) {
    const struct critical_part *part = &path->groups[group];
    size_t first = parts->n;
    if (!(part->total_s > 0))
        return;
    for (size_t h = 0; h < path->n_hosts; h++)
        for (int term = 0; term < BUDGET_TERMS; term++)
            if (term != BUDGET_TRANSFER)
                add_critical_part(parts, group, part, (int)h, term, -1,
                                  critical_seconds(part, (int)h, term));
    add_transfers(parts, group, path);
    qsort(parts->items + first, parts->n - first, sizeof *parts->items, compare_parts);
}

int critical_parts_of(const struct run_model *model, struct critical_parts *ret_parts) {
    const struct critical_path *path = &model->critical;
    size_t n = path->n_hosts, room = n * BUDGET_TERMS + (n + 1) * (n + 1) + 1;
    struct critical_parts parts = {.items = calloc(path->n_groups * room + 1, sizeof *parts.items)};
    if (!parts.items)
        return -ENOMEM;
    for (size_t g = 0; g < path->n_groups; g++)
        add_group(&parts, g, path);
    *ret_parts = parts;
    return 0;
}
