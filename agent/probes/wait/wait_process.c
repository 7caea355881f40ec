/* SPDX-License-Identifier: MIT */
/*
 * Reads processes as one from slots that events of all cores change at the same time, without a
 * lock.
 *
 * A running clock stands in its sum as minus its beginning. So a sum that was read between the two
 * writes of an event is wrong by about the host's uptime. No process of the job can have lived for
 * so long: such a sum is recognised, and read again.
 */
#include <string.h>

#include "agent/probes/wait/wait_private.h"
#include "common/error.h"

#define READ_TRIES 8

static uint64_t load(const uint64_t *number) {
    return __atomic_load_n(number, __ATOMIC_ACQUIRE);
}

/* ---- figures ---- */

/* False: the value is impossible (see above). An event may be later than now_ns. */
static bool is_possible(int64_t ns, const struct wait_process *process, uint64_t now_ns) {
    return ns > -(int64_t)process->joined_ns && ns < (int64_t)now_ns;
}

static bool is_sane(const struct wait_process *process) {
    return process->tgid > 0 && process->tgid <= INT32_MAX && process->joined_ns <= INT64_MAX;
}

/* Copies a slot while no event changes it, with its figures up to now_ns. */
static bool read_process(const struct wait_process *slot, uint64_t now_ns,
                         struct wait_process *ret_process, uint64_t ret_ns[WAIT_STATES]) {
    for (int i = 0; i < READ_TRIES; i++) {
        uint64_t counts = load(&slot->counts);
        memcpy(ret_process, slot, sizeof *slot);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (counts != load(&slot->counts) || counts != ret_process->counts)
            continue;
        if (!is_sane(ret_process))
            return false;
        bool runs = WAIT_COUNT(counts, WAIT_ONE_RUNNING), busy = WAIT_COUNT(counts, WAIT_ONE_BUSY);
        int64_t run_ns = (int64_t)(ret_process->run_ns + (runs ? now_ns : 0));
        int64_t busy_ns = (int64_t)(ret_process->busy_ns + (busy ? now_ns : 0));
        if (!is_possible(run_ns, ret_process, now_ns) || !is_possible(busy_ns, ret_process, now_ns))
            continue;
        memcpy(ret_ns, ret_process->gap_ns, sizeof ret_process->gap_ns);
        ret_ns[WAIT_RUN] += run_ns > 0 ? (uint64_t)run_ns : 0;
        ret_ns[WAIT_RUNNABLE] += busy_ns > run_ns ? (uint64_t)(busy_ns - run_ns) : 0;
        return true;
    }
    return false;
}

/* ---- gaps ---- */

/* Threads of the process release its locks only once one of them goes on: the first of these states
 * that some thread is in. */
static uint32_t behind_lock(uint32_t states) {
    static const uint32_t order[] = {
        WAIT_DISK, WAIT_FAULT, WAIT_SOCKET_SEND, WAIT_SOCKET_RECEIVE, WAIT_CONNECT, WAIT_POLL,
        WAIT_PIPE, WAIT_UNIX,  WAIT_CHILD,       WAIT_ACCEPT,         WAIT_TIMER};
    for (size_t i = 0; i < ARRAY_SIZE(order); i++)
        if (states >> order[i] & 1)
            return order[i];
    return WAIT_FUTEX;
}

/* The state of the thread that works: other threads may only tick. */
static uint32_t guess(const struct wait_process *process, const struct wait_group *group) {
    uint32_t state = group && group->threads == 1 ? group->state
                     : process->worker            ? process->worker_state
                                                  : process->last_state;
    if (state == WAIT_FUTEX && group)
        return behind_lock(group->states);
    return state >= WAIT_FIRST_BLOCKED && state < WAIT_UNCLOCKED ? state : WAIT_OTHER;
}

