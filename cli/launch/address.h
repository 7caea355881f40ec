/* SPDX-License-Identifier: MIT */
/* The address of this machine at which a host reaches it. IPv4, like OpenMPI's own wiring by
 * default. */
#ifndef CHOKEPOINT_CLI_ADDRESS_H
#define CHOKEPOINT_CLI_ADDRESS_H

#include <stdbool.h>

#define ADDRESS_SIZE 16 /* "255.255.255.255" and its NUL */

/* True when the name is this machine's own, or resolves to an address of one of its interfaces. */
bool address_is_ours(const char *host);

/* The local address of the route towards the host (nothing is sent). `why` (NULL, or borrowed and
 * static) has the reason of a failure: -ENOENT if the name does not resolve, otherwise the errno of
 * routing. */
int address_towards(const char *host, char ret_address[ADDRESS_SIZE], const char **ret_why);

#endif
