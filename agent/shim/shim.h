/* SPDX-License-Identifier: MIT */
/*
 * libchokepoint-mpi.so: intercepts the MPI functions of an unmodified program (LD_PRELOAD) and
 * writes each call with its duration into a file in shared memory (call_file.h). The program sees
 * no change.
 *
 * MPI_X forwards to the next MPI_X, which may be another tool's, and PMPI_X to the next PMPI_X. So
 * tools before and behind the shim work. Programs with a profiling layer of their own are recorded
 * where that layer calls PMPI, and Fortran where its entry points do. Only the outermost call of a
 * thread counts, whatever MPI calls inside itself.
 *
 * The library is not linked with MPI: it is also loaded into the shells and launchers that start
 * the program, and must not load MPI there. MPI's symbols are looked up on first use, and the
 * binary interface is found then, too: this header depends on none (abi/abi.h).
 *
 * The file belongs to the process, so state is static here, unlike elsewhere in this project.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_SHIM_H
#define CHOKEPOINT_AGENT_SHIM_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "agent/shim/calls.h"
#include "agent/shim/tick.h"

#define SHIM_HANDLES 256 /* recorded requests of one wait or test; further ones are lost */
#define SHIM_FOLDS 8     /* places of small calls that a thread remembers in turn */
#define SHIM_STATUS_BYTES 32
#define SHIM_SITES 256 /* call sites a thread remembers; a power of two */

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

struct site {
    const void *address;
    uint32_t offset;
    uint16_t module;
};

/* Small calls from one place that are not written yet: see record.c. */
struct fold {
    struct call_record record;
    uint64_t calls, inside_ns;
    uint64_t gap_ns; /* gaps before these calls, since the thread's previous call in this row */
    const void *address;
    bool is_poll;
};

/* The larger part of a thread's state: mapped at its first call, so that the library needs little
 * memory in each thread of a program. With more it could not be loaded late, as a plug-in of NCCL
 * is. */
struct thread_store {
    void *few[SHIM_HANDLES];
    struct fold folds[SHIM_FOLDS];
    struct site sites[SHIM_SITES];
};

/* State of a thread. */
struct thread {
    bool inside; /* in an outermost call: further calls are MPI's own */
    bool known;  /* the other members are set */
    uint16_t number;
    struct call_now *now;     /* NULL: no room for this thread */
    const void *fortran_site; /* call site in Fortran while in an entry point, or NULL */
    struct tick_clock clock;
    int64_t exit_ns;           /* end of the last call; 0 before the first */
    int64_t sample_ns, cpu_ns; /* the last reading of the thread's CPU clock, and its time */
    int n_handles;             /* valid while inside */
    int room;                  /* capacity of handles */
    void **handles;            /* requests, or a message, before the call: the store's, or mapped */
    int64_t row_ns, row_end_ns; /* begin and end of the folds, if there are any */
    int n_folds;
    struct thread_store *store; /* until the thread ends */
};

/* One outermost call. */
struct call {
    struct thread *thread;
    const void *site;
    uint16_t function, flags;
    uint32_t comm;
    int32_t peer, tag;
    bool found_nothing; /* a poll that can be folded */
    bool may_fold;      /* if short, it can join calls that differ in nothing important */
    bool has_gap_cpu;
    int64_t enter_ns, exit_ns;
    int64_t gap_cpu_ns;
    uint64_t sent, received; /* bytes for the totals of the function */
    uint64_t posted;         /* bytes for the record alone */
    /* Memory for a status of any interface, if the program ignores it. */
    _Alignas(8) unsigned char status[SHIM_STATUS_BYTES];
};

/* A message, a request, or another part of a call. */
struct message {
    enum call_function function;
    uint16_t flags;
    uint32_t comm;
    int32_t peer, tag;
    uint64_t bytes;
    uint64_t sent, received; /* bytes that the totals of the function lack */
    int64_t enter_ns;
};

extern __thread struct thread shim_thread;
extern struct call_file_header *shim_file; /* NULL: no listener, or not open yet */
extern int shim_mode;                      /* enum shim_mode: of MPI's calls */
extern bool shim_is_shared; /* another library's threads write, too, whatever MPI's threads do */

enum shim_mode { SHIM_UNKNOWN, SHIM_OFF, SHIM_OPENING, SHIM_ON };

/* ---- life.c ---- */

/* Makes room for more handles than the thread ever had; without memory the last ones are lost. */
void shim_more_handles(struct thread *thread, int n);
/* Opens the file for MPI's calls if there is a listener. True: it is open. */
bool shim_open(void);
/* Opens the process's file for calls of another library, which needs no MPI; 1: it is open; 0:
 * another thread opens it now; -1: there is no listener, or no room. */
int shim_open_shared(void);
/* The number of the thread that begins to call. */
uint32_t shim_thread_number(void);
static inline uint16_t shim_thread_shown(uint32_t number) {
    return (uint16_t)(number < CALL_FILE_THREAD_OTHER ? number : CALL_FILE_THREAD_OTHER);
}

/* Wakes the reader; a system call. False: it cannot be woken. */
bool shim_call_reader(void);
/* The file of this process, opened again; -1: it cannot be found. */
int shim_reopen(void);
/* Makes a file at least that large, with memory for all of it. An errno, or 0. */
int shim_reserve(int fd, uint64_t size);
/* False: there is no memory for it, and its calls are not recorded. */
bool shim_thread_begin(struct thread *thread);
/* Leaves the reason for the agent, if there is one. */
void shim_leave_reason(const char *what, const char *reason);