/* Takes a gap from since_ns to now_ns, unless an event has taken it. Returns its time. */
static uint64_t take_gap(struct wait_process *slot, uint64_t since_ns, uint64_t now_ns,
                         uint32_t state) {
    if (!since_ns || since_ns >= now_ns ||
        !__atomic_compare_exchange_n(&slot->gap_since_ns, &since_ns, now_ns, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return 0;
    __atomic_fetch_add(&slot->gap_ns[state], now_ns - since_ns, __ATOMIC_RELAXED);
    return now_ns - since_ns;
}

/* Takes gaps left open by the threads that ended them: a thread that still runs does more than
 * tick. */
static void take_open(struct wait_process *slot, uint64_t now_ns, uint64_t *ns) {
    uint64_t opened_ns = load(&slot->opened_ns);
    if (now_ns < opened_ns || now_ns - opened_ns < WAIT_TICK_NS)
        return;
    uint64_t gap = __atomic_exchange_n(&slot->open_gap_ns, 0, __ATOMIC_ACQ_REL);
    uint32_t state = slot->open_state < WAIT_STATES ? slot->open_state : WAIT_OTHER;
    __atomic_fetch_add(&slot->gap_ns[state], gap, __ATOMIC_RELAXED);
    ns[state] += gap;
}

static void take_carry(struct wait_process *slot, uint32_t state, uint64_t *ns) {
    uint64_t gap = __atomic_exchange_n(&slot->carry_ns, 0, __ATOMIC_ACQ_REL);
    __atomic_fetch_add(&slot->gap_ns[state], gap, __ATOMIC_RELAXED);
    ns[state] += gap;
}

/* ---- pauses ---- */

/* Closes the clocks at the beginning of a pause from pause_ns to until_ns. Meanwhile events write
 * to the slot only when a thread comes or goes. */
static void close_clocks(struct wait_process *slot, uint64_t pause_ns, uint64_t until_ns) {
    uint64_t counts = __atomic_fetch_and(&slot->counts, ~(WAIT_ONE_THREAD - 1), __ATOMIC_ACQ_REL);
    uint64_t begin_ns = slot->joined_ns > pause_ns ? slot->joined_ns : pause_ns;
    if (WAIT_COUNT(counts, WAIT_ONE_RUNNING))
        __atomic_fetch_add(&slot->run_ns, pause_ns, __ATOMIC_RELAXED);
    if (WAIT_COUNT(counts, WAIT_ONE_BUSY))
        __atomic_fetch_add(&slot->busy_ns, pause_ns, __ATOMIC_RELAXED);
    else
        take_gap(slot, load(&slot->gap_since_ns), pause_ns, guess(slot, NULL));
    __atomic_store_n(&slot->pending_gap_ns, 0, __ATOMIC_RELAXED);
    uint64_t ns[WAIT_STATES] = {0};
    take_open(slot, UINT64_MAX, ns);
    take_carry(slot, guess(slot, NULL), ns);
    until_ns = until_ns > begin_ns ? until_ns : begin_ns;
    __atomic_fetch_add(&slot->gap_ns[WAIT_UNCLOCKED], until_ns - begin_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->blocked_since_ns, until_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->gap_since_ns, until_ns, __ATOMIC_RELEASE);
}

void wait_resume_processes(struct wait_watch *watch, uint64_t now_ns) {
    const struct wait_totals *totals = watch->memory.totals;
    for (size_t i = 0; i < WAIT_PROCESSES; i++) {
        struct wait_process *slot = &watch->memory.processes[i];
        uint32_t use = __atomic_load_n(&slot->slot, __ATOMIC_ACQUIRE);
        if (use == WAIT_LIVE)
            close_clocks(slot, totals->paused_ns, now_ns);
        else if (use == WAIT_ENDED && slot->ended_ns > totals->paused_ns)
            close_clocks(slot, totals->paused_ns, slot->ended_ns);
    }
}

/* ---- a sample ---- */

static void add_states(uint64_t *sums, const uint64_t *more) {
    for (size_t i = 0; i < WAIT_STATES; i++)
        sums[i] += more[i];
}

static void take_live_process(struct wait_watch *watch, struct wait_process *slot,
                              uint64_t now_ns) {
    struct wait_process process;
    uint64_t ns[WAIT_STATES];
    if (!read_process(slot, now_ns, &process, ns))
        return; /* unchanged since it was last told */
    struct wait_group *group = wait_group_find(watch, process.tgid);
    if (!group || group->start_ns != process.start_ns)
        return; /* its threads found no room */
    if (!WAIT_COUNT(process.counts, WAIT_ONE_BUSY)) {
        uint32_t state = guess(&process, group);
        ns[state] += take_gap(slot, process.gap_since_ns, now_ns, state);
        take_carry(slot, state, ns);
    } else {
        take_open(slot, now_ns, ns);
    }
    add_states(group->process_now_ns, ns);
}

static void take_ended_process(struct wait_watch *watch, struct wait_process *slot) {
    const struct wait_totals *totals = watch->memory.totals;
    struct wait_process process;
    uint64_t ns[WAIT_STATES];
    if (__atomic_load_n(&totals->paused, __ATOMIC_ACQUIRE) && slot->ended_ns > totals->paused_ns)
        close_clocks(slot, totals->paused_ns, slot->ended_ns);
    if (!read_process(slot, slot->ended_ns, &process, ns))
        return;
    take_open(slot, UINT64_MAX, ns);
    take_carry(slot, guess(&process, NULL), ns);
    struct wait_group *group = wait_group_find(watch, process.tgid);
    if (!group || group->start_ns != process.start_ns) {
        add_states(watch->unseen_process_ns, ns);
        return;
    }
    add_states(group->process_ended_ns, ns);
    add_states(group->process_now_ns, ns);
}

/* A free slot may be taken at once. So it is not freed while an event of its last thread may still
 * use it. */
void wait_take_processes(struct wait_watch *watch, uint64_t now_ns) {
    uint32_t *next = &watch->memory.totals->next_process;
    struct wait_walk walk = wait_walk_begin(watch->high_processes, next, WAIT_PROCESSES);
    for (uint32_t i = 0; i < walk.n; i++) {
        struct wait_process *slot = &watch->memory.processes[i];
        uint32_t use = __atomic_load_n(&slot->slot, __ATOMIC_ACQUIRE);
        if (use == WAIT_LIVE)
            take_live_process(watch, slot, now_ns);
        if (use == WAIT_ENDED)
            take_ended_process(watch, slot);
        if (use == WAIT_ENDED || use == WAIT_READ)
            __atomic_store_n(&slot->slot, use == WAIT_ENDED ? WAIT_READ : WAIT_FREE,
                             __ATOMIC_RELEASE);
        wait_walk_saw(&walk, i, use == WAIT_FREE || use == WAIT_READ);
    }
    watch->high_processes = wait_walk_end(&walk, next, WAIT_PROCESSES);
}
