/* SPDX-License-Identifier: MIT */
/*
 * The door of this folder: the GPUs of a host, read by a thread of its own, because a call into a
 * driver may take 67 ms and more, and a frame waits for nobody. The thread reads shortly before
 * each frame and hands over what it has read; nobody waits for a lock.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_GPU_GPU_H
#define CHOKEPOINT_AGENT_PROBES_GPU_GPU_H

#include <stdbool.h>
#include <stdio.h>

#include "agent/base/probe.h"

struct gpus;

/* Probe gpu opens it, gpu_process and gpu_device read it. All zero: not open. */
struct gpu_watch {
    struct gpus *gpus; /* owned */
};

/* Tells people which figures of GPUs can be seen. */
struct gpu_report {
    size_t n;      /* GPUs and instances of them */
    char why[160]; /* why there is none; "": there is no driver of GPUs */
    char *lines;   /* owned: a line for each */
    char *calls;   /* owned: a line for each function of NVML: how it answered, how long it took */
};

/* Asks all, as a recording does, with the rights that a recording keeps; takes half a second where
 * there are GPUs. sys: root of /sys. -ENOMEM or -EAGAIN. */
int gpu_examine(const char *sys, struct gpu_report *ret_report);
void gpu_report_release(struct gpu_report *report);

#endif