/* ---- grow.c ---- */

/* The ring's capacity - 1, and that of the part after which the reader is woken. */
struct ring_masks {
    uint64_t mask, part_mask;
};
extern struct ring_masks shim_ring;

/* Stores the first capacity in the new file's header. */
void shim_ring_begin(struct call_file_header *header);
/* Wakes the reader, and lets the ring grow if it holds too little of the present rate of calls.
 * `next`: the ticket that is given out next; at_ns: the time of the last record. */
void shim_part_ends(uint64_t next, int64_t at_ns);

/* ---- choose.c ---- */

/* The shim's code for a binary interface: interface.c, compiled for it. */
struct interface {
    const char *marker;           /* a symbol that only such libraries have; NULL: names decide */
    const char *const *libraries; /* names of such libraries; the last is NULL */
    const char *const *fortran_libraries;
    const char *(*find_mpi)(void);      /* NULL, or the name of a symbol that this MPI lacks */
    void *const (*entries)[CALL_COUNT]; /* the wrappers: of MPI_X, of PMPI_X */
};

/* The interface of the MPI in this process; NULL: no MPI yet, or an unknown one. */
const struct interface *shim_interface_of_process(void);
/* "PMPI_Send" in the next library, or NULL. Also finds MPI loaded by a plug-in. */
void *shim_symbol(const char *name);

extern void *shim_next_[2][CALL_COUNT];
void *shim_next_find(enum call_function function, int profiled);

static inline void *shim_next(enum call_function function, int profiled) {
    void *next = __atomic_load_n(&shim_next_[profiled][function], __ATOMIC_RELAXED);
    return LIKELY(next != NULL) ? next : shim_next_find(function, profiled);
}

/* ---- record.c ---- */

/* Work after the exit time is taken: totals and the record. */
void shim_record(struct call *c);
/* Records a part or a request's life as an event of its own; its bytes count for its function. */
void shim_record_message(const struct call *c, const struct message *m);
/* Writes a record as it is. */
void shim_write(const struct call_record *record);
/* The thread's CPU time now. */
int64_t shim_cpu_ns(void);
void shim_sample_enter(struct call *c);
/* A program that did not ask for MPI_THREAD_MULTIPLE calls from one thread at a time: then no
 * locked instructions are needed. Four of them are a tenth of the cost of a call. */
static inline bool shim_is_alone(void) {
    return LIKELY((unsigned)shim_file->thread_level < CALL_FILE_THREAD_MULTIPLE);
}
static inline void shim_add(uint64_t *to, uint64_t n) {
    if (!n)
        return;
    if (shim_is_alone())
        __atomic_store_n(to, __atomic_load_n(to, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
    else
        __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}
static inline struct call_total *shim_total(enum call_function function) {
    return (struct call_total *)(void *)((char *)shim_file + CALL_FILE_TOTALS) + function;
}

/* ---- the call ---- */

/* request.c compares times of different threads, for which the clocks of threads (tick.h) are not
 * exact enough. */
static inline int64_t shim_clock_ns(struct thread *t) {
    return shim_is_alone() ? tick_clock_ns(&t->clock) : tick_clock_ask(&t->clock);
}

/* Whether this is an outermost call with a listener. */
static inline bool call_enter(struct call *c, enum call_function function, const void *site) {
    struct thread *t = &shim_thread;
    if (t->inside)
        return false;
    if (UNLIKELY(__atomic_load_n(&shim_mode, __ATOMIC_ACQUIRE) != SHIM_ON) && !shim_open())
        return false;
    if (UNLIKELY(!t->known) && !shim_thread_begin(t))
        return false;
    t->inside = true;
    c->thread = t;
    c->site = t->fortran_site ? t->fortran_site : site;
    c->function = (uint16_t)function;
    c->flags = (uint16_t)(CALL_UNKNOWN_PEER | (t->fortran_site ? CALL_FORTRAN : 0));
    c->comm = CALL_COMM_UNKNOWN;
    c->peer = CALL_NO_PEER;
    c->tag = CALL_NO_TAG;
    c->found_nothing = c->may_fold = false;
    c->has_gap_cpu = false;
    c->sent = c->received = c->posted = 0;
    return true;
}

/* Reads the clock last: the shim's work is not MPI's time. */
static inline void call_begin(struct call *c) {
    struct thread *t = c->thread;
    c->enter_ns = shim_clock_ns(t);
    if (UNLIKELY(c->enter_ns - t->sample_ns >= CALL_FILE_LONG_NS))
        shim_sample_enter(c);
    if (LIKELY(t->now != NULL)) {
        __atomic_store_n(&t->now->function, c->function, __ATOMIC_RELAXED);
        __atomic_store_n(&t->now->enter_ns, c->enter_ns, __ATOMIC_RELEASE);
    }
}

static inline void call_end(struct call *c, bool succeeded) {
    c->exit_ns = shim_clock_ns(c->thread);
    if (LIKELY(c->thread->now != NULL))
        __atomic_store_n(&c->thread->now->enter_ns, 0, __ATOMIC_RELEASE);
    if (UNLIKELY(!succeeded))
        c->flags |= CALL_FAILED;
}

static inline void call_leave(struct call *c) {
    shim_record(c);
    c->thread->inside = false;
}

#endif
