/* SPDX-License-Identifier: MIT */
#include "analysis/facts/iteration/iteration.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/iteration/iteration_private.h"
#include "analysis/facts/series/stats.h"
#include "analysis/facts/series/times.h"

const char *iteration_source_name(enum iteration_source source) {
    static const char *const names[] = {"none", "marker", "calls", "counters"};
    return names[source];
}

static int rank_order(int rank) {
    return rank < 0 ? INT_MAX : rank;
}

static int compare_iteration_marks(const void *a, const void *b) {
    const struct mark *x = a, *y = b;
    if (x->rank != y->rank)
        return rank_order(x->rank) < rank_order(y->rank) ? -1 : 1;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    int64_t p = x->start_ns + x->duration_ns, q = y->start_ns + y->duration_ns;
    return (p > q) - (p < q);
}

static bool same_rank(const struct mark *a, const struct mark *b) {
    return a->rank == b->rank && a->host == b->host && a->pid == b->pid;
}

static bool is_iteration(const struct mark *mark) {
    return mark->kind == MARK_ITERATION && mark->duration_ns > 0;
}

/* Makes the iterations of one rank from its marks. */
static int add_marked_rank(struct iterations *iterations, const struct mark *marks, size_t n) {
    struct rank_iterations *rank = &iterations->ranks[iterations->n];
    *rank = (struct rank_iterations){.rank = marks[0].rank,
                                     .host = marks[0].host,
                                     .pid = marks[0].pid,
                                     .n = n,
                                     .items = malloc(n * sizeof *rank->items)};
    if (!rank->items)
        return -ENOMEM;
    iterations->n++;
    for (size_t i = 0; i < n; i++)
        rank->items[i] = (struct iteration){
            marks[i].number, marks[i].start_ns + marks[i].duration_ns, marks[i].duration_ns};
    return 0;
}

static bool has_operator(const struct recording *recording, const struct rank_iterations *rank,
                         const char *name) {
    for (size_t i = 0; i < recording->n_marks; i++) {
        const struct mark *m = &recording->marks[i];
        if (m->kind == MARK_OPERATOR && m->rank == rank->rank && m->host == rank->host &&
            m->pid == rank->pid && strcmp(m->name, name) == 0)
            return true;
    }
    return false;
}

/* distinct operators of a program */
#define OPERATORS_MAX 64

static size_t list_operators(const struct recording *recording, const char **names) {
    size_t n = 0, k;
    for (size_t i = 0; i < recording->n_marks && n < OPERATORS_MAX; i++) {
        if (recording->marks[i].kind != MARK_OPERATOR)
            continue;
        for (k = 0; k < n && strcmp(names[k], recording->marks[i].name) != 0; k++)
            ;
        if (k == n)
            names[n++] = recording->marks[i].name;
    }
    return n;
}

static void assign_roles(const struct recording *recording, struct iterations *iterations,
                         uint64_t *mixes) {
    const char *names[OPERATORS_MAX];
    size_t n_names = list_operators(recording, names), k;
    int n_roles = 0;
    for (size_t i = 0; i < iterations->n; i++) {
        mixes[i] = 0;
        for (size_t o = 0; o < n_names; o++)
            if (has_operator(recording, &iterations->ranks[i], names[o]))
                mixes[i] |= UINT64_C(1) << o;
        for (k = 0; k < i && mixes[k] != mixes[i]; k++)
            ;
        iterations->ranks[i].role = k < i ? iterations->ranks[k].role : n_roles++;
    }
}

static bool has_rising_numbers(const struct rank_iterations *rank) {
    for (size_t i = 1; i < rank->n; i++)
        if (rank->items[i].number <= rank->items[i - 1].number)
            return false;
    return true;
}

/* When iteration `number` of the rank ended, or VALUE_ABSENT. Marked numbers may be in any order.
 */
