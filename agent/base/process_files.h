/* SPDX-License-Identifier: MIT */
/*
 * The files of one process: each is opened, read once into a bounded buffer and closed. Paths are
 * relative to a descriptor of /proc. All return 0 or a negative errno, usually because the process
 * has ended; outputs are then untouched.
 */
#ifndef CHOKEPOINT_AGENT_PROBES_PROCESS_FILES_H
#define CHOKEPOINT_AGENT_PROBES_PROCESS_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COMM_MAX 31 /* the kernel's limit is 15; kernel threads may have more and are skipped */

struct process_stat {
    char comm[COMM_MAX + 1]; /* chosen by the process: any bytes but NUL */
    uint8_t comm_size;
    bool is_kernel;          /* a kernel thread */
    char state;              /* R running or ready, S asleep, D waiting for a disk, ... */
    int32_t last_cpu;        /* last core; -1: not known */
    int32_t parent, session; /* process ids; 0: none */
    int64_t threads, rss_pages;
    uint64_t user_ticks, system_ticks, start_ticks;      /* start: since boot */
    uint64_t children_user_ticks, children_system_ticks; /* of children, recursively */
    uint64_t minor_faults, major_faults;
    uint64_t block_io_ticks; /* UINT64_MAX: the kernel does not tell */
};

/* Stopped by a signal or a debugger. */
static inline bool process_is_stopped(const struct process_stat *stat) {
    return stat->state == 'T' || stat->state == 't';
}

struct process_io { /* of all its threads, and of children that ended and were waited for */
    uint64_t read_bytes, write_bytes;
};

struct thread_times {
    uint64_t run_ns, wait_ns; /* time on a core, and waiting for one */
    uint64_t turns;           /* number of times it got a core; 0: not known */
    uint64_t voluntary, involuntary;
    uint64_t read_bytes, write_bytes; /* its own, without ended children */
    bool has_times, has_switches, has_io;
};

/* The source of a rank's number; the last one in the list wins. A batch step's number may be that
 * of a whole launcher. PyTorch's RANK is a common word, which operators also give to launchers:
 * only what a launcher starts also has a LOCAL_RANK. */
enum rank_quality {
    RANK_OF_NONE,
    RANK_OF_STEP,
    RANK_OF_TORCH,
    RANK_OF_TORCH_LAUNCHER,
    RANK_OF_PMI,
    RANK_OF_PMIX,
    RANK_OF_OPENMPI
};

#define ROLE_MAX 31

struct process_environ {
    bool of_job;   /* CHOKEPOINT_RUN names this run */
    bool of_agent; /* CHOKEPOINT_AGENT is set: it launches or serves the measurement */
    int32_t rank;  /* -1: none */
    enum rank_quality rank_quality;
    char role[ROLE_MAX + 1]; /* "worker vm2-0" of Dask, "executor 3" of Spark; empty: none */
};

int process_read_stat(int proc_fd, int32_t pid, struct process_stat *ret_stat);
int process_read_io(int proc_fd, int32_t pid, struct process_io *ret_io);

/* Reads one thread of a process; fails only if none of its files can be read. with_io: also its
 * disk traffic, which costs one more file. before: the previous reading, zeroed at first. If the
 * thread has not run since then, the reading is unchanged, and one file tells so. */
int process_read_thread(int proc_fd, int32_t pid, int32_t tid, bool with_io,
                        const struct thread_times *before, struct thread_times *ret_times);

/* The user whose rights the process has. */
int process_read_user(int proc_fd, int32_t pid, uint32_t *ret_user);

/* The inode of the socket that a link in /proc/PID/fd names; untouched for other links. */
int process_read_socket(int fd_directory, const char *name, uint32_t *ret_inode);

/* Reads at most the first 256 KiB of the environment. buffer: scratch memory of that size. */
int process_read_environ(int proc_fd, int32_t pid, const char *run_id, char *buffer, size_t size,
                         struct process_environ *ret_environ);

/* The parsers of these files, for tests and fuzzing. False if the text is malformed. */
bool process_parse_stat(const char *text, size_t size, struct process_stat *ret_stat);
void process_parse_environ(const char *text, size_t size, const char *run_id,
                           struct process_environ *ret_environ);

#endif
