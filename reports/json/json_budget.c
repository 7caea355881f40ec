/* SPDX-License-Identifier: MIT */
/*
 * Budgets in JSON. Iterations are rows of numbers under one list of columns, and at most
 * ROWS_MAX of them: enough for a picture; the table `budget` of the database has the others.
 */
#include "reports/json/json.h"

#include "collector/store.h"
#include "reports/model/layout.h"

#define ROWS_MAX 1000

static json_t *host_name(const struct report *report, int host) {
    return host < 0 ? json_null() : json_text(layout_host(report, host));
}

static json_t *rank_number(int rank) {
    return rank < 0 ? json_null() : json_integer(rank);
}

static const char *term_member(int term, char name[32]) {
    snprintf(name, 32, "%s_s", budget_term_name((enum budget_term)term));
    return name;
}

static json_t *budget_object(const struct report *report, const struct report_budget *b) {
    char name[32];
    json_t *object =
        json_pack("{s:o, s:o, s:o, s:o, s:s, s:b, s:o, s:o}", "host", host_name(report, b->host),
                  "rank", rank_number(b->rank), "phase", json_text(b->phase), "process",
                  json_text(b->process), "source", b->source, "trusted", b->trusted, "awaited_host",
                  host_name(report, b->awaited_host), "awaited_rank", rank_number(b->awaited_rank));
    const struct {
        const char *name;
        double value;
    } others[] = {{"wall_s", b->wall_s},
                  {"unknown_s", b->unknown_s},
                  {"other_threads_cpu_s", b->other_cpu_s},
                  {"closure_pct", b->closure_pct},
                  {"awaited_s", b->awaited_s},
                  {"path_limited_pct", b->path_pct},
                  {"receiver_limited_pct", b->receiver_pct},
                  {"send_buffer_limited_pct", b->send_buffer_pct}};
    for (int term = 0; term < BUDGET_TERMS; term++)
        json_object_set_new(object, term_member(term, name), json_number_or_null(b->term_s[term]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        json_object_set_new(object, others[i].name, json_number_or_null(others[i].value));
    return object;
}

json_t *json_budget(const struct report *report) {
    json_t *array = json_array();
    for (size_t i = 0; i < report->n_budget; i++)
        json_array_append_new(array, budget_object(report, &report->budget[i]));
    return array;
}

/* ---- iterations ---- */

/* Whether it is more than nothing in any iteration. */
static bool term_seen(const struct report *report, int term) {
    for (size_t i = 0; i < report->n_iteration_budgets; i++)
        if (report->iteration_budgets[i].budget.term_s[term] > 0)
            return true;
    return false;
}

static json_t *columns(const bool *seen) {
    char name[32];
    json_t *array = json_pack("[s, s, s, s]", "iteration", "phase", "start_s", "wall_s");
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (seen[term])
            json_array_append_new(array, json_string(term_member(term, name)));
    json_array_append_new(array, json_string("unknown_s"));
    json_array_append_new(array, json_string("closure_pct"));
    return array;
}

static json_t *row(const struct report *report, const struct report_iteration_budget *i,
                   const bool *seen) {
    json_t *array = json_pack("[I, o, f, o]", (json_int_t)i->number,
                              json_text(report->resources[i->phase].phase),
                              (double)i->begin_ns / 1e9, json_number_or_null(i->budget.wall_s));
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (seen[term])
            json_array_append_new(array, json_number_or_null(i->budget.term_s[term]));
    json_array_append_new(array, json_number_or_null(i->budget.unknown_s));
    json_array_append_new(array, json_number_or_null(i->budget.closure_pct));
    return array;
}

static json_t *rank_object(const struct report *report, size_t whose, json_t *rows) {
    const struct report_budget *b = &report->budget[whose];
    return json_pack("{s:o, s:o, s:o, s:o}", "host", host_name(report, b->host), "rank",
                     rank_number(b->rank), "process", json_text(b->process), "rows", rows);
}

json_t *json_budget_iterations(const struct report *report) {
    const struct report_iteration_budget *items = report->iteration_budgets;
    size_t n = report->n_iteration_budgets, step = n / (ROWS_MAX + 1) + 1;
    bool seen[BUDGET_TERMS];
    for (int term = 0; term < BUDGET_TERMS; term++)
        seen[term] = term_seen(report, term);
    json_t *ranks = json_array();
    for (size_t i = 0, end; i < n; i = end) {
        json_t *rows = json_array();
        for (end = i; end < n && items[end].whose == items[i].whose; end++)
            if ((end - i) % step == 0)
                json_array_append_new(rows, row(report, &items[end], seen));
        json_array_append_new(ranks, rank_object(report, items[i].whose, rows));
    }
    return json_pack("{s:I, s:o, s:o}", "every",
                     (json_int_t)(report->iteration_budgets_every * step), "columns", columns(seen),
                     "ranks", ranks);
}
