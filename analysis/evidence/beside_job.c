/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/beside_job.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/evidence/flow_ends.h"
#include "analysis/evidence/quota.h"
#include "analysis/facts/series/stats.h"

struct beside_job beside_job_of(const struct run_model *model, size_t group, int host) {
    double idle = model_mean(model, host, METRIC_CPU_IDLE, group);
    double job = stats_or_zero(model_mean(model, host, METRIC_JOB_CPU, group)) / 100;
    struct quota quota = quota_of(model, host, phase_windows(&model->groups[group]));
    struct beside_job b = {.busy = isnan(idle) ? 0 : 1 - idle / 100,
                           .waited =
                               stats_or_zero(model_mean(model, host, METRIC_PSI_CPU, group)) / 100,
                           .throttled = quota.throttled};
    double cores = b.busy * (double)model->hosts[host].n_cpus;
    b.job = cores > 0 ? fmin(1, job / cores) : 1;
    b.is_full =
        (b.busy >= number_of(model, BESIDE_FULL) && b.waited >= number_of(model, BESIDE_WAITED)) ||
        b.throttled >= number_of(model, QUOTA_MIN);
    b.is_thin = b.job < number_of(model, BESIDE_THIN);
    return b;
}

int beside_job_find(const struct run_model *model, size_t group, struct beside_job *ret_beside) {
    int found = -1;
    double most = 0;
    for (size_t h = 0; h < model->n_hosts; h++) {
        struct beside_job b = beside_job_of(model, group, (int)h);
        double lost = fmax(b.waited, stats_or_zero(b.throttled));
        if (!b.is_full || !b.is_thin || lost <= most)
            continue;
        most = lost;
        found = (int)h;
        *ret_beside = b;
    }
    return found;
}

/* ---- connections ---- */

static int compare_keys(const void *a, const void *b) {
    return key_compare_ends(*(const struct table_key *const *)a,
                            *(const struct table_key *const *)b);
}

struct keys { /* keys of a host's connections, sorted; borrowed */
    const struct table_key **items;
    size_t n;
};

static struct keys keys_of(const struct series_set *set, int host) {
    struct keys keys = {.items = calloc(set->n + 1, sizeof *keys.items)};
    for (size_t s = 0; keys.items && s < set->n; s++)
        if (set->items[s].host == host && set->items[s].key.form == KEY_CONNECTION)
            keys.items[keys.n++] = &set->items[s].key;
    if (keys.n)
        qsort(keys.items, keys.n, sizeof *keys.items, compare_keys);
    return keys;
}

static bool has_mirror(const struct keys *keys, const struct series *series) {
    struct table_key mirror = key_mirror(&series->key), *key = &mirror;
    return keys->n && bsearch(&key, keys->items, keys->n, sizeof *keys->items, compare_keys);
}

static bool has_address(const struct series_set *set, int host) {
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host && flow_far_end(&set->items[s].key))
            return true;
    return false;
}

static double sent(const struct series_set *set, const struct series *series) {
    const struct window all = {INT64_MIN / 2, INT64_MAX / 2};
    return stats_or_zero(
        series_growth(set, series, CONNECTION_SEND_BYTES, (struct windows){&all, 1}, NULL));
}

/* A launcher sends its daemons few bytes; a connection that serves the job has more. */
static double least_sent(const struct run_model *model, const struct series_set *set) {
    double most = 0;
    for (size_t s = 0; s < set->n; s++)
        most = fmax(most, sent(set, &set->items[s]));
    return number_of(model, FLOW_BYTES_MIN) * most;
}

/* to: the host that it leads to (flow_ends()); -1: its own host, or an unknown one. */
static bool leads_outside(const struct keys *keys, const struct series *series, int to, int host,
                          bool is_known) {
    bool goes_out = flow_far_end(&series->key);
    if (series->key.form != KEY_CONNECTION)
        return false; /* the row sums up several connections */
    if (to == host || (!goes_out && series->host == host))
        return !has_mirror(keys, series);
    return to < 0 && goes_out && series->host != host && !is_known;
}

bool host_may_serve_job(const struct run_model *model, int host) {
    const struct series_set *set = &model->recording->tables[RECORDING_CONNECTION];
    int *to = calloc(set->n + 1, sizeof *to);
    struct keys keys = keys_of(set, host);
    bool is_known = has_address(set, host), may = false;
    double least = least_sent(model, set);
    if (to && keys.items && flow_ends(set, to) == 0)
        for (size_t s = 0; s < set->n && !may; s++)
            may = sent(set, &set->items[s]) >= least &&
                  leads_outside(&keys, &set->items[s], to[s], host, is_known);
    free(keys.items);
    free(to);
    return may;
}
