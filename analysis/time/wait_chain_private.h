/* SPDX-License-Identifier: MIT */
/* Shared by wait_chain.c, which holds the processes, wait_cell.c, which finds who waits for whom in
 * a cell, and wait_walk.c, which follows the chains of a cell.
 */
#ifndef CHOKEPOINT_ANALYSIS_TIME_WAIT_CHAIN_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_TIME_WAIT_CHAIN_PRIVATE_H

#include "analysis/run_model.h"
#include "analysis/time/wait_chain.h"

#define MEMBERS_MAX 64 /* bits for the members that a chain has seen */

struct member_times {
    struct budget *cells;    /* its budget in each cell */
    struct wait_peers peers; /* once all members are known */
};

struct wait_chain {
    const struct run_model *model;
    struct window *cells; /* each begins where the one before ends */
    size_t n_cells;
    struct wait_member members[MEMBERS_MAX];
    struct member_times times[MEMBERS_MAX];
    size_t n, n_begin; /* the first n_begin begin chains; helpers of ranks are only followed */
    bool full;         /* there were more members: a chain may lead to a missing one */
};

/* All times as shares of a cell. */
struct cell_waits {
    double life[MEMBERS_MAX];                 /* its life, if its time is known */
    double readers[MEMBERS_MAX];              /* of `peer`: until the peer has read what it sent */
    double peer[MEMBERS_MAX][MEMBERS_MAX];    /* the first waits for the second */
    double blocked[MEMBERS_MAX][MEMBERS_MAX]; /* the first waits for room to send to the second */
    double sent[MEMBERS_MAX][MEMBERS_MAX];    /* data of the second are under way to the first */
    double bytes[MEMBERS_MAX][MEMBERS_MAX];   /* bytes that the second sent to the first */
    double kinds[WAIT_KIND_COUNT_][MEMBERS_MAX][MEMBERS_MAX]; /* `peer` by kind of wait */
};

struct wait_walk {
    const struct wait_chain *chain;
    const struct cell_waits *waits;
    size_t cell;
    double length_s;
    double *seconds; /* [member * BUDGET_TERMS + term] */
    double *moved;   /* [from host * (n_hosts + 1) + to host] */
};

/* Fills in the waits of a member in a cell; `waits` must be zeros. */
void wait_cell_find(const struct wait_chain *chain, size_t who, size_t cell,
                    struct cell_waits *waits);

/* Charges the time of a cell; `seconds` and `moved` must be zeros. */
void wait_walk_cell(struct wait_walk *w);

#endif
