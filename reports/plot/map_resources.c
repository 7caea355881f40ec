/* SPDX-License-Identifier: MIT */
/* The rows of a map for a host, and the one that the verdict names. */
#include <string.h>

#include "common/error.h"
#include "reports/plot/map_private.h"

const struct map_resource map_resources[MAP_RESOURCES + 1] = {
    [MAP_CPU] = {"cpu", "CPU", "CPU", "CPU quota", "cpu"},
    [MAP_CORE] = {"cpu", "core", "fullest core", "", "cpu"},
    [MAP_NETWORK] = {"net", "network", "network", "", "network"},
    [MAP_DISK] = {"disk", "disk", "disk", "disk limit", "disk"},
    [MAP_MEMORY] = {"mem", "memory", "memory", "memory limit", "memory"},
    [MAP_GPU] = {"gpu", "GPU", "GPU", "", "gpu"}};

/* The verdict does not say which of several GPUs it is. */
static bool has_row(const struct report *report, size_t host, size_t resource) {
    return resource != MAP_GPU || report->series[host].n_gpus == 1;
}

size_t map_limit(const struct map *m) {
    const struct report_verdict *v = &m->report->verdict;
    static const struct {
        const char *begin;
        size_t resource;
    } known[] = {{"cpu", MAP_CPU},   {"steal", MAP_CPU},     {"net-", MAP_NETWORK},
                 {"disk", MAP_DISK}, {"memory", MAP_MEMORY}, {"gpu", MAP_GPU}};
    for (size_t i = 0; m->levels->known && v->host >= 0 && v->resource && i < ARRAY_SIZE(known);
         i++)
        if (strncmp(v->resource, known[i].begin, strlen(known[i].begin)) == 0)
            return has_row(m->report, (size_t)v->host, known[i].resource) ? known[i].resource
                                                                          : MAP_NONE;
    return MAP_NONE;
}
