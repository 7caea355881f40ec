/* SPDX-License-Identifier: MIT */
/* Secrets that a process was given. */
#ifndef CHOKEPOINT_COMMON_SECRET_H
#define CHOKEPOINT_COMMON_SECRET_H

#include <stddef.h>

/* Copies a variable of the environment and wipes it where the process was given it: unsetenv alone
 * leaves its bytes in /proc/<pid>/environ. "" when it is not set. -E2BIG: longer than capacity - 1
 * (wiped all the same, "" is returned). */
int secret_take(const char *name, char *ret_value, size_t capacity);

/* The first line of fd, byte by byte, so that nothing behind it is taken. -E2BIG, -ENODATA (it ends
 * without one), -errno. */
int secret_read_line(int fd, char *ret_value, size_t capacity);

#endif
