/* SPDX-License-Identifier: MIT */
/*
 * Data wait for a process of a role. The kernel's clocks of connections show it: data for a process
 * that reads at once is acknowledged at once, so data that stays in flight towards one process, and
 * not back, waits for it. If a process has a thread for its connections, the queue of its core
 * shows it, too: data that comes while it computes is taken in after its computing, data that comes
 * while it waits finds the core free. If both agree, weaker evidence of each suffices.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/causes/causes_private.h"

/* Data wait for this process, and hardly for the others: by its connections, or by the geometric
 * mean of connections and core. */
bool peer_is_late(const struct run_model *model, const struct peers *peers, const struct peer *p) {
    double by_data = p->late / peers_median_but(peers, p, peer_late);
    double by_core = p->crowded / peers_median_but(peers, p, peer_crowded);
    double most = number_of(model, LATE_RATIO) *
                  number_of(model, LATE_RATIO); /* data must not contradict it */
    double both =
        p->crowded >= number_of(model, LATE_MIN) ? sqrt(by_data * fmin(by_core, most)) : 0;
    return p->late_share >= number_of(model, LATE_MIN) &&
           fmax(by_data, both) >= number_of(model, LATE_RATIO);
}

void peer_tell_late(const struct run_model *model, const struct peers *peers, const struct peer *p,
                    struct candidate *c) {
    double others = peers_median_but(peers, p, peer_late);
    c->awaited = true;
    if (others > 0)
        remarks_add(&c->evidence, DATA_WAITED, NUMBERS(p->late / others, peers->n - 1),
                    NAMES(model->hosts[c->host].name));
    double crowded = peers_median_but(peers, p, peer_crowded);
    if (p->crowded >= number_of(model, LATE_MIN) &&
        p->crowded >= number_of(model, LATE_RATIO) * crowded)
        remarks_add(&c->evidence, THREADS_QUEUED,
                    NUMBERS(100 * p->crowded, peers->n - 1, 100 * crowded), NAMES(p->who->process));
    c->signals++;
}

int peers_compare(const struct run_model *model, size_t group, peers_look *look_at,
                  struct candidates *candidates) {
    struct peers peers = {0};
    int result = peers_make(model, group, &peers);
    if (result == 0 && peers.n > 1)
        result = look_at(model, group, &peers, candidates);
    free(peers.items);
    return result;
}
