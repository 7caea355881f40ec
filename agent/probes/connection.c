/* SPDX-License-Identifier: MIT */
/*
 * The TCP connections of the job's processes in this network namespace: INET_DIAG with TCP_INFO.
 * All figures that matter are cumulative in the kernel, so the slow pace loses nothing of a
 * connection that lives; the kernel tells the last figures of one that ends (group
 * SKNLGRP_INET_TCP_DESTROY).
 *
 * Such a farewell no longer knows its process. A connection that came and went between two samples
 * therefore belongs to nobody: these are added up in the row ENDED_UNSEEN, whoever they were of, so
 * that a report can say how much the split by process may miss.
 *
 * The request is the older one, TCPDIAG_GETSOCK: it covers both address families in one walk over
 * the kernel's table of sockets, and that walk, not the sockets, is what a dump costs.
 */
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/counter.h"
#include "agent/probes/connection.h"
#include "agent/probes/probes.h"
#include "common/error.h"

#define ROWS_MAX 2048
#define CHECK_AGAIN_EVERY 16 /* samples: a socket may be handed to a process of the job */
#define FAREWELL_ROOM ((size_t)2 << 20) /* about 2000 connections that end between two samples */
#define ENDED_UNSEEN "ended unseen"

#define STATES                                                                                     \
    (1u << STATE_ESTABLISHED | 1u << STATE_SYN_SENT | 1u << STATE_FIN_WAIT1 |                      \
     1u << STATE_FIN_WAIT2 | 1u << STATE_CLOSE_WAIT | 1u << STATE_LAST_ACK | 1u << STATE_CLOSING)

struct connection_probe {
    int proc_fd; /* -1: none; valid once `is_open` */
    bool is_open;
    struct netlink ask, farewells; /* the latter may be closed: not permitted */
    uint64_t sample;               /* number of the current one, from 1 */
    uint64_t job_changes;          /* as of the last check of everybody's owners */
    bool check_again, has_scanned; /* in this sample */
    bool told;                     /* that some sockets may not be looked at */
    size_t n_farewells;            /* rows of this sample */
    int64_t unseen[CONNECTION_N_COLUMNS];
    bool unseen_sent;
    struct connections all;
    struct owners owners;
};

/* One sample under way. */
struct pass {
    struct connection_probe *probe;
    const struct probe_env *env;
    struct rows *rows;
};

/* ---- rows ---- */

static void append(struct pass *pass, struct connection *connection,
                   const struct connection_message *message, const char *name, size_t size) {
    struct row *row = rows_append(pass->rows, name, size);
    if (!row)
        return;
    row->flags = connection->born && !connection->sent ? ROW_BORN : 0;
    connection->sent = true;
    connection_values(message, row->values);
    row->values[CONNECTION_PID] = connection->pid;
    if (connection->rank >= 0)
        row->values[CONNECTION_RANK] = connection->rank;
}

/* A successor between the same two ends waits for the next sample: its counters lose nothing. */
static bool is_name_taken(const struct pass *pass, const char *name, size_t size) {
    for (size_t i = 0; i < pass->probe->n_farewells && i < pass->rows->n; i++)
        if (pass->rows->items[i].name_size == size &&
            memcmp(pass->rows->items[i].name, name, size) == 0)
            return true;
    return false;
}

static void report(struct pass *pass, struct connection *connection,
                   const struct connection_message *message) {
    char name[INSTANCE_MAX + 1];
    size_t size = connection_name(message, name);
    if (connection->sent || !is_name_taken(pass, name, size))
        append(pass, connection, message, name, size);
}

/* ---- what has ended ---- */

static void add_unseen(struct connection_probe *probe, const struct connection_message *message) {
    int64_t values[CONNECTION_N_COLUMNS];
    for (size_t i = 0; i < CONNECTION_N_COLUMNS; i++)
        values[i] = VALUE_ABSENT;
    connection_values(message, values);
    for (size_t i = 0; i < CONNECTION_N_COLUMNS; i++)
        if (probe_connection.table.columns[i].kind == COLUMN_COUNTER && values[i] != VALUE_ABSENT)
            probe->unseen[i] = counter_add(probe->unseen[i], values[i]);
}

static void take_farewell(void *ctx, unsigned type, struct bytes payload) {
    struct pass *pass = ctx;
    struct connection_message message;
    if (!connection_read(type, payload, &message))
        return;
    message.head.idiag_state = STATE_CLOSE;
    struct connection *connection = connections_find(&pass->probe->all, message.cookie);
    if (!connection || !connection->looked) {
        add_unseen(pass->probe, &message);
    } else if (connection->pid) {
        report(pass, connection, &message);
        pass->probe->n_farewells = pass->rows->n;
    }
    if (connection)
        connection->looked = UINT64_MAX; /* nothing more to be told of it */
}

