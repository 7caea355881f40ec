/* SPDX-License-Identifier: MIT */
/*
 * The difference in run time as a sum of parts: the time that each run's critical path spent on a
 * host and a term, if the MPI calls of all runs are known; else the budget terms of the mean rank.
 * The parts of a run add up to its duration, so those of a group add up to its mean duration
 * (medians do not add up).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/stats.h"
#include "reports/comparison/comparison_private.h"
#include "reports/model/layout.h"
#include "reports/model/summary.h"
#include "reports/says/term_words.h"

static struct comparison_part *part_of(struct comparison *c, int term, char *owned_label) {
    struct comparison_part *grown;
    for (size_t i = 0; owned_label && i < c->n_parts; i++)
        if (strcmp(c->parts[i].label, owned_label) == 0) {
            free(owned_label);
            return &c->parts[i];
        }
    grown = realloc(c->parts, (c->n_parts + 1) * sizeof *grown);
    if (grown)
        c->parts = grown;
    double *seconds = calloc(c->n_groups + 1, sizeof *seconds);
    if (!grown || !seconds || !owned_label) {
        free(seconds);
        free(owned_label);
        return NULL;
    }
    c->parts[c->n_parts] = (struct comparison_part){owned_label, term, seconds};
    return &c->parts[c->n_parts++];
}

static size_t counted(const struct comparison *c, size_t group) {
    return c->groups[group].counted ? c->groups[group].counted : c->groups[group].n;
}

/* Takes over the label. */
static int add_part(struct comparison *c, size_t run, int term, double seconds, char *label) {
    size_t group = c->group_of[run];
    if (label && fabs(seconds) < 1e-6) { /* a rounding error */
        free(label);
        return 0;
    }
    struct comparison_part *part = part_of(c, term, label);
    if (!part)
        return -ENOMEM;
    part->seconds[group] += seconds / (double)counted(c, group);
    return 0;
}

/* ---- along the critical path ---- */

static int add_path(struct comparison *c, size_t run) {
    const struct report *report = c->runs[run];
    double sum = 0;
    int result = 0;
    for (size_t h = 0; h < report->n_hosts; h++)
        for (int term = 0; result == 0 && term < BUDGET_TERMS; term++) {
            double seconds = report->path_s[h * BUDGET_TERMS + (size_t)term];
            if (!(seconds > 0))
                continue;
            sum += seconds;
            result =
                add_part(c, run, term, seconds,
                         text_format("%s: %s", report->hosts[h].name, budget_term_words(term)));
        }
    return result ? result
                  : add_part(c, run, -1, report->duration_s - sum,
                             strdup("before the first rank and after the last"));
}

/* ---- budgets ---- */

static bool is_whole_run(const struct report *report, const struct report_budget *budget) {
    return report->n_resources && strcmp(budget->phase, report->resources[0].phase) == 0;
}

static size_t n_budgets(const struct report *report) {
    size_t n = 0;
    for (size_t i = 0; i < report->n_budget; i++)
        n += is_whole_run(report, &report->budget[i]);
    return n;
}

static double budgets_sum(const struct report *report, int term) {
    double seconds = 0;
    for (size_t i = 0; i < report->n_budget; i++)
        if (is_whole_run(report, &report->budget[i]) && report->budget[i].term_s[term] > 0)
            seconds += report->budget[i].term_s[term];
    return seconds;
}

static bool has_ranks(const struct report *report) {
    for (size_t i = 0; i < report->n_budget; i++)
        if (report->budget[i].rank >= 0)
            return true;
    return false;
}

/* Sleep is nobody's work, nor is waiting for another process of the job, whose own time counts. */
static bool is_work(int term) {
    return term != BUDGET_IDLE && term != BUDGET_PEER_WAIT;
}

static double work_sum(const struct report *report) {
    double seconds = 0;
    for (int term = 0; term < BUDGET_TERMS; term++)
        seconds += is_work(term) ? budgets_sum(report, term) : 0;
    return seconds;
}

/* How many processes there were at a time: one that lived for a part of the longest life counts for
 * that part. */
static double lives(const struct report *report) {
    double sum = 0, longest = 0;
    for (size_t i = 0; i < report->n_budget; i++)
        if (is_whole_run(report, &report->budget[i])) {
            sum += report->budget[i].wall_s;
            longest = fmax(longest, report->budget[i].wall_s);
        }
    return longest > 0 ? sum / longest : 1;
}

/* The mean of ranks, which are alike, and of their helpers. Other processes differ: their work is
 * added up. If several worked at a time, the run time is divided among them. */
