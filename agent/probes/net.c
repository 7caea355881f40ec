/* SPDX-License-Identifier: MIT */
/*
 * Bytes and packets of every interface, from /proc/net/dev of the agent's network namespace.
 * Fixtures can replace that file, and one read has all interfaces. rtnetlink has the same counters,
 * but a test cannot replace it and it costs no less; libproc2 has no interfaces.
 *
 * The speed of an interface has its own file in sysfs, and the driver may have to ask the device
 * for it. So speed and network are read when the interface is first seen, and then once a minute.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/base/name_set.h"
#include "agent/base/source.h"
#include "agent/probes/net_network.h"
#include "agent/probes/probes.h"
#include "common/error.h"

/* The places of columns in a line: bytes packets errs drop fifo frame compressed multicast, then
 * bytes packets errs drop. They are fixed, since the header names some columns twice. */
static const struct {
    uint8_t column, position;
} counters[] = {
    {NET_RECEIVE_BYTES, 0}, {NET_RECEIVE_PACKETS, 1}, {NET_RECEIVE_ERRORS, 2},
    {NET_RECEIVE_DROPS, 3}, {NET_SEND_BYTES, 8},      {NET_SEND_PACKETS, 9},
    {NET_SEND_ERRORS, 10},  {NET_SEND_DROPS, 11},
};
#define NUMBERS_NEEDED 12

#define INTERFACES_MIN 64
#define INTERFACES_MAX 4096
#define LINK_EVERY_NS (60 * NS_PER_S)
#define BYTES_PER_MBIT 125000

struct link {
    int64_t bytes_per_s, network; /* VALUE_ABSENT: not known */
    int64_t read_ns;              /* time of the last reading, CLOCK_MONOTONIC */
};

struct net {
    struct source dev, routes; /* routes: closed if the kernel has no such file */
    bool has_routes;           /* in this sample */
    struct name_set names;
    struct link *links; /* owned; by entry of `names` */
};

/* " eth0: 1 2 3 ..."; old kernels put no blank after the colon. The two lines of the header have no
 * colon. */
static bool parse_interface(struct span line, struct span *ret_name,
                            uint64_t numbers[NUMBERS_NEEDED]) {
    const char *p = line.data, *end = line.data + line.size;
    const char *colon = memchr(p, ':', line.size);
    if (!colon || !text_word(&p, colon, ret_name))
        return false;
    p = colon + 1;
    return text_numbers(&p, end, numbers, NUMBERS_NEEDED) == NUMBERS_NEEDED;
}

/* Reads /sys/class/net/NAME/speed, in megabits a second. It is -1 or cannot be read if the link is
 * down or has no speed. No interface has a slash in its name. */
static int64_t read_speed(const struct probe_env *env, const char *name) {
    char path[PATH_MAX], text[32];
    const char *p = text;
    int64_t mbit;
    int n = snprintf(path, sizeof path, "%s/class/net/%s/speed", env->sys, name);
    if (strchr(name, '/') || n < 0 || n >= (int)sizeof path)
        return VALUE_ABSENT;
    int size = file_read_small(AT_FDCWD, path, text, sizeof text);
    if (size < 0 || !text_i64(&p, text + size, &mbit) || mbit <= 0 || mbit >= INT32_MAX)
        return VALUE_ABSENT;
    return mbit * BYTES_PER_MBIT;
}

static int64_t network_of(struct net *net, const struct probe_env *env, const char *name) {
    if (!source_is_open(&net->routes))
        return VALUE_ABSENT;
    if (!net->has_routes && source_read(&net->routes) < 0)
        return VALUE_ABSENT;
    net->has_routes = true;
    return net_network_of(env, net->routes.data, source_end(&net->routes), name);
}

static const struct link *link_of(struct net *net, const struct probe_env *env,
                                  const struct name_set_entry *entry) {
    struct link *link = &net->links[entry - net->names.entries];
    if (!link->read_ns || entry->born || env->mono_ns - link->read_ns >= LINK_EVERY_NS)
        *link = (struct link){read_speed(env, entry->name), network_of(net, env, entry->name),
                              env->mono_ns};
    return link;
}

static void append_interface(struct net *net, const struct probe_env *env, struct span name,
                             const uint64_t *numbers, struct rows *rows) {
    const struct name_set_entry *entry =
        name_set_see(&net->names, name.data, name.size, numbers[0] + numbers[8]);
    struct row *row = entry ? rows_append(rows, name.data, name.size) : NULL;
    rows->dropped += !entry;
    if (!row)
        return;
    row->flags = entry->born ? ROW_BORN : 0;
    for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
        row->values[counters[i].column] = counter_value(numbers[counters[i].position], 1);
    const struct link *link = link_of(net, env, entry);
    row->values[NET_SPEED] = link->bytes_per_s;
    row->values[NET_NETWORK] = link->network;
}

static int net_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct net *net = state;
    int r = source_read(&net->dev);
    if (r < 0)
        return r;
    const char *p = net->dev.data, *end = source_end(&net->dev);
    uint64_t numbers[NUMBERS_NEEDED];
    struct span line, name;
    net->has_routes = false;
    name_set_begin(&net->names);
    while (text_line(&p, end, &line))
        if (parse_interface(line, &name, numbers))
            append_interface(net, env, name, numbers, rows);
    rows->dropped += net->dev.cut;
    return 0;
}

static size_t net_max_rows(const void *state, const struct probe_env *env) {
    const struct net *net = state;
    (void)env;
    return net->names.capacity;
}

/* Room for four times as many interfaces as now. */
static size_t count_room(const struct source *dev) {
    const char *p = dev->data;
    struct span line;
    size_t n = 0;
    while (text_line(&p, source_end(dev), &line))
        n += 4;
    return n < INTERFACES_MIN ? INTERFACES_MIN : n > INTERFACES_MAX ? INTERFACES_MAX : n;
}

static int net_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct net *net = state;
    int r = source_open(&net->dev, env->proc, "net/dev");
    if (r == 0)
        r = name_set_init(&net->names, count_room(&net->dev));
    if (r == 0 && !(net->links = calloc(net->names.capacity, sizeof *net->links)))
        r = -ENOMEM;
    if (r == 0 && source_open(&net->routes, env->proc, "net/route") < 0)
        net->routes = (struct source){0};
    if (r < 0)
        snprintf(why, why_size, "cannot read %s/net/dev: %s", env->proc, strerror(-r));
    return r;
}

static void net_close(void *state) {
    struct net *net = state;
    source_close(&net->dev);
    source_close(&net->routes);
    name_set_release(&net->names);
    free(net->links);
}

const struct probe probe_net = {
    .table = &all_tables[TABLE_NET],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct net),
    .max_rows = net_max_rows,
    .open = net_open,
    .sample = net_sample,
    .close = net_close,
};
