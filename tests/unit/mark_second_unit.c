/* SPDX-License-Identifier: MIT */
/* A second translation unit that includes the header must use the same ring. */
#include "agent/mark/chokepoint.h"

void mark_from_another_unit(int64_t number);

void mark_from_another_unit(int64_t number) {
    chokepoint_iteration(number);
}
