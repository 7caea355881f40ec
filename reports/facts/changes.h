/* SPDX-License-Identifier: MIT */
/*
 * Gains of changes, each the answer of the what-if engine to the scenario that its command asks: of
 * single changes, of two at once, and of one at several factors. Two changes are asked for together
 * because their gains do not add up: what one lifts, the other may hold up.
 */
#ifndef CHOKEPOINT_REPORTS_FACTS_CHANGES_H
#define CHOKEPOINT_REPORTS_FACTS_CHANGES_H

#include "analysis/verdict/judgement.h"

/* A change that makes the run shorter, as the answer of `chokepoint whatif` to `options`. */
struct report_change {
    char *change, *limit;               /* in words: the change; what it relieves */
    char *options;                      /* NULL: no option asks it */
    double gain_pct, low_pct, high_pct; /* of the run time */
    const char *source;                 /* static: "replay", "iterations", "counters" */
    char letter;                        /* 'A' ... of those asked for together; 0 */
    bool advised;                       /* the verdict's gain is its gain */
};
#define REPORT_CHANGES_TOGETHER_MAX 4 /* these are asked for in pairs, too: six */

struct report_together {  /* two changes at once: one answer, no sum */
    size_t first, second; /* of changes */
    char *options;
    double gain_pct, low_pct, high_pct;
    const char *source;
};

/* One change at several factors. */
#define REPORT_FACTORS 5
struct report_factors {
    size_t change; /* of changes, whose limit it relieves */
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
    struct report_change *single; /* the one that gains most first */
    size_t n;
    struct report_together *together; /* the one that gains most first */
    size_t n_together;
    struct report_factors factors[REPORT_FACTORS_MAX];
    size_t n_factors;
};

/* -ENOMEM. */
int changes_ask(const struct judgement *judgement, struct changes *ret_changes);
void changes_release(struct changes *changes);

#endif
