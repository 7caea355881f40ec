/* SPDX-License-Identifier: MIT */
/* Names that columns had in older versions: databases keep them. */
#ifndef CHOKEPOINT_TABLES_FORMER_NAMES_H
#define CHOKEPOINT_TABLES_FORMER_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The n-th former name of a column, from 0 on; NULL: it has had no more. */
const char *former_name(const char *table, const char *column, size_t n);

/* Whether this version knows a column that a database has under that name. */
bool column_is_known(const char *table, const char *column);

#endif
