/* SPDX-License-Identifier: MIT */
/* The maps and their slots. The programs take slots, the agent frees them. */
#ifndef CHOKEPOINT_AGENT_WAIT_MAPS_H
#define CHOKEPOINT_AGENT_WAIT_MAPS_H

#include "agent/wait/kernel/kernel_types.h"

#define SLOT_TRIES 128
#define SLOT_NONE WAIT_THREADS        /* a thread that has not joined */
#define SLOT_OVER (WAIT_THREADS + 1)  /* a thread that has ended */
#define SLOT_TAKEN (WAIT_THREADS + 2) /* a thread that is just joining */

struct slot_of { /* what a task or a socket carries */
    wait_u32 slot;
    wait_u32 process; /* of a task: the slot of its process, + 1 */
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, WAIT_THREADS);
    __type(key, wait_u32);
    __type(value, struct wait_thread);
} threads SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, WAIT_PROCESSES);
    __type(key, wait_u32);
    __type(value, struct wait_process);
} processes SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, WAIT_SOCKETS);
    __type(key, wait_u32);
    __type(value, struct wait_socket);
} sockets SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 1);
    __type(key, wait_u32);
    __type(value, struct wait_totals);
} totals SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, WAIT_CORES);
    __type(key, wait_u32);
    __type(value, struct wait_pace);
} paces SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct slot_of);
} of_task SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_SK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct slot_of);
} of_socket SEC(".maps");

/* Slots of sockets by address: when a thread is about to wait for a socket, the kernel gives only
 * the address. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WAIT_SOCKETS);
    __type(key, wait_u64);
    __type(value, wait_u32);
} addresses SEC(".maps");

/* Processes that the agent found to be of the job. */
struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WAIT_MEMBERS);
    __type(key, wait_u32);
    __type(value, wait_u32);
} members SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, WAIT_WAKEUPS);
    __type(key, struct wait_wakeup_key);
    __type(value, struct wait_wakeup);
} wakeups SEC(".maps");

/* A number that the kernel's verifier is to know nothing of: see unfollowed(). */
struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, wait_u32);
    __type(value, wait_u32);
} aside SEC(".maps");

const volatile struct wait_config config SEC(".rodata.config") = {0};

static __always_inline struct wait_totals *all_totals(void) {
    wait_u32 zero = 0;
    return bpf_map_lookup_elem(&totals, &zero);
}

/* The same number, through memory. The verifier follows each way to a constant on its own, to the
 * end of the program: after a function with twenty results all that comes later is looked at twenty
 * times. It forgets a number that was in memory. For programs that no other interrupts on its
 * core. */
static __always_inline wait_u32 unfollowed(wait_u32 number) {
    wait_u32 zero = 0;
    volatile wait_u32 *place = bpf_map_lookup_elem(&aside, &zero);
    if (!place)
        return number;
    *place = number;
    return *place;
}

/* NULL if clocks are paused. */
static __always_inline struct wait_totals *unless_paused(void) {
    struct wait_totals *all = all_totals();
    return all && !all->paused ? all : 0;
}

static __always_inline struct wait_pace *own_pace(void) {
    wait_u32 core = bpf_get_smp_processor_id() % WAIT_CORES;
    return bpf_map_lookup_elem(&paces, &core);
}

/* Too many events pause the clocks. now: 0: the time is read when it is needed. */
static __always_inline void count_events(struct wait_pace *pace, wait_u32 n,
                                         struct wait_totals *all, wait_u64 now) {
    pace->events += n;
    if (pace->events > all->budget && __sync_val_compare_and_swap(&all->paused, 0, 1) == 0)
        all->paused_ns = now ? now : bpf_ktime_get_ns();
}

/* Counts an event of the job's threads or sockets. */
static __always_inline void count_event(struct wait_totals *all, wait_u64 now) {
    struct wait_pace *pace = own_pace();
    if (pace)
        count_events(pace, 1, all, now);
}

static __always_inline void count_loss(wait_u32 what) {
    struct wait_totals *all = all_totals();
    if (all && what < WAIT_LOSSES)
        __sync_fetch_and_add(&all->lost[what], 1);
}

static __always_inline struct wait_thread *thread_at(wait_u32 slot) {
    return bpf_map_lookup_elem(&threads, &slot);
}

static __always_inline struct wait_process *process_at(wait_u32 slot) {
    return bpf_map_lookup_elem(&processes, &slot);
}

static __always_inline struct wait_socket *socket_at(wait_u32 slot) {
    return bpf_map_lookup_elem(&sockets, &slot);
}

/* ret: number of the slot, or the capacity if none was free. */
#define TAKE_SLOT(at, next, capacity, ret)                                                         \
    do {                                                                                           \
        struct wait_totals *all_ = all_totals();                                                   \
        (ret) = (capacity);                                                                        \
        for (int i_ = 0; all_ && i_ < SLOT_TRIES; i_++) {                                          \
            wait_u32 try_ = __sync_fetch_and_add(&all_->next, 1) % (capacity);                     \
            __typeof__(at(0)) item_ = at(try_);                                                    \
            if (item_ &&                                                                           \
                __sync_val_compare_and_swap(&item_->slot, WAIT_FREE, WAIT_TAKEN) == WAIT_FREE) {   \
                (ret) = try_;                                                                      \
                break;                                                                             \
            }                                                                                      \
        }                                                                                          \
    } while (0)

#endif
