/* SPDX-License-Identifier: MIT */
/* What a scenario changes in a replay. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/arithmetic.h"
#include "analysis/evidence/flows.h"
#include "analysis/evidence/queues.h"
#include "analysis/facts/series/stats.h"
#include "analysis/gain/whatif_private.h"
#include "analysis/threshold.h"

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
                              .speed = malloc((p->n_ranks + 1) * sizeof *c.speed)};
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
        if (s->host >= 0) /* all links: the other one changes as well */
            *rate_at(c, hosts, (size_t)m->twin[link]) = INFINITY;
    }
    if (isinf(*rate) && m->held[link])
        c->pace[link] *= s->rate_bytes_s > 0 ? INFINITY : s->factor;
    if (s->rate_bytes_s > 0)
        c->burst[link] = s->burst_bytes;
    *rate = s->rate_bytes_s > 0 ? s->rate_bytes_s : *rate * s->factor;
}

static bool is_asked(const struct whatif *w, const struct whatif_scenario *s, size_t link) {
    size_t hosts = w->model->n_hosts;
    enum whatif_direction other = link < hosts ? WHATIF_RECEIVE : WHATIF_SEND;
    return s->kind == WHATIF_LINK && s->direction != other &&
           (s->host < 0 || (size_t)s->host == link % hosts);
}

/* Most bytes that go through the link go in calls of groups. */
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

/* What one-sided accesses take, of the ranks' time: data, and when they are answered, for which a
 * replay has no model: they take as long as they did. */
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

/* Whether calls of few bytes tell what calls of groups take at least. */
static bool few_tell(const struct replay_network *m) {
    return m->few_ns[0] > 0 || m->few_ns[1] > 0;
}

/* Share of the time, at the rate that it is known to carry, or that its host held packets back to
 * the rate it is set to; 1: neither is known. */
