/* SPDX-License-Identifier: MIT */
#include "reports/export/family.h"

#include <stdio.h>
#include <string.h>

#include "common/error.h"

/* Length of the name without its suffix. */
static int stem(const char *name, const char *suffix) {
    size_t n = strlen(name), m = strlen(suffix);
    return (int)(n > m && strcmp(name + n - m, suffix) == 0 ? n - m : n);
}

void family_name(const char *table, const char *column, enum unit unit,
                 char name[FAMILY_NAME_MAX]) {
    static const struct {
        const char *column, *metric;
    } suffixes[UNIT_COUNT_] = {[UNIT_NONE] = {"_total", ""},
                               [UNIT_NS] = {"_ns", "_seconds"},
                               [UNIT_BYTES] = {"_bytes", "_bytes"},
                               [UNIT_EVENTS] = {"_total", ""},
                               [UNIT_NANO] = {"_nano", ""}};
    const char *suffix = suffixes[unit].column, *instead = suffixes[unit].metric;
    if (stem(column, "_hz") < (int)strlen(column)) {
        suffix = "_hz";
        instead = "_hertz";
    }
    snprintf(name, FAMILY_NAME_MAX, FAMILY_PREFIX "%s_%.*s%s", table, stem(column, suffix), column,
             instead);
}

const char *family_unit(const char *name) {
    static const char *const units[] = {"seconds", "bytes", "watts", "joules", "celsius", "hertz"};
    const char *last = strrchr(name, '_');
    for (size_t i = 0; last && i < ARRAY_SIZE(units); i++)
        if (strcmp(last + 1, units[i]) == 0)
            return units[i];
    return "";
}

const char *family_label(const char *instance) {
    return strcmp(instance, "host") == 0 ? "instance" : instance;
}

bool family_is_nano(enum unit unit) {
    return unit == UNIT_NS || unit == UNIT_NANO;
}
