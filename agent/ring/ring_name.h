/* SPDX-License-Identifier: MIT */
/* Names of a ring's files: NUMBER.ring with at least ten digits, in the order of writing. */
#ifndef CHOKEPOINT_AGENT_RING_NAME_H
#define CHOKEPOINT_AGENT_RING_NAME_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define RING_NAME_SIZE 32
#define RING_NUMBER_MAX UINT64_C(999999999999999) /* fifteen digits */
#define RING_NEXT "next.tmp"                      /* a file until it is whole */
#define RING_TAIL "tail.lineage" /* blocks of lineages of the frames that are in no file yet */

static inline void ring_name_put(char ret_name[RING_NAME_SIZE], uint64_t number) {
    snprintf(ret_name, RING_NAME_SIZE, "%010" PRIu64 ".ring", number);
}

/* The number; false: another name. */
static inline bool ring_name_get(const char *name, uint64_t *ret_number) {
    size_t n = strspn(name, "0123456789");
    if (n < 10 || n > 15 || strcmp(name + n, ".ring") != 0)
        return false;
    *ret_number = 0;
    for (size_t i = 0; i < n; i++)
        *ret_number = *ret_number * 10 + (uint64_t)(name[i] - '0');
    return true;
}

#endif
