/* SPDX-License-Identifier: MIT */
#ifndef CHOKEPOINT_CLI_HEAP_H
#define CHOKEPOINT_CLI_HEAP_H

/*
 * For verbs that hold whole recordings: the heap gets pages of 2 MB where the kernel has them. In a
 * virtual machine a page fault of a small page costs as much as filling it several times over.
 * Before the first large allocation; address space alone is taken. Without effect where it cannot
 * be had.
 */
void heap_use_large_pages(void);

#endif
