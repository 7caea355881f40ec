/* SPDX-License-Identifier: MIT */
/* The verdict on each phase. It is left out for phases too short for a table, and for a run with
 * one phase or none, which the run's verdict covers. */
#include <stdlib.h>

#include "common/error.h"
#include "reports/model/layout.h"
#include "reports/says/verdict_words.h"
#include "reports/sections/sections.h"

#define PHASES_SHOWN 20       /* a longer list is not read; JSON has all */
#define BESIDE_SHARE_MIN 0.05 /* of the run */

static const struct verdict *verdict_of(const struct report *report) {
    return &report->run->judgement.verdict;
}

static const struct report_resources *phase_resources(const struct report *report, size_t i) {
    return &report->resources[verdict_of(report)->phases[i].group];
}

static bool is_main(const struct report *report, size_t i) {
    return verdict_of(report)->phases[i].group == report->main_phase;
}

static bool is_shown_phase(const struct report *report, size_t i) {
    return i < PHASES_SHOWN && layout_worth_a_table(report, phase_resources(report, i));
}

/* Whether there is another phase than the main one, which the run's verdict covers. */
static bool any_shown(const struct report *report) {
    for (size_t i = 0; i < verdict_of(report)->n_phases; i++)
        if (is_shown_phase(report, i) && !is_main(report, i))
            return true;
    return false;
}

/* "training (42.0 s)" */
static void name_of(const struct report_resources *phase, char *text, size_t size) {
    char duration[LAYOUT_NUMBER_SIZE];
    snprintf(text, size, "%.64s (%s)", phase->phase, layout_duration(duration, phase->duration_s));
}

enum { NAME, STATE, PHASE, RESOURCE = 5, CAUSE, BLOCKED, SUMMARY };

static const struct report_column columns[] = {
    [NAME] = {KIND_TEXT, NULL, "phase", COMPUTED},
    [STATE] = {KIND_STATE, "state", "state", COMPUTED},
    [PHASE] = {KIND_TEXT, "phase", COMPUTED},
    {KIND_HOST, "host", FIELD(verdict_phase, host)},
    {KIND_RANK, "rank", FIELD(verdict_phase, rank)},
    [RESOURCE] = {KIND_TEXT, "resource", COMPUTED},
    [CAUSE] = {KIND_TEXT, "cause_kind", COMPUTED},
    [BLOCKED] = {KIND_NUMBER, "blocked_pct", COMPUTED},
    [SUMMARY] = {KIND_PROSE, "summary", "what it waits for", COMPUTED},
};

static void put_phase_row(struct report_table *table, const struct report *report, size_t i,
                          bool shown) {
    const struct verdict_phase *p = &verdict_of(report)->phases[i];
    AUTO(text_free) char *summary = verdict_say_phase(&report->run->model, p);
    char name[128];
    size_t row = table_add(table, p);
    table->failed |= !summary;
    if (table->failed)
        return;
    table_borrow(table, row, STATE, verdict_state_name(p->state));
    table_borrow(table, row, PHASE, phase_resources(report, i)->phase);
    table_borrow(table, row, RESOURCE, resource_name(p->resource));
    table_borrow(table, row, CAUSE, cause_name(p->kind));
    table_number(table, row, BLOCKED, 100 * p->blocked);
    table_text(table, row, SUMMARY, "%s", summary);
    if (!shown) {
        table->rows[row].room = ROOM_NONE;
        return;
    }
    name_of(phase_resources(report, i), name, sizeof name);
    table_text(table, row, NAME, "%s", name);
}

void section_phase_verdicts(const struct report *report, struct page *page) {
    bool any = any_shown(report);
    struct report_table table;
    TABLE_INIT(&table, "verdict_by_phase", report, columns);
    table_title(&table, "Phase by phase");
    table.level = 3;
    for (size_t i = 0; i < verdict_of(report)->n_phases; i++)
        put_phase_row(&table, report, i, any && is_shown_phase(report, i));
    page_table(page, &table);
}

/* A screen leaves out short phases. */
static bool is_beside(const struct report *report, size_t i) {
    return is_shown_phase(report, i) && !is_main(report, i) &&
           verdict_blames(verdict_of(report)->phases[i].state) &&
           phase_resources(report, i)->duration_s >= BESIDE_SHARE_MIN * report->duration_s;
}

char *phase_verdicts_beside(const struct report *report) {
    char *text = NULL;
    size_t size, said = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < verdict_of(report)->n_phases; i++) {
        char name[128];
        if (!is_beside(report, i))
            continue;
        AUTO(text_free)
        char *summary = verdict_say_phase(&report->run->model, &verdict_of(report)->phases[i]);
        name_of(phase_resources(report, i), name, sizeof name);
        fprintf(out, "%s%s: %s", said++ ? "; " : "", name, summary ? summary : "-");
    }
    if (fclose(out) == 0 && said)
        return text;
    free(text);
    return NULL;
}
