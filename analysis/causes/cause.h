/* SPDX-License-Identifier: MIT */
/*
 * A cause: one way in which a run can be limited, with what it needs to see, and the function that
 * looks for it. A file of its own has all about it, and causes.def names it.
 */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_CAUSE_H
#define CHOKEPOINT_ANALYSIS_CAUSES_CAUSE_H

#include "analysis/causes/advice.h"

struct slowed;

struct cause {
    const char *name;       /* "link-queue": as thresholds, ablations and docs/rules.md call it */
    enum resource resource; /* of what it finds */
    enum cause_kind kind;   /* the usual one */
    unsigned needs;         /* bits of enum observed_source: without them it is blind */
    unsigned instead;       /* bits: with one of them it has nothing to say, another cause has */
    const struct number *const *numbers;      /* its own; NULL at the end */
    const struct remark_kind *const *remarks; /* its own; NULL at the end */
    const char *reason; /* the physics: why what it looks for holds up a run */
    /* Those whose findings decide what it says, and which are asked before; NULL: none. */
    const struct cause *const *yields_to;
    /* Adds what it finds in a group of the model. -ENOMEM. NULL: it only explains slow ranks. */
    int (*detect)(const struct run_model *model, size_t group, struct candidates *candidates);
    /* Why a rank is slower than its peers, if most of it is in that term of its time: fills cause,
     * cause_kind and culprit, and adds evidence. NULL: this is no cause of that. */
    enum budget_term slows;
    void (*explain)(const struct slowed *slowed, struct straggler *straggler);
    /* Adds what to do about one of its candidates; NULL: nothing is known that helps. */
    void (*advise)(const struct advised *advised);
    /* Takes back what gains, once they are known, speak against; NULL: nothing. */
    void (*settle)(const struct run_model *model, struct candidates *candidates);
};

/* YIELDS_TO(&cause_disk, &cause_memory) */
#define YIELDS_TO(...) ((const struct cause *const[]){__VA_ARGS__, NULL})

#define CAUSE(name) extern const struct cause cause_##name;
#include "analysis/causes/causes.def"

#endif
