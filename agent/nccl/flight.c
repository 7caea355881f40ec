/* SPDX-License-Identifier: MIT */
/*
 * Operations that have started and not stopped. NCCL starts all operations of a group, gives them
 * to the GPU together, then stops them: for the host one ends where the thread starts the next, as
 * events of a thread must not overlap.
 *
 * Places are of one array for the process, without a lock. A handle from elsewhere, or one that was
 * stopped before, is found out by its place and state.
 */
#include "agent/nccl/nccl.h"

#define FLIGHTS 4096 /* a power of two */
#define TRIES 16     /* places that are looked at for a free one */

enum flight_state { FREE, UNDER_WAY, WRITTEN };

struct nccl_flight {
    int state;
    bool gives, takes;
    uint32_t ticket; /* tells later users of the place apart */
    void *next;
    struct call_record record;
};

struct nccl_thread {
    bool known;
    uint16_t number;
    uint32_t ticket;
    struct nccl_flight *latest; /* of this thread; it may have ended */
};

static struct nccl_flight flights[FLIGHTS];
static uint32_t hint, tickets;
static __thread struct nccl_thread this_thread;

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool changes(struct nccl_flight *flight, int from, int to) {
    return __atomic_compare_exchange_n(&flight->state, &from, to, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

/* Starts at the place that became free last: it is in the cache. */
static struct nccl_flight *find_free(void) {
    uint32_t from = __atomic_load_n(&hint, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < TRIES; i++) {
        struct nccl_flight *flight = &flights[(from + i) & (FLIGHTS - 1)];
        if (!changes(flight, FREE, WRITTEN)) /* nobody ends it before it is filled */
            continue;
        __atomic_store_n(&hint, from + i + 1, __ATOMIC_RELAXED);
        return flight;
    }
    __atomic_store_n(&hint, from + TRIES, __ATOMIC_RELAXED);
    return NULL;
}

static void write_it(struct call_record *record, bool gives, bool takes) {
    struct call_total *total = shim_total((enum call_function)record->function);
    shim_add(&total->calls, 1);
    shim_add(&total->time_ns, (uint64_t)(record->exit_ns - record->enter_ns));
    shim_add(&total->sent_bytes, gives ? (uint64_t)record->bytes : 0);
    shim_add(&total->received_bytes, takes ? (uint64_t)record->bytes : 0);
    shim_write(record);
}

static void finish(struct nccl_flight *flight, int64_t end_ns) {
    if (!changes(flight, UNDER_WAY, WRITTEN) || !shim_file)
        return;
    flight->record.exit_ns = end_ns > flight->record.enter_ns ? end_ns : flight->record.enter_ns;
    write_it(&flight->record, flight->gives, flight->takes);
}

static struct nccl_thread *thread_known(void) {
    struct nccl_thread *thread = &this_thread;
    if (!thread->known) {
        thread->known = true;
        thread->number = shim_thread_shown(shim_thread_number());
    }
    return thread;
}

struct nccl_flight *nccl_flight_begin(struct call_record *record, bool gives, bool takes) {
    struct nccl_thread *thread = thread_known();
    struct nccl_flight *before = thread->latest;
    record->enter_ns = record->exit_ns = now_ns();
    record->thread = thread->number;
    if (before && before->ticket == thread->ticket)
        finish(before, record->enter_ns);
    thread->latest = NULL;
    struct nccl_flight *flight = find_free();
    if (!flight) {
        write_it(record, gives, takes);
        return NULL;
    }
    flight->ticket = thread->ticket = __atomic_fetch_add(&tickets, 1, __ATOMIC_RELAXED);
    flight->gives = gives;
    flight->takes = takes;
    flight->next = NULL;
    flight->record = *record;
    thread->latest = flight;
    __atomic_store_n(&flight->state, UNDER_WAY, __ATOMIC_RELEASE);
    return flight;
}

void nccl_flight_end(struct nccl_flight *flight) {
    finish(flight, now_ns());
    if (changes(flight, WRITTEN, FREE))
        __atomic_store_n(&hint, (uint32_t)(flight - flights), __ATOMIC_RELAXED);
}

struct nccl_flight *nccl_flight_of(void *handle) {
    uintptr_t offset = (uintptr_t)handle - (uintptr_t)flights;
    if (offset >= sizeof flights || offset % sizeof *flights)
        return NULL;
    struct nccl_flight *flight = &flights[offset / sizeof *flights];
    return __atomic_load_n(&flight->state, __ATOMIC_ACQUIRE) == FREE ? NULL : flight;
}

void **nccl_flight_next(struct nccl_flight *flight) {
    return &flight->next;
}
