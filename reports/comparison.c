/* SPDX-License-Identifier: MIT */
/* Rows of a comparison, and what makes it lame. */
#include "reports/comparison_private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/finding.h"
#include "common/error.h"
#include "reports/layout.h"
#include "reports/summary.h"

#define CURVES_MAX 8

static int row_init(struct comparison_row *row, size_t n, char *owned_label, int host,
                    const char *unit) {
    *row = (struct comparison_row){.label = owned_label,
                                   .host = host,
                                   .unit = unit,
                                   .value = calloc(n, sizeof *row->value),
                                   .difference = calloc(n, sizeof *row->difference),
                                   .judgement = calloc(n, sizeof *row->judgement)};
    return row->label && row->value && row->difference && row->judgement ? 0 : -ENOMEM;
}

static void row_finish(struct comparison_row *row, const struct comparison *c) {
    for (size_t i = 0; i < c->n; i++)
        row->difference[i] = i == c->baseline ? NAN : row->value[i] - row->value[c->baseline];
}

/* ---- the run as a whole ---- */

struct quantity {
    const char *label, *unit;
    size_t offset; /* of a double in struct report_summary */
};

#define QUANTITY(label, unit, member)                                                              \
    { label, unit, offsetof(struct report_summary, member) }

static const struct quantity quantities[] = {
    QUANTITY("CPU", "%", job_cpu_pct),
    QUANTITY("network read", "MB/s", net_recv_mb_s),
    QUANTITY("network write", "MB/s", net_send_mb_s),
    QUANTITY("disk read", "MB/s", disk_read_mb_s),
    QUANTITY("disk write", "MB/s", disk_write_mb_s),
    QUANTITY("iteration", "s", iteration_median_s),
    QUANTITY("iterations", "1/s", iterations_per_s),
};

static struct comparison_row *next_row(struct comparison *c) {
    return &c->summary[c->n_summary++];
}

static int add_duration(struct comparison *c) {
    struct comparison_row *row = next_row(c);
    int result = row_init(row, c->n, strdup("duration"), -1, "s");
    for (size_t i = 0; result == 0 && i < c->n; i++)
        row->value[i] = c->runs[i]->duration_s;
    return result;
}

static int add_quantity(struct comparison *c, const struct quantity *quantity) {
    struct comparison_row *row = next_row(c);
    int result = row_init(row, c->n, strdup(quantity->label), -1, quantity->unit);
    for (size_t i = 0; result == 0 && i < c->n; i++) {
        struct report_summary summary = report_summarize(c->runs[i]);
        memcpy(&row->value[i], (const char *)&summary + quantity->offset, sizeof(double));
    }
    return result;
}

static bool has_summary(const struct comparison *c, const char *label) {
    for (size_t i = 0; i < c->n_summary; i++)
        if (strcmp(c->summary[i].label, label) == 0)
            return true;
    return false;
}

/* A value that one rank alone marks speaks of the whole run; one that all mark, of each of them. */
static bool is_of_the_run(const struct report *report, const char *name) {
    size_t ranks = 0;
    for (size_t i = 0; i < report->n_curves; i++)
        ranks += strcmp(report->curves[i].name, name) == 0;
    return ranks == 1;
}

/* What the programs marked (accuracy, updates ...): the last value of each. */
static int add_curves(struct comparison *c) {
    for (size_t run = 0, added = 0; run < c->n; run++)
        for (size_t k = 0; k < c->runs[run]->n_curves && added < CURVES_MAX; k++) {
            if (!is_of_the_run(c->runs[run], c->runs[run]->curves[k].name))
                continue;
            char *label = text_format("last %s", c->runs[run]->curves[k].name);
            if (!label)
                return -ENOMEM;
            if (has_summary(c, label)) {
                free(label);
                continue;
            }
            struct comparison_row *row = next_row(c);
            int result = row_init(row, c->n, label, -1, "");
            if (result < 0)
                return result;
            for (size_t i = 0; i < c->n; i++)
                row->value[i] = report_last_value(c->runs[i], c->runs[run]->curves[k].name);
            added++;
        }
    return 0;
}

static int fill_summary(struct comparison *c) {
    c->summary = calloc(1 + ARRAY_SIZE(quantities) + CURVES_MAX, sizeof *c->summary);
    int result = c->summary ? add_duration(c) : -ENOMEM;
    for (size_t q = 0; result == 0 && q < ARRAY_SIZE(quantities); q++)
        result = add_quantity(c, &quantities[q]);
    if (result == 0)
        result = add_curves(c);
    for (size_t i = 0; result == 0 && i < c->n_summary; i++)
        row_finish(&c->summary[i], c);
    return result;
}

