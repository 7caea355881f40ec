/* SPDX-License-Identifier: MIT */
#include "reports/model/budget_store.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "collector/store.h"
#include "reports/facts/iteration_budgets.h"
#include "reports/model/reported.h"

_Static_assert(STORE_BUDGET_TERMS == BUDGET_TERMS, "a column for each term");

static int64_t ns_of(double seconds) {
    return isfinite(seconds) && fabs(seconds) < 1e9 ? llround(seconds * 1e9) : -1;
}

static void set_terms(struct store_budget *row, double wall_s, const double *term_s,
                      double unknown_s, double other_cpu_s) {
    row->wall_ns = ns_of(wall_s);
    for (size_t i = 0; i < BUDGET_TERMS; i++)
        row->term_ns[i] = ns_of(term_s[i]);
    row->unknown_ns = ns_of(unknown_s);
    row->other_threads_cpu_ns = ns_of(other_cpu_s);
}

static struct store_budget row_of(const struct report *report, const struct report_budget *b) {
    struct store_budget row = {
        .host = report->hosts[b->host].name,
        .process = b->process,
        .phase = b->phase,
        .source = b->source,
        .rank = b->rank,
        .pid = b->pid,
        .iteration = VALUE_ABSENT,
        .every = 1,
        .begin_ns = b->begin_ns,
        .end_ns = b->end_ns,
        .closure_pct = b->closure_pct,
        .trusted = b->trusted,
        .awaited_host = b->awaited_host >= 0 ? report->hosts[b->awaited_host].name : NULL,
        .awaited_rank = b->awaited_rank,
        .awaited_ns = ns_of(b->awaited_s),
        .path_pct = b->path_pct,
        .receiver_pct = b->receiver_pct,
        .send_buffer_pct = b->send_buffer_pct,
    };
    set_terms(&row, b->wall_s, b->term_s, b->unknown_s, b->other_cpu_s);
    return row;
}

static struct store_budget iteration_row(const struct report *report,
                                         const struct iteration_budgets *of, size_t at) {
    const struct report_iteration_budget *i = &of->items[at];
    struct store_budget row = row_of(report, &report->budget[i->whose]);
    const struct budget *b = &i->budget;
    row.phase = report->resources[i->phase].phase;
    row.source = report_budget_source(b->source);
    row.iteration = i->number;
    row.every = (int64_t)of->every;
    row.begin_ns = i->begin_ns;
    row.end_ns = i->end_ns;
    row.closure_pct = b->closure_pct;
    row.trusted = budget_closes(b);
    row.awaited_host = NULL;
    row.awaited_rank = row.awaited_ns = -1;
    row.path_pct = row.receiver_pct = row.send_buffer_pct = NAN;
    set_terms(&row, b->wall_s, b->term_s, b->unknown_s, b->other_cpu_s);
    return row;
}

static int replace(const struct report *report, const struct iteration_budgets *iterations,
                   struct store *store) {
    size_t n = report->n_budget + iterations->n;
    struct store_budget *rows = calloc(n + 1, sizeof *rows), *to = rows;
    if (!rows)
        return -ENOMEM;
    for (size_t i = 0; i < report->n_budget; i++)
        *to++ = row_of(report, &report->budget[i]);
    for (size_t i = 0; i < iterations->n; i++)
        *to++ = iteration_row(report, iterations, i);
    int result = store_budget_replace(store, report->run_id, rows, n);
    free(rows);
    return result;
}

int report_store_budget(const struct report *report, struct store *store) {
    struct iteration_budgets iterations;
    int result = iteration_budgets_of(&report->run->model, &iterations);
    if (result < 0)
        return result;
    result = replace(report, &iterations, store);
    free(iterations.items);
    return result;
}
