/* SPDX-License-Identifier: MIT */
#include "reports/facts/levels.h"

#include <math.h>

#define LEVELS_MOST 4 /* times the verdict's share */

/* A limit may also take time of processes beside the path. Levels that contradict the verdict's
 * share because of that are left out. */
struct limit_levels limit_levels_of(const struct judgement *judgement) {
    const struct candidate *c = judgement->verdict.candidate;
    struct limit_levels levels = {.known = false};
    double sum = 0;
    for (size_t i = 0; c && i < LIMIT_LEVELS; i++) {
        levels.share[i] = fmin(fmax(candidate_level(judgement->model, c, i), 0), 1);
        levels.known |= levels.share[i] > 0;
        sum += isnan(levels.share[i]) ? 0 : levels.share[i];
    }
    if (c && sum / LIMIT_LEVELS > LEVELS_MOST * c->run_share)
        levels.known = false;
    return levels;
}
