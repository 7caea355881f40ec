/* SPDX-License-Identifier: MIT */
#include "common/duration.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "common/text.h"

#define NUMBER_SIZE 32

int duration_parse(const char *text, int64_t *ret_ns) {
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9},     {"s", 1e9},    {"ms", 1e6},    {"m", 60e9},
                 {"min", 60e9}, {"h", 3600e9}, {"d", 86400e9}, {"w", 604800e9}};
    char number[NUMBER_SIZE];
    size_t n = strspn(text, "0123456789.");
    double value;
    if (n == 0 || n >= sizeof number)
        return -EINVAL;
    snprintf(number, sizeof number, "%.*s", (int)n, text);
    if (text_parse_double(number, &value) < 0)
        return -EINVAL;
    for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
        if (strcmp(text + n, units[i].unit) != 0)
            continue;
        if (!(value * units[i].ns < 9.2e18))
            return -EINVAL;
        *ret_ns = (int64_t)(value * units[i].ns + 0.5);
        return 0;
    }
    return -EINVAL;
}
