/* SPDX-License-Identifier: MIT */
/*
 * The TCP connections of the job's processes in this network namespace: INET_DIAG with TCP_INFO.
 * All figures that matter are cumulative in the kernel, so the slow pace loses nothing while a
 * connection lives. When it ends the kernel sends its last figures (group
 * SKNLGRP_INET_TCP_DESTROY).
 *
 * Such a farewell does not name the process. Connections that came and went between two samples
 * therefore have no owner: the row ENDED_UNSEEN adds them up, so that a report can say how much the
 * split by process may miss.
 *
 * A dump finds new connections; while none is opened, the known ones are queried one by one
 * (connection_ask.c). A dump uses the older request, TCPDIAG_GETSOCK: it covers both address
 * families in one walk over the kernel's table of sockets, and that walk is most of its cost.
 */
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/base/source.h"
#include "agent/probes/connection/connection.h"
#include "agent/probes/probes.h"
#include "common/error.h"

#define ROWS_MAX 2048
#define CHECK_AGAIN_EVERY 16  /* samples per round */
#define CHECK_OTHERS_EVERY 64 /* the same while the job has no connection */
#define JOB_MOST 200          /* processes: the files of more cost as much as a dump */
#define LOOK_AGAIN_EVERY 4    /* samples: one process may open a file while another closes one */
#define FAREWELL_ROOM ((size_t)2 << 20) /* about 2000 connections that end between two samples */
#define ENDED_UNSEEN "ended unseen"

#define STATES                                                                                     \
    (1u << STATE_ESTABLISHED | 1u << STATE_SYN_SENT | 1u << STATE_FIN_WAIT1 |                      \
     1u << STATE_FIN_WAIT2 | 1u << STATE_CLOSE_WAIT | 1u << STATE_LAST_ACK | 1u << STATE_CLOSING)

struct connection_probe {
    int proc_fd; /* -1: closed; valid once `is_open` */
    bool is_open;
    struct netlink ask, farewells; /* `farewells` may be closed: not permitted */
    uint64_t sample;               /* number of the current sample, from 1 */
    uint64_t job_changes;          /* as of the last complete check of owners */
    /* in this sample: owners of known connections are looked for again, with the results of the
     * round that ends or of all files; all files of the job have been looked at */
    bool check_again, is_round, has_scanned;
    size_t round;          /* samples of the current round so far */
    struct source snmp;    /* counts what is opened; may be closed */
    uint64_t opens, files; /* as of the last dump; 0: not known */
    size_t n_unaccepted;   /* connections without a process at the last dump */
    bool told;             /* said that some processes may not be inspected */
    size_t n_farewells;    /* rows of this sample */
    int64_t unseen[CONNECTION_COLUMNS];
    bool unseen_sent;
    struct connections all;
    struct owners owners;
};

/* The sample in progress. */
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

/* A new connection between the same two ends waits for the next sample: its counters lose
 * nothing. */
static void report(struct pass *pass, struct connection *connection,
                   const struct connection_message *message) {
    if (!connection->name_size)
        connection->name_size = (uint8_t)connection_name(message, connection->name);
    const char *name = connection->name;
    size_t size = connection->name_size;
    if (connection->sent || !rows_have(pass->rows, pass->probe->n_farewells, name, size))
        append(pass, connection, message, name, size);
}

/* ---- what has ended ---- */

static void add_unseen(struct connection_probe *probe, const struct connection_message *message) {
    int64_t values[CONNECTION_COLUMNS];
    for (size_t i = 0; i < CONNECTION_COLUMNS; i++)
        values[i] = VALUE_ABSENT;
    connection_values(message, values);
    for (size_t i = 0; i < CONNECTION_COLUMNS; i++)
        if (all_tables[TABLE_CONNECTION].columns[i].kind == COLUMN_COUNTER &&
            values[i] != VALUE_ABSENT)
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
        connection->looked = UINT64_MAX; /* has had its last row */
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
    for (size_t i = 0; i < CONNECTION_COLUMNS; i++)
        if (all_tables[TABLE_CONNECTION].columns[i].kind == COLUMN_COUNTER)
            row->values[i] = probe->unseen[i];
}

