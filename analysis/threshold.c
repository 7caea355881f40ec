/* SPDX-License-Identifier: MIT */
#include "analysis/threshold.h"

#include <string.h>

#define THRESHOLD(name, value, unit, rule, reason) double name = value;
#include "analysis/thresholds.def"
#undef THRESHOLD

static const struct threshold thresholds[] = {
#define THRESHOLD(name, value, unit, rule, reason) {#name, unit, rule, reason, &name, value},
#include "analysis/thresholds.def"
#undef THRESHOLD
};

const struct threshold *threshold_list(size_t *ret_n) {
    *ret_n = sizeof thresholds / sizeof *thresholds;
    return thresholds;
}

const struct threshold *threshold_find(const char *name, size_t length) {
    for (size_t i = 0; i < sizeof thresholds / sizeof *thresholds; i++)
        if (strlen(thresholds[i].name) == length && strncmp(thresholds[i].name, name, length) == 0)
            return &thresholds[i];
    return NULL;
}
