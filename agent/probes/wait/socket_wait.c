/* SPDX-License-Identifier: MIT */
/*
 * The TCP connections of the job seen from their readers and writers: starved, unread, blocked.
 * Instances have the names of table connection, so that the rows of both ends can be joined.
 *
 * A wait in epoll, poll or select counts for the socket that the thread reads next, even if it
 * waited for several.
 *
 * A sample has one row per name. So a socket has no row before it is connected, since it may not
 * have a port yet. If one of two sockets between the same ends has ended, the later one waits for
 * the next sample, which loses nothing.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/probes/probes.h"
#include "agent/probes/wait/wait_watch.h"
#include "common/error.h"
#include "tables/keys.h"

#define ROWS_MAX 2048
#define RESTS_NS (NS_PER_S - 50 * NS_PER_MS)
#define IDLE_SAMPLES 600 /* samples after which a socket without a process is forgotten */

struct socket_wait {
    struct wait_watch *watch;
};

static size_t name_of(const struct wait_socket *socket, char name[INSTANCE_MAX + 1]) {
    const struct table_key key = {
        .form = KEY_CONNECTION,
        .ends = {key_end_of(socket->family, socket->local, socket->local_port),
                 key_end_of(socket->family, socket->remote, socket->remote_port)}};
    return key_write(&key, name);
}

static void raise_clock(uint64_t *told, uint64_t now) {
    *told = now > *told ? now : *told;
}

/* If a process is clocked in slices, its socket's time between slices is taken to be like that in
 * them. */
static void share_out(const struct wait_group *group, struct wait_socket_seen *seen,
                      struct wait_socket *socket) {
    uint64_t *counters[] = {&socket->starved_ns,
                            &socket->unread_ns,
                            &socket->send_blocked_ns,
                            &socket->reads,
                            &socket->read_bytes,
                            &socket->process_starved_ns,
                            &socket->process_send_blocked_ns};
    for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
        uint64_t now = *counters[i], from = seen->scaled_from[i];
        if (group && group->shares.scale > 0 && now >= from) {
            double more = (double)(now - from) * group->shares.scale;
            seen->scaled[i] += more < 1e18 ? (uint64_t)more : 0;
            seen->scaled_from[i] = now;
        }
        *counters[i] += seen->scaled[i];
    }
}

/* Includes waits in progress; reported figures never step back. Data that lay there before a pause
 * may have been read in it. */
static void bring_up(struct wait_socket_seen *seen, const struct wait_socket *socket,
                     const struct wait_watch *watch) {
    uint64_t since = socket->ready_since_ns, now_ns = watch->known_ns;
    bool known = since > watch->memory.totals->resumed_ns && now_ns > since;
    uint64_t lies = known ? now_ns - since : 0;
    raise_clock(&seen->starved_ns, socket->starved_ns + seen->waits_ns[0]);
    raise_clock(&seen->unread_ns, socket->unread_ns + lies);
    raise_clock(&seen->send_blocked_ns, socket->send_blocked_ns + seen->waits_ns[1]);
}

/* False: another socket has the name in this sample. */
static bool append_socket(const struct wait_group *group, struct wait_socket_seen *seen,
                          const struct wait_socket *socket, int64_t now_ns, struct rows *rows) {
    char name[INSTANCE_MAX + 1];
    size_t size = name_of(socket, name);
    if (!socket->local_port || !socket->remote_port)
        return true; /* not connected */
    if (!seen->told_ns && rows_have(rows, rows->n, name, size))
        return false;
    struct row *row = rows_append(rows, name, size);
    if (!row)
        return true;
    row->flags = seen->born && !seen->told_ns ? ROW_BORN : 0;
    row->values[SOCKET_WAIT_PID] = group->pid;
    if (group->rank >= 0)
        row->values[SOCKET_WAIT_RANK] = group->rank;
    row->values[SOCKET_WAIT_STARVED] = counter_value(seen->starved_ns, 1);
    row->values[SOCKET_WAIT_UNREAD] = counter_value(seen->unread_ns, 1);
    row->values[SOCKET_WAIT_SEND_BLOCKED] = counter_value(seen->send_blocked_ns, 1);
    row->values[SOCKET_WAIT_READS] = counter_value(socket->reads, 1);
    row->values[SOCKET_WAIT_READ_BYTES] = counter_value(socket->read_bytes, 1);
    row->values[SOCKET_WAIT_PROCESS_STARVED] = counter_value(socket->process_starved_ns, 1);
    row->values[SOCKET_WAIT_PROCESS_SEND_BLOCKED] =
        counter_value(socket->process_send_blocked_ns, 1);
    seen->told_ns = now_ns;
    seen->told_reads = socket->reads;
    return true;
}

