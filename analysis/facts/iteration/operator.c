/* SPDX-License-Identifier: MIT */
#include "analysis/facts/iteration/operator.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/stats.h"
#include "analysis/facts/series/times.h"

/* One run of an operator. */
struct run {
    const struct mark *mark;
    const struct rank_iterations *rank; /* NULL: a rank that marks no iterations */
    const struct iteration *iteration;  /* NULL: outside of iterations */
};

struct runs {
    struct run *items;
    size_t n;
};

static bool is_rank_of(const struct rank_iterations *rank, const struct mark *mark) {
    return rank->rank == mark->rank && rank->host == mark->host && rank->pid == mark->pid;
}

/* Marks of one rank are mostly in a row, so the last found rank is tried first. */
static const struct rank_iterations *find_rank(const struct iterations *iterations,
                                               const struct mark *mark, size_t *last) {
    for (size_t k = 0; k < iterations->n; k++) {
        size_t i = (*last + k) % iterations->n;
        if (is_rank_of(&iterations->ranks[i], mark))
            return &iterations->ranks[*last = i];
    }
    return NULL;
}

/* The iteration that contains all of a mark. */
static const struct iteration *find_iteration(const struct rank_iterations *rank,
                                              const struct mark *mark) {
    int64_t end_ns = mark->start_ns + mark->duration_ns;
    size_t low = TIMES_BEFORE(rank->items, rank->n, end_ns, end_ns);
    return low < rank->n && rank->items[low].end_ns - rank->items[low].duration_ns <= mark->start_ns
               ? &rank->items[low]
               : NULL;
}

static int find_runs(const struct recording *recording, const struct iterations *iterations,
                     struct runs *ret_runs) {
    struct runs runs = {.items = malloc((recording->n_marks + 1) * sizeof *runs.items)};
    size_t last = 0;
    if (!runs.items)
        return -ENOMEM;
    for (size_t i = 0; i < recording->n_marks; i++) {
        const struct mark *mark = &recording->marks[i];
        if (mark->kind != MARK_OPERATOR || mark->duration_ns == VALUE_ABSENT)
            continue;
        struct run run = {.mark = mark, .rank = find_rank(iterations, mark, &last)};
        run.iteration = run.rank ? find_iteration(run.rank, mark) : NULL;
        runs.items[runs.n++] = run;
    }
    *ret_runs = runs;
    return 0;
}

/* ---- the table ---- */

static int role_of(const struct run *run) {
    return run->rank ? run->rank->role : -1;
}

static int order(int64_t x, int64_t y) {
    return (x > y) - (x < y);
}

static int compare_marking_ranks(const struct mark *x, const struct mark *y) {
    int ranks = order(x->rank, y->rank), hosts = order(x->host, y->host);
    return ranks ? ranks : hosts ? hosts : order(x->pid, y->pid);
}

static int compare_runs(const void *a, const void *b) {
    const struct run *x = a, *y = b;
    int roles = order(role_of(x), role_of(y)), names = strcmp(x->mark->name, y->mark->name);
    return roles ? roles : names ? names : compare_marking_ranks(x->mark, y->mark);
}

static bool same_operator(const struct run *x, const struct run *y) {
    return role_of(x) == role_of(y) && strcmp(x->mark->name, y->mark->name) == 0;
}

static double iterations_s(const struct rank_iterations *rank) {
    double sum = 0;
    for (size_t i = 0; rank && i < rank->n; i++)
        sum += (double)rank->items[i].duration_ns / 1e9;
    return sum;
}

/* Summarizes the runs of one operator, sorted by rank; durations has room for n. */
static struct operator_use summarize(const struct run *runs, size_t n, double *durations) {
    struct operator_use use = {.name = runs[0].mark->name, .role = role_of(runs), .calls = n};
    double bytes = 0, inside_s = 0, all_s = 0;
    size_t sized = 0;
    for (size_t i = 0; i < n; i++) {
        const struct mark *mark = runs[i].mark;
        durations[i] = (double)mark->duration_ns / 1e9;
        use.total_s += durations[i];
        use.longest_s = fmax(use.longest_s, durations[i]);
        inside_s += runs[i].iteration ? durations[i] : 0;
        if (mark->output_bytes >= 0) {
            bytes += (double)mark->output_bytes;
            sized++;
        }
        if (i == 0 || compare_marking_ranks(runs[i - 1].mark, mark) != 0) {
            use.n_ranks++;
            all_s += iterations_s(runs[i].rank);
        }
    }
    use.output_bytes = sized ? bytes / (double)sized : NAN;
    use.p95_s = stats_quantile(durations, n, 0.95);
    use.share = all_s > 0 ? inside_s / all_s : NAN;
    return use;
}

