/* SPDX-License-Identifier: MIT */
/*
 * What a server does for others where it moves in step with them: a share of its own CPU time, and
 * no more work than theirs. Its peers compute on what has come, too, so only that counts which none
 * of them does: after a message, and outside of all operators that the program marks. Where an
 * iteration of its own ends before its next call, it went on with that: it had only stopped looking
 * for messages once it had them all.
 */
#include <stdlib.h>

#include "analysis/free_running.h"
#include "analysis/saturation_private.h"
#include "analysis/serving.h"

static int compare_windows(const void *a, const void *b) {
    const struct window *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Times in which a rank was in no operator of its own. n + 1 items have room. */
static size_t between_operators(const struct recording *recording, const struct mpi_rank *rank,
                                struct window *items) {
    size_t n = 0, kept = 0;
    int64_t end = INT64_MIN;
    for (size_t m = 0; m < recording->n_marks; m++) {
        const struct mark *mark = &recording->marks[m];
        if (mark->kind == MARK_OPERATOR && mark->host == rank->host && mark->pid == rank->pid)
            items[n++] = (struct window){mark->start_ns, mark->start_ns + mark->duration_ns};
    }
    qsort(items, n, sizeof *items, compare_windows);
    for (size_t i = 0; i < n; i++) {
        struct window within = items[i];
        if (within.begin_ns > end)
            items[kept++] = (struct window){end, within.begin_ns};
        end = within.end_ns > end ? within.end_ns : end;
    }
    items[kept++] = (struct window){end, INT64_MAX};
    return kept;
}

static void leave_out_own(const struct rank_iterations *its, struct serving *serving) {
    size_t kept = 0, i = 0;
    for (size_t s = 0; s < serving->n; s++) {
        while (its && i < its->n && its->items[i].end_ns <= serving->items[s].begin_ns)
            i++;
        if (!its || i == its->n || its->items[i].end_ns >= serving->items[s].end_ns)
            serving->items[kept++] = serving->items[s];
    }
    serving->n = kept;
}

/* CPU seconds of a rank after messages, outside of operators. */
static double unmarked_s(const struct scene *scene, struct windows group, size_t log_rank) {
    const struct recording *recording = scene->recording;
    struct serving serving = {.hub = SIZE_MAX};
    struct window *items = malloc((recording->n_marks + 1) * sizeof *items);
    double s = 0;
    if (items && serving_by(&recording->calls, &scene->matches, log_rank, &serving) == 0) {
        struct windows outside = {
            items, between_operators(recording, &recording->calls.ranks[log_rank], items)};
        leave_out_own(free_running_iterations(scene, log_rank), &serving);
        s = serving_within(&serving, group, outside);
    }
    serving_release(&serving);
    free(items);
    return s;
}

/* The server applies its own results as it does those of others: iterations of its own for one of
 * theirs. */
static double own_for_one(const struct scene *scene, size_t log_rank) {
    double own = 0, others = 0;
    for (size_t r = 0; r < scene->recording->calls.n; r++) {
        const struct rank_iterations *its = free_running_iterations(scene, r);
        *(r == log_rank ? &own : &others) += its ? (double)its->n : 0;
    }
    return others > 0 ? own / others : 0;
}

double served_share(const struct scene *scene, size_t group, size_t log_rank) {
    const struct recording *recording = scene->recording;
    struct windows windows = phase_windows(&scene->groups[group]);
    struct serving serving;
    if (serving_find(&recording->calls, &scene->matches, &serving) < 0)
        return 0;
    bool hub = serving.hub == log_rank;
    serving_release(&serving);
    double own = hub ? unmarked_s(scene, windows, log_rank) : 0, peers = 0;
    for (size_t r = 0; own > 0 && r < recording->calls.n; r++) {
        double s = r == log_rank ? 0 : unmarked_s(scene, windows, r);
        peers = s > peers ? s : peers;
    }
    double wall = (double)windows_length(windows) / 1e9;
    return own > peers ? (own - peers) / wall * (1 + own_for_one(scene, log_rank)) : 0;
}
