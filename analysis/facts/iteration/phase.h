/* SPDX-License-Identifier: MIT */
/*
 * Phases of the run from the marks of the program: those of the lowest rank that marks any are the
 * run's, since ranks seldom agree to the millisecond and a table can have one division only.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_ITERATION_PHASE_H
#define CHOKEPOINT_ANALYSIS_FACTS_ITERATION_PHASE_H

#include "analysis/facts/recording/recording.h"

struct phase {
    char name[MARK_NAME_SIZE];
    int64_t begin_ns, end_ns; /* within the run */
};

/* Phases in time order, one for each time it was marked. One that never ended ends with the next
 * or with the run. *ret_phases is the caller's. -ENOMEM. */
int phases_from_marks(const struct recording *recording, struct phase **ret_phases, size_t *ret_n);

/* All stretches of one name together. */
struct phase_group {
    char name[MARK_NAME_SIZE];
    struct window *items;
    size_t n;
};

/* All time of the run that lies in no phase: the program marks only part of what it does. */
#define PHASE_OUTSIDE "unmarked time"

/* [0] is "all": the whole run; then one group a name in order of first appearance; then what lies
 * outside of all, where that is long enough to be judged and a twentieth of the run. -ENOMEM. */
int phase_groups_make(const struct phase *phases, size_t n, int64_t duration_ns,
                      struct phase_group **ret_groups, size_t *ret_n);
void phase_groups_free(struct phase_group *groups, size_t n);

/* For qsort of struct window: by their begin. */
int compare_windows(const void *a, const void *b);

static inline struct windows phase_windows(const struct phase_group *group) {
    return (struct windows){group->items, group->n};
}

#endif
