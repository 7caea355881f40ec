/* SPDX-License-Identifier: MIT */
/* One tidy table for spreadsheets: a row for each run, host, phase and metric. */
#include <math.h>
#include <string.h>

#include "common/error.h"
#include "reports/model/layout.h"
#include "reports/sections/sections.h"

struct figure {
    const char *run, *host, *phase, *metric, *unit;
    double mean, p95, peak;
    int64_t run_id;
    double ceiling;
    const char *group;
};

static const struct report_column columns[] = {
    {KIND_TEXT, "run", FIELD(figure, run)},        {KIND_TEXT, "host", FIELD(figure, host)},
    {KIND_TEXT, "phase", FIELD(figure, phase)},    {KIND_WORD, "metric", FIELD(figure, metric)},
    {KIND_WORD, "unit", FIELD(figure, unit)},      {KIND_NUMBER, "mean", FIELD(figure, mean)},
    {KIND_NUMBER, "p95", FIELD(figure, p95)},      {KIND_NUMBER, "peak", FIELD(figure, peak)},
    {KIND_COUNT, "run_id", FIELD(figure, run_id)}, {KIND_NUMBER, "ceiling", FIELD(figure, ceiling)},
    {KIND_TEXT, "group", FIELD(figure, group)},
};
enum { METRIC = 3 };

/* Fields that all rows of a run share. */
static struct figure figure_of(const struct report *report, const char *group) {
    return (struct figure){.run = report->run_name,
                           .host = "",
                           .p95 = NAN,
                           .peak = NAN,
                           .run_id = report->run_id,
                           .ceiling = NAN,
                           .group = group};
}

static void add_resources(struct report_table *table, const struct report *report,
                          const char *group) {
    struct figure f = figure_of(report, group);
    for (size_t i = 0; i < report->n_resources; i++)
        for (size_t h = 0; h < report->n_hosts; h++)
            for (int m = 0; m < METRIC_COUNT_; m++) {
                const struct report_value *v =
                    &report->resources[i].values[h * METRIC_COUNT_ + (size_t)m];
                if (metric_is_of_gpu(m) && isnan(v->mean))
                    continue;
                f.host = report->hosts[h].name;
                f.phase = report->resources[i].phase;
                f.metric = metric_name(m);
                f.unit = metric_unit(m);
                f.mean = v->mean;
                f.p95 = v->p95;
                f.peak = v->peak;
                f.ceiling = layout_ceiling(report, h, m);
                table_add(table, &f);
            }
}

/* Bounds are not values, so the ideal network has no row if it is bounded only. */
static void add_efficiency(struct report_table *table, const struct report *report,
                           const char *group) {
    for (size_t i = 0; i < report->n_efficiency; i++) {
        const struct report_efficiency *e = &report->efficiency[i];
        bool replayed = strcmp(e->source, "replay") == 0;
        const struct {
            const char *metric;
            double percent;
        } ratios[] = {{"parallel_efficiency", e->parallel_pct},
                      {"load_balance", e->load_balance_pct},
                      {"communication_efficiency", e->communication_pct},
                      {"serialisation_efficiency", replayed ? e->serialisation_pct : NAN},
                      {"transfer_efficiency", replayed ? e->transfer_pct : NAN}};
        struct figure f = figure_of(report, group);
        f.phase = e->phase;
        f.unit = "%";
        for (size_t k = 0; k < ARRAY_SIZE(ratios); k++) {
            f.metric = ratios[k].metric;
            f.mean = ratios[k].percent;
            if (!isnan(f.mean))
                table_add(table, &f);
        }
    }
}

static void add_operators(struct report_table *table, const struct report *report,
                          const char *group) {
    for (size_t i = 0; i < report->n_operators; i++) {
        const struct report_operator *o = &report->operators[i];
        const struct {
            const char *unit;
            double mean, p95, peak;
        } lines[] = {{"ms", 1e3 * o->mean_s, 1e3 * o->p95_s, 1e3 * o->longest_s},
                     {"%", o->share_pct, NAN, NAN},
                     {"bytes", o->output_bytes, NAN, NAN}};
        struct figure f = figure_of(report, group);
        f.host = o->role;
        f.phase = "iteration";
        for (size_t k = 0; k < ARRAY_SIZE(lines); k++) {
            f.unit = lines[k].unit;
            f.mean = lines[k].mean;
            f.p95 = lines[k].p95;
            f.peak = lines[k].peak;
            table_text(table, table_add(table, &f), METRIC, "operator %s", o->name);
        }
    }
}

static void add_roles(struct report_table *table, const struct report *report, const char *group) {
    for (size_t i = 0; i < report->n_roles; i++) {
        const struct report_role *r = &report->roles[i];
        const struct {
            const char *metric, *unit;
            double mean;
        } lines[] = {{"accuracy", "%", r->accuracy_pct}, {"time", "s", r->time_s},
                     {"cpu", "%", r->cpu_pct},           {"peak_memory", "GB", r->peak_memory_gb},
                     {"received", "MB", r->received_mb}, {"sent", "MB", r->sent_mb}};
        struct figure f = figure_of(report, group);
        f.host = report->hosts[r->host].name;
        f.phase = "all";
        for (size_t k = 0; k < ARRAY_SIZE(lines); k++) {
            f.unit = lines[k].unit;
            f.mean = lines[k].mean;
            if (!isnan(f.mean))
                table_text(table, table_add(table, &f), METRIC, "rank %d %s", r->rank,
                           lines[k].metric);
        }
    }
}

/* The row belongs to the sending host. */
static void add_pairs(struct report_table *table, const struct report *report, const char *group) {
    struct figure f = figure_of(report, group);
    f.phase = "all";
    f.unit = "MB/s";
    for (size_t i = 0; i < report->n_routes; i++) {
        const struct report_route *route = &report->routes[i];
        f.host = report->hosts[route->from].name;
        f.mean = route->mean_mb_s;
        f.peak = route->peak_mb_s;
        table_text(table, table_add(table, &f), METRIC, "sent to %s",
                   report->hosts[route->to].name);
    }
}

void figures_init(struct report_table *table) {
    TABLE_INIT(table, NULL, NULL, columns);
    table->audience = FOR_CSV;
}

void figures_add(struct report_table *table, const struct report *report, const char *group) {
    add_resources(table, report, group);
    add_pairs(table, report, group);
    add_efficiency(table, report, group);
    add_operators(table, report, group);
    add_roles(table, report, group);
}

void section_figures(const struct report *report, struct page *page) {
    struct report_table table;
    if (!page_is_for(page, FOR_CSV))
        return;
    figures_init(&table);
    figures_add(&table, report, "");
    page_table(page, &table);
}
