/* SPDX-License-Identifier: MIT */
/*
 * A verdict from the samples alone, for whom the exact one keeps waiting: a child process judges
 * while its parent still reads single MPI calls. It shows nothing if the exact verdict is ready
 * first.
 */
#ifndef CHOKEPOINT_CLI_EARLY_VERDICT_H
#define CHOKEPOINT_CLI_EARLY_VERDICT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct early_verdict;

/* Starts the child, which waits EARLY_VERDICT_S first. Call it before the program has threads.
 * NULL: there is none, which costs nobody the exact verdict; early_verdict_end takes NULL.
 */
#define EARLY_VERDICT_S 2
struct early_verdict *early_verdict_begin(const char *db_path, int64_t run_id, FILE *out);

/* Ends the child. Returns whether it showed a verdict. */
bool early_verdict_end(struct early_verdict *early);

#endif