static void append_unseen(struct pass *pass) {
    struct connection_probe *probe = pass->probe;
    if (!probe->unseen[CONNECTION_CONNECTIONS])
        return;
    struct row *row = rows_append(pass->rows, ENDED_UNSEEN, strlen(ENDED_UNSEEN));
    if (!row)
        return;
    row->flags = probe->unseen_sent ? 0 : ROW_BORN;
    probe->unseen_sent = true;
    for (size_t i = 0; i < CONNECTION_N_COLUMNS; i++)
        if (probe_connection.table.columns[i].kind == COLUMN_COUNTER)
            row->values[i] = probe->unseen[i];
}

/* ---- what is there ---- */

static void scan_owners(struct pass *pass) {
    struct connection_probe *probe = pass->probe;
    int r = owners_scan(&probe->owners, probe->proc_fd, pass->env->job);
    pass->rows->dropped += r == -EMFILE;
    if (r == -EACCES && !probe->told && pass->env->note) {
        probe->told = true;
        pass->env->note(pass->env->note_ctx, NOTE_INFO, "connection",
                        "sockets of some processes may not be seen: needs CAP_SYS_PTRACE");
    }
}

static void find_owner(struct pass *pass, struct connection *connection, uint32_t inode) {
    struct connection_probe *probe = pass->probe;
    bool known = connection->looked && connection->inode == inode;
    if (!inode || (known && !probe->check_again))
        return; /* 0: not accepted yet, or its process has closed it */
    if (!probe->has_scanned)
        scan_owners(pass);
    probe->has_scanned = true;
    connection->looked = probe->sample;
    connection->inode = inode;
    const struct owner *owner = owners_find(&probe->owners, inode);
    if (!owner)
        return; /* what was of the job stays its */
    connection->pid = owner->pid;
    connection->rank = owner->rank;
}

static void take_connection(void *ctx, unsigned type, struct bytes payload) {
    struct pass *pass = ctx;
    struct connection_probe *probe = pass->probe;
    struct connection_message message;
    if (!connection_read(type, payload, &message))
        return;
    struct connection *connection = connections_find(&probe->all, message.cookie);
    if (!connection) {
        connection = connections_add(&probe->all, message.cookie);
        if (!connection) {
            pass->rows->dropped++;
            return;
        }
        connection->born = probe->sample > 1;
    }
    if (connection->seen == probe->sample)
        return; /* a table that changes may show it twice */
    connection->seen = probe->sample;
    find_owner(pass, connection, message.head.idiag_inode);
    if (connection->pid)
        report(pass, connection, &message);
}

static int dump(struct pass *pass) {
    struct inet_diag_req request = {.idiag_ext = 1u << (INET_DIAG_INFO - 1) |
                                                 1u << (INET_DIAG_SKMEMINFO - 1),
                                    .idiag_states = STATES};
    return netlink_dump(&pass->probe->ask, TCPDIAG_GETSOCK, &request, sizeof request,
                        take_connection, pass);
}

static int connection_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct connection_probe *probe = state;
    struct pass pass = {probe, env, rows};
    probe->sample++;
    probe->n_farewells = 0;
    probe->has_scanned = false;
    probe->check_again =
        probe->job_changes != env->job->changes || probe->sample % CHECK_AGAIN_EVERY == 0;
    probe->job_changes = env->job->changes;
    if (probe->farewells.socket && netlink_drain(&probe->farewells, take_farewell, &pass) < 0)
        rows->dropped++;
    int r = dump(&pass);
    if (r < 0)
        return r;
    /* A farewell may come one sample after its connection was last there. */
    connections_keep(&probe->all, probe->sample - 1);
    append_unseen(&pass);
    return 0;
}

/* ---- life ---- */

static void ignore(void *ctx, unsigned type, struct bytes payload) {
    (void)ctx, (void)type, (void)payload;
}

/* Also loads the module, where the kernel has it as one. */
static int try_dump(struct connection_probe *probe) {
    struct inet_diag_req request = {.idiag_states = 0};
    return netlink_dump(&probe->ask, TCPDIAG_GETSOCK, &request, sizeof request, ignore, NULL);
}

static int connection_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct connection_probe *probe = state;
    if (!env->run_token_id || !env->job) {
        snprintf(why, why_size, "no job whose connections to look at: CHOKEPOINT_RUN is not set");
        return PROBE_ABSENT;
    }
    int r = netlink_open(&probe->ask, NETLINK_SOCK_DIAG);
    if (r == 0)
        r = try_dump(probe);
    if (r < 0) {
        snprintf(why, why_size, "the kernel lists no TCP sockets (%s): modprobe tcp_diag",
                 strerror(-r));
        return PROBE_ABSENT;
    }
    probe->proc_fd = open(env->proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (probe->proc_fd < 0) {
        r = negative_errno();
        snprintf(why, why_size, "cannot look into %s: %s", env->proc, strerror(-r));
        return r;
    }
    probe->is_open = true;
    r = netlink_open_group(&probe->farewells, NETLINK_SOCK_DIAG, SKNLGRP_INET_TCP_DESTROY,
                           FAREWELL_ROOM);
    if (r < 0)
        snprintf(why, why_size, "what a connection did in its last second is not seen (%s)",
                 strerror(-r));
    return 0;
}

