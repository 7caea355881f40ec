/* SPDX-License-Identifier: MIT */
/* The compiled programs (wait.bpf.c), as a file that libbpf reads. Made while building. */
#ifndef CHOKEPOINT_AGENT_WAIT_OBJECT_H
#define CHOKEPOINT_AGENT_WAIT_OBJECT_H

#include <stddef.h>

extern const unsigned char wait_object[];
extern const size_t wait_object_size;

#endif
