/* SPDX-License-Identifier: MIT */
/*
 * Stragglers: ranks slower than their peers of the same role. Where ranks run freely their own
 * iteration times tell. Where they move together every iteration takes all of them equally long;
 * then the time a rank itself used or wanted the processor or the disk stands for its own time,
 * which process counters give once a second. Better no straggler than a wrong one: with too little
 * to go by none is named, and `note` says why.
 */
#ifndef CHOKEPOINT_ANALYSIS_STRAGGLER_H
#define CHOKEPOINT_ANALYSIS_STRAGGLER_H

#include "analysis/finding.h"
#include "analysis/scene.h"

#define STRAGGLER_RATIO 1.10    /* own time over the peers' median */
#define STRAGGLER_SHARE 0.60    /* of the iterations */
#define STRAGGLER_ITERATIONS 10 /* at least */
#define STRAGGLER_P 1e-3        /* of so many flagged ones by chance (a fair coin each) */
#define STRAGGLER_Z 3.5         /* robust z of the median, with four or more peers */
#define STRAGGLER_GAIN 0.05     /* of an iteration: an excess below that is not worth naming */

struct straggler {
    int host, rank;
    const char *kind; /* persistent, intermittent, onset */
    double slowdown;  /* own median time over the peers' */
    double flagged;   /* share of the iterations */
    double explained; /* share of the excess that the cause explains; NAN */
    char *cause;
    struct text_list evidence;
};

struct stragglers {
    struct straggler *items; /* the slowest first */
    size_t n;
    char *note; /* what was compared, or why nothing could be; NULL if there are no iterations */
};

/* -ENOMEM. */
int straggler_find(const struct scene *scene, struct stragglers *ret_stragglers);
void stragglers_release(struct stragglers *stragglers);

/* ---- the arithmetic, on plain numbers ---- */

struct straggler_judgement {
    double ratio, flagged; /* medians; share of own[i] >= STRAGGLER_RATIO x reference[i] */
    const char *kind;      /* NULL: no straggler */
};

/* own[i] of a rank against reference[i] of its peers, i = 0..n; peer_medians of the n_peers. */
struct straggler_judgement straggler_judge(const double *own, const double *reference, size_t n,
                                           const double *peer_medians, size_t n_peers);

#endif
