/* SPDX-License-Identifier: MIT */
/*
 * A cgroup for each host in every hierarchy that matters: the v1 controllers below their mount
 * points, and the v2 tree (all of it on a pure v2 system; otherwise for pressure stall
 * information). They are at the top of each hierarchy, not below the caller's own group: an
 * emulated host must not share the limits of the terminal that made it.
 */
#include "cli/base/file.h"
#include "cli/testbed/cgroup_hierarchy.h"
#include "cli/testbed/testbed.h"
#include "common/error.h"
#include "common/text.h"

#include <dirent.h>
#include <fts.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PIDS_MAX 65536

/* The group of a host, or of the whole testbed when host is 0. */
static int group_path(const struct testbed *t, const struct hierarchy *h, unsigned host, char *to,
                      size_t capacity) {
    return host ? path_format(to, capacity, "%s/%s-testbed/vm%u", h->path, t->name, host)
                : path_format(to, capacity, "%s/%s-testbed", h->path, t->name);
}

/* --- making --- */

static int cgroup_trouble(struct testbed *t, const char *path, int error) {
    int condition =
        error == -EPERM || error == -EACCES || error == -EROFS ? TESTBED_UNABLE : TESTBED_FAILED;
    return testbed_trouble(t, condition, "cannot make the cgroup %s: %s", path, strerror(-error));
}

static int make_directory(struct testbed *t, const char *path) {
    return mkdir(path, 0755) == 0 || errno == EEXIST ? 0
                                                     : cgroup_trouble(t, path, negative_errno());
}

/* Tasks cannot enter a v1 cpuset before both of its lists are filled. */
static int fill_cpuset(struct testbed *t, const char *path, const char *cpus) {
    static const char *const files[] = {"cpuset.cpus", "cpuset.mems"};
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        char value[4096];
        int r = file_read(value, sizeof value, "%s/../%s", path, files[i]);
        if (r == 0)
            r = file_write(i == 0 && cpus[0] ? cpus : value, "%s/%s", path, files[i]);
        if (r < 0)
            return cgroup_trouble(t, path, r);
    }
    return 0;
}

/* One by one: a controller that is not available (used by v1, or by processes of a container) must
 * not prevent the others. */
static void enable_controllers(const char *path) {
    static const char *const words[] = {"+cpu", "+cpuset", "+memory", "+io", "+pids"};
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        (void)file_write(words[i], "%s/cgroup.subtree_control", path);
}

static int make_top(struct testbed *t, const struct hierarchy *h) {
    char path[PATH_MAX];
    int r = group_path(t, h, 0, path, sizeof path);
    r = r < 0 ? cgroup_trouble(t, h->path, r) : make_directory(t, path);
    if (r)
        return r;
    if (h->v2) {
        enable_controllers(h->path);
        enable_controllers(path);
        return 0;
    }
    return hierarchy_has(h, "cpuset") ? fill_cpuset(t, path, "") : 0;
}

static int limit_memory(struct testbed *t, const struct hierarchy *h, const char *path) {
    char bytes[32];
    snprintf(bytes, sizeof bytes, "%ju", (uintmax_t)t->memory_bytes);
    int r = file_write(bytes, "%s/%s", path, h->v2 ? "memory.max" : "memory.limit_in_bytes");
    return r < 0 ? cgroup_trouble(t, path, r) : 0;
}

/* A v1 blkio group counts its reads and writes on a disk only while that disk is throttled in some
 * group: a limit that is never reached enables the count. Without the right to set it, the host
 * shows no disk. */
static void count_disk_bytes(const char *path) {
    static const char *const files[] = {"blkio.throttle.read_bps_device",
                                        "blkio.throttle.write_bps_device"};
    DIR *disks = opendir("/sys/block");
    if (!disks)
        return;
    for (struct dirent *disk; (disk = readdir(disks));) {
        char device[32], size[32], limit[64];
        if (file_read(device, sizeof device, "/sys/block/%s/dev", disk->d_name) < 0 ||
            file_read(size, sizeof size, "/sys/block/%s/size", disk->d_name) < 0 ||
            strcmp(size, "0\n") == 0) /* a loop device without a file */
            continue;
        device[strcspn(device, "\n")] = '\0';
        snprintf(limit, sizeof limit, "%s 1000000000000", device);
        for (size_t i = 0; i < ARRAY_SIZE(files); i++)
            (void)file_write(limit, "%s/%s", path, files[i]);
    }
    closedir(disks);
}

