/* SPDX-License-Identifier: MIT */
/* Which address of ours a host reaches us by. IPv4: OpenMPI's own wiring is IPv4 by default, too.
 */
#ifndef CHOKEPOINT_CLI_ADDRESS_H
#define CHOKEPOINT_CLI_ADDRESS_H

#include <stdbool.h>

#define ADDRESS_SIZE 16 /* "255.255.255.255" and its NUL */

/* True when the name is this machine's own, or resolves to an address of one of its interfaces. */
bool address_is_ours(const char *host);

/* The local address of the route towards the host (nothing is sent). `why` (NULL, or borrowed and
 * static) says what is wrong on failure: -ENOENT when the name does not resolve, the errno of
 * routing otherwise. */
int address_towards(const char *host, char ret_address[ADDRESS_SIZE], const char **ret_why);

#endif
