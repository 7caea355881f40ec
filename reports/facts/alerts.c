/* SPDX-License-Identifier: MIT */
/*
 * The alert log (A1) watches the resources listed below. It watches a network only if the rate of
 * its link is known: measured, set by a queue of the host, or told by the interface.
 *
 * A link that carries data one way and then the other is full all the time, while each direction is
 * half empty on average. So both are also watched together, by the fuller one at each sample. Turns
 * shorter than a sample are not seen: they look like half of the rate each way.
 */
#include "reports/facts/alerts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/arithmetic.h"
#include "common/error.h"

struct watched {
    const char *resource, *unit;
    enum metric metric;
    struct alert_rule rule;
};

static const struct watched watched[] = {
    {"CPU", "%", METRIC_CPU_IDLE, {70, 90, 10, 100, -1}},
    {"CPU_SYSTEM", "%", METRIC_CPU_SYSTEM, {70, 90, 10, 0, 1}},
    {"CPU_CORE", "%", METRIC_CPU_CORE_MAX, {90, 98, 10, 0, 1}},
    {"CPU_IOWAIT", "%", METRIC_CPU_IOWAIT, {30, 50, 10, 0, 1}},
    {"CPU_STEAL", "%", METRIC_CPU_STEAL, {10, 30, 5, 0, 1}},
    {"DISK", "%", METRIC_DISK_BUSY, {70, 90, 10, 0, 1}},
};

static int append(struct alerts *log, const struct alert *alerts, size_t n, int host,
                  const char *resource, const char *unit) {
    struct report_alert *room = realloc(log->items, (log->n + n + 1) * sizeof *room);
    if (!room)
        return -ENOMEM;
    log->items = room;
    for (size_t i = 0; i < n; i++)
        log->items[log->n++] = (struct report_alert){.level = alerts[i].level,
                                                     .host = host,
                                                     .resource = resource,
                                                     .start_s = alerts[i].start_s,
                                                     .duration_s = alerts[i].duration_s,
                                                     .peak = alerts[i].peak,
                                                     .unit = unit};
    return 0;
}

static int watch(struct alerts *log, const struct run_model *model, int host,
                 const struct rate *rate, const struct alert_rule *rule, const char *resource,
                 const char *unit) {
    struct alert *alerts;
    size_t n;
    int result = alert_find(rate, rule, 0, model->recording->duration_ns, &alerts, &n);
    if (result < 0)
        return result;
    result = append(log, alerts, n, host, resource, unit);
    free(alerts);
    return result;
}

/* Levels in GB against the size: 70 and 90 % of it. */
static int watch_memory(struct alerts *log, const struct run_model *model, int host) {
    const struct model_host *h = &model->hosts[host];
    struct alert_rule rule = {70, 90, 5, 0, 100 / h->memory_gb};
    int result = 0;
    if (h->memory_gb > 0)
        result = watch(log, model, host, &h->metrics[METRIC_MEM_USED], &rule, "MEM", "%");
    rule.factor = 100 / h->swap_gb;
    if (result == 0 && h->swap_gb > 0)
        result = watch(log, model, host, &h->swap, &rule, "SWAP", "%");
    return result;
}

/* Only against what the link is known to carry: without that no rate is high. */
static int watch_direction(struct alerts *log, const struct run_model *model, int host,
                           enum metric direction) {
    double full = network_known_rate(model, host, direction);
    struct alert_rule rule = {0.7 * full, 0.9 * full, 0.1 * full, 0, 1};
    if (isnan(full))
        return 0;
    return watch(log, model, host, &model->hosts[host].metrics[direction], &rule,
                 direction == METRIC_NET_SEND ? "NET_SEND" : "NET_RECV", "MB/s");
}

/* Receiving has no known limit if only a queue of the host is set: the limit of sending is taken,
 * unless more was received. */
static double receiving_rate(const struct run_model *model, int host) {
    double set = network_set_receiving(model, host);
    return isnan(set) ? network_known_rate(model, host, METRIC_NET_RECV) : set;
}

/* How full the fuller direction was at each sample, %. The two rates come from the same rows.
 * -ENOMEM. */
