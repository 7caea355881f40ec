/* SPDX-License-Identifier: MIT */
/* JSON values: unknown ones, and untrusted text. */
#ifndef CHOKEPOINT_REPORTS_JSON_VALUE_H
#define CHOKEPOINT_REPORTS_JSON_VALUE_H

#include <jansson.h>

/* null for NAN and infinities. */
json_t *json_number(double value);
json_t *json_numbers(const double *items, size_t n);
/* null for NULL; characters that are unsafe for a reader become '?'. */
json_t *json_text(const char *text);

#endif
