/* SPDX-License-Identifier: MIT */
/*
 * The clocks of the job's threads, processes and sockets at one instant, by process. Probe wait
 * opens and reads them; socket_wait and wakeup report the results.
 *
 * The kernel writes to this memory meanwhile. So a thread is read again if it changed, impossible
 * numbers are left out, and reported numbers never step back.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_WAIT_WATCH_H
#define CHOKEPOINT_AGENT_PROBES_WAIT_WATCH_H

#include "agent/base/idmap.h"
#include "agent/base/job.h"
#include "agent/base/probe.h"
#include "agent/wait/wait_source.h"

#define WAIT_GROUPS_MAX 2048

/* How time without a clock is shared out over the states. */
struct wait_shares {
    uint64_t before_ns[WAIT_STATES]; /* clocked up to the last sample */
    double share[WAIT_STATES];       /* recent proportions */
    uint64_t shared_ns[WAIT_STATES]; /* shared out so far */
    uint64_t unshared_ns;            /* not clocked, and not shared out yet */
    double clocked_ns;               /* since the last sharing out */
    double scale; /* time shared out in this sample, relative to clocked time; 0: none */
};

/* A process of the job: the sum of its threads, and the process as one. */
struct wait_group {
    int32_t pid;
    uint64_t start_ns;
    uint64_t seen;                  /* number of the last sample that saw a thread of it */
    size_t threads;                 /* in this sample */
    int32_t rank;                   /* -1: none */
    bool born;                      /* started after the first sample */
    bool listed;                    /* the process probe says that it is of the job */
    bool sent;                      /* has had a row under this name */
    uint64_t ended_ns[WAIT_STATES]; /* of ended threads ... */
    uint64_t ended_times[WAIT_STATES];
    uint64_t ns[WAIT_STATES]; /* of all threads: reported, never steps back */
    uint64_t times[WAIT_STATES];
    uint64_t now_ns[WAIT_STATES], now_times[WAIT_STATES]; /* while a sample is in progress */
    struct wait_shares shares;
    uint32_t state;  /* of the thread that was looked at last */
    uint32_t states; /* mask of the states of its threads in this sample */
    uint64_t process_ended_ns[WAIT_STATES], process_now_ns[WAIT_STATES];
    uint64_t process_ns[WAIT_STATES]; /* reported, never steps back */
    struct wait_shares process_shares;
    int64_t told_ns; /* when it last had a row */
    uint64_t told_changes;
    bool has_driver;                 /* it maps the library of a GPU's driver: no more looks */
    int64_t look_ns, pause_ns;       /* when to look for one, and how long to wait after that */
    uint64_t mapped_pages;           /* at the last look */
    char name[INSTANCE_MAX + 1];     /* as in table process; "" until it is listed */
    char old_name[INSTANCE_MAX + 1]; /* its name before its last renaming, until a row is sent */
};

/* A library of a GPU's driver that some process of the job maps, as /proc/PID/maps names it. */
struct wait_driver_file {
    uint64_t device, inode;
};
#define WAIT_DRIVER_FILES 16 /* also those that cannot be followed */

/* A socket's slot at the last sample. */
struct wait_socket_seen {
    uint64_t cookie;
    uint64_t starved_ns, unread_ns, send_blocked_ns; /* as reported */
    uint64_t waits_ns[2]; /* of threads blocked on it now: receiving, sending */
    uint64_t told_reads;
    uint64_t scaled_from[7], scaled[7]; /* counters at the last sharing out, and its addition */
    int64_t told_ns;                    /* when it last had a row */
    uint64_t idle;                      /* samples without its process */
    bool born;
};

struct wait_watch { /* all zero: not open */
    bool is_open;
    struct wait_source *source; /* NULL: the memory is a test's */
    struct wait_memory memory;
    uint64_t sample; /* number of the current sample, from 1 */
    uint64_t job_passes, job_changes;
    size_t n_members; /* reported to the source */
    uint32_t members[JOB_PROCESSES_MAX];
    uint32_t high_threads, high_processes, high_sockets; /* all slots in use are below */
    uint64_t first_boot_ns;
    struct wait_driver_file drivers[WAIT_DRIVER_FILES];
    size_t n_drivers;
    bool told[WAIT_LOSSES]; /* said that some found no room */
    bool told_pause, rests;
    uint64_t known_ns;   /* end of the clocked time: now, or the beginning of a pause */
    int64_t counted_ns;  /* when events were last reset to zero */
    struct idmap by_pid; /* index of groups */
    struct wait_group groups[WAIT_GROUPS_MAX];
    uint64_t unseen_ns[WAIT_STATES], unseen_times[WAIT_STATES]; /* of processes never listed */
    uint64_t unseen_process_ns[WAIT_STATES];
    uint64_t unseen; /* number of these processes */
    bool unseen_sent;
    struct wait_socket_seen sockets[WAIT_SOCKETS];
};

/* Returns 0, PROBE_ABSENT or negative errno with one line in why. */
int wait_watch_open(struct wait_watch *watch, const struct probe_env *env, char *why,
                    size_t why_size);
void wait_watch_close(struct wait_watch *watch);

/* Updates groups and waits in progress to env->mono_ns, and frees slots that have ended. */
int wait_watch_read(struct wait_watch *watch, const struct probe_env *env);

/* Forgets ended groups; call it once their last rows are written. */
void wait_watch_forget(struct wait_watch *watch);

/* A walk over slots, from 0. The next search for a free slot begins at *next, which keeps used
 * slots together. high: all slots in use are below; the end of the walk returns it anew. */
struct wait_walk {
    uint32_t n, lowest, high;
};
struct wait_walk wait_walk_begin(uint32_t high, const uint32_t *next, uint32_t capacity);
void wait_walk_saw(struct wait_walk *walk, uint32_t at, bool is_free);
uint32_t wait_walk_end(const struct wait_walk *walk, uint32_t *next, uint32_t capacity);

/* NULL: no process with that id is known in the job. */
const struct wait_group *wait_watch_find(const struct wait_watch *watch, uint32_t pid);

#endif
