/* SPDX-License-Identifier: MIT */
/* Running a small tool (ip, tc) to its end, without a shell. */
#ifndef CHOKEPOINT_CLI_SPAWN_H
#define CHOKEPOINT_CLI_SPAWN_H

#include <stddef.h>

#define SPAWN_FAILED 1 /* the tool ran and did not exit with 0, or could not be started */

/* Runs argv (NULL at its end; found in PATH, else in /usr/sbin and /sbin) and waits for it, in the
 * network namespace of the file `netns` unless that is NULL. Its stdin and stdout are /dev/null.
 * On failure ret_complaint holds the first line it wrote to stderr, or what became of it. Returns
 * 0, SPAWN_FAILED or a negative errno (-ENOENT: there is no such program). */
int spawn_tool(const char *netns, const char *const argv[], char *ret_complaint, size_t capacity);

#endif