static void free_slot(struct wait_watch *watch, struct wait_socket *slot, uint64_t address) {
    if (watch->source)
        wait_source_forget_socket(watch->source, address);
    __atomic_store_n(&slot->slot, WAIT_FREE, __ATOMIC_RELEASE);
}

static void take_socket(struct wait_watch *watch, size_t at, const struct probe_env *env,
                        struct rows *rows) {
    struct wait_socket *slot = &watch->memory.sockets[at], socket = *slot;
    struct wait_socket_seen *seen = &watch->sockets[at];
    const struct wait_group *group = wait_watch_find(watch, socket.tgid);
    if (socket.family != AF_INET && socket.family != AF_INET6)
        return;
    if (seen->cookie != socket.cookie)
        *seen = (struct wait_socket_seen){.cookie = socket.cookie,
                                          .waits_ns = {seen->waits_ns[0], seen->waits_ns[1]},
                                          .born = watch->sample > 1};
    share_out(group, seen, &socket);
    bring_up(seen, &socket, watch);
    /* an ended process has no later row: its connection may close after it is forgotten */
    bool lives = group && group->threads && !socket.ended;
    bool rests =
        lives && seen->told_reads == socket.reads && env->mono_ns - seen->told_ns < RESTS_NS;
    if (group && group->listed && !(seen->told_ns && rests) &&
        !append_socket(group, seen, &socket, env->mono_ns, rows))
        return;
    seen->idle = group ? 0 : seen->idle + 1;
    if (socket.ended || seen->idle > IDLE_SAMPLES)
        free_slot(watch, slot, socket.address);
}

/* The order of rows. An ended socket that already had a row goes first, since only sockets without
 * a row can wait. */
enum turn { TURN_LAST_ROW, TURN_ONLY_ROW, TURN_OTHERS, TURNS };

static enum turn turn_of(const struct wait_watch *watch, uint32_t at) {
    const struct wait_socket *socket = &watch->memory.sockets[at];
    const struct wait_socket_seen *seen = &watch->sockets[at];
    bool told = seen->told_ns && seen->cookie == socket->cookie;
    return !socket->ended ? TURN_OTHERS : told ? TURN_LAST_ROW : TURN_ONLY_ROW;
}

static bool is_live(const struct wait_watch *watch, uint32_t at) {
    return __atomic_load_n(&watch->memory.sockets[at].slot, __ATOMIC_ACQUIRE) == WAIT_LIVE;
}

static int socket_wait_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct wait_watch *watch = ((struct socket_wait *)state)->watch;
    uint32_t *next = &watch->memory.totals->next_socket;
    struct wait_walk walk = wait_walk_begin(watch->high_sockets, next, WAIT_SOCKETS);
    for (enum turn turn = 0; turn < TURNS; turn++)
        for (uint32_t i = 0; i < walk.n; i++)
            if (is_live(watch, i) && turn_of(watch, i) == turn)
                take_socket(watch, i, env, rows);
    for (uint32_t i = 0; i < walk.n; i++)
        wait_walk_saw(&walk, i,
                      __atomic_load_n(&watch->memory.sockets[i].slot, __ATOMIC_ACQUIRE) ==
                          WAIT_FREE);
    watch->high_sockets = wait_walk_end(&walk, next, WAIT_SOCKETS);
    return 0;
}

static int socket_wait_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct socket_wait *probe = state;
    if (!env->waits || !env->waits->is_open)
        return PROBE_ABSENT; /* table wait says why */
    if (!env->waits->memory.has_sockets) {
        snprintf(why, why_size, "this kernel does not say when data is read: Linux 6.3 does");
        return PROBE_ABSENT;
    }
    probe->watch = env->waits;
    return 0;
}

static size_t socket_wait_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return ROWS_MAX;
}

const struct probe probe_socket_wait = {
    .table = &all_tables[TABLE_SOCKET_WAIT],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct socket_wait),
    .max_rows = socket_wait_max_rows,
    .open = socket_wait_open,
    .sample = socket_wait_sample,
};
