/* SPDX-License-Identifier: MIT */
/*
 * Finds the libraries of GPU drivers that processes of the job map, so that the time in their calls
 * counts as waiting for the GPU.
 *
 * Nothing tells when a process maps a library, and its list of mappings may be long. So the list is
 * read when the process has more or less memory mapped than at the last look, after pauses that
 * double: calls in the first second after a library was loaded may be missed. A library that has
 * been found is followed in all processes from their beginning.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/source.h"
#include "agent/probes/wait/wait_private.h"
#include "agent/wait/driver_mapping.h"
#include "common/clock.h"
#include "common/error.h"

#define PAUSE_MIN_NS (NS_PER_S / 10)
#define PAUSE_MAX_NS NS_PER_S
#define LOOKS_MAX 16 /* in a sample */
#define LISTS_MAX 4  /* lists of mappings read in a sample */

static const char *reason_of(int error) {
    switch (error) {
    case 0:
        return "no such call in the file";
    case -ESTALE:
        return "the file has been replaced";
    case -ENOSPC:
        return "too many such files";
    case -ENOEXEC:
        return "not a library of this machine";
    case -EOPNOTSUPP:
        return "the kernel does not take the programs";
    case -EPERM:
    case -EACCES:
        return "not permitted";
    default:
        return strerror(-error);
    }
}

static void tell(const struct probe_env *env, const struct driver_mapping *mapping, int error) {
    char text[160];
    const char *slash = strrchr(mapping->path, '/');
    snprintf(text, sizeof text, "waits for the GPU are not seen: calls of %.20s: %s", slash + 1,
             reason_of(error));
    if (env->note)
        env->note(env->note_ctx, NOTE_INFO, "wait", text);
}

/* False: there is no room to remember one more file. */
static bool is_new(struct wait_watch *watch, const struct driver_mapping *mapping) {
    for (size_t i = 0; i < watch->n_drivers; i++)
        if (watch->drivers[i].device == mapping->device &&
            watch->drivers[i].inode == mapping->inode)
            return false;
    if (watch->n_drivers == WAIT_DRIVER_FILES)
        return false;
    watch->drivers[watch->n_drivers++] = (struct wait_driver_file){mapping->device, mapping->inode};
    return true;
}

static void follow(struct wait_watch *watch, const struct probe_env *env, int32_t pid,
                   const struct driver_mapping *mapping) {
    if (!is_new(watch, mapping))
        return;
    int r = driver_mapping_open(env->proc, pid, mapping);
    if (r < 0)
        watch->n_drivers--; /* the next process may lead to the file */
    if (r == -ENOENT || r == -ESRCH)
        return; /* the process has ended */
    if (r >= 0)
        r = wait_source_follow(watch->source, r, mapping->library);
    if (r <= 0)
        tell(env, mapping, r);
}

/* ---- looks ---- */

/* Whether the process has another amount of memory mapped than at the last look. */
static bool has_changed(const struct probe_env *env, struct wait_group *group) {
    char path[512], text[128];
    snprintf(path, sizeof path, "%.480s/%d/statm", env->proc, group->pid);
    int n = file_read_small(AT_FDCWD, path, text, sizeof text);
    uint64_t pages = n > 0 ? strtoull(text, NULL, 10) : 0;
    bool changed = pages != group->mapped_pages;
    group->mapped_pages = pages;
    return changed;
}

/* Returns whether the list was read. */
static bool look(struct wait_watch *watch, const struct probe_env *env, struct wait_group *group) {
    struct driver_mapping mapping;
    group->pause_ns = 2 * group->pause_ns;
    group->pause_ns = group->pause_ns < PAUSE_MIN_NS   ? PAUSE_MIN_NS
                      : group->pause_ns > PAUSE_MAX_NS ? PAUSE_MAX_NS
                                                       : group->pause_ns;
    group->look_ns = env->mono_ns + group->pause_ns;
    if (!has_changed(env, group))
        return false;
    group->has_driver = driver_mapping_find(env->proc, group->pid, &mapping);
    if (group->has_driver)
        follow(watch, env, group->pid, &mapping);
    return true;
}

void wait_follow_drivers(struct wait_watch *watch, const struct probe_env *env) {
    size_t looks = 0, lists = 0;
    for (size_t i = 0; watch->source && i < watch->by_pid.n; i++) {
        struct wait_group *group = &watch->groups[i];
        if (!group->threads || group->has_driver || env->mono_ns < group->look_ns)
            continue;
        lists += look(watch, env, group);
        if (++looks == LOOKS_MAX || lists == LISTS_MAX)
            return;
    }
}
