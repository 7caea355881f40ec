/* SPDX-License-Identifier: MIT */
/* Derives the cost of messages beyond the bytes on links (replay_links.c) from the recording. */
#include <errno.h>
#include <math.h>

#include "analysis/evidence/flows.h"
#include "analysis/evidence/queues.h"
#include "analysis/facts/recording/recording.h"
#include "analysis/facts/series/stats.h"
#include "analysis/number.h"
#include "analysis/simulate/replay_private.h"

#define EAGER_BETWEEN 65536 /* OpenMPI's btl_tcp_eager_limit, if the recording shows nothing */
#define EAGER_WITHIN 4096   /* btl_vader_eager_limit */

/* ---- buffered sends ---- */

/* Messages are buffered up to the largest one that left before its receiver asked for it. */
static void find_buffered(struct replay *p) {
    double limit[2] = {EAGER_WITHIN, EAGER_BETWEEN};
    for (size_t i = 0; i < p->n_messages; i++) {
        const struct replay_message *m = &p->messages[i];
        int64_t bound =
            call_clock_bound(&p->model->clock, p->ranks[m->from].host, p->ranks[m->to].host);
        if (m->left_ns != VALUE_ABSENT && bound != INT64_MAX && m->left_ns + bound < m->posted_ns)
            limit[replay_is_between(p, m)] = fmax(limit[replay_is_between(p, m)], m->bytes);
    }
    for (size_t i = 0; i < p->n_messages; i++)
        p->messages[i].buffered =
            !p->messages[i].synchronous &&
            p->messages[i].bytes <= limit[replay_is_between(p, &p->messages[i])];
}

/* ---- hosts without a core ---- */

static int find_descheduled(struct replay *p) {
    const struct run_model *model = p->model;
    size_t hosts = model->n_hosts;
    p->net.descheduled = calloc(2 * hosts + 1, sizeof *p->net.descheduled);
    double *wall_s = calloc(hosts + 1, sizeof *wall_s);
    bool ok = p->net.descheduled && wall_s;
    for (size_t b = 0; ok && b < model->budgets.n; b++) {
        const struct rank_budget *rank = &model->budgets.items[b];
        const struct budget *budget = &rank->groups[model->main_group];
        if (rank->rank < 0 || !(budget->wall_s > 0))
            continue;
        size_t h = (size_t)rank->host;
        wall_s[h] += budget->wall_s;
        p->net.descheduled[h] += stats_or_zero(budget->term_s[BUDGET_RUN_QUEUE]);
        p->net.descheduled[hosts + h] += stats_or_zero(budget->term_s[BUDGET_QUOTA]);
    }
    for (size_t i = 0; ok && i < 2 * hosts; i++)
        if (wall_s[i % hosts] > 0)
            p->net.descheduled[i] = fmin(p->net.descheduled[i] / wall_s[i % hosts], 1);
    free(wall_s);
    return ok ? 0 : -ENOMEM;
}

/* ---- when they came ---- */

/* Bytes/s that a host sent for other programs, if that was much of its total: its configured rate
 * less these is left for the job.
 */
static double sent_of_others(const struct replay *p, const struct flows *flows, size_t host) {
    const struct phase_group *group = &p->model->groups[p->model->main_group];
    double all = model_mean(p->model, (int)host, METRIC_NET_SEND, p->model->main_group) * 1e6;
    double own = 0, seconds = (double)windows_length(phase_windows(group)) / 1e9;
    for (size_t i = 0; i < flows->n; i++)
        own += flows->items[i].from == (int)host ? flows->items[i].wire_bytes / seconds : 0;
    return flows->n && own < number_of(p->model, OWN_BYTES_MIN) * all ? all - own : 0;
}

/* The least F1 score of a link that explains which routes were throttled: if another link explains
 * them much better, that one is the cause.
 */
static double least_f1(const struct run_model *model, const struct flows *flows, size_t hosts) {
    double best = 0;
    for (size_t h = 0; h < hosts; h++)
        best = fmax(
            best, fmax(flows_f1(flows, (int)h, FLOW_SEND), flows_f1(flows, (int)h, FLOW_RECEIVE)));
    return fmax(number_of(model, FLOW_F1_MIN), best - number_of(model, FLOW_F1_ALIKE));
}

/* Finds the links whose routes were throttled, if one side of one host explains them, and links
 * whose host throttles what it sends.
 */
static int find_held(struct replay *p) {
    struct windows windows = phase_windows(&p->model->groups[p->model->main_group]);
    size_t hosts = p->model->n_hosts;
    struct flows flows;
    p->net.held = calloc(2 * hosts + 1, sizeof *p->net.held);
    p->net.others = calloc(hosts + 1, sizeof *p->net.others);
    int result = p->net.held && p->net.others ? flows_make(p->model, windows, &flows) : -ENOMEM;
    if (result < 0)
        return result;
    double least = least_f1(p->model, &flows, hosts);
    for (size_t h = 0; h < hosts; h++) {
        p->net.held[h] = flows_f1(&flows, (int)h, FLOW_SEND) >= least ||
                         link_holds_back(p->model, p->model->main_group, (int)h);
        p->net.others[h] = sent_of_others(p, &flows, h);
        p->net.held[hosts + h] = flows_f1(&flows, (int)h, FLOW_RECEIVE) >= least;
    }
    flows_release(&flows);
    return 0;
}

