/* SPDX-License-Identifier: MIT */
/*
 * The queueing disciplines of every interface of this network namespace (rtnetlink). They show
 * where this host holds packets of a shaped link back, and at what rate. `noqueue` counts nothing
 * and is left out. The rate of htb lies in its classes and is not read.
 */
#include "agent/probes/qdisc.h"

#include <linux/rtnetlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/base/interface.h"
#include "agent/base/name_set.h"
#include "agent/probes/probes.h"
#include "common/error.h"

#define QDISCS_MIN 64
#define QDISCS_MAX 2048

struct qdisc {
    struct netlink ask;
    struct name_set names;
    int socket_fd; /* for names of interfaces; valid while there are names */
};

struct pass {
    struct qdisc *qdisc;
    struct rows *rows;
};

static void fill_queue_row(const struct qdisc_message *message, int64_t *values) {
    if (message->has_traffic) {
        values[QDISC_SEND_BYTES] = counter_value(message->bytes, 1);
        values[QDISC_SEND_PACKETS] = counter_value(message->packets, 1);
    }
    if (message->has_queue) {
        values[QDISC_DROPS] = message->drops;
        values[QDISC_OVERLIMITS] = message->overlimits;
        values[QDISC_REQUEUES] = message->requeues;
        values[QDISC_BACKLOG] = message->backlog_bytes;
        values[QDISC_QUEUE_LENGTH] = message->queue_length;
    }
    if (message->has_rate)
        values[QDISC_RATE] = counter_value(message->rate_bytes_per_s, 1);
}

static void take_qdisc(void *ctx, unsigned type, struct bytes payload) {
    struct pass *pass = ctx;
    struct qdisc_message message;
    char interface[IFNAMSIZ], name[INSTANCE_MAX + 1];
    if (!qdisc_read(type, payload, &message) || strcmp(message.kind, "noqueue") == 0 ||
        !interface_name(pass->qdisc->socket_fd, message.interface, interface))
        return;
    size_t size = qdisc_name(&message, interface, name);
    struct name_set_entry *entry = name_set_see(&pass->qdisc->names, name, size, message.bytes);
    struct row *row = entry ? rows_append(pass->rows, name, size) : NULL;
    pass->rows->dropped += !entry;
    if (!row)
        return;
    row->flags = entry->born ? ROW_BORN : 0;
    fill_queue_row(&message, row->values);
}

static int dump(struct qdisc *qdisc, netlink_take *take, void *ctx) {
    struct tcmsg request = {.tcm_family = AF_UNSPEC};
    return netlink_dump(&qdisc->ask, RTM_GETQDISC, &request, sizeof request, take, ctx);
}

static int qdisc_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct qdisc *qdisc = state;
    struct pass pass = {qdisc, rows};
    (void)env;
    name_set_begin(&qdisc->names);
    int r = dump(qdisc, take_qdisc, &pass);
    return r == -EINTR ? 0 : r; /* an interface came or went: the rows are right nevertheless */
}

static void count(void *ctx, unsigned type, struct bytes payload) {
    (void)type, (void)payload;
    ++*(size_t *)ctx;
}

/* Room for four times as many queueing disciplines as now. */
static int make_room(struct qdisc *qdisc) {
    size_t n = 0;
    int r = dump(qdisc, count, &n);
    if (r < 0 && r != -EINTR)
        return r;
    n *= 4;
    n = n < QDISCS_MIN ? QDISCS_MIN : n > QDISCS_MAX ? QDISCS_MAX : n;
    return name_set_init(&qdisc->names, n);
}

static int qdisc_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct qdisc *qdisc = state;
    (void)env;
    int r = netlink_open(&qdisc->ask, NETLINK_ROUTE);
    if (r == 0)
        r = make_room(qdisc);
    if (r == -EOPNOTSUPP) {
        snprintf(why, why_size, "this kernel has no queueing disciplines (CONFIG_NET_SCHED)");
        return PROBE_ABSENT;
    }
    if (r == 0) {
        qdisc->socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        r = qdisc->socket_fd < 0 ? negative_errno() : 0;
    }
    if (r < 0)
        snprintf(why, why_size, "cannot list queueing disciplines: %s", strerror(-r));
    return r;
}

static size_t qdisc_max_rows(const void *state, const struct probe_env *env) {
    (void)env;
    return ((const struct qdisc *)state)->names.capacity;
}

static void qdisc_close(void *state) {
    struct qdisc *qdisc = state;
    if (qdisc->names.entries && qdisc->socket_fd >= 0)
        close(qdisc->socket_fd);
    name_set_release(&qdisc->names);
    netlink_close(&qdisc->ask);
}

const struct probe probe_qdisc = {
    .table = &all_tables[TABLE_QDISC],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct qdisc),
    .max_rows = qdisc_max_rows,
    .open = qdisc_open,
    .sample = qdisc_sample,
    .close = qdisc_close,
};
