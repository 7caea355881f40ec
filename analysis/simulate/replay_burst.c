/* SPDX-License-Identifier: MIT */
/*
 * Finds links that pass bursts: bytes that a limited link lets through at once. After a pause as
 * long as a message takes at the link's set rate, the token bucket is full (RFC 2697), and the
 * message takes as long as without a limit. If the bucket is smaller, the rest passes at the set
 * rate, and larger messages take longer by exactly their additional bytes at that rate; then
 * nothing is known, nor if all messages have one size.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/facts/series/stats.h"
#include "analysis/simulate/replay_piece.h"

#define BURSTS_MIN 16
#define SURELY 2.0     /* standard errors */
#define AS_LIMITED 0.9 /* of the additional time of larger messages at the set rate */

struct burst {
    double bytes, s;
};

/* Finds messages before which the link had, or nearly had, time to gather tokens. Pieces are in the
 * order of their begin.
 */
static size_t find_bursts(const struct fit *fit, size_t link, struct burst *ret_bursts) {
    int side = link >= fit->n_links / 2;
    double rate = known_rate(fit, link);
    int64_t last = INT64_MAX;
    size_t n = 0;
    for (size_t i = 0; i < fit->n; i++) {
        const struct piece *x = &fit->pieces[i];
        if (link_of_piece(fit, x, side) != link)
            continue;
        double pause_s = last < x->begin_ns ? (double)(x->begin_ns - last) / 1e9 : 0;
        if (!x->found && pause_s * rate >= AT_KNOWN * x->bytes)
            ret_bursts[n++] = (struct burst){x->bytes, (double)(x->end_ns - x->begin_ns) / 1e9};
        last = last == INT64_MAX || x->end_ns > last ? x->end_ns : last;
    }
    return n;
}

/* Tells by least squares whether larger messages surely take less additional time than the set rate
 * would cost.
 */
static bool pass_at_once(const struct burst *bursts, size_t n, double rate) {
    double bytes = 0, s = 0, of_bytes = 0, of_both = 0, rest = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += bursts[i].bytes / (double)n;
        s += bursts[i].s / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        of_bytes += (bursts[i].bytes - bytes) * (bursts[i].bytes - bytes);
        of_both += (bursts[i].bytes - bytes) * (bursts[i].s - s);
    }
    if (n < BURSTS_MIN || !(of_bytes > 0))
        return false;
    double slope = of_both / of_bytes;
    for (size_t i = 0; i < n; i++) {
        double off = bursts[i].s - s - slope * (bursts[i].bytes - bytes);
        rest += off * off;
    }
    double error = sqrt(rest / (double)(n - 2) / of_bytes);
    return (slope + SURELY * error) * rate < AS_LIMITED;
}

/* Finds the messages at least as large as the one that holds the mean byte: *ret_larger. Returns
 * whether they have several sizes.
 */
static bool find_larger(const struct burst *bursts, size_t n, struct burst *larger,
                        size_t *ret_larger) {
    double bytes = 0, squares = 0;
    size_t kept = 0;
    bool differ = false;
    for (size_t i = 0; i < n; i++)
        bytes += bursts[i].bytes;
    for (size_t i = 0; i < n; i++)
        squares += bursts[i].bytes * bursts[i].bytes;
    for (size_t i = 0; i < n; i++) {
        if (bursts[i].bytes * bytes < squares)
            continue;
        larger[kept++] = bursts[i];
        differ |= bursts[i].bytes > larger[0].bytes || bursts[i].bytes < larger[0].bytes;
    }
    *ret_larger = kept;
    return differ;
}

/* The bytes/s that bursts through the link seldom exceed; 0 if not known. Small ones may pass at
 * once while larger ones are throttled, so the larger ones are judged apart. `bursts` has room for
 * twice the number of pieces.
 */
static double burst_rate(const struct fit *fit, size_t link, struct burst *bursts,
                         struct weighted *room) {
    double rate = known_rate(fit, link);
    size_t n = rate > 0 ? find_bursts(fit, link, bursts) : 0;
    size_t larger;
    if (!pass_at_once(bursts, n, rate) ||
        (find_larger(bursts, n, bursts + n, &larger) && !pass_at_once(bursts + n, larger, rate)))
        return 0;
    for (size_t i = 0; i < n; i++)
        room[i] = (struct weighted){bursts[i].bytes / bursts[i].s, bursts[i].bytes};
    double seldom = stats_weighted_quantile(room, n, SELDOM_PASSED);
    return seldom >= FREER * rate ? seldom : 0;
}

int replay_fit_bursts(struct fit *fit) {
    struct replay *p = fit->p;
    struct burst *bursts = malloc((2 * fit->n + 1) * sizeof *bursts);
    struct weighted *room = malloc((fit->n + 1) * sizeof *room);
    bool ok = bursts && room;
    for (size_t link = 0; ok && link < fit->n_links; link++) {
        double rate = burst_rate(fit, link, bursts, room);
        for (size_t i = 0; rate > 0 && i < fit->n; i++) {
            const struct piece *x = &fit->pieces[i];
            double *freed = &p->net.freed[p->messages[x->message].pair];
            if (x->link == (int)link && isinf(*freed))
                *freed = rate;
        }
    }
    free(bursts);
    free(room);
    return ok ? 0 : -ENOMEM;
}