static int add_budgets(struct comparison *c, size_t run) {
    const struct report *report = c->runs[run];
    bool ranks = has_ranks(report);
    double n = ranks ? lives(report) : fmax(1, work_sum(report) / report->duration_s);
    double sum = 0;
    int result = 0;
    for (int term = 0; result == 0 && term < BUDGET_TERMS; term++) {
        double seconds = ranks || is_work(term) ? budgets_sum(report, term) / n : 0;
        sum += seconds;
        if (seconds > 0)
            result = add_part(c, run, term, seconds, strdup(budget_term_words(term)));
    }
    return result ? result
                  : add_part(c, run, -1, report->duration_s - sum,
                             strdup(ranks ? "outside the ranks' lives" : "asleep, or nothing ran"));
}

/* ---- which, and in what order ---- */

static bool all_runs(const struct comparison *c, bool (*have)(const struct report *)) {
    for (size_t i = 0; i < c->n; i++)
        if (comparison_counts(c, i) && !have(c->runs[i]))
            return false;
    return true;
}

static bool have_path(const struct report *report) {
    return report->path_s != NULL;
}

static bool have_budgets(const struct report *report) {
    return n_budgets(report) > 0;
}

static double largest_difference(const struct comparison *c, const struct comparison_part *part) {
    double largest = 0;
    for (size_t g = 0; g < c->n_groups; g++)
        largest = fmax(largest, fabs(part->seconds[g] - part->seconds[c->baseline_group]));
    return largest;
}

/* Insertion sort, since there are few. Equal ones keep their order. */
static void sort_parts(struct comparison *c) {
    for (size_t i = 1; i < c->n_parts; i++) {
        struct comparison_part part = c->parts[i];
        size_t k = i;
        for (; k && largest_difference(c, &c->parts[k - 1]) < largest_difference(c, &part); k--)
            c->parts[k] = c->parts[k - 1];
        c->parts[k] = part;
    }
}

/* ---- in a sentence ---- */

#define FACTOR_SIZE 32

static const char *factor_words(char text[FACTOR_SIZE], double ratio) {
    snprintf(text, FACTOR_SIZE, "%.*f times", ratio >= 10 ? 0 : 2, ratio);
    return text;
}

static const struct comparison_row *duration_row(const struct comparison *c) {
    return c->n_summary && c->summary[0].section == COMPARISON_TIME ? &c->summary[0] : NULL;
}

static char *sentence(const struct comparison *c, const struct comparison_row *row, size_t group) {
    const struct comparison_cell *cell = &row->groups[group],
                                 *base = &row->groups[c->baseline_group];
    const char *of = c->groups[c->baseline_group].label, *is = c->groups[group].label;
    double ratio = base->median / cell->median;
    if (cell->finding == COMPARE_LOWER)
        return text_format("%s is %.2f times as fast as %s: %.2f s against %.2f s", is, ratio, of,
                           cell->median, base->median);
    if (cell->finding == COMPARE_HIGHER)
        return text_format("%s takes %.2f times as long as %s: %.2f s against %.2f s", is,
                           1 / ratio, of, cell->median, base->median);
    if (cell->finding == COMPARE_SAME)
        return text_format("%s and %s take equally long: %.2f s against %.2f s", is, of,
                           cell->median, base->median);
    double percent = 100 * (cell->median / base->median - 1);
    if (isnan(cell->test.p))
        return text_format("%s took %.2f s, %s %.2f s (%+.1f %%)", is, cell->median, of,
                           base->median, percent);
    return text_format("%s took %.2f s, %s %.2f s (%+.1f %%). The runs do not establish a "
                       "difference",
                       is, cell->median, of, base->median, percent);
}

/* ---- how much was done ---- */

#define SAME_WORK 1.02 /* counts that differ by less mean the same work */

struct work {
    double amount; /* NAN: not known */
    const char *unit;
};

/* Examples, if the program counts them; else its iterations. */
static struct work work_of(const struct report *report) {
    double trained = report_last_value(report, "examples trained");
    double examples = isnan(trained) ? report_last_value(report, "examples") : trained;
    size_t iterations = report_summarize(report).iterations;
    if (examples > 0)
        return (struct work){examples, "examples"};
    return (struct work){iterations ? (double)iterations : NAN, "iterations"};
}

