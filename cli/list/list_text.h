/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_CLI_LIST_TEXT_H
#define CHOKEPOINT_CLI_LIST_TEXT_H

#include <stdbool.h>

#include "reports/runs.h"

/* Prints to standard output; nothing without runs. whole: commands and limits are not cut.
 * -ENOMEM. */
int list_print(const struct listed_run *runs, size_t n, bool whole);

#endif
