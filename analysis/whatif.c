/* SPDX-License-Identifier: MIT */
#include "analysis/whatif.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/scene.h"

struct whatif {
    const struct scene *scene;
    const char *refused;
};

int whatif_new(const struct scene *scene, struct whatif **ret_whatif) {
    struct whatif *w = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    *w = (struct whatif){.scene = scene, .refused = "its MPI calls were not replayed"};
    *ret_whatif = w;
    return 0;
}

void whatif_free(struct whatif *w) {
    free(w);
}

/* Seconds of the critical path that a scenario can take away at most. */
static double removable(const struct critical_path *path, const struct critical_part *part,
                        const struct whatif_scenario *s) {
    double sum = 0;
    enum budget_term term = s->kind == WHATIF_LINK  ? BUDGET_TRANSFER
                            : s->kind == WHATIF_CPU ? BUDGET_CPU
                                                    : s->term;
    if (s->kind == WHATIF_LIKE_PEERS || s->kind == WHATIF_BALANCED || s->kind == WHATIF_WORKERS)
        return NAN;
    for (size_t h = 0; h < path->n_hosts; h++)
        if (s->host < 0 || s->host == (int)h || s->kind == WHATIF_LINK)
            sum += critical_seconds(part, (int)h, term);
    if (s->kind == WHATIF_WITHOUT)
        return sum;
    return s->factor > 1 ? sum * (1 - 1 / s->factor) : 0;
}

int whatif_ask(const struct whatif *w, const struct whatif_scenario *scenarios, size_t n,
               struct whatif_answer *ret_answer) {
    const struct critical_part *part = &w->scene->critical.groups[w->scene->main_group];
    struct whatif_answer a = {.refused = w->refused,
                              .measured_s = part->length_s,
                              .replay_s = NAN,
                              .predicted_s = NAN,
                              .low_s = NAN,
                              .high_s = NAN,
                              .gain = NAN,
                              .gain_low = NAN,
                              .gain_high = NAN};
    double removed = 0;
    for (size_t i = 0; i < n; i++)
        removed += removable(&w->scene->critical, part, &scenarios[i]);
    a.bound_s = fmax(a.measured_s - removed, 0);
    a.gain_max = a.measured_s > 0 ? 1 - a.bound_s / a.measured_s : NAN;
    *ret_answer = a;
    return 0;
}
