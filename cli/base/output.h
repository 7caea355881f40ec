/* SPDX-License-Identifier: MIT */
/*
 * Where a report goes: standard output, or a file that is replaced as a whole. It is made in memory
 * first, so that errors of writing keep their reason and half a report is never shown; a file is
 * written beside the old one under another name and renamed.
 */
#ifndef CHOKEPOINT_CLI_OUTPUT_H
#define CHOKEPOINT_CLI_OUTPUT_H

#include <stdio.h>

struct stat;

struct output {
    FILE *file; /* write here */
    char *text;
    size_t size;
};

int output_open(struct output *output);

/* Brings it to path (NULL or "-": standard output). result: of the writing so far; if negative,
 * nothing is brought anywhere. Returns the first error. */
int output_close(struct output *output, const char *path, int result);

/* Gives a private file the mode of the old one, or (NULL) that of any new file. */
void output_set_mode(int fd, const struct stat *old);

#endif
