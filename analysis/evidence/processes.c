/* SPDX-License-Identifier: MIT */
/*
 * Answers that the detectors of all resources share: how much of the critical path a host or a rank
 * spends on a term (or, if ranks run freely, how many iterations that costs), how busy ranks are,
 * and who else runs on a host. A process outside the job is named only if it was seen; cores may be
 * shared with programs that a host cannot see (containers, emulated hosts).
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/evidence/processes.h"
#include "analysis/facts/series/stats.h"
#include "analysis/number.h"

/* The longest time for which a process of the job has a budget. */
static double longest_life(const struct run_model *model, size_t group) {
    double longest = 0;
    for (size_t r = 0; r < model->budgets.n; r++)
        longest = fmax(longest, model->budgets.items[r].groups[group].wall_s);
    return longest;
}

/* A process that lived for a moment shows nothing about the run. If all are like that (make), their
 * sum does.
 */
double model_worst_rank(const struct run_model *model, size_t group, int host,
                        enum budget_term term, size_t *ret_rank) {
    double most = -1, sum = 0, lives = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct budget *b = &model->budgets.items[r].groups[group];
        if (model->budgets.items[r].host != host || !(b->wall_s > 0) || isnan(b->term_s[term]))
            continue;
        sum += b->term_s[term];
        lives += b->wall_s;
        if (b->term_s[term] > most && ret_rank)
            *ret_rank = r;
        most = fmax(most, b->term_s[term]);
    }
    return lives > 0 ? fmax(most / longest_life(model, group), sum / lives) : NAN;
}

const struct budget *saturation_budget(const struct run_model *model,
                                       const struct model_process *process, size_t group) {
    int64_t pid = model_process_pid(model, process);
    return rank_budget_trusted(&model->budgets, process->host, pid, group);
}

/* ---- busy ---- */

static const struct rank_budget *budgets_of(const struct run_model *model,
                                            const struct model_process *process) {
    int64_t pid = model_process_pid(model, process);
    for (size_t r = 0; process->job && r < model->budgets.n; r++)
        if (model->budgets.items[r].host == process->host && model->budgets.items[r].pid == pid)
            return &model->budgets.items[r];
    return NULL;
}

const struct budget *saturation_counted(const struct run_model *model,
                                        const struct model_process *process, size_t group) {
    const struct rank_budget *all = budgets_of(model, process);
    const struct budget *b = all ? &all->groups[group] : NULL;
    return b && b->source == BUDGET_FROM_COUNTERS && b->wall_s > 0 && budget_closes(b) ? b : NULL;
}

/* Wrappers that started a rank carry its number, too, and wait for it all the time. */
bool model_is_rank(const struct run_model *model, const struct model_process *process) {
    return process->rank >= 0 && budgets_of(model, process) != NULL;
}

/* Without ranks: the processes of a host together keep it busy for at most the whole time. Hosts of
 * which the job asked nothing are not counted. */
static size_t hosts_busy(const struct run_model *model, size_t group, double *shares) {
    size_t n = 0;
    for (size_t h = 0; h < model->n_hosts; h++) {
        double cpu = model_mean(model, (int)h, METRIC_JOB_CPU, group);
        double queue = model_mean(model, (int)h, METRIC_JOB_RUN_QUEUE, group);
        if (model->hosts[h].has_job && !isnan(cpu))
            shares[n++] = fmin(1, (cpu + (isnan(queue) ? 0 : queue)) / 100);
    }
    return n;
}

bool processes_come_and_go(const struct run_model *model, size_t group) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    struct windows windows = phase_windows(&model->groups[group]);
    double seen = 0, unseen = 0;
    for (size_t s = 0; s < set->n; s++) {
        if (!series_ever(set, &set->items[s], PROCESS_JOB, 1))
            continue;
        seen += series_growth(set, &set->items[s], PROCESS_USER, windows, NULL) +
                series_growth(set, &set->items[s], PROCESS_SYSTEM, windows, NULL);
        unseen += series_growth(set, &set->items[s], PROCESS_UNSEEN, windows, NULL);
    }
    return unseen > seen;
}

static size_t count_computing(const struct run_model *model, size_t group, int host) {
    size_t computing = 0;
    for (size_t r = 0; r < model->budgets.n; r++) {
        const struct budget *b = &model->budgets.items[r].groups[group];
        computing += model->budgets.items[r].host == host && b->wall_s > 0 &&
                     b->term_s[BUDGET_CPU] >= number_of(model, ONE_CORE_LITTLE) * b->wall_s;
    }
    return computing;
}

