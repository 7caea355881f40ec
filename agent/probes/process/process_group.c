/* SPDX-License-Identifier: MIT */
/*
 * The control groups of a process: whether two processes have the same ones, and whether a process
 * is in a unit, a container or a group that the user named. systemd and container runtimes name a
 * group after its unit or container; a name must match a whole part of a path, in any hierarchy.
 */
#include <stdio.h>
#include <string.h>

#include "agent/base/scope.h"
#include "agent/probes/process/process_private.h"
#include "common/error.h"

#define ID_MIN 4   /* characters of an id that the user gives, at least */
#define ID_SIZE 12 /* characters; shorter names are no ids */

uint64_t process_group_hash(const char *text, size_t size) {
    uint64_t hash = 0xcbf29ce484222325; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3;
    return hash ? hash : 1;
}

uint64_t process_group_of(const struct processes *all, const struct process *process, int32_t pid) {
    char path[32], groups[GROUPS_MAX];
    if (process->group)
        return process->group;
    snprintf(path, sizeof path, "%d/cgroup", pid);
    int n = file_read_small(all->proc_fd, path, groups, sizeof groups);
    return n > 0 ? process_group_hash(groups, (size_t)n) : 0;
}

/* "NAME", "NAME.service" (or .scope, .slice), and all instances of a template, as
 * "NAME@15-main". */
static bool is_unit(struct span part, const char *name) {
    static const char *const endings[] = {".service", ".scope", ".slice"};
    size_t n = strlen(name), service = strlen(endings[0]);
    if (span_equal(part, name))
        return true;
    if (n > service && strcmp(name + n - service, endings[0]) == 0)
        n -= service;
    if (part.size <= n || memcmp(part.data, name, n) != 0)
        return false;
    struct span rest = {part.data + n, part.size - n};
    if (*rest.data == '@')
        return process_word_ends(rest, endings[0]);
    for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
        if (span_equal(rest, endings[i]))
            return true;
    return false;
}

static bool is_hex(struct span text) {
    for (size_t i = 0; i < text.size; i++)
        if (!strchr("0123456789abcdef", text.data[i]) || !text.data[i])
            return false;
    return text.size > 0;
}

/* "ID", "docker-ID.scope", "cri-containerd-ID.scope", "libpod-ID.scope": ids may be shortened. LXC
 * and systemd-nspawn use "lxc.payload.NAME" and "machine-NAME.scope". */
static bool is_container(struct span part, const char *wanted) {
    static const char *const named[] = {"lxc.payload.", "machine-"};
    size_t n = strlen(wanted);
    if (process_word_ends(part, ".scope"))
        part.size -= strlen(".scope");
    for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
        size_t before = strlen(named[i]);
        if (span_starts(part, named[i]) &&
            span_equal((struct span){part.data + before, part.size - before}, wanted))
            return true;
    }
    const char *dash = memrchr(part.data, '-', part.size);
    struct span id = part;
    if (dash)
        id = (struct span){dash + 1, (size_t)(part.data + part.size - dash - 1)};
    return n >= ID_MIN && id.size >= ID_SIZE && is_hex(id) && span_starts(id, wanted);
}

/* Slurm's group of a job, which contains those of its steps. */
static bool is_slurm_job(struct span part, const char *number) {
    return span_starts(part, "job_") &&
           span_equal((struct span){part.data + 4, part.size - 4}, number);
}

static bool has_part(struct span path, const char *name,
                     bool (*is)(struct span part, const char *name)) {
    const char *end = path.data + path.size;
    for (const char *p = path.data; p < end;) {
        const char *slash = memchr(p, '/', (size_t)(end - p));
        const char *stop = slash ? slash : end;
        if (stop > p && is((struct span){p, (size_t)(stop - p)}, name))
            return true;
        p = stop + 1;
    }
    return false;
}

static bool is_below(struct span path, const char *above) {
    size_t n = strlen(above);
    return span_starts(path, above) && (path.size == n || path.data[n] == '/');
}

/* In v1 the path in the file system begins with the name of the hierarchy. */
static bool is_in_hierarchy(struct span controllers, struct span path, const char *place) {
    const char *slash = strchr(place + 1, '/');
    size_t n = slash ? (size_t)(slash - place - 1) : 0;
    if (!slash)
        return false;
    if (span_starts(controllers, "name="))
        controllers = (struct span){controllers.data + 5, controllers.size - 5};
    else if (!controllers.size)
        controllers = (struct span){"unified", strlen("unified")};
    return controllers.size == n && memcmp(controllers.data, place + 1, n) == 0 &&
           is_below(path, slash);
}

bool process_groups_match(const struct job_choice *choice, const char *text, size_t size) {
    struct span line, controllers, path;
    const char *p = text;
    while (text_line(&p, text + size, &line)) {
        if (!scope_parse_group(line, &controllers, &path))
            continue;
        if (choice->kind == JOB_UNIT && has_part(path, choice->value, is_unit))
            return true;
        if (choice->kind == JOB_CONTAINER && has_part(path, choice->value, is_container))
            return true;
        if (choice->kind == JOB_SLURM && has_part(path, choice->value, is_slurm_job))
            return true;
        if (choice->kind == JOB_CGROUP &&
            (is_below(path, choice->value) || is_in_hierarchy(controllers, path, choice->value)))
            return true;
    }
    return false;
}
