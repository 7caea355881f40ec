/* SPDX-License-Identifier: MIT */
/*
 * Whether differences are real. A difference can be established only with several runs of both
 * groups; each group other than the baseline is one family of tests in a section.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/stats.h"
#include "reports/comparison/comparison_private.h"

static size_t gather(const struct comparison *c, const struct comparison_row *row, size_t group,
                     double *values) {
    size_t n = 0;
    for (size_t i = 0; i < c->groups[group].n; i++) {
        size_t run = c->groups[group].runs[i];
        if (comparison_counts(c, run) && !isnan(row->value[run]))
            values[n++] = row->value[run];
    }
    return n;
}

static void summarize(const struct comparison *c, struct comparison_row *row, double *values) {
    for (size_t g = 0; g < c->n_groups; g++) {
        struct comparison_cell *cell = &row->groups[g];
        *cell = (struct comparison_cell){.n = gather(c, row, g, values), .p_holm = NAN};
        cell->mean = stats_mean(values, cell->n);
        cell->median = stats_median(values, cell->n);
        cell->shown = row->section == COMPARISON_HOSTS ? cell->mean : cell->median;
    }
    for (size_t g = 0; g < c->n_groups; g++)
        row->groups[g].difference =
            g == c->baseline_group ? NAN
                                   : row->groups[g].shown - row->groups[c->baseline_group].shown;
}

static bool same_runs(const struct comparison *c, size_t group) {
    const struct comparison_group *a = &c->groups[c->baseline_group], *b = &c->groups[group];
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (c->runs[a->runs[i]]->run_id != c->runs[b->runs[i]]->run_id)
            return false;
    return true;
}

static const char *finding_words(const struct comparison_row *row, enum compare_finding finding) {
    bool time = row->section == COMPARISON_TIME;
    switch (finding) {
    case COMPARE_LOWER:
        return time ? "established: faster" : "established: lower";
    case COMPARE_HIGHER:
        return time ? "established: slower" : "established: higher";
    case COMPARE_SAME:
        return "no difference: within 2 %";
    default:
        return "not established";
    }
}

static char *too_few(size_t na, size_t nb) {
    return na == 1 && nb == 1
               ? text_format("not established: 1 run each; %d of each are needed", COMPARE_RUNS_MIN)
               : text_format("not established: %zu and %zu runs; %d of each are needed", na, nb,
                             COMPARE_RUNS_MIN);
}

static char *tested(const struct comparison_row *row, const struct comparison_cell *cell,
                    size_t na) {
    const struct compared *x = &cell->test;
    char interval[160], how[48] = "";
    if (!isnan(x->ratio))
        snprintf(interval, sizeof interval, "ratio of medians %.3f (95 %%: %.3f to %.3f)", x->ratio,
                 x->ratio_low, x->ratio_high);
    else
        snprintf(interval, sizeof interval, "difference of medians %.4g (95 %%: %.4g to %.4g)",
                 x->median_b - x->median_a, x->difference_low, x->difference_high);
    if (!x->exact)
        snprintf(how, sizeof how, ", from drawn divisions");
    return text_format("%s: %s, p = %.3f after Holm%s, %zu and %zu runs",
                       finding_words(row, cell->finding), interval, cell->p_holm, how, na, cell->n);
}

static char *words_of(const struct comparison *c, const struct comparison_row *row, size_t group) {
    const struct comparison_cell *cell = &row->groups[group],
                                 *base = &row->groups[c->baseline_group];
    if (row->of_ceiling)
        return strdup("not tested: a share of the row above");
    if (row->not_alike)
        return text_format("not compared: %s", row->not_alike);
    if (same_runs(c, group))
        return strdup("no difference: the same runs");
    if (!cell->n || !base->n)
        return cell->n || base->n
                   ? text_format("not compared: not known of %s",
                                 c->groups[cell->n ? c->baseline_group : group].label)
                   : strdup("nothing to compare");
    if (base->n + cell->n > COMPARE_RUNS_MAX)
        return text_format("not established: at most %d runs can be tested", COMPARE_RUNS_MAX);
    return isnan(cell->test.p) ? too_few(base->n, cell->n) : tested(row, cell, base->n);
}

static bool is_tested(const struct comparison *c, const struct comparison_row *row, size_t group) {
    return !row->of_ceiling && !row->not_alike && !same_runs(c, group) && row->groups[group].n &&
           row->groups[c->baseline_group].n;
}

/* One family of tests: the rows of a section. */
static int judge_family(const struct comparison *c, struct comparison_row *rows, size_t n,
                        size_t group, double *values) {
    double *p = calloc(2 * n + 2, sizeof *p), *adjusted = p + n;
    int result = p ? 0 : -ENOMEM;
    for (size_t i = 0; result == 0 && i < n; i++) {
        struct comparison_cell *cell = &rows[i].groups[group];
        size_t na = gather(c, &rows[i], c->baseline_group, values);
        size_t nb = gather(c, &rows[i], group, values + na);
        cell->test = compare_groups(values, na, values + na, nb);
        if (!is_tested(c, &rows[i], group))
            cell->test.p = NAN;
        p[i] = cell->test.p;
    }
    if (result == 0)
        result = compare_holm(p, n, adjusted);
    for (size_t i = 0; result == 0 && i < n; i++) {
        struct comparison_cell *cell = &rows[i].groups[group];
        cell->p_holm = adjusted[i];
        cell->finding = same_runs(c, group) ? COMPARE_SAME : compare_find(&cell->test, adjusted[i]);
        cell->words = words_of(c, &rows[i], group);
        result = cell->words ? 0 : -ENOMEM;
    }
    free(p);
    return result;
}

static int judge_list(const struct comparison *c, struct comparison_row *rows, size_t n,
                      double *values) {
    int result = 0;
    for (size_t i = 0; i < n; i++)
        summarize(c, &rows[i], values);
    for (size_t begin = 0, end; result == 0 && begin < n; begin = end) {
        for (end = begin + 1; end < n && rows[end].section == rows[begin].section; end++)
            ;
        for (size_t g = 0; result == 0 && g < c->n_groups; g++)
            if (g != c->baseline_group)
                result = judge_family(c, rows + begin, end - begin, g, values);
    }
    for (size_t i = 0; result == 0 && i < n; i++)
        for (size_t run = 0; result == 0 && run < c->n; run++) {
            const char *words = rows[i].groups[c->group_of[run]].words;
            if (words && !(rows[i].judgement[run] = strdup(words)))
                result = -ENOMEM;
        }
    return result;
}

int comparison_judge(struct comparison *c) {
    double *values = calloc(2 * c->n + 2, sizeof *values);
    int result = values ? judge_list(c, c->summary, c->n_summary, values) : -ENOMEM;
    if (result == 0)
        result = judge_list(c, c->resources, c->n_resources, values);
    free(values);
    return result;
}
