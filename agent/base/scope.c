/* SPDX-License-Identifier: MIT */
/*
 * Finds the agent's own cgroup. /proc/self/cgroup has the path in each hierarchy;
 * /proc/self/mountinfo has the mount points and the path that is mounted there. In a container the
 * mount's root is the container's group, so the path below the mount point is the rest behind it.
 *
 * If the group of a controller has no files of its own (the root of a v2 tree), its directory is
 * "", and the probes use the machine's figures.
 */
#include "agent/base/scope.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/cpu_list.h"
#include "agent/base/source.h"
#include "common/error.h"
#include "common/text.h"

#define TEXT_MAX ((size_t)1 << 20)

static int path_join(char *ret_path, const char *a, const char *b) {
    int n = snprintf(ret_path, SCOPE_PATH_MAX, "%s/%s", a, b);
    return n < 0 || n >= SCOPE_PATH_MAX ? -ENAMETOOLONG : 0;
}

static bool file_exists(const char *directory, const char *name) {
    char path[SCOPE_PATH_MAX];
    return path_join(path, directory, name) == 0 && access(path, R_OK) == 0;
}

/* ---- CPUs ---- */

bool scope_has_cpu(const struct scope *scope, unsigned cpu) {
    return cpu < SCOPE_CPUS_MAX && (scope->cpus[cpu / 8] >> (cpu % 8) & 1);
}

static void add_cpu(struct scope *scope, unsigned cpu) {
    if (cpu >= SCOPE_CPUS_MAX || scope_has_cpu(scope, cpu))
        return;
    scope->cpus[cpu / 8] |= (unsigned char)(1u << (cpu % 8));
    scope->n_cpus++;
}

/* "0-3,8,10-11" */
static void add_cpu_list(struct scope *scope, const char *p, const char *end) {
    uint64_t first, last;
    while (cpu_list_next(&p, end, &first, &last))
        for (uint64_t cpu = first; cpu <= last && cpu < SCOPE_CPUS_MAX; cpu++)
            add_cpu(scope, (unsigned)cpu);
}

static void add_cpus_of_file(struct scope *scope, const char *directory, const char *name) {
    char path[SCOPE_PATH_MAX], text[8192];
    if (scope->n_cpus || !*directory || path_join(path, directory, name) < 0)
        return;
    int n = file_read_small(AT_FDCWD, path, text, sizeof text);
    if (n > 0)
        add_cpu_list(scope, text, text + n);
}

/* The agent's affinity, for containers whose CPU set cannot be read. */
static void add_cpus_of_status(struct scope *scope, const char *proc) {
    char path[SCOPE_PATH_MAX], text[8192];
    const char *p = text;
    struct span line;
    if (scope->n_cpus || path_join(path, proc, "self/status") < 0)
        return;
    int n = file_read_small(AT_FDCWD, path, text, sizeof text);
    while (n > 0 && text_line(&p, text + n, &line))
        if (span_starts(line, "Cpus_allowed_list:"))
            add_cpu_list(scope, line.data + strlen("Cpus_allowed_list:"), line.data + line.size);
}

/* Without /sys: the cores in /proc/stat. */
static void add_cpus_of_stat(struct scope *scope, const char *proc) {
    char path[SCOPE_PATH_MAX], text[65536];
    const char *p = text;
    struct span line;
    uint64_t cpu;
    if (scope->n_cpus || path_join(path, proc, "stat") < 0)
        return;
    int n = file_read_head(AT_FDCWD, path, text, sizeof text);
    while (n > 0 && text_line(&p, text + n, &line) && span_starts(line, "cpu")) {
        const char *q = line.data + 3;
        if (q < line.data + line.size && *q != ' ' && text_u64(&q, line.data + line.size, &cpu) &&
            cpu < SCOPE_CPUS_MAX)
            add_cpu(scope, (unsigned)cpu);
    }
}

/* ---- groups ---- */

/* Texts that are needed until the scope is found. */
struct finder {
    char *groups; /* <proc>/self/cgroup */
    char *mounts; /* <proc>/self/mountinfo */
    const char *sys;
    char cpuset[SCOPE_PATH_MAX];
    bool v2_cpuset;
};

static bool list_has(struct span list, const char *word) {
    size_t n = strlen(word);
    for (const char *p = list.data, *end = p + list.size; p < end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        const char *stop = comma ? comma : end;
        if ((size_t)(stop - p) == n && memcmp(p, word, n) == 0)
            return true;
        p = stop + 1;
    }
    return false;
}

bool scope_parse_group(struct span line, struct span *ret_controllers, struct span *ret_path) {
    const char *end = line.data + line.size;
    const char *first = memchr(line.data, ':', line.size);
    const char *second = first ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;
    if (!second || second + 1 >= end || second[1] != '/')
        return false;
    *ret_controllers = (struct span){first + 1, (size_t)(second - first - 1)};
    *ret_path = (struct span){second + 1, (size_t)(end - second - 1)};
    return true;
}

