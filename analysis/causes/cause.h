/* SPDX-License-Identifier: MIT */
/*
 * A rule: one way in which a run can be limited, with what it needs to see, and the function that
 * looks for it. The table in rules.c lists them in the order in which they are asked; a later one
 * may ask what an earlier one found.
 */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_CAUSE_H
#define CHOKEPOINT_ANALYSIS_CAUSES_CAUSE_H

#include "analysis/causes/finding.h"
#include "analysis/run_model.h"

struct candidates;

struct rule {
    const char *name;       /* "link-queue": as thresholds, ablations and docs/rules.md call it */
    enum resource resource; /* of what it finds */
    enum cause cause;       /* the usual one */
    unsigned needs;         /* bits of enum observed_source: without them the rule is blind */
    unsigned instead;       /* bits: with one of them it has nothing to say, another rule has */
    const char *reason;     /* the physics: why what it looks for holds up a run */
    /* Adds what it finds in a group of the model. -ENOMEM. */
    int (*detect)(const struct run_model *model, size_t group, struct candidates *candidates);
};

/* All rules in order; *ret_n. */
const struct rule *rule_list(size_t *ret_n);

/* The judge as an ablation wants it: a list "-RULE;NAME=VALUE;NAME*FACTOR;-source:NAME" of rules
 * and sources that are off and thresholds that are set. Once, before anything is judged. 0, or
 * -EINVAL: *ret_bad is the word that makes no sense. */
int rules_configure(const char *text, const char **ret_bad);
bool rule_is_off(const struct rule *rule);

#endif
