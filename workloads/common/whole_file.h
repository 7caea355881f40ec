/* SPDX-License-Identifier: MIT */
/*
 * A result on disk: it gets its name when it is whole. A full disk leaves an error, no half file
 * that somebody takes for a model or a summary, and what stood there before as it was.
 */
#ifndef CHOKEPOINT_WORKLOADS_WHOLE_FILE_H
#define CHOKEPOINT_WORKLOADS_WHOLE_FILE_H

#include <stddef.h>

/*
 * Writes n bytes to "PATH.part", which then becomes the file, with the mode of the one it replaces;
 * behind a link it is the file that is replaced, or made. A device or a pipe is written as it is,
 * and so is a file in a directory in which none may be made: that one alone can be left half.
 * Returns 0 or a negative errno.
 */
int whole_file_write(const char *path, const void *bytes, size_t n);

/* Writes all n bytes to an open file. Returns 0 or a negative errno. */
int file_write_all(int fd, const void *bytes, size_t n);

#endif
