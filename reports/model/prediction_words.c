/* SPDX-License-Identifier: MIT */
/* Parses the user's questions into scenarios. Every refusal says which input would be right. */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/straggler.h"
#include "common/error.h"
#include "reports/model/prediction_private.h"
#include "reports/says/scenario_words.h"

static int refuse(struct prediction_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int refuse(struct prediction_reader *r, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(r->why, r->why_size, format, values);
    va_end(values);
    return -EINVAL;
}

/* Reads a host's name of `n` letters; "all" is all hosts. */
static int read_host(struct prediction_reader *r, const char *name, size_t n, int *ret_host) {
    char known[200] = "";
    size_t at = 0;
    if (n == 3 && strncmp(name, "all", 3) == 0) {
        *ret_host = -1;
        return 0;
    }
    for (size_t h = 0; h < r->model->n_hosts; h++) {
        const char *host = r->model->hosts[h].name;
        if (strlen(host) == n && strncmp(host, name, n) == 0) {
            *ret_host = (int)h;
            return 0;
        }
        int more = snprintf(known + at, sizeof known - at, "%s%s", h ? ", " : "", host);
        at = more > 0 && (size_t)more < sizeof known - at ? at + (size_t)more : sizeof known - 1;
    }
    return refuse(r, "no host '%.*s' in this run; there are %s, and all", (int)(n < 60 ? n : 60),
                  name, known);
}

/* "2x", "0.5x". */
static bool read_factor(const char *text, double *ret_factor) {
    char *end;
    double factor = strtod(text, &end);
    bool good = end != text && strcmp(end, "x") == 0 && factor >= 0.001 && factor <= 1000;
    *ret_factor = factor;
    return good;
}

/* "2": that could be a factor, or any unit. */
static bool is_bare(const char *text) {
    char *end;
    strtod(text, &end);
    return end != text && *end == 0;
}

/* HOST=2x. */
static int read_paced(struct prediction_reader *r, const char *option, const char *value,
                      struct whatif_scenario *s) {
    const char *equals = strchr(value, '=');
    if (equals && is_bare(equals + 1))
        return refuse(r, "'%s' has no unit; right is --%s %.*s=%sx, so many times as fast",
                      equals + 1, option, (int)(equals - value < 60 ? equals - value : 60), value,
                      equals + 1);
    if (!equals || !read_factor(equals + 1, &s->factor))
        return refuse(r, "--%s takes HOST=2x (0.001x to 1000x), not '%s'", option, value);
    return read_host(r, value, (size_t)(equals - value), &s->host);
}

#define RATE_MIN 1.25 /* bytes/s: 10 bit/s */

/* "200mbit", "1.8gbit", "25MB/s": bytes a second. */
static bool read_rate(const char *text, double *ret_rate) {
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"kbit", 125}, {"mbit", 125e3}, {"gbit", 125e6},
                 {"kB/s", 1e3}, {"MB/s", 1e6},   {"GB/s", 1e9}};
    char *end;
    double value = strtod(text, &end);
    for (size_t i = 0; end != text && i < ARRAY_SIZE(units); i++)
        if (strcasecmp(end, units[i].name) == 0) {
            *ret_rate = value * units[i].bytes;
            return isfinite(*ret_rate) && *ret_rate >= RATE_MIN;
        }
    return false;
}

/* "200mbit", or "200mbit,64kB", whose second part may pass at once after a pause. */
static bool read_limit(const char *text, struct whatif_scenario *s) {
    static const struct {
        const char *name;
        double bytes;
    } units[] = {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}};
    const char *comma = strchr(text, ',');
    char rate[40], *end;
    size_t n = comma ? (size_t)(comma - text) : strlen(text);
    if (n >= sizeof rate)
        return false;
    memcpy(rate, text, n);
    rate[n] = 0;
    if (!comma)
        return read_rate(rate, &s->rate_bytes_s);
    double value = strtod(comma + 1, &end);
    for (size_t i = 0; end != comma + 1 && i < ARRAY_SIZE(units); i++)
        if (strcasecmp(end, units[i].name) == 0) {
            s->burst_bytes = value * units[i].bytes;
            return isfinite(s->burst_bytes) && value >= 0 && read_rate(rate, &s->rate_bytes_s);
        }
    return false;
}

