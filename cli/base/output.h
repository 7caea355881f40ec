/* SPDX-License-Identifier: MIT */
/*
 * The destination of a report: standard output, or a file that is replaced as a whole. The report
 * is made in memory first, so that errors of writing keep their reason and no partial report is
 * shown. A file is written under another name and renamed.
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

/* Writes the result to path (NULL or "-": standard output). result: of the writing so far; if
 * negative, nothing is written. Returns the first error. */
int output_close(struct output *output, const char *path, int result);

/* Gives a private file the mode of the old one, or (NULL) that of any new file. */
void output_set_mode(int fd, const struct stat *old);

#endif
