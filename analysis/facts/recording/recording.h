/* SPDX-License-Identifier: MIT */
/*
 * One run's samples and marks in memory, as analysis takes them. The reader of the database fills
 * it; nothing here reads.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_RECORDING_RECORDING_H
#define CHOKEPOINT_ANALYSIS_FACTS_RECORDING_RECORDING_H

#include "analysis/facts/recording/metric.h"
#include "analysis/facts/recording/mpi_event.h"
#include "analysis/facts/series/series.h"

enum recording_table {
    RECORDING_CPU,
    RECORDING_MEMORY,
    RECORDING_VMSTAT,
    RECORDING_DISK,
    RECORDING_NET,
    RECORDING_PSI,
    RECORDING_PROCESS,
    RECORDING_SELF,
    RECORDING_MPI,         /* a rank: totals of what it does inside MPI */
    RECORDING_RANK,        /* a process of a rank, more often than RECORDING_PROCESS */
    RECORDING_CGROUP,      /* a control group */
    RECORDING_CONNECTION,  /* a TCP connection of the job */
    RECORDING_QDISC,       /* a queue before an interface */
    RECORDING_NFS,         /* an operation of an export */
    RECORDING_FILESYSTEM,  /* a mounted one */
    RECORDING_LOAD,        /* of the host: averages and tasks */
    RECORDING_WAIT,        /* a process of the job: wait clocks */
    RECORDING_SOCKET_WAIT, /* a TCP connection of the job: its end's wait clocks */
    RECORDING_WAKEUP,      /* a pair of processes: one ended the other's waits */
    RECORDING_COUNT_
};

/* The columns each table is read with: bit numbers of the masks in metric.c. */
enum { CPU_USER, CPU_NICE, CPU_SYSTEM, CPU_IDLE, CPU_IOWAIT, CPU_IRQ, CPU_SOFTIRQ, CPU_STEAL };
enum { MEMORY_TOTAL, MEMORY_AVAILABLE, MEMORY_SWAP_TOTAL, MEMORY_SWAP_FREE };
enum { VMSTAT_SWAP_IN, VMSTAT_SWAP_OUT, VMSTAT_REFAULT, VMSTAT_RECLAIM_DIRECT, VMSTAT_OOM };
enum { DISK_READ_BYTES, DISK_WRITE_BYTES, DISK_BUSY };
/* NET_SPEED: bytes/s; NET_NETWORK: a number that interfaces of one network have in common; absent
 * in recordings of before they were kept. */
enum { NET_RECEIVE_BYTES, NET_SEND_BYTES, NET_SPEED, NET_NETWORK };
enum { PSI_SOME, PSI_FULL };
enum {
    PROCESS_PID,
    PROCESS_RANK,
    PROCESS_JOB,
    PROCESS_RSS,
    PROCESS_USER,
    PROCESS_SYSTEM,
    PROCESS_RUN_QUEUE,
    PROCESS_BLOCK_IO,
    PROCESS_READ,
    PROCESS_WRITE,
    PROCESS_START, /* on the run's axis */
    PROCESS_MAJOR_FAULTS,
    PROCESS_THREADS,
    PROCESS_PARENT, /* process id; absent in recordings of before it was kept, as the next */
    PROCESS_STOPPED,
    PROCESS_UNSEEN,   /* CPU time of its children that ended and that no row tells of */
    PROCESS_CHILDREN, /* of all of its children that ended; absent where exits were told one by one
                       */
    PROCESS_PEAK_RSS,
    PROCESS_GPU, /* 1: it maps a library of GPUs; absent in recordings of before it was looked for
                  */
};
/* SELF_LATE: of the row "agent" the most a frame was late since the row before: a host that stood
 * still shows how long. */
enum { SELF_CPU, SELF_SAMPLES, SELF_FAILURES, SELF_DROPPED, SELF_RSS, SELF_LATE };

