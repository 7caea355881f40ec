/* SPDX-License-Identifier: MIT */
/* Resources and candidates that do not limit the run, each with its reason, for programs. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/facts/figure.h"
#include "reports/sections/proofs.h"
#include "reports/sections/sections.h"

enum { ID, CAUSE, RESOURCE, HOST, RANK, REASON, FIGURE, VALUE, UNIT, SQL };

static const struct report_column columns[] = {
    [ID] = {KIND_TEXT, "id", COMPUTED},
    [CAUSE] = {KIND_TEXT, "cause", COMPUTED},
    [RESOURCE] = {KIND_TEXT, "resource", COMPUTED},
    [HOST] = {KIND_HOST, "host", COMPUTED},
    [RANK] = {KIND_RANK, "rank", COMPUTED},
    [REASON] = {KIND_TEXT, "reason", COMPUTED},
    [FIGURE] = {KIND_TEXT, "figure" INTO_OR_NULL "name", COMPUTED},
    [VALUE] = {KIND_NUMBER, "figure" INTO_OR_NULL "value", COMPUTED},
    [UNIT] = {KIND_TEXT, "figure" INTO_OR_NULL "unit", COMPUTED},
    [SQL] = {KIND_TEXT, "figure" INTO_OR_NULL "sql", COMPUTED},
};

/* A remark that rules out is about one resource on all hosts. "network": both directions. */
static const char *resource_of(const struct remark *remark) {
    static const struct {
        const char *prefix, *resource;
    } resources[] = {{"CPU_", "cpu"},         {"QUOTA_", "cpu-quota"},  {"STEAL_", "steal"},
                     {"MEMORY_", "memory"},   {"DISK_", "disk"},        {"ROUTES_", "network"},
                     {"FULLEST_", "network"}, {"NETWORK_", "network"},  {"NO_PLATEAU", "network"},
                     {"LINK_", "network"},    {"SLOWER_", "imbalance"}, {"CORES_", "imbalance"},
                     {"KERNEL_", "imbalance"}};
    const char *name = remark->kind ? remark->kind->name : "";
    for (size_t i = 0; i < ARRAY_SIZE(resources); i++)
        if (strncmp(name, resources[i].prefix, strlen(resources[i].prefix)) == 0)
            return resources[i].resource;
    return NULL;
}

static size_t add_reason(struct report_table *table, const char *reason) {
    size_t row = table_add(table, NULL);
    table_text(table, row, ID, "r%zu", row + 1);
    table_borrow(table, row, REASON, reason);
    table_integer(table, row, HOST, -1);
    table_integer(table, row, RANK, -1);
    return row;
}

static void put_figure(struct report_table *table, size_t row, const struct figure *figure) {
    if (!figure->name)
        return;
    table_borrow(table, row, FIGURE, figure->name);
    table_number(table, row, VALUE, figure->value);
    table_borrow(table, row, UNIT, figure->unit);
    if (figure->sql)
        table_text(table, row, SQL, "%s", figure->sql);
}

static void put_harmless(struct report_table *table, const struct verdict_harmless *busy,
                         const char *reason) {
    const struct candidate *c = busy->candidate;
    size_t row = add_reason(table, reason);
    table_borrow(table, row, CAUSE, cause_name(c->kind));
    table_borrow(table, row, RESOURCE, resource_name(c->resource));
    table_integer(table, row, HOST, c->host);
    table_integer(table, row, RANK, c->rank);
    put_figure(
        table, row,
        &(struct figure){.name = "at most", .value = 100 * busy->at_most, .unit = "% of the run"});
}

static void put_remark(struct report_table *table, const struct figure_run *run,
                       const struct remark *remark, const char *reason) {
    struct figure figure;
    size_t row = add_reason(table, reason);
    if (figure_of_remark(run, NULL, remark, &figure) < 0)
        table->failed = true;
    table_borrow(table, row, RESOURCE, resource_of(remark));
    if (figure.sql)
        table_integer(table, row, HOST, figure.host);
    put_figure(table, row, &figure);
    figure_release(&figure);
}

/* The texts are those of the verdict: candidates first, then remarks (says/verdict_words.c). */
void section_ruled_out(const struct report *report, struct page *page) {
    const struct verdict *v = &report->run->judgement.verdict;
    const struct report_verdict *said = &report->verdict;
    bool paired = v->n_harmless + v->ruled_out.n == said->n_ruled_out;
    struct figure_run run = proofs_run(report);
    struct report_table table;
    if (!page_is_for(page, FOR_DOCUMENT))
        return;
    TABLE_INIT(&table, "ruled_out", report, columns);
    table.audience = FOR_DOCUMENT;
    for (size_t i = 0; i < said->n_ruled_out; i++)
        if (!paired)
            add_reason(&table, said->ruled_out[i]);
        else if (i < v->n_harmless)
            put_harmless(&table, &v->harmless[i], said->ruled_out[i]);
        else
            put_remark(&table, &run, &v->ruled_out.items[i - v->n_harmless], said->ruled_out[i]);
    page_table(page, &table);
}
