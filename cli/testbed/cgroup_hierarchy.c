/* SPDX-License-Identifier: MIT */
#include "cli/testbed/cgroup_hierarchy.h"
#include "cli/base/file.h"
#include "common/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const v1_controllers[] = {"cpu",   "cpuacct", "cpuset", "memory",
                                             "blkio", "freezer", "pids"};

static bool has_word(const char *list, const char *word) {
    size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)); p += n)
        if ((p == list || strchr(", ", p[-1])) && (!p[n] || strchr(", \n", p[n])))
            return true;
    return false;
}

static bool is_wanted(const struct hierarchy *h) {
    if (h->v2)
        return true;
    for (size_t i = 0; i < ARRAY_SIZE(v1_controllers); i++)
        if (has_word(h->controllers, v1_controllers[i]))
            return true;
    return false;
}

static bool is_known(const struct hierarchies *all, const struct hierarchy *h) {
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->items[i].path, h->path) == 0 ||
            (all->items[i].v2 == h->v2 && strcmp(all->items[i].controllers, h->controllers) == 0))
            return true;
    return false;
}

/* "36 31 0:33 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu" */
static bool parse_mount(char *line, struct hierarchy *ret) {
    char type[32], options[256];
    char *tail = strstr(line, " - ");
    *ret = (struct hierarchy){0};
    if (!tail || sscanf(tail, " - %31s %*s %255s", type, options) != 2 ||
        sscanf(line, "%*s %*s %*s %*s %127s", ret->path) != 1)
        return false;
    ret->v2 = strcmp(type, "cgroup2") == 0;
    if (!ret->v2 && strcmp(type, "cgroup") != 0)
        return false;
    if (!ret->v2)
        snprintf(ret->controllers, sizeof ret->controllers, "%s", options);
    else if (file_read(ret->controllers, sizeof ret->controllers, "%s/cgroup.controllers",
                       ret->path) < 0)
        return false;
    return !strchr(ret->path, '\\');
}

bool hierarchy_has(const struct hierarchy *h, const char *controller) {
    return has_word(h->controllers, controller);
}

void hierarchies_read(struct hierarchies *ret_all) {
    FILE *in = fopen("/proc/self/mountinfo", "re");
    char *line = NULL;
    size_t capacity = 0;
    struct hierarchy found;
    ret_all->n = 0;
    while (in && ret_all->n < HIERARCHIES_MAX && getline(&line, &capacity, in) > 0)
        if (parse_mount(line, &found) && is_wanted(&found) && !is_known(ret_all, &found))
            ret_all->items[ret_all->n++] = found;
    free(line);
    if (in)
        fclose(in);
}

const struct hierarchy *hierarchies_find(const struct hierarchies *all, const char *name) {
    for (size_t i = 0; i < all->n; i++)
        if (has_word(all->items[i].controllers, name))
            return &all->items[i];
    return NULL;
}
