/* SPDX-License-Identifier: MIT */
/* How a run compares with the runs of the same command before it. */
#ifndef CHOKEPOINT_CLI_SINCE_H
#define CHOKEPOINT_CLI_SINCE_H

#include <stdint.h>
#include <stdio.h>

#include "collector/store_read.h"
#include "collector/store_verdict.h"

/* The sentence for run `id` among the runs of a database and their stored verdicts. limit: what the
 * run's verdict says now. Owned; NULL: nothing to compare it with, or no memory. */
char *since_say(const struct store_run *runs, size_t n, const struct store_verdict *verdicts,
                size_t n_verdicts, int64_t id, const char *limit);

/* Writes the line to `out`, if there is one. Failures are silent: the line is an extra. */
void since_write(const char *database, int64_t run, const char *limit, FILE *out);

#endif
