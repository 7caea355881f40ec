/* SPDX-License-Identifier: MIT */
/*
 * The verdict: which host's which resource the run waits for, or that none stands out. "Saturated"
 * is said only with evidence that the supply ran out, never from utilisation, and only if the run
 * would gain from more of it; "balanced" is an answer like any other. Where nothing saw inside MPI,
 * confidence never exceeds VERDICT_CONFIDENCE_CAP.
 */
#ifndef CHOKEPOINT_ANALYSIS_VERDICT_VERDICT_H
#define CHOKEPOINT_ANALYSIS_VERDICT_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/facts/text_list.h"
#include "analysis/rules/finding.h"

/* Without calls: of 71 verdicts that named a resource which the kernel showed to run out all were
 * right; those without such evidence were, too, but they were ten. */
#define VERDICT_CONFIDENCE_CAP 0.9
#define VERDICT_CONFIDENCE_LEAN 0.75
/* With the calls of the fault matrix's MPI runs taken away (-source:calls), 131 of 138 verdicts
 * "saturated" were right, and 16 of 41 "suspected". */
#define VERDICT_CONFIDENCE_BLIND 0.4
#define VERDICT_CONFIDENCE_MAX 0.98 /* nothing is certain */

enum verdict_state { VERDICT_SATURATED, VERDICT_SUSPECTED, VERDICT_BALANCED, VERDICT_INSUFFICIENT };

/* "saturated", "suspected", "balanced", "insufficient" */
const char *verdict_state_name(enum verdict_state state);
/* Whether it says that somebody is to blame, surely or not. */
bool verdict_blames(enum verdict_state state);

struct candidates;
struct run_model;
struct stragglers;

/* The same question asked of one phase: share of its time instead of a gain of the run's. */
struct verdict_phase {
    size_t group; /* of the model */
    enum verdict_state state;
    int host, rank;
    enum resource resource;
    enum cause kind;
    double blocked; /* share of the phase; NAN */
    char *summary;
};

struct verdict {
    enum verdict_state state;
    int host; /* -1: none */
    int rank; /* -1: none is to blame */
    enum subject subject;
    enum resource resource;
    enum cause kind;
    char *cause, *summary;
    char *culprit; /* another program that is to blame, by name; NULL */
    int64_t culprit_pid;
    double start_s, end_s;            /* it held only then; NAN: the whole run */
    double confidence;                /* 0..1 */
    double computed;                  /* what verdict_calibrated() was asked; NAN: nothing */
    double gain, gain_low, gain_high; /* shares of the run; NAN where not estimated */
    const char *gain_source; /* "replay", "iterations" (where ranks run freely), "counters",
                                "bound": only gain_high is known; NULL: nobody is blamed */
    bool too_short;          /* to be judged: one line says so */
    struct text_list evidence, against, ruled_out, next;
    struct verdict_phase *phases;
    size_t n_phases;
};

/* Judges. candidates and stragglers may be empty. -ENOMEM. */
int verdict_make(const struct run_model *model, struct candidates *candidates,
                 const struct stragglers *stragglers, struct verdict *ret_verdict);
void verdict_release(struct verdict *verdict);

/* A confidence as computed, made such that of verdicts said with 0.9 nine in ten are right: a table
 * measured on the fault matrix (verdict_calibration.c). */
double verdict_calibrated(double confidence);

#endif
