/* SPDX-License-Identifier: MIT */
/*
 * Candidates for the verdict: (host or rank, resource, phase) with its demand, the share of the
 * critical path that went there, evidence that it is saturated (it ran out), and what the run would
 * gain without it. Utilisation alone makes no candidate: a full CPU on which nobody waits is a CPU
 * well used (or an MPI that spins).
 *
 * Where calls of MPI were recorded the critical path tells the demand; else the kernel's counters
 * do, as far as they can.
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

/* How the ceiling of a link is known. */
enum ceiling_from {
    CEILING_SEEN,     /* it is the highest rate seen */
    CEILING_ARRIVED,  /* data arrived at it while they were under way */
    CEILING_SET,      /* its interface is set to it */
    CEILING_MEASURED, /* by a calibration */
};

struct cause;

struct candidate {
    const struct cause *by; /* that found it */
    int host, rank;         /* rank: where one is to blame, else -1 */
    size_t group;           /* of the model: the phase */
    enum subject subject;   /* SUBJECT_NONE: candidate_subject() tells by the rest */
    enum resource resource;
    enum cause_kind kind;
    struct remark cause;
    struct culprit culprit;
    double blocked;   /* demand: share of the phase's time */
    double run_share; /* of the run's */
    bool saturated;   /* it demonstrably ran out, or was missing */
    bool repeated;    /* the same of another phase counts more */
    bool ambiguous;   /* another host would explain the same as well */
    bool awaited;     /* the connections tell that its peers wait for it */
    bool fallback;    /* it limits only where nothing else does */
    bool everywhere;  /* all hosts suffer it alike: the gain is of all of them at once */
    int signals;      /* independent observations that agree */
    const struct remark_kind *next; /* what to do about it; NULL: what its cause advises */
    struct remarks evidence, against;
    /* Where `blocked` comes from, so that it can be asked again for any part of the run: a part of
     * the path, */
    struct {
        unsigned terms; /* on the host: bits of enum budget_term */
        bool all_hosts; /* of all hosts: data are on their way in the budget of either end */
        double part;    /* of those terms */
        double own; /* terms of computing: so much of its time the rank does beyond others; NAN */
    } path;
    /* or a metric: blocked = factor x mean. */
    struct {
        const struct rate *signal;
        double factor;
    } metric;
    struct {
        bool other_way;     /* the first way has the better evidence */
        double core_waited; /* it may be a want of cores: share of the run that goes by waiting for
                               these; else 0 */
    } link;
    double ceiling; /* of a link, MB/s; else 0 */
    double reached; /* share of a ceiling that was measured, again and again; 0: as far as seen */
    enum ceiling_from ceiling_from;
    bool can_remove, can_double;
    struct whatif_scenario remove, twice;
    bool answered; /* the what-if engine knows what `remove` would bring */
    struct gain gain, doubled;
    /* An excess of work does not go away: what it brings to share it out among its peers. */
    struct {
        bool can;
        struct whatif_scenario scenario;
        struct gain gain;
    } sharing;
    struct gain counted; /* what counters tell of the same; not in the order of candidates */
    /* In their order, once gains are known: the gain, less without evidence that a supply ran out.
     */
    double weight;
    struct gain lost;      /* of the recorded time of the process that lost most; NAN */
    double start_s, end_s; /* it held only then; NAN: the whole run */
};

struct candidates {
    struct candidate *items; /* the greatest gain first, weighted by the evidence */
    size_t n, capacity;
    size_t cpu_ruled_out;     /* index + 1 of what `ruled_out` says of the CPU; 0: nothing */
    struct remarks ruled_out; /* resources that were looked at and are not it */
    int64_t start_ns; /* until then the program was being loaded, which is judged apart; 0 */
    struct arithmetic *arithmetic;
    size_t n_arithmetic;
    struct flows flows; /* of flows_group, made when first asked for: candidates_flows() */
    size_t flows_group;
    bool has_flows;
    const struct stragglers *stragglers; /* borrowed while candidates are looked for */
    struct refusal no_replay;            /* why gains are bounds and no replay */
};

void candidates_release(struct candidates *candidates);

/* The loss that is taken away, for estimators. */
struct loss candidate_loss(const struct candidate *candidate);
/* Value of a candidate's metric within other windows than the phase's: between 0 and 1, NAN without
 * data. */
double candidate_blocked(const struct candidate *candidate, struct windows windows);
/* The same of one of RANK_BUDGET_SLICES stretches of the run, by terms where it has any. */
double candidate_level(const struct run_model *model, const struct candidate *candidate,
                       size_t slice);
/* Another host that suffers the same nearly as much. */
bool candidate_is_alike(const struct candidate *first, const struct candidate *c);
/* Adds which process waited longest for one of a host (-1: of any), where wait clocks tell. */
void awaited_tell(const struct run_model *model, int host, struct remarks *to);

/* The subject of the limit. */
enum subject candidate_subject(const struct candidate *candidate);
/* The gain to report: by replay, by counters, or the bound. An excess of work is shared out. */
const struct gain *candidate_gain(const struct candidate *candidate);
/* The scenario that would bring it. */
const struct whatif_scenario *candidate_change(const struct candidate *candidate);
/* Worth naming: by its share of the run; a mere suspicion by what counters tell of its gain, too.
 */
bool candidate_is_worth_naming(const struct run_model *model, const struct candidate *candidate);
/* Share of the run that it can be at most. */
double candidate_most(const struct run_model *model, const struct candidate *candidate);
/* A candidate of a group with nothing in it yet. */
struct candidate candidate_of(int host, size_t group, enum resource resource, enum cause_kind kind);

struct candidate *candidates_add(struct candidates *candidates, const struct candidate *candidate);

#endif
