/* SPDX-License-Identifier: MIT */
/*
 * Present and asked-for rates of links. Only this file compares the two, so that a factor and the
 * rate that it makes are the same question. Messages on a limiting link move somewhat slower than
 * the configured or measured rate. At a faster rate they stay slower in proportion; at a slower one
 * they move at that rate.
 */
#include <math.h>

#include "analysis/gain/whatif_private.h"

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

double whatif_present_rate(const struct whatif *w, size_t link) {
    if (!w->replay)
        return NAN;
    const struct replay_network *m = &w->replay->net;
    double known = m->known[link], rate = modelled(m, w->model->n_hosts, link);
    bool is_known =
        known > 0 && (isinf(rate) || (rate >= AT_KNOWN * known && rate * AT_KNOWN <= known));
    return is_known ? known : isinf(rate) ? NAN : rate;
}

double whatif_asked_factor(const struct whatif *w, const struct whatif_scenario *s, size_t link) {
    return s->rate_bytes_s > 0 ? s->rate_bytes_s / whatif_present_rate(w, link) : s->factor;
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
    return asked < rate ? asked : rate * fmax(factor, 1);
}
