/* SPDX-License-Identifier: MIT */
/*
 * Ports of InfiniBand, RoCE and Omni-Path, from /sys/class/infiniband. Adapters count what passes
 * them, transfers without sockets (RDMA) included, and say at which rate the port runs. The files
 * are opened for each sample and none stays open. A driver may have to ask its adapter for each
 * file, so they are read at the slow pace, and ports are looked for anew every ten seconds.
 *
 * Old adapters count bytes in 32 bits, which by the standard stop at their end and do not begin
 * anew: that number is absent, not a rate of zero. A lower number than before is a reset.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/base/dirents.h"
#include "agent/base/source.h"
#include "agent/probes/probes.h"
#include "common/error.h"

#define PORTS_MAX 32
#define PATH_SIZE 512
#define AGAIN_NS (10 * NS_PER_S)
#define INFINIBAND "class/infiniband"
#define WORD_BYTES 4

enum { LINK_INFINIBAND = 1, LINK_ETHERNET, LINK_OMNI_PATH };

static const struct {
    const char *file, *wide; /* wide: the same in 64 bits, in kernels that have both */
    int column;
    int64_t scale;
} counters[] = {
    {"counters/port_rcv_data", "counters_ext/port_rcv_data_64", FABRIC_RECEIVE_BYTES, WORD_BYTES},
    {"counters/port_xmit_data", "counters_ext/port_xmit_data_64", FABRIC_SEND_BYTES, WORD_BYTES},
    {"counters/port_rcv_packets", "counters_ext/port_rcv_packets_64", FABRIC_RECEIVE_PACKETS, 1},
    {"counters/port_xmit_packets", "counters_ext/port_xmit_packets_64", FABRIC_SEND_PACKETS, 1},
    {"counters/port_xmit_wait", NULL, FABRIC_SEND_WAITS, 1},
    {"counters/port_xmit_discards", NULL, FABRIC_DISCARDS, 1},
    {"counters/port_rcv_errors", NULL, FABRIC_ERRORS, 1},
    {"counters/symbol_error", NULL, FABRIC_SYMBOL_ERRORS, 1},
    {"counters/link_downed", NULL, FABRIC_LINK_DOWNS, 1},
    {"hw_counters/out_of_sequence", NULL, FABRIC_LATE, 1},
    {"hw_counters/rp_cnp_handled", NULL, FABRIC_CONGESTED, 1},
    {"hw_counters/np_cnp_sent", NULL, FABRIC_NOTICES, 1},
    {"hw_counters/np_ecn_marked_roce_packets", NULL, FABRIC_MARKED, 1},
    {"hw_counters/packet_seq_err", NULL, FABRIC_SEQUENCE_ERRORS, 1},
    {"hw_counters/rnr_nak_retry_err", NULL, FABRIC_NOT_READY, 1},
    {"hw_counters/local_ack_timeout_err", NULL, FABRIC_TIMEOUTS, 1},
    {"hw_counters/out_of_buffer", NULL, FABRIC_NO_BUFFER, 1},
};

struct fabric_port {
    char name[INSTANCE_MAX + 1]; /* "mlx5_0/1" */
    char path[PATH_SIZE];
    unsigned has, wide; /* bits by counter: it has the file, and that in 64 bits */
    int link;
};

struct fabric {
    struct fabric_port ports[PORTS_MAX];
    size_t n, missed; /* missed: ports for which there is no room */
    int64_t looked_ns;
};

static int read_word(const char *path, const char *file, char *text, size_t size) {
    char name[PATH_MAX];
    int n = snprintf(name, sizeof name, "%s/%s", path, file);
    return n < 0 || (size_t)n >= sizeof name ? -ENAMETOOLONG
                                             : file_read_small(AT_FDCWD, name, text, size);
}

/* Omni-Path calls its ports those of InfiniBand; its driver tells. */
static int link_of_port(const char *device, const char *port) {
    char path[PATH_MAX], text[32], to[PATH_MAX];
    snprintf(path, sizeof path, "%s/device/driver", device);
    ssize_t n = readlink(path, to, sizeof to - 1);
    to[n > 0 ? n : 0] = '\0';
    const char *driver = strrchr(to, '/');
    if (driver && strcmp(driver, "/hfi1") == 0)
        return LINK_OMNI_PATH;
    return read_word(port, "link_layer", text, sizeof text) > 0 && strcmp(text, "Ethernet") == 0
               ? LINK_ETHERNET
               : LINK_INFINIBAND;
}

static bool port_has(const struct fabric_port *port, const char *file) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", port->path, file);
    return access(path, R_OK) == 0;
}

static void add_port(struct fabric *fabric, const char *device, const char *device_name,
                     const char *number) {
    char path[PATH_MAX], name[2 * NAME_MAX];
    int size = snprintf(path, sizeof path, "%s/ports/%s", device, number);
    if (size >= PATH_SIZE || fabric->n == PORTS_MAX) {
        fabric->missed++;
        return;
    }
    struct fabric_port *port = &fabric->ports[fabric->n++];
    *port = (struct fabric_port){.link = link_of_port(device, path)};
    memcpy(port->path, path, (size_t)size + 1);
    size = snprintf(name, sizeof name, "%s/%s", device_name, number);
    text_sanitize(port->name, sizeof port->name, name, (size_t)size);
    for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
        bool wide = counters[i].wide && port_has(port, counters[i].wide);
        port->wide |= (unsigned)wide << i;
        port->has |= (unsigned)(wide || port_has(port, counters[i].file)) << i;
    }
}

