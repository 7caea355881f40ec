/* SPDX-License-Identifier: MIT */
/*
 * The hosts of a run as SimGrid's platform. A host has a link for sending and one for receiving,
 * which carries what it was set to or measured to carry, else what its interface tells, or the
 * limit at which the calls show it. Between two hosts lies a way that takes no bandwidth, but the
 * time of a small message, or half of the shortest round trip if that is more.
 *
 * Cores are as many as there are ranks at least: waiting for a core is in the traces already.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/evidence/arithmetic.h"
#include "analysis/evidence/cores.h"
#include "analysis/evidence/flow_ends.h"
#include "analysis/facts/series/series.h"
#include "analysis/simulate/replay.h"
#include "common/clock.h"
#include "common/error.h"
#include "reports/export/export_smpi.h"

#define AT_KNOWN 0.75 /* of what is known: nearer to it a link that limits carries just that */
#define UNKNOWN_BYTES_S 1.25e9  /* of a link that tells no speed */
#define WAY_BYTES_S 1e15        /* no limit */
#define UNKNOWN_LATENCY_S 30e-6 /* of a way on which no round trip was seen */

/* SMPI adds nothing of the machines that it was calibrated on. */
static const char *const settings[][2] = {
    {"smpi/bw-factor", "0:1"},
    {"smpi/lat-factor", "0:1"},
    {"smpi/os", "0:0:0"},
    {"smpi/or", "0:0:0"},
    {"smpi/ois", "0:0:0"},
    {"network/TCP-gamma", "0"},
    {"smpi/display-timing", "no"},
    /* btl_tcp_eager_limit of Open MPI */
    {"smpi/send-is-detached-thresh", "65536"},
    {"smpi/async-small-thresh", "65536"},
};

static size_t ranks_of(const struct run_model *model, int host) {
    const struct mpi_log *log = &model->recording->calls;
    size_t n = 0;
    for (size_t r = 0; r < log->n; r++)
        n += log->ranks[r].host == host;
    return n;
}

double smpi_flop_s(const struct run_model *model, int host) {
    struct windows all = phase_windows(&model->groups[0]);
    double best = INFINITY, own = core_calibration_ns(model, host, all);
    for (int h = 0; h < (int)model->n_hosts; h++) {
        double other = ranks_of(model, h) ? core_calibration_ns(model, h, all) : INFINITY;
        if (isnan(other))
            return SMPI_FLOP_S;
        best = fmin(best, other);
    }
    return own > 0 && isfinite(best) ? SMPI_FLOP_S * best / own : SMPI_FLOP_S;
}

/* Owned arrays. */
struct ways {
    double *bytes_s;      /* [host: sending, n + host: receiving] */
    double *latency_s;    /* [from * n + to] */
    double *pace_bytes_s; /* [from * n + to], of messages */
};

static void ways_release(struct ways *ways) {
    free(ways->bytes_s);
    free(ways->latency_s);
    free(ways->pace_bytes_s);
}

/* The shortest half round trip that connections tell; NAN where there was none. -ENOMEM. */
static int find_round_trips(const struct run_model *model, double *latency_s) {
    const struct series_set *set = &model->recording->tables[RECORDING_CONNECTION];
    int *to = malloc((set->n + 1) * sizeof *to);
    int result = to ? flow_ends(set, to) : -ENOMEM;
    for (size_t i = 0; i < model->n_hosts * model->n_hosts; i++)
        latency_s[i] = NAN;
    for (size_t s = 0; s < set->n && result == 0; s++) {
        const struct series *series = &set->items[s];
        for (size_t row = 0; row < series->n && to[s] >= 0; row++) {
            int64_t rtt_ns = series_value(set, series, row, CONNECTION_MIN_RTT);
            double *least = &latency_s[(size_t)series->host * model->n_hosts + (size_t)to[s]];
            if (rtt_ns > 0)
                *least = fmin(*least, (double)rtt_ns / (double)NS_PER_S / 2);
        }
    }
    free(to);
    return result;
}