/* ---- what is there ---- */

/* Samples of a round; 0: there is no connection whose owner could be another one now. */
static size_t round_length(const struct connections *all) {
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].pid)
            return CHECK_AGAIN_EVERY;
    return all->n ? CHECK_OTHERS_EVERY : 0;
}

static void note_busy(const struct connections *all, struct owner_busy *busy) {
    for (size_t i = 0; i < all->n; i++) {
        size_t bit = (size_t)all->items[i].pid % BUSY_PIDS;
        busy->bits[bit / 64] |= (uint64_t)(all->items[i].pid > 0) << bit % 64;
    }
}

static void look_for_owners(struct pass *pass, size_t most) {
    struct connection_probe *probe = pass->probe;
    struct owner_busy busy = {{0}};
    note_busy(&probe->all, &busy);
    int r = owners_look(&probe->owners, probe->proc_fd, pass->env->job, most, &busy);
    pass->rows->dropped += r == -EMFILE;
    if (r == -EACCES && !probe->told && pass->env->note) {
        probe->told = true;
        pass->env->note(pass->env->note_ctx, NOTE_INFO, "connection",
                        "sockets of some processes may not be seen: needs CAP_SYS_PTRACE");
    }
}

/* Looks at the files of the job now; the round in progress ends. A process that has closed one file
 * and opened a connection, its only one, is seen by the next round. */
static void scan_owners(struct pass *pass) {
    owners_restart(&pass->probe->owners);
    look_for_owners(pass, SIZE_MAX);
    pass->probe->has_scanned = true;
}

/* A socket may be handed to a process of the job, so all files of the job are looked at again.
 * 4,000 files take 70 ms, which would cost a slot: so each sample looks at some processes, and the
 * last sample of a round uses the results. Without a connection nothing can be handed over, and a
 * new one is seen by its count (must_dump). */
static void go_on_with_round(struct pass *pass) {
    struct connection_probe *probe = pass->probe;
    size_t length = round_length(&probe->all);
    probe->round = length ? probe->round + 1 : 0;
    probe->check_again = length && probe->round >= length;
    if (!length && probe->owners.looked)
        owners_forget(&probe->owners); /* a later connection may have the number of an old one */
    if (!length)
        return;
    if (probe->round == 1)
        owners_forget(&probe->owners);
    look_for_owners(pass, probe->check_again ? SIZE_MAX : pass->env->job->n / (length - 1) + 1);
    if (probe->check_again)
        probe->round = 0;
}

static void begin_round(struct connection_probe *probe) {
    owners_forget(&probe->owners);
    probe->check_again = true;
    probe->round = 0;
}

static void find_owner(struct pass *pass, struct connection *connection, uint32_t inode) {
    struct connection_probe *probe = pass->probe;
    bool known = connection->looked && connection->inode == inode;
    if (!inode || (known && !probe->check_again))
        return; /* 0: not accepted yet, or its process has closed it */
    if (!probe->has_scanned && !(known && probe->is_round))
        scan_owners(pass);
    connection->looked = probe->sample;
    connection->inode = inode;
    const struct owner *owner = owners_find(&probe->owners, inode);
    if (!owner)
        return; /* a connection of the job stays one */
    connection->pid = owner->pid;
    connection->rank = owner->rank;
}

/* The process may receive the connection without opening one. */
static bool is_unaccepted(const struct connection_message *message) {
    uint8_t state = message->head.idiag_state;
    return !message->head.idiag_inode && (state == STATE_ESTABLISHED || state == STATE_CLOSE_WAIT);
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
        return; /* a dump of a changing table may show it twice */
    connection->seen = probe->sample;
    connection->id = message.head.id;
    connection->family = message.head.idiag_family;
    probe->n_unaccepted += is_unaccepted(&message);
    find_owner(pass, connection, message.head.idiag_inode);
    if (connection->pid)
        report(pass, connection, &message);
}

static void take_known(void *ctx, unsigned type, struct bytes payload) {
    struct connection_message message;
    if (connection_read(type, payload, &message) && 1u << message.head.idiag_state & STATES)
        take_connection(ctx, type, payload);
}

