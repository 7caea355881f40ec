/* SPDX-License-Identifier: MIT */
/*
 * A recording for other programs to read: one file for each format. Unlike reports, exports judge
 * nothing and go from the store to the stream, so that a long recording needs little memory.
 */
#ifndef CHOKEPOINT_REPORTS_EXPORT_H
#define CHOKEPOINT_REPORTS_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "collector/store_read_tables.h"

struct export_format {
    const char *name; /* perfetto csv openmetrics */
    bool of_one_table;
    /* table: for formats of one table, else NULL. -ENOENT: the run has no such table; -EIO: the
     * stream failed; errors of the store.
     */
    int (*write)(struct store *store, const struct store_run *run, const char *table, FILE *out);
};

extern const struct export_format export_perfetto, export_csv, export_openmetrics;

/* NULL if there is no such format. */
const struct export_format *export_find_format(const char *name);

#endif
