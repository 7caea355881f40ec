/* SPDX-License-Identifier: MIT */
/* Large messages as they moved between hosts, and the links that they crossed. */
#ifndef CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_PIECE_H
#define CHOKEPOINT_ANALYSIS_SIMULATE_REPLAY_PIECE_H

#include "analysis/simulate/replay_private.h"

struct piece { /* a message between hosts, while it moved */
    uint32_t message, from_host, to_host;
    int64_t begin_ns, end_ns;
    double bytes, rate[2]; /* total rate at the sender's egress, the receiver's ingress meanwhile */
    int link;              /* the link that explains it; -1: none yet */
    bool found;            /* its receiver came later and hardly waited: its arrival is not known */
};

struct fit {
    struct replay *p;
    struct piece *pieces;
    size_t n;
    double *peak;   /* by link */
    double *known;  /* by link: bytes/s it is configured or measured to carry; 0: not known */
    size_t n_links; /* [0, n_hosts): egress; then ingress */
};

#define AT_KNOWN 0.75 /* of the known rate: the link is seen at it */
#define KNOWN_MIN 0.5 /* of the known rate: a slower link limits nothing */

/* Fills `fit`, whose p and n_links are set. The pieces then know what crossed their links, but not
 * what explains them. -ENOMEM: the caller frees what was filled all the same.
 */
int replay_find_pieces(struct fit *fit);

#define SELDOM_PASSED                                                                              \
    0.9           /* quantile: ignores pieces that look faster since their receiver came           \
                     late */
#define FREER 1.5 /* times as fast: not limited by the same link */

/* Fills p->net.freed (INFINITY before), the most that pairs carry without a limiting link;
 * p->net.pair of pairs for which nobody waited; and p->net.soon. Both come from the other direction
 * between the same ranks, or else from the bursts that limited links pass (replay_burst.c).
 * -ENOMEM.
 */
int replay_fit_freed(struct fit *fit);
int replay_fit_bursts(struct fit *fit);

/* The link that a piece crosses on its sender's side (0) or its receiver's side (1). */
static inline size_t link_of_piece(const struct fit *fit, const struct piece *x, int side) {
    return side ? fit->n_links / 2 + x->to_host : x->from_host;
}

/* Whether a piece shows the link's speed. A piece that had arrived long before its receiver came
 * moved faster than it looks, and counts only if the link is seen to throttle.
 */
static inline bool tells_of(const struct fit *fit, size_t link, const struct piece *x) {
    return !x->found || fit->p->net.held[link];
}

/* The rate that the link is configured or measured to carry. A host shaped in one direction counts
 * as shaped in the other, too, if that shows the same rate. 0: not known.
 */
static inline double known_rate(const struct fit *fit, size_t link) {
    size_t hosts = fit->n_links / 2;
    return fit->known[link] > 0 || link < hosts ? fit->known[link] : fit->known[link - hosts];
}

#endif
