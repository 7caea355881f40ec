/* SPDX-License-Identifier: MIT */
/* The tables of a comparison's page: where the run time went, the runs as a whole, the hosts. */
#include "reports/html/html_compare.h"

#include <math.h>
#include <stdlib.h>

#include "reports/html/html_page.h"
#include "reports/model/layout.h"

#define PARTS_SHOWN 12
#define COLUMNS_MAX 6 /* that fit the page */

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

void html_put_compared_parts(FILE *out, const struct comparison *c) {
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

void html_put_compared_runs(FILE *out, const struct comparison *c) {
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

void html_put_compared_hosts(FILE *out, const struct comparison *c) {
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
