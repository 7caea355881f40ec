/* SPDX-License-Identifier: MIT */
/* Shared by the files of the cgroup probe: cgroup.c, which groups; cgroup_files.c, what is in their
 * files. */
#ifndef CHOKEPOINT_AGENT_PROBES_CGROUP_H
#define CHOKEPOINT_AGENT_PROBES_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/keys.h"
#include "tables/tables.h"

/* The files of a group, of both versions of cgroups: none has all. */
enum { CGROUP_N_FILES = 19 };

extern const struct cgroup_file {
    const char *controller; /* of v1, "" for v2 */
    const char *name;
    bool is_limit; /* it tells limits alone, which whoever runs the host sets, seldom */
} cgroup_files[CGROUP_N_FILES];

/* Whether the column is told by files of limits. */
bool cgroup_is_limit(size_t column);

/* Whether what that file says is said as well, or better, by others that are open (>= 0). */
bool cgroup_is_repeated(size_t file, const int *fds);

/* The names in files that have some; to be set up once. */
struct cgroup_keys {
    struct keys cpu, memory;
};
void cgroup_keys_init(struct cgroup_keys *keys);

/* Reads the text of that file into its columns; others stay. No limit: absent. */
void cgroup_read(const struct cgroup_keys *keys, size_t file, const char *text, const char *end,
                 int64_t *values);

/* Whether some limit is set. */
bool cgroup_is_limited(const int64_t *values);

#endif
