/* SPDX-License-Identifier: MIT */
#include "analysis/time/free_running.h"

#include <math.h>
#include <stdint.h>

#include "analysis/run_model.h"

#define DONE_MIN 10 /* iterations of the rank that did most */
/* Ranks in step end with the same number of iterations, but a few may not be found at either end.
 */
#define UNLIKE_MIN 3
#define UNLIKE_MARKED 0.01 /* of the largest number, */
#define UNLIKE_FOUND 0.05
#define GROUPED_MAX 0.5       /* group calls for each iteration: more keep the ranks in step */
#define TO_THE_END 0.90       /* of the phase: all ranks work at least until then */
#define CYCLES_TO_THE_END 2.5 /* or until this many of its iterations before the end */

double free_running_done(const struct rank_iterations *its, struct windows windows) {
    double done = 0;
    for (size_t i = 0, w = 0; i < its->n; i++) {
        int64_t end = its->items[i].end_ns, begin = end - its->items[i].duration_ns;
        while (w < windows.n && windows.items[w].end_ns <= begin)
            w++;
        for (size_t k = w; k < windows.n && windows.items[k].begin_ns < end && end > begin; k++) {
            int64_t from = begin > windows.items[k].begin_ns ? begin : windows.items[k].begin_ns;
            int64_t to = end < windows.items[k].end_ns ? end : windows.items[k].end_ns;
            done += to > from ? (double)(to - from) / (double)(end - begin) : 0;
        }
    }
    return done;
}

const struct rank_iterations *free_running_iterations(const struct run_model *model,
                                                      size_t log_rank) {
    const struct mpi_rank *rank = &model->recording->calls.ranks[log_rank];
    for (size_t i = 0; i < model->iterations.n; i++)
        if (model->iterations.ranks[i].host == rank->host &&
            model->iterations.ranks[i].pid == rank->pid)
            return &model->iterations.ranks[i];
    return NULL;
}

/* Group calls of all ranks in which members wait for each other. */
static double group_calls(const struct mpi_log *log, const struct mpi_rank *rank,
                          struct windows windows) {
    double n = 0;
    for (size_t i = 0, w = 0; i < rank->n; i++) {
        const struct mpi_event *event = &rank->events[i];
        while (w < windows.n && windows.items[w].end_ns <= event->enter_ns)
            w++;
        n += w < windows.n && event->enter_ns >= windows.items[w].begin_ns &&
             mpi_event_is_call(event) && mpi_event_function(log, event)->need != MPI_NEED_NOBODY;
    }
    return n;
}

/* Whether it worked until about the end. Otherwise it had a fixed share of work, and the run waits
 * for others.
 */
static bool works_to_the_end(const struct rank_iterations *its, struct windows windows,
                             double done) {
    int64_t begin = windows.items[0].begin_ns, end = windows.items[windows.n - 1].end_ns, last = 0;
    for (size_t i = 0; i < its->n; i++)
        if (its->items[i].end_ns > last && its->items[i].end_ns <= end)
            last = its->items[i].end_ns;
    double cycle = (double)windows_length(windows) / done;
    return (double)(last - begin) >= TO_THE_END * (double)(end - begin) ||
           (double)(end - last) <= CYCLES_TO_THE_END * cycle;
}

/* Whether most messages have no partner: who waits for whom is not known then. */
static bool is_unmatched(const struct call_matches *m) {
    return m->unmatched_sends + m->unmatched_receives > 2 * m->messages;
}

size_t free_running(const struct run_model *model, size_t log_ranks[FREE_RANKS_MAX]) {
    const struct mpi_log *log = &model->recording->calls;
    struct windows windows = phase_windows(&model->groups[model->main_group]);
    size_t least = SIZE_MAX, most = 0, n = 0;
    double grouped = 0;
    if (model->iterations.lockstep || model->iterations.n < 2 || !windows.n ||
        is_unmatched(&model->matches) ||
        (model->iterations.source != ITERATION_MARKER &&
         model->iterations.source != ITERATION_CALLS))
        return 0;
    for (size_t r = 0; r < log->n; r++) {
        const struct rank_iterations *its = free_running_iterations(model, r);
        double done = its ? free_running_done(its, windows) : 0;
        if (!(done >= 1))
            continue;
        if (n == FREE_RANKS_MAX || !works_to_the_end(its, windows, done))
            return 0;
        if (log_ranks)
            log_ranks[n] = r;
        n++;
        least = its->n < least ? its->n : least;
        most = its->n > most ? its->n : most;
        grouped = fmax(grouped, group_calls(log, &log->ranks[r], windows) / done);
    }
    double part = model->iterations.source == ITERATION_MARKER ? UNLIKE_MARKED : UNLIKE_FOUND;
    bool unlike = n >= 2 && (double)(most - least) >= fmax(UNLIKE_MIN, part * (double)most);
    return unlike && most >= DONE_MIN && grouped <= GROUPED_MAX ? n : 0;
}
