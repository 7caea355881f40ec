/* SPDX-License-Identifier: MIT */
/*
 * What counters answer where no replay does: without what held up one process that hardly waits for
 * others (gain_counted.h). Of links, paces and numbers of workers they know nothing.
 */
#include <math.h>

#include "analysis/gain_counted.h"
#include "analysis/scene.h"
#include "analysis/throughput.h"
#include "analysis/whatif_private.h"

/* Asleep, a process without calls may wait for others as well. */
static bool is_counted(const struct scene *scene, const struct whatif_scenario *s) {
    return s->kind == WHATIF_WITHOUT && (s->term != BUDGET_IDLE || scene_has_path(scene)) &&
           !throughput_counts(scene, scene->main_group);
}

void whatif_count(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n,
                  struct whatif_answer *a) {
    const struct whatif_scenario *s = &scenarios[0];
    struct counted counted;
    if (n != 1 || !is_counted(w->scene, s))
        return;
    struct counted_loss loss = {.host = s->host,
                                .rank = -1,
                                .group = w->scene->main_group,
                                .terms = 1u << s->term,
                                .part = 1,
                                .everywhere = s->host < 0};
    if (!gain_counted(w->scene, &loss, &counted))
        return;
    a->counted = true;
    a->gain = counted.gain;
    a->gain_low = counted.gain_low;
    a->gain_high = counted.gain_high;
    a->predicted_s = a->measured_s * (1 - a->gain);
    a->low_s = a->measured_s * (1 - a->gain_high);
    a->high_s = a->measured_s * (1 - a->gain_low);
    a->bound_s = fmin(a->bound_s, a->low_s); /* the path may be short of what samples missed */
    a->gain_max = 1 - a->bound_s / a->measured_s;
}
