/* SPDX-License-Identifier: MIT */
#include "analysis/time/serving.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/facts/iteration/phase.h"

static bool has_partner(const struct mpi_log *log, size_t rank, size_t i,
                        const struct call_need *need) {
    const struct mpi_function *f = mpi_event_function(log, &log->ranks[rank].events[i]);
    return need->who >= 0 && need->partner != CALL_NO_PARTNER && (f->sends || f->receives);
}

static size_t find_server_rank(const struct mpi_log *log, const struct call_matches *matches) {
    size_t a = SIZE_MAX, b = SIZE_MAX;
    bool any = false;
    for (size_t r = 0; r < log->n; r++)
        for (size_t i = 0; i < log->ranks[r].n; i++) {
            size_t who = (size_t)matches->needs[r][i].who;
            if (!has_partner(log, r, i, &matches->needs[r][i]) || who == r)
                continue;
            a = any ? (a == r || a == who ? a : SIZE_MAX) : r < who ? r : who;
            b = any ? (b == r || b == who ? b : SIZE_MAX) : r < who ? who : r;
            any = true;
        }
    return a != SIZE_MAX ? a : b;
}

/* Whether the call ended with a message from another rank. */
static bool brings(const struct call_need *need, const struct mpi_function *function) {
    return need->who >= 0 && !need->outgoing && !function->sends && !function->completes &&
           function->need == MPI_NEED_NOBODY;
}

static double cpu_of_gap(const struct mpi_event *next, int64_t length_ns) {
    if (next->flags & MPI_FLAG_HAS_GAP_CPU)
        return next->gap_cpu_ns < length_ns ? (double)next->gap_cpu_ns : (double)length_ns;
    return length_ns < MPI_LONG_NS ? (double)length_ns : 0;
}

/* Collects the serving windows from the calls of the main thread. */
static void collect_serving(const struct mpi_log *log, const struct call_need *needs,
                            struct serving *serving) {
    const struct mpi_rank *rank = &log->ranks[serving->server_rank];
    int64_t last_ns = INT64_MAX;
    double cpu = 0, wall = 0;
    bool brought = false;
    for (size_t i = 0; i < rank->n; i++) {
        const struct mpi_event *e = &rank->events[i];
        if (e->thread != 0 || !mpi_event_is_call(e))
            continue;
        if (brought && e->enter_ns > last_ns) {
            serving->items[serving->n++] = (struct window){last_ns, e->enter_ns};
            cpu += cpu_of_gap(e, e->enter_ns - last_ns);
            wall += (double)(e->enter_ns - last_ns);
        }
        if (last_ns != INT64_MAX && e->exit_ns < last_ns)
            continue;
        last_ns = e->exit_ns;
        brought = brings(&needs[i], mpi_event_function(log, e));
    }
    serving->computing = wall > 0 ? cpu / wall : 0;
}

int serving_find(const struct mpi_log *log, const struct call_matches *matches,
                 struct serving *ret_serving) {
    return serving_by(log, matches, find_server_rank(log, matches), ret_serving);
}

int serving_by(const struct mpi_log *log, const struct call_matches *matches, size_t rank,
               struct serving *ret_serving) {
    struct serving serving = {.server_rank = rank};
    if (serving.server_rank != SIZE_MAX) {
        serving.items = malloc((log->ranks[serving.server_rank].n + 1) * sizeof *serving.items);
        if (!serving.items)
            return -ENOMEM;
        collect_serving(log, matches->needs[serving.server_rank], &serving);
    }
    *ret_serving = serving;
    return 0;
}

static void merge(struct serving *serving) {
    size_t kept = 0;
    for (size_t i = 0; i < serving->n; i++) {
        struct window w = serving->items[i];
        struct window *last = kept ? &serving->items[kept - 1] : NULL;
        if (last && w.begin_ns <= last->end_ns)
            last->end_ns = w.end_ns > last->end_ns ? w.end_ns : last->end_ns;
        else
            serving->items[kept++] = w;
    }
    serving->n = kept;
}

int serving_with_own(const struct serving *serving, const struct rank_iterations *own,
                     double n_others, struct serving *ret_serving) {
    struct serving both = *serving;
    size_t n_own = own ? own->n : 0;
    double length = 0;
    both.items = malloc((serving->n + n_own + 1) * sizeof *both.items);
    if (!both.items)
        return -ENOMEM;
    for (size_t i = 0; i < serving->n; i++) {
        both.items[i] = serving->items[i];
        length += (double)(serving->items[i].end_ns - serving->items[i].begin_ns);
    }
    int64_t each = n_others > 0 ? (int64_t)(length / n_others) : 0;
    for (size_t i = 0; each > 0 && i < n_own; i++)
        both.items[both.n++] = (struct window){own->items[i].end_ns - each, own->items[i].end_ns};
    qsort(both.items, both.n, sizeof *both.items, compare_windows);
    merge(&both);
    *ret_serving = both;
    return 0;
}

void serving_release(struct serving *serving) {
    free(serving->items);
    *serving = (struct serving){.server_rank = SIZE_MAX};
}

static struct window both(struct window a, struct window b) {
    return (struct window){a.begin_ns > b.begin_ns ? a.begin_ns : b.begin_ns,
                           a.end_ns < b.end_ns ? a.end_ns : b.end_ns};
}

double serving_within(const struct serving *serving, struct windows a, struct windows b) {
    double ns = 0;
    for (size_t s = 0, i = 0, k = 0; s < serving->n && i < a.n && k < b.n;) {
        struct window x = both(serving->items[s], both(a.items[i], b.items[k]));
        ns += x.end_ns > x.begin_ns ? (double)(x.end_ns - x.begin_ns) : 0;
        if (serving->items[s].end_ns <= a.items[i].end_ns &&
            serving->items[s].end_ns <= b.items[k].end_ns)
            s++;
        else if (a.items[i].end_ns <= b.items[k].end_ns)
            i++;
        else
            k++;
    }
    return ns / 1e9 * serving->computing;
}
