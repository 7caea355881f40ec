/* SPDX-License-Identifier: MIT */
/*
 * Single calls of MPI functions, and of NCCL's, for the analysis: arrays by rank, with times on the
 * run's axis. The reader of the database fills them, after it has moved each host's clock onto the
 * run's.
 *
 * The kind of a function follows from its name, which is all that a recording keeps of it; a test
 * compares this with the table from which the recording side is made.
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

/* The members that a member of a group needs before it can leave the call. */
enum mpi_group_need {
    MPI_NEED_NOBODY,     /* nobody: not called by all members together */
    MPI_NEED_ALL,        /* all members */
    MPI_NEED_ROOT,       /* the root: bcast, scatter */
    MPI_NEED_GATHERED,   /* the root needs all, others at most the root: gather, reduce */
    MPI_NEED_EARLIER,    /* members with lower ranks: scan */
    MPI_NEED_NEIGHBOURS, /* the neighbours in its topology */
};

/* How the bytes of a group call are divided among its members. */
enum mpi_exchange {
    MPI_EXCHANGE_WHOLE,         /* all bytes between the root and each member: bcast, reduce */
    MPI_EXCHANGE_PARTS,         /* a part between the root and each member: gather, scatter */
    MPI_EXCHANGE_EACH_ITS_PART, /* a part between each two members: alltoall, allgather */
    MPI_EXCHANGE_ALL_TO_ALL,    /* summed up and given to all: allreduce */
};

struct mpi_function {
    enum mpi_kind kind;
    enum mpi_group_need need;
    enum mpi_exchange exchange;
    bool sends;       /* SEND, SEND_START, and making a persistent send */
    bool receives;    /* RECV, RECV_START, and making a persistent receive */
    bool probes;      /* finds a message but does not receive it: not MPI_Test */
    bool fetches;     /* a one-sided access that brings data back */
    bool completes;   /* completes one-sided accesses begun before */
    bool synchronous; /* a send that ends only once its receiver has come */
    bool of_gpu;      /* it runs on a GPU: the call only begins it, and its tag is its number */
    bool in_rows;     /* many of its calls in this log are folded into rows, at random */
};

struct mpi_function mpi_function_of(const char *name);

/* Flags as the recording side sets them (table `call`). */
enum mpi_flag {
    MPI_FLAG_WILDCARD = 1,
    MPI_FLAG_FOLDED = 2, /* a row of small calls as one event */
    MPI_FLAG_PART = 4,
    MPI_FLAG_REQUEST = 8,
    MPI_FLAG_AT_MOST = 16,
    MPI_FLAG_FAILED = 32,
    MPI_FLAG_HAS_CPU = 64,
    MPI_FLAG_HAS_GAP_CPU = 128,
    MPI_FLAG_UNKNOWN_PEER = 512,
    MPI_FLAG_CANCELLED = 1024, /* a request that was cancelled */
    MPI_FLAG_EXCLUSIVE = 2048, /* of a lock */
};

#define MPI_NO_PEER (-1)
#define MPI_COMM_NONE UINT32_MAX
/* From this length on the recording side measures CPU time; a shorter call or gap counts as
 * running.
 */
#define MPI_LONG_NS 100000

/* An event cannot tell more, so its maker cuts amounts to them: 140 TB; 73 minutes of CPU time,
 * more than the recording side tells; 36 minutes inside, which matter for rows of 20 ms.
 */
#define MPI_BYTES_MAX ((INT64_C(1) << 47) - 1)
#define MPI_CPU_MAX_NS ((INT64_C(1) << 42) - 1)
#define MPI_INSIDE_MAX_NS ((INT64_C(1) << 41) - 1)

/* A recording has millions of them: each is one line of the cache. */
struct mpi_event {
    int64_t enter_ns, exit_ns;
    struct {
        int64_t bytes : 48;
        uint64_t thread : 16;
    };
    struct __attribute__((packed)) {
        int64_t cpu_ns : 43, gap_cpu_ns : 43; /* flags say whether they are known */
        int64_t inside_ns : 42;
    };
    uint32_t comm;
    int32_t peer, tag;
    uint32_t site;     /* hash of the calling place; 0: not known */
    uint32_t calls;    /* number of calls in a row; 1: a single call; 0: no call */
    uint16_t function; /* index of its name in the log */
    uint16_t flags;
};

/* A row of several one-sided accesses, or of calls that complete them: the rank computed between
 * its calls.
 */
static inline bool mpi_event_is_row(const struct mpi_event *event,
                                    const struct mpi_function *function) {
    return event->flags & MPI_FLAG_FOLDED && function->kind != MPI_KIND_TEST;
}

struct mpi_rank {
    int rank, host; /* rank in MPI_COMM_WORLD */
    int64_t pid;
    int64_t lost_ns;          /* when the first missing event may lie; INT64_MAX: none is missing */
    int64_t found_ns;         /* when all events are there again; INT64_MAX: never, or none is
                                 missing */
    struct mpi_event *events; /* sorted by mpi_log_finish: by enter, then exit, then as they came */
    size_t n, capacity;
    uint32_t *sequences; /* of the events, as they came; until mpi_log_finish */
    size_t sequences_capacity;
};

#define MPI_FUNCTIONS_MAX 512
#define MPI_RANKS_MAX 4096

struct mpi_log {
    struct mpi_rank *ranks;      /* sorted by mpi_log_finish: by rank */
    struct key_table by_process; /* used until then */
    size_t n, capacity;
    struct mpi_function functions[MPI_FUNCTIONS_MAX];
    char *names[MPI_FUNCTIONS_MAX]; /* owned */
    size_t n_functions;
    uint64_t refused; /* events that made no sense: end before begin, impossible times */
};

/* The number of a function in this log; -ENOSPC: too many different names; -ENOMEM. */
int mpi_log_function(struct mpi_log *log, const char *name);
/* The rank of a process, added at its first event; its rank number may become known later (-1 until
 * then). NULL if there are too many, or without memory (then *ret_error is set).
 */
struct mpi_rank *mpi_log_rank(struct mpi_log *log, int rank, int host, int64_t pid, int *ret_error);
/* Refuses and counts events that make no sense. sequence: counts from 1 in each process; 0: not
 * known. -ENOMEM.
 */
int mpi_log_add(struct mpi_log *log, struct mpi_rank *rank, const struct mpi_event *event,
                int64_t sequence);
/* Sorts the events, and finds losses; called once, after the last event. -ENOMEM. */
int mpi_log_finish(struct mpi_log *log);
/* The index of the rank with that process, or SIZE_MAX. */
size_t mpi_log_find(const struct mpi_log *log, int host, int64_t pid);
void mpi_log_release(struct mpi_log *log);

/* Until when events tell what the rank did, at most end_ns; there may be a gap before. */
static inline int64_t mpi_rank_until(const struct mpi_rank *rank, int64_t end_ns) {
    return rank->found_ns < end_ns || rank->lost_ns > end_ns ? end_ns : rank->lost_ns;
}

static inline const struct mpi_function *mpi_event_function(const struct mpi_log *log,
                                                            const struct mpi_event *event) {
    return &log->functions[event->function];
}

/* Whether it is a call of its own: neither a part of one, nor the life of a request. */
static inline bool mpi_event_is_call(const struct mpi_event *event) {
    return !(event->flags & (MPI_FLAG_PART | MPI_FLAG_REQUEST));
}

#endif