bool scope_group_path(const char *text, size_t size, const char *controller,
                      struct span *ret_path) {
    const char *p = text;
    struct span line, controllers, path;
    while (text_line(&p, text + size, &line)) {
        if (!scope_parse_group(line, &controllers, &path))
            continue;
        if (*controller ? list_has(controllers, controller) : controllers.size == 0) {
            *ret_path = path;
            return true;
        }
    }
    return false;
}

struct mount {
    struct span root, point, type, options;
};

/* "36 25 0:31 /root /point rw,relatime shared:9 - cgroup cgroup rw,cpu" */
static bool parse_mount(struct span line, struct mount *ret_mount) {
    const char *p = line.data, *end = p + line.size;
    struct span word;
    for (int i = 0; i < 3; i++)
        if (!text_word(&p, end, &word))
            return false;
    if (!text_word(&p, end, &ret_mount->root) || !text_word(&p, end, &ret_mount->point))
        return false;
    while (text_word(&p, end, &word))
        if (span_equal(word, "-"))
            return text_word(&p, end, &ret_mount->type) && text_word(&p, end, &word) &&
                   text_word(&p, end, &ret_mount->options);
    return false;
}

/* The group's path below the mount's root; a group outside of it counts as the mount itself. */
static struct span path_below(struct span path, struct span root) {
    if (root.size == 1)
        return path;
    if (path.size >= root.size && memcmp(path.data, root.data, root.size) == 0 &&
        (path.size == root.size || path.data[root.size] == '/'))
        return (struct span){path.data + root.size, path.size - root.size};
    return (struct span){path.data, 0};
}

/* Mount points below /sys lie below the given root of /sys. */
static int group_directory(const char *sys, const struct mount *mount, struct span path,
                           char *ret_directory) {
    struct span below = path_below(path, mount->root), point = mount->point;
    bool in_sys = span_starts(point, "/sys/");
    while (below.size && below.data[below.size - 1] == '/')
        below.size--;
    int n = snprintf(ret_directory, SCOPE_PATH_MAX, "%s%.*s%.*s", in_sys ? sys : "",
                     (int)(point.size - (in_sys ? 4 : 0)), point.data + (in_sys ? 4 : 0),
                     (int)below.size, below.data);
    return n < 0 || n >= SCOPE_PATH_MAX ? -ENAMETOOLONG : 0;
}

static bool mount_is(const struct mount *mount, const char *controller) {
    if (!*controller)
        return span_equal(mount->type, "cgroup2");
    return span_equal(mount->type, "cgroup") && list_has(mount->options, controller);
}

/* The agent's directory in a controller's hierarchy ("": v2); "" if it is missing. */
static void find_directory(const struct finder *finder, const char *controller,
                           char *ret_directory) {
    const char *p = finder->mounts, *end = p + strlen(p);
    struct span line, path;
    struct mount mount;
    char directory[SCOPE_PATH_MAX];
    *ret_directory = '\0';
    if (!scope_group_path(finder->groups, strlen(finder->groups), controller, &path))
        return;
    while (!*ret_directory && text_line(&p, end, &line))
        if (parse_mount(line, &mount) && mount_is(&mount, controller) &&
            group_directory(finder->sys, &mount, path, directory) == 0 &&
            file_exists(directory, "."))
            strcpy(ret_directory, directory);
}

static bool is_at_or_below(struct span path, struct span root) {
    return path.size >= root.size && memcmp(path.data, root.data, root.size) == 0 &&
           (root.size == 1 || path.size == root.size || path.data[root.size] == '/');
}

bool scope_find_group(struct span mounts, const char *sys, const char *controller, struct span path,
                      char *ret_directory) {
    const char *p = mounts.data;
    struct span line;
    struct mount mount;
    char directory[SCOPE_PATH_MAX];
    while (text_line(&p, mounts.data + mounts.size, &line))
        if (parse_mount(line, &mount) && mount_is(&mount, controller) &&
            is_at_or_below(path, mount.root) &&
            group_directory(sys, &mount, path, directory) == 0 && file_exists(directory, ".")) {
            strcpy(ret_directory, directory);
            return true;
        }
    return false;
}

/* The v1 directory if it has `v1_file`, else the v2 directory if it has `v2_file`, else "". */
static void choose_directory(const struct finder *finder, const char *unified,
                             const char *controller, const char *v1_file, const char *v2_file,
                             char *ret_directory, bool *ret_v2) {
    find_directory(finder, controller, ret_directory);
    *ret_v2 = false;
    if (*ret_directory && file_exists(ret_directory, v1_file))
        return;
    *ret_directory = '\0';
    *ret_v2 = *unified && file_exists(unified, v2_file);
    if (*ret_v2)
        strcpy(ret_directory, unified);
}

