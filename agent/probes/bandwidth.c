/* SPDX-License-Identifier: MIT */
/*
 * Bandwidth of memory, from the monitors of resctrl (Intel RDT, AMD QoS, MPAM of Arm): bytes that
 * each last cache moved to and from memory. A group of resctrl counts for its own tasks, so each
 * group has rows of its own. Groups are looked for anew every ten seconds. Nothing is mounted here.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/base/dirents.h"
#include "agent/base/source.h"
#include "agent/probes/probes.h"
#include "common/error.h"

#define MONITORS_MAX 256
#define AGAIN_NS (10 * NS_PER_S)
#define RESCTRL "fs/resctrl"

enum { MONITOR_TOTAL, MONITOR_LOCAL, MONITOR_FILES };

static const struct {
    const char *file;
    int column;
} monitor_files[MONITOR_FILES] = {{"mbm_total_bytes", BANDWIDTH_TOTAL},
                                  {"mbm_local_bytes", BANDWIDTH_LOCAL}};

struct monitor {
    char name[INSTANCE_MAX + 1]; /* "L3_00", "L3_00 group" */
    int fds[MONITOR_FILES];      /* -1: the machine does not count it */
};

struct bandwidth {
    struct monitor monitors[MONITORS_MAX];
    size_t n;
    int64_t looked_ns;
};

static void monitor_close(struct monitor *monitor) {
    for (size_t i = 0; i < MONITOR_FILES; i++)
        if (monitor->fds[i] >= 0)
            close(monitor->fds[i]);
}

static void close_all(struct bandwidth *bandwidth) {
    for (size_t i = 0; i < bandwidth->n; i++)
        monitor_close(&bandwidth->monitors[i]);
    bandwidth->n = 0;
}

/* data: path of mon_data. group: "" for the root's. */
static void add_monitor(struct bandwidth *bandwidth, const char *data, const char *domain,
                        const char *group) {
    static const char prefix[] = "mon_";
    char path[PATH_MAX], name[2 * NAME_MAX];
    struct monitor *monitor = &bandwidth->monitors[bandwidth->n];
    bool any = false;
    if (bandwidth->n == MONITORS_MAX || strncmp(domain, prefix, strlen(prefix)) != 0)
        return;
    for (size_t i = 0; i < MONITOR_FILES; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", data, domain, monitor_files[i].file);
        monitor->fds[i] = open(path, O_RDONLY | O_CLOEXEC);
        any |= monitor->fds[i] >= 0;
    }
    if (!any)
        return;
    int size =
        snprintf(name, sizeof name, "%s%s%s", domain + strlen(prefix), *group ? " " : "", group);
    text_sanitize(monitor->name, sizeof monitor->name, name, (size_t)size);
    bandwidth->n++;
}

static void add_counting_group(struct bandwidth *bandwidth, const char *directory,
                               const char *group) {
    struct listing domains;
    char data[PATH_MAX - 300];
    snprintf(data, sizeof data, "%s%s%s/mon_data", directory, *group ? "/" : "", group);
    if (listing_open(&domains, data) < 0)
        return;
    for (const struct dirents_entry *entry; (entry = dirents_next(&domains.list));)
        if (entry->name[0] != '.')
            add_monitor(bandwidth, data, entry->name, group);
    listing_close(&domains);
}

/* Directories of the root that are no groups. */
static bool is_group(const char *name) {
    return name[0] != '.' && strcmp(name, "info") != 0 && strcmp(name, "mon_data") != 0 &&
           strcmp(name, "mon_groups") != 0;
}

/* Counts of a group include those of monitoring groups in it, so those are not looked at. */
static void look(struct bandwidth *bandwidth, const struct probe_env *env) {
    struct listing groups;
    char directory[PATH_MAX - 600];
    close_all(bandwidth);
    bandwidth->looked_ns = env->mono_ns;
    snprintf(directory, sizeof directory, "%s/" RESCTRL, env->sys);
    add_counting_group(bandwidth, directory, "");
    if (listing_open(&groups, directory) < 0)
        return;
    for (const struct dirents_entry *entry; (entry = dirents_next(&groups.list));)
        if (is_group(entry->name))
            add_counting_group(bandwidth, directory, entry->name);
    listing_close(&groups);
}

static int bandwidth_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct bandwidth *bandwidth = state;
    look(bandwidth, env);
    (void)why; /* few machines count it: doctor tells how */
    (void)why_size;
    return bandwidth->n ? 0 : PROBE_ABSENT;
}

/* The kernel writes "Unavailable" or "Error" in place of a number that it lacks. */
static int64_t read_bytes(int fd) {
    char text[32];
    uint64_t number;
    ssize_t n = fd < 0 ? 0 : file_read_open(fd, text, sizeof text);
    const char *p = text;
    return n > 0 && text_u64(&p, text + n, &number) ? counter_value(number, 1) : VALUE_ABSENT;
}

static int bandwidth_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct bandwidth *bandwidth = state;
    if (env->mono_ns - bandwidth->looked_ns >= AGAIN_NS)
        look(bandwidth, env);
    for (size_t i = 0; i < bandwidth->n; i++) {
        const struct monitor *monitor = &bandwidth->monitors[i];
        size_t size = strlen(monitor->name);
        struct row *row = rows_have(rows, rows->n, monitor->name, size)
                              ? NULL
                              : rows_append(rows, monitor->name, size);
        for (size_t f = 0; row && f < MONITOR_FILES; f++)
            row->values[monitor_files[f].column] = read_bytes(monitor->fds[f]);
    }
    return 0;
}

static size_t bandwidth_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return MONITORS_MAX;
}

static void bandwidth_close(void *state) {
    close_all(state);
}

const struct probe probe_bandwidth = {
    .table = &all_tables[TABLE_BANDWIDTH],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct bandwidth),
    .max_rows = bandwidth_max_rows,
    .open = bandwidth_open,
    .sample = bandwidth_sample,
    .close = bandwidth_close,
};
