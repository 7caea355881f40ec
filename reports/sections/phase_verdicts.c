/* SPDX-License-Identifier: MIT */
/* The verdict of each phase. Phases too short for a table have none; nor has a run with one phase
 * or none, whose verdict is said already. */
#include <stdlib.h>
#include <string.h>

#include "reports/model/layout.h"
#include "reports/sections/sections.h"

#define PHASES_SHOWN 20       /* the longest list that is still read; JSON has all */
#define BESIDE_SHARE_MIN 0.05 /* of the run: shorter phases are no news on a screen */

static const struct report_resources *phase_of(const struct report *report, size_t i) {
    for (size_t r = 1; r < report->n_resources; r++)
        if (strcmp(report->resources[r].phase, report->phase_verdicts[i].phase) == 0)
            return &report->resources[r];
    return NULL;
}

static bool is_shown(const struct report *report, size_t i) {
    const struct report_resources *phase = phase_of(report, i);
    return i < PHASES_SHOWN && phase && layout_worth_a_table(report, phase);
}

/* More than the main phase, of which the verdict speaks already. */
static bool any_shown(const struct report *report) {
    for (size_t i = 0; i < report->n_phase_verdicts; i++)
        if (is_shown(report, i) && phase_of(report, i) != &report->resources[report->main_phase])
            return true;
    return false;
}

static bool names_something(const struct report_phase_verdict *p) {
    return verdict_blames(p->state);
}

/* "training (42.0 s)" */
static void name_of(const struct report *report, size_t i, char *text, size_t size) {
    char duration[LAYOUT_NUMBER_SIZE];
    snprintf(text, size, "%.64s (%s)", report->phase_verdicts[i].phase,
             layout_duration(duration, phase_of(report, i)->duration_s));
}

enum { NAME, STATE };

static const struct report_column columns[] = {
    [NAME] = {KIND_TEXT, NULL, "phase", COMPUTED},
    [STATE] = {KIND_STATE, "state", "state", COMPUTED},
    {KIND_TEXT, "phase", FIELD(report_phase_verdict, phase)},
    {KIND_HOST, "host", FIELD(report_phase_verdict, host)},
    {KIND_RANK, "rank", FIELD(report_phase_verdict, rank)},
    {KIND_TEXT, "resource", FIELD(report_phase_verdict, resource)},
    {KIND_TEXT, "cause_kind", FIELD(report_phase_verdict, cause_kind)},
    {KIND_NUMBER, "blocked_pct", FIELD(report_phase_verdict, blocked_pct)},
    {KIND_PROSE, "summary", "what it waits for", FIELD(report_phase_verdict, summary)},
};

void section_phase_verdicts(const struct report *report, struct page *page) {
    bool any = any_shown(report);
    struct report_table table;
    TABLE_INIT(&table, "verdict_by_phase", report, columns);
    TABLE_ADD_ALL(&table, report->phase_verdicts, report->n_phase_verdicts);
    table_title(&table, "Phase by phase");
    table.level = 3;
    for (size_t i = 0; !table.failed && i < report->n_phase_verdicts; i++) {
        char name[128];
        table_borrow(&table, i, STATE, verdict_state_name(report->phase_verdicts[i].state));
        if (any && is_shown(report, i)) {
            name_of(report, i, name, sizeof name);
            table_text(&table, i, NAME, "%s", name);
        } else {
            table.rows[i].room = ROOM_NONE;
        }
    }
    page_table(page, &table);
}

char *phase_verdicts_beside(const struct report *report) {
    char *text = NULL;
    size_t size, said = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (size_t i = 0; i < report->n_phase_verdicts; i++) {
        const struct report_resources *phase = phase_of(report, i);
        char name[128];
        if (!is_shown(report, i) || !names_something(&report->phase_verdicts[i]) ||
            phase == &report->resources[report->main_phase] ||
            phase->duration_s < BESIDE_SHARE_MIN * report->duration_s)
            continue;
        name_of(report, i, name, sizeof name);
        fprintf(out, "%s%s: %s", said++ ? "; " : "", name, report->phase_verdicts[i].summary);
    }
    if (fclose(out) == 0 && said)
        return text;
    free(text);
    return NULL;
}
