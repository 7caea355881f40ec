/* SPDX-License-Identifier: MIT */
/* Reads a database as a user with sqlite3 does. */
#ifndef CHOKEPOINT_TESTS_STORED_NUMBER_H
#define CHOKEPOINT_TESTS_STORED_NUMBER_H

#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>

/* The first number of the query's first row; there must be one. */
static inline int64_t stored_number(const char *path, const char *query) {
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, query, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return value;
}

#endif
