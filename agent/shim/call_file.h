/* SPDX-License-Identifier: MIT */
/*
 * The file that a rank under libchokepoint-mpi.so writes: "<pid>.calls" in the directory of marks.
 * It has a page of header, running totals of each MPI function, then a ring of records, in host
 * byte order, since it is read on the same host. A rank that cannot make the file leaves a symbolic
 * link "<pid>.why" instead, whose target is the reason in words.
 *
 * Totals are exact even if single records are lost: the ring is overwritten from its start if
 * nobody reads, and a rank never waits for its observer. After each eighth of the ring the writer
 * touches the file's times, which wakes a reader that watches the directory. A rank with few calls
 * does not wake it; a rank that cannot (no /proc, another root) sets calls_reader to 0 and must be
 * polled.
 *
 * The ring begins with 16384 records, a megabyte, and grows by the rate of calls until it holds a
 * second of them: the reader then needs a core less often, and may wait for an idle one. 131072
 * records, 8 megabytes, are the most: a larger ring costs the rank more, as it leaves the caches.
 * All cores' rings together take at most a 64th of the host's memory, and a ring a 64th of what is
 * free in its file system. A record stays in its slot when the ring grows: call_file_grown() tells
 * when that is possible. The ring of a program whose threads call at the same time does not grow.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_CALL_FILE_H
#define CHOKEPOINT_AGENT_SHIM_CALL_FILE_H

#include <stdint.h>

#define CALL_FILE_WHY_MAX 60                         /* bytes of the reason for a missing file */
#define CALL_FILE_MAGIC UINT64_C(0x314c4c41434b4843) /* "CHKCALL1" in memory */
#define CALL_FILE_VERSION 3
#define CALL_FILE_CAPACITY 16384       /* records at first; a power of two */
#define CALL_FILE_CAPACITY_MAX 131072  /* records at most; a power of two */
#define CALL_FILE_PARTS 8              /* the writer wakes the reader after each part of the ring */
#define CALL_FILE_HOLD_NS 1000000000   /* the ring grows until it holds the calls of this time */
#define CALL_FILE_MEMORY_SHARE 64      /* part of the memory that all cores' rings may have */
#define CALL_FILE_HEADER 4096          /* bytes before the totals */
#define CALL_FILE_FUNCTIONS 256        /* room for totals of so many functions */
#define CALL_FILE_THREADS 32           /* threads whose current call is shown */
#define CALL_FILE_BUSY UINT64_MAX      /* sequence of a record that is being written */
#define CALL_FILE_LONG_NS 100000       /* CPU time, a system call, is measured from here on */
#define CALL_FILE_THREAD_MULTIPLE 3    /* thread_level of programs with concurrent calls */
#define CALL_FILE_THREAD_OTHER 0xffffU /* number of all threads beyond 65534 */

/* Totals of one function over all threads; one cache line. */
struct call_total {
    uint64_t calls;
    uint64_t time_ns;        /* time in outermost calls */
    uint64_t measured_ns;    /* part of time_ns whose CPU time is known (long calls) */
    uint64_t cpu_ns;         /* thread CPU time in measured_ns */
    uint64_t sent_bytes;     /* handed in by this rank */
    uint64_t received_bytes; /* taken out by this rank */
    uint64_t unsized;        /* receives completed without a status: the posted bytes are counted */
    uint64_t failed;         /* calls that returned an error: in calls and time_ns, without bytes */
};

/* The current call of a thread; enter_ns is 0 outside MPI. One cache line. */
struct call_now {
    int64_t enter_ns; /* CLOCK_MONOTONIC; stored last, cleared first */
    uint32_t function;
    uint32_t thread_id; /* as gettid() */
    uint64_t padding[6];
};

struct call_file_header {
    uint64_t magic; /* stored last: the file is valid once it is there */
    uint32_t version;
    uint32_t record_bytes;
    uint32_t first_capacity; /* CALL_FILE_CAPACITY of the writer */
    uint32_t n_functions;    /* CALL_COUNT of the writer */
    uint32_t table_hash;     /* hash of calls.def: reader and writer must have the same table */
    int32_t pid;
    int32_t rank;           /* in MPI_COMM_WORLD, or -1 before MPI_Init has returned */
    int32_t world_size;     /* or -1 */
    int32_t thread_level;   /* as MPI_Init_thread provided: 0 single .. 3 multiple; -1 not yet */
    uint32_t calls_reader;  /* 1: it touches the file's times when records are many */
    int64_t opened_ns;      /* CLOCK_MONOTONIC, as all times here */
    int64_t initialized_ns; /* MPI_Init returned, or 0 */
    int64_t finalized_ns;   /* MPI_Finalize returned, or 0 */
    uint64_t gap_ns;        /* outside MPI between calls of a thread, if its CPU time is known */
    uint64_t gap_cpu_ns;    /* thread CPU time in gap_ns */
    uint64_t lost_requests; /* requests without room in the table: peer and bytes unknown */
    uint64_t lost_comms;    /* communicators, windows, files without room: id unknown */
    uint64_t padding[16];   /* gives the next words their own cache line */
    uint64_t head;          /* tickets given out so far; record t lives in slot t % capacity */
    uint64_t oldest;        /* records before this ticket are gone: the ring grew a lap after it */
    uint32_t capacity;      /* records, a power of two; stored after oldest, before more tickets */
    uint32_t padding_after[11];
    struct call_now now[CALL_FILE_THREADS];
};

/* In a CALL_FOLDED record tag is the number of calls, and cpu_us and gap_cpu_us are the halves of
 * the ns inside. */
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
#define CALL_FILE_BYTES_OF(capacity) (CALL_FILE_RECORDS + (capacity) * sizeof(struct call_record))
#define CALL_FILE_BYTES CALL_FILE_BYTES_OF(CALL_FILE_CAPACITY) /* at first */
#define CALL_FILE_BYTES_MAX CALL_FILE_BYTES_OF(CALL_FILE_CAPACITY_MAX)

/*
 * The capacity from the ticket `next` on, of a ring that took lap_ns for its last lap and may have
 * `most` records. The last lap's records must keep their slots: next % larger == capacity. So a
 * ring can grow to any size at the end of its first lap, and to twice its size at the end of every
 * second lap.
 */
static inline uint32_t call_file_grown(uint32_t capacity, uint64_t next, int64_t lap_ns,
                                       uint32_t most) {
    uint64_t wanted = most;
    uint32_t grown = capacity;
    if (lap_ns > 0 && capacity * (uint64_t)CALL_FILE_HOLD_NS / (uint64_t)lap_ns < most)
        wanted = capacity * (uint64_t)CALL_FILE_HOLD_NS / (uint64_t)lap_ns;
    while (grown < wanted && grown <= most / 2 && next % (2 * (uint64_t)grown) == capacity)
        grown *= 2;
    return grown;
}

_Static_assert(sizeof(struct call_record) == 64, "a record is a cache line");
_Static_assert(sizeof(struct call_total) == 64, "a total is a cache line");
_Static_assert(sizeof(struct call_now) == 64, "a call is a cache line");
_Static_assert(sizeof(struct call_file_header) <= CALL_FILE_HEADER, "the header is one page");

#endif
