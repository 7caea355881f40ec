/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/fabric_ports.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct series_set *ports_of(const struct run_model *model) {
    return &model->recording->tables[RECORDING_FABRIC];
}

/* Growth of a counter within the windows, and a second of the time that rows cover; NAN if it was
 * not counted in them. */
static double counted(const struct series_set *set, const struct series *port, size_t column,
                      struct windows windows, double *ret_a_second) {
    int64_t covered_ns = 0;
    double growth = series_growth(set, port, column, windows, &covered_ns);
    bool known = covered_ns > 0 && series_last(set, port, column) != VALUE_ABSENT;
    *ret_a_second = known ? growth * 1e9 / (double)covered_ns : NAN;
    return known ? growth : NAN;
}

static struct fabric_port look_at_port(const struct run_model *model, const struct series *port,
                                       struct windows windows) {
    const struct series_set *set = ports_of(model);
    int64_t speed = series_last(set, port, FABRIC_SPEED);
    struct fabric_port p = {.series = port,
                            .link = series_last(set, port, FABRIC_LINK),
                            .rate_mb_s = speed > 0 ? (double)speed / 1e6 : NAN};
    double sent, received, a_second;
    counted(set, port, FABRIC_SEND_BYTES, windows, &sent);
    counted(set, port, FABRIC_RECEIVE_BYTES, windows, &received);
    counted(set, port, FABRIC_SEND_WAITS, windows, &p.waits_s);
    p.mb_s[FLOW_SEND] = sent / 1e6;
    p.mb_s[FLOW_RECEIVE] = received / 1e6;
    p.discards = counted(set, port, FABRIC_DISCARDS, windows, &a_second);
    p.errors = counted(set, port, FABRIC_ERRORS, windows, &a_second);
    p.late = counted(set, port, FABRIC_LATE, windows, &a_second);
    p.congested = counted(set, port, FABRIC_CONGESTED, windows, &a_second);
    return p;
}

static int compare_ports(const void *a, const void *b) {
    return strcmp(((const struct fabric_port *)a)->series->name,
                  ((const struct fabric_port *)b)->series->name);
}

int fabric_ports_make(const struct run_model *model, int host, struct windows windows,
                      struct fabric_port **ret_items, size_t *ret_n) {
    const struct series_set *set = ports_of(model);
    struct fabric_port *items = calloc(set->n + 1, sizeof *items);
    size_t n = 0;
    if (!items)
        return -ENOMEM;
    for (size_t s = 0; s < set->n; s++)
        if (set->items[s].host == host)
            items[n++] = look_at_port(model, &set->items[s], windows);
    qsort(items, n, sizeof *items, compare_ports);
    *ret_items = items;
    *ret_n = n;
    return 0;
}

bool fabric_fullest(const struct run_model *model, int host, struct windows windows,
                    enum flow_side side, struct fabric_port *ret_port) {
    const struct series_set *set = ports_of(model);
    double most = -1;
    for (size_t s = 0; s < set->n; s++) {
        if (set->items[s].host != host)
            continue;
        struct fabric_port port = look_at_port(model, &set->items[s], windows);
        double share = port.mb_s[side] / port.rate_mb_s;
        if (share > most) { /* false for NAN */
            most = share;
            *ret_port = port;
        }
    }
    return most >= 0;
}

static int host_of_rank(const struct mpi_log *log, int32_t rank) {
    for (size_t r = 0; r < log->n; r++)
        if (log->ranks[r].rank == rank)
            return log->ranks[r].host;
    return -1;
}

/* The hosts that a message leaves and reaches. False: it has one host, or none that is known. */
static bool ends_of(const struct mpi_log *log, const struct mpi_rank *rank,
                    const struct mpi_event *e, int *ret_from, int *ret_to) {
    const struct mpi_function *f = mpi_event_function(log, e);
    bool puts = f->kind == MPI_KIND_RMA;
    int peer = e->peer >= 0 && (f->sends || puts) ? host_of_rank(log, e->peer) : -1;
    *ret_from = puts && f->fetches ? peer : rank->host;
    *ret_to = puts && f->fetches ? rank->host : peer;
    return peer >= 0 && peer != rank->host;
}

struct message_rate message_rate_of(const struct run_model *model, int host, struct windows windows,
                                    enum flow_side side) {
    const struct mpi_log *log = &model->recording->calls;
    double seconds = (double)windows_length(windows) / 1e9, hosts = (double)model_job_hosts(model);
    struct message_rate rate = {0, 0};
    for (size_t r = 0; r < log->n; r++)
        for (size_t i = 0; i < log->ranks[r].n; i++) {
            const struct mpi_event *e = &log->ranks[r].events[i];
            bool group = mpi_event_function(log, e)->need != MPI_NEED_NOBODY;
            int from, to;
            if (!mpi_event_is_call(e) || e->bytes <= 0 || !windows_hold(windows, e->enter_ns))
                continue;
            if (group && log->ranks[r].host == host) {
                rate.least += (double)e->bytes;
                rate.most += (double)e->bytes * hosts;
            } else if (!group && ends_of(log, &log->ranks[r], e, &from, &to) &&
                       (side == FLOW_SEND ? from : to) == host) {
                rate.least += (double)e->bytes;
                rate.most += (double)e->bytes;
            }
        }
    rate.least *= seconds > 0 ? 1e-6 / seconds : 0;
    rate.most *= seconds > 0 ? 1e-6 / seconds : 0;
    return rate;
}
