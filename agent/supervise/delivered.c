/* SPDX-License-Identifier: MIT */
#include "agent/supervise/delivered.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "common/error.h"

int delivered_remove(const char *directory) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/chokepoint-agent", directory);
    if (n < 0 || (size_t)n >= sizeof path)
        return -ENAMETOOLONG;
    return unlink(path) < 0 || rmdir(directory) < 0 ? negative_errno() : 0;
}
