/* SPDX-License-Identifier: MIT */
/* Sockets that listen on exactly one numeric address each. */
#ifndef CHOKEPOINT_COLLECTOR_SERVER_LISTEN_H
#define CHOKEPOINT_COLLECTOR_SERVER_LISTEN_H

#include <stddef.h>

/* Listens on spec ("127.0.0.1:0", "[::1]:8080"; "fd:9" is a descriptor that listens already, which
 * is taken over). ret_text gets the address with its actual port. Returns the descriptor, or a
 * negative errno with one line in `why`. Names are not resolved: a name may have more addresses
 * than its user means. */
int listen_on(const char *spec, char *ret_text, size_t text_size, char *why, size_t why_size);

#endif
