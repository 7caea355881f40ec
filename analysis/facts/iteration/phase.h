/* SPDX-License-Identifier: MIT */
/*
 * Phases of the run from the marks of the program. The lowest rank that marks any sets the run's
 * phases: ranks seldom agree to the millisecond, and a table needs one division.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_PHASE_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_PHASE_H

#include "analysis/facts/recording/recording.h"

struct phase {
    char name[MARK_NAME_SIZE];
    int64_t begin_ns, end_ns; /* within the run */
};

/* Phases in time order, one for each time it was marked. A phase that never ended ends at the next
 * phase or with the run. The caller owns *ret_phases. -ENOMEM.
 */
int phases_from_marks(const struct recording *recording, struct phase **ret_phases, size_t *ret_n);

/* All stretches of one name. */
struct phase_group {
    char name[MARK_NAME_SIZE];
    struct window *items;
    size_t n;
};

/* The group of all time outside phases, as a program may mark only a part of its work. */
#define PHASE_OUTSIDE "unmarked time"

/* Makes group [0], "all", the whole run; then a group for each name in order of first appearance;
 * then a group for time outside all phases, if it is long enough to be judged and a twentieth of
 * the run. -ENOMEM.
 */
int phase_groups_make(const struct phase *phases, size_t n, int64_t duration_ns,
                      const struct judge *judge, struct phase_group **ret_groups, size_t *ret_n);
void phase_groups_free(struct phase_group *groups, size_t n);

/* For qsort of struct window: by begin. */
int compare_windows(const void *a, const void *b);

static inline struct windows phase_windows(const struct phase_group *group) {
    return (struct windows){group->items, group->n};
}

#endif
