/* SPDX-License-Identifier: MIT */
/* Runs a small tool (ip, tc) to its end, without a shell. */
#ifndef CHOKEPOINT_CLI_SPAWN_H
#define CHOKEPOINT_CLI_SPAWN_H

#include <stddef.h>

#define SPAWN_FAILED 1 /* the tool did not exit with 0, or could not be started */

/* Runs argv (NULL-terminated; found in PATH, else in /usr/sbin and /sbin) and waits for it, in the
 * network namespace of the file `netns` unless that is NULL. Its stdin and stdout are /dev/null. On
 * failure ret_complaint has its first line on stderr, or how it ended. Returns 0, SPAWN_FAILED or a
 * negative errno (-ENOENT: there is no such program). */
int spawn_tool(const char *netns, const char *const argv[], char *ret_complaint, size_t capacity);

#endif
