/* SPDX-License-Identifier: MIT */
/* Shared by the files of the cgroup probe: cgroup.c chooses groups, cgroup_files.c reads their
 * files. */
#ifndef CHOKEPOINT_AGENT_PROBES_CGROUP_H
#define CHOKEPOINT_AGENT_PROBES_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/keys.h"
#include "tables/tables.h"

/* The files of a group in both versions of cgroups. No group has all of them. */
enum { CGROUP_N_FILES = 23 };

extern const struct cgroup_file {
    const char *controller; /* v1: the controller; "" for v2 */
    const char *name;
    bool is_limit; /* has limits alone, which the administrator seldom changes */
} cgroup_files[CGROUP_N_FILES];

/* Whether files of limits fill the column. */
bool cgroup_is_limit(size_t column);

/* Whether other open files (>= 0) have the same figures as this file, or better ones. */
bool cgroup_is_repeated(size_t file, const int *fds);

/* Names of numbers inside files; set up once. */
struct cgroup_keys {
    struct keys cpu, memory;
};
void cgroup_keys_init(struct cgroup_keys *keys);

/* Reads the text of a file into its columns and leaves other columns alone. Without a limit a
 * column is absent. */
void cgroup_read(const struct cgroup_keys *keys, size_t file, const char *text, const char *end,
                 int64_t *values);

/* Whether a limit is set. */
bool cgroup_is_limited(const int64_t *values);

#endif
