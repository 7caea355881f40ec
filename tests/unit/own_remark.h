/* SPDX-License-Identifier: MIT */
/* A cause's own kind of remark, by its name. */
#ifndef CHOKEPOINT_TESTS_OWN_REMARK_H
#define CHOKEPOINT_TESTS_OWN_REMARK_H

#include <string.h>

#include "analysis/causes/causes.h"

static inline const struct remark_kind *remark_named(const char *name) {
    size_t n;
    const struct cause *const *causes = causes_all(&n);
    for (size_t i = 0; i < n; i++)
        for (const struct remark_kind *const *at = causes[i]->remarks; at && *at; at++)
            if (strcmp((*at)->name, name) == 0)
                return *at;
    fail_msg("no cause has a remark %s", name);
    return NULL;
}

#endif
