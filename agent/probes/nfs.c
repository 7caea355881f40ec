/* SPDX-License-Identifier: MIT */
/*
 * Operations of NFS mounts, from /proc/self/mountstats. The kernel lists every mount of the
 * namespace there. For each operation of an NFS mount it counts the calls, how often they were
 * sent, and how long they waited: for a slot (queue), for the server and the network (rtt), in all
 * (execute). Reading the file asks no server.
 *
 * Mounts of one export share their counters, so an instance is export and operation, not the mount
 * point. While there is no NFS mount, the file is read only every ten seconds.
 */
#include <stdio.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/base/name_set.h"
#include "agent/base/source.h"
#include "agent/probes/probes.h"
#include "common/error.h"
#include "tables/keys.h"

/* The numbers of an operation: calls, transmissions, timeouts, bytes sent and received, and the
 * three times in ms; errors since statvers 1.1. */
enum { CALLS, TRANSMISSIONS, N_NUMBERS_1_0 = 8, N_NUMBERS = 9 };

#define ROWS_MAX 1024
#define DEVICE_MAX 63
#define OPERATION_MAX 31
#define IDLE_EVERY_NS (10 * NS_PER_S)

struct nfs {
    struct source mounts;
    struct name_set names;
    int64_t idle_since_ns; /* when it was last read without an NFS mount; 0: there is one */
};

/* "device server:/export mounted on /mnt with fstype nfs4 statvers=1.1"; blanks in names are
 * written as \040. Returns whether the line begins a mount; its device is empty if it is not
 * NFS. */
static bool parse_mount(struct span line, struct span *ret_device) {
    const char *p = line.data, *end = line.data + line.size;
    struct span word, device;
    if (!text_word(&p, end, &word) || !span_equal(word, "device"))
        return false;
    *ret_device = (struct span){line.data, 0};
    if (!text_word(&p, end, &device))
        return true;
    while (text_word(&p, end, &word))
        if (span_equal(word, "fstype"))
            break;
    if (text_word(&p, end, &word) && (span_equal(word, "nfs") || span_equal(word, "nfs4")))
        *ret_device = device;
    return true;
}

static bool is_operation(struct span name) {
    for (size_t i = 0; i < name.size; i++)
        if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789", name.data[i]) || !name.data[i])
            return false;
    return name.size > 0 && name.size <= OPERATION_MAX;
}

/* "        READ: 1 2 3 ...". Returns how many numbers there are; 0: the line is no operation. */
static size_t parse_operation(struct span line, struct span *ret_name,
                              uint64_t numbers[N_NUMBERS]) {
    const char *p = line.data, *end = line.data + line.size;
    const char *colon = memchr(p, ':', line.size);
    if (!colon || !text_word(&p, colon, ret_name) || !is_operation(*ret_name))
        return 0;
    p = colon + 1;
    size_t n = text_numbers(&p, end, numbers, N_NUMBERS);
    return n >= N_NUMBERS_1_0 ? n : 0;
}

static void fill_mount_row(const uint64_t *numbers, size_t n, int64_t *values) {
    uint64_t calls = numbers[CALLS], sent = numbers[TRANSMISSIONS];
    values[NFS_OPERATIONS] = counter_value(calls, 1);
    values[NFS_RETRANSMISSIONS] = counter_value(sent > calls ? sent - calls : 0, 1);
    values[NFS_TIMEOUTS] = counter_value(numbers[2], 1);
    values[NFS_SEND_BYTES] = counter_value(numbers[3], 1);
    values[NFS_RECEIVE_BYTES] = counter_value(numbers[4], 1);
    values[NFS_QUEUE] = counter_value(numbers[5], NS_PER_MS);
    values[NFS_RTT] = counter_value(numbers[6], NS_PER_MS);
    values[NFS_EXECUTE] = counter_value(numbers[7], NS_PER_MS);
    if (n == N_NUMBERS)
        values[NFS_ERRORS] = counter_value(numbers[8], 1);
}

/* An export that is mounted twice has the same counters twice. */
static void append_operation(struct nfs *nfs, struct span device, struct span operation,
                             const uint64_t *numbers, size_t n, struct rows *rows) {
    char name[INSTANCE_MAX + 1];
    device.size = device.size > DEVICE_MAX ? DEVICE_MAX : device.size;
    const struct table_key key = {.form = KEY_OPERATION, .export = device, .operation = operation};
    size_t size = key_write(&key, name);
    const struct name_set_entry *entry = name_set_see(&nfs->names, name, size, numbers[CALLS]);
    struct row *row = entry ? rows_append(rows, name, size) : NULL;
    rows->dropped += !entry && nfs->names.n == nfs->names.capacity;
    if (!row)
        return;
    row->flags = entry->born ? ROW_BORN : 0;
    fill_mount_row(numbers, n, row->values);
}

/* Returns whether there is an NFS mount. */
static bool read_mounts(struct nfs *nfs, struct rows *rows) {
    const char *p = nfs->mounts.data, *end = source_end(&nfs->mounts);
    struct span line, operation, device = {p, 0};
    uint64_t numbers[N_NUMBERS];
    bool any = false;
    while (text_line(&p, end, &line)) {
        if (parse_mount(line, &device)) {
            any |= device.size > 0;
            continue;
        }
        size_t n = device.size ? parse_operation(line, &operation, numbers) : 0;
        if (n && numbers[CALLS])
            append_operation(nfs, device, operation, numbers, n, rows);
    }
    return any;
}

static int nfs_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct nfs *nfs = state;
    if (nfs->idle_since_ns && env->mono_ns - nfs->idle_since_ns < IDLE_EVERY_NS)
        return 0;
    int r = source_read(&nfs->mounts);
    if (r < 0)
        return r;
    name_set_begin(&nfs->names);
    nfs->idle_since_ns = read_mounts(nfs, rows) ? 0 : env->mono_ns;
    rows->dropped += nfs->mounts.cut;
    return 0;
}

static int nfs_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct nfs *nfs = state;
    int r = source_open(&nfs->mounts, env->proc, "self/mountstats");
    if (r == -ENOENT) {
        snprintf(why, why_size, "no %s/self/mountstats", env->proc);
        return PROBE_ABSENT;
    }
    if (r == 0)
        r = name_set_init(&nfs->names, ROWS_MAX);
    if (r < 0)
        snprintf(why, why_size, "cannot read %s/self/mountstats: %s", env->proc, strerror(-r));
    return r;
}

static size_t nfs_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return ROWS_MAX;
}

static void nfs_close(void *state) {
    struct nfs *nfs = state;
    source_close(&nfs->mounts);
    name_set_release(&nfs->names);
}

const struct probe probe_nfs = {
    .table = &all_tables[TABLE_NFS],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct nfs),
    .max_rows = nfs_max_rows,
    .open = nfs_open,
    .sample = nfs_sample,
    .close = nfs_close,
};