static double in_use(const struct whatif *w, size_t link) {
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

/* That calls of groups take as long as they did is no finding of the replay, but where the link was
 * in use for next to none of the time. */
bool whatif_is_untold(const struct whatif *w, const struct whatif_scenario *s) {
    const struct replay_network *m = &w->replay->net;
    double length_s = w->model->critical.groups[w->model->main_group].length_s, used = 0;
    size_t hosts = w->model->n_hosts;
    bool groups = false;
    if (s->kind != WHATIF_LINK || s->rate_bytes_s > 0 || !(s->factor > 1) ||
        !(whatif_removable(w, s, 1) >= GAIN_MIN * length_s))
        return false;
    for (size_t link = 0; link < 2 * hosts; link++) {
        double rate = link < hosts ? m->egress[link] : m->ingress[link - hosts];
        if (m->held[link] || isfinite(rate) || m->twin[link] >= 0)
            return false; /* this one, or another, which is what they wait for */
        if (!is_asked(w, s, link))
            continue;
        groups |= carries_groups(w, link);
        used = fmax(used, in_use(w, link));
    }
    return groups && used * (1 - 1 / s->factor) >= GAIN_MIN;
}

/* A rank without a core answers no accesses either. */
static bool is_without_cores(const struct whatif_scenario *s) {
    return s->kind == WHATIF_WITHOUT &&
           (s->term == BUDGET_RUN_QUEUE || s->term == BUDGET_QUOTA || s->term == BUDGET_STEAL);
}

const char *whatif_beyond_replay(const struct whatif *w, const struct whatif_scenario *s) {
    const struct replay_network *m = &w->replay->net;
    size_t hosts = w->model->n_hosts;
    if ((s->kind == WHATIF_LINK || is_without_cores(s)) &&
        one_sided_part(&w->model->recording->calls) > ONE_SIDED_MAX)
        return "data go by one-sided accesses, and a replay lets them take as long as they did";
    if (whatif_is_untold(w, s))
        return "most that goes through that link are calls of groups, and nothing shows whether it "
               "is what they wait for";
    for (size_t link = 0; link < 2 * hosts; link++) {
        double rate = link < hosts ? m->egress[link] : m->ingress[link - hosts];
        if (is_asked(w, s, link) && m->held[link] && isinf(rate) && m->twin[link] < 0 &&
            carries_groups(w, link) && !few_tell(m))
            return "what holds up that link are calls of groups, and none of few bytes tell what "
                   "they take without it";
    }
    return NULL;
}

static void change_links(const struct whatif *w, const struct whatif_scenario *s,
                         struct replay_change *c) {
    size_t hosts = w->model->n_hosts;
    for (size_t link = 0; link < 2 * hosts; link++)
        if (is_asked(w, s, link))
            change_link(w, s, link, c);
}

/* ---- ranks ---- */

/* Time between calls of each rank within the replayed part. */
static void own_times(const struct whatif *w, const struct replay_change *c, double *ret_own_ns) {
    const struct replay *p = w->replay;
    for (size_t r = 0; r < p->n_ranks; r++) {
        ret_own_ns[r] = 0;
        for (size_t i = 0; i < p->ranks[r].n; i++) {
            const struct replay_op *op = &p->ranks[r].ops[i];
            if (op->kind == REPLAY_GAP && whatif_in_group(w, op->end_ns))
                ret_own_ns[r] += (double)replay_gap_ns(p, c, r, op);
        }
    }
}

#define ALIKE 0.25 /* of its own time: who has less between calls serves, and computes nothing */

static bool have_peers(const struct whatif *w, const double *own) {
    for (size_t r = 0; r < w->replay->n_ranks; r++)
        for (size_t k = 0; k < r; k++)
            if (w->roles[k] == w->roles[r] && own[k] > 0 && own[r] > 0)
                return true;
    return false;
}

/* What others that play the role of rank r have to do; where nobody else does (a server that works
 * itself, and one worker) and `any`, all that compute, too. */
static size_t peers_of(const struct whatif *w, size_t r, bool any, const double *own,
                       double *ret_values) {
    size_t n = 0;
    for (size_t k = 0; k < w->replay->n_ranks; k++)
        if (k != r && w->roles[k] == w->roles[r] && own[k] > 0)
            ret_values[n++] = own[k];
    for (size_t k = 0; any && !n && k < w->replay->n_ranks; k++)
        if (k != r && own[k] >= ALIKE * own[r] && own[r] >= ALIKE * own[k])
            ret_values[n++] = own[k];
    return n;
}

/* What rank r would have to do; 0: as much as it has. An even division gives a server nothing of
 * which its workers know nothing: all share alike only where no two play one role. */
static double target_of(const struct whatif *w, size_t r, bool balanced, bool any,
                        const double *own, double *room) {
    size_t n = peers_of(w, r, any, own, room);
    if (!n || !(own[r] > 0))
        return 0;
    if (!balanced)
        return fmin(stats_median(room, n), own[r]);
    room[n++] = own[r];
    return stats_mean(room, n);
}

/* By how much each rank would have to be faster. -ENODATA: none that is meant has a peer. */
static int change_ranks(const struct whatif *w, const struct whatif_scenario *s,
                        struct replay_change *c) {
    size_t n = w->replay->n_ranks;
    double *own = malloc((n + 1) * sizeof *own), *values = malloc((n + 1) * sizeof *values);
    if (!own || !values) {
        free(own);
        free(values);
        return -ENOMEM;
    }
    own_times(w, c, own);
    bool balanced = s->kind == WHATIF_BALANCED, any = !balanced || !have_peers(w, own);
    int result = -ENODATA;
    for (size_t r = 0; r < n; r++) {
        bool meant = balanced || w->replay->ranks[r].number == s->rank;
        double target = meant ? target_of(w, r, balanced, any, own, values) : 0;
        if (target > 0) {
            c->speed[r] *= own[r] / target;
            result = 0;
        }
    }
    free(own);
    free(values);
    return result;
}

/* One worker more or fewer: what goes through the hub's link, and what the hub itself does for
 * each, grows with their number. */
static int change_workers(const struct whatif *w, const struct whatif_scenario *s,
                          struct replay_change *c) {
    size_t hub = w->hub;
    if (hub == SIZE_MAX || w->n_workers + (double)s->workers < 1)
        return -EINVAL;
    double more = (w->n_workers + s->workers) / w->n_workers;
    size_t host = (size_t)w->replay->ranks[hub].host;
    c->egress[host] /= more;
    c->ingress[host] /= more;
    c->speed[hub] /= more;
    return 0;
}

static void change_terms(const struct whatif *w, const struct whatif_scenario *s,
                         struct replay_change *c) {
    enum budget_term term = s->kind == WHATIF_CPU ? BUDGET_CPU : s->term;
    double keep = s->kind == WHATIF_CPU ? 1 / s->factor : 0;
    for (size_t h = 0; h < w->model->n_hosts; h++)
        if (s->host < 0 || (size_t)s->host == h)
            c->keep[h * BUDGET_TERMS + (size_t)term] *= keep;
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
        change_terms(w, s, c);
        return 0;
    case WHATIF_QUOTA:
        set_quota(w, s, c);
        return 0;
    case WHATIF_LIKE_PEERS:
    case WHATIF_BALANCED:
        return change_ranks(w, s, c);
    case WHATIF_WORKERS:
        return change_workers(w, s, c);
    }
    return -EINVAL;
}
