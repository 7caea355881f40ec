/* SPDX-License-Identifier: MIT */
/*
 * The verdict: which host's which resource the run waits for, or that none stands out. "Saturated"
 * is said only with evidence that the supply ran out, never from utilisation, and only if the run
 * would gain from more of it; "balanced" is an answer like any other. Where nothing saw inside MPI,
 * confidence never exceeds CONFIDENCE_CAP.
 *
 * It is codes and numbers; reports/says/verdict_words.h makes the sentences.
 */
#ifndef CHOKEPOINT_ANALYSIS_VERDICT_VERDICT_H
#define CHOKEPOINT_ANALYSIS_VERDICT_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/causes/candidate.h"
#include "analysis/causes/remark.h"

enum verdict_state { VERDICT_SATURATED, VERDICT_SUSPECTED, VERDICT_BALANCED, VERDICT_INSUFFICIENT };

/* "saturated", "suspected", "balanced", "insufficient" */
const char *verdict_state_name(enum verdict_state state);
/* Whether it says that somebody is to blame, surely or not. */
bool verdict_blames(enum verdict_state state);

struct run_model;
struct stragglers;

/* The same question asked of one phase: share of its time instead of a gain of the run's. */
struct verdict_phase {
    size_t group; /* of the model */
    enum verdict_state state;
    int host, rank;
    enum resource resource;
    enum cause_kind kind;
    double blocked;             /* share of the phase; NAN */
    struct candidate candidate; /* a copy that borrows, where somebody is blamed */
    double busy;                /* else so much of the time the ranks computed; NAN */
};

/* Why a candidate is not the verdict. */
enum verdict_lost { VERDICT_LOST_UNPROVEN, VERDICT_LOST_CLOSE, VERDICT_LOST_LESS };

/* Why nobody is blamed for what was busy. */
enum verdict_harmless_why { VERDICT_NOT_AWAITED, VERDICT_BUSY_HARMLESS, VERDICT_LITTLE_GAIN };

struct verdict_harmless {
    const struct candidate *candidate;
    enum verdict_harmless_why why;
    double at_most; /* share of the run */
};

struct verdict {
    enum verdict_state state;
    enum verdict_state leaning; /* the state if enough had been seen */
    int host;                   /* -1: none */
    int rank;                   /* -1: none is to blame */
    enum subject subject;
    enum resource resource;
    enum cause_kind kind;
    const struct candidate *candidate; /* that it rests on; borrowed of the candidates, or NULL */
    const struct straggler *straggler; /* or this one; borrowed, or NULL */
    struct remark cause;               /* where it rests on neither */
    struct remarks summary;            /* sentence by sentence, where it rests on no candidate */
    struct remark too_little; /* why it is "insufficient" whatever it looks like, or none */
    char *culprit;            /* another program that is to blame, by name; NULL */
    int64_t culprit_pid;
    double start_s, end_s;            /* it held only then; NAN: the whole run */
    double confidence;                /* 0..1 */
    double computed;                  /* what verdict_calibrated() was asked; NAN: nothing */
    double gain, gain_low, gain_high; /* shares of the run; NAN where not estimated */
    const char *gain_source;  /* "replay", "iterations" (where ranks run freely), "counters",
                                 "bound": only gain_high is known; NULL: nobody is blamed */
    struct refusal no_replay; /* why it is no "replay" */
    bool too_short;           /* to be judged: one line says so */
    struct remarks evidence, against, ruled_out, next; /* the rules' first */
    /* Values of its candidate: */
    double share_low, share_high;  /* 95 % of its share of the run's time */
    const struct candidate *other; /* the other direction of its link, or NULL */
    size_t n_alike;                /* other hosts that suffer the same nearly as much */
    const struct candidate *runner_up;
    enum verdict_lost lost;
    /* Values without a candidate: */
    const struct candidate *closest;   /* it would gain most, yet too little; NULL */
    struct verdict_harmless *harmless; /* what was busy */
    size_t n_harmless;
    struct verdict_phase *phases;
    size_t n_phases;
};

/* Judges. candidates and stragglers may be empty; they must outlive the verdict. -ENOMEM. */
int verdict_make(const struct run_model *model, struct candidates *candidates,
                 const struct stragglers *stragglers, struct verdict *ret_verdict);
void verdict_release(struct verdict *verdict);

/* Its resource is a direction of a link. */
bool candidate_is_link(const struct candidate *candidate);
/* The program is to blame, and no resource of the host. */
bool candidate_is_of_program(const struct candidate *candidate);

/* A confidence as computed, made such that of verdicts said with 0.9 nine in ten are right: a table
 * measured on the fault matrix (verdict_calibration.c). */
double verdict_calibrated(double confidence);

#endif
