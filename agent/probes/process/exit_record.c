/* SPDX-License-Identifier: MIT */
/*
 * struct taskstats grows at its end: fields that an older kernel lacks are missing. The process of
 * a thread came with version 12 (Linux 5.16).
 */
#include "agent/probes/process/exit_record.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/acct.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/source.h"

#define ROOM ((size_t)8 << 20) /* for waiting records: about 5,000 */
#define CPUS_MAX 96

/* ---- records ---- */

static uint64_t u64_at(struct bytes stats, size_t offset) {
    uint64_t value = 0;
    if (stats.size >= offset + sizeof value)
        memcpy(&value, (const char *)stats.data + offset, sizeof value);
    return value;
}

static uint32_t u32_at(struct bytes stats, size_t offset) {
    uint32_t value = 0;
    memcpy(&value, (const char *)stats.data + offset, sizeof value);
    return value;
}

#define U64(field) u64_at(stats, offsetof(struct taskstats, field))
#define U32(field) u32_at(stats, offsetof(struct taskstats, field))

static void read_stats(struct bytes stats, struct exit_record *record) {
    const char *comm = (const char *)stats.data + offsetof(struct taskstats, ac_comm);
    record->comm_size = (uint8_t)strnlen(comm, TS_COMM_LEN < COMM_MAX ? TS_COMM_LEN : COMM_MAX);
    memcpy(record->comm, comm, record->comm_size);
    record->tid = (int32_t)U32(ac_pid);
    record->pid = (int32_t)U32(ac_tgid);
    record->parent = (int32_t)U32(ac_ppid);
    record->is_last = ((const uint8_t *)stats.data)[offsetof(struct taskstats, ac_flag)] & AGROUP;
    record->times = (struct thread_times){
        .run_ns = U64(cpu_run_virtual_total),
        .wait_ns = U64(cpu_delay_total),
        .voluntary = U64(nvcsw),
        .involuntary = U64(nivcsw),
        .read_bytes = U64(read_bytes),
        .write_bytes = U64(write_bytes),
        .has_times = true,
        .has_switches = true,
        .has_io = true,
    };
    record->user_us = U64(ac_utime);
    record->system_us = U64(ac_stime);
    record->minor_faults = U64(ac_minflt);
    record->major_faults = U64(ac_majflt);
    record->block_io_ns = U64(blkio_delay_total);
    record->peak_rss_bytes = U64(hiwater_rss) << 10;
}

bool exit_record_read(struct bytes payload, struct exit_record *ret_record) {
    struct exit_record record = {.comm = ""};
    struct bytes one, stats;
    if (!netlink_find(netlink_after(payload, GENL_HDRLEN), TASKSTATS_TYPE_AGGR_PID, &one) ||
        !netlink_find(one, TASKSTATS_TYPE_STATS, &stats) ||
        stats.size < offsetof(struct taskstats, ac_tgid) + sizeof(uint32_t))
        return false;
    read_stats(stats, &record);
    if (record.tid <= 0 || record.pid <= 0 || record.parent < 0)
        return false;
    *ret_record = record;
    return true;
}

/* ---- listening ---- */

struct request {
    struct genlmsghdr head;
    struct nlattr attribute;
    char text[CPUS_MAX];
};

static int request(struct exit_records *records, unsigned type, uint8_t command, uint16_t attribute,
                   const char *text, netlink_take *take, void *ctx) {
    struct request request = {.head = {.cmd = command, .version = TASKSTATS_GENL_VERSION},
                              .attribute = {.nla_type = attribute}};
    size_t size = strlen(text) + 1;
    if (size > sizeof request.text)
        return -ENAMETOOLONG;
    memcpy(request.text, text, size);
    request.attribute.nla_len = (uint16_t)(NLA_HDRLEN + size);
    return netlink_ask(&records->netlink, type, &request, offsetof(struct request, text) + size,
                       take, ctx);
}

static void take_family(void *ctx, unsigned type, struct bytes payload) {
    struct exit_records *records = ctx;
    struct bytes value;
    uint16_t family;
    if (type != GENL_ID_CTRL ||
        !netlink_find(netlink_after(payload, GENL_HDRLEN), CTRL_ATTR_FAMILY_ID, &value) ||
        value.size < sizeof family)
        return;
    memcpy(&family, value.data, sizeof family);
    records->family = family;
}

static int read_cpus(const char *sys, char cpus[CPUS_MAX]) {
    char path[4096];
    snprintf(path, sizeof path, "%s/devices/system/cpu/possible", sys);
    int n = file_read_small(AT_FDCWD, path, cpus, CPUS_MAX);
    return n < 0 ? n : 0;
}

static int listen_to(struct exit_records *records, const char *sys) {
    char cpus[CPUS_MAX];
    int r = read_cpus(sys, cpus);
    if (r == 0)
        r = netlink_open_group(&records->netlink, NETLINK_GENERIC, 0, ROOM);
    if (r == 0)
        r = request(records, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
                    TASKSTATS_GENL_NAME, take_family, records);
    if (r == 0 && !records->family)
        r = -ENOENT;
    return r < 0 ? r
                 : request(records, records->family, TASKSTATS_CMD_GET,
                           TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus, take_family, records);
}

/* ---- what came ---- */

struct reader {
    const struct exit_records *records;
    exit_record_take *take;
    void *ctx;
};

static void take_message(void *ctx, unsigned type, struct bytes payload) {
    struct reader *reader = ctx;
    struct exit_record record;
    if (type == reader->records->family && exit_record_read(payload, &record))
        reader->take(reader->ctx, &record);
}

int exit_records_drain(struct exit_records *records, exit_record_take *take, void *ctx) {
    struct reader reader = {records, take, ctx};
    return netlink_drain(&records->netlink, take_message, &reader);
}

/* A listener in another namespace is registered without an error and then receives nothing. So a
 * thread of the probe's own ends here; its record is sent before it can be joined. */
static void *end_at_once(void *nothing) {
    return nothing;
}

static void note_own(void *ctx, const struct exit_record *record) {
    *(bool *)ctx |= record->pid == getpid();
}

static int hear_own(struct exit_records *records) {
    pthread_t thread;
    bool heard = false;
    int r = -pthread_create(&thread, NULL, end_at_once, NULL);
    if (r < 0)
        return r;
    pthread_join(thread, NULL);
    r = exit_records_drain(records, note_own, &heard);
    return heard ? 0 : r < 0 ? r : -ENOMSG;
}

static const char *reason_of(int error) {
    switch (-error) {
    case EPERM:
        return "it needs CAP_NET_ADMIN";
    case EINVAL:
        return "not the first PID namespace";
    case ENOMSG:
        return "not the first network namespace";
    case ENOENT:
        return "the kernel has no taskstats";
    default:
        return strerror(-error);
    }
}

int exit_records_open(struct exit_records *ret_records, const char *sys, char *why,
                      size_t why_size) {
    struct exit_records records = {.family = 0};
    int r = listen_to(&records, sys);
    if (r == 0)
        r = hear_own(&records);
    if (r < 0) {
        /* A note has 95 bytes, the probe's name included. */
        snprintf(why, why_size, "short-lived processes count with their parents (%s)",
                 reason_of(r));
        exit_records_close(&records);
    } else {
        *ret_records = records;
    }
    return r;
}

void exit_records_close(struct exit_records *records) {
    netlink_close(&records->netlink);
    records->family = 0;
}
