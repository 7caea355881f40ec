/* SPDX-License-Identifier: MIT */
/* The budget in the page: stacked bars of the main phase, and the numbers of every phase. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/html/html_page.h"
#include "reports/model/critical.h"
#include "reports/model/layout.h"
#include "reports/text/budget_text.h"

static void put_cell(FILE *out, double value) {
    char text[LAYOUT_NUMBER_SIZE];
    fprintf(out, "<td>%s</td>", layout_number(text, value));
}

static void put_row(FILE *out, const struct report *report, const struct report_budget *b) {
    char who[128];
    budget_whose(report, b, who, sizeof who);
    fputs("<tr>", out);
    html_element(out, "td", "t", who);
    html_element(out, "td", "t", b->phase);
    put_cell(out, b->wall_s);
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (budget_term_shown(report->budget, report->n_budget, (enum budget_term)term))
            put_cell(out, b->term_s[term]);
    fprintf(out, "<td>%.1f%s</td>", b->closure_pct, b->trusted ? "" : " !");
    html_element(out, "td", "t", budget_source_words(b));
    fputs("</tr>\n", out);
}

static size_t ranks_with_iterations(const struct report *report) {
    size_t n = 0;
    for (size_t i = 0; i < report->n_iteration_budgets; i++)
        n += i == 0 || report->iteration_budgets[i].whose != report->iteration_budgets[i - 1].whose;
    return n;
}

static void put_iterations(FILE *out, const struct report *report) {
    char caption[160], which[40] = "every iteration";
    char *svg = plot_budget_iterations(report);
    if (!svg && errno == ENODATA)
        return;
    if (report->iteration_budgets_every > 1)
        snprintf(which, sizeof which, "one of %zu iterations", report->iteration_budgets_every);
    snprintf(
        caption, sizeof caption,
        "%s of %s, rank by rank%s; bars are means where there are many, the tallest may be cut off",
        which, report->main_phase ? report->resources[report->main_phase].phase : "the whole run",
        ranks_with_iterations(report) > BUDGET_PANELS_MAX ? " (the first ones)" : "");
    html_picture(out, svg, caption);
}

void html_put_budget(FILE *out, const struct report *report) {
    if (!report->n_budget)
        return;
    fputs("<h2>Where the time of each rank went</h2><section>\n", out);
    char caption[160];
    snprintf(caption, sizeof caption, "share of the wall time of %s",
             report->main_phase ? report->resources[report->main_phase].phase : "the whole run");
    char *svg = plot_budget(report);
    html_picture(out, svg, caption);
    put_iterations(out, report);
    fputs("<table><tr><th></th><th class=\"t\">phase</th><th>wall (s)</th>", out);
    for (int term = 0; term < BUDGET_TERMS; term++)
        if (budget_term_shown(report->budget, report->n_budget, (enum budget_term)term))
            html_element(out, "th", NULL, budget_term_words((enum budget_term)term));
    fputs("<th>closes (%)</th><th class=\"t\">from</th></tr>\n", out);
    for (size_t i = 0; i < report->n_budget; i++)
        put_row(out, report, &report->budget[i]);
    char *path = critical_sentence(report);
    fputs("</table>\n", out);
    if (path)
        html_element(out, "p", NULL, path);
    free(path);
    fputs("<p class=\"muted\">Terms exclude each other. A row that does not close within "
          "2 % (!) is not to be trusted; CPU time of a rank's other threads is not part of it.",
          out);
    if (report->budget_windows)
        fprintf(out, " %zu of %zu iterations close.", report->budget_closing,
                report->budget_windows);
    fputs("</p></section>\n", out);
}