/* The pace of messages that no link explains, from each host to each other. -ENOMEM. */
static int take_paces(const struct replay *replay, size_t n, double *pace_bytes_s) {
    double *bytes = calloc(2 * n * n + 1, sizeof *bytes), *seconds = bytes ? bytes + n * n : NULL;
    if (!bytes)
        return -ENOMEM;
    for (size_t i = 0; i < replay->n_messages; i++) {
        const struct replay_message *m = &replay->messages[i];
        size_t way = (size_t)replay->ranks[m->from].host * n + (size_t)replay->ranks[m->to].host;
        double rate = replay->net.pair[m->pair];
        if (m->signal || !(rate > 0) || isinf(rate))
            continue;
        bytes[way] += m->bytes;
        seconds[way] += m->bytes / rate;
    }
    for (size_t way = 0; way < n * n; way++)
        if (seconds[way] > 0)
            pace_bytes_s[way] = bytes[way] / seconds[way];
    free(bytes);
    return 0;
}

/* A link that the recording shows at a limit far below what is known of it has that limit; and no
 * way is shorter than small messages took.
 */
static void take_fit(const struct replay_network *net, size_t n, struct ways *ways) {
    for (size_t link = 0; link < 2 * n; link++) {
        double rate = link < n ? net->egress[link] : net->ingress[link - n];
        if (rate < AT_KNOWN * ways->bytes_s[link])
            ways->bytes_s[link] = rate;
    }
    for (size_t i = 0; i < n * n; i++)
        ways->latency_s[i] = fmax(ways->latency_s[i], net->latency_ns[1][0] / (double)NS_PER_S);
}

static int fit_ways(const struct run_model *model, struct ways *ways) {
    struct replay *replay = NULL;
    if (replay_refusal(model).code != REFUSAL_NONE)
        return 0;
    int result = replay_new(model, &replay);
    if (result == 0) {
        take_fit(&replay->net, model->n_hosts, ways);
        result = take_paces(replay, model->n_hosts, ways->pace_bytes_s);
    }
    replay_free(replay);
    return result;
}

static int find_ways(const struct run_model *model, struct ways *ret_ways) {
    size_t n = model->n_hosts;
    *ret_ways = (struct ways){.bytes_s = malloc((2 * n + 1) * sizeof *ret_ways->bytes_s),
                              .latency_s = malloc((n * n + 1) * sizeof *ret_ways->latency_s),
                              .pace_bytes_s = malloc((n * n + 1) * sizeof *ret_ways->pace_bytes_s)};
    if (!ret_ways->bytes_s || !ret_ways->latency_s || !ret_ways->pace_bytes_s)
        return -ENOMEM;
    for (size_t way = 0; way < n * n; way++)
        ret_ways->pace_bytes_s[way] = WAY_BYTES_S;
    for (size_t link = 0; link < 2 * n; link++) {
        enum metric direction = link < n ? METRIC_NET_SEND : METRIC_NET_RECV;
        double known = 1e6 * network_known_rate(model, (int)(link % n), direction);
        ret_ways->bytes_s[link] = known > 0 ? known : UNKNOWN_BYTES_S;
    }
    int result = find_round_trips(model, ret_ways->latency_s);
    return result < 0 ? result : fit_ways(model, ret_ways);
}

void smpi_host_id(const struct run_model *model, int host, char id[SMPI_ID_SIZE]) {
    const char *name = model->hosts[host].name;
    size_t n = strnlen(name, SMPI_ID_MAX);
    bool is_plain = n > 0 && !name[n];
    for (size_t i = 0; i < n; i++) {
        is_plain &= isalnum((unsigned char)name[i]) || (i && strchr("-._", name[i]));
        id[i] = name[i];
    }
    id[n] = '\0';
    if (!is_plain)
        snprintf(id, SMPI_ID_SIZE, "host-%d", host);
}

