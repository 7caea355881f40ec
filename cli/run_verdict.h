/* SPDX-License-Identifier: MIT */
/* What `run` prints at its end. */
#ifndef CHOKEPOINT_CLI_RUN_VERDICT_H
#define CHOKEPOINT_CLI_RUN_VERDICT_H

#include <stdint.h>
#include <stdio.h>

/* 0, or a negative errno when the run cannot be read. */
int run_verdict_print(const char *database, int64_t run, FILE *out);

#endif
