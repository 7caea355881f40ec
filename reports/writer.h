/* SPDX-License-Identifier: MIT */
/* Writes any kind of report in any format. -ENOMEM, -EIO. */
#ifndef CHOKEPOINT_REPORTS_WRITER_H
#define CHOKEPOINT_REPORTS_WRITER_H

#include <stdio.h>

#include "reports/formats/formats.h"
#include "reports/model/model.h"

struct comparison;

int report_write(const struct report *report, const struct format *format, FILE *out);
/* The alert log alone; in JSON the member alerts of the same schema. */
int report_write_alerts(const struct report *report, const struct format *format, FILE *out);
int comparison_write(const struct comparison *comparison, const struct format *format, FILE *out);

/* The comparison on one screen of at most 25 lines, for two groups. words: what the user named, as
 * arguments of the command that tells more. -ENOMEM, -EIO. */
int comparison_write_lines(const struct comparison *comparison, const char *words, FILE *out);

/* The verdict in five lines, as `run` prints it at its end. colour: whether out is a terminal that
 * wants it. */
int report_write_lines(const struct report *report, bool colour, FILE *out);
#define REPORT_JOB_MAX 2000
/* The verdict as one line of JSON (chokepoint.job/1) of at most REPORT_JOB_MAX bytes, whose
 * apostrophes, grave accents and capitals are escaped. */
int report_write_job(const struct report *report, FILE *out);
/* Its limit and worth alone, for a verdict that another one follows. */
int report_write_limit(const struct report *report, bool colour, FILE *out);

/* The verdict with its evidence, budgets and hosts on one screen. */
int report_write_screen(const struct report *report, bool colour, FILE *out);

#endif
