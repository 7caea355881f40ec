/* SPDX-License-Identifier: MIT */
/*
 * The metrics of the resource tables. Each is one line of a list in metric.c that says from which
 * columns it is made: a new metric is a new line.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_RECORDING_METRIC_H
#define CHOKEPOINT_ANALYSIS_FACTS_RECORDING_METRIC_H

/* In the order in which tables show them. */
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
    METRIC_PSI_CPU,   /* % of time at least one task waited */
    METRIC_PSI_MEMORY,
    METRIC_PSI_IO,
    METRIC_CPU_CORE_MAX,  /* % of the fullest core: an average over cores hides a single full one */
    METRIC_JOB_CPU,       /* % of one core, all processes of the job on the host (may exceed 100) */
    METRIC_JOB_RUN_QUEUE, /* % of one core: time runnable threads of the job waited for a core */
    METRIC_JOB_MEM,       /* GB resident, processes of the job */
    METRIC_COUNT_
};

/* "cpu_idle", "%", "idle CPU, all cores": names of the JSON contract, unit, words. */
const char *metric_name(enum metric metric);
const char *metric_unit(enum metric metric);
const char *metric_help(enum metric metric);

struct rate;
struct recording;

/* The metric of one host over the whole recording; an empty rate where nothing was recorded.
 * -ENOMEM. */
int metric_rate(const struct recording *recording, int host, enum metric metric,
                struct rate *ret_rate);

#endif
