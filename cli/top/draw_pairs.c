/* SPDX-License-Identifier: MIT */
/* The pairs of hosts that exchange most. */
#include <math.h>
#include <stdio.h>

#include "cli/top/draw.h"

static bool is_of(const struct live_pair *pair, int host) {
    return host < 0 || pair->host == host || pair->peer == host;
}

size_t top_pair_rows(const struct live_snapshot *snapshot, int host) {
    size_t n = 0;
    for (size_t i = 0; i < snapshot->n_pairs; i++)
        n += is_of(&snapshot->pairs[i], host);
    return n ? n + 1 : 0;
}

static double lower(double x, double y) {
    return isnan(x) || (y > 0 && y < x) ? y : x;
}

/* How full the link is in the fuller direction, if its capacity is known; else NAN. */
static double share_of_link(const struct live_snapshot *s, const struct live_pair *pair) {
    const struct live_host *host = &s->hosts[pair->host];
    const struct live_host *peer = pair->peer >= 0 ? &s->hosts[pair->peer] : NULL;
    double there = lower(host->send_ceiling_mb_s, peer ? peer->receive_ceiling_mb_s : NAN);
    double back = lower(host->receive_ceiling_mb_s, peer ? peer->send_ceiling_mb_s : NAN);
    return fmax(there > 0 ? pair->send_mb_s / there : NAN,
                back > 0 ? pair->receive_mb_s / back : NAN);
}

static void draw_pair(struct canvas *c, size_t row, size_t name, double share,
                      const struct live_pair *pair) {
    char text[TOP_NUMBER_SIZE];
    size_t at = 1 + name;
    canvas_put(c, row, 1, name, ROLE_PLAIN, pair->host_name);
    at += canvas_put(c, row, at, 4, ROLE_PLAIN, "<=> ");
    canvas_put(c, row, at, name, ROLE_PLAIN, pair->peer_name);
    at += name;
    canvas_put_right(c, row, at, 7, ROLE_TRANSFER, top_rate(text, pair->send_mb_s));
    canvas_put_right(c, row, at + 7, 7, ROLE_TRANSFER, top_rate(text, pair->receive_mb_s));
    snprintf(text, sizeof text, "%zu", pair->connections);
    if (c->columns >= at + 20) /* half a number would be another one */
        canvas_put_right(c, row, at + 14, 6, ROLE_PLAIN, pair->connections ? text : "-");
    if (c->columns > at + 26 && !isnan(share))
        canvas_bar(c, row, at + 22, c->columns - at - 23, ROLE_TRANSFER, share);
}

void top_draw_pairs(struct top_area *area) {
    const struct live_snapshot *s = area->snapshot;
    struct canvas *c = area->canvas;
    size_t name = c->columns / 5 > 40 ? 40 : c->columns / 5, row = area->row + 1;
    if (area->rows < 2)
        return;
    canvas_stripe(c, area->row, ROLE_HEAD);
    canvas_put(c, area->row, 1, name, ROLE_HEAD, "HOST");
    canvas_put(c, area->row, name + 5, name, ROLE_HEAD, "PEER");
    canvas_put_right(c, area->row, 2 * name + 5, 7, ROLE_HEAD, "=> MB/s");
    canvas_put_right(c, area->row, 2 * name + 13, 6, ROLE_HEAD, "<=");
    if (c->columns >= 2 * name + 25)
        canvas_put_right(c, area->row, 2 * name + 20, 5, ROLE_HEAD, "CONN");
    canvas_put(c, area->row, 2 * name + 28, c->columns, ROLE_HEAD, "OF THE LINK");
    for (size_t i = 0; i < s->n_pairs && row < area->row + area->rows; i++) {
        if (!is_of(&s->pairs[i], area->host))
            continue;
        draw_pair(c, row++, name, share_of_link(s, &s->pairs[i]), &s->pairs[i]);
    }
}
