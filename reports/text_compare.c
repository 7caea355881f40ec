/* SPDX-License-Identifier: MIT */
/* Runs side by side (T2, T3, T5): under each quantity a line a run, a column a host, and what each
 * run differs by from the baseline. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "reports/layout.h"
#include "reports/terminal.h"
#include "reports/text.h"

static const char *run_label(const struct comparison *c, size_t run, char *text, size_t size) {
    snprintf(text, size, "%.40s (%lld)%s", c->runs[run]->run_name, (long long)c->runs[run]->run_id,
             run == c->baseline ? " baseline" : "");
    return text;
}

static const char *signed_number(char *text, size_t size, double value) {
    char number[LAYOUT_NUMBER_SIZE];
    snprintf(text, size, "%s%s", value > 0 ? "+" : "", layout_number(number, value));
    return text;
}

/* One line a run, one column a quantity; then lines of differences. */
static void put_summary(FILE *out, const struct comparison *c) {
    struct text_table table;
    char text[128];
    text_table_init(&table, 2 * c->n, c->n_summary + 1);
    for (size_t s = 0; s < c->n_summary; s++) {
        const struct comparison_row *row = &c->summary[s];
        text_table_set(&table, 0, s + 1, row->unit[0] ? "%s (%s)" : "%s", row->label, row->unit);
        for (size_t run = 0, line = c->n + 1; run < c->n; run++) {
            text_table_number(&table, run + 1, s + 1, row->value[run]);
            if (run != c->baseline)
                text_table_set(&table, line++, s + 1, "%s",
                               signed_number(text, sizeof text, row->difference[run]));
        }
    }
    for (size_t run = 0, line = c->n + 1; run < c->n; run++) {
        text_table_set(&table, run + 1, 0, "%s", run_label(c, run, text, sizeof text));
        if (run != c->baseline)
            text_table_set(&table, line++, 0, "difference of %.30s", c->runs[run]->run_name);
    }
    fputs("\nThe runs as a whole (CPU 100 % is one core; sums over hosts)\n", out);
    text_table_print(&table, out, 2);
    text_table_release(&table);
}

/* Rows of one metric are its hosts, one after the other. */
static size_t rows_of_metric(const struct comparison *c, size_t first) {
    size_t n = 1;
    while (first + n < c->n_resources &&
           c->resources[first + n].host > c->resources[first].host + (int)n - 1)
        n++;
    return n;
}

static void put_metric(struct text_table *table, size_t row, const struct comparison *c,
                       size_t first, size_t n_hosts, const char *label) {
    char text[128];
    text_table_set(table, row, 0, "%s", label);
    for (size_t run = 0, line = row + c->n + 1; run < c->n; run++) {
        text_table_set(table, row + 1 + run, 0, "  %s", run_label(c, run, text, sizeof text));
        if (run != c->baseline)
            text_table_set(table, line, 0, "  difference of %.30s", c->runs[run]->run_name);
        for (size_t h = 0; h < n_hosts; h++) {
            const struct comparison_row *r = &c->resources[first + h];
            text_table_number(table, row + 1 + run, h + 1, r->value[run]);
            if (run != c->baseline)
                text_table_set(table, line, h + 1, "%s",
                               signed_number(text, sizeof text, r->difference[run]));
        }
        line += run != c->baseline;
    }
}

static void put_resources(FILE *out, const struct comparison *c) {
    if (!c->n_resources)
        return;
    size_t n_hosts = rows_of_metric(c, 0), metrics = c->n_resources / n_hosts;
    struct text_table table;
    text_table_init(&table, 1 + metrics * 2 * c->n, n_hosts + 1);
    for (size_t h = 0; h < n_hosts; h++)
        text_table_set(&table, 0, h + 1, "%s",
                       layout_host(c->runs[c->baseline], c->resources[h].host));
    for (size_t m = 0; m < metrics; m++)
        put_metric(&table, 1 + m * 2 * c->n, c, m * n_hosts, n_hosts, layout_averages[m].label);
    fputs("\nAverages per host, whole run\n", out);
    text_table_print(&table, out, 2);
    text_table_release(&table);
}

/* A walk over all judgements of all rows, but where there is no difference to judge. */
struct judgements {
    const struct comparison *comparison;
    size_t list, row, run;
};

static const struct comparison_row *next_judgement(struct judgements *j, const char **ret_text) {
    const struct comparison *c = j->comparison;
    const struct comparison_row *const lists[] = {c->summary, c->resources};
    const size_t sizes[] = {c->n_summary, c->n_resources};
    for (; j->list < 2; j->list++, j->row = 0)
        for (; j->row < sizes[j->list]; j->row++, j->run = 0)
            while (j->run < c->n) {
                const struct comparison_row *row = &lists[j->list][j->row];
                size_t run = j->run++;
                *ret_text = row->judgement[run];
                if (*ret_text && !isnan(row->difference[run]))
                    return row;
            }
    return NULL;
}

/* What is established is said one by one, what is not by its reason and how often. */
static void put_judgements(FILE *out, const struct comparison *c) {
    size_t established = 0, single = 0, tested = 0;
    const char *text, *reason = NULL;
    const struct comparison_row *row;
    fputs("\nWhether the differences are real\n", out);
    for (struct judgements j = {c, 0, 0, 0}; (row = next_judgement(&j, &text));) {
        char label[160];
        if (strncmp(text, "established", 11) == 0) {
            snprintf(label, sizeof label, "  %.60s, run %lld: ", row->label,
                     (long long)c->runs[j.run - 1]->run_id);
            terminal_paragraph(out, label, text, 0);
            established++;
        } else if (strstr(text, "ratio of medians")) {
            tested++;
        } else if (strncmp(text, "not established", 15) == 0) {
            reason = text;
            single++;
        }
    }
    if (single)
        terminal_paragraph(out, established + tested ? "  others: " : "  ", reason, 0);
    if (tested)
        fprintf(out, "  %zu difference%s tested and not established (--format json has each)\n",
                tested, tested == 1 ? "" : "s");
    if (!established && !tested && !single)
        fputs("  nothing to compare\n", out);
}

int text_write_comparison(const struct comparison *c, FILE *out) {
    fprintf(out, "Comparison of %zu runs\n", c->n);
    for (size_t run = 0; run < c->n; run++) {
        fputc('\n', out);
        text_put_head(out, c->runs[run]);
        terminal_paragraph(out, "  ", c->runs[run]->verdict.summary, 0);
    }
    put_summary(out, c);
    put_resources(out, c);
    put_judgements(out, c);
    if (c->n_notes)
        fputs("\nMind\n", out);
    text_put_list(out, "  - ", c->notes, c->n_notes);
    return ferror(out) ? -EIO : 0;
}
