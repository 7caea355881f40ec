/* SPDX-License-Identifier: MIT */
/*
 * The record of a call: atomic additions to totals, and a record in the ring, written as
 * chokepoint.h writes marks. Nothing here allocates, waits or fails.
 *
 * CPU time costs a system call (0.2 us and more), so the thread's CPU clock is read only if the
 * last reading is 100 us old. Between readings that are closer the thread counts as running. So
 * every gap and every call of 100 us and more gets a CPU time with an error below 100 us.
 *
 * Successive small calls become few events: polls that found nothing, and accesses to windows with
 * their completions; a program over global arrays makes a million of these a second. A row ends
 * with a gap of 100 us, an access of 100 us, or a call of another kind; a poll that found nothing
 * does not end it, however long it took. Each event has the number of its calls, their bytes and
 * the time inside them; totals count single calls as ever. A row is written when the call that ends
 * it returns: before a blocking call the row shows only after the call, and if a thread ends
 * without such a call, its last 20 ms of small calls are in the totals only.
 */
#include "agent/shim/shim.h"

#include <link.h>
#include <string.h>

#define FOLD_NS 20000000 /* rows are written at least this often, to show progress */
#define FETCHED_AHEAD 4  /* slots: two calls write so many at most */

int64_t shim_cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- CPU time ---- */

static int64_t at_least_zero(int64_t n) {
    return n < 0 ? 0 : n;
}

static int64_t cpu_at(const struct thread *t, int64_t when_ns) {
    return t->cpu_ns + at_least_zero(when_ns - t->sample_ns);
}

static void read_cpu_clock(struct thread *t, int64_t when_ns) {
    t->cpu_ns = shim_cpu_ns();
    t->sample_ns = when_ns;
}

/* If the last reading is old, takes a new one, and stores the CPU time of a long gap before this
 * call. */
void shim_sample_enter(struct call *c) {
    struct thread *t = c->thread;
    int64_t gap_ns = c->enter_ns - t->exit_ns, at_exit = cpu_at(t, t->exit_ns);
    read_cpu_clock(t, c->enter_ns);
    if (gap_ns < CALL_FILE_LONG_NS || !t->exit_ns)
        return;
    c->has_gap_cpu = true;
    c->gap_cpu_ns = at_least_zero(t->cpu_ns - at_exit);
    shim_add(&shim_file->gap_ns, (uint64_t)gap_ns);
    shim_add(&shim_file->gap_cpu_ns, (uint64_t)c->gap_cpu_ns);
}

/* -1 for a short call, whose CPU time is not known. */
static int64_t cpu_inside(struct call *c) {
    struct thread *t = c->thread;
    if (LIKELY(c->exit_ns - t->sample_ns < CALL_FILE_LONG_NS))
        return -1;
    int64_t at_enter = cpu_at(t, c->enter_ns);
    read_cpu_clock(t, c->exit_ns);
    return c->exit_ns - c->enter_ns < CALL_FILE_LONG_NS ? -1 : at_least_zero(t->cpu_ns - at_enter);
}

/* ---- call site ---- */

struct lookup {
    uintptr_t address;
    struct site *site;
};

static uint16_t name_hash(const char *path) {
    const char *slash = strrchr(path, '/');
    uint32_t h = 2166136261U;
    for (const char *p = slash ? slash + 1 : path; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619U;
    return (uint16_t)(h ^ h >> 16);
}

static int look_into(struct dl_phdr_info *info, size_t size, void *ctx) {
    struct lookup *l = ctx;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD || l->address < start || l->address - start >= p->p_memsz)
            continue;
        l->site->offset = (uint32_t)(l->address - info->dlpi_addr);
        l->site->module = name_hash(info->dlpi_name);
        return 1;
    }
    return 0;
}

static const struct site *site_of(struct thread *t, const void *address) {
    uintptr_t a = (uintptr_t)address;
    struct site *site = &t->store->sites[(a >> 2 ^ a >> 10) & (SHIM_SITES - 1)];
    if (UNLIKELY(site->address != address)) {
        *site = (struct site){.address = address};
        dl_iterate_phdr(look_into, &(struct lookup){a, site});
    }
    return site;
}

/* ---- the ring ---- */

