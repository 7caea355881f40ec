/* SPDX-License-Identifier: MIT */
/*
 * Derives the rates of links from the speed of large messages (replay_piece.c). Set logic tells
 * which end of a transfer is the limit: at a limiting link, all that crosses it at a time moves at
 * one total rate, whichever ranks take part. At the other end it does not, nor at a link known to
 * carry much more. The model takes the links that explain most bytes; all others have no limit,
 * since nothing shows one. If both ends explain the same bytes, neither is the limit, except the
 * one that a question names.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/simulate/replay_piece.h"

#define AT_LIMIT 0.75 /* of the rate that the link seldom exceeds */
#define COVER 0.9     /* of the bytes to explain */

static bool explains(const struct fit *fit, size_t link, const struct piece *x) {
    int side = link >= fit->n_links / 2;
    if (fit->peak[link] < KNOWN_MIN * fit->known[link] || !tells_of(fit, link, x))
        return false;
    return link_of_piece(fit, x, side) == link && x->rate[side] >= AT_LIMIT * fit->peak[link];
}

/* The bytes that each link explains and that nothing explains yet. */
static void explained_bytes(const struct fit *fit, double *ret_bytes) {
    memset(ret_bytes, 0, fit->n_links * sizeof *ret_bytes);
    for (size_t i = 0; i < fit->n; i++)
        for (int side = 0; side < 2; side++) {
            const struct piece *x = &fit->pieces[i];
            size_t link = link_of_piece(fit, x, side);
            if (x->link < 0 && explains(fit, link, x))
                ret_bytes[link] += x->bytes;
        }
}

/* Marks the pieces as explained by the link; returns its rate while it limits. */
static double take(struct fit *fit, size_t link) {
    int side = link >= fit->n_links / 2;
    double bytes = 0, time = 0;
    for (size_t i = 0; i < fit->n; i++) {
        struct piece *x = &fit->pieces[i];
        if (x->link >= 0 || !explains(fit, link, x))
            continue;
        x->link = (int)link;
        bytes += x->bytes;
        time += x->bytes / x->rate[side];
    }
    return time > 0 ? bytes / time : INFINITY;
}

static double *rate_of(struct replay_network *model, size_t n_hosts, size_t link) {
    return link < n_hosts ? &model->egress[link] : &model->ingress[link - n_hosts];
}

/* Whether the link is seen at about its known rate. */
static bool is_at_known(const struct fit *fit, size_t link) {
    double known = known_rate(fit, link);
    return known > 0 && fit->peak[link] >= AT_KNOWN * known && fit->peak[link] * AT_KNOWN <= known;
}

/* The link that explains most of the remaining bytes, at least `least`; a link at its known rate
 * comes first. n_links if there is none.
 */
static size_t best_link(const struct fit *fit, const double *bytes, double least) {
    size_t best = fit->n_links;
    for (size_t link = 0; link < fit->n_links; link++) {
        if (bytes[link] < least)
            continue;
        bool known = is_at_known(fit, link), was = best < fit->n_links && is_at_known(fit, best);
        if (best == fit->n_links || known > was ||
            (known == was && bytes[link] > bytes[best] * (1 + 1e-9)))
            best = link;
    }
    return best;
}

static int cover(struct fit *fit) {
    size_t hosts = fit->n_links / 2;
    double all = 0, *bytes = calloc(fit->n_links + 1, sizeof *bytes);
    if (!bytes)
        return -ENOMEM;
    for (size_t i = 0; i < fit->n; i++)
        all += fit->pieces[i].bytes;
    for (double left = all; left > (1 - COVER) * all;) {
        explained_bytes(fit, bytes);
        size_t best = best_link(fit, bytes, (1 - COVER) / 2 * all);
        if (best == fit->n_links)
            break;
        *rate_of(&fit->p->net, hosts, best) = take(fit, best);
        left -= bytes[best];
    }
    free(bytes);
    return 0;
}

struct pace {
    double bytes, time;     /* all that no link explains */
    double waited, waiting; /* the part that a rank waited for */
    double explained;
};

static void add_piece(struct pace *pace, const struct piece *x) {
    double time = (double)(x->end_ns - x->begin_ns);
    if (x->link >= 0) {
        pace->explained += x->bytes;
        return;
    }
    pace->bytes += x->bytes;
    pace->time += time;
    pace->waited += x->found ? 0 : x->bytes;
    pace->waiting += x->found ? 0 : time;
}

/* Transfers that no link explains have a pace, too, set by programs and protocols. It is the pace
 * of the messages that a rank waited for, if there are any: the times of the others only show when
 * receivers came, and do not count where a link explains the awaited ones. A pair whose bytes are
 * mostly explained has none.
 */
static double bytes_per_s(const struct pace *pace) {
    if (pace->bytes <= pace->explained || !(pace->time > 0))
        return INFINITY;
    if (pace->waiting > 0)
        return pace->waited / pace->waiting * 1e9;
    return pace->explained > 0 ? INFINITY : pace->bytes / pace->time * 1e9;
}

static int fit_pairs(struct fit *fit) {
    struct replay *p = fit->p;
    struct pace *paces = calloc(p->n_pairs + 1, sizeof *paces);
    if (!paces)
        return -ENOMEM;
    for (size_t i = 0; i < fit->n; i++)
        add_piece(&paces[p->messages[fit->pieces[i].message].pair], &fit->pieces[i]);
    for (size_t i = 0; i < p->n_pairs; i++)
        p->net.pair[i] = bytes_per_s(&paces[i]);
    free(paces);
    return 0;
}

/* Finds the link that could be the limit in place of another: it explains the same bytes. */
static void find_twins(struct fit *fit) {
    struct replay_network *model = &fit->p->net;
    for (size_t link = 0; link < fit->n_links; link++) {
        double own = 0, both = 0, other = 0, time = 0;
        int side = link >= fit->n_links / 2, twin = -1;
        for (size_t i = 0; i < fit->n && twin < 0; i++)
            if (explains(fit, link, &fit->pieces[i]) && fit->pieces[i].link != (int)link)
                twin = fit->pieces[i].link;
        for (size_t i = 0; i < fit->n && twin >= 0; i++) {
            const struct piece *x = &fit->pieces[i];
            bool explained = explains(fit, link, x);
            own += explained ? x->bytes : 0;
            other += x->link == twin ? x->bytes : 0;
            both += explained && x->link == twin ? x->bytes : 0;
            time += explained ? x->bytes / x->rate[side] : 0;
        }
        if (twin < 0 || both < COVER * other || time <= 0)
            continue;
        model->twin[link] = twin;
        model->twin_rate[link] = own / time;
    }
}

int replay_fit_links(struct replay *p) {
    struct fit fit = {.p = p, .n_links = 2 * p->model->n_hosts};
    int result = replay_find_pieces(&fit);
    if (result == 0 && fit.n)
        result = cover(&fit);
    if (result == 0)
        result = fit_pairs(&fit);
    if (result == 0)
        result = replay_fit_freed(&fit);
    if (result == 0)
        result = replay_fit_bursts(&fit);
    if (result == 0)
        find_twins(&fit);
    free(fit.pieces);
    free(fit.peak);
    for (size_t link = 0; fit.known && link < fit.n_links; link++)
        fit.known[link] = known_rate(&fit, link);
    p->net.known = fit.known;
    return result;
}
