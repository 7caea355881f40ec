/* SPDX-License-Identifier: MIT */
/* Messages of a child of the server on its standard error, which is a file in memory. */
#ifndef CHOKEPOINT_CLI_SERVE_SAID_H
#define CHOKEPOINT_CLI_SERVE_SAID_H

#include <stddef.h>

/* Its last line without "chokepoint VERB: ", fit to be shown; `otherwise` if it said nothing. */
void said_last_line(int fd, const char *otherwise, char *to, size_t size);

#endif