static int64_t end_of(const struct rank_iterations *rank, bool rising, int64_t number,
                      size_t *hint) {
    if (rising && rank->items[*hint].number != number) {
        size_t until = TIMES_UNTIL(rank->items, rank->n, number, number);
        bool there = until && rank->items[until - 1].number == number;
        *hint = until < rank->n ? until : rank->n - 1; /* most often the next one's place */
        return there ? rank->items[until - 1].end_ns : VALUE_ABSENT;
    }
    for (size_t tried = 0; tried < rank->n; tried++, *hint = (*hint + 1) % rank->n)
        if (rank->items[*hint].number == number)
            return rank->items[*hint].end_ns;
    return VALUE_ABSENT;
}

#define MANY_ITERATIONS 10

/* Whether nearly all common iterations of two ranks end within one iteration of each other: freely
 * running ranks drift further apart. With few iterations the ranks must agree more closely, since
 * they had no time to drift.
 */
static bool moves_with(const struct rank_iterations *a, const struct rank_iterations *b) {
    size_t together = 0, common = 0, hint = 0;
    int64_t parts = a->n < MANY_ITERATIONS ? 4 : 1;
    bool rising = has_rising_numbers(b);
    for (size_t i = 0; i < a->n; i++) {
        int64_t end = b->n ? end_of(b, rising, a->items[i].number, &hint) : VALUE_ABSENT;
        if (end == VALUE_ABSENT)
            continue;
        common++;
        together += llabs(end - a->items[i].end_ns) * parts <= a->items[i].duration_ns;
    }
    return common * 2 >= a->n && together * 20 >= common * 19;
}

bool iterations_in_lockstep(const struct iterations *iterations) {
    for (size_t i = 1; i < iterations->n; i++)
        if (!moves_with(&iterations->ranks[0], &iterations->ranks[i]))
            return false;
    return iterations->n > 1;
}

int iterations_from_marks(const struct recording *recording, struct iterations *ret_iterations) {
    struct mark *marks = malloc((recording->n_marks + 1) * sizeof *marks);
    uint64_t *mixes = malloc((recording->n_marks + 1) * sizeof *mixes);
    struct iterations iterations = {.ranks =
                                        calloc(recording->n_marks + 1, sizeof *iterations.ranks)};
    int result = marks && mixes && iterations.ranks ? 0 : -ENOMEM;
    size_t n = 0, next;
    for (size_t i = 0; result == 0 && i < recording->n_marks; i++)
        if (is_iteration(&recording->marks[i]))
            marks[n++] = recording->marks[i];
    if (result == 0)
        qsort(marks, n, sizeof *marks, compare_iteration_marks);
    for (size_t i = 0; result == 0 && i < n; i = next) {
        for (next = i + 1; next < n && same_rank(&marks[i], &marks[next]); next++)
            ;
        result = add_marked_rank(&iterations, marks + i, next - i);
    }
    if (result == 0) {
        iterations.source = iterations.n ? ITERATION_MARKER : ITERATION_NONE;
        assign_roles(recording, &iterations, mixes);
        iterations.lockstep = iterations_in_lockstep(&iterations);
        *ret_iterations = iterations;
    } else {
        iterations_release(&iterations);
    }
    free(marks);
    free(mixes);
    return result;
}

void iterations_release(struct iterations *iterations) {
    for (size_t i = 0; i < iterations->n; i++)
        free(iterations->ranks[i].items);
    free(iterations->ranks);
    *iterations = (struct iterations){0};
}

static bool inside(struct windows windows, int64_t t_ns) {
    for (size_t i = 0; i < windows.n; i++)
        if (t_ns > windows.items[i].begin_ns && t_ns <= windows.items[i].end_ns)
            return true;
    return false;
}

size_t iteration_durations(const struct rank_iterations *rank, struct windows windows,
                           double *values) {
    size_t n = 0;
    for (size_t i = 0; i < rank->n; i++)
        if (inside(windows, rank->items[i].end_ns))
            values[n++] = (double)rank->items[i].duration_ns / 1e9;
    return n;
}

double iteration_median(const struct rank_iterations *rank, struct windows windows) {
    double *values = malloc((rank->n + 1) * sizeof *values);
    size_t n = values ? iteration_durations(rank, windows, values) : 0;
    double median = stats_median(values, n);
    free(values);
    return median;
}

const struct rank_iterations *iterations_reference(const struct iterations *iterations) {
    return iterations->n ? &iterations->ranks[0] : NULL;
}
