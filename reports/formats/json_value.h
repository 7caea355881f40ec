/* SPDX-License-Identifier: MIT */
/* Values of JSON: of what is not known, and of text that may be anybody's. */
#ifndef CHOKEPOINT_REPORTS_JSON_VALUE_H
#define CHOKEPOINT_REPORTS_JSON_VALUE_H

#include <jansson.h>

/* null for NAN and infinities. */
json_t *json_number(double value);
/* null for NULL; characters that a reader must not get as '?'. */
json_t *json_text(const char *text);

#endif
