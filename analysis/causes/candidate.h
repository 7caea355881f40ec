/* SPDX-License-Identifier: MIT */
/*
 * Candidates for the verdict: (host or rank, resource, phase) with its demand, which is its share
 * of the critical path, evidence that it is saturated (it ran out), and the gain of the run without
 * it. Utilisation alone makes no candidate: a full CPU for which no process waits is well used (or
 * MPI spins on it).
 *
 * The demand comes from the critical path if calls of MPI were recorded, else from the kernel's
 * counters as far as possible.
 */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_CANDIDATE_H
#define CHOKEPOINT_ANALYSIS_CAUSES_CANDIDATE_H

#include "analysis/causes/finding.h"
#include "analysis/causes/remark.h"
#include "analysis/causes/straggler.h"
#include "analysis/evidence/arithmetic.h"
#include "analysis/evidence/flows.h"
#include "analysis/evidence/processes.h"
#include "analysis/gain/gain.h"
#include "analysis/gain/loss.h"
#include "analysis/gain/whatif.h"
#include "analysis/number.h"
#include "analysis/run_model.h"
#include "analysis/time/critical_path.h"

/* The source of a link's ceiling. */
enum ceiling_from {
    CEILING_UNKNOWN,  /* none was measured or set */
    CEILING_ARRIVED,  /* the rate at which data arrived while they were under way */
    CEILING_SET,      /* the rate to which its interface is set */
    CEILING_MEASURED, /* a calibration */
};

struct cause;

struct candidate {
    const struct cause *by; /* the cause that found it */
    int host, rank;         /* rank: -1 unless a rank is to blame */
    size_t group;           /* the phase, as index in the model */
    enum subject subject;   /* SUBJECT_NONE: candidate_subject() derives it */
    enum resource resource;
    enum cause_kind kind;
    struct remark cause;
    struct culprit culprit;
    double blocked;   /* demand: share of the phase's time */
    double run_share; /* share of the run's time */
    bool saturated;   /* it demonstrably ran out, or was missing */
    bool repeated;    /* the same candidate in another phase counts more */
    bool inferred;    /* from one source that does not show what ran out, or who had it */
    bool ambiguous;   /* another host explains the evidence as well */
    bool awaited;     /* connections show that its peers wait for it */
    bool fallback;    /* counts only if no other cause limits */
    bool everywhere;  /* all hosts have it alike: the gain is for all of them at once */
    int signals;      /* independent observations that agree */
    const struct remark_kind *next; /* advice; NULL: its cause's own advice */
    struct remarks evidence, against;
    /* The source of `blocked`, so that it can be computed for any part of the run: a part of the
     * path, */
    struct {
        unsigned terms; /* of the host: bits of enum budget_term */
        bool all_hosts; /* of all hosts: either end's budget has the data under way */
        double part;    /* part of these terms */
        double own;     /* terms of computing: the part of the rank's time beyond others; NAN */
    } path;
    /* or a metric: blocked = factor x mean. */
    struct {
        const struct rate *signal;
        double factor;
    } metric;
    struct {
        bool other_way;     /* the other direction has better evidence */
        double core_waited; /* cores may be missing instead: share of the run spent waiting for
                               them; else 0 */
    } link;
    double ceiling; /* of a link, MB/s; else 0 */
    double reached; /* repeatedly reached part of a measured ceiling; 0: none */
    enum ceiling_from ceiling_from;
    bool can_remove, can_double;
    struct whatif_scenario remove, twice;
    bool answered; /* the what-if engine knows the gain of `remove` */
    struct gain gain, doubled;
    /* An excess of work does not vanish: this is the gain of sharing it out among peers. */
    struct {
        bool can;
        struct whatif_scenario scenario;
        struct gain gain;
    } sharing;
    struct gain counted; /* the same gain from counters; does not affect the order */
    /* Determines the order once gains are known: the gain, reduced without evidence that a supply
     * ran out. */
    double weight;
    struct gain lost;      /* of the recorded time of the process that lost most; NAN */
    double start_s, end_s; /* when it held; NAN: the whole run */
};

struct candidates {
    struct candidate *items; /* the largest weighted gain first */
    size_t n, capacity;
    size_t cpu_ruled_out;     /* index + 1 of the remark on the CPU in `ruled_out`; 0: none */
    struct remarks ruled_out; /* resources that were examined and do not limit */
    int64_t start_ns; /* the program was being loaded until then, which is judged separately; 0 */
    struct arithmetic *arithmetic;
    size_t n_arithmetic;
    struct flows flows; /* of flows_group; made by candidates_flows() when needed */
    size_t flows_group;
    bool has_flows;
    const struct stragglers *stragglers; /* borrowed during the search for candidates */
    struct refusal no_replay;            /* reason why gains are bounds and not replays */
};

void candidates_release(struct candidates *candidates);

/* The loss that a change would remove, for estimators. */
struct loss candidate_loss(const struct candidate *candidate);
/* Value of a candidate's metric in windows other than the phase's: between 0 and 1, NAN without
 * data. */
double candidate_blocked(const struct candidate *candidate, struct windows windows);
/* As candidate_blocked, in one of RANK_BUDGET_SLICES parts of the run; by terms if it has some. */
double candidate_level(const struct run_model *model, const struct candidate *candidate,
                       size_t slice);
/* Whether it is another host with nearly as much of the same. */
bool candidate_is_alike(const struct candidate *first, const struct candidate *c);
/* Adds the process that waited longest for a process of a host (-1: any), if wait clocks tell. */
void awaited_tell(const struct run_model *model, int host, struct remarks *to);

/* Derives the subject of the limit. */
enum subject candidate_subject(const struct candidate *candidate);
/* The gain to report: by replay, by counters, or the bound. Includes the sharing out of an excess
 * of work. */
const struct gain *candidate_gain(const struct candidate *candidate);
/* The scenario with that gain. */
const struct whatif_scenario *candidate_change(const struct candidate *candidate);
/* Whether it is worth naming: by its share of the run, and for a mere suspicion also by the gain
 * from counters. */
bool candidate_is_worth_naming(const struct run_model *model, const struct candidate *candidate);
/* The highest share of the run that it may have. */
double candidate_most(const struct run_model *model, const struct candidate *candidate);
/* An empty candidate of a group. */
struct candidate candidate_of(int host, size_t group, enum resource resource, enum cause_kind kind);

struct candidate *candidates_add(struct candidates *candidates, const struct candidate *candidate);

#endif
