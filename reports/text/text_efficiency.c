/* SPDX-License-Identifier: MIT */
/* POP ratios: the terms a reader from the field looks for first, with what they leave open. */
#include "reports/model/efficiency.h"

#include <math.h>
#include <string.h>

#include "common/error.h"
#include "reports/html/html_page.h"
#include "reports/model/layout.h"
#include "reports/text/md.h"
#include "reports/text/terminal.h"
#include "reports/text/text.h"

static const char *const heads[] = {"phase",         "parallel", "load balance", "communication",
                                    "serialisation", "transfer", "computing"};
#define RATIOS (ARRAY_SIZE(heads) - 1)

static bool is_bound(const struct report_efficiency *e) {
    return strcmp(e->source, "bound") == 0;
}

/* "83.1", "<= 92.0" where the ideal network is known by a bound only. */
static void ratio(const struct report_efficiency *e, size_t i, char *text, size_t size) {
    const double values[RATIOS] = {e->parallel_pct,      e->load_balance_pct, e->communication_pct,
                                   e->serialisation_pct, e->transfer_pct,     e->computing_pct};
    const char *bound = !is_bound(e) || (i != 3 && i != 4) ? "" : i == 3 ? "<= " : ">= ";
    if (isnan(values[i]))
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%s%.1f", bound, values[i]);
}

#define NOTE                                                                                       \
    "Parallel = load balance x communication, communication = serialisation x transfer. Useful "   \
    "is "                                                                                          \
    "what lies outside MPI, whatever it was spent on; computing says how much of it was on a "     \
    "core."

static const char *note(const struct report *report) {
    for (size_t i = 0; i < report->n_efficiency; i++)
        if (is_bound(&report->efficiency[i]))
            return NOTE " <= and >=: no replay tells how long an ideal network would have taken.";
    return NOTE;
}

/* Which phases are worth a line: those worth a table. */
static bool is_shown(const struct report *report, const struct report_efficiency *e) {
    for (size_t i = 0; i < report->n_resources; i++)
        if (strcmp(report->resources[i].phase, e->phase) == 0)
            return i == 0 || layout_worth_a_table(report, &report->resources[i]);
    return false;
}

static size_t shown(const struct report *report) {
    size_t n = 0;
    for (size_t i = 0; i < report->n_efficiency; i++)
        n += is_shown(report, &report->efficiency[i]);
    return n;
}

#define TITLE "Efficiency (POP, %)"

void text_put_efficiency(FILE *out, const struct report *report) {
    struct text_table table;
    char text[64];
    if (!shown(report))
        return;
    text_put_heading(out, TITLE);
    text_table_init(&table, shown(report) + 1, ARRAY_SIZE(heads));
    for (size_t c = 0; c < ARRAY_SIZE(heads); c++)
        text_table_set(&table, 0, c, "%s", heads[c]);
    for (size_t i = 0, row = 1; i < report->n_efficiency; i++) {
        const struct report_efficiency *e = &report->efficiency[i];
        if (!is_shown(report, e))
            continue;
        text_table_set(&table, row, 0, "%s", e->phase);
        for (size_t c = 0; c < RATIOS; c++) {
            ratio(e, c, text, sizeof text);
            text_table_set(&table, row, c + 1, "%s", text);
        }
        row++;
    }
    text_table_print(&table, out, 2);
    text_table_release(&table);
    terminal_paragraph(out, "  ", note(report), 0);
}

void md_put_efficiency(FILE *out, const struct report *report) {
    char text[64];
    if (!shown(report))
        return;
    fputs("\n## " TITLE "\n\n", out);
    for (size_t c = 0; c < ARRAY_SIZE(heads); c++)
        md_cell(out, heads[c]);
    md_header_end(out, ARRAY_SIZE(heads));
    for (size_t i = 0; i < report->n_efficiency; i++) {
        if (!is_shown(report, &report->efficiency[i]))
            continue;
        md_cell(out, report->efficiency[i].phase);
        for (size_t c = 0; c < RATIOS; c++) {
            ratio(&report->efficiency[i], c, text, sizeof text);
            md_cell(out, text);
        }
        fputs("|\n", out);
    }
    fputc('\n', out);
    md_put(out, note(report));
    fputc('\n', out);
}

void html_put_efficiency(FILE *out, const struct report *report) {
    char text[64];
    if (!shown(report))
        return;
    fputs("<h2>" TITLE "</h2><section><table><tr>", out);
    for (size_t c = 0; c < ARRAY_SIZE(heads); c++)
        html_element(out, "th", NULL, heads[c]);
    fputs("</tr>\n", out);
    for (size_t i = 0; i < report->n_efficiency; i++) {
        if (!is_shown(report, &report->efficiency[i]))
            continue;
        fputs("<tr>", out);
        html_element(out, "td", "t", report->efficiency[i].phase);
        for (size_t c = 0; c < RATIOS; c++) {
            ratio(&report->efficiency[i], c, text, sizeof text);
            html_element(out, "td", NULL, text);
        }
        fputs("</tr>\n", out);
    }
    fputs("</table>", out);
    html_element(out, "p", "muted small", note(report));
    fputs("</section>\n", out);
}
