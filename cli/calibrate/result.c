/* SPDX-License-Identifier: MIT */
#include "cli/calibrate/result.h"
#include "common/error.h"
#include "common/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOW_MAX 160

struct metric_rule {
    const char *metric, *unit;
    bool has_peer;
    double least, most;
};

static const struct metric_rule rules[] = {
    {"cpu_core", "Msteps/s", false, 1e-3, 1e6},    {"memory_copy", "MB/s", false, 0.1, 1e7},
    {"disk_read", "MB/s", false, 1e-3, 1e6},       {"disk_write", "MB/s", false, 1e-3, 1e6},
    {"net_pair", "MB/s", true, 1e-5, 1e6},         {"net_rtt", "us", true, 0.1, 6e7},
    {"net_egress", "MB/s", false, 1e-5, 1e6},      {"net_ingress", "MB/s", false, 1e-5, 1e6},
    {"net_egress_wire", "MB/s", false, 1e-5, 1e6}, {"net_ingress_wire", "MB/s", false, 1e-5, 1e6},
    {"mpi_latency", "us", true, 0.01, 6e7},        {"mpi_bandwidth", "MB/s", true, 1e-5, 1e6},
};

static void release(struct store_ceiling *figure) {
    free(figure->host);
    free(figure->peer);
    free(figure->metric);
    free(figure->unit);
    free(figure->how);
}

void calibration_release(struct calibration *c) {
    for (size_t i = 0; i < c->n; i++)
        release(&c->figures[i]);
    free(c->figures);
    for (size_t i = 0; i < c->n_troubles; i++)
        free(c->troubles[i]);
    *c = (struct calibration){0};
}

static const struct metric_rule *find_rule(const char *metric) {
    for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
        if (strcmp(rules[i].metric, metric) == 0)
            return &rules[i];
    return NULL;
}

static bool same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_there(const struct calibration *c, const struct store_ceiling *figure) {
    for (size_t i = 0; i < c->n; i++)
        if (same(c->figures[i].metric, figure->metric) && same(c->figures[i].host, figure->host) &&
            same(c->figures[i].peer, figure->peer))
            return true;
    return false;
}

static bool in_range(const struct metric_rule *rule, double value) {
    return isfinite(value) && value >= rule->least && value <= rule->most;
}

static const char *complaint(const struct calibration *c, const struct store_ceiling *f) {
    const struct metric_rule *rule = find_rule(f->metric);
    if (!rule)
        return "unknown metric";
    if (strcmp(f->unit, rule->unit) != 0)
        return "wrong unit";
    if (!hosts_contain(c->hosts, f->host))
        return "a host that was not asked for";
    if (rule->has_peer != (f->peer != NULL) || (f->peer && !hosts_contain(c->hosts, f->peer)) ||
        same(f->peer, f->host))
        return "wrong peer";
    if (!in_range(rule, f->value))
        return "value out of range";
    if (!isfinite(f->low) || !isfinite(f->high) || f->low < 0 || f->low > f->value ||
        f->high < f->value || f->high > 10 * rule->most)
        return "low and high do not enclose the value";
    return is_there(c, f) ? "said twice" : NULL;
}

static int append(struct calibration *c, const struct store_ceiling *f) {
    if (c->n == c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 64;
        struct store_ceiling *room = realloc(c->figures, capacity * sizeof *room);
        if (!room)
            return -ENOMEM;
        c->figures = room;
        c->capacity = capacity;
    }
    char how[HOW_MAX];
    text_sanitize(how, sizeof how, f->how, strlen(f->how));
    struct store_ceiling *to = &c->figures[c->n];
    *to = *f;
    to->host = strdup(f->host);
    to->peer = f->peer ? strdup(f->peer) : NULL;
    to->metric = strdup(f->metric);
    to->unit = strdup(f->unit);
    to->how = strdup(how);
    if (!to->host || (f->peer && !to->peer) || !to->metric || !to->unit || !to->how)
        return release(to), -ENOMEM;
    c->n++;
    return 0;
}

int calibration_add(struct calibration *c, const struct store_ceiling *figure, char *why,
                    size_t why_size) {
    const char *wrong = complaint(c, figure);
    if (!wrong)
        return append(c, figure);
    char metric[40];
    text_sanitize(metric, sizeof metric, figure->metric, strlen(figure->metric));
    snprintf(why, why_size, "%s (%s)", wrong, metric);
    return -EINVAL;
}

int calibration_add_trouble(struct calibration *c, const char *host, const char *text) {
    char clean[256], *trouble;
    if (!hosts_contain(c->hosts, host) || c->n_troubles == CALIBRATION_TROUBLES_MAX)
        return -EINVAL;
    text_sanitize(clean, sizeof clean, text, strlen(text));
    if (asprintf(&trouble, "%s: %s", host, clean) < 0)
        return -ENOMEM;
    c->troubles[c->n_troubles++] = trouble;
    return 0;
}
