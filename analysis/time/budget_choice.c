/* SPDX-License-Identifier: MIT */
/*
 * Chooses the processes that get budgets: the ranks, and helpers that a rank forked (a loader of
 * data), if wait clocks show that the rank waited for them.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/time/rank_budget_private.h"

#define HELPED_MIN 0.01 /* of the run: a rank waits this long for a helper */

static double cpu_of(const struct run_model *model, const struct model_process *process) {
    double cpu = model_group_use(model, process, 0).cpu_s;
    return isnan(cpu) ? 0 : cpu;
}

static bool speaks_mpi(const struct run_model *model, const struct model_process *process) {
    int64_t pid = model_process_pid(model, process);
    return mpi_log_find(&model->recording->calls, process->host, pid) != SIZE_MAX ||
           series_of_pid(&model->recording->tables[RECORDING_MPI], process->host, MPI_PID, pid);
}

/* A rank's wrappers and children carry its number, too: the process that calls MPI counts, else the
 * one that used most CPU.
 */
static bool is_better(const struct run_model *model, const struct model_process *a,
                      const struct model_process *b) {
    bool x = speaks_mpi(model, a), y = speaks_mpi(model, b);
    return x != y ? x : cpu_of(model, a) > cpu_of(model, b);
}

/* Whether both are one process under two names: a wrapper that became the program (exec). */
static bool became(const struct run_model *model, const struct model_process *process,
                   const struct model_process *other) {
    double own = cpu_of(model, process), others = cpu_of(model, other);
    return others > own || (others == own && other > process);
}

static bool has_better(const struct run_model *model, const struct model_process *process) {
    for (size_t p = 0; p < model->n_processes; p++) {
        const struct model_process *other = &model->processes[p];
        if (other != process && other->job && other->rank == process->rank &&
            other->host == process->host &&
            (model_process_pid(model, other) == model_process_pid(model, process)
                 ? became(model, process, other)
             : speaks_mpi(model, other) && speaks_mpi(model, process)
                 ? false /* two programs, one after the other */
                 : is_better(model, other, process)))
            return true;
    }
    return false;
}

static bool has_ranks(const struct run_model *model) {
    for (size_t p = 0; p < model->n_processes; p++)
        if (model->processes[p].job && model->processes[p].rank >= 0)
            return true;
    return false;
}

struct choice {
    const struct model_process *process;
    double cpu_s;
};

static int compare_chosen(const void *a, const void *b) {
    const struct choice *x = a, *y = b;
    if (x->process->rank != y->process->rank)
        return x->process->rank < y->process->rank ? -1 : 1;
    if (x->process->rank < 0 && x->cpu_s != y->cpu_s)
        return x->cpu_s > y->cpu_s ? -1 : 1;
    if (x->process->host != y->process->host)
        return x->process->host < y->process->host ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

/* Seconds for which ranks waited for it; the two names of one process count together. */
static double helped_s(const struct run_model *model, const struct model_process *process,
                       const struct model_process *const *ranks, size_t n) {
    const struct series_set *set = &model->recording->tables[RECORDING_WAKEUP];
    const struct windows all = phase_windows(&model->groups[0]);
    int64_t pid = model_process_pid(model, process);
    double sum = 0;
    for (size_t s = 0; s < set->n; s++) {
        const struct series *pair = &set->items[s];
        bool of_rank = false;
        if (pair->host != process->host || series_last(set, pair, WAKEUP_WAKER) != pid)
            continue;
        for (size_t r = 0; r < n; r++)
            of_rank |= ranks[r]->host == pair->host &&
                       model_process_pid(model, ranks[r]) == series_last(set, pair, WAKEUP_PID);
        if (of_rank)
            sum += fmax(series_growth(set, pair, WAKEUP_PROCESS, all, NULL), 0) / 1e9;
    }
    return sum;
}

static size_t add_helpers(const struct run_model *model, const struct model_process **chosen,
                          size_t n_ranks) {
    double run_s = (double)model->recording->duration_ns / 1e9;
    size_t n = n_ranks;
    if (!model->recording->tables[RECORDING_WAIT].n || model->recording->calls.n)
        return 0;
    for (size_t p = 0; p < model->n_processes && n < RANK_BUDGET_CLOCKED_MAX; p++) {
        const struct model_process *process = &model->processes[p];
        if (process->job && process->rank < 0 && !process->launcher &&
            helped_s(model, process, chosen, n_ranks) >= HELPED_MIN * run_s)
            chosen[n++] = process;
    }
    return n - n_ranks;
}

int budget_choose(const struct run_model *model, const struct model_process **chosen, size_t *ret_n,
                  size_t *ret_helpers) {
    struct choice *found = calloc(model->n_processes + 1, sizeof *found);
    bool ranks = has_ranks(model);
    size_t n = 0;
    if (!found)
        return -ENOMEM;
    for (size_t p = 0; p < model->n_processes; p++) {
        const struct model_process *process = &model->processes[p];
        if (process->job && (ranks ? process->rank >= 0 && !has_better(model, process)
                                   : !process->launcher && cpu_of(model, process) > 0))
            found[n++] = (struct choice){process, cpu_of(model, process)};
    }
    if (n)
        qsort(found, n, sizeof *found, compare_chosen);
    size_t most = model->recording->tables[RECORDING_WAIT].n ? RANK_BUDGET_CLOCKED_MAX
                                                             : RANK_BUDGET_PROCESSES_MAX;
    n = ranks || n < most ? n : most;
    for (size_t i = 0; i < n; i++)
        chosen[i] = found[i].process;
    *ret_n = n;
    *ret_helpers = ranks ? add_helpers(model, chosen, n) : 0;
    free(found);
    return 0;
}
