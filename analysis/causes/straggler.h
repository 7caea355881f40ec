/* SPDX-License-Identifier: MIT */
/*
 * Stragglers: ranks slower than their peers, which are the ranks of the same role. A rank is judged
 * by its own time: the iteration less its waits for others. Without calls of MPI the own time of a
 * rank that runs freely is the whole iteration. For ranks in step every iteration takes equally
 * long, and the time in which a rank used or wanted the processor or the disk replaces its own
 * time. No straggler is better than a wrong one: with too little evidence none is named, and `note`
 * says why.
 */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_STRAGGLER_H
#define CHOKEPOINT_ANALYSIS_CAUSES_STRAGGLER_H

#include <stdbool.h>

#include "analysis/causes/finding.h"
#include "analysis/causes/remark.h"
#include "analysis/gain/whatif.h"
#include "analysis/run_model.h"

struct straggler {
    int host, rank;
    const char *kind; /* persistent, intermittent, onset */
    double slowdown;  /* own median time over the peers', from its onset on */
    double flagged;   /* share of all iterations */
    double begin_s;   /* time of an onset; else NAN */
    double severity;  /* run time over the run time with this rank like its peers, by replay; NAN */
    double severity_max; /* upper bound by the critical path; NAN */
    double explained;    /* part of the excess that the cause explains; NAN */
    struct remark cause;
    enum cause_kind cause_kind;
    const char *culprit; /* another program that is to blame, named by the model; NULL: none */
    int64_t culprit_pid;
    struct remarks evidence;
};

struct stragglers {
    struct straggler *items; /* the slowest first */
    size_t n;
    bool judged;        /* ranks were compared */
    struct remark note; /* basis of comparison, or why there is none; empty without iterations */
};

/* -ENOMEM. */
int straggler_find(const struct run_model *model, const struct whatif *whatif,
                   struct stragglers *ret_stragglers);
void stragglers_release(struct stragglers *stragglers);

/* ---- the arithmetic, on plain numbers ---- */

struct straggler_judgement {
    double ratio;     /* of the medians, from `from` on */
    double flagged;   /* share of own[i] >= STRAGGLER_RATIO x reference[i] in all i */
    double share;     /* the same share from `from` on */
    size_t from;      /* index of an onset; else 0 */
    const char *kind; /* NULL: no straggler */
};

/* judge: NULL is the usual judge. Compares own[i] of a rank with reference[i] of its peers, i =
 * 0..n; peer_medians has n_peers values. */
struct straggler_judgement straggler_judge(const struct judge *judge, const double *own,
                                           const double *reference, size_t n,
                                           const double *peer_medians, size_t n_peers);

#endif
