/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_CLI_HEAP_H
#define CHOKEPOINT_CLI_HEAP_H

/*
 * For verbs that hold whole recordings: the heap gets pages of 2 MB if the kernel has them. In a
 * virtual machine the fault of a small page costs as much as filling it several times. Call it
 * before the first large allocation; it only reserves address space. Without support it has no
 * effect.
 */
void heap_use_large_pages(void);

#endif
