/* SPDX-License-Identifier: MIT */
#include "agent/base/cpu_list.h"

#include "common/text.h"

bool cpu_list_next(const char **p, const char *end, uint64_t *ret_first, uint64_t *ret_last) {
    uint64_t first, last;
    if (!text_u64(p, end, &first))
        return false;
    last = first;
    if (*p < end && **p == '-') {
        (*p)++;
        if (!text_u64(p, end, &last))
            return false;
    }
    if (*p < end && **p == ',')
        (*p)++;
    *ret_first = first;
    *ret_last = last;
    return true;
}
