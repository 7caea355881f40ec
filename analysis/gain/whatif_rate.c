/* SPDX-License-Identifier: MIT */
/*
 * Speeds of links: what one carries at present, and what it would carry. Here alone a speed that is
 * asked for is put beside the present one, so that a factor and the rate that it makes are one
 * question. Messages of a link that is the limit move somewhat slower than the rate that it is set
 * to, or was measured to carry: they go on doing so in proportion at a faster one, and at a slower
 * one move at that rate.
 */
#include <math.h>

#include "analysis/gain/whatif_private.h"

#define AT_KNOWN 0.75 /* of what it is known to carry, or the other way round: it is that */

bool whatif_asks_link(const struct whatif *w, const struct whatif_scenario *s, size_t link) {
    size_t hosts = w->model->n_hosts;
    enum whatif_direction other = link < hosts ? WHATIF_RECEIVE : WHATIF_SEND;
    return s->kind == WHATIF_LINK && s->direction != other &&
           (s->host < 0 || (size_t)s->host == link % hosts);
}

/* By how messages moved. INFINITY: it was never the limit. */
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
    if (isinf(rate)) /* it limits nothing, unless it gets slower than it is known to be */
        return factor < 1 ? asked : rate;
    return asked < rate ? asked : rate * fmax(factor, 1);
}
