/* SPDX-License-Identifier: MIT */
/*
 * Where a report goes: standard output, or a file that is replaced as a whole. What was there stays
 * until the new one is complete: it is written beside it under another name and renamed.
 */
#ifndef CHOKEPOINT_CLI_OUTPUT_H
#define CHOKEPOINT_CLI_OUTPUT_H

#include <limits.h>
#include <stdio.h>

struct output {
    FILE *file;
    char path[PATH_MAX];      /* "" for standard output */
    char temporary[PATH_MAX]; /* "" when written in place (a pipe, a device) */
};

/* path NULL or "-": standard output. Negative errno. */
int output_open(struct output *output, const char *path);

/* Completes it. result: of the writing; if negative, what was there stays. Returns the first error
 * of both. */
int output_close(struct output *output, int result);

#endif