bool comparison_work_differs(const struct comparison *c, size_t group,
                             struct comparison_work *ret_work) {
    const struct report *base = c->runs[c->groups[c->baseline_group].typical],
                        *is = c->runs[c->groups[group].typical];
    struct work a = work_of(base), b = work_of(is);
    double ratio = b.amount / a.amount;
    if (isnan(ratio) || strcmp(a.unit, b.unit) != 0 || (ratio < SAME_WORK && ratio > 1 / SAME_WORK))
        return false;
    *ret_work = (struct comparison_work){.unit = a.unit,
                                         .baseline_per_s = a.amount / base->duration_s,
                                         .per_s = b.amount / is->duration_s};
    return true;
}

/* Comes first: times of runs with different work do not compare. NULL if they did the same work, as
 * far as known.
 */
static char *unlike_work(const struct comparison *c, size_t group) {
    struct comparison_work work;
    if (!comparison_work_differs(c, group, &work))
        return NULL;
    const char *of = c->groups[c->baseline_group].label, *is = c->groups[group].label;
    double ratio = work.per_s / work.baseline_per_s;
    char now[LAYOUT_NUMBER_SIZE], then[LAYOUT_NUMBER_SIZE], factor[FACTOR_SIZE],
        how[FACTOR_SIZE + 32] = "is as fast as";
    int one = (int)strlen(work.unit) - 1; /* "examples" without its s */
    if (ratio >= SAME_WORK)
        snprintf(how, sizeof how, "is %s as fast as", factor_words(factor, ratio));
    else if (ratio <= 1 / SAME_WORK)
        snprintf(how, sizeof how, "takes %s as long as", factor_words(factor, 1 / ratio));
    return text_format("%sPer %.*s, %s %s %s (%s against %s a second)",
                       c->headline ? "" : "The runs did different amounts of work. ", one,
                       work.unit, is, how, of, layout_number(now, work.per_s),
                       layout_number(then, work.baseline_per_s));
}

static char *whole_sentence(const struct comparison *c, const struct comparison_row *row,
                            size_t group) {
    char *work = unlike_work(c, group), *times = sentence(c, row, group);
    if (!work)
        return times;
    char *both = times ? text_format("%s. %s", work, times) : NULL;
    free(work);
    free(times);
    return both;
}

static int add_sentence(struct comparison *c, const struct comparison_row *row, size_t group) {
    char *text = whole_sentence(c, row, group);
    char *joined = text && c->headline ? text_format("%s. %s", c->headline, text)
                   : text              ? strdup(text)
                                       : NULL;
    free(text);
    free(c->headline);
    c->headline = joined;
    return joined ? 0 : -ENOMEM;
}

static bool has_runs(const struct comparison *c, const struct comparison_row *row, size_t group) {
    return group != c->baseline_group && row->groups[group].n && row->groups[c->baseline_group].n;
}

/* Said once, at the end, if there are too few runs of any group for a test. */
static int add_chance(struct comparison *c, const struct comparison_row *row) {
    size_t fewest = row->groups[c->baseline_group].n, most = fewest;
    bool any = false;
    char runs[64] = "One run each";
    for (size_t g = 0; g < c->n_groups; g++) {
        if (!has_runs(c, row, g) || !isnan(row->groups[g].test.p))
            continue;
        any = true;
        fewest = row->groups[g].n < fewest ? row->groups[g].n : fewest;
        most = row->groups[g].n > most ? row->groups[g].n : most;
    }
    if (!any)
        return 0;
    if (fewest < most)
        snprintf(runs, sizeof runs, "%zu and %zu runs", fewest, most);
    else if (most > 1)
        snprintf(runs, sizeof runs, "%zu runs each", most);
    char *joined = text_format("%s. %s cannot show whether this is chance: record %d of each",
                               c->headline, runs, COMPARE_RUNS_MIN);
    free(c->headline);
    c->headline = joined;
    return joined ? 0 : -ENOMEM;
}

static int write_headline(struct comparison *c) {
    const struct comparison_row *row = duration_row(c);
    int result = 0;
    for (size_t g = 0; row && result == 0 && g < c->n_groups; g++)
        if (has_runs(c, row, g))
            result = add_sentence(c, row, g);
    return row && c->headline && result == 0 ? add_chance(c, row) : result;
}

int comparison_explain(struct comparison *c) {
    bool path = all_runs(c, have_path), budgets = all_runs(c, have_budgets);
    int result = write_headline(c);
    if (c->n_groups < 2 || (!path && !budgets))
        return result;
    for (size_t i = 0; result == 0 && i < c->n; i++)
        if (comparison_counts(c, i))
            result = path ? add_path(c, i) : add_budgets(c, i);
    c->parts_source = path ? "critical path" : "budgets";
    sort_parts(c);
    return result;
}
