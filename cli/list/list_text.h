/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_CLI_LIST_TEXT_H
#define CHOKEPOINT_CLI_LIST_TEXT_H

#include "reports/runs.h"

/* Prints to standard output; nothing without runs. -ENOMEM. */
int list_print(const struct listed_run *runs, size_t n);

#endif
