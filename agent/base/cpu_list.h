/* SPDX-License-Identifier: MIT */
/* Lists of cores as the kernel writes them: "0-3,8,10-11". */
#ifndef CHOKEPOINT_AGENT_CPU_LIST_H
#define CHOKEPOINT_AGENT_CPU_LIST_H

#include <stdbool.h>
#include <stdint.h>

/* Takes the next range of numbers, both ends included, and moves *p behind it. False at the end of
 * the list and at anything that is no range.
 */
bool cpu_list_next(const char **p, const char *end, uint64_t *ret_first, uint64_t *ret_last);

#endif