static int read_link(struct prediction_reader *r, const char *value, struct whatif_scenario *s) {
    const char *equals = strchr(value, '='), *colon = strchr(value, ':');
    if (!equals)
        return refuse(r, "--link takes HOST=2x or HOST=200mbit, not '%s'", value);
    size_t n = (size_t)((colon && colon < equals ? colon : equals) - value);
    if (colon && colon < equals) {
        size_t length = (size_t)(equals - colon - 1);
        if (length == 6 && strncmp(colon + 1, "egress", length) == 0)
            s->direction = WHATIF_SEND;
        else if (length == 7 && strncmp(colon + 1, "ingress", length) == 0)
            s->direction = WHATIF_RECEIVE;
        else
            return refuse(r, "after the host of --link comes egress or ingress, not '%.*s'",
                          (int)(length < 60 ? length : 60), colon + 1);
    }
    s->kind = WHATIF_LINK;
    s->factor = 1;
    if (is_bare(equals + 1))
        return refuse(r,
                      "'%s' has no unit; right are %sx (so many times as fast), %smbit and %sMB/s",
                      equals + 1, equals + 1, equals + 1, equals + 1);
    if (!read_factor(equals + 1, &s->factor) && !read_limit(equals + 1, s))
        return refuse(r,
                      "'%s' is no speed of a link; right are 2x (0.001x to 1000x), 200mbit and "
                      "200mbit,64kB",
                      equals + 1);
    return read_host(r, value, n, &s->host);
}

static int read_without(struct prediction_reader *r, const char *value, struct whatif_scenario *s) {
    const char *colon = strrchr(value, ':');
    s->kind = WHATIF_WITHOUT;
    if (colon && scenario_term_of(colon + 1, &s->term))
        return read_host(r, value, (size_t)(colon - value), &s->host);
    return refuse(r,
                  "--without takes HOST:contention, quota, steal, disk, memory, sleep, stop or "
                  "files, not '%s'",
                  value);
}

static int read_cpu(struct prediction_reader *r, const char *value, struct whatif_scenario *s) {
    s->kind = WHATIF_CPU;
    return read_paced(r, "cpu", value, s);
}

static int read_disk(struct prediction_reader *r, const char *value, struct whatif_scenario *s) {
    s->kind = WHATIF_DISK;
    return read_paced(r, "disk", value, s);
}

static int read_latency(struct prediction_reader *r, const char *value, struct whatif_scenario *s) {
    s->kind = WHATIF_LATENCY;
    if (is_bare(value))
        return refuse(r, "'%s' has no unit; right is --latency %sx, so many times the present one",
                      value, value);
    return read_factor(value, &s->factor)
               ? 0
               : refuse(r, "--latency takes 0.5x (0.001x to 1000x), not '%s'", value);
}

/* A share of a CPU: "55%", "150%". */
static int read_quota(struct prediction_reader *r, const char *value, struct whatif_scenario *s) {
    const char *equals = strchr(value, '=');
    char *end = NULL;
    double percent = equals ? strtod(equals + 1, &end) : 0;
    s->kind = WHATIF_QUOTA;
    if (!equals || end == equals + 1 || strcmp(end, "%") != 0 || !(percent >= 1) ||
        !(percent <= 1e6))
        return refuse(r, "--quota takes HOST=55%%, of one CPU (1%% at least), not '%s'", value);
    s->factor = percent / 100;
    return read_host(r, value, (size_t)(equals - value), &s->host);
}

static bool read_integer(const char *text, int *ret_value) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    *ret_value = (int)value;
    return end != text && !*end && !errno && value >= INT_MIN && value <= INT_MAX;
}

static int read_workers(struct prediction_reader *r, const char *value, struct whatif_scenario *s) {
    s->kind = WHATIF_WORKERS;
    if ((value[0] != '+' && value[0] != '-') || !read_integer(value, &s->workers) || !s->workers ||
        abs(s->workers) > 10000)
        return refuse(r, "--workers takes how many more or fewer: +1, -2, not '%s'", value);
    return 0;
}

/* Calls name a rank, too, if its process ran too briefly to be seen. */
static bool has_rank(const struct run_model *model, int rank) {
    const struct mpi_log *log = &model->recording->calls;
    for (size_t i = 0; i < model->budgets.n; i++)
        if (model->budgets.items[i].rank == rank)
            return true;
    for (size_t i = 0; i < log->n; i++)
        if (log->ranks[i].rank == rank)
            return true;
    return false;
}

