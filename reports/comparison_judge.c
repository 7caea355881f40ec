/* SPDX-License-Identifier: MIT */
/*
 * Whether differences are real. Runs of one name and one command are repeats of each other: only
 * with several of both sides can a difference be more than a difference.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/compare.h"
#include "analysis/finding.h"
#include "reports/comparison_private.h"

static bool are_repeats(const struct report *a, const struct report *b) {
    return strcmp(a->run_name, b->run_name) == 0 && strcmp(a->command, b->command) == 0;
}

static size_t gather(const struct comparison *c, const struct comparison_row *row, size_t like,
                     double *values) {
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (are_repeats(c->runs[i], c->runs[like]) && !isnan(row->value[i]))
            values[n++] = row->value[i];
    return n;
}

static char *too_few(size_t na, size_t nb) {
    return text_format("not established: %zu and %zu run%s; %d of each are needed", na, nb,
                       na == 1 && nb == 1 ? "" : "s", COMPARE_RUNS_MIN);
}

static char *judge(const struct compared *x, double p, size_t na, size_t nb) {
    if (isnan(x->p))
        return na == 1 && nb == 1
                   ? text_format("not established: 1 run each; %d of each are needed",
                                 COMPARE_RUNS_MIN)
                   : too_few(na, nb);
    return text_format("%s: ratio of medians %.3f (95 %%: %.3f to %.3f), p = %.3f after Holm, %zu "
                       "and %zu runs",
                       compare_established(x, p) ? "established" : "not established", x->ratio,
                       x->ratio_low, x->ratio_high, p, na, nb);
}

/* One family of tests: all rows of a list, for one run against the baseline. */
static int judge_list(const struct comparison *c, struct comparison_row *rows, size_t n,
                      size_t run) {
    double *a = calloc(4 * (c->n + n) + 4, sizeof *a), *b = a + c->n + n;
    double *p = b + c->n + n, *adjusted = p + c->n + n;
    struct compared *tests = calloc(n + 1, sizeof *tests);
    int result = a && tests ? 0 : -ENOMEM;
    for (size_t i = 0; result == 0 && i < n; i++) {
        size_t na = gather(c, &rows[i], c->baseline, a), nb = gather(c, &rows[i], run, b);
        tests[i] = compare_groups(a, na, b, nb);
        p[i] = tests[i].p;
    }
    if (result == 0)
        result = compare_holm(p, n, adjusted);
    for (size_t i = 0; result == 0 && i < n; i++) {
        size_t na = gather(c, &rows[i], c->baseline, a), nb = gather(c, &rows[i], run, b);
        rows[i].judgement[run] =
            na && nb ? judge(&tests[i], adjusted[i], na, nb) : text_format("nothing to compare");
        result = rows[i].judgement[run] ? 0 : -ENOMEM;
    }
    free(a);
    free(tests);
    return result;
}

int comparison_judge(struct comparison *c) {
    int result = 0;
    for (size_t run = 0; result == 0 && run < c->n; run++) {
        if (run == c->baseline || are_repeats(c->runs[run], c->runs[c->baseline]))
            continue;
        result = judge_list(c, c->summary, c->n_summary, run);
        if (result == 0)
            result = judge_list(c, c->resources, c->n_resources, run);
    }
    return result;
}
