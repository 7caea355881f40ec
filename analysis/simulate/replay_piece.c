/* SPDX-License-Identifier: MIT */
/*
 * The speed of large messages on each link. Messages that follow each other without a pause form
 * one piece, since only the end of the last is certain. A burst that a shaped link passes after a
 * pause says nothing about its rate.
 */
#include <errno.h>
#include <math.h>

#include "analysis/facts/recording/recording.h"
#include "analysis/facts/series/stats.h"
#include "analysis/simulate/replay_piece.h"

#define PEAK_QUANTILE 0.9
#define BURST_MAX 2.0 /* times the known rate: a faster mean is no burst */

static int compare_pieces(const void *a, const void *b) {
    const struct piece *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->message > y->message) - (x->message < y->message);
}

/* Messages of a pair move one after the other. Those without a pause between them become one piece,
 * since the end of each depends on when its receiver looked.
 */
static void join_pieces(struct fit *fit, struct piece **last) {
    const struct replay *p = fit->p;
    size_t kept = 0;
    for (size_t i = 0; i < fit->n; i++) {
        struct piece piece = fit->pieces[i];
        struct piece **before = &last[p->messages[piece.message].pair];
        if (*before && piece.begin_ns <= (*before)->end_ns) {
            (*before)->bytes += piece.bytes;
            (*before)->found |= piece.found;
            (*before)->message = piece.message;
            if (piece.end_ns > (*before)->end_ns)
                (*before)->end_ns = piece.end_ns;
            continue;
        }
        fit->pieces[kept] = piece;
        *before = &fit->pieces[kept++];
    }
    fit->n = kept;
}

static int find_pieces(struct fit *fit) {
    struct replay *p = fit->p;
    struct piece **last = calloc(p->n_pairs + 1, sizeof *last);
    fit->pieces = malloc((p->n_messages + 1) * sizeof *fit->pieces);
    if (!last || !fit->pieces) {
        free(last);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < p->n_messages; i++) {
        const struct replay_message *m = &p->messages[i];
        if (replay_is_between(p, m) && m->bytes >= REPLAY_FLOW_BYTES && m->behind == REPLAY_NONE &&
            m->done_ns > replay_begin_ns(m))
            fit->pieces[fit->n++] = (struct piece){.message = i,
                                                   .from_host = (uint32_t)p->ranks[m->from].host,
                                                   .to_host = (uint32_t)p->ranks[m->to].host,
                                                   .begin_ns = replay_begin_ns(m),
                                                   .end_ns = m->done_ns,
                                                   .bytes = m->bytes,
                                                   .link = -1,
                                                   .found = replay_was_found(m)};
    }
    qsort(fit->pieces, fit->n, sizeof *fit->pieces, compare_pieces);
    join_pieces(fit, last);
    for (size_t i = 0; i < fit->n; i++) {
        struct piece *x = &fit->pieces[i];
        double latency = p->net.latency_ns[1][p->messages[x->message].polled];
        x->end_ns -= (int64_t)replay_latency_within(latency, x->begin_ns, x->end_ns);
    }
    free(last);
    return 0;
}

struct edge {
    int64_t t_ns;
    double rate; /* bytes/ns from here on */
    size_t piece;
    bool begins;
};

static int compare_edges(const void *a, const void *b) {
    const struct edge *x = a, *y = b;
    if (x->t_ns != y->t_ns)
        return x->t_ns < y->t_ns ? -1 : 1;
    if (x->piece != y->piece)
        return x->piece < y->piece ? -1 : 1;
    return (int)y->begins - (int)x->begins;
}

/* The mean rate at which bytes crossed the link while each piece moved. */
static void rate_link(struct fit *fit, int side, size_t host, struct edge *edges,
                      double *at_begin) {
    size_t n = 0;
    for (size_t i = 0; i < fit->n; i++) {
        const struct piece *x = &fit->pieces[i];
        if ((side ? x->to_host : x->from_host) != host)
            continue;
        double rate = x->bytes / (double)(x->end_ns - x->begin_ns);
        edges[n++] = (struct edge){x->begin_ns, rate, i, true};
        edges[n++] = (struct edge){x->end_ns, -rate, i, false};
    }
    qsort(edges, n, sizeof *edges, compare_edges);
    double crossed = 0, rate = 0;
    int64_t at = n ? edges[0].t_ns : 0;
    for (size_t e = 0; e < n; e++) {
        crossed += rate * (double)(edges[e].t_ns - at);
        at = edges[e].t_ns;
        rate += edges[e].rate;
        struct piece *x = &fit->pieces[edges[e].piece];
        if (edges[e].begins)
            at_begin[edges[e].piece] = crossed;
        else
            x->rate[side] =
                (crossed - at_begin[edges[e].piece]) / (double)(x->end_ns - x->begin_ns) * 1e9;
    }
}

