/* SPDX-License-Identifier: MIT */
/*
 * How long the main phase of a run would have taken if something had been otherwise.
 *
 * Always a bound: what the critical path spends on everything else stays. Where the MPI calls were
 * recorded, a replay of them answers, after it has reproduced the run as measured within
 * WHATIF_REPLAY_TOLERANCE; else `refused` says why not, and the answer is the bound alone, or what
 * the counters of one process tell, which the others wait for, or the iterations that ranks which
 * run freely get done.
 */
#ifndef CHOKEPOINT_ANALYSIS_GAIN_WHATIF_H
#define CHOKEPOINT_ANALYSIS_GAIN_WHATIF_H

#include "analysis/simulate/refusal.h"
#include "analysis/time/budget.h"

struct run_model;
struct whatif;
struct counted_link;
struct counted_process;

#define WHATIF_REPLAY_TOLERANCE 0.05

enum whatif_kind {
    WHATIF_LINK,       /* host's link, in `direction`, `factor` times as fast */
    WHATIF_WITHOUT,    /* `term` gone on a host: run queue, quota, steal, disk, memory, idle */
    WHATIF_CPU,        /* host computes `factor` times as fast */
    WHATIF_QUOTA,      /* all ranks of a host together have `factor` CPUs */
    WHATIF_LIKE_PEERS, /* `rank` is as long between calls as its peers' median; what work it had
                          more is shared out among all of them, until they take equally long */
    WHATIF_BALANCED,   /* every rank computes as the mean of its peers */
    WHATIF_LATENCY,    /* each message between hosts takes `factor` times its latency */
    WHATIF_WORKERS,    /* `workers` more or fewer of the largest role, for the same work each */
};

enum whatif_direction { WHATIF_BOTH, WHATIF_SEND, WHATIF_RECEIVE };

struct whatif_scenario {
    enum whatif_kind kind;
    int host; /* index of the model's; -1: all */
    int rank; /* number of the rank; -1: none, and a process like its peers is the host's */
    enum whatif_direction direction;
    enum budget_term term;
    double factor;
    double rate_bytes_s; /* of a link, instead of the factor, if > 0 */
    double burst_bytes;  /* with that: what it lets pass at once after a pause */
    int workers;
};

struct whatif_answer {
    bool replayed;
    bool counted;           /* no replay, but counters tell what is predicted */
    bool iterations;        /* or the iterations that ranks, which run freely, get done */
    struct refusal refused; /* why there was no replay */
    bool untold;            /* that is: nothing shows whether what it changes limits anything */
    double measured_s;      /* the main phase */
    double replay_s;        /* as measured, replayed; NAN without a replay */
    double predicted_s;     /* NAN: neither replayed nor counted */
    double calls_s;       /* by the calls alone, all computing as long as it was; NAN: no replay */
    double low_s, high_s; /* 95 % of block bootstrap over iterations, fixed seed; NAN */
    double bound_s;       /* it cannot take less: everything else stays */
    double gain;          /* 1 - predicted / measured; NAN as that */
    double gain_low, gain_high;
    double gain_max; /* 1 - bound / measured */
    double run_gain; /* of the whole run: that of the main phase, and what the rest of it gives
                        back; NAN as `gain` */
    double run_low, run_high;
    double beside;      /* share of the run that counters say is saved outside the main phase */
    double elsewhere_s; /* of the run's other phases and its start and end, at most; no replay */
};

/* Findings of the rules without calls, which no estimator can make for itself. */
struct whatif_told {
    struct counted_link *links; /* full ones, as shares of the main phase */
    size_t n_links;
    struct counted_process *processes; /* that their peers wait for */
    size_t n_processes;
};

/* The arrays go over to the whatif. */
void whatif_tell(struct whatif *whatif, const struct whatif_told *told);

/* Prepares when first asked; asking is cheap then. The model must outlive it. -ENOMEM. */
int whatif_new(const struct run_model *model, struct whatif **ret_whatif);
/* Several scenarios together at once. 0, -EINVAL for what makes no sense, -ENOMEM. */
int whatif_ask(const struct whatif *whatif, const struct whatif_scenario *scenarios, size_t n,
               struct whatif_answer *ret_answer);
void whatif_free(struct whatif *whatif);

#endif
