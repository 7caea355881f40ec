/* SPDX-License-Identifier: MIT */
/* Sections of the HTML page that the pages of one run and of a comparison share. */
#ifndef CHOKEPOINT_REPORTS_HTML_H
#define CHOKEPOINT_REPORTS_HTML_H

#include <stdio.h>

#include "reports/comparison/comparison.h"
#include "reports/model/model.h"

/* When, how long, on how many hosts, how it ended, and the command. */
void html_put_head(FILE *out, const struct report *report);

/* V1: state, sentence, evidence, what was ruled out. */
void html_put_verdict(FILE *out, const struct report *report);

/* Everything below the verdict: tables, plots, alerts, quality. */
void html_put_details(FILE *out, const struct report *report);

/* The page of a comparison. -EIO. */
int html_write_comparison(const struct comparison *comparison, FILE *out);

#endif
