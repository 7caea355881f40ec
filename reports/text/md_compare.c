/* SPDX-License-Identifier: MIT */
/* Groups of runs side by side, for a page that shows Markdown: T2's cells hold all hosts. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/layout.h"
#include "reports/text/md.h"

#define PARTS_SHOWN 8

static void put_group_header(FILE *out, const struct comparison *c) {
    size_t columns = 1;
    fputs("| ", out);
    for (size_t g = 0; g < c->n_groups; g++, columns++) {
        const struct comparison_group *group = &c->groups[g];
        fputs("| ", out);
        md_put(out, group->label);
        if (group->n == 1)
            fprintf(out, " (run %lld)", (long long)c->runs[group->runs[0]]->run_id);
        else
            fprintf(out, " (%zu runs)", group->counted ? group->counted : group->n);
        fputs(g == c->baseline_group ? ", baseline " : " ", out);
    }
    for (size_t g = 0; g < c->n_groups; g++)
        if (g != c->baseline_group) {
            fputs("| difference of ", out);
            md_put(out, c->groups[g].label);
            fputs(" | established ", out);
            columns += 2;
        }
    md_header_end(out, columns);
}

static void put_values(FILE *out, const struct comparison_row *rows, size_t n_hosts, size_t group,
                       bool difference) {
    char number[LAYOUT_NUMBER_SIZE];
    fputs("| ", out);
    for (size_t h = 0; h < n_hosts; h++) {
        const struct comparison_cell *cell = &rows[h].groups[group];
        double value = difference ? cell->difference : cell->shown;
        fprintf(out, "%s%s%s", h ? " / " : "", difference && value > 0 ? "+" : "",
                layout_number(number, value));
    }
    fputc(' ', out);
}

/* One host: in words. Several: for how many. */
static void put_judgement(FILE *out, const struct comparison_row *rows, size_t n_hosts,
                          size_t group) {
    size_t established = 0;
    for (size_t h = 0; h < n_hosts; h++)
        established += rows[h].groups[group].finding == COMPARE_LOWER ||
                       rows[h].groups[group].finding == COMPARE_HIGHER;
    if (n_hosts == 1 && !isnan(rows[0].groups[group].test.p))
        md_cell(out, rows[0].groups[group].words);
    else if (n_hosts == 1 && rows[0].not_alike)
        fputs("| not compared ", out);
    else if (established)
        fprintf(out, "| on %zu of %zu hosts ", established, n_hosts);
    else
        fputs("| no ", out);
}

/* One line of a table: the same quantity on n_hosts hosts. */
static void put_line(FILE *out, const struct comparison *c, const char *label,
                     const struct comparison_row *rows, size_t n_hosts) {
    md_cell(out, label);
    for (size_t g = 0; g < c->n_groups; g++)
        put_values(out, rows, n_hosts, g, false);
    for (size_t g = 0; g < c->n_groups; g++) {
        if (g == c->baseline_group)
            continue;
        put_values(out, rows, n_hosts, g, true);
        put_judgement(out, rows, n_hosts, g);
    }
    fputs("|\n", out);
}

/* Why nothing is established of the duration, or what is. */
static void put_reasons(FILE *out, const struct comparison *c) {
    for (size_t g = 0; c->n_summary && g < c->n_groups; g++)
        if (c->summary[0].groups[g].words) {
            fputc('\n', out);
            md_put(out, c->groups[g].label);
            fputs(", duration: ", out);
            md_put(out, c->summary[0].groups[g].words);
            fputs(".\n", out);
        }
}

static void put_summary(FILE *out, const struct comparison *c) {
    char label[128];
    fputs("\n## The runs as a whole\n\n", out);
    put_group_header(out, c);
    for (size_t i = 0; i < c->n_summary; i++) {
        snprintf(label, sizeof label, c->summary[i].unit[0] ? "%.80s (%s)" : "%.80s%s",
                 c->summary[i].label, c->summary[i].unit);
        put_line(out, c, label, &c->summary[i], 1);
    }
    put_reasons(out, c);
}

static void put_resources(FILE *out, const struct comparison *c) {
    if (!c->n_hosts)
        return;
    fputs("\n## Averages per host (", out);
    for (size_t h = 0; h < c->n_hosts; h++) {
        fputs(h ? " / " : "", out);
        md_put(out, layout_host(c->runs[c->baseline], c->hosts[h]));
    }
    fputs(")\n\n", out);
    put_group_header(out, c);
    for (size_t m = 0; m < c->n_metrics; m++)
        put_line(out, c, c->metrics[m].label, &c->resources[m * c->n_hosts], c->n_hosts);
}

static void put_parts(FILE *out, const struct comparison *c) {
    if (!c->n_parts)
        return;
    fprintf(out, "\n## Where the run time went (s, means of the runs; %s)\n\n| ", c->parts_source);
    for (size_t g = 0; g < c->n_groups; g++)
        md_cell(out, c->groups[g].label);
    md_header_end(out, 1 + c->n_groups);
    for (size_t i = 0; i < c->n_parts && i < PARTS_SHOWN; i++) {
        md_cell(out, c->parts[i].label);
        for (size_t g = 0; g < c->n_groups; g++)
            md_number(out, c->parts[i].seconds[g]);
        fputs("|\n", out);
    }
}

static void put_group(FILE *out, const struct comparison *c, size_t g) {
    const struct comparison_group *group = &c->groups[g];
    const struct report *report = c->runs[group->typical];
    if (group->n == 1) {
        fprintf(out, "\n## Run %lld ", (long long)report->run_id);
        md_put(out, report->run_name);
        fputs("\n\n", out);
        md_put_head(out, report);
    } else {
        fputs("\n## ", out);
        md_put(out, group->label);
        fprintf(out, ": %zu runs\n\nThe run of median length is %lld:\n\n", group->n,
                (long long)report->run_id);
        md_put_head(out, report);
    }
    fputc('\n', out);
    md_put(out, report->verdict.summary);
    fputc('\n', out);
}

int md_write_comparison(const struct comparison *c, FILE *out) {
    fputs("# Comparison of runs\n", out);
    if (c->headline) {
        fputc('\n', out);
        md_put(out, c->headline);
        fputs(".\n", out);
    }
    for (size_t g = 0; g < c->n_groups; g++)
        put_group(out, c, g);
    put_parts(out, c);
    put_summary(out, c);
    put_resources(out, c);
    md_list(out, "Mind", c->notes, c->n_notes);
    return ferror(out) ? -EIO : 0;
}
