/* SPDX-License-Identifier: MIT */
/*
 * The kernel's record of each task (thread) as it ends: taskstats, over generic netlink. Needs
 * CAP_NET_ADMIN, and the machine's first process and network namespaces.
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
    int32_t tid, pid, parent; /* parent: of the process, as it ended */
    bool is_last;             /* of the threads of its process */
    struct thread_times times;
    uint64_t user_us, system_us; /* its times.run_ns, split */
    uint64_t minor_faults, major_faults;
    uint64_t block_io_ns;
    uint64_t peak_rss_bytes; /* of its process */
};

typedef void exit_record_take(void *ctx, const struct exit_record *record);

struct exit_records { /* all zero: closed */
    struct netlink netlink;
    unsigned family;
};

/* Begins to listen. sys: root of /sys, which says what CPUs there may be. Negative errno, with one
 * line in why[why_size]: records do not come here. */
int exit_records_open(struct exit_records *ret_records, const char *sys, char *why,
                      size_t why_size);
void exit_records_close(struct exit_records *records);

/* Hands on what came since the last call. -ENOBUFS: more ended than was read in time, and some of
 * it is lost; or another negative errno. */
int exit_records_drain(struct exit_records *records, exit_record_take *take, void *ctx);

/* One message of the family, as the kernel sends it; false: no record of a task. */
bool exit_record_read(struct bytes payload, struct exit_record *ret_record);

#endif
