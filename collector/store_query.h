/* SPDX-License-Identifier: MIT */
/* Queries of people: any one SELECT over a database, which it cannot change. */
#ifndef CHOKEPOINT_COLLECTOR_STORE_QUERY_H
#define CHOKEPOINT_COLLECTOR_STORE_QUERY_H

#include "collector/store_read_tables.h"

/* Runs the statement and passes its rows on; tables of events have all their rows. The store
 * answers nothing else from then on. -EINVAL: it is no statement that reads, `why` tells; -ETIME:
 * it did more work than a query of this file may. */
int store_query(struct store *store, const char *sql, const struct store_view_reader *reader,
                char *why, size_t why_size);

#endif
