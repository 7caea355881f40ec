/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_REPORTS_STAND_IN_H
#define CHOKEPOINT_REPORTS_STAND_IN_H

#include "common/text.h"

/* The replacement of a character that text_char() refuses: a blank for white space, else "?". */
static inline const char *stand_in(const char *text) {
    return *text == '\n' || *text == '\r' || *text == '\t' ? " " : "?";
}

#endif
