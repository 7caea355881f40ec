/* SPDX-License-Identifier: MIT */
/* Large messages as they moved between hosts, and the links that they crossed. */
#ifndef CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_PIECE_H
#define CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_PIECE_H

#include "analysis/simulate/replay_private.h"

struct piece { /* a message between hosts, while it moved */
    uint32_t message, from_host, to_host;
    int64_t begin_ns, end_ns;
    double bytes,
        rate[2]; /* of all that crossed the sender's egress, the receiver's ingress then */
    int link;    /* what explains it: -1 nothing yet */
    bool found;  /* its receiver came later and hardly waited: when it arrived is not known */
};

struct fit {
    struct replay *p;
    struct piece *pieces;
    size_t n;
    double *peak;   /* by link */
    double *known;  /* by link, bytes/s that it is set to or was measured to carry; 0: not known */
    size_t n_links; /* [0, n_hosts): egress; then ingress */
};

#define AT_KNOWN 0.75 /* of a known rate: seen at it */
#define KNOWN_MIN 0.5 /* of what a link is known to carry: at less it limits nothing */

/* Fills all of it but p and n_links, which are set; the pieces know what crossed their links, but
 * not yet what explains them. -ENOMEM: what was filled is the caller's to free all the same. */
int replay_find_pieces(struct fit *fit);

#define SELDOM_PASSED 0.9 /* quantile: whose receiver looks late seem slower than they were */
#define FREER 1.5         /* times as fast: not held to the same */

/* The most that pairs carry if a link is no limit any more: p->net.freed, which is INFINITY
 * before; the pace of those that nobody ever waited for: p->net.pair; and p->net.soon. From the
 * other way between the same ranks; where that does not tell, from what limited links let pass at
 * once (replay_burst.c). -ENOMEM. */
int replay_fit_freed(struct fit *fit);
int replay_fit_bursts(struct fit *fit);

/* The link that a piece crosses on its sender's side (0), its receiver's (1). */
static inline size_t link_of(const struct fit *fit, const struct piece *x, int side) {
    return side ? fit->n_links / 2 + x->to_host : x->from_host;
}

/* Whether a piece tells how fast the link is: whose receiver only came when it had long been there
 * moved faster than it looks, unless the link is seen to hold up what crosses it. */
static inline bool tells_of(const struct fit *fit, size_t link, const struct piece *x) {
    return !x->found || fit->p->net.held[link];
}

/* The rate that the link is set to or was measured to carry; a host shaped one way is taken to be
 * shaped the other way, too, if that shows the same rate. 0: not known. */
static inline double known_rate(const struct fit *fit, size_t link) {
    size_t hosts = fit->n_links / 2;
    return fit->known[link] > 0 || link < hosts ? fit->known[link] : fit->known[link - hosts];
}

#endif
