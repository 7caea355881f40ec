/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_REPORTS_JSON_TEXT_H
#define CHOKEPOINT_REPORTS_JSON_TEXT_H

#include <jansson.h>

/* A text from anywhere as a string of a document; NULL is null. */
json_t *json_of_text(const char *text);

#endif
