/* SPDX-License-Identifier: MIT */
#include "cli/base/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAP_BYTES (1 << 30) /* of address space; larger heaps use small pages */
#define MMAP_MAX (32 << 20)  /* the largest value that mallopt takes */
#define LARGE_PAGE (2u << 20)

/* glibc.malloc.hugetlb=1 does the same, but is read only at the start of a program. */
void heap_use_large_pages(void) {
    mallopt(M_MMAP_THRESHOLD, MMAP_MAX);
    mallopt(M_TRIM_THRESHOLD, HEAP_BYTES);
    mallopt(M_TOP_PAD, HEAP_BYTES);
    uintptr_t begin = (uintptr_t)sbrk(0);
    void *volatile grown = malloc(LARGE_PAGE); /* volatile: keeps the allocation */
    free(grown);
    uintptr_t end = (uintptr_t)sbrk(0);
    mallopt(M_TOP_PAD, LARGE_PAGE);
    begin = (begin + LARGE_PAGE - 1) & ~(uintptr_t)(LARGE_PAGE - 1);
    if (end > begin)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}