static uint64_t read_opens(struct connection_probe *probe) {
    uint64_t opens;
    bool known = source_is_open(&probe->snmp) && source_read(&probe->snmp) == 0 &&
                 connection_read_opens(probe->snmp.data, probe->snmp.size, &opens);
    return known ? opens : 0;
}

/* A sum that changes when a process of the job opens more files than it closes, or fewer, and when
 * a process comes or goes. 0: unknown; the kernel counts open files since Linux 6.2. */
static uint64_t job_files(int proc_fd, const struct job *job) {
    char path[32];
    struct stat st;
    uint64_t sum = 1;
    for (size_t i = 0; i < job->n; i++) {
        snprintf(path, sizeof path, "%d/fd", job->processes[i].pid);
        if (fstatat(proc_fd, path, &st, 0) < 0 || !st.st_size)
            return 0;
        sum = sum * 1000003 + (uint64_t)st.st_size;
    }
    return sum;
}

/* Whether the job may have opened files since the last dump. A large job is not checked. */
static bool may_have_files(struct connection_probe *probe, const struct job *job) {
    if (probe->sample % LOOK_AGAIN_EVERY == 0)
        return true;
    if (job->n > JOB_MOST)
        return false;
    uint64_t files = job_files(probe->proc_fd, job);
    bool may = !files || files != probe->files;
    probe->files = files;
    return may;
}

/* Whether the job may have a connection that is not known yet. */
static bool must_dump(struct connection_probe *probe, const struct job *job) {
    uint64_t opens = read_opens(probe);
    bool opened = !opens || opens != probe->opens || probe->n_unaccepted;
    if (!probe->check_again && !(opened && may_have_files(probe, job)))
        return false;
    probe->opens = opens; /* read before the dump: later connections count for the next one */
    return true;
}

/* Connections outside the job, and those without room for a row, are kept without asking. */
static int ask(struct pass *pass) {
    struct connections *all = &pass->probe->all;
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (!all->items[i].pid || ++n > ROWS_MAX)
            all->items[i].seen = pass->probe->sample;
    pass->rows->dropped += n > ROWS_MAX ? n - ROWS_MAX : 0;
    return connections_ask(&pass->probe->ask, all, ROWS_MAX, take_known, pass);
}

static int dump(struct pass *pass) {
    struct inet_diag_req request = {.idiag_ext = 1u << (INET_DIAG_INFO - 1) |
                                                 1u << (INET_DIAG_SKMEMINFO - 1),
                                    .idiag_states = STATES};
    pass->probe->n_unaccepted = 0;
    return netlink_dump(&pass->probe->ask, TCPDIAG_GETSOCK, &request, sizeof request,
                        take_connection, pass);
}

static int connection_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct connection_probe *probe = state;
    struct pass pass = {probe, env, rows};
    probe->sample++;
    probe->n_farewells = 0;
    probe->has_scanned = false;
    probe->is_round = probe->job_changes == env->job->changes;
    if (probe->is_round)
        go_on_with_round(&pass);
    else
        begin_round(probe);
    probe->job_changes = env->job->changes;
    if (probe->farewells.buffer && netlink_drain(&probe->farewells, take_farewell, &pass) < 0)
        rows->dropped++;
    int r = must_dump(probe, env->job) ? dump(&pass) : ask(&pass);
    if (r < 0)
        return r;
    /* A farewell may come one sample after its connection was last listed. */
    connections_keep(&probe->all, probe->sample - 1);
    append_unseen(&pass);
    return 0;
}

/* ---- life ---- */

static void ignore(void *ctx, unsigned type, struct bytes payload) {
    (void)ctx, (void)type, (void)payload;
}

/* A first dump also loads the kernel's module. */
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
    if (source_open(&probe->snmp, env->proc, "net/snmp") < 0)
        probe->snmp = (struct source){0}; /* then each sample is a dump */
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
    source_close(&probe->snmp);
    if (probe->is_open)
        close(probe->proc_fd);
    probe->is_open = false;
}

const struct probe probe_connection = {
    .table = &all_tables[TABLE_CONNECTION],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct connection_probe),
    .max_rows = connection_max_rows,
    .open = connection_open,
    .sample = connection_sample,
    .close = connection_close,
};