/* The rate that the link seldom exceeds. */
static double peak_of(struct fit *fit, size_t link, struct weighted *room) {
    int side = link >= fit->n_links / 2;
    size_t n = 0;
    for (size_t i = 0; i < fit->n; i++)
        if (link_of_piece(fit, &fit->pieces[i], side) == link &&
            tells_of(fit, link, &fit->pieces[i]))
            room[n++] = (struct weighted){fit->pieces[i].rate[side], fit->pieces[i].bytes};
    return n ? stats_weighted_quantile(room, n, PEAK_QUANTILE) : 0;
}

static int rate_links(struct fit *fit) {
    struct edge *edges = malloc((2 * fit->n + 1) * sizeof *edges);
    double *at_begin = malloc((fit->n + 1) * sizeof *at_begin);
    struct weighted *room = malloc((fit->n + 1) * sizeof *room);
    fit->peak = calloc(fit->n_links + 1, sizeof *fit->peak);
    bool ok = edges && at_begin && room && fit->peak;
    for (size_t link = 0; ok && link < fit->n_links; link++) {
        int side = link >= fit->n_links / 2;
        rate_link(fit, side, link % (fit->n_links / 2), edges, at_begin);
        fit->peak[link] = peak_of(fit, link, room);
    }
    free(edges);
    free(at_begin);
    free(room);
    return ok ? 0 : -ENOMEM;
}

/* ---- what is known of links ---- */

/* Bytes/s that the queues of a host's interfaces are set to; 0 if none is set. */
static double queue_rate(const struct run_model *model, size_t host) {
    const struct series_set *set = &model->recording->tables[RECORDING_QDISC];
    int64_t most = 0;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == (int)host) {
            int64_t rate = series_last(set, &set->items[s], QDISC_RATE);
            most = rate > most ? rate : most;
        }
    return (double)most;
}

static int find_known(struct fit *fit) {
    const struct run_model *model = fit->p->model;
    size_t hosts = fit->n_links / 2;
    fit->known = calloc(fit->n_links + 1, sizeof *fit->known);
    for (size_t h = 0; fit->known && h < hosts; h++) {
        double send = recording_ceiling(model->recording, (int)h, METRIC_NET_SEND) * 1e6;
        double receive = recording_ceiling(model->recording, (int)h, METRIC_NET_RECV) * 1e6;
        double queue = queue_rate(model, h), others = fit->p->net.others[h];
        queue = queue > others ? queue - others : 0;
        fit->known[h] = queue > 0 ? queue : send > 0 ? send : 0;
        fit->known[hosts + h] = receive > 0 ? receive : 0;
    }
    return fit->known ? 0 : -ENOMEM;
}

/* The mean over the time in which bytes moved. */
static double mean_rate(const struct fit *fit, size_t link) {
    int side = link >= fit->n_links / 2;
    double bytes = 0, time = 0;
    for (size_t i = 0; i < fit->n; i++) {
        const struct piece *x = &fit->pieces[i];
        double moved = link_of_piece(fit, x, side) == link ? (double)(x->end_ns - x->begin_ns) : 0;
        bytes += moved * x->rate[side];
        time += moved;
    }
    return time > 0 ? bytes / time : 0;
}

/* The mean rate up to which speeds above the known rate count as bursts. A host that throttles what
 * it sends has no such bound, since packets wait at that rate though messages pass at any. A host
 * that is shaped in both directions shows about the same in both.
 */
static double most_of_bursts(const struct fit *fit, size_t link) {
    size_t host = link % (fit->n_links / 2);
    if (!fit->p->net.held[host] || !(fit->known[host] > 0))
        return BURST_MAX * known_rate(fit, link);
    return link == host ? INFINITY : mean_rate(fit, host) / AT_KNOWN;
}

/* A shaped link passes a burst at once after each pause, so messages no larger than the burst are
 * seen at any rate. If their mean is about the link's known rate, that is what the link carries.
 */
static void see_bursts(struct fit *fit) {
    for (size_t link = 0; link < fit->n_links; link++) {
        double known = known_rate(fit, link), pace = mean_rate(fit, link);
        if (known > 0 && fit->peak[link] > known && pace >= AT_KNOWN * known &&
            pace <= most_of_bursts(fit, link))
            fit->peak[link] = known;
    }
}

int replay_find_pieces(struct fit *fit) {
    int result = find_pieces(fit);
    if (result == 0)
        result = find_known(fit);
    if (result == 0 && fit->n)
        result = rate_links(fit);
    if (result == 0 && fit->n)
        see_bursts(fit);
    return result;
}