/* The hierarchy that separates this scope's processes from others: the first one in which the
 * agent's group is not the root. Then /proc/PID/cgroup alone tells whether a process is inside. */
static void choose_membership(const struct finder *finder, struct scope *scope) {
    static const char *const order[] = {"cpuacct", "cpu",     "",      "cpuset",
                                        "pids",    "freezer", "blkio", "memory"};
    struct span path;
    for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
        if (!scope_group_path(finder->groups, strlen(finder->groups), order[i], &path) ||
            path.size <= 1 || path.size >= sizeof scope->member_path)
            continue;
        strcpy(scope->member_controller, order[i]);
        memcpy(scope->member_path, path.data, path.size);
        scope->member_path[path.size] = '\0';
        return;
    }
}

bool scope_has_process(const struct scope *scope, const char *groups, size_t size) {
    struct span path;
    size_t n = strlen(scope->member_path);
    if (!n)
        return true;
    return scope_group_path(groups, size, scope->member_controller, &path) && path.size >= n &&
           memcmp(path.data, scope->member_path, n) == 0 && (path.size == n || path.data[n] == '/');
}

static void find_groups(struct finder *finder, struct scope *scope) {
    find_directory(finder, "", scope->unified);
    choose_directory(finder, scope->unified, "cpuacct", "cpuacct.stat", "cpu.stat", scope->cpu,
                     &scope->v2_cpu);
    choose_directory(finder, scope->unified, "memory", "memory.usage_in_bytes", "memory.current",
                     scope->memory, &scope->v2_memory);
    choose_directory(finder, scope->unified, "blkio", "blkio.throttle.io_service_bytes", "io.stat",
                     scope->io, &scope->v2_io);
    choose_directory(finder, scope->unified, "cpuset", "cpuset.cpus", "cpuset.cpus.effective",
                     finder->cpuset, &finder->v2_cpuset);
    choose_membership(finder, scope);
}

static int read_text(const char *proc, const char *name, char **ret_text) {
    char path[SCOPE_PATH_MAX];
    int n = path_join(path, proc, name);
    char *text = n < 0 ? NULL : malloc(TEXT_MAX);
    if (!text)
        return n < 0 ? n : -ENOMEM;
    n = file_read_small(AT_FDCWD, path, text, TEXT_MAX);
    if (n < 0)
        free(text);
    else
        *ret_text = text;
    return n < 0 ? n : 0;
}

/* *ret_job: the group belongs to a batch job. */
static int open_cgroup(const char *proc, const char *sys, struct scope *scope, bool *ret_job,
                       char *why, size_t why_size) {
    struct finder finder = {.sys = sys};
    int r = read_text(proc, "self/cgroup", &finder.groups);
    if (r == 0)
        r = read_text(proc, "self/mountinfo", &finder.mounts);
    if (r < 0) {
        snprintf(why, why_size, "cannot read the agent's own cgroup from %s/self: %s", proc,
                 strerror(-r));
    } else {
        *ret_job = scope_cut_steps(finder.groups);
        find_groups(&finder, scope);
        add_cpus_of_file(scope, finder.cpuset,
                         finder.v2_cpuset ? "cpuset.cpus.effective" : "cpuset.effective_cpus");
        if (!finder.v2_cpuset)
            add_cpus_of_file(scope, finder.cpuset, "cpuset.cpus");
        add_cpus_of_status(scope, proc);
    }
    free(finder.groups);
    free(finder.mounts);
    return r;
}

static void add_cpus_of_machine(struct scope *scope, const char *proc, const char *sys) {
    add_cpus_of_file(scope, sys, "devices/system/cpu/online");
    add_cpus_of_stat(scope, proc);
}

int scope_open(enum scope_kind kind, const char *proc, const char *sys, struct scope *ret_scope,
               char *why, size_t why_size) {
    struct scope scope = {.kind = SCOPE_CGROUP}, host = {.kind = SCOPE_HOST};
    bool of_job = false;
    int r = kind == SCOPE_HOST ? 0 : open_cgroup(proc, sys, &scope, &of_job, why, why_size);
    if (r < 0 && kind == SCOPE_CGROUP)
        return r;
    add_cpus_of_machine(&host, proc, sys);
    add_cpus_of_machine(&scope, proc, sys);
    bool is_part = r == 0 && of_job && scope.n_cpus < host.n_cpus;
    *ret_scope = kind == SCOPE_CGROUP || (kind == SCOPE_JOB && is_part) ? scope : host;
    return 0;
}
