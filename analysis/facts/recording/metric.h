/* SPDX-License-Identifier: MIT */
/*
 * The metrics of the resource tables. Each is one line of a list in metric.c that names the columns
 * it is made from: a new metric is a new line.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_RECORDING_METRIC_H
#define CHOKEPOINT_ANALYSIS_FACTS_RECORDING_METRIC_H

#include <stdbool.h>

/* In the order of the tables. */
enum metric {
    METRIC_CPU_IDLE,   /* % of all cores of the host */
    METRIC_CPU_USER,   /* user and nice */
    METRIC_CPU_SYSTEM, /* system, irq, softirq */
    METRIC_CPU_IOWAIT,
    METRIC_CPU_STEAL,
    METRIC_MEM_USED, /* GB: total - available, as free(1) of procps-ng 4 */
    METRIC_MEM_FREE, /* GB: available */
    METRIC_NET_RECV, /* MB/s, all interfaces but lo */
    METRIC_NET_SEND,
    METRIC_DISK_READ, /* MB/s, each device once */
    METRIC_DISK_WRITE,
    METRIC_DISK_BUSY, /* % of the busiest device */
    METRIC_PSI_CPU,   /* % of time in which at least one task waited */
    METRIC_PSI_MEMORY,
    METRIC_PSI_IO,
    METRIC_CPU_CORE_MAX,  /* % of the busiest core, which an average over cores would hide */
    METRIC_JOB_CPU,       /* % of one core, all processes of the job on the host (may exceed 100) */
    METRIC_JOB_RUN_QUEUE, /* % of one core: time for which runnable threads of the job waited for a
                             core */
    METRIC_JOB_MEM,       /* GB resident, processes of the job */
    METRIC_GPU_SM,        /* % of multiprocessors at work, mean of the host's GPUs */
    METRIC_GPU_BUSY,      /* % of time with anything on it, mean of them */
    METRIC_GPU_TENSOR,    /* % of tensor cores at work, mean of them */
    METRIC_GPU_DRAM,      /* % of the bandwidth of their memory */
    METRIC_GPU_TO,        /* MB/s over PCIe to the GPUs */
    METRIC_GPU_FROM,      /* MB/s over PCIe from them */
    METRIC_GPU_MEM,       /* GB of their memory that is used */
    METRIC_GPU_WATTS,     /* W that they draw */
    METRIC_COUNT_
};

/* Name in the JSON contract, and unit: "cpu_idle", "%". */
const char *metric_name(enum metric metric);
const char *metric_unit(enum metric metric);
/* Whether only hosts with GPUs have it: where nothing is known of it, nothing is said of it. */
bool metric_is_of_gpu(enum metric metric);

struct rate;
struct recording;

/* The metric of one host over the whole recording; an empty rate if nothing was recorded. -ENOMEM.
 */
int metric_rate(const struct recording *recording, int host, enum metric metric,
                struct rate *ret_rate);

/* The metric of one instance, such as "gpu0", also of a part of a divided GPU. */
int metric_rate_of(const struct recording *recording, int host, enum metric metric,
                   const char *instance, struct rate *ret_rate);

#endif
