/* SPDX-License-Identifier: MIT */
/* Parts of the JSON documents that reports and comparisons share; references are the caller's. */
#ifndef CHOKEPOINT_REPORTS_JSON_H
#define CHOKEPOINT_REPORTS_JSON_H

#include <jansson.h>
#include <stdio.h>

#include "reports/comparison/comparison.h"

json_t *json_number_or_null(double value);
json_t *json_text(const char *text);   /* null for NULL */
json_t *json_instant(int64_t wall_ns); /* 2026-11-20T09:41:11.123Z */
json_t *json_run(const struct report *report);
json_t *json_verdict(const struct report *report);
json_t *json_iterations(const struct report *report);
json_t *json_budget(const struct report *report);
json_t *json_critical_path(const struct report *report);
json_t *json_budget_iterations(const struct report *report);
json_t *json_efficiency(const struct report *report);
json_t *json_operators(const struct report *report);
json_t *json_timeline(const struct report *report); /* null where there is none */
json_t *json_report(const struct report *report);

struct store_ceiling;
json_t *json_ceilings(const struct store_ceiling *ceilings, size_t n);

/* Takes the document; -ENOMEM if it is NULL, -EIO. */
int json_write(json_t *document, FILE *out);

int json_write_comparison(const struct comparison *comparison, FILE *out);

#endif
