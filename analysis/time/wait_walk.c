/* SPDX-License-Identifier: MIT */
/* Follows the chains of a cell (wait_chain.h). */
#include <math.h>

#include "analysis/time/wait_chain_private.h"

#define DEPTH_MAX 8   /* processes of a chain */
#define PART_MIN 1e-3 /* of a cell: smaller parts of a chain are not followed */
#define ALWAYS_WAITS                                                                               \
    0.02 /* of a cell: a process with less own time always waits for those before                  \
            it */

static void charge(struct wait_walk *w, size_t who, enum budget_term term, double share) {
    w->seconds[who * BUDGET_TERMS + (size_t)term] += share * w->length_s;
}

/* Charges a transfer to the process that waits. */
static void charge_transfer(struct wait_walk *w, size_t who, size_t from, size_t to, double share) {
    size_t hosts = w->chain->model->n_hosts + 1;
    size_t a = from == SIZE_MAX ? hosts - 1 : (size_t)w->chain->members[from].host;
    size_t b = to == SIZE_MAX ? hosts - 1 : (size_t)w->chain->members[to].host;
    charge(w, who, BUDGET_TRANSFER, share);
    w->moved[a * hosts + b] += share * w->length_s;
}

/* For two processes that waited for each other: divides the time by the bytes sent either way. */
static void charge_ways(struct wait_walk *w, size_t who, size_t whom, double share) {
    double here = w->waits->bytes[who][whom], back = w->waits->bytes[whom][who];
    double part = here + back > 0 ? here / (here + back) : 0.5;
    charge_transfer(w, who, whom, who, share * part);
    charge_transfer(w, who, who, whom, share * (1 - part));
}

/* Its time without waits for processes of the chain. */
static double life_without(const struct wait_walk *w, size_t who, uint64_t seen) {
    double left = w->waits->life[who];
    for (size_t k = 0; k < w->chain->n; k++)
        left -= seen >> k & 1 ? w->waits->peer[who][k] : 0;
    return left;
}

static double term_share(const struct wait_walk *w, size_t who, enum budget_term term) {
    double s = w->chain->times[who].cells[w->cell].term_s[term];
    return isnan(s) ? 0 : s / w->length_s;
}

static void charge_sending(struct wait_walk *w, size_t who, double scale) {
    double all = fmax(term_share(w, who, BUDGET_TRANSFER) - w->waits->readers[who], 0), known = 0;
    for (size_t k = 0; k < w->chain->n; k++)
        known += w->waits->blocked[who][k];
    double fit = known > all ? all / known : 1;
    for (size_t k = 0; k < w->chain->n; k++)
        if (w->waits->blocked[who][k] > 0)
            charge_transfer(w, who, who, k, w->waits->blocked[who][k] * fit * scale);
    if (all > known)
        charge_transfer(w, who, who, SIZE_MAX, (all - known) * scale);
}

static void charge_own(struct wait_walk *w, size_t who, double scale) {
    double told = -w->waits->readers[who];
    for (enum budget_term term = 0; term < BUDGET_TERMS; term++)
        if (term != BUDGET_PEER_WAIT && term != BUDGET_TRANSFER)
            charge(w, who, term, term_share(w, who, term) * scale);
    for (size_t k = 0; k < w->chain->n; k++)
        told += w->waits->peer[who][k];
    charge(w, who, BUDGET_PEER_WAIT, fmax(term_share(w, who, BUDGET_PEER_WAIT) - told, 0) * scale);
    charge_sending(w, who, scale);
}

/* Charges a process with what it did in its part of a chain; its waits continue in others. The
 * recursion ends, since each process is in a chain once. from: the process that waits for it;
 * SIZE_MAX: it begins the chain.
 */
/* NOLINTNEXTLINE(misc-no-recursion) */
static void follow_chain(struct wait_walk *w, size_t who, size_t from, double part, uint64_t seen,
                         int depth) {
    double left = life_without(w, who, seen);
    if (left < ALWAYS_WAITS && w->waits->life[who] < ALWAYS_WAITS) { /* the process has ended */
        charge(w, from == SIZE_MAX ? who : from, BUDGET_PEER_WAIT, part);
        return;
    }
    if (left < ALWAYS_WAITS && from != SIZE_MAX) {
        charge_ways(w, from, who, part);
        return;
    }
    if (left < ALWAYS_WAITS) {
        charge_transfer(w, who, SIZE_MAX, who, part);
        return;
    }
    charge_own(w, who, part / left);
    seen |= UINT64_C(1) << who;
    for (size_t k = 0; k < w->chain->n; k++) {
        double wait = w->waits->peer[who][k], next = wait * part / left;
        if (seen >> k & 1 || next <= 0)
            continue;
        double free_of_it = fmax(fmin(life_without(w, k, seen), 1 - w->waits->sent[who][k]), 0);
        if (wait > free_of_it) { /* the part of the wait longer than its time for anything else */
            charge_ways(w, who, k, next * (1 - free_of_it / wait));
            next *= free_of_it / wait;
        }
        if (next < PART_MIN || depth == DEPTH_MAX)
            charge(w, who, BUDGET_PEER_WAIT, next);
        else
            follow_chain(w, k, who, next, seen, depth + 1);
    }
}

/* How much it takes part: a process that is asleep, and waits for no known one, does not. */
static double takes_part(const struct wait_walk *w, size_t who) {
    double sum = 0;
    for (enum budget_term term = 0; term < BUDGET_TERMS; term++)
        if (term != BUDGET_PEER_WAIT && term != BUDGET_IDLE)
            sum += term_share(w, who, term);
    for (size_t k = 0; k < w->chain->n; k++)
        sum += w->waits->peer[who][k];
    return sum;
}

void wait_walk_cell(struct wait_walk *w) {
    double all = 0, life = 0, longest = 0;
    for (size_t k = 0; k < w->chain->n_begin; k++) {
        all += takes_part(w, k);
        life += w->waits->life[k];
        longest = fmax(longest, w->waits->life[k]);
    }
    for (size_t k = 0; k < w->chain->n_begin && longest > 0; k++) {
        double part = all >= PART_MIN ? takes_part(w, k) / all : w->waits->life[k] / life;
        if (part > 0)
            follow_chain(w, k, SIZE_MAX, part * fmin(longest, 1), 0, 0);
    }
}
