/* SPDX-License-Identifier: MIT */
/*
 * The destination of an export: as output.h, for data too large for memory. A file is written
 * without a name and gets one when it is complete, so nothing is left of an unfinished one.
 * Standard output, pipes and devices are written directly.
 */
#ifndef CHOKEPOINT_CLI_OUTPUT_STREAM_H
#define CHOKEPOINT_CLI_OUTPUT_STREAM_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

struct output_stream {
    FILE *file; /* write here */
    bool replaces, is_new;
    struct stat old;
    char target[PATH_MAX];    /* path of the file to replace, links resolved */
    char temporary[PATH_MAX]; /* "" while the file has no name */
};

/* path NULL or "-": standard output. Negative errno. */
int output_stream_open(struct output_stream *stream, const char *path);

/* result: of the writing so far; if negative, the old file stays. Returns the first error. */
int output_stream_close(struct output_stream *stream, int result);

#endif