static bool is_held(const struct replay *p, const struct replay_message *m) {
    return p->net.held[p->ranks[m->from].host] ||
           p->net.held[p->model->n_hosts + (size_t)p->ranks[m->to].host];
}

/* A message may have arrived before its receiver polled for it: it had moved for long, and the
 * receiver hardly waited. The time at which it left its sender is then nearer to the truth than the
 * poll, unless the kernel held it in a full queue.
 */
static void settle_arrivals(struct replay *p) {
    for (size_t i = 0; i < p->n_messages; i++) {
        struct replay_message *m = &p->messages[i];
        if (!m->buffered && !is_held(p, m) && replay_was_found(m) && m->left_ns != VALUE_ABSENT &&
            m->left_ns > replay_begin_ns(m) && m->left_ns < m->waited_ns)
            m->done_ns = m->left_ns;
    }
}

/* ---- small messages ---- */

/* Takes the median, since some messages queue behind others. */
static int fit_latency(struct replay *p) {
    static const double usual_ns[2] = {2000, 50000};
    double *values = malloc((p->n_messages + 1) * sizeof *values), found[2][2], soon[2][2];
    if (!values)
        return -ENOMEM;
    for (int between = 0; between < 2; between++)
        for (int polled = 0; polled < 2; polled++) {
            size_t n = 0;
            for (size_t i = 0; i < p->n_messages; i++) {
                const struct replay_message *m = &p->messages[i];
                if (m->bytes < REPLAY_FLOW_BYTES && !m->signal && m->waited_ns != VALUE_ABSENT &&
                    m->waited_ns <= m->sent_ns && replay_is_between(p, m) == between &&
                    m->polled == polled)
                    values[n++] = fmax((double)(m->done_ns - m->sent_ns), 0);
            }
            found[between][polled] = stats_median(values, n);
            soon[between][polled] = stats_quantile(values, n, REPLAY_SOON_SHARE);
        }
    for (int between = 0; between < 2; between++)
        for (int polled = 0; polled < 2; polled++) {
            double own = found[between][polled], other = found[between][!polled];
            p->net.latency_ns[between][polled] = !isnan(own)     ? own
                                                 : !isnan(other) ? other
                                                                 : usual_ns[between];
            p->net.soon_ns[between][polled] = isnan(own) ? 0 : soon[between][polled];
        }
    free(values);
    return 0;
}

/* ---- all ---- */

/* The rate within a host: bytes over time of messages that a rank waited for. */
static double rate_within(const struct replay *p) {
    double bytes = 0, time = 0;
    for (size_t i = 0; i < p->n_messages; i++) {
        const struct replay_message *m = &p->messages[i];
        if (replay_is_between(p, m) || m->bytes < REPLAY_FLOW_BYTES ||
            m->waited_ns == VALUE_ABSENT || m->waited_ns > replay_begin_ns(m) ||
            m->done_ns <= replay_begin_ns(m))
            continue;
        bytes += m->bytes;
        time += (double)(m->done_ns - replay_begin_ns(m));
    }
    return time > 0 ? bytes / time * 1e9 : 4e9;
}

int replay_fit(struct replay *p) {
    size_t hosts = p->model->n_hosts;
    struct replay_network *model = &p->net;
    model->egress = malloc((hosts + 1) * sizeof *model->egress);
    model->ingress = malloc((hosts + 1) * sizeof *model->ingress);
    model->pair = malloc((p->n_pairs + 1) * sizeof *model->pair);
    model->freed = malloc((p->n_pairs + 1) * sizeof *model->freed);
    model->soon = malloc((p->n_pairs + 1) * sizeof *model->soon);
    model->twin = malloc((2 * hosts + 1) * sizeof *model->twin);
    model->twin_rate = calloc(2 * hosts + 1, sizeof *model->twin_rate);
    if (!model->pair || !model->freed || !model->soon || !model->egress || !model->ingress ||
        !model->twin || !model->twin_rate)
        return -ENOMEM;
    for (size_t h = 0; h < hosts; h++)
        model->egress[h] = model->ingress[h] = INFINITY;
    for (size_t link = 0; link < 2 * hosts; link++)
        model->twin[link] = -1;
    for (size_t pair = 0; pair < p->n_pairs; pair++)
        model->pair[pair] = model->freed[pair] = model->soon[pair] = INFINITY;
    find_buffered(p);
    replay_find_kept_back(p);
    int result = find_descheduled(p);
    if (result == 0)
        result = find_held(p);
    if (result < 0)
        return result;
    settle_arrivals(p);
    result = replay_find_answers(p);
    if (result < 0)
        return result;
    model->within = rate_within(p);
    result = fit_latency(p);
    if (result == 0)
        result = replay_fit_links(p);
    if (result == 0)
        result = replay_fit_few(p);
    return result;
}

void replay_scale(struct replay *p, double factor) {
    for (size_t pair = 0; pair < p->n_pairs; pair++) {
        p->net.pair[pair] *= factor;
        p->net.freed[pair] *= factor;
        p->net.soon[pair] *= factor;
    }
    for (size_t h = 0; h < p->model->n_hosts; h++) {
        p->net.egress[h] *= factor;
        p->net.ingress[h] *= factor;
        p->net.twin_rate[h] *= factor;
        p->net.twin_rate[p->model->n_hosts + h] *= factor;
    }
}