static void add_ports(struct fabric *fabric, const struct probe_env *env, const char *name) {
    struct listing ports;
    char device[PATH_MAX - NAME_MAX - 32], path[PATH_MAX];
    snprintf(device, sizeof device, "%s/" INFINIBAND "/%s", env->sys, name);
    snprintf(path, sizeof path, "%s/ports", device);
    if (listing_open(&ports, path) < 0)
        return;
    for (const struct dirents_entry *entry; (entry = dirents_next(&ports.list));)
        if (entry->name[0] != '.')
            add_port(fabric, device, name, entry->name);
    listing_close(&ports);
}

static int compare_ports(const void *a, const void *b) {
    return strcmp(((const struct fabric_port *)a)->name, ((const struct fabric_port *)b)->name);
}

static void look_for_ports(struct fabric *fabric, const struct probe_env *env) {
    struct listing devices;
    char path[PATH_MAX];
    fabric->n = fabric->missed = 0;
    fabric->looked_ns = env->mono_ns;
    snprintf(path, sizeof path, "%s/" INFINIBAND, env->sys);
    if (listing_open(&devices, path) < 0)
        return;
    for (const struct dirents_entry *entry; (entry = dirents_next(&devices.list));)
        if (entry->name[0] != '.')
            add_ports(fabric, env, entry->name);
    listing_close(&devices);
    qsort(fabric->ports, fabric->n, sizeof *fabric->ports, compare_ports);
}

static int fabric_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct fabric *fabric = state;
    look_for_ports(fabric, env);
    (void)why; /* few machines have such ports */
    (void)why_size;
    return fabric->n ? 0 : PROBE_ABSENT;
}

/* "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)". Lanes up to QDR send ten bits for eight, those of
 * FDR 66 for 64; rates of later ones, and of Ethernet, are named without that. */
static int64_t parse_rate(const char *text, int link) {
    static const struct {
        const char *lanes;
        uint64_t times, of;
    } codes[] = {{"X SDR)", 8, 10}, {"X DDR)", 8, 10}, {"X QDR)", 8, 10}, {"X FDR)", 64, 66}};
    const char *p = text, *end = text + strlen(text);
    uint64_t gbit, tenths = 0;
    if (!text_u64(&p, end, &gbit) || gbit == 0 || gbit > 1000000)
        return VALUE_ABSENT;
    if (*p == '.' && p[1] >= '0' && p[1] <= '9')
        tenths = (uint64_t)(p[1] - '0');
    if (!strstr(p, " Gb/sec"))
        return VALUE_ABSENT;
    uint64_t bytes_per_s = (10 * gbit + tenths) * (NS_PER_S / 80);
    for (size_t i = 0; link != LINK_ETHERNET && i < ARRAY_SIZE(codes); i++)
        if (strstr(p, codes[i].lanes))
            bytes_per_s = bytes_per_s * codes[i].times / codes[i].of;
    return (int64_t)bytes_per_s;
}

/* Some drivers write "N/A (no PMA)" in place of a number that they lack. */
static int64_t read_counter(const struct fabric_port *port, size_t i) {
    char text[32];
    uint64_t number;
    bool wide = port->wide >> i & 1;
    int n = read_word(port->path, wide ? counters[i].wide : counters[i].file, text, sizeof text);
    const char *p = text;
    if (n <= 0 || !text_u64(&p, text + n, &number) || (!wide && number == UINT32_MAX))
        return VALUE_ABSENT;
    return counter_value(number, counters[i].scale);
}

/* "4: ACTIVE" */
static int64_t read_state(const struct fabric_port *port) {
    char text[32];
    uint64_t number;
    int n = read_word(port->path, "state", text, sizeof text);
    const char *p = text;
    return n > 0 && text_u64(&p, text + n, &number) && number <= 5 ? (int64_t)number : VALUE_ABSENT;
}

static void fill_port(const struct fabric_port *port, int64_t *values) {
    char text[64];
    values[FABRIC_LINK] = port->link;
    values[FABRIC_STATE] = read_state(port);
    if (read_word(port->path, "rate", text, sizeof text) > 0)
        values[FABRIC_SPEED] = parse_rate(text, port->link);
    for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
        if (port->has >> i & 1)
            values[counters[i].column] = read_counter(port, i);
}

static int fabric_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct fabric *fabric = state;
    if (env->mono_ns - fabric->looked_ns >= AGAIN_NS)
        look_for_ports(fabric, env);
    for (size_t i = 0; i < fabric->n; i++) {
        const struct fabric_port *port = &fabric->ports[i];
        size_t size = strlen(port->name);
        struct row *row =
            rows_have(rows, rows->n, port->name, size) ? NULL : rows_append(rows, port->name, size);
        if (row)
            fill_port(port, row->values);
    }
    rows->dropped += fabric->missed;
    return 0;
}

static size_t fabric_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return PORTS_MAX;
}

const struct probe probe_fabric = {
    .table = &all_tables[TABLE_FABRIC],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct fabric),
    .max_rows = fabric_max_rows,
    .open = fabric_open,
    .sample = fabric_sample,
};