bool processes_fill_their_cores(const struct run_model *model, size_t group) {
    bool more = false;
    for (size_t r = 0; r < model->budgets.n; r++)
        if (model->budgets.items[r].rank >= 0)
            return false;
    for (size_t h = 0; h < model->n_hosts; h++) {
        double used = model_mean(model, (int)h, METRIC_JOB_CPU, group) / 100;
        size_t cores = model->hosts[h].n_cpus;
        if (used >= number_of(model, ONE_CORE_LITTLE) &&
            used < number_of(model, MACHINE_FULL) * (double)cores)
            return false;
        more |= count_computing(model, group, (int)h) > cores;
    }
    return more;
}

static double term(const struct budget *budget, enum budget_term which) {
    return isnan(budget->term_s[which]) ? 0 : budget->term_s[which];
}

/* Share of time outside MPI in which it ran or was ready to run. */
static double busy_share(const struct budget *b) {
    return (term(b, BUDGET_CPU) + term(b, BUDGET_RUN_QUEUE) + term(b, BUDGET_QUOTA)) / b->wall_s;
}

/* Ranks are sampled more often than processes, whose own counters miss up to the last second. */
static double rank_busy(const struct run_model *model, const struct model_process *process,
                        size_t group) {
    const struct budget *b = &budgets_of(model, process)->groups[group];
    if (b->wall_s > 0 && budget_closes(b) && b->source != BUDGET_FROM_TOTALS)
        return busy_share(b);
    struct process_use use = model_group_use(model, process, group);
    return (use.cpu_s + (isnan(use.run_queue_s) ? 0 : use.run_queue_s)) / use.wall_s;
}

double ranks_busy(const struct run_model *model, size_t group) {
    double *shares = malloc((model->n_processes + model->n_hosts + 1) * sizeof *shares);
    size_t n = 0;
    for (size_t p = 0; shares && p < model->n_processes; p++) {
        const struct model_process *process = &model->processes[p];
        double share = model_is_rank(model, process) ? rank_busy(model, process, group) : NAN;
        if (!isnan(share))
            shares[n++] = share;
    }
    if (shares && !n)
        n = hosts_busy(model, group, shares);
    double busy = stats_median(shares, n);
    free(shares);
    return busy;
}

/* ---- cores that hosts share ---- */

/* ---- others on a host ---- */

typedef double use_of(const struct process_use *use);

static double cores_of(const struct process_use *use) {
    return use->cpu_s / use->wall_s;
}
static double bytes_of(const struct process_use *use) {
    double read = isnan(use->read_bytes) ? 0 : use->read_bytes;
    return (read + use->write_bytes) / use->wall_s;
}

#define ALIKE_PART 0.5 /* of the largest: alike */

static bool is_older(const struct series_set *set, const struct series *a, const struct series *b) {
    int64_t begun[] = {series_last(set, a, PROCESS_START), series_last(set, b, PROCESS_START)};
    return begun[0] != begun[1]
               ? begun[0] < begun[1]
               : series_last(set, a, PROCESS_PID) < series_last(set, b, PROCESS_PID);
}

/* If several processes run one program, the one started first stands for all: which one used most
 * varies by chance.
 */
static const struct model_process *first_alike(const struct run_model *model, size_t group,
                                               const struct model_process *most, use_of *of,
                                               double value) {
    const struct series_set *set = &model->recording->tables[RECORDING_PROCESS];
    const struct model_process *first = most;
    for (size_t p = 0; p < model->n_processes; p++) {
        const struct model_process *at = &model->processes[p];
        if (at->host != most->host || at->job ||
            !key_same_program(&at->series->key, &most->series->key) ||
            !is_older(set, at->series, first->series))
            continue;
        struct process_use use = model_group_use(model, at, group);
        first = of(&use) >= ALIKE_PART * value ? at : first;
    }
    return first;
}

static const struct model_process *most_foreign(const struct run_model *model, size_t group,
                                                int host, use_of *of, double *ret_most) {
    const struct model_process *most = NULL;
    *ret_most = 0;
    const struct model_process *process = NULL;
    while ((process = model_next_process(model, host, false, process))) {
        struct process_use use = model_group_use(model, process, group);
        double value = of(&use);
        if (value > *ret_most) {
            *ret_most = value;
            most = process;
        }
    }
    const struct model_process *first =
        most ? first_alike(model, group, most, of, *ret_most) : NULL;
    if (first != most) {
        struct process_use use = model_group_use(model, first, group);
        *ret_most = of(&use);
    }
    return first;
}

const struct model_process *busiest_foreign(const struct run_model *model, size_t group, int host,
                                            double *ret_cores) {
    return most_foreign(model, group, host, cores_of, ret_cores);
}

const struct model_process *writing_foreign(const struct run_model *model, size_t group, int host,
                                            double *ret_bytes_s) {
    return most_foreign(model, group, host, bytes_of, ret_bytes_s);
}

struct culprit culprit_of(const struct run_model *model, const struct model_process *process) {
    return (struct culprit){process->series->name, model_process_pid(model, process)};
}
