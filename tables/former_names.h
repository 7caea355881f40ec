/* SPDX-License-Identifier: MIT */
/* Names of columns in older versions, which databases keep. */
#ifndef CHOKEPOINT_TABLES_FORMER_NAMES_H
#define CHOKEPOINT_TABLES_FORMER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The n-th former name of a column, from 0; NULL: there is none. */
const char *former_name(const char *table, const char *column, size_t n);

/* Whether this version knows a column of a database by its name there. */
bool column_is_known(const char *table, const char *column);

#endif
