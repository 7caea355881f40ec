/* SPDX-License-Identifier: MIT */
/* Runs side by side as the reference tables have it: a column a run, its hosts as "vm1 / vm2". */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/layout.h"
#include "reports/md.h"

static void put_run_header(FILE *out, const struct comparison *c) {
    size_t columns = 1;
    fputs("| ", out);
    for (size_t run = 0; run < c->n; run++, columns++) {
        fputs("| ", out);
        md_put(out, c->runs[run]->run_name);
        fprintf(out, " (%lld)%s ", (long long)c->runs[run]->run_id,
                run == c->baseline ? ", baseline" : "");
    }
    for (size_t run = 0; run < c->n; run++)
        if (run != c->baseline) {
            fprintf(out, "| difference of %lld | established ", (long long)c->runs[run]->run_id);
            columns += 2;
        }
    md_header_end(out, columns);
}

static void put_values(FILE *out, const struct comparison_row *rows, size_t n_hosts, size_t run,
                       bool difference) {
    char number[LAYOUT_NUMBER_SIZE];
    fputs("| ", out);
    for (size_t h = 0; h < n_hosts; h++) {
        double value = difference ? rows[h].difference[run] : rows[h].value[run];
        fprintf(out, "%s%s%s", h ? " / " : "", difference && value > 0 ? "+" : "",
                layout_number(number, value));
    }
    fputc(' ', out);
}

/* One host: why, if so. Several: for how many. */
static void put_judgement(FILE *out, const struct comparison_row *rows, size_t n_hosts,
                          size_t run) {
    size_t established = 0;
    for (size_t h = 0; h < n_hosts; h++)
        established +=
            rows[h].judgement[run] && strncmp(rows[h].judgement[run], "established", 11) == 0;
    if (!rows[0].judgement[run])
        fputs("| repeat ", out);
    else if (n_hosts == 1 && established)
        md_cell(out, rows[0].judgement[run]);
    else if (established)
        fprintf(out, "| on %zu of %zu hosts ", established, n_hosts);
    else
        fputs("| no ", out);
}

/* One line of a table: the same quantity on n_hosts hosts. */
static void put_line(FILE *out, const struct comparison *c, const char *label,
                     const struct comparison_row *rows, size_t n_hosts) {
    md_cell(out, label);
    for (size_t run = 0; run < c->n; run++)
        put_values(out, rows, n_hosts, run, false);
    for (size_t run = 0; run < c->n; run++) {
        if (run == c->baseline)
            continue;
        put_values(out, rows, n_hosts, run, true);
        put_judgement(out, rows, n_hosts, run);
    }
    fputs("|\n", out);
}

/* Why nothing is established, where that is the same for all. */
static void put_reason(FILE *out, const struct comparison *c) {
    for (size_t run = 0; c->n_summary && run < c->n; run++)
        if (c->summary[0].judgement[run]) {
            fputs("\nRun ", out);
            fprintf(out, "%lld, duration: ", (long long)c->runs[run]->run_id);
            md_put(out, c->summary[0].judgement[run]);
            fputs(".\n", out);
        }
}

static void put_resources(FILE *out, const struct comparison *c) {
    const struct report *base = c->runs[c->baseline];
    if (!base->n_hosts)
        return;
    fputs("\n## Averages per host (", out);
    for (size_t h = 0; h < base->n_hosts; h++) {
        fputs(h ? " / " : "", out);
        md_put(out, base->hosts[h].name);
    }
    fputs(")\n\n", out);
    put_run_header(out, c);
    for (size_t m = 0; m < layout_averages_size; m++)
        put_line(out, c, layout_averages[m].label, &c->resources[m * base->n_hosts], base->n_hosts);
}

int md_write_comparison(const struct comparison *c, FILE *out) {
    char label[128];
    fputs("# Comparison of runs\n", out);
    for (size_t run = 0; run < c->n; run++) {
        fprintf(out, "\n## Run %lld ", (long long)c->runs[run]->run_id);
        md_put(out, c->runs[run]->run_name);
        fputs("\n\n", out);
        md_put_head(out, c->runs[run]);
        fputc('\n', out);
        md_put(out, c->runs[run]->verdict.summary);
        fputc('\n', out);
    }
    fputs("\n## The runs as a whole\n\n", out);
    put_run_header(out, c);
    for (size_t i = 0; i < c->n_summary; i++) {
        snprintf(label, sizeof label, c->summary[i].unit[0] ? "%.80s (%s)" : "%.80s%s",
                 c->summary[i].label, c->summary[i].unit);
        put_line(out, c, label, &c->summary[i], 1);
    }
    put_reason(out, c);
    put_resources(out, c);
    md_list(out, "Mind", c->notes, c->n_notes);
    return ferror(out) ? -EIO : 0;
}
