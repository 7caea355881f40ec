/* SPDX-License-Identifier: MIT */
/*
 * A result on disk that gets its name when it is complete. A full disk leaves an error and the old
 * file, and no partial file that could pass for a model or a summary.
 */
#ifndef CHOKEPOINT_WORKLOADS_WHOLE_FILE_H
#define CHOKEPOINT_WORKLOADS_WHOLE_FILE_H

#include <stddef.h>

/*
 * Writes n bytes to "PATH.part", which then replaces the file and keeps its mode; a link's target
 * is replaced or created. Devices and pipes are written directly, and so is a file in a directory
 * that allows no new files: only this one can be left incomplete. Returns 0 or a negative errno.
 */
int whole_file_write(const char *path, const void *bytes, size_t n);

/* Writes all n bytes to an open file. Returns 0 or a negative errno. */
int file_write_all(int fd, const void *bytes, size_t n);

#endif
