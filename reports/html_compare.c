/* SPDX-License-Identifier: MIT */
/* The HTML page of a comparison: what differs in a sentence, where it lies, the tables, curves over
 * each other, then the typical run of each group whole. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "reports/ceilings.h"
#include "reports/html.h"
#include "reports/html_page.h"
#include "reports/layout.h"
#include "reports/plot.h"

#define PARTS_SHOWN 12
#define COLUMNS_MAX 6 /* that fit the page */

static const struct report *typical(const struct comparison *c, size_t group) {
    return c->runs[c->groups[group].typical];
}

static bool is_established(const struct comparison_cell *cell) {
    return cell->finding == COMPARE_LOWER || cell->finding == COMPARE_HIGHER;
}

static void put_label(FILE *out, const struct comparison *c, size_t group, const char *tag) {
    const struct comparison_group *g = &c->groups[group];
    fprintf(out, "<%s class=\"t\">", tag);
    html_put(out, g->label);
    if (g->n > 1)
        fprintf(out, " <span class=\"muted small\">%zu runs</span>",
                g->counted ? g->counted : g->n);
    if (group == c->baseline_group)
        fputs(" <span class=\"muted small\">baseline</span>", out);
    fprintf(out, "</%s>", tag);
}

/* The words are the cell's title: they show where the pointer rests. */
static void put_difference(FILE *out, const struct comparison_cell *cell) {
    char number[LAYOUT_NUMBER_SIZE];
    if (isnan(cell->difference)) {
        fputs("<td class=\"muted\">-</td>", out);
        return;
    }
    fputs(is_established(cell) ? "<td title=\"" : "<td class=\"muted\" title=\"", out);
    html_put(out, cell->words ? cell->words : "");
    fprintf(out, "\">%s%s%s%s</td>", is_established(cell) ? "<b>" : "",
            cell->difference > 0 ? "+" : "", layout_number(number, cell->difference),
            is_established(cell) ? " *</b>" : "");
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

/* ---- where the run time went ---- */

static void put_part(FILE *out, const struct comparison *c, const char *label,
                     const double *seconds) {
    fputs("<tr>", out);
    html_element(out, "td", "t", label);
    for (size_t g = 0; g < c->n_groups; g++)
        fprintf(out, "<td>%.2f</td>", seconds[g]);
    for (size_t g = 0; g < c->n_groups; g++) {
        double growth = seconds[g] - seconds[c->baseline_group];
        if (g != c->baseline_group)
            fprintf(out, fabs(growth) < 0.005 ? "<td class=\"muted\">0.00</td>" : "<td>%+.2f</td>",
                    growth);
    }
    fputs("</tr>\n", out);
}

static void put_part_rows(FILE *out, const struct comparison *c, double *sums, double *rest) {
    for (size_t i = 0; i < c->n_parts; i++)
        for (size_t g = 0; g < c->n_groups; g++) {
            sums[g] += c->parts[i].seconds[g];
            rest[g] += i >= PARTS_SHOWN ? c->parts[i].seconds[g] : 0;
        }
    for (size_t i = 0; i < c->n_parts && i < PARTS_SHOWN; i++)
        put_part(out, c, c->parts[i].label, c->parts[i].seconds);
    if (c->n_parts > PARTS_SHOWN)
        put_part(out, c, "all else", rest);
    put_part(out, c, "run time", sums);
}

static void put_parts(FILE *out, const struct comparison *c) {
    double *sums = calloc(2 * c->n_groups + 1, sizeof *sums);
    if (c->n_parts && sums) {
        fprintf(out,
                "<h2>Where the run time went</h2><section><p class=\"muted small\">Seconds, means "
                "of the runs, by their %s.</p><table><tr><th></th>",
                c->parts_source);
        for (size_t g = 0; g < c->n_groups; g++)
            html_element(out, "th", NULL, c->groups[g].label);
        for (size_t g = 0; g < c->n_groups; g++)
            if (g != c->baseline_group) {
                fputs("<th>difference of ", out);
                html_put(out, c->groups[g].label);
                fputs("</th>", out);
            }
        fputs("</tr>\n", out);
        put_part_rows(out, c, sums, sums + c->n_groups);
        fputs("</table></section>\n", out);
    }
    free(sums);
}

/* ---- the runs as a whole: a line a group, a section a table ---- */

static void put_section_rows(FILE *out, const struct comparison *c, size_t begin, size_t end) {
    char number[LAYOUT_NUMBER_SIZE];
    for (size_t g = 0; g < c->n_groups; g++) {
        fputs("<tr>", out);
        put_label(out, c, g, "td");
        for (size_t s = begin; s < end; s++)
            fprintf(out, "<td>%s</td>", layout_number(number, c->summary[s].groups[g].shown));
        fputs("</tr>\n", out);
    }
    for (size_t g = 0; g < c->n_groups; g++) {
        if (g == c->baseline_group)
            continue;
        fputs("<tr><td class=\"t muted\">difference of ", out);
        html_put(out, c->groups[g].label);
        fputs("</td>", out);
        for (size_t s = begin; s < end; s++)
            put_difference(out, &c->summary[s].groups[g]);
        fputs("</tr>\n", out);
    }
}

/* Many quantities: a line each, a column a group. */
static void put_tall_section(FILE *out, const struct comparison *c, size_t begin, size_t end) {
    char number[LAYOUT_NUMBER_SIZE];
    fputs("<table><tr><th></th>", out);
    for (size_t g = 0; g < c->n_groups; g++) {
        html_element(out, "th", NULL, c->groups[g].label);
        if (g != c->baseline_group)
            fputs("<th>difference</th>", out);
    }
    fputs("</tr>\n", out);
    for (size_t s = begin; s < end; s++) {
        fputs("<tr>", out);
        html_element(out, "td", "t", c->summary[s].label);
        for (size_t g = 0; g < c->n_groups; g++) {
            fprintf(out, "<td>%s</td>", layout_number(number, c->summary[s].groups[g].shown));
            if (g != c->baseline_group)
                put_difference(out, &c->summary[s].groups[g]);
        }
        fputs("</tr>\n", out);
    }
    fputs("</table>\n", out);
}

static void put_wide_section(FILE *out, const struct comparison *c, size_t begin, size_t end) {
    fputs("<table><tr><th></th>", out);
    for (size_t s = begin; s < end; s++) {
        fputs("<th>", out);
        html_put(out, c->summary[s].label);
        if (c->summary[s].unit[0])
            fprintf(out, " (%s)", c->summary[s].unit);
        fputs("</th>", out);
    }
    fputs("</tr>\n", out);
    put_section_rows(out, c, begin, end);
    fputs("</table>\n", out);
}

static void put_section(FILE *out, const struct comparison *c, size_t begin, size_t end) {
    const char *title = comparison_section_title(c->summary[begin].section);
    fprintf(out, "<h3>%c%s</h3>\n", title[0] - 'a' + 'A', title + 1);
    (end - begin > COLUMNS_MAX ? put_tall_section : put_wide_section)(out, c, begin, end);
    for (size_t s = begin; s < end; s++)
        if (c->summary[s].not_alike && (s == begin || !c->summary[s - 1].not_alike)) {
            fputs("<p class=\"muted small\">Times per iteration are not compared: ", out);
            html_put(out, c->summary[s].not_alike);
            fputs(".</p>\n", out);
        }
}

static void put_summary(FILE *out, const struct comparison *c) {
    fputs("<h2>The runs as a whole</h2><section>\n", out);
    if (c->n > c->n_groups)
        fputs("<p class=\"muted small\">Medians of the repeats; sums over hosts; CPU 100 % is one "
              "core. <b>*</b> marks what is established.</p>\n",
              out);
    for (size_t begin = 0, end; begin < c->n_summary; begin = end) {
        for (end = begin + 1;
             end < c->n_summary && c->summary[end].section == c->summary[begin].section; end++)
            ;
        put_section(out, c, begin, end);
    }
    fputs("</section>\n", out);
}

/* ---- T2: under each of T1's rows a line a host ---- */

static void put_resource(FILE *out, const struct comparison *c, const struct comparison_row *row) {
    char number[LAYOUT_NUMBER_SIZE];
    fputs("<tr>", out);
    html_element(out, "td", "t", layout_host(c->runs[c->baseline], row->host));
    for (size_t g = 0; g < c->n_groups; g++) {
        fprintf(out, "<td>%s</td>", layout_number(number, row->groups[g].shown));
        if (g != c->baseline_group)
            put_difference(out, &row->groups[g]);
    }
    fputs("</tr>\n", out);
}

static void put_resources(FILE *out, const struct comparison *c) {
    if (!c->n_resources)
        return;
    fprintf(out, "<h2>Averages per host</h2><section>%s<table><tr><th></th>",
            c->n > c->n_groups ? "<p class=\"muted small\">Means of the repeats.</p>" : "");
    for (size_t g = 0; g < c->n_groups; g++) {
        html_element(out, "th", NULL, c->groups[g].label);
        if (g != c->baseline_group)
            fputs("<th>difference</th>", out);
    }
    fputs("</tr>\n", out);
    for (size_t i = 0; i < c->n_resources; i++) {
        if (i % c->n_hosts == 0)
            fprintf(out, "<tr class=\"group\"><td colspan=\"%zu\">%s</td></tr>\n", 2 * c->n_groups,
                    c->metrics[i / c->n_hosts].label);
        put_resource(out, c, &c->resources[i]);
    }
    fputs("</table></section>\n", out);
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
    char *svg = plot_curve(runs, n, name, false);
    snprintf(caption, sizeof caption, "%s against iteration", name);
    html_picture(out, svg, caption);
    svg = plot_curve(runs, n, name, true);
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
    put_parts(out, c);
    put_summary(out, c);
    put_resources(out, c);
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
