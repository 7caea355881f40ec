/* SPDX-License-Identifier: MIT */
/*
 * How long the main phase of a run would have taken after a change.
 *
 * There is always a bound: the rest of the critical path stays. If the MPI calls were recorded, a
 * replay of them answers, provided that it reproduces the run within WHATIF_REPLAY_TOLERANCE. Else
 * `refused` says why not, and the answer is the bound alone, or comes from the counters of one
 * process that others wait for, or from the iterations that freely running ranks get done.
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
    WHATIF_LINK,       /* the host's link in `direction` is `factor` times as fast */
    WHATIF_WITHOUT,    /* a host without `term`: run queue, quota, steal, disk, memory, idle */
    WHATIF_CPU,        /* the host computes `factor` times as fast */
    WHATIF_DISK,       /* waits for disks on the host take 1 / `factor` of their time */
    WHATIF_RANK,       /* `rank` is `factor` times as fast between its calls */
    WHATIF_QUOTA,      /* all ranks of a host share `factor` CPUs */
    WHATIF_LIKE_PEERS, /* `rank` takes as long between calls as the median of its peers; its surplus
                          work is shared out among all of them, until they take equally long */
    WHATIF_BALANCED,   /* every rank computes like the mean of its peers */
    WHATIF_LATENCY,    /* each message between hosts has `factor` times its latency */
    WHATIF_WORKERS,    /* `workers` more (or fewer) ranks in the largest role, each with the same
                          work */
};

enum whatif_direction { WHATIF_BOTH, WHATIF_SEND, WHATIF_RECEIVE };

struct whatif_scenario {
    enum whatif_kind kind;
    int host; /* index of the model's host; -1: all */
    int rank; /* rank number; -1: none, and a scenario like its peers means the host's process */
    enum whatif_direction direction;
    enum budget_term term;
    double factor;
    double rate_bytes_s; /* of a link: if > 0, used instead of the factor */
    double burst_bytes;  /* with rate_bytes_s: the bytes that pass at once after a pause */
    int workers;
};

struct whatif_answer {
    bool replayed;
    bool counted;           /* no replay, but counters give the prediction */
    bool iterations;        /* no replay, but the iterations of freely running ranks give it */
    struct refusal refused; /* why there was no replay */
    double measured_s;      /* of the main phase */
    double replay_s;        /* the unchanged replay; NAN without one */
    double predicted_s;     /* NAN: neither a replay nor counters tell */
    double calls_s;         /* by the calls alone, with computing unchanged; NAN: no replay */
    double low_s, high_s;   /* 95 % by a block bootstrap over iterations with a fixed seed; NAN */
    double bound_s;         /* the least possible time: everything else stays */
    double gain;            /* 1 - predicted / measured; NAN like it */
    double gain_low, gain_high;
    double gain_max; /* 1 - bound / measured */
    double run_gain; /* of the whole run: the gain of the main phase, and savings in the rest; NAN
                        like `gain` */
    double run_low, run_high;
    double beside;      /* the share of the run saved outside the main phase, by counters */
    double elsewhere_s; /* the most saved in other phases, start and end; without a replay */
};

/* Findings of rules without calls, which the estimators cannot make themselves. */
struct whatif_told {
    struct counted_link *links; /* full links, as shares of the main phase */
    size_t n_links;
    struct counted_process *processes; /* processes that their peers wait for */
    size_t n_processes;
};

/* The whatif takes over the arrays. */
void whatif_tell(struct whatif *whatif, const struct whatif_told *told);

/* The first question prepares all; later ones are cheap. The model must outlive it. -ENOMEM. */
int whatif_new(const struct run_model *model, struct whatif **ret_whatif);
/* Answers several scenarios applied together. 0, -EINVAL for a senseless scenario, -ENOMEM. */
int whatif_ask(const struct whatif *whatif, const struct whatif_scenario *scenarios, size_t n,
               struct whatif_answer *ret_answer);
void whatif_free(struct whatif *whatif);

#endif
