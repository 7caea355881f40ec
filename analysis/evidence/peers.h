/* SPDX-License-Identifier: MIT */
/*
 * Processes of one role, where no call of MPI tells who does what: the busiest of the job, and
 * those that run the same program for as long, compute as well, and move about as many bytes. A
 * server of several, or a process that takes no part, moves more or less and is no peer.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_PEERS_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_PEERS_H

#include "analysis/run_model.h"

struct peer {
    const struct rank_budget *who;
    const struct budget *budget;
    double cpu, idle, busy; /* shares of its life; busy: all that is no waiting for a peer */
    double user;            /* share of its life in its own code, by all its threads; NAN */
    double late;            /* that data for its host were under way, s a byte */
    double late_share;      /* the same, of the time */
    double crowded;         /* of the time its threads waited for each other to leave the core */
};

struct peers {
    struct peer *items;
    size_t n;
};

/* The busiest comes first; its `items` are the caller's to free. -ENOMEM. */
int peers_make(const struct run_model *model, size_t group, struct peers *ret_peers);

double peer_cpu(const struct peer *p);
double peer_user(const struct peer *p);
double peer_late(const struct peer *p);
double peer_busy(const struct peer *p);
double peer_crowded(const struct peer *p);

/* Over all but one; NAN without memory. */
double peers_median_but(const struct peers *peers, const struct peer *but,
                        double (*of)(const struct peer *));
/* The one that is off its core least, of all others; what it computes longer than that one it need
 * not wait for. */
double peers_least_idle_but(const struct peers *peers, const struct peer *but);
/* There is one at least. */
const struct peer *peers_with_most(const struct peers *peers, double (*of)(const struct peer *));

#endif
