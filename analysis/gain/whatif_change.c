/* SPDX-License-Identifier: MIT */
/* Applies the changes of a scenario to a replay. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/arithmetic.h"
#include "analysis/evidence/flows.h"
#include "analysis/evidence/queues.h"
#include "analysis/gain/whatif_private.h"
#include "analysis/number.h"

#define ONE_SIDED_MAX 0.05 /* of the ranks' time */

int whatif_change_init(const struct whatif *w, struct replay_change *ret_change) {
    const struct replay *p = w->replay;
    size_t hosts = w->model->n_hosts;
    struct replay_change c = {.egress = malloc((hosts + 1) * sizeof *c.egress),
                              .pace = malloc((2 * hosts + 1) * sizeof *c.pace),
                              .ingress = malloc((hosts + 1) * sizeof *c.ingress),
                              .burst = malloc((2 * hosts + 1) * sizeof *c.burst),
                              .quota = malloc((hosts + 1) * sizeof *c.quota),
                              .keep = malloc((hosts * BUDGET_TERMS + 1) * sizeof *c.keep),
                              .speed = malloc((p->n_ranks + 1) * sizeof *c.speed),
                              .latency = 1};
    if (!c.egress || !c.ingress || !c.burst || !c.quota || !c.pace || !c.keep || !c.speed) {
        whatif_change_release(&c);
        return -ENOMEM;
    }
    memcpy(c.egress, p->net.egress, hosts * sizeof *c.egress);
    memcpy(c.ingress, p->net.ingress, hosts * sizeof *c.ingress);
    for (size_t i = 0; i < 2 * hosts; i++) {
        c.pace[i] = 1;
        c.burst[i] = -1;
    }
    for (size_t i = 0; i < hosts * BUDGET_TERMS; i++)
        c.keep[i] = 1;
    for (size_t h = 0; h < hosts; h++)
        c.quota[h] = INFINITY;
    for (size_t r = 0; r < p->n_ranks; r++)
        c.speed[r] = 1;
    *ret_change = c;
    return 0;
}

void whatif_change_release(struct replay_change *c) {
    free(c->egress);
    free(c->ingress);
    free(c->burst);
    free(c->quota);
    free(c->pace);
    free(c->keep);
    free(c->speed);
}

/* ---- links ---- */

static double *rate_at(struct replay_change *c, size_t hosts, size_t link) {
    return link < hosts ? &c->egress[link] : &c->ingress[link - hosts];
}

static void change_link(const struct whatif *w, const struct whatif_scenario *s, size_t link,
                        struct replay_change *c) {
    const struct replay_network *m = &w->replay->net;
    size_t hosts = w->model->n_hosts;
    double *rate = rate_at(c, hosts, link);
    if (m->twin[link] >= 0 && isinf(*rate)) {
        *rate = m->twin_rate[link];
        if (s->host >= 0) /* with all links, the other link changes as well */
            *rate_at(c, hosts, (size_t)m->twin[link]) = INFINITY;
    }
    double factor = whatif_asked_factor(w, s, link);
    bool is_held = isinf(*rate) && m->held[link];
    if (isnan(factor)) { /* a rate, but the present one is not known */
        c->pace[link] *= is_held ? INFINITY : 1;
        c->burst[link] = s->burst_bytes;
        *rate = s->rate_bytes_s;
        return;
    }
    if (s->burst_bytes > 0)
        c->burst[link] = s->burst_bytes;
    if (is_held)
        c->pace[link] *= factor;
    else
        *rate = whatif_carried(w, link, *rate, factor);
}

/* Whether most bytes through the link belong to group calls. */
static bool carries_groups(const struct whatif *w, size_t link) {
    const struct replay *p = w->replay;
    size_t hosts = w->model->n_hosts;
    double of_groups = 0, of_pairs = 0, *load = malloc((2 * hosts + 1) * sizeof *load);
    for (size_t i = 0; load && i < p->n_groups; i++) {
        replay_wire_load(p, &p->groups[i], load);
        of_groups += load[link];
    }
    for (size_t i = 0; i < p->n_messages; i++) {
        const struct replay_message *m = &p->messages[i];
        size_t end = link < hosts ? m->from : m->to;
        if (replay_is_between(p, m) && (size_t)p->ranks[end].host == link % hosts)
            of_pairs += m->bytes;
    }
    free(load);
    return of_groups > of_pairs;
}

