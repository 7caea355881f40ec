/* SPDX-License-Identifier: MIT */
/* Divides the time of a process without MPI by its wait clocks, and takes waits for a GPU out of
 * that of others. */
#include <math.h>

#include "analysis/time/budget_private.h"

#define CLOCKED_MIN 0.5 /* of an interval: its clocks covered at least this share */

/* Whether the clocks ran during the whole interval. */
static bool is_clocked(const struct budget_interval *i) {
    return process_time_sum(&i->clocks) >= CLOCKED_MIN * (double)(i->end_ns - i->begin_ns);
}

/* Counters of the host or group (steal, throttling, memory) count only within the clocks' own
 * states: steal while on a core, throttling while ready to run, memory while blocked.
 */
bool budget_divide_clocks(const struct budget_interval *i, double share, struct cell *c) {
    if (!is_clocked(i))
        return false;
    const struct process_time *t = &i->clocks;
    double steal = fmin(budget_amount(i->steal), t->run);
    double quota = fmin(budget_amount(i->quota), t->runnable);
    double blocked = t->disk + t->fault, memory = fmin(budget_amount(i->memory), blocked);
    double memory_cpu = fmin(budget_amount(i->memory_cpu), t->run - steal);
    double amounts[BUDGET_TERMS] = {[BUDGET_CPU] = t->run - steal - memory_cpu,
                                    [BUDGET_RUN_QUEUE] = t->runnable - quota,
                                    [BUDGET_QUOTA] = quota,
                                    [BUDGET_STEAL] = steal,
                                    [BUDGET_DISK] = blocked - memory,
                                    [BUDGET_MEMORY] = memory + memory_cpu,
                                    [BUDGET_GPU] = t->gpu,
                                    [BUDGET_GPU_COPY] = t->gpu_copy,
                                    [BUDGET_STOPPED] = t->stopped,
                                    [BUDGET_IDLE] = t->asleep,
                                    [BUDGET_PEER_WAIT] = t->peer,
                                    [BUDGET_TRANSFER] = t->send};
    for (int term = 0; term < BUDGET_TERMS; term++)
        c->term[term] += share * amounts[term];
    double polled = t->gpu + t->gpu_copy; /* at most: it may have slept */
    c->extra_cpu += share * fmax(budget_amount(i->cpu) - t->run - polled, 0);
    c->dark |= 1u << BUDGET_OVERHEAD | 1u << BUDGET_FILE | 1u << BUDGET_UNSPLIT;
    c->source = BUDGET_FROM_CLOCKS;
    return true;
}

/* ---- beside MPI ---- */

static const enum raw outside[] = {RAW_GAP_DARK, RAW_GAP_CPU, RAW_GAP_OFF};
#define N_OUTSIDE 3

static double outside_time(const double *raw) {
    return raw[RAW_GAP_DARK] + raw[RAW_GAP_CPU] + raw[RAW_GAP_OFF];
}

/* The part of each kind of time outside MPI that was a wait for the GPU: first of that whose CPU
 * use is not known, then of that on the CPU as far as it polled.
 */
static void find_gpu_parts(const double *raw, double waited, double polled,
                           double parts[N_OUTSIDE]) {
    double dark = fmin(waited, raw[RAW_GAP_DARK]), rest = waited - dark;
    double on = fmin(fmin(rest, polled), raw[RAW_GAP_CPU]);
    double off = fmin(rest - on, raw[RAW_GAP_OFF]);
    double taken[N_OUTSIDE] = {dark, on + (rest - on - off), off};
    for (size_t k = 0; k < N_OUTSIDE; k++)
        parts[k] = raw[outside[k]] > 0 ? fmin(taken[k] / raw[outside[k]], 1) : 0;
}

static void move(struct cell *c, const double parts[N_OUTSIDE], double copied) {
    for (size_t k = 0; k < N_OUTSIDE; k++) {
        double moved = c->raw[outside[k]] * parts[k];
        c->raw[outside[k]] -= moved;
        c->term[BUDGET_GPU] += moved * (1 - copied);
        c->term[BUDGET_GPU_COPY] += moved * copied;
    }
}

bool budget_take_gpu(const struct budget_interval *i, double part, double *raw, double *cpu_ns,
                     struct cells *cells, size_t first, size_t end, double *ret_kept) {
    const struct process_time *t = &i->clocks;
    double parts[N_OUTSIDE], all = t->gpu + t->gpu_copy, whole = outside_time(raw);
    double waited = fmin(fmax(part * all - raw[RAW_OF_GPU], 0), whole);
    *ret_kept = 1;
    if (!is_clocked(i) || all <= 0)
        return false;
    if (waited <= 0)
        return true;
    double beyond = part * (budget_amount(*cpu_ns) - t->run) - raw[RAW_INSIDE_CPU];
    double polled = fmin(fmax(beyond, 0), waited);
    find_gpu_parts(raw, waited, polled, parts);
    for (size_t c = first; c < end; c++) {
        if (!cells_has_events(cells, c) || !cells_at(cells, c))
            continue;
        move(cells_at(cells, c), parts, t->gpu_copy / all);
        if (cells->parts)
            move(cells_within(cells, c), parts, t->gpu_copy / all);
    }
    for (size_t k = 0; k < N_OUTSIDE; k++)
        raw[outside[k]] *= 1 - parts[k];
    *cpu_ns -= part > 0 ? polled / part : 0;
    *ret_kept = outside_time(raw) / whole;
    return true;
}
