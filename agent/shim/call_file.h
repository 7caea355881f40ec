/* SPDX-License-Identifier: MIT */
/*
 * The file a rank under libchokepoint-mpi.so writes: "<pid>.calls" in the directory of marks. A
 * page of header, running totals of each MPI function, then a ring of records. Host byte order,
 * read on the same host. A rank that can have no file leaves a symbolic link "<pid>.why" instead,
 * whose target is the reason in words.
 *
 * Totals are exact whatever happens to single records: the ring is overwritten from its start when
 * nobody reads, and a rank never waits for its observer. 16384 records hold 40 ms of the fastest
 * bursts seen, 400,000 calls a second; at each 2048th the writer touches the file's times, which
 * wakes a reader that watches the directory. A rank with few calls does not wake it; a rank that
 * cannot wake it (no /proc, another root) says so, and has to be polled.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_CALL_FILE_H
#define CHOKEPOINT_AGENT_SHIM_CALL_FILE_H

#include <stdint.h>

#define CALL_FILE_WHY_MAX 60 /* bytes of a reason for which there is no file */
#define CALL_FILE_MAGIC UINT64_C(0x314c4c41434b4843) /* "CHKCALL1" in memory */
#define CALL_FILE_VERSION 2
#define CALL_FILE_CAPACITY 16384    /* records; a power of two */
#define CALL_FILE_CALL 2048         /* at each so many the writer calls the reader; as above */
#define CALL_FILE_HEADER 4096       /* bytes before the totals */
#define CALL_FILE_FUNCTIONS 256     /* totals there is room for */
#define CALL_FILE_THREADS 32        /* threads whose present call is shown */
#define CALL_FILE_BUSY UINT64_MAX   /* sequence of a record that is being written */
#define CALL_FILE_LONG_NS 100000    /* from here on CPU time is measured: it costs a system call */
#define CALL_FILE_THREAD_MULTIPLE 3 /* thread_level of a program whose threads may call at once */
#define CALL_FILE_THREAD_OTHER 0xffffU /* a thread beyond 65534 */

/* Cost of one function so far; one cache line. Sums over all threads. */
struct call_total {
    uint64_t calls;
    uint64_t time_ns;        /* inside, outermost calls only */
    uint64_t measured_ns;    /* the part of time_ns whose CPU time is known (long calls) */
    uint64_t cpu_ns;         /* thread CPU time in measured_ns */
    uint64_t sent_bytes;     /* handed in by this rank */
    uint64_t received_bytes; /* taken out by this rank */
    uint64_t unsized;        /* receives completed without a status: counted as the bytes posted */
    uint64_t failed; /* calls that returned an error; they count in calls and time, not bytes */
};

/* The call a thread is in just now; enter_ns is 0 outside MPI. One cache line. */
struct call_now {
    int64_t enter_ns; /* CLOCK_MONOTONIC; stored last, cleared first */
    uint32_t function;
    uint32_t thread_id; /* as gettid() */
    uint64_t padding[6];
};

struct call_file_header {
    uint64_t magic; /* stored last: the rest is valid once it is there */
    uint32_t version;
    uint32_t record_bytes;
    uint32_t capacity;
    uint32_t n_functions; /* CALL_COUNT of the writer */
    uint32_t table_hash;  /* of the table of functions: reader and writer must mean the same */
    int32_t pid;
    int32_t rank;           /* in MPI_COMM_WORLD, or -1 before MPI_Init has returned */
    int32_t world_size;     /* or -1 */
    int32_t thread_level;   /* as MPI_Init_thread provided: 0 single .. 3 multiple; -1 not yet */
    uint32_t calls_reader;  /* 1: it touches the file's times when records are many; as above */
    int64_t opened_ns;      /* CLOCK_MONOTONIC, as all times here */
    int64_t initialized_ns; /* MPI_Init returned, or 0 */
    int64_t finalized_ns;   /* MPI_Finalize returned, or 0 */
    uint64_t gap_ns;        /* outside MPI between calls of a thread, where CPU time was measured */
    uint64_t gap_cpu_ns;    /* thread CPU time in gap_ns */
    uint64_t
        lost_requests;    /* the table of requests was full: peer and bytes of these are unknown */
    uint64_t lost_comms;  /* communicators, windows, files there was no room for: id unknown */
    uint64_t padding[16]; /* the next word is in a cache line of its own */
    uint64_t head;        /* tickets given out so far; record t lives in slot t % capacity */
    uint64_t padding_after[7];
    struct call_now now[CALL_FILE_THREADS];
};

/* CALL_FOLDED: tag is how many calls, cpu_us and gap_cpu_us are the two halves of the ns inside. */
struct call_record {
    uint64_t sequence; /* ticket + 1 when complete, CALL_FILE_BUSY while it is written */
    uint16_t function;
    uint16_t flags; /* enum call_flag */
    uint32_t comm;
    int32_t peer;
    int32_t tag;
    int64_t bytes;
    int64_t enter_ns;
    int64_t exit_ns;
    uint32_t cpu_us;
    uint32_t gap_cpu_us;
    uint32_t site_offset;
    uint16_t site_module;
    uint16_t thread;
};

#define CALL_FILE_TOTALS CALL_FILE_HEADER
#define CALL_FILE_RECORDS (CALL_FILE_TOTALS + CALL_FILE_FUNCTIONS * sizeof(struct call_total))
#define CALL_FILE_BYTES (CALL_FILE_RECORDS + CALL_FILE_CAPACITY * sizeof(struct call_record))

_Static_assert(sizeof(struct call_record) == 64, "a record is a cache line");
_Static_assert(sizeof(struct call_total) == 64, "a total is a cache line");
_Static_assert(sizeof(struct call_now) == 64, "a call is a cache line");
_Static_assert(sizeof(struct call_file_header) <= CALL_FILE_HEADER, "the header is one page");

#endif
