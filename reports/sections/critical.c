/* SPDX-License-Identifier: MIT */
/* The critical path: for readers one sentence in the section of the budget, for programs all
 * parts. */
#include <stdio.h>
#include <stdlib.h>

#include "reports/facts/critical.h"
#include "reports/model/budget_words.h"
#include "reports/model/layout.h"
#include "reports/says/term_words.h"
#include "reports/sections/sections.h"

#define PARTS_SAID 5
#define SHARE_SAID 0.01

static void print_part(FILE *out, const struct report *report, const struct report_critical *c) {
    const char *host = c->host < 0 ? "" : layout_host(report, c->host);
    if (c->term == BUDGET_TRANSFER && c->host >= 0 && c->to_host == c->host)
        fprintf(out, "transfer within %s", host);
    else if (c->term == BUDGET_TRANSFER && c->host >= 0 && c->to_host >= 0)
        fprintf(out, "transfer from %s to %s", host, layout_host(report, c->to_host));
    else if (c->term == BUDGET_TRANSFER && (c->host >= 0 || c->to_host >= 0))
        fprintf(out, "transfer %s %s", c->host >= 0 ? "from" : "to",
                c->host >= 0 ? host : layout_host(report, c->to_host));
    else
        fprintf(out, "%s%s%s", budget_term_words(c->term), c->host < 0 ? "" : " on ", host);
    fprintf(out, " %.0f %%", c->share_pct);
}

static bool tells_who_waited(const struct run_model *model) {
    return model->critical.source == CRITICAL_FROM_EVENTS ||
           model->critical.source == CRITICAL_FROM_WAITS;
}

/* Writes the parts of the verdict's phase. Returns how many were written. */
static size_t put_sentence(FILE *out, const struct report *report,
                           const struct critical_parts *parts) {
    const char *phase = report->resources[report->shown_phase].phase;
    size_t said = 0;
    fprintf(out, "Along the critical path%s%s%s: ", report->shown_phase ? " of " : "",
            budget_phase_before(report), report->shown_phase ? phase : "");
    for (size_t i = 0; i < parts->n && said < PARTS_SAID; i++) {
        const struct report_critical *c = &parts->items[i];
        if (c->group != report->shown_phase || c->share_pct < 100 * SHARE_SAID)
            continue;
        fputs(said++ ? ", " : "", out);
        print_part(out, report, c);
    }
    fputc('.', out);
    return said;
}

char *critical_sentence(const struct report *report) {
    struct critical_parts parts;
    size_t said = 0, size;
    char *text = NULL;
    if (!tells_who_waited(&report->run->model) ||
        critical_parts_of(&report->run->model, &parts) < 0)
        return NULL;
    FILE *out = parts.n ? open_memstream(&text, &size) : NULL;
    if (out)
        said = put_sentence(out, report, &parts);
    free(parts.items);
    if (!out || (fclose(out) == 0 && said))
        return text;
    free(text);
    return NULL;
}

/* ---- for programs ---- */

enum { PHASE, TERM = 2, SOURCE = 6 };

static const struct report_column columns[] = {
    [PHASE] = {KIND_TEXT, "phase", COMPUTED},
    {KIND_HOST, "host", FIELD(report_critical, host)},
    [TERM] = {KIND_TEXT, "term", COMPUTED},
    {KIND_HOST, "to_host", FIELD(report_critical, to_host)},
    {KIND_NUMBER, "seconds", FIELD(report_critical, seconds)},
    {KIND_NUMBER, "share_pct", FIELD(report_critical, share_pct)},
    [SOURCE] = {KIND_TEXT, "source", COMPUTED},
};

static void put_part_row(struct report_table *table, const struct report *report,
                         const struct report_critical *c) {
    static const char *const sources[] = {"events", "waits", "process", "none"};
    size_t row = table_add(table, c);
    table_borrow(table, row, PHASE, report->resources[c->group].phase);
    table_borrow(table, row, TERM, budget_term_name(c->term));
    table_borrow(table, row, SOURCE, sources[report->run->model.critical.source]);
}

void section_critical_path(const struct report *report, struct page *page) {
    struct critical_parts parts = {0};
    struct report_table table;
    TABLE_INIT(&table, "critical_path", report, columns);
    table.failed |= critical_parts_of(&report->run->model, &parts) < 0;
    table.audience = FOR_DOCUMENT;
    for (size_t i = 0; i < parts.n; i++)
        put_part_row(&table, report, &parts.items[i]);
    page_table(page, &table);
    free(parts.items);
}
