/* SPDX-License-Identifier: MIT */
/*
 * Links by comparison: a rank whose transfers take it longer than its peers', though nothing was
 * seen to be full at its host. What limits it may lie outside of what these hosts show (a switch, a
 * shaper on the way), so this is a suspicion and never more.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/saturation_net.h"
#include "analysis/straggler.h"

static int add_suspect(const struct scene *scene, size_t group, const struct straggler *s,
                       struct candidates *candidates) {
    double out = link_demand(scene, group, s->host, FLOW_SEND);
    double in = link_demand(scene, group, s->host, FLOW_RECEIVE);
    enum flow_side side = in > out ? FLOW_RECEIVE : FLOW_SEND;
    double blocked = fmax(out, in) * (1 - 1 / s->slowdown);
    if (!(blocked >= GAIN_MIN))
        return 0;
    struct candidate c = link_of(scene, group, s->host, side);
    free(c.cause);
    c.cause = text_format("transfers take rank %d longer than its peers", s->rank);
    c.blocked = blocked;
    c.rank = s->rank;
    c.can_remove = c.can_double = false; /* no replay knows a limit that nothing shows */
    text_list_add(&c.evidence, "rank %d takes %.2f times as long as its peers for what is its own",
                  s->rank, s->slowdown);
    text_list_add(&c.evidence, "transfers to and from its host hold up the run %.0f %% of the time",
                  100 * fmax(out, in));
    text_list_add(&c.against,
                  "no link of these hosts was seen to be full: the limit may lie between "
                  "them, in either direction");
    link_add_arithmetic(candidates, group, s->host, side, &c);
    c.signals = 1;
    return candidates_add(candidates, &c) ? 0 : -ENOMEM;
}

int link_by_peers(const struct scene *scene, size_t group, struct candidates *candidates) {
    const struct stragglers *stragglers;
    int result = scene_stragglers(scene, &stragglers);
    for (size_t i = 0; result == 0 && i < stragglers->n; i++)
        if (stragglers->items[i].cause_kind &&
            strcmp(stragglers->items[i].cause_kind, "path-limited") == 0)
            result = add_suspect(scene, group, &stragglers->items[i], candidates);
    return result;
}
