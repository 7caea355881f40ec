/* SPDX-License-Identifier: MIT */
/* T8 on the HTML page. */
#include "reports/html/html_page.h"
#include "reports/model/layout.h"
#include "reports/model/operators.h"
#include "reports/plot/plot.h"

static void put_number(FILE *out, double value) {
    char text[LAYOUT_NUMBER_SIZE];
    fprintf(out, "<td>%s</td>", layout_number(text, value));
}

static void put_table(FILE *out, const struct report *report) {
    static const char *const heads[] = {"operator",  "role",        "ranks",
                                        "calls",     "output (MB)", "total (s)",
                                        "mean (ms)", "95 % (ms)",   "of the iteration (%)"};
    fputs("<table><tr>", out);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        html_element(out, "th", i == 1 ? "t" : NULL, heads[i]);
    fputs("</tr>\n", out);
    for (size_t i = 0; i < report->n_operators; i++) {
        const struct report_operator *o = &report->operators[i];
        fputs("<tr>", out);
        html_element(out, "td", "t", o->name);
        html_element(out, "td", "t", *o->role ? o->role : "-");
        fprintf(out, "<td>%zu</td><td>%zu</td>", o->n_ranks, o->calls);
        put_number(out, o->output_bytes / 1e6);
        put_number(out, o->total_s);
        put_number(out, 1e3 * o->mean_s);
        put_number(out, 1e3 * o->p95_s);
        put_number(out, o->share_pct);
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
}

void html_put_operators(FILE *out, const struct report *report) {
    char title[160];
    if (!report->n_operators)
        return;
    fputs("<h2>Operators</h2><section>\n", out);
    operators_timeline_title(report, title, sizeof title);
    char *svg = plot_timeline(report);
    html_picture(out, svg, title);
    put_table(out, report);
    fputs("</section>\n", out);
}
