/* SPDX-License-Identifier: MIT */
/*
 * The verdict: the host and the resource for which the run waits, or that none stands out.
 * "Saturated" needs evidence that the supply ran out, never only utilisation, and a gain of the run
 * from more of it; "balanced" is an answer like any other. Without observation inside MPI,
 * confidence never exceeds CONFIDENCE_CAP.
 *
 * It consists of codes and numbers; reports/says/verdict_words.h makes the sentences.
 */
#ifndef CHOKEPOINT_ANALYSIS_VERDICT_VERDICT_H
#define CHOKEPOINT_ANALYSIS_VERDICT_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/causes/candidate.h"
#include "analysis/causes/remark.h"

enum verdict_state {
    VERDICT_SATURATED,
    VERDICT_SUSPECTED,
    VERDICT_BALANCED,
    VERDICT_INSUFFICIENT,
    VERDICT_IDLE
};

/* How far a sentence commits itself. Only the confidence decides, so that the word and the figure
 * beside it never contradict each other. */
enum verdict_sureness { VERDICT_SURE, VERDICT_PROBABLE, VERDICT_POSSIBLE };

/* "saturated", "suspected", "balanced", "insufficient", "idle" */
const char *verdict_state_name(enum verdict_state state);
/* Whether it blames something, certainly or as a suspicion. */
bool verdict_blames(enum verdict_state state);

struct run_model;
struct stragglers;

/* The verdict on one phase: a share of its time replaces the gain of the run. */
struct verdict_phase {
    size_t group; /* index in the model */
    enum verdict_state state;
    int host, rank;
    enum resource resource;
    enum cause_kind kind;
    double blocked;             /* share of the phase; NAN */
    struct candidate candidate; /* if something is blamed: a copy that borrows its parts */
    double busy;                /* otherwise the share of the time in which ranks computed; NAN */
};

/* The reason why a candidate is not the verdict. */
enum verdict_lost { VERDICT_LOST_UNPROVEN, VERDICT_LOST_CLOSE, VERDICT_LOST_LESS };

/* The reason why something busy is not blamed. */
enum verdict_harmless_why { VERDICT_NOT_AWAITED, VERDICT_BUSY_HARMLESS, VERDICT_LITTLE_GAIN };

struct verdict_harmless {
    const struct candidate *candidate;
    enum verdict_harmless_why why;
    double at_most; /* share of the run */
};

struct verdict {
    enum verdict_state state;
    enum verdict_sureness sureness; /* of what it says, also if too little had been observed */
    int host;                       /* -1: none */
    int rank;                       /* -1: no rank is to blame */
    enum subject subject;
    enum resource resource;
    enum cause_kind kind;
    const struct candidate *candidate; /* its basis; borrowed from the candidates, or NULL */
    const struct straggler *straggler; /* the basis instead of a candidate; borrowed, or NULL */
    struct remark cause;               /* if there is neither */
    struct remarks summary;            /* if there is no candidate: sentence by sentence */
    struct remark ended;      /* what ended the command, if that did not end well; said first */
    struct remark too_little; /* why it is "insufficient" whatever it looks like; may be empty */
    char *culprit;            /* the name of another program that is to blame; NULL: none */
    int64_t culprit_pid;
    double start_s, end_s;            /* when the limit held; NAN: the whole run */
    double confidence;                /* 0..1 */
    double computed;                  /* input of verdict_calibrated(); NAN: not used */
    double gain, gain_low, gain_high; /* shares of the run; NAN: not estimated */
    const char *gain_source;          /* "replay", "iterations" (if ranks run freely), "counters",
                                         "bound": only gain_high is known; NULL: nothing is blamed */
    struct refusal no_replay;         /* why the source is not "replay" */
    bool too_short;                   /* too short to judge: one line says so */
    struct remarks evidence, against, ruled_out, next; /* remarks of causes come first */
    /* With a candidate: */
    double share_low, share_high;  /* 95 % of its share of the run's time */
    const struct candidate *other; /* the other direction of its link, or NULL */
    size_t n_alike;                /* number of other hosts with nearly as much of the same */
    double blocked_alike; /* the shares of these hosts in sum; the path passes one at a time */
    const struct candidate *runner_up;
    enum verdict_lost lost;
    /* Without a candidate: */
    const struct candidate *closest;   /* has the largest gain, but too small; NULL */
    struct verdict_harmless *harmless; /* busy, but not to blame */
    size_t n_harmless;
    struct verdict_phase *phases;
    size_t n_phases;
};

/* Makes the verdict. candidates and stragglers may be empty; they must outlive the verdict.
 * -ENOMEM. */
int verdict_make(const struct run_model *model, struct candidates *candidates,
                 const struct stragglers *stragglers, struct verdict *ret_verdict);
void verdict_release(struct verdict *verdict);

/* Whether it says that the kernel killed a process for want of memory. */
bool verdict_is_of_memory_kill(const struct verdict *verdict);

/* Whether its resource is a direction of a link. */
bool candidate_is_link(const struct candidate *candidate);
/* Whether the program is to blame, and no resource of the host. */
bool candidate_is_of_program(const struct candidate *candidate);

/* Corrects a computed confidence, so that nine of ten verdicts with 0.9 are right, by a table
 * measured on the fault matrix (verdict_calibration.c). */
double verdict_calibrated(double confidence);

#endif
