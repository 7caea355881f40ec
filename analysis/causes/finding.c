/* SPDX-License-Identifier: MIT */
#include "analysis/causes/finding.h"

#include <stddef.h>

const char *resource_name(enum resource resource) {
    static const char *const names[RESOURCE_COUNT_] = {
#define RESOURCE(code, name, words) [RESOURCE_##code] = name,
#include "analysis/causes/causes.def"
    };
    return names[resource];
}

const char *cause_name(enum cause_kind cause) {
    static const char *const names[CAUSE_COUNT_] = {
#define KIND(code, name) [CAUSE_##code] = name,
#include "analysis/causes/causes.def"
    };
    return names[cause];
}

const char *subject_name(enum subject subject) {
    static const char *const names[SUBJECT_COUNT_] = {
        [SUBJECT_NONE] = "none",           [SUBJECT_HOST] = "host",
        [SUBJECT_ALL_HOSTS] = "all-hosts", [SUBJECT_MACHINE] = "machine",
        [SUBJECT_CORE] = "core",           [SUBJECT_RANK] = "rank",
        [SUBJECT_PROCESS] = "process",     [SUBJECT_MESSAGES] = "messages",
        [SUBJECT_OUTSIDE] = "outside"};
    return names[subject];
}
