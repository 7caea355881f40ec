/* SPDX-License-Identifier: MIT */
/*
 * Traffic by pair of hosts on each interface, in any protocol: packets captured and added up.
 * Each packet costs CPU time, here and in the kernel, so the probe is off unless the user asks for
 * it (--flows); the connection probe has the bytes of TCP without that cost.
 *
 * There is no thread: the kernel's ring must hold the packets between two samples. It keeps about
 * 200 bytes a packet (60 of addresses, the rest its own), so 8 MB are 40,000 packets, which is
 * 400,000 a second at 10 Hz: 0.6 GB/s of whole frames of 1500 bytes, and far more with the large
 * segments (GSO, GRO) that hosts hand over. Packets that do not fit are counted.
 *
 * An idle flow has one row a second, and none after a minute; its next packet begins a new flow at
 * zero.
 */
#include "agent/probes/flow.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/base/interface.h"
#include "agent/probes/probes.h"
#include "common/error.h"

#define HEAD_BYTES 64 /* captured of each packet: enough for IPv6 addresses behind a VLAN tag */
#define RING_BYTES ((size_t)8 << 20)
#define RESTS_NS (2 * NS_PER_S)
#define ROW_EVERY_NS (NS_PER_S - 50 * NS_PER_MS)
#define FORGET_NS (60 * NS_PER_S)
#define OTHER "other"
#define NOT_CAPTURED "not captured"

struct flow_probe {
    struct capture *capture; /* owned; NULL while closed */
    int socket_fd;           /* for names of interfaces */
    uint64_t sample;
    bool other_sent;
    struct flows all;
};

struct pass {
    struct flow_probe *probe;
    int64_t now_ns;
};

/* ---- packets ---- */

/* An interface that was made anew under the same name keeps its flows. */
static void forget_namesake(struct flows *all, const char *name, size_t size) {
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].name_size == size && memcmp(all->items[i].name, name, size) == 0) {
            all->items[i].active_ns = 0;
            flows_keep(all, 1);
            return;
        }
}

static struct flow *begin_flow(struct flow_probe *probe, const struct flow_key *key) {
    char interface[INTERFACE_NAME_SIZE], name[INSTANCE_MAX + 1];
    if (!interface_name(probe->socket_fd, key->interface, interface))
        return NULL;
    size_t size = flow_name(key, interface, name);
    forget_namesake(&probe->all, name, size);
    struct flow *flow = flows_add(&probe->all, key);
    if (!flow)
        return NULL;
    memcpy(flow->name, name, size + 1);
    flow->name_size = (uint8_t)size;
    flow->born = probe->sample > 1;
    return flow;
}

static void take_packet(void *ctx, const struct captured *packet) {
    struct pass *pass = ctx;
    struct flow_probe *probe = pass->probe;
    struct flow_key key;
    flow_key_of(packet, &key);
    struct flow *flow = flows_find(&probe->all, &key);
    if (!flow && probe->all.n < FLOWS_MAX)
        flow = begin_flow(probe, &key);
    flow_count(flow ? &flow->counts : &probe->all.other, packet);
    if (flow)
        flow->active_ns = pass->now_ns;
}

/* ---- rows ---- */

static void fill_flow_row(const struct flow_counts *counts, int64_t *values) {
    values[FLOW_SEND_BYTES] = counter_value(counts->send_bytes, 1);
    values[FLOW_SEND_PACKETS] = counter_value(counts->send_packets, 1);
    values[FLOW_RECEIVE_BYTES] = counter_value(counts->receive_bytes, 1);
    values[FLOW_RECEIVE_PACKETS] = counter_value(counts->receive_packets, 1);
}

static void append_flow(struct flow *flow, int64_t now_ns, struct rows *rows) {
    bool rests = now_ns - flow->active_ns > RESTS_NS;
    if (rests && now_ns - flow->sent_ns < ROW_EVERY_NS)
        return;
    struct row *row = rows_append(rows, flow->name, flow->name_size);
    if (!row)
        return;
    row->flags = flow->born && !flow->sent_ns ? ROW_BORN : 0;
    flow->sent_ns = now_ns;
    fill_flow_row(&flow->counts, row->values);
}

static void append_rest(struct flow_probe *probe, struct rows *rows) {
    const struct flow_counts *other = &probe->all.other;
    if (other->send_packets + other->receive_packets) {
        struct row *row = rows_append(rows, OTHER, strlen(OTHER));
        if (row) {
            row->flags = probe->other_sent ? 0 : ROW_BORN;
            probe->other_sent = true;
            fill_flow_row(other, row->values);
        }
    }
    struct row *row = rows_append(rows, NOT_CAPTURED, strlen(NOT_CAPTURED));
    if (row)
        row->values[FLOW_DROPS] = counter_value(capture_dropped(probe->capture), 1);
}

static int flow_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct flow_probe *probe = state;
    struct pass pass = {probe, env->mono_ns};
    probe->sample++;
    if (env->mono_ns > FORGET_NS)
        flows_keep(&probe->all, env->mono_ns - FORGET_NS);
    int r = capture_drain(probe->capture, take_packet, &pass);
    if (r < 0)
        return r;
    for (size_t i = 0; i < probe->all.n; i++)
        append_flow(&probe->all.items[i], env->mono_ns, rows);
    append_rest(probe, rows);
    return 0;
}

/* ---- life ---- */

static int flow_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct flow_probe *probe = state;
    if (!env->flows)
        return PROBE_ABSENT; /* the user did not ask for it: no reason to give */
    int r = capture_open(HEAD_BYTES, RING_BYTES, &probe->capture, why, why_size);
    if (r != 0)
        return r == CAPTURE_ABSENT ? PROBE_ABSENT : r;
    probe->socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe->socket_fd >= 0)
        return 0;
    r = negative_errno();
    snprintf(why, why_size, "cannot name interfaces: %s", strerror(-r));
    return r;
}

static size_t flow_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return FLOWS_MAX + 2;
}

static void flow_close(void *state) {
    struct flow_probe *probe = state;
    if (probe->capture && probe->socket_fd >= 0)
        close(probe->socket_fd);
    capture_close(probe->capture);
    probe->capture = NULL;
}

const struct probe probe_flow = {
    .table = &all_tables[TABLE_FLOW],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct flow_probe),
    .max_rows = flow_max_rows,
    .open = flow_open,
    .sample = flow_sample,
    .close = flow_close,
};
