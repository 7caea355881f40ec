/* SPDX-License-Identifier: MIT */
/*
 * Shows tables of events, and of samples that are in blocks, in SQL: as virtual tables of a
 * connection, which have the rows of the table and those of its blocks. The same file is built as
 * an extension for other programs (libchokepoint-sql.so).
 */
#ifndef CHOKEPOINT_COLLECTOR_STORE_MODULE_H
#define CHOKEPOINT_COLLECTOR_STORE_MODULE_H

#include <stdbool.h>
#include <stddef.h>

struct sqlite3;

#define STORE_MODULE "chokepoint_events"

/* Registers the module. Returns a result code of SQLite, as below. unpacked() (or NULL) is told the
 * rows of each block that is unpacked, but no more than its bytes. */
int store_module_register(struct sqlite3 *db, void (*unpacked)(void *ctx, size_t n), void *ctx);

/* Makes temporary virtual tables in the place of these tables of the file: NAME shows all rows,
 * and so does NAME_rate, which the file describes. They go with the connection. */
int store_module_show(struct sqlite3 *db);

#endif
