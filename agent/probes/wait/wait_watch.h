/* SPDX-License-Identifier: MIT */
/*
 * The clocks of the job's threads, processes and sockets as they stand at one instant, by process.
 * The probe wait opens and reads them, socket_wait and wakeup tell what it found.
 *
 * The memory they stand in is written to by the kernel meanwhile; so a thread is read again when it
 * changed, numbers that cannot be are left out, and nothing that was told ever steps back.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_WAIT_WATCH_H
#define CHOKEPOINT_AGENT_PROBES_WAIT_WATCH_H

#include "agent/base/idmap.h"
#include "agent/base/job.h"
#include "agent/base/probe.h"
#include "agent/wait/wait_source.h"

#define WAIT_GROUPS_MAX 2048

/* How time that was not clocked is shared out over the states. */
struct wait_shares {
    uint64_t before_ns[WAIT_STATES]; /* clocked up to the sample before */
    double share[WAIT_STATES];       /* of late */
    uint64_t shared_ns[WAIT_STATES]; /* what was shared out */
    uint64_t unshared_ns;            /* not clocked, and not shared out yet */
    double clocked_ns;               /* since time was last shared out */
    double scale; /* of what is shared out in this sample to what was clocked; 0: nothing is */
};

/* A process of the job: the sum of its threads, and the process as one. */
struct wait_group {
    int32_t pid;
    uint64_t start_ns;
    uint64_t seen;                  /* number of the sample that saw a thread of it last */
    size_t threads;                 /* in this sample */
    int32_t rank;                   /* -1: none */
    bool born;                      /* started after the first sample */
    bool listed;                    /* the process probe says that it is of the job */
    bool sent;                      /* has had a row under this name */
    uint64_t ended_ns[WAIT_STATES]; /* of threads that have ended ... */
    uint64_t ended_times[WAIT_STATES];
    uint64_t ns[WAIT_STATES]; /* of all: what is told, never steps back */
    uint64_t times[WAIT_STATES];
    uint64_t now_ns[WAIT_STATES], now_times[WAIT_STATES]; /* while a sample is taken */
    struct wait_shares shares;
    uint32_t state; /* of the last of its threads that was looked at */
    uint64_t process_ended_ns[WAIT_STATES], process_now_ns[WAIT_STATES];
    uint64_t process_ns[WAIT_STATES]; /* what is told, never steps back */
    struct wait_shares process_shares;
    int64_t told_ns; /* when it last had a row */
    uint64_t told_changes;
    char name[INSTANCE_MAX + 1];     /* as in table process; "" until it is listed */
    char old_name[INSTANCE_MAX + 1]; /* renamed since its last row: its name there */
};

/* A socket's slot as seen so far. */
struct wait_socket_seen {
    uint64_t cookie;
    uint64_t starved_ns, unread_ns, send_blocked_ns; /* as told */
    uint64_t waits_ns[2]; /* of threads blocked on it now: to receive, to send */
    uint64_t told_reads;
    uint64_t scaled_from[7], scaled[7]; /* counters as of the last share, and what it added */
    int64_t told_ns;                    /* when it last had a row */
    uint64_t idle;                      /* samples in which its process was not there */
    bool born;
};

struct wait_watch { /* all zero: not open */
    bool is_open;
    struct wait_source *source; /* NULL: the memory is a test's */
    struct wait_memory memory;
    uint64_t sample; /* number of the current sample, from 1 */
    uint64_t job_passes, job_changes;
    size_t n_members; /* told to the source */
    uint32_t members[JOB_PROCESSES_MAX];
    uint32_t high_threads, high_processes, high_sockets; /* slots in use are below */
    uint64_t first_boot_ns;
    bool told[WAIT_LOSSES]; /* that some found no room */
    bool told_pause, rests;
    uint64_t known_ns;   /* until when this sample knows: its time, or the beginning of a pause */
    int64_t counted_ns;  /* when events were last set to zero */
    struct idmap by_pid; /* places in groups */
    struct wait_group groups[WAIT_GROUPS_MAX];
    uint64_t unseen_ns[WAIT_STATES], unseen_times[WAIT_STATES]; /* of processes never listed */
    uint64_t unseen_process_ns[WAIT_STATES];
    uint64_t unseen; /* how many they are */
    bool unseen_sent;
    struct wait_socket_seen sockets[WAIT_SOCKETS];
};

/* 0, PROBE_ABSENT or negative errno with one line in why. */
int wait_watch_open(struct wait_watch *watch, const struct probe_env *env, char *why,
                    size_t why_size);
void wait_watch_close(struct wait_watch *watch);

/* Brings groups and in-progress waits up to env->mono_ns, and frees what has ended since. */
int wait_watch_read(struct wait_watch *watch, const struct probe_env *env);

/* Forgets the groups that have ended: to be called once their last rows are told. */
void wait_watch_forget(struct wait_watch *watch);

/* A walk over slots, from 0. The search for a free one begins at *next afterwards, so that those in
 * use stay together. high: below it slots were in use; the end of the walk returns that anew. */
struct wait_walk {
    uint32_t n, lowest, high;
};
struct wait_walk wait_walk_begin(uint32_t high, const uint32_t *next, uint32_t capacity);
void wait_walk_saw(struct wait_walk *walk, uint32_t at, bool is_free);
uint32_t wait_walk_end(const struct wait_walk *walk, uint32_t *next, uint32_t capacity);

/* NULL: no process of that id is known to be of the job. */
const struct wait_group *wait_watch_find(const struct wait_watch *watch, uint32_t pid);

#endif
