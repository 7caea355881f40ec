/* SPDX-License-Identifier: MIT */
/* Tables of a comparison's page. */
#ifndef CHOKEPOINT_REPORTS_HTML_COMPARE_H
#define CHOKEPOINT_REPORTS_HTML_COMPARE_H

#include <stdio.h>

#include "reports/comparison/comparison.h"

void html_put_compared_parts(FILE *out, const struct comparison *c);
void html_put_compared_runs(FILE *out, const struct comparison *c);
void html_put_compared_hosts(FILE *out, const struct comparison *c);

#endif