/* ---- hosts ---- */

static double host_mean(const struct report *report, const char *host, enum metric metric) {
    for (size_t h = 0; report->n_resources && h < report->n_hosts; h++)
        if (strcmp(report->hosts[h].name, host) == 0)
            return report->resources[0].values[h * METRIC_COUNT_ + (size_t)metric].mean;
    return NAN;
}

static int fill_resources(struct comparison *c) {
    const struct report *base = c->runs[c->baseline];
    int result = 0;
    c->resources = calloc(layout_averages_size * base->n_hosts + 1, sizeof *c->resources);
    if (!c->resources)
        return -ENOMEM;
    for (size_t m = 0; m < layout_averages_size; m++)
        for (size_t h = 0; result == 0 && h < base->n_hosts; h++) {
            enum metric metric = layout_averages[m].metric;
            struct comparison_row *row = &c->resources[c->n_resources++];
            result =
                row_init(row, c->n, text_format("%s %s", base->hosts[h].name, metric_name(metric)),
                         (int)h, metric_unit(metric));
            for (size_t i = 0; result == 0 && i < c->n; i++)
                row->value[i] = host_mean(c->runs[i], base->hosts[h].name, metric);
            if (result == 0)
                row_finish(row, c);
        }
    return result;
}

/* ---- what makes it lame ---- */

static bool same_hosts(const struct report *a, const struct report *b) {
    if (a->n_hosts != b->n_hosts)
        return false;
    for (size_t h = 0; h < a->n_hosts; h++) {
        size_t k = 0;
        while (k < b->n_hosts && strcmp(a->hosts[h].name, b->hosts[k].name) != 0)
            k++;
        if (k == b->n_hosts)
            return false;
    }
    return true;
}

static int fill_notes(struct comparison *c) {
    struct text_list notes = {0};
    for (size_t i = 0; i < c->n; i++) {
        const struct report *run = c->runs[i];
        if (!same_hosts(run, c->runs[c->baseline]))
            text_list_add(&notes, "run %lld (%s) had other hosts than the baseline",
                          (long long)run->run_id, run->run_name);
        if (strcmp(run->state, "done") != 0)
            text_list_add(&notes, "run %lld (%s) did not end well: %s", (long long)run->run_id,
                          run->run_name, run->state);
        if (run->grade > 'B')
            text_list_add(&notes, "run %lld (%s) has a recording of grade %c: see its report",
                          (long long)run->run_id, run->run_name, run->grade);
    }
    c->notes = notes.items;
    c->n_notes = notes.n;
    return notes.error;
}

static void rows_free(struct comparison_row *rows, size_t n, size_t runs) {
    for (size_t i = 0; i < n; i++) {
        for (size_t run = 0; rows[i].judgement && run < runs; run++)
            free(rows[i].judgement[run]);
        free(rows[i].judgement);
        free(rows[i].label);
        free(rows[i].value);
        free(rows[i].difference);
    }
    free(rows);
}

void comparison_free(struct comparison *c) {
    if (!c)
        return;
    rows_free(c->summary, c->n_summary, c->n);
    rows_free(c->resources, c->n_resources, c->n);
    for (size_t i = 0; i < c->n_notes; i++)
        free(c->notes[i]);
    free(c->notes);
    for (size_t i = 0; c->runs && i < c->n; i++)
        report_free(c->runs[i]);
    free(c->runs);
    free(c);
}

int comparison_build(struct report **runs, size_t n, size_t baseline,
                     struct comparison **ret_comparison) {
    struct comparison *c = calloc(1, sizeof *c);
    struct report **copy = calloc(n + 1, sizeof *copy);
    if (!c || !copy) {
        free(c);
        free(copy);
        return -ENOMEM;
    }
    memcpy(copy, runs, n * sizeof *copy);
    *c = (struct comparison){.runs = copy, .n = n, .baseline = baseline};
    int result = fill_summary(c);
    if (result == 0)
        result = fill_resources(c);
    if (result == 0)
        result = comparison_judge(c);
    if (result == 0)
        result = fill_notes(c);
    if (result < 0) {
        memset(copy, 0, n * sizeof *copy); /* the reports stay the caller's */
        comparison_free(c);
        return result;
    }
    *ret_comparison = c;
    return 0;
}
