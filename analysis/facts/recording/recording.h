/* SPDX-License-Identifier: MIT */
/* One run's samples and marks in memory, for the analysis. The reader of the database fills it. */
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
    RECORDING_MPI,         /* a rank: its totals inside MPI */
    RECORDING_RANK,        /* a rank's process, sampled more often than RECORDING_PROCESS */
    RECORDING_CGROUP,      /* a control group */
    RECORDING_CONNECTION,  /* a TCP connection of the job */
    RECORDING_QDISC,       /* the queue of an interface */
    RECORDING_NFS,         /* an operation of an NFS mount */
    RECORDING_FILESYSTEM,  /* a mounted file system */
    RECORDING_LOAD,        /* the host's load averages and tasks */
    RECORDING_WAIT,        /* wait clocks of a process of the job */
    RECORDING_SOCKET_WAIT, /* wait clocks of one end of a TCP connection of the job */
    RECORDING_WAKEUP,      /* a pair of processes of which one ended waits of the other */
    RECORDING_COUNT_
};

/* The columns of each table; bit numbers of the masks in metric.c. */
enum { CPU_USER, CPU_NICE, CPU_SYSTEM, CPU_IDLE, CPU_IOWAIT, CPU_IRQ, CPU_SOFTIRQ, CPU_STEAL };
enum { MEMORY_TOTAL, MEMORY_AVAILABLE, MEMORY_SWAP_TOTAL, MEMORY_SWAP_FREE };
enum { VMSTAT_SWAP_IN, VMSTAT_SWAP_OUT, VMSTAT_REFAULT, VMSTAT_RECLAIM_DIRECT, VMSTAT_OOM };
enum { DISK_READ_BYTES, DISK_WRITE_BYTES, DISK_BUSY };
/* NET_SPEED: bytes/s; NET_NETWORK: a number that interfaces of one network share; absent in older
 * recordings.
 */
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
    PROCESS_PARENT, /* its process id; absent, like the next column, in older recordings */
    PROCESS_STOPPED,
    PROCESS_UNSEEN,   /* CPU time of ended children that no row shows */
    PROCESS_CHILDREN, /* of all ended children; absent if exits were recorded one by one */
    PROCESS_PEAK_RSS,
    PROCESS_GPU, /* 1: it maps a GPU library; absent in older recordings */
};
/* SELF_LATE: the largest delay of a frame since the row before, in row "agent": it shows how long a
 * host stood still.
 */
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
    MPI_UNSIZED /* receives of unknown size, counted as the bytes they had room for */
};
enum {
    RANK_PID,
    RANK_RUN,
    RANK_RUN_QUEUE,
    RANK_BLOCK_IO,
    RANK_MAJOR_FAULTS,
    RANK_LONGEST,
    RANK_RSS,    /* absent in older recordings */
    RANK_STOPPED /* absent in older recordings */
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
    CGROUP_PERIODS, /* in which it ran; in which it used up its quota */
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
    CONNECTION_SEND_ROOM, /* of its buffers; absent in older recordings */
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

/* Wait clocks of a whole process: each instant of its life is in exactly one. WAIT_RUNNABLE: no
 * thread ran, and some was ready. Blocked states: until a thread blocked in that state woke up.
 */
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
    WAIT_NAME /* no clock: the reason of pairs that waited for a name server */
};
enum {
    SOCKET_WAIT_PID,
    SOCKET_WAIT_STARVED, /* time of threads, like the next two */
    SOCKET_WAIT_UNREAD,
    SOCKET_WAIT_SEND_BLOCKED,
    SOCKET_WAIT_READS,
    SOCKET_WAIT_PROCESS_STARVED, /* time of the whole process until data came here, counted at the
                                    end of the wait */
    SOCKET_WAIT_PROCESS_SEND_BLOCKED
};
enum {
    WAKEUP_PID,
    WAKEUP_WAKER,
    WAKEUP_REASON, /* the state of the waiter: a value of the agent's enum wait_state */
    WAKEUP_WAIT,   /* time of threads */
    WAKEUP_PROCESS /* time of the whole process, until the waker ended the wait */
};

#define RECORDING_COLUMNS_MAX 19

struct recording_columns {
    const char *table;
    const char *const *columns;
    size_t n;
    uint64_t levels; /* mask of the columns that are levels */
};
extern const struct recording_columns recording_columns[RECORDING_COUNT_];

enum mark_kind { MARK_PHASE = 1, MARK_ITERATION = 2, MARK_OPERATOR = 3, MARK_VALUE = 4 };