enum {
    MPI_PID,
    MPI_RANK,
    MPI_INSIDE,
    MPI_MEASURED,
    MPI_CPU,
    MPI_EVENTS,
    MPI_LOST,
    MPI_SENT,
    MPI_RECEIVED,
    MPI_UNSIZED /* receives that count as all the bytes they had room for */
};
enum {
    RANK_PID,
    RANK_RUN,
    RANK_RUN_QUEUE,
    RANK_BLOCK_IO,
    RANK_MAJOR_FAULTS,
    RANK_LONGEST,
    RANK_RSS,    /* absent in recordings of before it was kept */
    RANK_STOPPED /* the same */
};
enum {
    CGROUP_THROTTLED,
    CGROUP_QUOTA,
    CGROUP_PERIOD,
    CGROUP_MEMORY,
    CGROUP_MEMORY_LIMIT,
    CGROUP_LIMIT_HITS,
    CGROUP_READ_BYTES,
    CGROUP_WRITE_BYTES,
    CGROUP_READ_LIMIT, /* bytes/s */
    CGROUP_CPU,
    CGROUP_PERIODS, /* in which it ran, and those in which it used up its quota */
    CGROUP_THROTTLED_PERIODS
};
enum {
    CONNECTION_PID,
    CONNECTION_BUSY,
    CONNECTION_RWND_LIMITED,
    CONNECTION_SNDBUF_LIMITED,
    CONNECTION_SEND_BYTES,
    CONNECTION_RTT,
    CONNECTION_MIN_RTT,
    CONNECTION_DELIVERY_RATE,
    CONNECTION_SEND_ROOM, /* of its buffers; absent in recordings of before these were kept */
    CONNECTION_RECEIVE_ROOM,
    CONNECTION_SEND_SEGMENTS,
    CONNECTION_RECEIVE_BYTES
};
enum {
    QDISC_SEND_BYTES,
    QDISC_SEND_PACKETS,
    QDISC_DROPS,
    QDISC_OVERLIMITS,
    QDISC_BACKLOG,
    QDISC_RATE
};
enum {
    NFS_OPERATIONS,
    NFS_RETRANSMISSIONS,
    NFS_SEND_BYTES,
    NFS_RECEIVE_BYTES,
    NFS_QUEUE,
    NFS_RTT,
    NFS_EXECUTE
};
enum { FILESYSTEM_SIZE, FILESYSTEM_FREE, FILESYSTEM_AVAILABLE };
enum {
    LOAD_1,
    LOAD_5,
    LOAD_15,
    LOAD_UPTIME,
    LOAD_RUNNING,
    LOAD_SLEEPING,
    LOAD_WAITING,
    LOAD_STOPPED,
    LOAD_ZOMBIE,
    LOAD_OTHER
};

/* Wait clocks of a whole process: where each instant of its life went. WAIT_RUNNABLE: no thread ran
 * and some was ready; blocked states: until a thread woke that was blocked so. */
enum {
    WAIT_PID,
    WAIT_RUN,
    WAIT_RUNNABLE,
    WAIT_SOCKET_RECEIVE,
    WAIT_SOCKET_SEND,
    WAIT_CONNECT,
    WAIT_ACCEPT,
    WAIT_POLL,
    WAIT_FUTEX,
    WAIT_PIPE,
    WAIT_UNIX,
    WAIT_DISK,
    WAIT_FAULT,
    WAIT_KERNEL,
    WAIT_TIMER,
    WAIT_CHILD,
    WAIT_STOPPED,
    WAIT_OTHER,
    WAIT_UNCLOCKED,
    WAIT_NAME /* no clock: the reason of pairs that waited for a server of names */
};
enum {
    SOCKET_WAIT_PID,
    SOCKET_WAIT_STARVED, /* of threads, as the next two */
    SOCKET_WAIT_UNREAD,
    SOCKET_WAIT_SEND_BLOCKED,
    SOCKET_WAIT_READS,
    SOCKET_WAIT_PROCESS_STARVED, /* all its process waited, until data came here; when it ended */
    SOCKET_WAIT_PROCESS_SEND_BLOCKED
};
enum {
    WAKEUP_PID,
    WAKEUP_WAKER,
    WAKEUP_REASON, /* the state of the waiter: number of the agent's enum wait_state */
    WAKEUP_WAIT,   /* of threads */
    WAKEUP_PROCESS /* all its process waited, until the waker ended it */
};

#define RECORDING_COLUMNS_MAX 19

struct recording_columns {
    const char *table;
    const char *const *columns;
    size_t n;
    uint64_t levels; /* which of them are */
};
extern const struct recording_columns recording_columns[RECORDING_COUNT_];

enum mark_kind { MARK_PHASE = 1, MARK_ITERATION = 2, MARK_OPERATOR = 3, MARK_VALUE = 4 };

