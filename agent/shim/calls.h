/* SPDX-License-Identifier: MIT */
/*
 * The reading side of libchokepoint-mpi.so: finds the files of ranks on this host, drains their
 * calls, reads their running totals. It trusts nothing in a file: nothing is mapped (a truncated
 * map is a SIGBUS), all that is copied is checked, and a bad file ends the reading of its rank,
 * never of the directory. Needs no MPI.
 *
 * Allocates only in open. One thread at a time.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_CALLS_H
#define CHOKEPOINT_AGENT_SHIM_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/mark/ring_files.h"
#include "agent/shim/call_file.h"
#include "agent/shim/call_list.h" /* made from calls.def: enum call_function, CALL_COUNT */

#define CALL_MAX_RANKS 256 /* files open at once; more are refused and counted */

/* The kind of call that a function makes. */
enum call_class {
    CALL_ADMIN,            /* init, finalize, make and free requests */
    CALL_SEND,             /* returns when the buffer is free: send, bsend, rsend, ssend */
    CALL_SEND_START,       /* isend and the like */
    CALL_RECV,             /* recv, mrecv */
    CALL_RECV_START,       /* irecv, imrecv */
    CALL_SENDRECV,         /* the event is the send; a CALL_PART is the receive */
    CALL_START,            /* start of persistent requests */
    CALL_WAIT,             /* wait, waitall, waitany, waitsome */
    CALL_TEST,             /* test.., iprobe, improbe: return at once */
    CALL_PROBE,            /* probe, mprobe: wait */
    CALL_COLLECTIVE,       /* with neighbour collectives */
    CALL_COLLECTIVE_START, /* ibarrier, iallreduce, ... */
    CALL_RMA,              /* put, get, accumulate, ... */
    CALL_RMA_SYNC,         /* fence, lock, flush, post, wait, ...; make and free windows */
    CALL_COMM,             /* make and free communicators: collective, may wait */
    CALL_IO,               /* open, close, read, write, sync, set_size, ... */
    CALL_IO_START,         /* iread, iwrite, .. */
    CALL_CLASSES,
};

enum call_flag {
    CALL_WILDCARD = 1, /* posted with MPI_ANY_SOURCE; peer is the sender, if known */
    /* Successive small calls as one event: tests and probes that found nothing, and one-sided
     * accesses; see polls. If places alternate, each gets its part of the time, one after the
     * other. */
    CALL_FOLDED = 2,
    /* One message of a call with several; not counted as a call. The call's event is the next one
     * of this thread, with the same exit_ns. MPI_Win_post and MPI_Win_start have one for each
     * member of the group. Making a communicator with a topology has one for each neighbour that
     * this rank receives from, with the new communicator's number. */
    CALL_PART = 4,
    /* The life of a request: from its start to the exit of the wait or test that completed it,
     * whose event is the next one of this thread. Not counted as a call. `function` made the
     * request. */
    CALL_REQUEST = 8,
    CALL_AT_MOST = 16,       /* bytes are the posted ones: no status had the received ones */
    CALL_FAILED = 32,        /* returned an error */
    CALL_HAS_CPU = 64,       /* cpu_ns is known */
    CALL_HAS_GAP_CPU = 128,  /* gap_cpu_ns is known */
    CALL_FORTRAN = 256,      /* called from Fortran */
    CALL_UNKNOWN_PEER = 512, /* no peer, or one outside MPI_COMM_WORLD */
    CALL_CANCELLED = 1024, /* CALL_REQUEST: cancelled by MPI_Cancel; nothing was sent or received */
    CALL_EXCLUSIVE = 2048, /* MPI_Win_lock: excludes other locks of that window and rank */
    CALL_FLAGS = 4095,
};

#define CALL_COMM_WORLD 0U
#define CALL_COMM_SELF 1U
#define CALL_COMM_UNKNOWN UINT32_MAX /* none, or no room for it */
#define CALL_NO_PEER (-1)            /* no peer, an unknown one, or MPI_PROC_NULL */
#define CALL_NO_TAG (-1)             /* none, or MPI_ANY_TAG */

/*
 * One event, checked: function < CALL_COUNT, 0 <= enter_ns <= exit_ns, peer < world_size of its
 * rank, bytes not negative.
 *
 * comm: all members of a communicator have the same number for it (window, file: all members of its
 * group); two communicators have the same number with a chance of 2^-32. Members need no message to
 * agree. bytes: sends: handed in; receives: taken out; collectives: the larger of both for this
 * rank; one-sided and I/O: moved; CALL_FOLDED: the sum over its calls.
 */
