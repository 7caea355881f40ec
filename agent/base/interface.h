/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_AGENT_INTERFACE_H
#define CHOKEPOINT_AGENT_INTERFACE_H

#include <stdbool.h>

#define INTERFACE_NAME_SIZE                                                                        \
    16 /* IFNAMSIZ, of which two headers of the system have a definition                           \
        */

/* The name of a network interface, asked by any socket. False: there is none of that index, or it
 * has just gone. */
bool interface_name(int socket_fd, int index, char ret_name[INTERFACE_NAME_SIZE]);

#endif
