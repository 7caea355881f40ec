/* SPDX-License-Identifier: MIT */
/* How tables and columns are called as series of Prometheus and its kin: the one mapping of all
 * exports, which reads descriptors and knows no name of a table. */
#ifndef CHOKEPOINT_REPORTS_FAMILY_H
#define CHOKEPOINT_REPORTS_FAMILY_H

#include "common/table.h"

#define FAMILY_PREFIX "chokepoint_"
#define FAMILY_NAME_MAX (sizeof FAMILY_PREFIX + 2 * TABLE_NAME_MAX + 16)

/* Makes chokepoint_cpu_user_seconds from "cpu" and "user_ns"; the samples of a counter have a
 * suffix, "_total". */
void family_name(const char *table, const char *column, enum unit unit, char name[FAMILY_NAME_MAX]);

/* The unit that a name carries as its last word, by the standard's list; "": none. */
const char *family_unit(const char *name);

/* The label of an instance; "host" is the label of the host itself. */
const char *family_label(const char *instance);

/* Whether values are 1e-9 of what the standard counts in: seconds, plain numbers. */
bool family_is_nano(enum unit unit);

#endif