static bool has_one_sided(const struct mpi_log *log) {
    bool any = false;
    for (size_t f = 0; f < log->n_functions; f++)
        any |= log->functions[f].kind == MPI_KIND_RMA || log->functions[f].completes;
    return any;
}

/* The share of the ranks' time in one-sided accesses. The replay does not model them, so they take
 * as long as measured.
 */
static double one_sided_part(const struct mpi_log *log) {
    double inside = 0, all = 0;
    if (!has_one_sided(log))
        return 0;
    for (size_t r = 0; r < log->n; r++) {
        const struct mpi_rank *rank = &log->ranks[r];
        int64_t end = INT64_MIN;
        for (size_t i = 0; i < rank->n; i++) {
            const struct mpi_event *e = &rank->events[i];
            const struct mpi_function *f = mpi_event_function(log, e);
            end = e->exit_ns > end ? e->exit_ns : end;
            if ((f->kind == MPI_KIND_RMA || f->completes) &&
                e->inside_ns >= CALL_SHORT_NS * (int64_t)e->calls)
                inside += (double)e->inside_ns;
        }
        all += rank->n ? (double)(end - rank->events[0].enter_ns) : 0;
    }
    return all > 0 ? inside / all : 0;
}

/* Whether calls of few bytes show the least time of group calls. */
static bool few_tell(const struct replay_network *m) {
    return m->few_ns[0] > 0 || m->few_ns[1] > 0;
}

/* The share of time for which the link carried its known rate, or its host throttled packets to the
 * configured rate; 1 if neither is known.
 */
static double rate_use(const struct whatif *w, size_t link) {
    const struct run_model *model = w->model;
    int host = (int)(link % model->n_hosts);
    bool sends = link < model->n_hosts;
    enum metric way = sends ? METRIC_NET_SEND : METRIC_NET_RECV;
    struct network_limit limit = network_limit_of(model, host, way);
    struct queues queues = link_queues(model, model->main_group, host);
    double held = link_held_mb_s(&queues);
    double used = model_mean(model, host, way, model->main_group);
    used = limit.measured ? used / limit.mb_s : NAN;
    used = fmin(used, sends ? held / network_set_rate(model, host) : NAN);
    return isnan(used) ? 1 : used;
}

/* The replay keeps group calls as long as they were; that is a finding only if the link was hardly
 * in use.
 */
static bool is_untold(const struct whatif *w, const struct whatif_scenario *s) {
    const struct replay_network *m = &w->replay->net;
    double length_s = w->model->critical.groups[w->model->main_group].length_s, used = 0;
    size_t hosts = w->model->n_hosts;
    bool groups = false;
    double factor = s->kind == WHATIF_LINK ? whatif_asked_most(w, s) : 0;
    if (!(factor > 1) || isinf(factor) ||
        !(whatif_removable(w, s, 1) >= number_of(w->model, GAIN_MIN) * length_s))
        return false;
    for (size_t link = 0; link < 2 * hosts; link++) {
        double rate = link < hosts ? m->egress[link] : m->ingress[link - hosts];
        if (m->held[link] || isfinite(rate) || m->twin[link] >= 0)
            return false; /* this or another scenario changes what they wait for */
        if (!whatif_asks_link(w, s, link))
            continue;
        groups |= carries_groups(w, link);
        used = fmax(used, rate_use(w, link));
    }
    return groups && used * (1 - 1 / factor) >= number_of(w->model, GAIN_MIN);
}

/* A rank without a core does not answer one-sided accesses either. */
static bool is_without_cores(const struct whatif_scenario *s) {
    return s->kind == WHATIF_WITHOUT &&
           (s->term == BUDGET_RUN_QUEUE || s->term == BUDGET_QUOTA || s->term == BUDGET_STEAL);
}

/* A factor below 1 on links that never were the limit, and whose capacity nobody told: it may be
 * far above what flowed.
 */
static bool is_slower_than_unknown(const struct whatif *w, const struct whatif_scenario *s) {
    const struct replay_network *m = &w->replay->net;
    if (s->kind != WHATIF_LINK || s->rate_bytes_s > 0 || s->factor >= 1)
        return false;
    for (size_t link = 0; link < 2 * w->model->n_hosts; link++)
        if (whatif_asks_link(w, s, link) && (m->held[link] || !isnan(whatif_present_rate(w, link))))
            return false;
    return true;
}

