/* SPDX-License-Identifier: MIT */
/*
 * The control groups that hold the job: the group of the scope, the groups of the job's processes
 * on this host, and those groups above them that set a limit, since any level may limit. The path
 * identifies a group in all hierarchies (v1).
 *
 * /proc/PID/cgroup is read every second for a while after the job's processes change (a process may
 * be moved after it starts), and seldom later. The files of a group stay open; a sample reads each
 * once. Files of limits are read once a second; quotas whose periods the kernel counts are read in
 * each sample. The agent may share a core with the job, so samples must be short.
 */
#include "agent/probes/cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/job.h"
#include "agent/base/scope.h"
#include "agent/base/source.h"
#include "agent/probes/probes.h"
#include "common/clock.h"
#include "common/error.h"

#define GROUPS_MAX 32
#define DEPTH_MAX 16
#define TEXT_MAX 16384
#define YOUNG_NS (4 * NS_PER_S)
#define SCAN_SOON_NS NS_PER_S
#define SCAN_LATER_NS (15 * NS_PER_S)
#define LIMITS_NS NS_PER_S
#define SEEN_MAX 64

struct group {
    char path[SCOPE_PATH_MAX];      /* "": free */
    int fds[CGROUP_N_FILES];        /* -1: missing, or another file has the same figures */
    int64_t limits_ns;              /* when its limits were read last */
    int64_t values[CGROUP_COLUMNS]; /* as they were read last */
};

struct cgroup {
    struct source mounts; /* /proc/self/mountinfo, as it was at the start */
    int proc_fd;          /* valid while mounts is open */
    struct cgroup_keys keys;
    uint64_t job_changes;
    int64_t changed_ns, scan_ns; /* when the job last changed; when the next scan is due */
    bool scanned;
    uint64_t seen[SEEN_MAX]; /* hashes of the paths met in the current scan */
    size_t n_seen;
    struct group groups[GROUPS_MAX];
    char text[TEXT_MAX];
};

/* ---- one group ---- */

static void close_group(struct group *group) {
    for (size_t i = 0; i < CGROUP_N_FILES; i++)
        if (group->fds[i] >= 0)
            close(group->fds[i]);
    *group = (struct group){.path = ""};
}

/* If two files have the same figures, the better one stays open. */
static void close_repeated(struct group *group) {
    for (size_t i = 0; i < CGROUP_N_FILES; i++)
        if (group->fds[i] >= 0 && cgroup_is_repeated(i, group->fds)) {
            close(group->fds[i]);
            group->fds[i] = -1;
        }
}

/* Returns the number of files opened. */
static size_t open_group_files(const struct cgroup *cgroup, const struct probe_env *env,
                               struct span path, struct group *group) {
    struct span mounts = {cgroup->mounts.data, cgroup->mounts.size};
    char directory[SCOPE_PATH_MAX], name[SCOPE_PATH_MAX + 64];
    size_t n = 0;
    memcpy(group->path, path.data, path.size);
    group->path[path.size] = '\0';
    for (size_t i = 0; i < CGROUP_N_FILES; i++) {
        const struct cgroup_file *file = &cgroup_files[i];
        group->fds[i] = -1;
        if (!scope_find_group(mounts, env->sys, file->controller, path, directory))
            continue;
        snprintf(name, sizeof name, "%s/%s", directory, file->name);
        group->fds[i] = open(name, O_RDONLY | O_CLOEXEC);
        n += group->fds[i] >= 0;
    }
    close_repeated(group);
    return n;
}

/* Reads a file, or as many whole lines as fit. Negative: the file is gone. */
static ssize_t read_file(int fd, char text[TEXT_MAX]) {
    ssize_t size = file_read_open(fd, text, TEXT_MAX);
    const char *newline = size == TEXT_MAX ? memrchr(text, '\n', TEXT_MAX) : NULL;
    return newline ? newline + 1 - text : size;
}

/* Reads the files of limits, or all others. Returns how many could be read; columns of the rest
 * stay absent. */
