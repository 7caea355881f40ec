/* SPDX-License-Identifier: MIT */
/*
 * The file that a process whose kernels are recorded writes: "<pid>.kernels" in the directory
 * of marks. It holds the last burst: what the process's GPUs did while their activity was recorded.
 * Host byte order; written by one thread, read with pread() while it may be written.
 */
#ifndef CHOKEPOINT_AGENT_KERNELS_KERNEL_FILE_H
#define CHOKEPOINT_AGENT_KERNELS_KERNEL_FILE_H

#include <stddef.h>
#include <stdint.h>

#define KERNEL_FILE_MAGIC UINT64_C(0x314e4c4b4b4843) /* "CHKKLN1" in memory */
#define KERNEL_FILE_SUFFIX ".kernels"

#define KERNEL_DEVICES_MAX 16
#define KERNEL_NAMES_MAX 128 /* those with the longest time on the GPU */
#define KERNEL_NAME_SIZE 80  /* with the NUL */
#define KERNEL_WHY_SIZE 160

/* One GPU in one burst. Times are of the GPU, as unions: two kernels at once count once. */
struct kernel_device {
    int64_t watched_ns; /* length of the burst */
    int64_t kernel_ns;  /* at least one kernel ran */
    int64_t copy_ns;    /* at least one copy or fill of memory ran */
    int64_t both_ns;    /* a kernel and a copy ran */
    int64_t kernels, copies;
    int64_t copied_bytes;
    int64_t streams; /* that ran a kernel or a copy */
    int64_t index;   /* number that CUDA gives it in this process; -1: no more devices */
};

struct kernel_sum {
    int64_t launches;
    int64_t busy_ns; /* sum of its runs */
    int64_t device;  /* index */
    char name[KERNEL_NAME_SIZE];
};

struct kernel_file {
    uint64_t magic;
    uint64_t sequence; /* odd while the rest is written; two more for each burst */
    int64_t pid;
    int64_t ended_ns; /* CLOCK_MONOTONIC at the end of the burst; 0: there was none */
    int64_t dropped;  /* records of this burst that are in no sum */
    int64_t n_kernels;
    char why[KERNEL_WHY_SIZE]; /* why there is no burst; "": there is */
    struct kernel_device devices[KERNEL_DEVICES_MAX];
    struct kernel_sum kernels[KERNEL_NAMES_MAX];
};

_Static_assert(offsetof(struct kernel_file, sequence) == 8, "readers look at the head alone");

#endif