static int make_host_group(struct testbed *t, const struct hierarchies *all,
                           const struct hierarchy *h, unsigned host) {
    char path[PATH_MAX];
    const char *cpus = t->cpus[host - 1];
    int r = group_path(t, h, host, path, sizeof path);
    r = r < 0 ? cgroup_trouble(t, h->path, r) : make_directory(t, path);
    if (r == 0 && h == hierarchies_find(all, "cpuset")) {
        if (!h->v2)
            r = fill_cpuset(t, path, cpus);
        else if (cpus[0])
            (void)file_write(cpus, "%s/cpuset.cpus", path); /* if refused, affinity is used */
    }
    if (r == 0 && t->memory_bytes && h == hierarchies_find(all, "memory"))
        r = limit_memory(t, h, path);
    if (r == 0 && !h->v2 && hierarchy_has(h, "blkio"))
        count_disk_bytes(path);
    return r;
}

int testbed_cgroup_make(struct testbed *t) {
    struct hierarchies all;
    hierarchies_read(&all);
    if (!all.n)
        return testbed_trouble(t, TESTBED_UNABLE, "no cgroup file system is mounted");
    if (t->memory_bytes && !hierarchies_find(&all, "memory"))
        return testbed_trouble(t, TESTBED_UNABLE, "--memory: no cgroup controller for memory");
    int r = 0;
    for (size_t i = 0; i < all.n && r == 0; i++) {
        r = make_top(t, &all.items[i]);
        for (unsigned host = 1; host <= t->n_hosts && r == 0; host++)
            r = make_host_group(t, &all, &all.items[i], host);
    }
    return r;
}

/* --- entering --- */

/* If no cpuset limits the host to its CPUs, affinity does: it is inherited, but a process may widen
 * it. */
static int bind_to_cpus(struct testbed *t, const struct hierarchies *all, unsigned host) {
    const char *cpus = t->cpus[host - 1], *p = cpus, *end = cpus + strlen(cpus);
    char in_force[sizeof t->cpus[0]];
    const struct hierarchy *h = hierarchies_find(all, "cpuset");
    cpu_set_t set;
    uint64_t first, last;
    if (!*cpus || (h &&
                   file_read(in_force, sizeof in_force, "%s/%s-testbed/vm%u/cpuset.cpus", h->path,
                             t->name, host) == 0 &&
                   in_force[0] > ' '))
        return 0;
    CPU_ZERO(&set);
    while (text_u64(&p, end, &first)) {
        last = first;
        if (p < end && *p == '-' && p++)
            text_u64(&p, end, &last);
        for (; first <= last && first < CPU_SETSIZE; first++)
            CPU_SET(first, &set);
        if (p < end && *p == ',')
            p++;
    }
    return sched_setaffinity(0, sizeof set, &set) == 0
               ? 0
               : testbed_trouble(t, TESTBED_FAILED, "cannot use the CPUs %s: %s", cpus,
                                 strerror(errno));
}

int testbed_cgroup_enter(struct testbed *t, unsigned host) {
    struct hierarchies all;
    hierarchies_read(&all);
    for (size_t i = 0; i < all.n; i++) {
        char path[PATH_MAX];
        int r = group_path(t, &all.items[i], host, path, sizeof path);
        if (r == 0)
            r = file_write("0", "%s/cgroup.procs", path);
        if (r < 0)
            return testbed_trouble(t, r == -EACCES ? TESTBED_UNABLE : TESTBED_FAILED,
                                   "cannot enter the cgroup %s: %s", path, strerror(-r));
    }
    return bind_to_cpus(t, &all, host);
}