#define MARK_NAME_SIZE 64

struct mark { /* a report of the program through chokepoint.h */
    int host;
    enum mark_kind kind;
    char name[MARK_NAME_SIZE];
    int rank;            /* -1: none */
    int64_t pid;         /* -1: unknown */
    int64_t number;      /* VALUE_ABSENT: none */
    int64_t start_ns;    /* since the command started */
    int64_t duration_ns; /* VALUE_ABSENT: it is not known to have ended */
    int64_t output_bytes, value_nano;
};

struct recording {
    int64_t duration_ns, period_ns;
    int exit_status; /* of the command, as a shell reports it; -1: unknown, or interrupted */
    char **hosts;    /* names, owned */
    size_t n_hosts;
    struct series_set tables[RECORDING_COUNT_];
    struct mark *marks; /* in any order */
    size_t n_marks, marks_capacity;
    struct mpi_log calls;    /* empty if no call was recorded */
    int64_t *clock_bound_ns; /* by host: the bound of its clock against the run's; -1: unknown */
    int64_t *machines; /* owned, by host: equal for hosts that share a kernel; VALUE_ABSENT, or
                          NULL: not known */
    const struct judge
        *judge;       /* borrowed; by which numbers it is judged (number.h); NULL: the usual */
    double *ceilings; /* owned, NULL: none; [host * METRIC_COUNT_ + metric], NAN: not measured */
};

/* The most samples of hosts, or rows of cores, that are held: beyond it, consecutive ones are
 * joined while reading (series.h). It keeps 100 hosts of 64 cores for an hour within 2 GB; 10 hosts
 * for an hour and a quarter are not joined.
 */
#define RECORDING_SAMPLES_MAX 500000
#define RECORDING_CORE_ROWS_MAX 8000000

/* The step to which n samples or rows are joined so that at most `max` remain: 0, or 2, 5, 10, 20,
 * ... periods.
 */
int64_t recording_step_ns(uint64_t n, uint64_t max, int64_t period_ns);

/* MPI calls that ranks of a host wrote and that are missing in the log; 0 if there is no log. */
uint64_t recording_calls_missing(const struct recording *recording, int host);
/* Marks of a host that the agent could not read, or that did not fit. */
uint64_t recording_marks_missing(const struct recording *recording, int host);

/* Makes an empty recording with the columns of each table. */
void recording_init(struct recording *recording);

/* After all rows were added: joins the series of one process under several names, under its last
 * name. -ENOMEM.
 */
int recording_join_names(struct recording *recording);

/* After the names are joined: where PROCESS_CHILDREN is known, CPU time and bytes of ended children
 * are in their parent's rows, too. Subtracts from these what the children's own rows tell, and puts
 * the remaining CPU time into PROCESS_UNSEEN, 0 where it was not recorded. -ENOMEM.
 */
int recording_find_unseen(struct recording *recording);

struct recording_usage { /* each VALUE_ABSENT if not known */
    int64_t cpu_ns, read_bytes, write_bytes;
};

#define RECORDING_ENDED "(ended between samples)"
#define RECORDING_ENDED_INSTANCE (-1)

/* After recording_find_unseen(): adds a process RECORDING_ENDED for what the kernel charged to the
 * command on that host, where it was started, beyond the rows there. -ENOMEM.
 */
int recording_add_usage(struct recording *recording, int host, const struct recording_usage *usage);

/* The same for every host but `except` (-1: none): what ranks did after the last row of their
 * process. -ENOMEM.
 */
int recording_add_rank_tails(struct recording *recording, int except);

/* After all rows were added: if a host is a control group, its CPU time becomes what the scheduler
 * counted for the group, if recorded, rather than what samples of the tick found.
 */
void recording_use_exact_cpu(struct recording *recording);

/* After all rows were added: removes impossible growth (disk waits longer than the process lived,
 * or than any process on its host waited for disks), and moves what the job's processes did into
 * the time of the run.
 */
void recording_settle(struct recording *recording);
void recording_release(struct recording *recording);
int recording_add_mark(struct recording *recording, const struct mark *mark);

/* Adds a measured ceiling of a host's metric, in the metric's unit; the highest of several counts.
 * The hosts must be set. -ENOMEM.
 */
int recording_add_ceiling(struct recording *recording, int host, enum metric metric, double value);
double recording_ceiling(const struct recording *recording, int host, enum metric metric);

#endif