/* The only rank that ran on a host; -1: there is none, and its process is meant. */
static int rank_on(const struct run_model *model, int host, size_t *ret_n) {
    const struct rank_budgets *b = &model->budgets;
    const struct mpi_log *log = &model->recording->calls;
    int rank = -1;
    *ret_n = 0;
    for (size_t i = 0; i < b->n + log->n; i++) {
        bool budget = i < b->n;
        int at = budget ? b->items[i].host : log->ranks[i - b->n].host;
        int number = budget ? b->items[i].rank : log->ranks[i - b->n].rank;
        if (at != host || number < 0 || number == rank)
            continue;
        rank = number;
        ++*ret_n;
    }
    return rank;
}

static int read_straggler_on(struct prediction_reader *r, int host, struct whatif_scenario *s) {
    size_t n;
    const char *name = r->model->hosts[host].name;
    s->rank = rank_on(r->model, host, &n);
    s->host = n ? -1 : host;
    if (n > 1)
        return refuse(r, "several ranks ran on %s; name one by its number", name);
    return n == 0 && r->model->recording->calls.n ? refuse(r, "no rank ran on %s", name) : 0;
}

/* The straggler that costs most, else the rank for which others waited most; -1: none. */
static int slowest_rank(const struct judgement *judgement) {
    const struct rank_budget *awaited = rank_budgets_awaited(&judgement->model->budgets);
    const struct stragglers *found = &judgement->stragglers;
    double most = 1;
    int rank = awaited ? awaited->rank : -1;
    for (size_t i = 0; i < found->n; i++)
        if (found->items[i].rank >= 0 && found->items[i].severity > most) {
            most = found->items[i].severity;
            rank = found->items[i].rank;
        }
    return rank;
}

/* RANK=2x. */
static int read_rank(struct prediction_reader *r, const char *value, struct whatif_scenario *s) {
    const char *equals = strchr(value, '=');
    char number[20] = "";
    s->kind = WHATIF_RANK;
    if (equals && (size_t)(equals - value) < sizeof number)
        memcpy(number, value, (size_t)(equals - value));
    if (equals && is_bare(equals + 1))
        return refuse(r, "'%s' has no unit; right is --rank %s=%sx, so many times as fast",
                      equals + 1, number, equals + 1);
    if (!equals || !read_factor(equals + 1, &s->factor) || !read_integer(number, &s->rank))
        return refuse(r, "--rank takes RANK=2x (0.001x to 1000x), not '%s'", value);
    return s->rank >= 0 && has_rank(r->model, s->rank)
               ? 0
               : refuse(r, "no rank %s in this run", number);
}

static int read_straggler(struct prediction_reader *r, const char *value,
                          struct whatif_scenario *s) {
    s->kind = WHATIF_LIKE_PEERS;
    if (strcmp(value, "slowest") == 0) {
        s->rank = slowest_rank(r->judgement);
        return s->rank < 0 ? refuse(r, "no rank of this run was waited for; name one, or its "
                                       "host: --without-straggler 2")
                           : 0;
    }
    if (read_integer(value, &s->rank) && s->rank >= 0 && has_rank(r->model, s->rank))
        return 0;
    for (size_t h = 0; h < r->model->n_hosts; h++)
        if (strcmp(r->model->hosts[h].name, value) == 0)
            return read_straggler_on(r, (int)h, s);
    return refuse(r,
                  "no rank or host '%.60s' in this run; --without-straggler takes the number of a "
                  "rank, the host of one, or slowest",
                  value);
}

int prediction_read_word(struct prediction_reader *r, const struct prediction_word *word,
                         struct whatif_scenario *ret_scenario) {
    static const struct {
        const char *option;
        int (*read)(struct prediction_reader *, const char *, struct whatif_scenario *);
    } readers[] = {{"link", read_link},
                   {"without", read_without},
                   {"cpu", read_cpu},
                   {"disk", read_disk},
                   {"rank", read_rank},
                   {"quota", read_quota},
                   {"without-straggler", read_straggler},
                   {"latency", read_latency},
                   {"workers", read_workers}};
    struct whatif_scenario s = {.host = -1, .rank = -1, .factor = 1};
    if (strcmp(word->option, "balanced") == 0) {
        s.kind = WHATIF_BALANCED;
        *ret_scenario = s;
        return 0;
    }
    for (size_t i = 0; i < ARRAY_SIZE(readers); i++)
        if (strcmp(word->option, readers[i].option) == 0) {
            int result = readers[i].read(r, word->value, &s);
            *ret_scenario = s;
            return result;
        }
    return -EINVAL;
}
