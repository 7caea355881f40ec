/* SPDX-License-Identifier: MIT */
/* Shared by the files of the rank probe: rank.c, rank_thread.c. */
#ifndef CHOKEPOINT_AGENT_PROBES_RANK_H
#define CHOKEPOINT_AGENT_PROBES_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/dirents.h"

#define RANKS_MAX 128        /* processes of ranks on this host */
#define RANK_THREADS_MAX 384 /* threads of all of them: each a file held open */

/* One process of a rank, known by its id and its start. */
struct ranked {
    int32_t pid, rank;
    uint64_t born;
    bool seen;
    int stat_fd;
    int64_t n_threads;       /* as its stat said when its threads were listed */
    bool complete;           /* all its threads are watched */
    bool has_times;          /* the kernel keeps scheduler statistics */
    int64_t run_ns, wait_ns; /* summed growth of its threads; never steps back */
    int64_t longest_ns;      /* the same of the one of them that ran longest each time */
    int64_t stopped_ns;      /* time up to samples at which it was stopped */
    int64_t sampled_ns;      /* CLOCK_MONOTONIC of the sample before; 0: none */
};

/* A thread of one of them; its schedstat stays open. */
struct ranked_thread {
    int32_t pid, tid;
    int fd;
    bool seen;
    uint64_t run_ns, wait_ns; /* when last read */
};

struct ranks {
    int proc_fd;
    uint64_t job_changes; /* of the job when it was last looked at */
    bool looked, told_delays;
    bool has_delays;   /* as kernel.task_delayacct said ... */
    int64_t switch_ns; /* ... then */
    size_t n, n_threads;
    struct ranked items[RANKS_MAX];
    struct ranked_thread threads[RANK_THREADS_MAX];
    _Alignas(struct dirents_entry) char listing[4096];
};

/* Finds a process's threads anew: n_threads says how many its stat shows. */
void rank_list_threads(struct ranks *ranks, struct ranked *rank, int64_t n_threads);

/* Adds up what its threads have run and waited since they were last read. */
void rank_read_threads(struct ranks *ranks, struct ranked *rank);

/* Forgets the threads of a process. */
void rank_drop_threads(struct ranks *ranks, int32_t pid);

#endif
