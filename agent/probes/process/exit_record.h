/* SPDX-License-Identifier: MIT */
/*
 * The kernel's record of each task (thread) that ends: taskstats, over generic netlink. It needs
 * CAP_NET_ADMIN and the machine's first namespaces of processes and network.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_EXIT_RECORD_H
#define CHOKEPOINT_AGENT_PROBES_EXIT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/netlink.h"
#include "agent/base/process_files.h"

struct exit_record {
    char comm[COMM_MAX + 1];
    uint8_t comm_size;
    int32_t tid, pid, parent; /* parent: of the process, when it ended */
    bool is_last;             /* the last thread of its process */
    struct thread_times times;
    uint64_t user_us, system_us; /* times.run_ns, split */
    uint64_t minor_faults, major_faults;
    uint64_t block_io_ns;
    uint64_t peak_rss_bytes; /* of its process */
};

typedef void exit_record_take(void *ctx, const struct exit_record *record);

struct exit_records { /* all zero: closed */
    struct netlink netlink;
    unsigned family;
};

/* Begins to listen. sys: root of /sys, which has the list of possible CPUs. Negative errno, with
 * one line in why[why_size]: no records arrive here. */
int exit_records_open(struct exit_records *ret_records, const char *sys, char *why,
                      size_t why_size);
void exit_records_close(struct exit_records *records);

/* Passes on the records since the last call. -ENOBUFS: tasks ended faster than they were read, and
 * some records are lost; or another negative errno. */
int exit_records_drain(struct exit_records *records, exit_record_take *take, void *ctx);

/* One message of the family, as the kernel sends it. False: it is not the record of a task. */
bool exit_record_read(struct bytes payload, struct exit_record *ret_record);

#endif
