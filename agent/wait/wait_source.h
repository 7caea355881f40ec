/* SPDX-License-Identifier: MIT */
/*
 * The wait clocks that programs in the kernel keep (agent/wait/). This header has two
 * implementations: wait_bpf.c, and wait_without.c for a build without libbpf or clang.
 */
#ifndef CHOKEPOINT_AGENT_WAIT_SOURCE_H
#define CHOKEPOINT_AGENT_WAIT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/wait/driver_symbols.h"
#include "agent/wait/wait_shared.h"

struct wait_source;

/* Memory that programs in the kernel write to while it is read: do not trust its contents. */
struct wait_memory {
    struct wait_thread *threads;    /* WAIT_THREADS */
    struct wait_process *processes; /* WAIT_PROCESSES */
    struct wait_socket *sockets;    /* WAIT_SOCKETS */
    struct wait_totals *totals;
    struct wait_pace *paces; /* WAIT_CORES */
    bool has_sockets;        /* this kernel reports arriving and read data (6.3 and later) */
};

/* Not built in, not installed, or not permitted: `why` says what would help. */
#define WAIT_ABSENT 1

/* config: contains the namespace of process ids; the numbers of system calls are filled in here.
 * sys: root of /sys. 0, WAIT_ABSENT or negative errno, with one line in why. */
int wait_source_open(const struct wait_config *config, const char *sys,
                     struct wait_source **ret_source, char *why, size_t why_size);
void wait_source_close(struct wait_source *source); /* takes NULL */

const struct wait_memory *wait_source_memory(const struct wait_source *source);

/* Adds processes to the job, by their ids; their descendants join by themselves. Negative errno. */
int wait_source_add(struct wait_source *source, uint32_t pid);
void wait_source_remove(struct wait_source *source, uint32_t pid);
/* Lets the threads of added processes join, and looks at threads without an event since a pause. It
 * walks over all tasks. Negative errno. */
int wait_source_adopt(struct wait_source *source);

/* Follows the calls of a GPU's driver: of each process of the job that maps this library, now or
 * later. Takes fd, the library's open file. Returns how many calls; 0: the file has none; negative
 * errno (-ENOSPC: too many files; -EOPNOTSUPP: the kernel did not take the programs). */
int wait_source_follow(struct wait_source *source, int fd, enum driver_library library);

/* While clocks are paused: detaches the programs that events call, and attaches them again.
 * drivers_too: also those that calls of GPU drivers call. Negative errno. */
void wait_source_rest(struct wait_source *source, bool drivers_too);
int wait_source_go_on(struct wait_source *source);

/* Reads at most n pairs of waiter and waker. Returns their number, or negative errno. */
int wait_source_wakeups(struct wait_source *source, struct wait_wakeup_key *ret_keys,
                        struct wait_wakeup *ret_values, size_t n);
void wait_source_forget_wakeup(struct wait_source *source, const struct wait_wakeup_key *key);
void wait_source_forget_socket(struct wait_source *source, uint64_t address);

#endif
