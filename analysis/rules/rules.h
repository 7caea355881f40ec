/* SPDX-License-Identifier: MIT */
/*
 * Candidates for the verdict: (host or rank, resource, phase) with its demand, the share of the
 * critical path that went there, its supply (evidence that it ran out), and what the run would gain
 * without it. Utilisation alone makes no candidate: a full CPU on which nobody waits is a CPU well
 * used (or an MPI that spins).
 *
 * Where calls of MPI were recorded the critical path tells the demand; else the kernel's counters
 * do, as far as they can.
 */
#ifndef CHOKEPOINT_ANALYSIS_RULES_RULES_H
#define CHOKEPOINT_ANALYSIS_RULES_RULES_H

#include "analysis/evidence/arithmetic.h"
#include "analysis/evidence/run_model.h"
#include "analysis/facts/text_list.h"
#include "analysis/gain/whatif.h"
#include "analysis/threshold.h"
#include "analysis/time/critical_path.h"

/* Another program that is to blame. */
struct culprit {
    const char *process; /* the model's name of it, "sh[4711]"; NULL: none */
    int64_t pid;
};

/* What a change would gain, as shares of the run's time. */
struct gain {
    double estimate, low, high; /* NAN: not known */
    bool replayed;              /* by replay of the recorded calls; else by the critical path */
    bool counted;               /* by counters of one process (gain_counted.h) */
    bool at_bound;              /* a replay gave more than the critical path has */
};

struct candidate {
    int host, rank;       /* rank: where one is to blame, else -1 */
    size_t group;         /* of the model: the phase */
    const char *resource; /* as in the JSON contract */
    const char *kind;     /* cause_kind of the JSON contract */
    char *cause;          /* words */
    struct culprit culprit;
    double blocked;   /* demand: share of the phase's time */
    double run_share; /* of the run's */
    bool supply;      /* it demonstrably ran out, or was missing */
    bool repeated;    /* the same of another phase counts more */
    bool ambiguous;   /* another host would explain the same as well */
    bool awaited;     /* the connections tell that its peers wait for it */
    bool other_way;   /* of a link whose first way has the better evidence */
    bool everywhere;  /* all hosts suffer it alike: the gain is of all of them at once */
    int signals;      /* independent observations that agree */
    const char *next; /* words: what to do about it; NULL: what its kind says */
    struct text_list evidence, against;
    /* Where `blocked` comes from, so that it can be asked again for any part of the run: terms of
     * the critical path on the host (bits of enum budget_term), of those a share; */
    unsigned terms;
    bool all_hosts; /* of all hosts: data are on their way in the budget of either end */
    double part;
    double own; /* terms of computing: so much of its time the rank does beyond others; else NAN */
    /* or a metric: blocked = factor x mean. */
    const struct rate *signal;
    double factor;
    double ceiling; /* of a link, MB/s; else 0 */
    double reached; /* share of a ceiling that was measured, again and again; 0: as far as seen */
    const char *ceiling_from; /* words: how the ceiling is known; NULL */
    bool can_remove, can_double;
    struct whatif_scenario remove, twice;
    struct gain gain, doubled;
    struct gain counted;   /* what counters tell of the same; not in the order of candidates */
    struct gain lost;      /* of the recorded time of the process that lost most; NAN */
    double start_s, end_s; /* it held only then; NAN: the whole run */
};

struct candidates {
    struct candidate *items; /* the greatest gain first, weighted by the evidence */
    size_t n, capacity;
    struct text_list ruled_out; /* resources that were looked at and are not it */
    int64_t start_ns; /* until then the program was being loaded, which is judged apart; 0 */
    struct arithmetic *arithmetic;
    size_t n_arithmetic;
    char *no_replay; /* why gains are bounds and no replay; owned, NULL: they were replayed */
};

/* -ENOMEM. */
int saturation_find(const struct run_model *model, struct candidates *ret_candidates);
void candidates_release(struct candidates *candidates);

/* Of a candidate's metric, within other windows than the phase's: between 0 and 1, NAN without
 * data. */
