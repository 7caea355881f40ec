/* SPDX-License-Identifier: MIT */
/*
 * The cgroup hierarchies of this machine, from its mounts: each v1 hierarchy with a controller that
 * limits or counts something, and the v2 tree.
 */
#ifndef CHOKEPOINT_CLI_CGROUP_HIERARCHY_H
#define CHOKEPOINT_CLI_CGROUP_HIERARCHY_H

#include <stdbool.h>
#include <stddef.h>

#define HIERARCHIES_MAX 16

struct hierarchy {
    char path[128]; /* mount point */
    bool v2;
    char controllers[256]; /* "cpu,cpuacct" or "cpuset cpu io" */
};

struct hierarchies {
    struct hierarchy items[HIERARCHIES_MAX];
    size_t n;
};

/* Lists each hierarchy once, however often it is mounted. */
void hierarchies_read(struct hierarchies *ret_all);

bool hierarchy_has(const struct hierarchy *h, const char *controller);

/* The hierarchy that has the controller, or NULL. */
const struct hierarchy *hierarchies_find(const struct hierarchies *all, const char *controller);

#endif
