/* SPDX-License-Identifier: MIT */
/* Characters of texts from outside that no format passes on. */
#ifndef CHOKEPOINT_REPORTS_HOSTILE_H
#define CHOKEPOINT_REPORTS_HOSTILE_H

#include <stddef.h>

/* Bytes of a control character, or of one that turns the direction of writing (U+061C, U+200E,
 * U+200F, U+202A to U+202E, U+2066 to U+2069), at the beginning of the text; 0: neither. */
static inline size_t hostile_bytes(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    if ((s[0] && s[0] < 0x20) || s[0] == 0x7f)
        return 1;
    if (s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0)
        return 2;
    if (s[0] == 0xd8 && s[1] == 0x9c)
        return 2;
    if (s[0] == 0xe2 && s[1] == 0x80 &&
        (s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xaa && s[2] <= 0xae)))
        return 3;
    return s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9 ? 3 : 0;
}

#endif
