/* SPDX-License-Identifier: MIT */
/*
 * Finds the process that the end of the run waits for, by counters: a process that hardly waits for
 * others itself. Waits before the hosts have exchanged anything (for files, for other processes to
 * start) occur once and do not count. A process that waits more, but little compared with its loss,
 * counts as awaited, too; then a part of its loss may have been hidden in those waits.
 */
#include <math.h>

#include "analysis/evidence/program_start.h"
#include "analysis/gain/gain_private.h"

#define WORKS 0.1 /* of the time: a process that computes less is a wrapper */
#define INSIDE budget_class_terms(BUDGET_CLASS_MPI)

double gain_waiting_s(const struct budget *b) {
    return b->source == BUDGET_FROM_EVENTS
               ? budget_sum(b, BIT(BUDGET_PEER_WAIT) | BIT(BUDGET_UNSPLIT))
               : budget_sum(b, BIT(BUDGET_IDLE) | INSIDE);
}

const struct budget *gain_budget(const struct run_model *model, size_t r, size_t group) {
    return &model->budgets.items[r].groups[group];
}

static double longest_s(const struct run_model *model, size_t group) {
    double longest = 0;
    for (size_t r = 0; r < model->budgets.n; r++)
        longest = fmax(longest, gain_budget(model, r, group)->wall_s);
    return longest;
}

bool gain_works(const struct run_model *model, size_t r, size_t group) {
    const struct budget *b = gain_budget(model, r, group);
    return b->wall_s > 0 && b->wall_s >= WORKS * longest_s(model, group) &&
           budget_sum(b, GAIN_OWN | BIT(BUDGET_MEMORY) | INSIDE) >= WORKS * b->wall_s;
}

int64_t gain_start(const struct run_model *model) {
    int64_t start_ns;
    return program_started(model, &start_ns) < 0 ? 0 : start_ns;
}

bool gain_slice_in(const struct run_model *model, size_t slice, size_t group) {
    int64_t run_ns = model->recording->duration_ns;
    int64_t middle = rank_budget_slice_begin(run_ns, slice) + run_ns / RANK_BUDGET_SLICES / 2;
    return windows_hold(phase_windows(&model->groups[group]), middle);
}

double gain_later(const struct run_model *model, size_t r, size_t group, int64_t start_ns,
                  double (*of)(const struct budget *)) {
    const struct rank_budget *b = &model->budgets.items[r];
    double sum = of(&b->groups[group]), run_ns = (double)model->recording->duration_ns;
    if (b->groups[group].source == BUDGET_FROM_EVENTS)
        return sum;
    for (size_t i = 0; i < RANK_BUDGET_SLICES; i++)
        if ((double)(i + 1) / RANK_BUDGET_SLICES * run_ns <= (double)start_ns &&
            gain_slice_in(model, i, group))
            sum -= of(&b->slices[i]);
    return fmax(sum, 0);
}

/* The slice after the budget's last recorded one. */
static size_t end_of(const struct rank_budget *b) {
    size_t n = RANK_BUDGET_SLICES;
    while (n > 0 && !(b->slices[n - 1].wall_s > 0))
        n--;
    return n;
}

bool gain_ends_last(const struct run_model *model, size_t who, size_t group) {
    const struct budget *b = gain_budget(model, who, group);
    double group_s = (double)windows_length(phase_windows(&model->groups[group])) / 1e9;
    if (b->wall_s < LIVES * group_s)
        return false;
    for (size_t r = 0; r < model->budgets.n; r++)
        if (gain_works(model, r, group) &&
            end_of(&model->budgets.items[r]) > end_of(&model->budgets.items[who]) + 1)
            return false;
    return true;
}

double gain_waits_s(const struct run_model *model, size_t who, size_t group) {
    return gain_later(model, who, group, gain_start(model), gain_waiting_s);
}

/* If several threads have no calls, it is not known which of them the end of the run waits for. */
bool gain_is_awaited(const struct run_model *model, size_t who, size_t group, double little_s) {
    const struct budget *b = gain_budget(model, who, group);
    bool one = b->source == BUDGET_FROM_EVENTS ? budget_closes(b)
                                               : b->other_cpu_s <= GAIN_HARDLY * b->wall_s;
    return one && gain_waits_s(model, who, group) <= fmax(GAIN_HARDLY * b->wall_s, little_s) &&
           gain_ends_last(model, who, group);
}
