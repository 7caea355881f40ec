/* SPDX-License-Identifier: MIT */
#include "analysis/evidence/storage_limit.h"

#define NO_LIMIT 1e11 /* a second: such a high setting means no limit */

static const struct allowed {
    size_t counter, limit;
    bool writes, operations;
} allowed[] = {{CGROUP_READ_BYTES, CGROUP_READ_LIMIT, false, false},
               {CGROUP_WRITE_BYTES, CGROUP_WRITE_LIMIT, true, false},
               {CGROUP_READS, CGROUP_READS_LIMIT, false, true},
               {CGROUP_WRITES, CGROUP_WRITES_LIMIT, true, true}};

bool storage_limit_nearest(const struct run_model *model, int host, struct windows windows,
                           double waited_s, struct storage_limit *ret_limit) {
    const struct series_set *set = &model->recording->tables[RECORDING_CGROUP];
    struct storage_limit nearest = {.limit = 1};
    for (size_t s = 0; s < set->n; s++)
        for (size_t a = 0; a < sizeof allowed / sizeof *allowed; a++) {
            const struct series *group = &set->items[s];
            double limit =
                group->host == host ? (double)series_last(set, group, allowed[a].limit) : 0;
            if (!(limit > 0 && limit < NO_LIMIT && waited_s > 0)) /* or not known */
                continue;
            double moved = series_growth(set, group, allowed[a].counter, windows, NULL) / waited_s;
            if (!nearest.group || moved / limit > nearest.moved / nearest.limit)
                nearest = (struct storage_limit){group, allowed[a].writes, allowed[a].operations,
                                                 limit, moved};
        }
    *ret_limit = nearest;
    return nearest.group != NULL;
}