static size_t read_files(struct cgroup *cgroup, struct group *group, bool limits) {
    size_t n_read = 0;
    for (size_t i = 0; i < CGROUP_COLUMNS; i++)
        if (cgroup_is_limit(i) == limits)
            group->values[i] = VALUE_ABSENT;
    for (size_t i = 0; i < CGROUP_N_FILES; i++) {
        if (group->fds[i] < 0 || cgroup_files[i].is_limit != limits)
            continue;
        ssize_t n = read_file(group->fds[i], cgroup->text);
        n_read += n >= 0;
        if (n > 0)
            cgroup_read(&cgroup->keys, i, cgroup->text, cgroup->text + n, group->values);
    }
    return n_read;
}

/* False: the group is gone. */
static bool read_group(struct cgroup *cgroup, struct group *group, int64_t now_ns) {
    int64_t periods = group->values[CGROUP_PERIODS];
    size_t n_read = read_files(cgroup, group, false);
    if (n_read && group->limits_ns && now_ns - group->limits_ns < LIMITS_NS &&
        group->values[CGROUP_PERIODS] == periods)
        return true;
    group->limits_ns = now_ns;
    n_read += read_files(cgroup, group, true);
    if (group->values[CGROUP_QUOTA] == VALUE_ABSENT)
        group->values[CGROUP_PERIOD] = VALUE_ABSENT;
    return n_read > 0;
}

/* ---- which groups ---- */

static struct group *find_group(struct cgroup *cgroup, struct span path) {
    for (size_t i = 0; i < GROUPS_MAX; i++)
        if (cgroup->groups[i].path[0] && span_equal(path, cgroup->groups[i].path))
            return &cgroup->groups[i];
    return NULL;
}

static struct group *free_group(struct cgroup *cgroup) {
    for (size_t i = 0; i < GROUPS_MAX; i++)
        if (!cgroup->groups[i].path[0])
            return &cgroup->groups[i];
    return NULL;
}

/* Processes share groups, and groups share the groups above them: each is scanned once. */
static bool is_seen(struct cgroup *cgroup, struct span path) {
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < path.size; i++)
        hash = (hash ^ (unsigned char)path.data[i]) * UINT64_C(1099511628211);
    for (size_t i = 0; i < cgroup->n_seen; i++)
        if (cgroup->seen[i] == hash)
            return true;
    if (cgroup->n_seen < SEEN_MAX)
        cgroup->seen[cgroup->n_seen++] = hash;
    return false;
}

/* `above`: the group counts only if it sets a limit. */
static void add_group(struct cgroup *cgroup, const struct probe_env *env, struct span path,
                      bool above, struct rows *rows) {
    if (path.size < 2 || path.size >= SCOPE_PATH_MAX || find_group(cgroup, path) ||
        (above && is_seen(cgroup, path)))
        return;
    struct group *group = free_group(cgroup);
    if (!group) {
        rows->dropped++;
        return;
    }
    if (!open_group_files(cgroup, env, path, group) || !read_group(cgroup, group, env->mono_ns) ||
        (above && !cgroup_is_limited(group->values)))
        close_group(group);
}

static void add_with_parents(struct cgroup *cgroup, const struct probe_env *env, struct span path,
                             struct rows *rows) {
    add_group(cgroup, env, path, false, rows);
    for (int depth = 0; depth < DEPTH_MAX && path.size > 1; depth++) {
        do
            path.size--;
        while (path.size > 1 && path.data[path.size] != '/');
        add_group(cgroup, env, path, true, rows);
    }
}

/* Adds the groups listed in the text of a /proc/PID/cgroup. */
static void add_groups_of(struct cgroup *cgroup, const struct probe_env *env, const char *text,
                          size_t size, struct rows *rows) {
    static const char *const controllers[] = {"cpu", "cpuacct", "memory", "blkio", ""};
    struct span path;
    for (size_t i = 0; i < ARRAY_SIZE(controllers); i++)
        if (scope_group_path(text, size, controllers[i], &path))
            add_with_parents(cgroup, env, path, rows);
}