static void put_host(const struct run_model *model, int host, const struct ways *ways, FILE *out) {
    size_t ranks = ranks_of(model, host), cores = model->hosts[host].n_cpus;
    char id[SMPI_ID_SIZE];
    smpi_host_id(model, host, id);
    fprintf(out, "    <host id=\"%s\" speed=\"%.0ff\" core=\"%zu\"/>\n", id,
            smpi_flop_s(model, host), cores > ranks ? cores : ranks);
    fprintf(out, "    <link id=\"%s:out\" bandwidth=\"%.0fBps\" latency=\"0s\"/>\n", id,
            ways->bytes_s[host]);
    fprintf(out, "    <link id=\"%s:in\" bandwidth=\"%.0fBps\" latency=\"0s\"/>\n", id,
            ways->bytes_s[model->n_hosts + (size_t)host]);
}

/* The way from a host to another, or the route over it. */
static void put_way(const struct run_model *model, int from, int to, double latency_s,
                    double pace_bytes_s, bool as_route, FILE *out) {
    char source[SMPI_ID_SIZE], target[SMPI_ID_SIZE];
    smpi_host_id(model, from, source);
    smpi_host_id(model, to, target);
    if (as_route)
        fprintf(out,
                "    <route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">"
                "<link_ctn id=\"%s:out\"/><link_ctn id=\"%s:%s\"/><link_ctn id=\"%s:in\"/>"
                "</route>\n",
                source, target, source, source, target, target);
    else
        fprintf(out,
                "    <link id=\"%s:%s\" bandwidth=\"%.0fBps\" latency=\"%.9fs\" "
                "sharing_policy=\"FATPIPE\"/>\n",
                source, target, pace_bytes_s, latency_s);
}

static void put_ways(const struct run_model *model, const struct ways *ways, bool as_routes,
                     FILE *out) {
    int n = (int)model->n_hosts;
    for (int i = 0; i < n * n; i++) {
        int from = i / n, to = i % n;
        double latency_s =
            isnan(ways->latency_s[i]) ? ways->latency_s[to * n + from] : ways->latency_s[i];
        if (from != to && ranks_of(model, from) && ranks_of(model, to))
            put_way(model, from, to, isnan(latency_s) ? UNKNOWN_LATENCY_S : latency_s,
                    ways->pace_bytes_s[i], as_routes, out);
    }
}

static void put_zone(const struct run_model *model, const struct ways *ways, FILE *out) {
    fputs("  <zone id=\"run\" routing=\"Full\">\n", out);
    for (int h = 0; h < (int)model->n_hosts; h++)
        if (ranks_of(model, h))
            put_host(model, h, ways, out);
    put_ways(model, ways, false, out);
    put_ways(model, ways, true, out); /* after all links */
    fputs("  </zone>\n", out);
}

/* From where the traces begin, the end of a rank's first call (MPI_Init), to the last call's end.
 */
static double span_s(const struct mpi_log *log) {
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    for (size_t r = 0; r < log->n; r++) {
        bool is_first = true;
        for (size_t i = 0; i < log->ranks[r].n; i++) {
            const struct mpi_event *event = &log->ranks[r].events[i];
            if (!mpi_event_is_call(event))
                continue;
            begin_ns = is_first && event->exit_ns < begin_ns ? event->exit_ns : begin_ns;
            end_ns = event->exit_ns > end_ns ? event->exit_ns : end_ns;
            is_first = false;
        }
    }
    return begin_ns < end_ns ? (double)(end_ns - begin_ns) / (double)NS_PER_S : 0;
}

int smpi_write_platform(const struct run_model *model, FILE *out) {
    struct ways ways;
    int result = find_ways(model, &ways);
    if (result == 0) {
        fputs("<?xml version='1.0'?>\n"
              "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
              "<platform version=\"4.1\">\n",
              out);
        fprintf(out, "  <!-- after MPI_Init the run took %.9f s -->\n  <config>\n",
                span_s(&model->recording->calls));
        for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
            fprintf(out, "    <prop id=\"%s\" value=\"%s\"/>\n", settings[i][0], settings[i][1]);
        fputs("  </config>\n", out);
        put_zone(model, &ways, out);
        fputs("</platform>\n", out);
        result = ferror(out) ? -EIO : 0;
    }
    ways_release(&ways);
    return result;
}
