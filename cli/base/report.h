/* SPDX-License-Identifier: MIT */
/* Opens a recording, makes its report, and explains why one cannot be read or written. */
#ifndef CHOKEPOINT_CLI_REPORT_H
#define CHOKEPOINT_CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "reports/writer.h"

struct store;

#define REPORT_DATABASE "chokepoint.db" /* default of --db */

/* The verdict of a run: five lines, or with `why` one screen with its evidence. In colour if out is
 * a terminal with colours (and NO_COLOR is not set). Negative errno. */
int report_print_verdict(const char *db_path, int64_t run_id, bool why, FILE *out);

/* Ends a run: shows its verdict (out NULL: does not), and stores its budgets in the database; if
 * that fails, prints one line on standard error. again: the command's words, to be printed where
 * the advice is to record it again; NULL: it had none. Negative errno: no verdict. */
int report_conclude(const char *db_path, int64_t run_id, bool why, const char *again, FILE *out);

/* Opens a database for reading. 0, or an exit status after one line on standard error. */
int report_open_database(const char *verb, const char *path, struct store **ret_store);

/* Makes the report of a run. 0, or an exit status after one line on standard error. */
int report_build_or_say(const char *verb, struct store *store, const char *database,
                        const char *which, struct report **ret_report);

/* The exit status after one line on standard error. result: the negative errno of reading the
 * database, of finding or reading the run, or of writing to path (NULL: standard output). */
int report_cannot_read(const char *verb, struct store *store, const char *database, int result);
int report_cannot_read_run(const char *verb, struct store *store, const char *database,
                           const char *which, int result);
int report_cannot_write(const char *verb, const char *path, int result);

/* The verdict alone: one screen with its evidence, or five lines, for a terminal; one line of JSON
 * for a field of a batch system. */
extern const struct format report_screen, report_summary, report_job;

/* Writes the verdict as that screen or those lines, in colour if out can show colours. */
int report_write_verdict(const struct report *report, bool why, FILE *out);

/* Whether out is a terminal that can show colours, and NO_COLOR is not set. */
bool report_may_colour(FILE *out);

/* Stores the run's verdict, and its rows in the table budget. -EIO after one line on standard
 * error; both can be made again at any time. */
int report_keep(const struct report *report, const char *db_path);

/* The ending of the file's name, "" if it has none; NULL without a path. */
const char *report_ending(const char *path);

/* The format of the ending of path (NULL: none), in small or capital letters; text without an
 * ending. NULL: an ending of no format. */
const char *report_format_of_ending(const char *path);

/* The writer by name, else by the ending of the path. NULL after one line on standard error. */
const struct format *report_choose_format(const char *verb, const char *name, const char *path);

#endif
