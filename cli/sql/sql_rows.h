/* SPDX-License-Identifier: MIT */
/* Rows of a query as text, CSV or JSON. */
#ifndef CHOKEPOINT_CLI_SQL_ROWS_H
#define CHOKEPOINT_CLI_SQL_ROWS_H

#include <stdio.h>

#include "collector/store_query.h"

enum sql_format { SQL_TEXT, SQL_CSV, SQL_JSON };

struct sql_rows; /* the state of a writer */

/* -ENOMEM. The reader's ctx is *ret_rows. */
int sql_rows_new(enum sql_format format, FILE *out, struct sql_rows **ret_rows,
                 struct store_view_reader *ret_reader);
/* Writes what is left. A negative errno if the output failed. */
int sql_rows_end(struct sql_rows *rows);
void sql_rows_free(struct sql_rows *rows); /* takes NULL */

#endif
