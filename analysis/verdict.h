/* SPDX-License-Identifier: MIT */
/*
 * The verdict: which host's which resource the run waits for, or that none stands out. It is made
 * from the kernel's counters and the program's marks alone. Since nothing here sees inside MPI,
 * confidence never exceeds VERDICT_CONFIDENCE_CAP, and "saturated" is said only with evidence that
 * the supply ran out (somebody waited), never from utilisation.
 */
#ifndef CHOKEPOINT_ANALYSIS_VERDICT_H
#define CHOKEPOINT_ANALYSIS_VERDICT_H

#include "analysis/finding.h"

#define VERDICT_CONFIDENCE_CAP 0.6

enum verdict_state { VERDICT_SATURATED, VERDICT_SUSPECTED, VERDICT_BALANCED, VERDICT_INSUFFICIENT };

/* "saturated", "suspected", "balanced", "insufficient" */
const char *verdict_state_name(enum verdict_state state);

struct candidates;
struct scene;
struct stragglers;

struct verdict {
    enum verdict_state state;
    int host;             /* -1: none */
    const char *resource; /* as in the JSON contract; static text */
    char *cause, *summary;
    double confidence;                /* 0..1 */
    double gain, gain_low, gain_high; /* shares of the run; NAN where not estimated */
    struct text_list evidence, against, ruled_out, next;
};

/* Judges. candidates and stragglers may be empty. -ENOMEM. */
int verdict_make(const struct scene *scene, const struct candidates *candidates,
                 const struct stragglers *stragglers, struct verdict *ret_verdict);
void verdict_release(struct verdict *verdict);

#endif