static size_t connection_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return ROWS_MAX;
}

static void connection_close(void *state) {
    struct connection_probe *probe = state;
    netlink_close(&probe->ask);
    netlink_close(&probe->farewells);
    if (probe->is_open)
        close(probe->proc_fd);
    probe->is_open = false;
}

static const struct column connection_columns[CONNECTION_N_COLUMNS] = {
    [CONNECTION_PID] = {"pid", UNIT_NONE, COLUMN_LEVEL, "process id"},
    [CONNECTION_RANK] = {"rank", UNIT_NONE, COLUMN_LEVEL, "rank in the parallel program"},
    [CONNECTION_STATE] = {"state", UNIT_NONE, COLUMN_LEVEL,
                          "as the kernel counts them: 1 established, 7 ended, others in between"},
    [CONNECTION_CONNECTIONS] = {"connections", UNIT_EVENTS, COLUMN_COUNTER,
                                "1; of those that ended unseen: how many"},
    [CONNECTION_SEND_BYTES] = {"send_bytes", UNIT_BYTES, COLUMN_COUNTER,
                               "bytes sent that the other end has acknowledged, without headers"},
    [CONNECTION_RECEIVE_BYTES] = {"receive_bytes", UNIT_BYTES, COLUMN_COUNTER,
                                  "bytes received, without headers"},
    [CONNECTION_SEND_SEGMENTS] = {"send_segments", UNIT_EVENTS, COLUMN_COUNTER,
                                  "segments sent, those sent again included"},
    [CONNECTION_RECEIVE_SEGMENTS] = {"receive_segments", UNIT_EVENTS, COLUMN_COUNTER,
                                     "segments received"},
    [CONNECTION_RETRANSMITS] = {"retransmits", UNIT_EVENTS, COLUMN_COUNTER, "segments sent again"},
    [CONNECTION_BUSY_NS] = {"busy_ns", UNIT_NS, COLUMN_COUNTER,
                            "time with data to send or not yet acknowledged"},
    [CONNECTION_RWND_LIMITED_NS] = {"rwnd_limited_ns", UNIT_NS, COLUMN_COUNTER,
                                    "of it, held back by the receiver, which did not read"},
    [CONNECTION_SNDBUF_LIMITED_NS] = {"sndbuf_limited_ns", UNIT_NS, COLUMN_COUNTER,
                                      "of it, held back by a send buffer too small for the path"},
    [CONNECTION_RTT_NS] = {"rtt_ns", UNIT_NS, COLUMN_LEVEL, "round trip time, smoothed"},
    [CONNECTION_MIN_RTT_NS] = {"min_rtt_ns", UNIT_NS, COLUMN_LEVEL,
                               "shortest round trip time of late"},
    [CONNECTION_DELIVERY_RATE] = {"delivery_rate_bytes_per_s", UNIT_BYTES, COLUMN_LEVEL,
                                  "rate at which the last data sent reached the other end"},
    [CONNECTION_UNSENT_BYTES] = {"unsent_bytes", UNIT_BYTES, COLUMN_LEVEL,
                                 "bytes written that have not been sent"},
    [CONNECTION_UNACKED] = {"unacked", UNIT_EVENTS, COLUMN_LEVEL,
                            "segments sent and not yet acknowledged"},
    [CONNECTION_CWND] = {"cwnd", UNIT_EVENTS, COLUMN_LEVEL,
                         "congestion window: segments that may be on their way"},
    [CONNECTION_SEND_BUFFER] = {"send_buffer_bytes", UNIT_BYTES, COLUMN_LEVEL,
                                "room of the send buffer, the kernel's own share of it included"},
    [CONNECTION_SEND_BUFFER_USED] = {"send_buffer_used_bytes", UNIT_BYTES, COLUMN_LEVEL,
                                     "of it in use: not sent, or not yet acknowledged"},
    [CONNECTION_RECEIVE_BUFFER] =
        {"receive_buffer_bytes", UNIT_BYTES, COLUMN_LEVEL,
         "room of the receive buffer, the kernel's own share of it included"},
};

const struct probe probe_connection = {
    .table = {.name = "connection",
              .instance = "connection",
              .help = "TCP connections of the job's processes, local end first",
              .kind = TABLE_SAMPLES,
              .columns = connection_columns,
              .n_columns = CONNECTION_N_COLUMNS},
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct connection_probe),
    .max_rows = connection_max_rows,
    .open = connection_open,
    .sample = connection_sample,
    .close = connection_close,
};