static int fuller_direction(const struct rate *send, double send_full, const struct rate *receive,
                            double receive_full, struct rate *ret_rate) {
    size_t n = send->n < receive->n ? send->n : receive->n;
    int result = rate_init(ret_rate, n, 100);
    if (result < 0)
        return result;
    for (size_t i = 0; i < n; i++) {
        double part = fmax(rate_value(send, i) / send_full, rate_value(receive, i) / receive_full);
        ret_rate->t_ns[i] = send->t_ns[i];
        ret_rate->dt_ns[i] = send->dt_ns[i];
        ret_rate->base[i] = isnan(part) ? 0 : (double)send->dt_ns[i];
        ret_rate->amount[i] = isnan(part) ? 0 : part * (double)send->dt_ns[i];
    }
    return 0;
}

/* Whether an alert of one direction covers it. */
static bool is_told(const struct report_alert *alerts, size_t n, const struct report_alert *both) {
    for (size_t i = 0; i < n; i++)
        if (alerts[i].level >= both->level &&
            alerts[i].start_s < both->start_s + both->duration_s &&
            both->start_s < alerts[i].start_s + alerts[i].duration_s)
            return true;
    return false;
}

/* Removes each alert from `both` on that one from `begin` on covers. */
static void drop_told(struct alerts *log, size_t begin, size_t both) {
    size_t kept = both;
    for (size_t i = both; i < log->n; i++)
        if (!is_told(log->items + begin, both - begin, &log->items[i]))
            log->items[kept++] = log->items[i];
    log->n = kept;
}

static int watch_together(struct alerts *log, const struct run_model *model, int host,
                          size_t begin) {
    static const struct alert_rule rule = {70, 90, 10, 0, 1};
    const struct rate *metrics = model->hosts[host].metrics;
    double send_full = network_known_rate(model, host, METRIC_NET_SEND);
    double receive_full = receiving_rate(model, host);
    size_t both = log->n;
    struct rate fuller;
    if (isnan(send_full) || isnan(receive_full))
        return 0;
    int result = fuller_direction(&metrics[METRIC_NET_SEND], send_full, &metrics[METRIC_NET_RECV],
                                  receive_full, &fuller);
    if (result < 0)
        return result;
    result = watch(log, model, host, &fuller, &rule, "NET", "%");
    rate_release(&fuller);
    drop_told(log, begin, both);
    return result;
}

static int watch_network(struct alerts *log, const struct run_model *model, int host) {
    size_t begin = log->n;
    int result = watch_direction(log, model, host, METRIC_NET_SEND);
    if (result == 0)
        result = watch_direction(log, model, host, METRIC_NET_RECV);
    return result < 0 ? result : watch_together(log, model, host, begin);
}

static int compare_alerts(const void *a, const void *b) {
    const struct report_alert *x = a, *y = b;
    if (x->start_s != y->start_s)
        return x->start_s < y->start_s ? -1 : 1;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return strcmp(x->resource, y->resource);
}

static int watch_host(struct alerts *log, const struct run_model *model, int host) {
    const struct model_host *h = &model->hosts[host];
    int result = 0;
    for (size_t w = 0; result == 0 && w < ARRAY_SIZE(watched); w++) {
        /* on one core the fullest core is the CPU */
        if (watched[w].metric == METRIC_CPU_CORE_MAX && h->n_cpus < 2)
            continue;
        result = watch(log, model, host, &h->metrics[watched[w].metric], &watched[w].rule,
                       watched[w].resource, watched[w].unit);
    }
    if (result == 0)
        result = watch_memory(log, model, host);
    return result < 0 ? result : watch_network(log, model, host);
}

int alerts_find(const struct run_model *model, struct alerts *ret_alerts) {
    struct alerts log = {0};
    int result = 0;
    for (size_t h = 0; result == 0 && h < model->n_hosts; h++)
        result = watch_host(&log, model, (int)h);
    if (result < 0) {
        free(log.items);
        return result;
    }
    if (log.n)
        qsort(log.items, log.n, sizeof *log.items, compare_alerts);
    *ret_alerts = log;
    return 0;
}
