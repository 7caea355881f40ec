/* SPDX-License-Identifier: MIT */
/* Messages of a child of the server on its standard error, which is a file in memory. */
#ifndef CHOKEPOINT_CLI_SERVE_SAID_H
#define CHOKEPOINT_CLI_SERVE_SAID_H

#include <stddef.h>

/* The last line without "chokepoint VERB: ", made printable; `otherwise` if there is none. */
void said_last_line(int fd, const char *otherwise, char *to, size_t size);

#endif
