/* SPDX-License-Identifier: MIT */
/*
 * Processes of one role, if no MPI calls show who does what: the busiest of the job, and those that
 * run the same program for as long, also compute, and move about as many bytes. A server of
 * several, or a process that takes no part, moves more or fewer bytes and is no peer.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_PEERS_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_PEERS_H

#include "analysis/run_model.h"

struct peer {
    const struct rank_budget *who;
    const struct budget *budget;
    double cpu, idle, busy; /* shares of its life; busy: all but waits for peers */
    double user;            /* share of its life in user mode, over all its threads; NAN */
    double late;            /* time that data to its host were under way, s for each byte */
    double late_share;      /* the same as a share of time */
    double crowded;         /* share of time for which its threads waited for each other's core */
};

struct peers {
    struct peer *items;
    size_t n;
};

/* The busiest comes first; the caller frees its `items`. -ENOMEM. */
int peers_make(const struct run_model *model, size_t group, struct peers *ret_peers);

double peer_cpu(const struct peer *p);
double peer_user(const struct peer *p);
double peer_late(const struct peer *p);
double peer_busy(const struct peer *p);
double peer_crowded(const struct peer *p);

/* The median over all but one; NAN without memory. */
double peers_median_but(const struct peers *peers, const struct peer *but,
                        double (*of)(const struct peer *));
/* The least idle time of the others; computing beyond that of `but` counts as idle. */
double peers_least_idle_but(const struct peers *peers, const struct peer *but);
/* There must be at least one. */
const struct peer *peers_with_most(const struct peers *peers, double (*of)(const struct peer *));

#endif
