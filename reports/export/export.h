/* SPDX-License-Identifier: MIT */
/*
 * A recording for other programs to read: one file for each format. Unlike reports, exports judge
 * nothing and go from the store to the stream, so that a long recording needs little memory; but
 * what a simulator replays (smpi) is made of the run model, and is a folder.
 */
#ifndef CHOKEPOINT_REPORTS_EXPORT_H
#define CHOKEPOINT_REPORTS_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "collector/store_read_tables.h"

#define EXPORT_REFUSED 1

/* An empty folder that an export fills. */
struct export_folder {
    int fd;
    char why[160]; /* of a refusal: a sentence without its end */
};

struct export_format {
    const char *name; /* perfetto csv openmetrics smpi */
    bool of_one_table;
    /* table: for formats of one table, else NULL. -ENOENT: the run has no such table; -EIO: the
     * stream failed; errors of the store. NULL: it writes a folder.
     */
    int (*write)(struct store *store, const struct store_run *run, const char *table, FILE *out);
    /* EXPORT_REFUSED: the run cannot be written so, or the folder not be filled; errors of the
     * store. Nothing is left in the folder then.
     */
    int (*write_folder)(struct store *store, const struct store_run *run,
                        struct export_folder *folder);
};

extern const struct export_format export_perfetto, export_csv, export_openmetrics, export_smpi;

/* NULL if there is no such format. */
const struct export_format *export_find_format(const char *name);

#endif
