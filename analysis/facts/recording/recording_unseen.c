/* SPDX-License-Identifier: MIT */
/*
 * Processes that came and went between two samples (a compiler under make, a shell's commands), if
 * their ends were not recorded one by one. The kernel adds the use of a process and its descendants
 * to its parent when the parent waits for its end. The use in such a process's own rows is
 * subtracted there; the rest is in no other row.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/facts/recording/recording.h"
#include "analysis/facts/series/times.h"
#include "common/error.h"

#define DEPTH_MAX 64 /* generations; ends circles of parents, too */

struct relative { /* a process of the job */
    struct series *series;
    int host;
    int64_t pid, parent_pid;
    struct relative *parent; /* NULL: no parent in the job existed when it ended */
    int depth;
    double told; /* what the rows of its ended children show, not yet subtracted from its own */
};

static int compare_pid(const void *a, const void *b) {
    const struct relative *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->series->t_ns[0] > y->series->t_ns[0]) - (x->series->t_ns[0] < y->series->t_ns[0]);
}

/* Sorts descendants before their parents, since they end first. */
static int compare_depth(const void *a, const void *b) {
    const struct relative *x = *(struct relative *const *)a, *y = *(struct relative *const *)b;
    return (x->depth < y->depth) - (x->depth > y->depth);
}

static int64_t end_of(const struct relative *one) {
    return one->series->t_ns[one->series->n - 1];
}

/* A process id may be used again: the parent is the last process with it that had started by then.
 */
static struct relative *find_parent(struct relative *all, size_t n, const struct relative *one) {
    struct relative *found = NULL;
    for (size_t low = 0, high = n; low < high;) {
        size_t middle = low + (high - low) / 2;
        struct relative *at = &all[middle];
        bool before = at->host != one->host        ? at->host < one->host
                      : at->pid != one->parent_pid ? at->pid < one->parent_pid
                                                   : at->series->t_ns[0] <= end_of(one);
        if (before) {
            found = at;
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool is_it = found && found != one && found->host == one->host && found->pid == one->parent_pid;
    return is_it ? found : NULL;
}

static int depth_of(const struct relative *one) {
    int depth = 0;
    while ((one = one->parent) && depth < DEPTH_MAX)
        depth++;
    return depth;
}

static size_t list_job(struct series_set *set, struct relative *all) {
    size_t n = 0;
    for (size_t s = 0; s < set->n; s++) {
        struct series *series = &set->items[s];
        int64_t pid = series_last(set, series, PROCESS_PID);
        if (series->n && pid != VALUE_ABSENT && series_ever(set, series, PROCESS_JOB, 1))
            all[n++] = (struct relative){
                .series = series,
                .host = series->host,
                .pid = pid,
                .parent_pid = series_last(set, series, PROCESS_PARENT),
            };
    }
    return n;
}

static int64_t *at(const struct series_set *set, const struct relative *one, size_t row,
                   size_t column) {
    return &one->series->values[row * set->n_columns + column];
}

/* The columns that the kernel adds to the parent, and their values. */
struct inherited {
    size_t to, parts[3], n_parts;
};

static const struct inherited inherited[] = {
    {PROCESS_CHILDREN, {PROCESS_USER, PROCESS_SYSTEM, PROCESS_CHILDREN}, 3},
    {PROCESS_READ, {PROCESS_READ}, 1},
    {PROCESS_WRITE, {PROCESS_WRITE}, 1},
};

/* Sum of its rows: its own use and that of its descendants. */
static double sum_of_rows(const struct series_set *set, const struct relative *one,
                          const struct inherited *what) {
    double sum = 0;
    for (size_t row = 0; row < one->series->n; row++)
        for (size_t i = 0; i < what->n_parts; i++)
            sum += series_amount(*at(set, one, row, what->parts[i]));
    return sum;
}

/* After a process has ended, its parent's rows include the figures of its own rows. If the parent's
 * rows end first, the rows of the parent's parent include them.
 */
static void tell_parent(const struct series_set *set, struct relative *one,
                        const struct inherited *what) {
    double told = sum_of_rows(set, one, what) + one->told;
    struct relative *parent = one->parent;
    if (!parent)
        return;
    const struct series *rows = parent->series;
    size_t row = times_until(rows->t_ns, sizeof *rows->t_ns, rows->n, end_of(one));
    for (; row < rows->n && told > 0; row++) {
        int64_t *grown = at(set, parent, row, what->to);
        if (*at(set, parent, row, PROCESS_CHILDREN) == VALUE_ABSENT)
            continue;
        double taken = series_amount(*grown) < told ? series_amount(*grown) : told;
        *grown = *grown == VALUE_ABSENT ? VALUE_ABSENT : *grown - (int64_t)taken;
        told -= taken;
        parent->told += taken;
    }
    parent->told += told;
}

static void settle_row(int64_t *values) {
    if (values[PROCESS_UNSEEN] != VALUE_ABSENT)
        return;
    values[PROCESS_UNSEEN] =
        values[PROCESS_CHILDREN] == VALUE_ABSENT ? 0 : values[PROCESS_CHILDREN];
}

static void settle_unseen(struct series_set *set) {
    for (size_t s = 0; s < set->n; s++)
        for (size_t row = 0; row < set->items[s].n; row++)
            settle_row(set->items[s].values + row * set->n_columns);
}

static void take_out(const struct series_set *set, struct relative **order, size_t n,
                     const struct inherited *what) {
    for (size_t i = 0; i < n; i++)
        order[i]->told = 0;
    for (size_t i = 0; i < n; i++)
        tell_parent(set, order[i], what);
}

int recording_find_unseen(struct recording *recording) {
    struct series_set *set = &recording->tables[RECORDING_PROCESS];
    struct relative *all = calloc(set->n + 1, sizeof *all);
    struct relative **order = calloc(set->n + 1, sizeof(struct relative *));
    size_t n = all && order ? list_job(set, all) : 0;
    if (n)
        qsort(all, n, sizeof *all, compare_pid);
    for (size_t i = 0; i < n; i++)
        all[i].parent = find_parent(all, n, &all[i]);
    for (size_t i = 0; i < n; i++) {
        all[i].depth = depth_of(&all[i]);
        order[i] = &all[i];
    }
    if (n)
        qsort(order, n, sizeof(struct relative *), compare_depth);
    for (size_t i = 0; i < ARRAY_SIZE(inherited); i++)
        take_out(set, order, n, &inherited[i]);
    settle_unseen(set);
    int result = all && order ? 0 : -ENOMEM;
    free(all);
    free(order);
    return result;
}