/* Another number of workers, whose messages take a good part of the path, though the server's link
 * limits none of them: what does, and how it grows with them, is not known.
 */
static bool is_server_unknown(const struct whatif *w, const struct whatif_scenario *s) {
    const struct critical_part *part = &w->model->critical.groups[w->model->main_group];
    const struct replay_network *m = &w->replay->net;
    double moving = 0;
    if (s->kind != WHATIF_WORKERS || w->server_rank == SIZE_MAX)
        return false;
    size_t host = (size_t)w->replay->ranks[w->server_rank].host;
    for (size_t h = 0; h < w->model->n_hosts; h++)
        moving += critical_seconds(part, (int)h, BUDGET_TRANSFER);
    return isinf(m->egress[host]) && isinf(m->ingress[host]) &&
           moving >= WHATIF_REACT_MIN * part->length_s;
}

struct refusal whatif_beyond_replay(const struct whatif *w, const struct whatif_scenario *s) {
    const struct replay_network *m = &w->replay->net;
    size_t hosts = w->model->n_hosts;
    if ((s->kind == WHATIF_LINK || is_without_cores(s)) &&
        one_sided_part(&w->model->recording->calls) > ONE_SIDED_MAX)
        return (struct refusal){.code = REFUSAL_ONE_SIDED};
    if (is_untold(w, s))
        return (struct refusal){.code = REFUSAL_GROUPS_UNTOLD};
    if (is_slower_than_unknown(w, s))
        return (struct refusal){.code = REFUSAL_LINK_UNKNOWN};
    if (is_server_unknown(w, s))
        return (struct refusal){.code = REFUSAL_SERVER_UNKNOWN};
    for (size_t link = 0; link < 2 * hosts; link++) {
        double rate = link < hosts ? m->egress[link] : m->ingress[link - hosts];
        if (whatif_asks_link(w, s, link) && m->held[link] && isinf(rate) && m->twin[link] < 0 &&
            carries_groups(w, link) && !few_tell(m))
            return (struct refusal){.code = REFUSAL_GROUPS_HELD};
    }
    return (struct refusal){.code = REFUSAL_NONE};
}

static void change_links(const struct whatif *w, const struct whatif_scenario *s,
                         struct replay_change *c) {
    size_t hosts = w->model->n_hosts;
    for (size_t link = 0; link < 2 * hosts; link++)
        if (whatif_asks_link(w, s, link))
            change_link(w, s, link, c);
}

/* ---- ranks, and time between their calls ---- */

static void change_terms(const struct whatif *w, const struct whatif_scenario *s,
                         struct replay_change *c) {
    enum budget_term term = whatif_term(s);
    double keep = 1 / whatif_speed(w, s);
    for (size_t h = 0; h < w->model->n_hosts; h++)
        if (s->host < 0 || (size_t)s->host == h)
            c->keep[h * BUDGET_TERMS + (size_t)term] *= keep;
}

static void change_rank(const struct whatif *w, const struct whatif_scenario *s,
                        struct replay_change *c) {
    for (size_t r = 0; r < w->replay->n_ranks; r++)
        if (w->replay->ranks[r].number == s->rank)
            c->speed[r] *= s->factor;
}

static void set_quota(const struct whatif *w, const struct whatif_scenario *s,
                      struct replay_change *c) {
    for (size_t h = 0; h < w->model->n_hosts; h++)
        if (s->host < 0 || (size_t)s->host == h)
            c->quota[h] = s->factor;
}

int whatif_change_add(const struct whatif *w, const struct whatif_scenario *s,
                      struct replay_change *c) {
    switch (s->kind) {
    case WHATIF_LINK:
        change_links(w, s, c);
        return 0;
    case WHATIF_WITHOUT:
    case WHATIF_CPU:
    case WHATIF_DISK:
        change_terms(w, s, c);
        return 0;
    case WHATIF_LATENCY:
        c->latency *= s->factor;
        return 0;
    case WHATIF_RANK:
        change_rank(w, s, c);
        return 0;
    case WHATIF_QUOTA:
        set_quota(w, s, c);
        return 0;
    case WHATIF_LIKE_PEERS:
    case WHATIF_BALANCED:
        return whatif_change_ranks(w, s, c);
    case WHATIF_WORKERS:
        return whatif_change_workers(w, s, c);
    }
    return -EINVAL;
}