static int compare_uses(const void *a, const void *b) {
    const struct operator_use *x = a, *y = b;
    if (x->role != y->role)
        return order(x->role, y->role);
    if (x->total_s != y->total_s)
        return x->total_s > y->total_s ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int fill_uses(struct operators *operators, struct runs *runs) {
    double *durations = malloc((runs->n + 1) * sizeof *durations);
    operators->uses = malloc((runs->n + 1) * sizeof *operators->uses);
    if (!durations || !operators->uses) {
        free(durations);
        return -ENOMEM;
    }
    if (runs->n)
        qsort(runs->items, runs->n, sizeof *runs->items, compare_runs);
    for (size_t i = 0, next; i < runs->n; i = next) {
        for (next = i + 1; next < runs->n && same_operator(&runs->items[i], &runs->items[next]);
             next++)
            ;
        operators->uses[operators->n_uses++] = summarize(&runs->items[i], next - i, durations);
    }
    if (operators->n_uses)
        qsort(operators->uses, operators->n_uses, sizeof *operators->uses, compare_uses);
    free(durations);
    return 0;
}

/* ---- the timeline ---- */

static int compare_durations(const void *a, const void *b) {
    const struct iteration *x = *(const struct iteration *const *)a,
                           *y = *(const struct iteration *const *)b;
    int durations = order(x->duration_ns, y->duration_ns);
    return durations ? durations : order(x->end_ns, y->end_ns);
}

/* Chooses the iteration of median length that has operators, so that a real one is shown. */
static int choose_iteration(struct operators *operators, const struct rank_iterations *rank,
                            const struct runs *runs) {
    const struct iteration **with = malloc((rank->n + 1) * sizeof *with);
    bool *seen = calloc(rank->n + 1, sizeof *seen);
    size_t n = 0;
    if (!with || !seen) {
        free(with);
        free(seen);
        return -ENOMEM;
    }
    for (size_t i = 0; i < runs->n; i++)
        if (runs->items[i].rank == rank && runs->items[i].iteration)
            seen[runs->items[i].iteration - rank->items] = true;
    for (size_t i = 0; i < rank->n; i++)
        if (seen[i])
            with[n++] = &rank->items[i];
    if (n) {
        qsort(with, n, sizeof *with, compare_durations);
        operators->rank = rank;
        operators->iteration = with[(n - 1) / 2];
    }
    free(with);
    free(seen);
    return 0;
}

static int compare_lengths(const void *a, const void *b) {
    const struct operator_bar *x = a, *y = b;
    return order(y->end_ns - y->start_ns, x->end_ns - x->start_ns);
}

static int compare_bars(const void *a, const void *b) {
    const struct operator_bar *x = a, *y = b;
    int ranks = compare_marking_ranks(x->mark, y->mark), starts = order(x->start_ns, y->start_ns);
    return ranks ? ranks : starts ? starts : order(y->end_ns, x->end_ns);
}

static void keep_longest(struct operators *operators) {
    if (operators->n_bars <= OPERATOR_BARS_MAX)
        return;
    qsort(operators->bars, operators->n_bars, sizeof *operators->bars, compare_lengths);
    operators->n_bars_left_out = operators->n_bars - OPERATOR_BARS_MAX;
    operators->n_bars = OPERATOR_BARS_MAX;
}

static int fill_bars(struct operators *operators, const struct runs *runs) {
    int64_t end = operators->iteration->end_ns, begin = end - operators->iteration->duration_ns;
    operators->bars = malloc((runs->n + 1) * sizeof *operators->bars);
    if (!operators->bars)
        return -ENOMEM;
    for (size_t i = 0; i < runs->n; i++) {
        const struct mark *mark = runs->items[i].mark;
        int64_t mark_end = mark->start_ns + mark->duration_ns;
        if (mark->start_ns >= end || mark_end <= begin)
            continue;
        operators->bars[operators->n_bars++] = (struct operator_bar){
            mark, mark->start_ns < begin ? begin : mark->start_ns, mark_end > end ? end : mark_end};
    }
    keep_longest(operators);
    qsort(operators->bars, operators->n_bars, sizeof *operators->bars, compare_bars);
    return 0;
}

static int fill_timeline(struct operators *operators, const struct iterations *iterations,
                         const struct runs *runs) {
    const struct rank_iterations *rank = iterations_reference(iterations);
    if (!rank)
        return 0;
    int result = choose_iteration(operators, rank, runs);
    return result == 0 && operators->iteration ? fill_bars(operators, runs) : result;
}

int operators_from_marks(const struct recording *recording, const struct iterations *iterations,
                         struct operators *ret_operators) {
    struct operators operators = {0};
    struct runs runs;
    int result = find_runs(recording, iterations, &runs);
    if (result < 0)
        return result;
    result = fill_uses(&operators, &runs);
    if (result == 0)
        result = fill_timeline(&operators, iterations, &runs);
    free(runs.items);
    if (result < 0)
        operators_release(&operators);
    else
        *ret_operators = operators;
    return result;
}

void operators_release(struct operators *operators) {
    free(operators->uses);
    free(operators->bars);
    *operators = (struct operators){0};
}