double candidate_blocked(const struct candidate *candidate, struct windows windows);
/* Seconds of a part of the critical path that are the candidate's (with `terms`). */
double candidate_seconds(const struct candidate *candidate, const struct critical_part *part,
                         size_t n_hosts);
/* Another host that suffers the same nearly as much. */
bool candidate_is_alike(const struct candidate *first, const struct candidate *c);
/* What speaks for it in order: the gain, less where there is no evidence of supply. */
double candidate_weight(const struct candidate *candidate);
/* What to say of its gain: by replay, by counters, or the bound. */
const struct gain *candidate_gain(const struct candidate *candidate);
/* Worth naming: by its share of the run; a mere suspicion by what counters tell of its gain, too.
 */
bool candidate_is_worth_naming(const struct candidate *candidate);
/* Share of the run that it can be at most. */
double candidate_most(const struct run_model *model, const struct candidate *candidate);
/* Share of the run for which a quota kept a control group of the host from running; NAN: none. */
double saturation_throttled(const struct run_model *model, int host);

/* The calls of all ranks are known, and so who waited for whom. */
bool model_has_path(const struct run_model *model);
/* Share of the critical path of a group; NAN where it is not known. */
double model_demand(const struct run_model *model, size_t group, int host, enum budget_term term);
/* The same of one rank (index of the model's budgets). */
double model_rank_demand(const struct run_model *model, size_t group, size_t rank_budget,
                         enum budget_term term);
/* The term as a share of the wall time of that rank on the host where it is largest; NAN. *ret_rank
 * (may be NULL): its index. */
double model_worst_rank(const struct run_model *model, size_t group, int host,
                        enum budget_term term, size_t *ret_rank);

/* The budget of a process of the model in a group, if it can be trusted; else NULL. */
const struct budget *saturation_budget(const struct run_model *model,
                                       const struct model_process *process, size_t group);
/* The same of a process of the job, ranked or not, of which counters alone tell. */
const struct budget *saturation_counted(const struct run_model *model,
                                        const struct model_process *process, size_t group);

/* It is what a rank of the job runs, and no wrapper that carries the rank's number. */
bool model_is_rank(const struct run_model *model, const struct model_process *process);

/* Median over the job's ranks of the share of the group that they ran or wanted to (not counting
 * time inside MPI, where that is known: there they spin); over hosts, if
 * no process has a rank; NAN if nothing of the job was seen. */
double ranks_busy(const struct run_model *model, size_t group);

/* The host is one kernel with another host of the run, and may run on the same cores: they wait for
 * each other. */
bool model_shares_cores(const struct run_model *model, int host);

/* Outside the job, the one on a host that used most CPU, or wrote and read most. NULL: none. */
const struct model_process *busiest_foreign(const struct run_model *model, size_t group, int host,
                                            double *ret_cores);
const struct model_process *writing_foreign(const struct run_model *model, size_t group, int host,
                                            double *ret_bytes_s);
struct culprit culprit_of(const struct run_model *model, const struct model_process *process);

/* What the agents' piece of arithmetic (agent/beat.h) took on the host, ns of CPU time, mean over
 * the windows, beside what the run did to the core; NAN: there are no recordings of it, too few, or
 * other hosts of the run were on that core as well. */
double core_beat_ns(const struct run_model *model, int host, struct windows windows);

/* A candidate of a group with nothing in it yet. */
struct candidate candidate_of(int host, size_t group, const char *resource, const char *kind);

/* ---- one for each resource: they add what they find ---- */

struct candidate *candidates_add(struct candidates *candidates, const struct candidate *candidate);

int saturation_cpu(const struct run_model *model, size_t group, struct candidates *candidates);
int saturation_quota(const struct run_model *model, size_t group, struct candidates *candidates);
int saturation_steal(const struct run_model *model, size_t group, struct candidates *candidates);
int saturation_disk(const struct run_model *model, size_t group, struct candidates *candidates);
int saturation_memory(const struct run_model *model, size_t group, struct candidates *candidates);
int saturation_network(const struct run_model *model, size_t group, struct candidates *candidates);
int saturation_program(const struct run_model *model, size_t group, struct candidates *candidates);

#endif
