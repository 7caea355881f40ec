/* SPDX-License-Identifier: MIT */
#include "reports/model/phase_verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "reports/html/html_page.h"
#include "reports/model/layout.h"
#include "reports/text/md.h"
#include "reports/text/terminal.h"
#include "reports/text/text.h"

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

void text_put_phase_verdicts(FILE *out, const struct report *report) {
    bool first = true;
    for (size_t i = 0; any_shown(report) && i < report->n_phase_verdicts; i++) {
        const struct report_phase_verdict *p = &report->phase_verdicts[i];
        char name[128], text[700];
        if (!is_shown(report, i))
            continue;
        name_of(report, i, name, sizeof name);
        snprintf(text, sizeof text, "%s, %s: %s", name, verdict_state_name(p->state), p->summary);
        terminal_paragraph(out, first ? "  by phase:    " : "               ", text, 0);
        first = false;
    }
}

void md_put_phase_verdicts(FILE *out, const struct report *report) {
    if (!any_shown(report))
        return;
    fputs("\n**Phase by phase**\n\n", out);
    for (size_t i = 0; i < report->n_phase_verdicts; i++) {
        const struct report_phase_verdict *p = &report->phase_verdicts[i];
        char name[128];
        if (!is_shown(report, i))
            continue;
        name_of(report, i, name, sizeof name);
        fputs("- ", out);
        md_put(out, name);
        fprintf(out, ", %s: ", verdict_state_name(p->state));
        md_put(out, p->summary);
        fputc('\n', out);
    }
}

void html_put_phase_verdicts(FILE *out, const struct report *report) {
    if (!any_shown(report))
        return;
    html_element(out, "h3", NULL, "Phase by phase");
    fputs("<table class=\"phases\">", out);
    for (size_t i = 0; i < report->n_phase_verdicts; i++) {
        const struct report_phase_verdict *p = &report->phase_verdicts[i];
        const char *state = verdict_state_name(p->state);
        char name[128];
        if (!is_shown(report, i))
            continue;
        name_of(report, i, name, sizeof name);
        fputs("<tr>", out);
        html_element(out, "td", "t", name);
        fprintf(out, "<td class=\"t\"><span class=\"badge %s\">%s</span></td>", state, state);
        html_element(out, "td", "wrap", p->summary);
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
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
