/* SPDX-License-Identifier: MIT */
/*
 * libchokepoint-mpi.so: stands before the MPI functions of an unmodified program (LD_PRELOAD) and
 * writes what each call was and how long it took into a file in shared memory (call_file.h). It
 * changes nothing that the program can see.
 *
 * MPI_X forwards to the next MPI_X, which may be another tool's, and PMPI_X to the next PMPI_X: so
 * tools before and behind us work, programs with a profiling layer of their own are seen where
 * that layer calls PMPI, and Fortran where its entry points do. Only the outermost call of a thread
 * counts, whatever MPI calls inside itself.
 *
 * Not linked with MPI: the library is also loaded into the shells and launchers on the way to the
 * program, and must not drag MPI into them. Everything of MPI is looked up when first needed. Which
 * MPI that is, is found then, too: this header knows none (abi/abi.h).
 *
 * A file of a process is state of that process, so here, unlike anywhere else in this project,
 * state is static.
 */
#ifndef CHOKEPOINT_AGENT_SHIM_SHIM_H
#define CHOKEPOINT_AGENT_SHIM_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "agent/shim/calls.h"
#include "agent/shim/tick.h"

#define SHIM_HANDLES                                                                               \
    256              /* requests of one wait or test that are looked at; further ones are lost */
#define SHIM_FOLDS 8 /* places a thread makes small calls from in turn */
#define SHIM_STATUS_BYTES 32
#define SHIM_SITES 256 /* call sites a thread remembers; a power of two */

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

struct site {
    const void *address;
    uint32_t offset;
    uint16_t module;
};

/* Small calls from one place, not yet written: see record.c. */
struct fold {
    struct call_record record;
    uint64_t calls, inside_ns;
    uint64_t gap_ns; /* before each of them, since the thread's call before in this row */
    const void *address;
    bool is_poll;
};

/* State of a thread. */
struct thread {
    bool inside; /* in an outermost call: whatever comes now is MPI's own */
    bool known;  /* the rest is set up */
    uint16_t number;
    struct call_now *now;     /* NULL: a thread too many */
    const void *fortran_site; /* of the Fortran entry point we are in, or NULL */
    struct tick_clock clock;
    int64_t exit_ns;           /* of the last call, 0 before it */
    int64_t sample_ns, cpu_ns; /* the last reading of the thread's CPU clock: when, what */
    int n_handles;             /* valid while inside */
    int room;                  /* for handles */
    void **handles; /* requests, or a message, as they were before the call: few, or mapped */
    void *few[SHIM_HANDLES];
    int64_t row_ns, row_end_ns; /* of the folds, if there are any */
    int n_folds;
    struct fold folds[SHIM_FOLDS];
    struct site sites[SHIM_SITES];
};

/* One outermost call. */
struct call {
    struct thread *thread;
    const void *site;
    uint16_t function, flags;
    uint32_t comm;
    int32_t peer, tag;
    bool found_nothing; /* a poll: to be folded */
    bool may_fold;      /* if it is short: one of many that differ in nothing that matters */
    bool has_gap_cpu;
    int64_t enter_ns, exit_ns;
    int64_t gap_cpu_ns;
    uint64_t sent, received; /* for the totals of the function */
    uint64_t posted;         /* for the record alone */
    /* A status, of whatever interface, for the program that ignores it. */
    _Alignas(8) unsigned char status[SHIM_STATUS_BYTES];
};

/* A message, or request, or what else is counted beside the call. */
struct message {
    enum call_function function;
    uint16_t flags;
    uint32_t comm;
    int32_t peer, tag;
    uint64_t bytes;
    uint64_t sent, received; /* what of it the totals of the function do not know yet */
    int64_t enter_ns;
};

extern __thread struct thread shim_thread;
extern struct call_file_header *shim_file; /* NULL: nobody listens, or not yet open */
extern int shim_mode;                      /* enum shim_mode */

enum shim_mode { SHIM_UNKNOWN, SHIM_OFF, SHIM_OPENING, SHIM_ON };

/* ---- life.c ---- */

/* Room for more handles than a thread has had so far; if there is none, the last ones are lost. */
void shim_more_handles(struct thread *thread, int n);
/* Opens the file if somebody listens; whether it is open. */
bool shim_open(void);

/* Has the reader look at the ring; a system call. False: it cannot be called. */
bool shim_call_reader(void);
void shim_thread_begin(struct thread *thread);
/* For the agent, which shows it, if there is one. */
void shim_leave_reason(const char *what, const char *reason);

/* ---- choose.c ---- */

/* The shim's knowledge of a binary interface: interface.c, compiled for it. */
struct interface {
    const char *marker;           /* a symbol that only such a library has; or NULL: its names */
    const char *const *libraries; /* names of such libraries, up to a NULL */
    const char *const *fortran_libraries;
    const char *(*find_mpi)(void);      /* NULL, or the name of what this MPI does not have */
    void *const (*entries)[CALL_COUNT]; /* of MPI_X, of PMPI_X: in front of the next one */
};

/* That of the MPI in this process; NULL: none so far, or none that we know. */
const struct interface *shim_interface_of_process(void);
/* "PMPI_Send" in what comes behind us, or NULL. Also finds MPI loaded by a plug-in. */
void *shim_symbol(const char *name);

extern void *shim_next_[2][CALL_COUNT];
void *shim_next_find(enum call_function function, int profiled);

static inline void *shim_next(enum call_function function, int profiled) {
    void *next = __atomic_load_n(&shim_next_[profiled][function], __ATOMIC_RELAXED);
    return LIKELY(next != NULL) ? next : shim_next_find(function, profiled);
}

/* ---- record.c ---- */

/* Work after the exit clock: totals, the record. */
void shim_record(struct call *c);
/* A part or a request's life as an event of its own; its bytes count for its function. */
void shim_record_message(const struct call *c, const struct message *m);
/* Thread CPU time by now. */
int64_t shim_cpu_ns(void);
void shim_sample_enter(struct call *c);
/* A program that has not asked for MPI_THREAD_MULTIPLE sees to it that one thread calls at a time:
 * then no locked instruction is needed, and four of them are a tenth of what a call costs. */
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

/* Times of threads that call at once are compared with each other (request.c), for which the clocks
 * of two threads are not near enough. */
static inline int64_t shim_clock_ns(struct thread *t) {
    return shim_is_alone() ? tick_clock_ns(&t->clock) : tick_clock_ask(&t->clock);
}

/* Whether this is an outermost call that somebody listens to. */
static inline bool call_enter(struct call *c, enum call_function function, const void *site) {
    struct thread *t = &shim_thread;
    if (t->inside)
        return false;
    if (UNLIKELY(__atomic_load_n(&shim_mode, __ATOMIC_ACQUIRE) != SHIM_ON) && !shim_open())
        return false;
    if (UNLIKELY(!t->known))
        shim_thread_begin(t);
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

/* The clock is read last: what we do is not MPI's time. */
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
