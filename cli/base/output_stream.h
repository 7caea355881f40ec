/* SPDX-License-Identifier: MIT */
/*
 * Where an export goes: as output.h, but for what may be too large to be made in memory. A file is
 * written without a name and gets one when it is whole; so nothing is left of one that was not
 * finished, whatever ended it. To standard output, a pipe or a device it goes as it comes.
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
    char target[PATH_MAX];    /* the file to be replaced, links resolved */
    char temporary[PATH_MAX]; /* "" while the file has no name */
};

/* path NULL or "-": standard output. Negative errno. */
int output_stream_open(struct output_stream *stream, const char *path);

/* result: of the writing so far; if negative, a file is left as it was. Returns the first error. */
int output_stream_close(struct output_stream *stream, int result);

#endif
