/* SPDX-License-Identifier: MIT */
/*
 * A cause: one way in which a run can be limited, with its sources, and the function that looks for
 * it. All of it is in a file of its own, and causes.def names it.
 */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_CAUSE_H
#define CHOKEPOINT_ANALYSIS_CAUSES_CAUSE_H

#include "analysis/causes/advice.h"

struct slowed;
struct whatif;

struct cause {
    const char *name;       /* "link-queue": its name in thresholds, ablations and docs/rules.md */
    enum resource resource; /* of its candidates */
    enum cause_kind kind;   /* usual kind of its candidates */
    unsigned needs;         /* bits of enum observed_source: all are required */
    unsigned instead;       /* bits: if one of them is there, another cause takes over */
    const struct number *const *numbers;      /* its own; ends with NULL */
    const struct remark_kind *const *remarks; /* its own; ends with NULL */
    const char *reason;                       /* the physical reason: why this holds up a run */
    /* Causes that are asked before and whose findings affect this one; NULL: none. */
    const struct cause *const *yields_to;
    /* Adds its candidates in a group of the model. -ENOMEM. NULL: it only explains slow ranks. */
    int (*detect)(const struct run_model *model, size_t group, struct candidates *candidates);
    /* Explains why a rank is slower than its peers, if most of the difference is in this term:
     * fills cause, cause_kind and culprit, and adds evidence. NULL: it explains no slow ranks. */
    enum budget_term slows;
    void (*explain)(const struct slowed *slowed, struct straggler *straggler);
    /* Adds advice on one of its candidates; NULL: it has none. */
    void (*advise)(const struct advised *advised);
    /* Adds a candidate if the others, whose gains are known, leave a gain open. -ENOMEM. NULL. */
    int (*detect_last)(const struct run_model *model, const struct whatif *whatif,
                       struct candidates *candidates);
    /* Removes candidates that the gains, once known, contradict; NULL: none. */
    void (*settle)(const struct run_model *model, struct candidates *candidates);
};

/* YIELDS_TO(&cause_disk, &cause_memory) */
#define YIELDS_TO(...) ((const struct cause *const[]){__VA_ARGS__, NULL})

#define CAUSE(name) extern const struct cause cause_##name;
#include "analysis/causes/causes.def"

#endif
