/* SPDX-License-Identifier: MIT */
/* Shared by the files of the rank probe: rank.c, rank_thread.c. */
#ifndef CHOKEPOINT_AGENT_PROBES_RANK_H
#define CHOKEPOINT_AGENT_PROBES_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/dirents.h"

#define RANKS_MAX 128        /* on this host */
#define RANK_THREADS_MAX 384 /* of all ranks; each holds a file open */

/* One process of a rank, known by its id and its start. */
struct ranked {
    int32_t pid, rank;
    uint64_t born;
    bool seen;
    int stat_fd;
    int64_t n_threads;       /* in its stat when its threads were listed */
    bool complete;           /* all its threads are watched */
    bool has_times;          /* the kernel keeps scheduler statistics */
    int64_t run_ns, wait_ns; /* growth added up over its threads; never steps back */
    int64_t longest_ns;      /* growth of the thread that ran longest in each sample, added up */
    int64_t stopped_ns;      /* time up to samples that found it stopped */
    int64_t sampled_ns;      /* CLOCK_MONOTONIC of its last sample; 0: none */
};

/* A thread of such a process; its schedstat stays open. */
struct ranked_thread {
    int32_t pid, tid;
    int fd;
    bool seen;
    uint64_t run_ns, wait_ns; /* as last read */
};

struct ranks {
    int proc_fd;
    uint64_t job_changes; /* the job's `changes` when it was last looked at */
    bool looked, told_delays;
    bool has_delays;   /* kernel.task_delayacct as last read ... */
    int64_t switch_ns; /* ... at this time */
    size_t n, n_threads;
    struct ranked items[RANKS_MAX];
    struct ranked_thread threads[RANK_THREADS_MAX];
    _Alignas(struct dirents_entry) char listing[4096];
};

/* Lists the threads of a process again. n_threads: their number in its stat. */
void rank_list_threads(struct ranks *ranks, struct ranked *rank, int64_t n_threads);

/* Adds up the time that its threads ran and waited since they were last read. */
void rank_read_threads(struct ranks *ranks, struct ranked *rank);

/* Forgets the threads of a process. */
void rank_drop_threads(struct ranks *ranks, int32_t pid);

#endif
