/* SPDX-License-Identifier: MIT */
/*
 * Gains of changes, each the answer of the what-if engine to the scenario of its command: for
 * single changes, for two at once, and for one at several factors. Two changes are asked for
 * together because their gains do not add up: one may relieve what then waits for the other.
 */
#ifndef CHOKEPOINT_REPORTS_FACTS_CHANGES_H
#define CHOKEPOINT_REPORTS_FACTS_CHANGES_H

#include "analysis/verdict/judgement.h"

/* A change that makes the run shorter, as the answer of `chokepoint whatif` to `options`. */
struct report_change {
    char *change, *limit;               /* in words: the change; the limit that it relieves */
    char *options;                      /* NULL: no option expresses it */
    double gain_pct, low_pct, high_pct; /* of the run time */
    const char *source;                 /* static: "replay", "iterations", "counters" */
    char letter;                        /* 'A' ... if it is asked for in pairs; else 0 */
    bool advised;                       /* the verdict gives this gain */
};
#define REPORT_CHANGES_TOGETHER_MAX 4 /* these form six pairs */

struct report_together {  /* two changes at once: an answer, not a sum */
    size_t first, second; /* indexes of single changes */
    char *options;
    double gain_pct, low_pct, high_pct;
    const char *source;
};

/* One change at several factors. */
#define REPORT_FACTORS 5
struct report_factors {
    size_t change; /* index of a single change of the same limit */
    char *what;    /* "vm1's link" */
    struct report_factor {
        double factor, gain_pct, low_pct, high_pct;
        char *options;
    } points[REPORT_FACTORS];
    size_t n;
};
#define REPORT_FACTORS_MAX 2

/* Texts are owned. */
struct changes {
    struct report_change *single; /* the largest gain first */
    size_t n;
    struct report_together *together; /* the largest gain first */
    size_t n_together;
    struct report_factors factors[REPORT_FACTORS_MAX];
    size_t n_factors;
};

/* -ENOMEM. */
int changes_ask(const struct judgement *judgement, struct changes *ret_changes);
void changes_release(struct changes *changes);

#endif
