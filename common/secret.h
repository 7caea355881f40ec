/* SPDX-License-Identifier: MIT */
/* Secrets that a process gets from its parent. */
#ifndef CHOKEPOINT_COMMON_SECRET_H
#define CHOKEPOINT_COMMON_SECRET_H

#include <stddef.h>

/* Copies an environment variable and wipes its original bytes: unsetenv alone leaves them in
 * /proc/<pid>/environ. "" when it is not set. -E2BIG: longer than capacity - 1; it is wiped all the
 * same, and "" returned. */
int secret_take(const char *name, char *ret_value, size_t capacity);

/* Reads the first line of fd, byte by byte, so that the bytes behind it stay. -E2BIG, -ENODATA (no
 * line end), -errno. */
int secret_read_line(int fd, char *ret_value, size_t capacity);

#endif
