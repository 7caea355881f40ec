/* SPDX-License-Identifier: MIT */
/*
 * Single calls of MPI functions as analysis sees them: arrays by rank, times on the run's axis. The
 * reader of the database fills them, and has moved each host's clock onto the run's.
 *
 * The kind of a function follows from its name, which is all that a recording keeps of it; a test
 * holds this against the table from which the recording side is made.
 */
#ifndef CHOKEPOINT_ANALYSIS_FACTS_RECORDING_MPI_EVENT_H
#define CHOKEPOINT_ANALYSIS_FACTS_RECORDING_MPI_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/facts/series/key_table.h"

/* Kinds of calls: the classes of the recording side. */
enum mpi_kind {
    MPI_KIND_ADMIN,
    MPI_KIND_SEND,
    MPI_KIND_SEND_START,
    MPI_KIND_RECV,
    MPI_KIND_RECV_START,
    MPI_KIND_SENDRECV,
    MPI_KIND_START,
    MPI_KIND_WAIT,
    MPI_KIND_TEST,
    MPI_KIND_PROBE,
    MPI_KIND_COLLECTIVE,
    MPI_KIND_COLLECTIVE_START,
    MPI_KIND_RMA,
    MPI_KIND_RMA_SYNC,
    MPI_KIND_COMM,
    MPI_KIND_IO,
    MPI_KIND_IO_START,
    MPI_KIND_COUNT_
};

/* The members that a member of a group needs before it can go on. */
enum mpi_group_need {
    MPI_NEED_NOBODY,     /* not called by all members together */
    MPI_NEED_ALL,        /* the last of all */
    MPI_NEED_ROOT,       /* the root: bcast, scatter */
    MPI_NEED_GATHERED,   /* the root needs all, the others the root at most: gather, reduce */
    MPI_NEED_EARLIER,    /* members of a lower rank: scan */
    MPI_NEED_NEIGHBOURS, /* those that its topology names */
};

struct mpi_function {
    enum mpi_kind kind;
    enum mpi_group_need need;
    bool sends;       /* SEND, SEND_START, and making a persistent send */
    bool receives;    /* RECV, RECV_START, and making a persistent receive */
    bool probes;      /* looks for a message and leaves it: not MPI_Test */
    bool fetches;     /* a one-sided access that brings data back */
    bool completes;   /* one-sided accesses begun before */
    bool synchronous; /* a send that ends only when its receiver is there */
    bool in_rows;     /* in this log many of its calls are: which are not is chance */
};

struct mpi_function mpi_function_of(const char *name);

/* As the recording side flags them (the table `call`). */
enum mpi_flag {
    MPI_FLAG_WILDCARD = 1,
    MPI_FLAG_FOLDED = 2, /* small calls in a row, as one event */
    MPI_FLAG_PART = 4,
    MPI_FLAG_REQUEST = 8,
    MPI_FLAG_AT_MOST = 16,
    MPI_FLAG_FAILED = 32,
    MPI_FLAG_HAS_CPU = 64,
    MPI_FLAG_HAS_GAP_CPU = 128,
    MPI_FLAG_UNKNOWN_PEER = 512,
    MPI_FLAG_CANCELLED = 1024, /* of a request: it was taken back */
    MPI_FLAG_EXCLUSIVE = 2048, /* of a lock */
};

#define MPI_NO_PEER (-1)
#define MPI_COMM_NONE UINT32_MAX
/* From here on the recording side measures CPU time; a shorter call or gap counts as running. */
#define MPI_LONG_NS 100000

struct mpi_event {
    uint16_t function; /* of the log */
    uint16_t flags;
    uint16_t thread;
    uint32_t comm;
    int32_t peer, tag;
    uint32_t site;  /* hash of where it was called from; 0: not known */
    uint32_t calls; /* in a row; 1 of a call of its own, 0 of no call */
    int64_t bytes;
    int64_t sequence; /* counts from 1 in each process; 0: not known */
    int64_t enter_ns, exit_ns;
    int64_t inside_ns, cpu_ns, gap_cpu_ns; /* CPU times where flags say they are known */
};

/* Several accesses to windows or what completes them: between its calls it computed. */
static inline bool mpi_event_is_row(const struct mpi_event *event,
                                    const struct mpi_function *function) {
    return event->flags & MPI_FLAG_FOLDED && function->kind != MPI_KIND_TEST;
}

struct mpi_rank {
    int rank, host; /* rank in MPI_COMM_WORLD */
    int64_t pid;
    int64_t lost_ns;          /* from here on events are missing; INT64_MAX: none */
    int64_t found_ns;         /* from here on all are there again; INT64_MAX: never, or none lost */
    struct mpi_event *events; /* sorted by mpi_log_finish: by enter, then exit, then as they came */
    size_t n, capacity;
};

#define MPI_FUNCTIONS_MAX 512
#define MPI_RANKS_MAX 4096

struct mpi_log {
    struct mpi_rank *ranks;      /* sorted by mpi_log_finish: by rank */
    struct key_table by_process; /* until then */
    size_t n, capacity;
    struct mpi_function functions[MPI_FUNCTIONS_MAX];
    char *names[MPI_FUNCTIONS_MAX]; /* owned */
    size_t n_functions;
    uint64_t refused; /* events that made no sense: end before begin, times beyond all bounds */
};

/* The number of a function in this log; -ENOSPC: too many different names, -ENOMEM. */
int mpi_log_function(struct mpi_log *log, const char *name);
/* The rank of a process, made at its first event; its number may become known later (-1 until
 * then). NULL: too many, or no memory (then *ret_error is set). */
struct mpi_rank *mpi_log_rank(struct mpi_log *log, int rank, int host, int64_t pid, int *ret_error);
/* Refuses (and counts) what makes no sense. -ENOMEM. */
int mpi_log_add(struct mpi_log *log, struct mpi_rank *rank, const struct mpi_event *event);
/* Sorts, and finds from where on events are missing; to be called once, after the last event.
 * -ENOMEM. */
int mpi_log_finish(struct mpi_log *log);
void mpi_log_release(struct mpi_log *log);

/* Until when events tell what the rank did, end_ns at most; there may be a gap before. */
static inline int64_t mpi_rank_until(const struct mpi_rank *rank, int64_t end_ns) {
    return rank->found_ns < end_ns || rank->lost_ns > end_ns ? end_ns : rank->lost_ns;
}

static inline const struct mpi_function *mpi_event_function(const struct mpi_log *log,
                                                            const struct mpi_event *event) {
    return &log->functions[event->function];
}

/* A call of its own: not the part of another, nor the life of a request. */
static inline bool mpi_event_is_call(const struct mpi_event *event) {
    return !(event->flags & (MPI_FLAG_PART | MPI_FLAG_REQUEST));
}

#endif
