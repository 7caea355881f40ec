/* SPDX-License-Identifier: MIT */
#include "common/segment_name.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void segment_name_put(char ret_name[SEGMENT_NAME_SIZE], uint64_t stream, uint32_t number) {
    snprintf(ret_name, SEGMENT_NAME_SIZE, "%016" PRIx64 "-%06" PRIu32 ".spool", stream, number);
}

bool segment_name_get(const char *name, uint64_t *ret_stream, uint32_t *ret_number) {
    char *end;
    if (strspn(name, "0123456789abcdef") != 16 || name[16] != '-' ||
        !isdigit((unsigned char)name[17]))
        return false;
    errno = 0;
    unsigned long long stream = strtoull(name, NULL, 16), number = strtoull(name + 17, &end, 10);
    if (errno || number >= UINT32_MAX || strcmp(end, ".spool") != 0)
        return false;
    *ret_stream = stream;
    *ret_number = (uint32_t)number;
    return true;
}