#define MARK_NAME_SIZE 64

struct mark { /* what the program reports through chokepoint.h */
    int host;
    enum mark_kind kind;
    char name[MARK_NAME_SIZE];
    int rank;            /* -1: none */
    int64_t pid;         /* -1: unknown */
    int64_t number;      /* VALUE_ABSENT: none */
    int64_t start_ns;    /* since the command started */
    int64_t duration_ns; /* VALUE_ABSENT: it has not ended as far as we know */
    int64_t output_bytes, value_nano;
};

struct recording {
    int64_t duration_ns, period_ns;
    int exit_status; /* of the command, as a shell has it; -1: unknown, or it was interrupted */
    char **hosts;    /* names, owned */
    size_t n_hosts;
    struct series_set tables[RECORDING_COUNT_];
    struct mark *marks; /* any order */
    size_t n_marks, marks_capacity;
    struct mpi_log calls;    /* empty where no call was recorded */
    int64_t *clock_bound_ns; /* by host: how far its clock can be off the run's; -1: unknown */
    int64_t *machines; /* owned, by host: the same of hosts that are one kernel; VALUE_ABSENT, or
                          NULL: not known */
    double *ceilings;  /* owned, NULL: none; [host * METRIC_COUNT_ + metric], NAN: not measured */
};

/* How much of a recording is held: of more samples of hosts, or rows of cores, those that follow
 * each other are joined (series.h) when read. Meant for 100 hosts of 64 cores for an hour in 2 GB;
 * 10 hosts for an hour and a quarter are kept as they are. */
#define RECORDING_SAMPLES_MAX 500000
#define RECORDING_CORE_ROWS_MAX 8000000

/* The step in which to hold so many samples, or rows, of which there should be at most `max`: 0, or
 * 2, 5, 10, 20, ... periods. */
int64_t recording_step_ns(uint64_t n, uint64_t max, int64_t period_ns);

/* Single MPI calls that the ranks of a host have written and that are not in the log; 0 where there
 * is no log. */
uint64_t recording_calls_missing(const struct recording *recording, int host);
/* Marks of a host that no agent could read, or that did not fit. */
uint64_t recording_marks_missing(const struct recording *recording, int host);

/* Empty, with the columns of each table set. */
void recording_init(struct recording *recording);

/* After all rows are in: makes one series of those of one process under several names, with the
 * name it had last. -ENOMEM. */
int recording_join_names(struct recording *recording);

/* After the names are joined. Where PROCESS_CHILDREN is known, CPU time, bytes read and bytes
 * written of ended children are in the rows of their parent, too: takes out of these what rows of
 * the children tell, and leaves the rest of the time in PROCESS_UNSEEN, 0 where it was not
 * recorded. -ENOMEM. */
int recording_find_unseen(struct recording *recording);

struct recording_usage { /* VALUE_ABSENT: not known */
    int64_t cpu_ns, read_bytes, write_bytes;
};

#define RECORDING_ENDED "(ended between samples)"
#define RECORDING_ENDED_INSTANCE (-1)

/* After recording_find_unseen: what the rows of that host lack of what the kernel charged to the
 * command, which was started there, becomes a process of its own, RECORDING_ENDED. -ENOMEM. */
int recording_add_usage(struct recording *recording, int host, const struct recording_usage *usage);

/* The same of every other host than `except` (-1: none): what its ranks did after the last row of
 * their processes. -ENOMEM. */
int recording_add_rank_tails(struct recording *recording, int except);

/* After all rows are in: where a host is a control group, its CPU time is what the scheduler's
 * clock counted for the group, if that was recorded, and not what samples of the tick found. */
void recording_use_exact_cpu(struct recording *recording);

/* After all rows are in: takes out growth that cannot be (waits for disks longer than the process
 * was there, or than anybody on its host waited for them), and puts what processes of the job did
 * into the time of the run. */
void recording_settle(struct recording *recording);
void recording_release(struct recording *recording);
int recording_add_mark(struct recording *recording, const struct mark *mark);

/* Adds the measured ceiling of a host's metric, in the metric's unit; the highest of several
 * counts. After the hosts are set. -ENOMEM. */
int recording_add_ceiling(struct recording *recording, int host, enum metric metric, double value);
double recording_ceiling(const struct recording *recording, int host, enum metric metric);

#endif
