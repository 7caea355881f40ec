/* SPDX-License-Identifier: MIT */
/* The HTML page of a comparison: what differs in a sentence, where it lies, the tables, curves over
 * each other, then the typical run of each group whole. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/html/html.h"
#include "reports/html/html_compare.h"
#include "reports/html/html_page.h"
#include "reports/plot/plot.h"

static const struct report *typical(const struct comparison *c, size_t group) {
    return c->runs[c->groups[group].typical];
}

/* ---- who ---- */

static void put_groups(FILE *out, const struct comparison *c) {
    for (size_t g = 0; g < c->n_groups; g++) {
        const struct comparison_group *group = &c->groups[g];
        html_element(out, "h3", NULL, group->label);
        fputs("<p class=\"small\">", out);
        fputs(group->n > 1 ? "Runs" : "Run", out);
        for (size_t i = 0; i < group->n; i++)
            fprintf(out, " %lld", (long long)c->runs[group->runs[i]]->run_id);
        fputs(" <code>", out);
        html_put(out, typical(c, g)->command);
        fputs("</code>", out);
        if (group->n > 1)
            fprintf(out, " The verdict is that of run %lld, the one of median length.",
                    (long long)typical(c, g)->run_id);
        fputs("</p>\n", out);
        html_put_verdict(out, typical(c, g));
    }
}

/* ---- whether it is real ---- */

static void put_judged(FILE *out, const struct comparison *c, const struct comparison_row *row) {
    for (size_t g = 0; g < c->n_groups; g++) {
        const struct comparison_cell *cell = &row->groups[g];
        if (!cell->words || isnan(cell->test.p))
            continue;
        fputs("<tr>", out);
        html_element(out, "td", "t", row->label);
        html_element(out, "td", "t", c->groups[g].label);
        html_element(out, "td", "wrap", cell->words);
        fputs("</tr>\n", out);
    }
}

/* Single runs have one sentence for all; repeats a line each. */
static void put_judgements(FILE *out, const struct comparison *c) {
    bool tested = false;
    for (size_t i = 0; i < c->n_summary; i++)
        for (size_t g = 0; g < c->n_groups; g++)
            tested |= !isnan(c->summary[i].groups[g].test.p) && c->summary[i].groups[g].words;
    fputs("<h2>Whether the differences are real</h2><section>\n", out);
    for (size_t g = 0; g < c->n_groups && c->n_summary; g++)
        if (c->summary[0].groups[g].words) {
            fputs("<p>", out);
            html_put(out, c->groups[g].label);
            fputs(", duration: ", out);
            html_put(out, c->summary[0].groups[g].words);
            fputs("</p>\n", out);
        }
    if (tested) {
        fputs("<details><summary>Every test</summary><table>\n", out);
        for (size_t i = 0; i < c->n_summary; i++)
            put_judged(out, c, &c->summary[i]);
        for (size_t i = 0; i < c->n_resources; i++)
            put_judged(out, c, &c->resources[i]);
        fputs("</table></details>\n", out);
    }
    fputs("</section>\n", out);
}

/* ---- F1 ---- */

static const char *const first_curves[] = {"accuracy", "test loss", "loss", "error"};

static bool is_first(const char *name) {
    for (size_t i = 0; i < ARRAY_SIZE(first_curves); i++)
        if (strcmp(name, first_curves[i]) == 0)
            return true;
    return false;
}

static bool has_curve(const struct comparison *c, const char *name) {
    for (size_t g = 0; g < c->n_groups; g++)
        for (size_t i = 0; i < typical(c, g)->n_curves; i++)
            if (typical(c, g)->curves[i].n > 1 && strcmp(typical(c, g)->curves[i].name, name) == 0)
                return true;
    return false;
}

/* Whether any typical run before (group, at) has a curve of that name. */
static bool name_seen(const struct comparison *c, size_t group, size_t at) {
    const char *name = typical(c, group)->curves[at].name;
    for (size_t g = 0; g <= group; g++)
        for (size_t i = 0; i < (g == group ? at : typical(c, g)->n_curves); i++)
            if (strcmp(typical(c, g)->curves[i].name, name) == 0)
                return true;
    return false;
}

static void put_curve_pair(FILE *out, const struct report *const *runs, size_t n,
                           const char *name) {
    char caption[192];
    char *svg = plot_curve(runs, NULL, n, name, PLOT_ITERATION);
    snprintf(caption, sizeof caption, "%s against iteration", name);
    html_picture(out, svg, caption);
    svg = plot_curve(runs, NULL, n, name, PLOT_TIME);
    snprintf(caption, sizeof caption, "%s against time", name);
    html_picture(out, svg, caption);
}

/* What a program wants to reach is shown, what else it counted on demand. */
static void put_other_curves(FILE *out, const struct comparison *c,
                             const struct report *const *runs) {
    fputs("<details><summary>What else the programs counted</summary>\n", out);
    for (size_t g = 0; g < c->n_groups; g++)
        for (size_t i = 0; i < runs[g]->n_curves; i++)
            if (!is_first(runs[g]->curves[i].name) && has_curve(c, runs[g]->curves[i].name) &&
                !name_seen(c, g, i))
                put_curve_pair(out, runs, c->n_groups, runs[g]->curves[i].name);
    fputs("</details>\n", out);
}

static void put_curves(FILE *out, const struct comparison *c) {
    const struct report **runs = calloc(c->n_groups + 1, sizeof *runs);
    size_t n_curves = 0;
    for (size_t g = 0; runs && g < c->n_groups; g++) {
        runs[g] = typical(c, g);
        n_curves += runs[g]->n_curves;
    }
    if (n_curves) {
        fputs("<h2>What the programs said of themselves</h2><section>\n", out);
        for (size_t i = 0; i < ARRAY_SIZE(first_curves); i++)
            if (has_curve(c, first_curves[i]))
                put_curve_pair(out, runs, c->n_groups, first_curves[i]);
        put_other_curves(out, c, runs);
        fputs("</section>\n", out);
    }
    free(runs);
}

int html_write_comparison(const struct comparison *c, FILE *out) {
    html_begin(out, "Comparison of runs");
    html_element(out, "h1", NULL, "Comparison of runs");
    if (c->headline)
        html_element(out, "p", "verdict", c->headline);
    html_list(out, "Mind", c->notes, c->n_notes);
    put_groups(out, c);
    html_put_compared_parts(out, c);
    html_put_compared_runs(out, c);
    html_put_compared_hosts(out, c);
    put_judgements(out, c);
    put_curves(out, c);
    for (size_t g = 0; g < c->n_groups; g++) {
        fprintf(out, "<section><details><summary>All of run %lld, ",
                (long long)typical(c, g)->run_id);
        html_put(out, typical(c, g)->run_name);
        fputs("</summary>\n", out);
        html_put_head(out, typical(c, g));
        html_put_details(out, typical(c, g));
        fputs("</details></section>\n", out);
    }
    html_end(out);
    return ferror(out) ? -EIO : 0;
}
