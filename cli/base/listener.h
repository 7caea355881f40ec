/* SPDX-License-Identifier: MIT */
/* The program of this machine that listens on a TCP port. */
#ifndef CHOKEPOINT_CLI_LISTENER_H
#define CHOKEPOINT_CLI_LISTENER_H

#include <stdbool.h>
#include <stdint.h>

#define LISTENER_NAME_SIZE 64

/* Whether somebody listens there, in this network namespace. name: of the program; "": not known,
 * as for other users' programs without root. proc: "/proc". */
bool listener_find(const char *proc, uint16_t port, char name[LISTENER_NAME_SIZE]);

#endif