struct call_event {
    uint64_t sequence; /* counts from 1 in this file; gaps are lost events */
    enum call_function function;
    unsigned flags; /* enum call_flag */
    uint32_t comm;
    int32_t peer; /* rank in MPI_COMM_WORLD; for collectives the root; else CALL_NO_PEER */
    int32_t tag;  /* of collectives of GPUs: their number in the communicator and function */
    int64_t bytes;
    int64_t enter_ns; /* CLOCK_MONOTONIC */
    int64_t exit_ns;
    int64_t cpu_ns;     /* thread CPU time inside, if CALL_HAS_CPU: calls of 100 us and more */
    int64_t gap_cpu_ns; /* the same since the previous call, if CALL_HAS_GAP_CPU: gaps of 100 us and
                           more */
    int64_t polls;      /* CALL_FOLDED: number of calls; CALL_PART, CALL_REQUEST: 0; else 1 */
    int64_t
        inside_ns; /* exit - enter; CALL_FOLDED: sum over the calls; CALL_PART, CALL_REQUEST: 0 */
    uint32_t site_offset; /* return address, relative to its module */
    uint16_t site_module; /* hash of the module's file name */
    uint16_t thread;      /* 0 for the first thread that called MPI, 1 for the second, ... */
};

/* The file of one rank. */
struct call_rank {
    int32_t pid; /* from the file's name */
    int32_t rank;
    int32_t world_size;
    int32_t thread_level;
    bool calls_reader; /* it wakes watchers of its directory before its ring is full */
    int64_t opened_ns, initialized_ns, finalized_ns;
    uint64_t gap_ns, gap_cpu_ns, lost_requests, lost_comms; /* see struct call_file_header */
    uint64_t lost;      /* events overwritten before they were read */
    uint64_t malformed; /* events refused */
    bool broken;        /* given up: truncated, or its counter ran backwards */
    uint64_t written;   /* events written so far, read or not */
    uint32_t capacity;  /* of its ring, as of the last look */
    uint64_t cursor;    /* events read; a reader that takes over may set it forward once */
    /* the rest is private to the reader */
    int fd;
    uint64_t oldest;    /* events before this one are gone */
    int stalled;        /* checks that found the next event claimed but not complete */
    int64_t stalled_ns; /* time of the first of these checks */
};

struct call_reader {
    struct ring_files files;
    struct call_rank *ranks; /* CALL_MAX_RANKS; in order of discovery; an index never changes */
    size_t n_ranks;
};

/* A rank's totals and current calls, copied as the rank wrote them and bounded. */
struct call_totals {
    struct call_total function[CALL_COUNT];
    struct call_now now[CALL_FILE_THREADS]; /* enter_ns 0: not in MPI; never later than `now_ns` */
};

/* Valid during the call only. A return other than 0 stops the drain of this rank for now. */
typedef int call_event_fn(void *ctx, const struct call_rank *rank, const struct call_event *event);

/* "MPI_Send", "ncclSend"; NULL beyond CALL_COUNT. */
const char *call_name(enum call_function function);
enum call_class call_class(enum call_function function);

/* Opens a directory of rings, as mark_reader_open does: -EPERM if others may use it or own it. */
int call_reader_open(struct call_reader *ret_reader, const char *dir);

/* Looks for new files. Returns their number, or a negative errno of the directory. */
int call_reader_scan(struct call_reader *reader);

/* Why a process has no rank in the reader, from its own words or its file; at most
 * CALL_FILE_WHY_MAX bytes. False: it left nothing here. */
bool call_reader_why(const struct call_reader *reader, int32_t pid,
                     char ret_why[CALL_FILE_WHY_MAX + 1]);

/*
 * Passes on the events that a rank has written since the last call, at most `limit` and one lap of
 * the ring, and refreshes struct call_rank. Returns the number of events passed on; -EBADMSG for a
 * broken rank, now and always. An event that was claimed but never completed (its thread was
 * stopped or died) holds up its ring for two calls and 200 ms, then counts as lost. `now_ns`:
 * CLOCK_MONOTONIC.
 */
int call_rank_drain(struct call_rank *rank, size_t limit, int64_t now_ns, call_event_fn *fn,
                    void *ctx);

/* Events that wait to be drained, with lost ones; 0 if the rank's file cannot be read. Refreshes
 * the ring's capacity. */
uint64_t call_rank_waiting(struct call_rank *rank);

/* Reads the running totals and refreshes struct call_rank. -EBADMSG as in call_reader_drain. */
int call_rank_totals(struct call_rank *rank, int64_t now_ns, struct call_totals *ret_totals);

/* Closes the files of all ranks; they are not found again. */
void call_reader_forget(struct call_reader *reader);

/* Closes everything; removes nothing. */
void call_reader_release(struct call_reader *reader);

#endif