#ifdef __SANITIZE_THREAD__
#define FENCE() ((void)0)
#else
#define FENCE() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/* Returns the old number. */
static uint64_t add_one(uint64_t *to) {
    uint64_t n = __atomic_load_n(to, __ATOMIC_RELAXED);
    if (!shim_is_alone())
        return __atomic_fetch_add(to, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(to, n + 1, __ATOMIC_RELAXED);
    return n;
}

static uint64_t exchange(uint64_t *to, uint64_t value) {
    uint64_t before = __atomic_load_n(to, __ATOMIC_RELAXED);
    if (!shim_is_alone())
        return __atomic_exchange_n(to, value, __ATOMIC_SEQ_CST);
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
    return before;
}

/* Takes a ticket, then the slot. If a writer was stopped in this slot a lap ago, the slot stays
 * with that writer. The fence orders both before the record for readers. A large ring leaves the
 * caches before its next lap, so the next slots are fetched ahead. */
void shim_write(const struct call_record *record) {
    struct call_file_header *h = shim_file;
    struct call_record *ring = (struct call_record *)(void *)((char *)h + CALL_FILE_RECORDS);
    uint64_t ticket = add_one(&h->head);
    uint64_t mask = shim_ring.mask;
    struct call_record *r = &ring[ticket & mask];
    __builtin_prefetch(&ring[(ticket + FETCHED_AHEAD) & mask], 1);
    if (UNLIKELY(exchange(&r->sequence, CALL_FILE_BUSY) == CALL_FILE_BUSY))
        return;
    FENCE();
    memcpy((char *)r + sizeof r->sequence, (const char *)record + sizeof r->sequence,
           sizeof *r - sizeof r->sequence);
    __atomic_store_n(&r->sequence, ticket + 1, __ATOMIC_RELEASE);
    if (UNLIKELY(((ticket + 1) & shim_ring.part_mask) == 0))
        shim_part_ends(ticket + 1, record->exit_ns);
}

static uint32_t microseconds(int64_t ns) {
    uint64_t us = (uint64_t)(ns < 0 ? 0 : ns) / 1000;
    return us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

/* ---- successive small calls ---- */

/* The row that ended first; ends differ, as one call came after the other. */
static struct fold *first_ended(struct thread *t) {
    struct fold *first = NULL;
    for (int i = 0; i < t->n_folds; i++)
        if (t->store->folds[i].calls &&
            (!first || t->store->folds[i].record.exit_ns < first->record.exit_ns))
            first = &t->store->folds[i];
    return first;
}

/* Returns the new end. */
static int64_t write_fold(struct fold *fold, int64_t enter_ns) {
    struct call_record *r = &fold->record;
    r->flags = (uint16_t)((r->flags | CALL_FOLDED) & ~(CALL_HAS_CPU | CALL_HAS_GAP_CPU));
    r->enter_ns = enter_ns;
    r->exit_ns = enter_ns + (int64_t)(fold->inside_ns + fold->gap_ns);
    r->tag = fold->calls < INT32_MAX ? (int32_t)fold->calls : INT32_MAX;
    r->cpu_us = (uint32_t)fold->inside_ns;
    r->gap_cpu_us = (uint32_t)(fold->inside_ns >> 32);
    shim_write(r);
    fold->calls = 0;
    return r->exit_ns;
}

/* A thread is in one call at a time, so its events must not overlap. If places alternate, each gets
 * the time of its calls and the gaps before them, one place after the other. */
static void unfold(struct thread *t) {
    struct fold *fold = t->store->folds;
    int64_t at = t->row_ns;
    if (t->n_folds == 1 && fold->calls == 1 && !fold->is_poll)
        shim_write(&fold->record);
    else
        while ((fold = first_ended(t)))
            at = write_fold(fold, at);
    t->n_folds = 0;
}

static struct fold *same_place(struct thread *t, const struct call *c) {
    for (int i = 0; i < t->n_folds; i++) {
        struct fold *fold = &t->store->folds[i];
        if (fold->address == c->site && fold->record.function == c->function &&
            fold->record.peer == c->peer && (!c->found_nothing || fold->record.comm == c->comm))
            return fold;
    }
    return NULL;
}

/* Without room for another place the call joins a row of its function, whatever its peer or
 * place. */
static struct fold *same_function(struct thread *t, const struct call *c) {
    for (int i = 0; i < t->n_folds && !c->found_nothing; i++)
        if (t->store->folds[i].record.function == c->function)
            return &t->store->folds[i];
    return NULL;
}

static struct fold *place_of(struct thread *t, const struct call *c, const struct call_record *r) {
    struct fold *fold = same_place(t, c);
    if (!fold && t->n_folds == SHIM_FOLDS)
        fold = same_function(t, c);
    if (fold)
        return fold;
    if (t->n_folds == SHIM_FOLDS)
        unfold(t);
    if (t->n_folds == 0)
        t->row_ns = t->row_end_ns = c->enter_ns;
    fold = &t->store->folds[t->n_folds++];
    *fold = (struct fold){.record = *r, .address = c->site, .is_poll = c->found_nothing};
    fold->record.bytes = 0;
    return fold;
}

/* Values that differ between calls of a row become unknown. */
static void forget_differences(struct fold *fold, const struct call_record *r) {
    struct call_record *have = &fold->record;
    if (have->comm != r->comm)
        have->comm = CALL_COMM_UNKNOWN;
    if (have->peer != r->peer) {
        have->peer = CALL_NO_PEER;
        have->flags |= CALL_UNKNOWN_PEER;
    }
    if (have->site_offset != r->site_offset)
        have->site_offset = have->site_module = 0;
}

static void fold_call(struct call *c, const struct call_record *r) {
    struct thread *t = c->thread;
    if (t->n_folds && c->exit_ns - t->row_ns >= FOLD_NS)
        unfold(t);
    struct fold *fold = place_of(t, c, r);
    forget_differences(fold, r);
    fold->record.exit_ns = c->exit_ns;
    fold->record.bytes += c->found_nothing ? 0 : r->bytes;
    fold->calls++;
    fold->inside_ns += (uint64_t)(c->exit_ns - c->enter_ns);
    fold->gap_ns += (uint64_t)(c->enter_ns - t->row_end_ns);
    t->row_end_ns = c->exit_ns;
}

/* Whether nothing in the call needs an event of its own. */
static bool is_small(const struct call *c, int64_t cpu_ns) {
    if (c->has_gap_cpu)
        return false;
    return c->found_nothing ||
           (c->may_fold && cpu_ns < 0 && c->exit_ns - c->enter_ns < CALL_FILE_LONG_NS);
}

/* ---- a call ---- */

static void add_up(const struct call *c, int64_t cpu_ns) {
    struct call_total *total = shim_total(c->function);
    uint64_t inside = (uint64_t)(c->exit_ns - c->enter_ns);
    shim_add(&total->calls, 1);
    shim_add(&total->time_ns, inside);
    shim_add(&total->sent_bytes, c->sent);
    shim_add(&total->received_bytes, c->received);
    if (UNLIKELY(cpu_ns >= 0)) {
        shim_add(&total->measured_ns, inside);
        shim_add(&total->cpu_ns, (uint64_t)cpu_ns);
    }
    if (UNLIKELY(c->flags & CALL_FAILED))
        shim_add(&total->failed, 1);
}

void shim_record(struct call *c) {
    struct thread *t = c->thread;
    int64_t cpu_ns = cpu_inside(c);
    const struct site *site = site_of(t, c->site);
    uint64_t moved = c->sent > c->received ? c->sent : c->received;
    struct call_record r = {
        .function = c->function,
        .flags = (uint16_t)(c->flags | (cpu_ns >= 0 ? CALL_HAS_CPU : 0) |
                            (c->has_gap_cpu ? CALL_HAS_GAP_CPU : 0)),
        .comm = c->comm,
        .peer = c->peer,
        .tag = c->tag,
        .bytes = (int64_t)(moved > c->posted ? moved : c->posted),
        .enter_ns = c->enter_ns,
        .exit_ns = c->exit_ns,
        .cpu_us = microseconds(cpu_ns),
        .gap_cpu_us = c->has_gap_cpu ? microseconds(c->gap_cpu_ns) : 0,
        .site_offset = site->offset,
        .site_module = site->module,
        .thread = t->number,
    };
    add_up(c, cpu_ns);
    t->exit_ns = c->exit_ns;
    if (UNLIKELY(is_small(c, cpu_ns))) {
        fold_call(c, &r);
        return;
    }
    if (UNLIKELY(t->n_folds))
        unfold(t);
    shim_write(&r);
}

void shim_record_message(const struct call *c, const struct message *m) {
    struct call_total *total = shim_total(m->function);
    const struct site *site = site_of(c->thread, c->site);
    shim_add(&total->sent_bytes, m->sent);
    shim_add(&total->received_bytes, m->received);
    if (m->flags & CALL_AT_MOST)
        shim_add(&total->unsized, 1);
    if (c->thread->n_folds)
        unfold(c->thread);
    shim_write(&(struct call_record){
        .function = (uint16_t)m->function,
        .flags = (uint16_t)(m->flags | (c->flags & CALL_FORTRAN)),
        .comm = m->comm,
        .peer = m->peer,
        .tag = m->tag,
        .bytes = (int64_t)m->bytes,
        .enter_ns = m->enter_ns,
        .exit_ns = c->exit_ns,
        .site_offset = site->offset,
        .site_module = site->module,
        .thread = c->thread->number,
    });
}
