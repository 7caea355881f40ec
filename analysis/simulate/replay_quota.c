/* SPDX-License-Identifier: MIT */
/*
 * CPU quotas that a run did not have. A rank gets a part of each period; when it has used that up,
 * by computing or by spinning in a wait, it stands still until the next period. (Periods are the
 * kernel's default of 100 ms, counted from the run's start on every host; the ranks of a host share
 * its quota evenly.)
 */
#include <errno.h>
#include <math.h>

#include "analysis/simulate/replay_run.h"

#define PERIOD_NS INT64_C(100000000)

int replay_quota_init(struct run *run) {
    const struct replay *p = run->p;
    const double *quota = run->change ? run->change->quota : NULL;
    bool any = false;
    for (size_t h = 0; quota && h < p->model->n_hosts; h++)
        any |= isfinite(quota[h]);
    if (!any)
        return 0;
    run->quota = calloc(p->n_ranks + 1, sizeof *run->quota);
    if (!run->quota)
        return -ENOMEM;
    for (size_t r = 0; r < p->n_ranks; r++) {
        size_t n = 0;
        for (size_t k = 0; k < p->n_ranks; k++)
            n += p->ranks[k].host == p->ranks[r].host && p->ranks[k].n;
        run->quota[r] = n ? quota[p->ranks[r].host] / (double)n : INFINITY;
    }
    return 0;
}

static bool has_quota(const struct run *run, uint32_t rank) {
    return run->quota && run->quota[rank] < 1;
}

static int64_t period_of(int64_t t) {
    return t >= 0 ? t / PERIOD_NS : (t + 1) / PERIOD_NS - 1;
}

/* The rank's remaining quota in the period that contains t. */
static double left_at(const struct run *run, uint32_t rank, int64_t t) {
    struct rank_state *r = &run->ranks[rank];
    if (period_of(t) != r->period) {
        r->period = period_of(t);
        r->used_ns = 0;
    }
    return fmax(run->quota[rank] * (double)PERIOD_NS - (double)r->used_ns, 0);
}

int64_t replay_quota_spend(struct run *run, uint32_t rank, int64_t ns, int64_t cpu_ns) {
    struct rank_state *r = &run->ranks[rank];
    int64_t t = r->now;
    if (!has_quota(run, rank) || ns <= 0 || cpu_ns <= 0)
        return t + ns;
    double on = fmin((double)cpu_ns / (double)ns, 1), rest = (double)ns;
    double each = fmin(run->quota[rank] / on, 1) * (double)PERIOD_NS;
    for (;;) {
        double left = left_at(run, rank, t) / on;
        double step = fmin(fmin(rest, left), (double)((r->period + 1) * PERIOD_NS - t));
        r->used_ns += (int64_t)ceil(step * on);
        rest -= step;
        if (rest < 1)
            return t + (int64_t)ceil(step);
        double whole = ceil(rest / each) - 1; /* periods that it uses up completely */
        if (whole * (double)PERIOD_NS > (double)TIME_SANE_NS) {
            run->error = -E2BIG;
            return t;
        }
        rest -= whole * each;
        t = (r->period + 1 + (int64_t)whole) * PERIOD_NS;
    }
}

int64_t replay_quota_wait(struct run *run, uint32_t rank, int64_t t, double spins) {
    struct rank_state *r = &run->ranks[rank];
    int64_t since = r->waits_ns;
    if (!has_quota(run, rank))
        return t;
    if (period_of(t) != period_of(since))
        since = period_of(t) * PERIOD_NS;
    double left = left_at(run, rank, t), used = spins * (double)(t - since);
    r->used_ns += (int64_t)fmin(used, left);
    return used >= left ? (r->period + 1) * PERIOD_NS : t;
}
