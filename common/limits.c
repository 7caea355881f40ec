/* SPDX-License-Identifier: MIT */
#include "common/limits.h"

#include <stddef.h>

static const int kinds[LIMITS_N] = {RLIMIT_FSIZE, RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_DATA,
                                    RLIMIT_CPU};

void limits_raise(struct limits *ret_before) {
    for (size_t i = 0; i < LIMITS_N; i++) {
        struct rlimit limit;
        if (getrlimit(kinds[i], &limit) < 0)
            limit = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
        if (ret_before)
            ret_before->values[i] = limit;
        limit.rlim_cur = limit.rlim_max;
        setrlimit(kinds[i], &limit);
    }
}

void limits_restore(const struct limits *before) {
    for (size_t i = 0; i < LIMITS_N; i++)
        setrlimit(kinds[i], &before->values[i]);
}

uint64_t limits_file_size(void) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX
                                                                                  : limit.rlim_cur;
}
