/* SPDX-License-Identifier: MIT */
/* Processes with wait clocks, connections and pairs, each described by its part of each second. */
#ifndef CHOKEPOINT_TESTS_WAIT_PLANT_H
#define CHOKEPOINT_TESTS_WAIT_PLANT_H

#include "tests/unit/plant.h"

struct process {
    int host;
    int64_t pid;
    double run, receive, send, timer, poll, lock, stopped, ready, gpu, to_gpu,
        from_gpu; /* shares of time; their sum is its life; it waits for a GPU on a core */
    int rank1;    /* its rank plus 1; 0: none */
    int64_t parent;
    double begin_s;              /* before that it sleeps */
    double counted;              /* CPU time by the kernel's counters; 0: as the clocks say */
    double queued;               /* threads that queue for a core while another one runs */
    double run_ends, timer_ends; /* how often a second */
    double ticked;               /* a thread ended these waits that slept only at last */
    double pipe;                 /* share of time, waiting for a pipe */
    double threads_disk, threads_poll,
        lock_ends; /* of its threads: shares of time; ends a second */
};
struct socket {
    int64_t pid;
    double starved, unread, blocked, process_starved, reads;
};
struct pair {
    int64_t pid, waker;
    double reason, wait;
};

static struct process process_now;
static struct socket socket_now;
static struct pair pair_now;
static double pair_process_now, pair_ends_now; /* wait of the process, ends a second */
static double sockets_begin_s;                 /* before that no process waits for one */

static inline double process_row(size_t column, double t_s) {
    double lives = t_s >= process_now.begin_s;
    switch (column) {
    case PROCESS_PID:
        return (double)process_now.pid;
    case PROCESS_RANK:
        return process_now.rank1 ? process_now.rank1 - 1 : NAN;
    case PROCESS_PARENT:
        return (double)process_now.parent;
    case PROCESS_JOB:
        return 1;
    case PROCESS_THREADS:
        return 1;
    case PROCESS_RUN_QUEUE:
        return lives * (process_now.ready + process_now.queued) * 1e9;
    case PROCESS_USER:
        return lives * 1e9 *
               ((process_now.counted > 0 ? process_now.counted : process_now.run) +
                process_now.gpu + process_now.to_gpu + process_now.from_gpu);
    case PROCESS_GPU:
        return process_now.gpu + process_now.to_gpu + process_now.from_gpu > 0;
    default:
        return 0;
    }
}

static inline double wait_row(size_t column, double t_s) {
    double lives = t_s >= process_now.begin_s;
    switch (column) {
    case WAIT_PID:
        return (double)process_now.pid;
    case WAIT_PROCESS_RUN:
    case WAIT_NS_RUN:
        return lives * process_now.run * 1e9;
    case WAIT_PROCESS_SOCKET_RECEIVE:
        return lives * process_now.receive * 1e9;
    case WAIT_PROCESS_SOCKET_SEND:
        return lives * process_now.send * 1e9;
    case WAIT_PROCESS_TIMER:
        return (lives ? process_now.timer + process_now.ticked : 1) * 1e9;
    case WAIT_NS_TIMER:
        return (lives ? process_now.timer : 1) * 1e9;
    case WAIT_PROCESS_POLL:
        return lives * process_now.poll * 1e9;
    case WAIT_PROCESS_PIPE:
        return lives * process_now.pipe * 1e9;
    case WAIT_PROCESS_FUTEX:
        return lives * process_now.lock * 1e9;
    case WAIT_PROCESS_RUNNABLE:
        return lives * process_now.ready * 1e9;
    case WAIT_PROCESS_STOPPED:
        return lives * process_now.stopped * 1e9;
    case WAIT_NS_DISK:
        return lives * process_now.threads_disk * 1e9;
    case WAIT_NS_POLL:
        return lives * process_now.threads_poll * 1e9;
    case WAIT_TIMES_RUN:
        return lives * process_now.run_ends;
    case WAIT_TIMES_TIMER:
        return lives * process_now.timer_ends;
    case WAIT_TIMES_FUTEX:
        return lives * process_now.lock_ends;
    case WAIT_PROCESS_GPU:
    case WAIT_NS_GPU:
        return lives * process_now.gpu * 1e9;
    case WAIT_PROCESS_COPY_TO_GPU:
    case WAIT_NS_COPY_TO_GPU:
        return lives * process_now.to_gpu * 1e9;
    case WAIT_PROCESS_COPY_FROM_GPU:
    case WAIT_NS_COPY_FROM_GPU:
        return lives * process_now.from_gpu * 1e9;
    default:
        return 0;
    }
}

static inline double socket_row(size_t column, double t_s) {
    double asks = t_s >= sockets_begin_s;
    switch (column) {
    case SOCKET_WAIT_PID:
        return (double)socket_now.pid;
    case SOCKET_WAIT_STARVED:
        return asks * socket_now.starved * 1e9;
    case SOCKET_WAIT_UNREAD:
        return asks * socket_now.unread * 1e9;
    case SOCKET_WAIT_SEND_BLOCKED:
    case SOCKET_WAIT_PROCESS_SEND_BLOCKED:
        return asks * socket_now.blocked * 1e9;
    case SOCKET_WAIT_READS:
        return asks * socket_now.reads;
    case SOCKET_WAIT_PROCESS_STARVED:
        return asks * socket_now.process_starved * 1e9;
    default:
        return 0;
    }
}

static inline double pair_row(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case WAKEUP_PID:
        return (double)pair_now.pid;
    case WAKEUP_WAKER:
        return (double)pair_now.waker;
    case WAKEUP_REASON:
        return pair_now.reason;
    case WAKEUP_TIMES:
        return pair_ends_now;
    case WAKEUP_PROCESS:
        return pair_process_now * 1e9;
    default:
        return pair_now.wait * 1e9;
    }
}

static inline void add_process(struct recording *r, struct process p) {
    char name[32];
    process_now = p;
    snprintf(name, sizeof name, "p[%d]", (int)p.pid);
    plant(r, RECORDING_PROCESS, p.host, name, 0.1, PROCESS_LEVELS, process_row);
    plant(r, RECORDING_WAIT, p.host, name, 0.1, 1u << WAIT_PID, wait_row);
}

static inline void add_socket(struct recording *r, int host, const char *name, struct socket s) {
    socket_now = s;
    plant(r, RECORDING_SOCKET_WAIT, host, name, 0.1, 1u << SOCKET_WAIT_PID, socket_row);
}

static inline void plant_pair_row(struct recording *r, int host, struct pair p, double process,
                                  double ends) {
    pair_now = p;
    pair_process_now = process;
    pair_ends_now = ends;
    plant(r, RECORDING_WAKEUP, host, "a < b", 0.1,
          1u << WAKEUP_PID | 1u << WAKEUP_WAKER | 1u << WAKEUP_REASON, pair_row);
}

static inline void add_pair(struct recording *r, int host, struct pair p) {
    plant_pair_row(r, host, p, p.wait, 10);
}

/* Threads of a process wait for each other: `wait` in sum, `process` of the process as one. */
static inline void add_hand_over(struct recording *r, int host, int64_t pid, double wait,
                                 double process, double ends) {
    plant_pair_row(r, host, (struct pair){pid, pid, WAIT_REASON_FUTEX, wait}, process, ends);
}

#endif
