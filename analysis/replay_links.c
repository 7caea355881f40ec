/* SPDX-License-Identifier: MIT */
/*
 * What links carry, from the large messages of the recording.
 *
 * Which end of a transfer is the limit is told by set logic: at a link that limits, all that
 * crosses it together always moves at the same rate, whoever takes part; at the other end it does
 * not; nor where the link is known to carry much more. The links that explain most bytes so are the
 * model's; all others are without limit, since nothing shows theirs. Where both ends explain as
 * much, both are kept out but the one that is asked for.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/recording.h"
#include "analysis/replay_private.h"
#include "analysis/stats.h"

#define AT_LIMIT 0.75 /* of the rate that is seldom passed */
#define COVER 0.9     /* of the bytes to explain */
#define PEAK_QUANTILE 0.9
#define AT_KNOWN 0.75
#define BURST_MAX 2.0 /* times the known rate: more than that on average is no burst */
#define KNOWN_MIN 0.5 /* of what a link is known to carry: at less it limits nothing */

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

static int compare_sent(const void *a, const void *b) {
    const struct piece *x = a, *y = b;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns ? -1 : 1;
    return (x->message > y->message) - (x->message < y->message);
}

/* Messages of a pair move one after the other; those that follow each other without a pause are one
 * piece, since when each of them was done depends on when its receiver looked. */
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
        if (replay_is_between(p, m) && m->bytes >= REPLAY_FLOW_BYTES &&
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
    qsort(fit->pieces, fit->n, sizeof *fit->pieces, compare_sent);
    join_pieces(fit, last);
    for (size_t i = 0; i < fit->n; i++) {
        struct piece *x = &fit->pieces[i];
        double latency = p->model.latency_ns[1][p->messages[x->message].polled];
        x->end_ns -= (int64_t)fmin(latency, (double)(x->end_ns - x->begin_ns) / 2);
    }
    free(last);
    return 0;
}