bool testbed_cgroup_complete(const struct testbed *t, unsigned host) {
    struct hierarchies all;
    char path[PATH_MAX];
    hierarchies_read(&all);
    for (size_t i = 0; i < all.n; i++)
        if (group_path(t, &all.items[i], host, path, sizeof path) < 0 || !path_exists("%s", path))
            return false;
    return all.n > 0;
}

/* --- walking: programs may have made groups below the host's --- */

typedef int (*group_visitor)(const char *path, void *context);

static int walk_group(char *path, group_visitor visit, void *context) {
    FTS *walk = fts_open((char *[]){path, NULL}, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    int r = walk ? 0 : negative_errno();
    FTSENT *entry;
    while (r == 0 && (entry = fts_read(walk)))
        if (entry->fts_info == FTS_DP)
            r = visit(entry->fts_path, context);
    if (walk)
        fts_close(walk);
    return r;
}

/* Visits each group, children first. */
static int walk_groups(const struct testbed *t, unsigned host, group_visitor visit, void *context) {
    struct hierarchies all;
    int r = 0;
    hierarchies_read(&all);
    for (size_t i = 0; i < all.n && r == 0; i++) {
        char path[PATH_MAX];
        r = group_path(t, &all.items[i], host, path, sizeof path);
        if (r == 0 && path_exists("%s", path))
            r = walk_group(path, visit, context);
    }
    return r;
}

struct pid_list {
    pid_t *items;
    size_t n, capacity;
};

static int pid_list_add(struct pid_list *list, pid_t pid) {
    if (list->n == PIDS_MAX)
        return -E2BIG;
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        pid_t *items = reallocarray(list->items, capacity, sizeof *items);
        if (!items)
            return -ENOMEM;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->n++] = pid;
    return 0;
}

static int add_pids(const char *path, void *context) {
    char procs[PATH_MAX];
    long pid;
    int r = path_format(procs, sizeof procs, "%s/cgroup.procs", path);
    FILE *in = r == 0 ? fopen(procs, "re") : NULL;
    while (in && r == 0 && fscanf(in, "%ld", &pid) == 1)
        if (pid > 0 && pid <= INT_MAX)
            r = pid_list_add(context, (pid_t)pid);
    if (in)
        fclose(in);
    return r;
}

static int compare_pids(const void *a, const void *b) {
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

int testbed_cgroup_pids(const struct testbed *t, unsigned host, pid_t **ret_pids, size_t *ret_n) {
    struct pid_list list = {0};
    int r = walk_groups(t, host, add_pids, &list);
    if (r < 0) {
        free(list.items);
        return r;
    }
    size_t n = 0;
    if (list.n)
        qsort(list.items, list.n, sizeof *list.items, compare_pids);
    for (size_t i = 0; i < list.n; i++)
        if (n == 0 || list.items[i] != list.items[n - 1])
            list.items[n++] = list.items[i];
    *ret_pids = list.items;
    *ret_n = n;
    return 0;
}

static int thaw_group(const char *path, void *context) {
    (void)context;
    (void)file_write("THAWED", "%s/freezer.state", path);
    (void)file_write("0", "%s/cgroup.freeze", path);
    return 0;
}

void testbed_cgroup_thaw(const struct testbed *t) {
    (void)walk_groups(t, 0, thaw_group, NULL);
}

/* Kernels detach a process from its group a moment after its end is announced, and notify nobody.
 * So a group without processes that is still busy is tried again for up to two seconds. */
static int remove_group(const char *path, void *context) {
    (void)context;
    for (int tries = 0; rmdir(path) < 0; tries++) {
        if (errno == ENOENT)
            return 0;
        if (errno != EBUSY || tries == 400)
            return negative_errno();
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return 0;
}

int testbed_cgroup_remove(struct testbed *t) {
    int r = walk_groups(t, 0, remove_group, NULL);
    return r < 0 ? testbed_trouble(t, TESTBED_FAILED, "cannot remove the cgroups of '%s': %s",
                                   t->name, strerror(-r))
                 : 0;
}