static void scan_process(struct cgroup *cgroup, const struct probe_env *env, const char *process,
                         struct rows *rows) {
    char path[32], text[4096];
    snprintf(path, sizeof path, "%s/cgroup", process);
    int n = file_read_small(cgroup->proc_fd, path, text, sizeof text);
    if (n > 0)
        add_groups_of(cgroup, env, text, (size_t)n, rows);
}

static bool is_time_to_scan(struct cgroup *cgroup, const struct probe_env *env) {
    if (env->job->changes != cgroup->job_changes)
        cgroup->changed_ns = env->mono_ns;
    else if (env->mono_ns < cgroup->scan_ns)
        return false;
    bool is_young = env->mono_ns - cgroup->changed_ns < YOUNG_NS;
    cgroup->job_changes = env->job->changes;
    cgroup->scan_ns = env->mono_ns + (is_young ? SCAN_SOON_NS : SCAN_LATER_NS);
    return true;
}

static void scan_job(struct cgroup *cgroup, const struct probe_env *env, struct rows *rows) {
    char process[16];
    cgroup->n_seen = 0;
    if (env->scope->kind == SCOPE_CGROUP && !cgroup->scanned)
        scan_process(cgroup, env, "self", rows);
    cgroup->scanned = true;
    if (!env->job || !is_time_to_scan(cgroup, env))
        return;
    for (size_t i = 0; i < env->job->n; i++) {
        snprintf(process, sizeof process, "%d", env->job->processes[i].pid);
        scan_process(cgroup, env, process, rows);
    }
}

/* ---- rows ---- */

/* A long path keeps its end, which tells more than its beginning. */
static struct row *append_named(const char *path, struct rows *rows) {
    char name[INSTANCE_MAX + 1];
    size_t size = strlen(path);
    if (size > INSTANCE_MAX)
        size = (size_t)snprintf(name, sizeof name, "...%s", path + size - (INSTANCE_MAX - 3));
    else
        memcpy(name, path, size);
    return rows_append(rows, name, size);
}

static int cgroup_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct cgroup *cgroup = state;
    scan_job(cgroup, env, rows);
    for (size_t i = 0; i < GROUPS_MAX; i++) {
        struct group *group = &cgroup->groups[i];
        if (!group->path[0])
            continue;
        struct row *row =
            read_group(cgroup, group, env->mono_ns) ? append_named(group->path, rows) : NULL;
        if (row)
            memcpy(row->values, group->values, sizeof group->values);
        else
            close_group(group);
    }
    return 0;
}

/* ---- life ---- */

static bool has_hierarchy(const struct source *mounts) {
    const char *p = mounts->data;
    struct span line;
    while (text_line(&p, source_end(mounts), &line))
        if (memmem(line.data, line.size, " - cgroup", strlen(" - cgroup")))
            return true;
    return false;
}

static int cgroup_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct cgroup *cgroup = state;
    int r = source_open(&cgroup->mounts, env->proc, "self/mountinfo");
    if (r == 0 && (cgroup->proc_fd = open(env->proc, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
        r = negative_errno();
        source_close(&cgroup->mounts);
    }
    if (r < 0) {
        snprintf(why, why_size, "cannot tell where cgroups are: %s/self/mountinfo: %s", env->proc,
                 strerror(-r));
        return r;
    }
    if (!has_hierarchy(&cgroup->mounts)) {
        snprintf(why, why_size, "no cgroups are mounted here");
        return PROBE_ABSENT;
    }
    cgroup_keys_init(&cgroup->keys);
    return 0;
}

static size_t cgroup_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return GROUPS_MAX;
}

static void cgroup_close(void *state) {
    struct cgroup *cgroup = state;
    for (size_t i = 0; i < GROUPS_MAX; i++)
        if (cgroup->groups[i].path[0])
            close_group(&cgroup->groups[i]);
    if (source_is_open(&cgroup->mounts))
        close(cgroup->proc_fd);
    source_close(&cgroup->mounts);
}

const struct probe probe_cgroup = {
    .table = &all_tables[TABLE_CGROUP],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct cgroup),
    .max_rows = cgroup_max_rows,
    .open = cgroup_open,
    .sample = cgroup_sample,
    .close = cgroup_close,
};
