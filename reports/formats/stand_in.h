/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_REPORTS_STAND_IN_H
#define CHOKEPOINT_REPORTS_STAND_IN_H

#include "common/text.h"

/* What stands for a character that text_char() does not let pass: a blank for what parts words. */
static inline const char *stand_in(const char *text) {
    return *text == '\n' || *text == '\r' || *text == '\t' ? " " : "?";
}

#endif
