/* SPDX-License-Identifier: MIT */
/* Small files of the kernel and of /run: read and written whole, with paths built from a format. */
#ifndef CHOKEPOINT_CLI_FILE_H
#define CHOKEPOINT_CLI_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* Fills `to`; -ENAMETOOLONG when it does not fit. */
int path_format(char *to, size_t capacity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bool path_exists(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes `text` in one write() into an existing file, which files of cgroups require. */
int file_write(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes or replaces a file atomically (0644): readers see the old or the new content. */
int file_replace(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads the whole file as a string; -EFBIG when it does not fit with its NUL. Outputs may be
 * partly written on failure. */
int file_read(char *ret_text, size_t capacity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
