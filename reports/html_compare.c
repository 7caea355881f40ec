/* SPDX-License-Identifier: MIT */
/* The HTML page of a comparison: verdicts, what differs, curves over each other, then every run
 * whole. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/html.h"
#include "reports/html_page.h"
#include "reports/layout.h"
#include "reports/plot.h"

static void put_row(FILE *out, const struct comparison *c, const struct comparison_row *row,
                    const char *label, const char *unit) {
    char number[LAYOUT_NUMBER_SIZE];
    fputs("<tr>", out);
    html_element(out, "td", "t", label);
    html_element(out, "td", "t", unit);
    for (size_t i = 0; i < c->n; i++) {
        fprintf(out, "<td>%s</td>", layout_number(number, row->value[i]));
        if (i == c->baseline)
            continue;
        if (isnan(row->difference[i]))
            fputs("<td class=\"muted\">-</td>", out);
        else
            fprintf(out, "<td class=\"muted\">%s%s</td>", row->difference[i] >= 0 ? "+" : "",
                    layout_number(number, row->difference[i]));
    }
    fputs("</tr>\n", out);
}

static void put_heads(FILE *out, const struct comparison *c) {
    fputs("<section><table><tr><th></th><th class=\"t\">unit</th>", out);
    for (size_t i = 0; i < c->n; i++) {
        html_element(out, "th", NULL, c->runs[i]->run_name);
        if (i != c->baseline)
            fputs("<th>difference</th>", out);
    }
    fputs("</tr>\n", out);
}

/* Whether rows[at] is the first row of run i with these words. */
static bool words_are_new(const struct comparison_row *rows, size_t at, size_t i) {
    for (size_t k = 0; k < at; k++)
        if (rows[k].judgement[i] && strcmp(rows[k].judgement[i], rows[at].judgement[i]) == 0)
            return false;
    return true;
}

/* Whether the differences are real: the same words are said once for all rows. */
static void put_judgements(FILE *out, const struct comparison *c, const struct comparison_row *rows,
                           size_t n) {
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; i != c->baseline && k < n; k++) {
            if (isnan(rows[k].difference[i]) || !rows[k].judgement[i] || !words_are_new(rows, k, i))
                continue;
            fputs("<p class=\"muted small\">", out);
            html_put(out, c->runs[i]->run_name);
            fputs(", differences: ", out);
            html_put(out, rows[k].judgement[i]);
            fputs("</p>\n", out);
        }
}

static void put_summary(FILE *out, const struct comparison *c) {
    if (!c->n_summary)
        return;
    fputs("<h2>Summary</h2>\n", out);
    put_heads(out, c);
    for (size_t i = 0; i < c->n_summary; i++)
        put_row(out, c, &c->summary[i], c->summary[i].label, c->summary[i].unit);
    fputs("</table>", out);
    put_judgements(out, c, c->summary, c->n_summary);
    fputs("</section>\n", out);
}

/* T2: under each of T1's rows a line a host. */
static void put_resources(FILE *out, const struct comparison *c) {
    const struct report *baseline = c->runs[c->baseline];
    if (!c->n_resources || !baseline->n_hosts)
        return;
    fputs("<h2>Averages per host</h2>\n", out);
    put_heads(out, c);
    for (size_t i = 0; i < c->n_resources; i++) {
        size_t row = i / baseline->n_hosts, host = i % baseline->n_hosts;
        if (host == 0 && row < layout_averages_size)
            fprintf(out, "<tr class=\"group\"><td colspan=\"%zu\">%s</td></tr>\n", 2 * c->n + 1,
                    layout_averages[row].label);
        put_row(out, c, &c->resources[i], layout_host(baseline, (int)host), "");
    }
    fputs("</table>", out);
    put_judgements(out, c, c->resources, c->n_resources);
    fputs("</section>\n", out);
}

/* Whether any run before (run, at) has a curve of that name. */
static bool name_seen(const struct comparison *c, size_t run, size_t at) {
    const char *name = c->runs[run]->curves[at].name;
    for (size_t r = 0; r <= run; r++)
        for (size_t i = 0; i < (r == run ? at : c->runs[r]->n_curves); i++)
            if (strcmp(c->runs[r]->curves[i].name, name) == 0)
                return true;
    return false;
}

static void put_curve_pair(FILE *out, const struct comparison *c, const char *name) {
    const struct report *const *runs = (const struct report *const *)c->runs;
    char caption[192];
    char *svg = plot_curve(runs, c->n, name, false);
    snprintf(caption, sizeof caption, "%s against iteration", name);
    html_picture(out, svg, caption);
    svg = plot_curve(runs, c->n, name, true);
    snprintf(caption, sizeof caption, "%s against time", name);
    html_picture(out, svg, caption);
}

static void put_curves(FILE *out, const struct comparison *c) {
    fputs("<h2>What the programs said of themselves</h2><section>\n", out);
    for (size_t run = 0; run < c->n; run++)
        for (size_t i = 0; i < c->runs[run]->n_curves; i++)
            if (c->runs[run]->curves[i].n > 1 && !name_seen(c, run, i))
                put_curve_pair(out, c, c->runs[run]->curves[i].name);
    fputs("</section>\n", out);
}

static void put_verdicts(FILE *out, const struct comparison *c) {
    for (size_t i = 0; i < c->n; i++) {
        html_element(out, "h3", NULL, c->runs[i]->run_name);
        html_put_verdict(out, c->runs[i]);
    }
}

int html_write_comparison(const struct comparison *c, FILE *out) {
    html_begin(out, "Comparison of runs");
    html_element(out, "h1", NULL, "Comparison of runs");
    html_list(out, "Mind", c->notes, c->n_notes);
    put_verdicts(out, c);
    put_summary(out, c);
    put_resources(out, c);
    put_curves(out, c);
    for (size_t i = 0; i < c->n; i++) {
        fputs("<section><details><summary>All of ", out);
        html_put(out, c->runs[i]->run_name);
        fputs("</summary>\n", out);
        html_put_head(out, c->runs[i]);
        html_put_details(out, c->runs[i]);
        fputs("</details></section>\n", out);
    }
    html_end(out);
    return ferror(out) ? -EIO : 0;
}
