/* SPDX-License-Identifier: MIT */
/* The directory in which an agent was delivered to its host. */
#ifndef CHOKEPOINT_AGENT_DELIVERED_H
#define CHOKEPOINT_AGENT_DELIVERED_H

/* Removes the program and the directory. Negative errno. */
int delivered_remove(const char *directory);

#endif
