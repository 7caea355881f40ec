/* SPDX-License-Identifier: MIT */
#include "cli/sweep/plan.h"

size_t plan_steps(const size_t *made, size_t n_cells, int repeats, struct sweep_step *steps) {
    size_t n = 0;
    for (int repeat = 1; repeat <= repeats; repeat++)
        for (size_t cell = 0; cell < n_cells; cell++)
            if (made[cell] < (size_t)repeat)
                steps[n++] = (struct sweep_step){cell, repeat};
    return n;
}

/* Sums of numbers from a database may overflow. */
static int64_t added(int64_t sum_ns, int64_t ns) {
    int64_t sum;
    return __builtin_add_overflow(sum_ns, ns, &sum) ? INT64_MAX : sum;
}

void plan_take(struct sweep_pace *pace, int64_t took_ns) {
    pace->sum_ns = added(pace->sum_ns, took_ns);
    pace->n++;
}

int64_t plan_left_ns(const struct sweep_step *steps, size_t n_steps, const struct sweep_pace *pace,
                     size_t n_cells) {
    struct sweep_pace all = {0};
    int64_t left_ns = 0;
    for (size_t cell = 0; cell < n_cells; cell++) {
        all.sum_ns = added(all.sum_ns, pace[cell].sum_ns);
        all.n += pace[cell].n;
    }
    if (!all.n)
        return -1;
    for (size_t i = 0; i < n_steps; i++) {
        const struct sweep_pace *own = &pace[steps[i].cell];
        left_ns =
            added(left_ns, own->n ? own->sum_ns / (int64_t)own->n : all.sum_ns / (int64_t)all.n);
    }
    return left_ns;
}
