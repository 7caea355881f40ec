/* SPDX-License-Identifier: MIT */
/*
 * Present and asked-for rates of links. Only this file compares the two, so that a factor and the
 * rate that it makes are the same question. Messages on a limiting link move somewhat slower than
 * the configured or measured rate. At a faster rate they stay slower in proportion; at a slower one
 * they move at that rate.
 */
#include <math.h>

#include "analysis/evidence/arithmetic.h"
#include "analysis/gain/whatif_private.h"
#include "analysis/run_model.h"

#define AT_KNOWN                                                                                   \
    0.75 /* ratio of the modelled and the known rate: nearer to 1 they are the same                \
          */

bool whatif_asks_link(const struct whatif *w, const struct whatif_scenario *s, size_t link) {
    size_t hosts = w->model->n_hosts;
    enum whatif_direction other = link < hosts ? WHATIF_RECEIVE : WHATIF_SEND;
    return s->kind == WHATIF_LINK && s->direction != other &&
           (s->host < 0 || (size_t)s->host == link % hosts);
}

/* The rate at which messages moved. INFINITY if the link was never the limit. */
static double modelled(const struct replay_network *m, size_t hosts, size_t link) {
    double rate = link < hosts ? m->egress[link] : m->ingress[link - hosts];
    return isinf(rate) && m->twin[link] >= 0 ? m->twin_rate[link] : rate;
}

/* The capacity of a link that no replay has modelled, bytes/s: measured or configured. Not that of
 * its interface alone, which what lies behind it may never reach.
 */
static double capacity(const struct run_model *model, size_t link) {
    bool sends = link < model->n_hosts;
    double mb_s = NAN;
    network_rate_of(model, (int)(link % model->n_hosts), sends ? METRIC_NET_SEND : METRIC_NET_RECV,
                    NAN, &mb_s);
    return 1e6 * mb_s;
}

/* The highest rate that the link was seen to carry, bytes/s: its capacity is that at least. */
static double seen(const struct run_model *model, size_t link) {
    bool sends = link < model->n_hosts;
    return 1e6 * network_ceiling_of(model, (int)(link % model->n_hosts),
                                    sends ? METRIC_NET_SEND : METRIC_NET_RECV);
}

double whatif_present_rate(const struct whatif *w, size_t link) {
    if (!w->replay)
        return capacity(w->model, link);
    const struct replay_network *m = &w->replay->net;
    double known = m->known[link], rate = modelled(m, w->model->n_hosts, link);
    bool is_known =
        known > 0 && (isinf(rate) || (rate >= AT_KNOWN * known && rate * AT_KNOWN <= known));
    return is_known ? known : isinf(rate) ? NAN : rate;
}

double whatif_asked_factor(const struct whatif *w, const struct whatif_scenario *s, size_t link) {
    return s->rate_bytes_s > 0 ? s->rate_bytes_s / whatif_present_rate(w, link) : s->factor;
}

/* Like whatif_asked_factor(). A rate below the highest one that was seen is slower, whatever the
 * capacity.
 */
static double told_factor(const struct whatif *w, const struct whatif_scenario *s, size_t link) {
    double factor = whatif_asked_factor(w, s, link);
    if (!isnan(factor))
        return factor;
    double slower = s->rate_bytes_s / seen(w->model, link);
    return slower < 1 ? slower : NAN;
}

static double link_speed(const struct whatif *w, const struct whatif_scenario *s) {
    double least = INFINITY, most = 0;
    bool known = true;
    for (size_t link = 0; link < 2 * w->model->n_hosts; link++) {
        if (!whatif_asks_link(w, s, link))
            continue;
        double factor = told_factor(w, s, link);
        known &= !isnan(factor);
        least = fmin(least, factor);
        most = fmax(most, factor);
    }
    return least < 1 ? least : known ? most : NAN;
}

double whatif_speed(const struct whatif *w, const struct whatif_scenario *s) {
    switch (s->kind) {
    case WHATIF_LINK:
        return link_speed(w, s);
    case WHATIF_CPU:
    case WHATIF_DISK:
    case WHATIF_RANK:
        return s->factor;
    case WHATIF_LATENCY:
        return 1 / s->factor;
    case WHATIF_WITHOUT:
        return INFINITY;
    default:
        return NAN;
    }
}

enum budget_term whatif_term(const struct whatif_scenario *s) {
    switch (s->kind) {
    case WHATIF_LINK:
    case WHATIF_LATENCY:
        return BUDGET_TRANSFER;
    case WHATIF_DISK:
        return BUDGET_DISK;
    case WHATIF_WITHOUT:
        return s->term;
    default:
        return BUDGET_CPU;
    }
}

double whatif_asked_most(const struct whatif *w, const struct whatif_scenario *s) {
    double most = 0;
    for (size_t link = 0; link < 2 * w->model->n_hosts; link++) {
        double factor = whatif_asks_link(w, s, link) ? whatif_asked_factor(w, s, link) : 0;
        most = isnan(factor) ? INFINITY : fmax(most, factor);
    }
    return most;
}

double whatif_carried(const struct whatif *w, size_t link, double rate, double factor) {
    double present = whatif_present_rate(w, link);
    if (isnan(present))
        return rate * factor;
    double asked = present * factor;
    if (isinf(rate)) /* it limits nothing, unless it becomes slower than its known rate */
        return factor < 1 ? asked : rate;
    if (rate >= present) /* as the replay was calibrated */
        return rate * factor;
    return asked < rate ? asked : rate * fmax(factor, 1);
}
