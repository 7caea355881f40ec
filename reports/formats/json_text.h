/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_REPORTS_FORMATS_JSON_TEXT_H
#define CHOKEPOINT_REPORTS_FORMATS_JSON_TEXT_H

#include <stdio.h>

/* Writes a text from outside as a JSON string, for writers that stream. NULL: null. */
void json_text_write(FILE *out, const char *text);

#endif
