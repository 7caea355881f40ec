/* SPDX-License-Identifier: MIT */
/* Opening a recording, its report, and the words where one cannot be read or written. */
#ifndef CHOKEPOINT_CLI_REPORT_H
#define CHOKEPOINT_CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "reports/writer.h"

struct store;

#define REPORT_DATABASE "chokepoint.db" /* unless --db names another */

/* The verdict of a run in five lines, or with why: on one screen with its evidence; in colour if
 * out is a terminal that has any (and NO_COLOR is not set). Negative errno. */
int report_print_verdict(const char *db_path, int64_t run_id, bool why, FILE *out);

/* The end of a run: its verdict (out NULL: not shown), and its budgets into the database; where
 * they cannot be written, one line on standard error. Negative errno: no verdict. */
int report_conclude(const char *db_path, int64_t run_id, bool why, FILE *out);

/* Opens a database for reading. 0, or an exit status after one line on standard error. */
int report_open_database(const char *verb, const char *path, struct store **ret_store);

/* The report of a run. 0, or an exit status after one line on standard error. */
int report_build_or_say(const char *verb, struct store *store, const char *database,
                        const char *which, struct report **ret_report);

/* The exit status after one line on standard error; result: the negative errno of reading the
 * database, of finding or reading the run, or of writing to path (NULL: standard output). */
int report_cannot_read(const char *verb, struct store *store, const char *database, int result);
int report_cannot_read_run(const char *verb, struct store *store, const char *database,
                           const char *which, int result);
int report_cannot_write(const char *verb, const char *path, int result);

/* The verdict alone, for a terminal: on one screen with its evidence, or in five lines. */
extern const struct format report_screen, report_summary;

/* Writes the verdict as that screen, or those lines, in colour where out can show any. */
int report_write_verdict(const struct report *report, bool why, FILE *out);

/* Writes the rows of the run in the table budget. -EIO after one line on standard error; they can
 * be made again at any time. */
int report_keep_budget(const struct report *report, const char *db_path);

/* The ending of the file's name (NULL: there is no file), "" if it has none. */
const char *report_ending(const char *path);

/* The name of the format that path (NULL: none) ends with, in small letters or large; text if it
 * has no ending. NULL: one that is no format's. */
const char *report_format_of_ending(const char *path);

/* The writer asked for: by name, else by the ending of the path. NULL after one line on standard
 * error. */
const struct format *report_choose_format(const char *verb, const char *name, const char *path);

#endif