struct edge {
    int64_t t_ns;
    double rate; /* bytes/ns that begin here */
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

/* The mean rate at which bytes crossed the link while each of its pieces moved. */
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

static size_t link_of(const struct fit *fit, const struct piece *x, int side) {
    return side ? fit->n_links / 2 + x->to_host : x->from_host;
}

/* A rate of the link that is seldom passed. */
static double peak_of(struct fit *fit, size_t link, struct weighted *room) {
    int side = link >= fit->n_links / 2;
    size_t n = 0;
    for (size_t i = 0; i < fit->n; i++)
        if (link_of(fit, &fit->pieces[i], side) == link)
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

/* ---- which links limit ---- */

/* Bytes/s that the queues before a host's interfaces are set to; 0 if none is. */
static double queue_rate(const struct scene *scene, size_t host) {
    const struct series_set *set = &scene->recording->tables[RECORDING_QDISC];
    int64_t most = 0;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == (int)host) {
            int64_t rate = series_last(set, &set->items[s], QDISC_RATE);
            most = rate > most ? rate : most;
        }
    return (double)most;
}

static int find_known(struct fit *fit) {
    const struct scene *scene = fit->p->scene;
    size_t hosts = fit->n_links / 2;
    fit->known = calloc(fit->n_links + 1, sizeof *fit->known);
    for (size_t h = 0; fit->known && h < hosts; h++) {
        double send = recording_ceiling(scene->recording, (int)h, METRIC_NET_SEND) * 1e6;
        double receive = recording_ceiling(scene->recording, (int)h, METRIC_NET_RECV) * 1e6;
        double queue = queue_rate(scene, h);
        fit->known[h] = queue > 0 ? queue : send > 0 ? send : 0;
        fit->known[hosts + h] = receive > 0 ? receive : 0;
    }
    return fit->known ? 0 : -ENOMEM;
}

/* What the link is set to or was measured to carry; a host shaped one way is taken to be shaped the
 * other way, too, if that shows the same rate. 0: not known. */
static double known_rate(const struct fit *fit, size_t link) {
    size_t hosts = fit->n_links / 2;
    return fit->known[link] > 0 || link < hosts ? fit->known[link] : fit->known[link - hosts];
}

/* Mean over the time in which something moved. */
static double pace_of(const struct fit *fit, size_t link) {
    int side = link >= fit->n_links / 2;
    double bytes = 0, time = 0;
    for (size_t i = 0; i < fit->n; i++) {
        const struct piece *x = &fit->pieces[i];
        double moved = link_of(fit, x, side) == link ? (double)(x->end_ns - x->begin_ns) : 0;
        bytes += moved * x->rate[side];
        time += moved;
    }
    return time > 0 ? bytes / time : 0;
}

/* The mean rate up to which what is seen faster than the known rate is still bursts: of a host that
 * is seen to hold back what it sends there is no end to it, since packets wait for that rate though
 * messages pass at any; shaped the other way, too, it shows about the same there. */
static double most_of_bursts(const struct fit *fit, size_t link) {
    size_t host = link % (fit->n_links / 2);
    if (!fit->p->model.held[host] || !(fit->known[host] > 0))
        return BURST_MAX * known_rate(fit, link);
    return link == host ? INFINITY : pace_of(fit, host) / AT_KNOWN;
}

/* A shaped link lets a burst pass at once after each pause: messages no larger than that are seen
 * at any rate. If their mean is about the link's own, all of them are what it carries. */
static void see_bursts(struct fit *fit) {
    for (size_t link = 0; link < fit->n_links; link++) {
        double known = known_rate(fit, link), pace = pace_of(fit, link);
        if (known > 0 && fit->peak[link] > known && pace >= AT_KNOWN * known &&
            pace <= most_of_bursts(fit, link))
            fit->peak[link] = known;
    }
}

static bool explains(const struct fit *fit, size_t link, const struct piece *x) {
    int side = link >= fit->n_links / 2;
    if (fit->peak[link] < KNOWN_MIN * fit->known[link])
        return false;
    return link_of(fit, x, side) == link && x->rate[side] >= AT_LIMIT * fit->peak[link];
}

/* Bytes that each link explains of those that nothing explains yet. */
static void explained_bytes(const struct fit *fit, double *ret_bytes) {
    memset(ret_bytes, 0, fit->n_links * sizeof *ret_bytes);
    for (size_t i = 0; i < fit->n; i++)
        for (int side = 0; side < 2; side++) {
            const struct piece *x = &fit->pieces[i];
            size_t link = link_of(fit, x, side);
            if (x->link < 0 && explains(fit, link, x))
                ret_bytes[link] += x->bytes;
        }
}

/* What it carries while it is the limit. */
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

static double *rate_of(struct replay_model *model, size_t n_hosts, size_t link) {
    return link < n_hosts ? &model->egress[link] : &model->ingress[link - n_hosts];
}

/* Seen at about what it is set to. */
static bool is_at_known(const struct fit *fit, size_t link) {
    double known = known_rate(fit, link);
    return known > 0 && fit->peak[link] >= AT_KNOWN * known && fit->peak[link] * AT_KNOWN <= known;
}

/* The link that explains most of what is left, at least `least` bytes; one at its known rate goes
 * before any other. n_links: none. */
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
        *rate_of(&fit->p->model, hosts, best) = take(fit, best);
        left -= bytes[best];
    }
    free(bytes);
    return 0;
}

struct pace {
    double bytes, time;     /* of what no link explains */
    double waited, waiting; /* the part of it that somebody waited for */
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

/* What no link explains takes its time all the same: programs and protocols have a pace, too. It is
 * that of the messages that somebody waited for, if there are any: how long the others took is
 * known no better than when their receivers came. Mostly explained: none. */
static double bytes_per_s(const struct pace *pace) {
    if (pace->bytes <= pace->explained || !(pace->time > 0))
        return INFINITY;
    return pace->waiting > 0 ? pace->waited / pace->waiting * 1e9 : pace->bytes / pace->time * 1e9;
}

static int fit_pairs(struct fit *fit) {
    struct replay *p = fit->p;
    struct pace *paces = calloc(p->n_pairs + 1, sizeof *paces);
    if (!paces)
        return -ENOMEM;
    for (size_t i = 0; i < fit->n; i++)
        add_piece(&paces[p->messages[fit->pieces[i].message].pair], &fit->pieces[i]);
    for (size_t i = 0; i < p->n_pairs; i++)
        p->model.pair[i] = bytes_per_s(&paces[i]);
    free(paces);
    return 0;
}

/* The link that could be the limit in place of another: all that one explains, it does, too. */
static void find_twins(struct fit *fit) {
    struct replay_model *model = &fit->p->model;
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
    struct fit fit = {.p = p, .n_links = 2 * p->scene->n_hosts};
    int result = find_pieces(&fit);
    if (result == 0)
        result = find_known(&fit);
    if (result == 0 && fit.n)
        result = rate_links(&fit);
    if (result == 0 && fit.n)
        see_bursts(&fit);
    if (result == 0 && fit.n)
        result = cover(&fit);
    if (result == 0)
        result = fit_pairs(&fit);
    if (result == 0)
        find_twins(&fit);
    free(fit.pieces);
    free(fit.peak);
    free(fit.known);
    return result;
}
