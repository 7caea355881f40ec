/* SPDX-License-Identifier: MIT */
/*
 * Drains the files of ranks. A record is taken only if its sequence says that it is complete, and
 * if the ring's counter, read again after the copy, proves that it was not overwritten meanwhile.
 * Marks are read in the same way.
 */
#include "agent/shim/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"

#define BATCH RING_BATCH /* records copied at a time */
/* Patience with a record that was claimed but not completed: a thread without CPU time in the
 * middle of one (a quota takes it for 80 ms and more) completes it later. Checks count besides
 * time: when a whole host stands still, time passes, but the thread could not run either. */
#define STALLED_NS (200 * NS_PER_MS)
#define STALLED_DRAINS 2
#define HEAD_LIMIT (1ULL << 48) /* no program makes so many calls; a larger number is invalid */

/* ---- the table ---- */

static const struct {
    const char *name;
    enum call_class class;
} functions[] = {
#define FUNCTION(class, name) [CALL_##name] = {"MPI_" #name, CALL_##class},
    CALL_LIST(FUNCTION)
#undef FUNCTION
#define FUNCTION(class, name) [CALL_##name] = {#name, CALL_##class},
        CALL_NCCL_LIST(FUNCTION)
#undef FUNCTION
};

_Static_assert(CALL_COUNT <= CALL_FILE_FUNCTIONS, "there is a total for each function");

const char *call_name(enum call_function function) {
    return (unsigned)function < CALL_COUNT ? functions[function].name : NULL;
}

enum call_class call_class(enum call_function function) {
    return (unsigned)function < CALL_COUNT ? functions[function].class : CALL_ADMIN;
}

/* ---- the header ---- */

static bool header_is_ours(const struct call_file_header *h, long pid) {
    return h->pid == pid && h->magic == CALL_FILE_MAGIC && h->version == CALL_FILE_VERSION &&
           h->record_bytes == sizeof(struct call_record) &&
           h->first_capacity == CALL_FILE_CAPACITY && h->n_functions == CALL_COUNT &&
           h->table_hash == CALL_TABLE_HASH;
}

/* If a rank's numbers are invalid, its place in the world counts as unknown. */
static void take_header(struct call_rank *rank, const struct call_file_header *h) {
    bool sane = h->world_size > 0 && h->rank >= 0 && h->rank < h->world_size;
    rank->rank = sane || (h->world_size == -1 && h->rank >= -1) ? h->rank : -1;
    rank->world_size = sane ? h->world_size : -1;
    rank->thread_level =
        h->thread_level >= 0 && h->thread_level <= CALL_FILE_THREAD_MULTIPLE ? h->thread_level : -1;
    rank->calls_reader = h->calls_reader == 1;
    rank->opened_ns = h->opened_ns;
    rank->initialized_ns = h->initialized_ns;
    rank->finalized_ns = h->finalized_ns;
    rank->gap_ns = h->gap_ns;
    rank->gap_cpu_ns = h->gap_cpu_ns;
    rank->lost_requests = h->lost_requests;
    rank->lost_comms = h->lost_comms;
    rank->written = h->head;
}

static int give_up(struct call_rank *rank) {
    rank->broken = true;
    return -EBADMSG;
}

static int read_header(struct call_rank *rank, struct call_file_header *h) {
    if (rank->broken || ring_read(rank->fd, h, sizeof *h, 0) < 0 || !header_is_ours(h, rank->pid) ||
        h->head < rank->cursor || h->head > HEAD_LIMIT)
        return give_up(rank);
    take_header(rank, h);
    return 0;
}

/* The ring's place and shape, as they lie in the file. */
struct ring_state {
    uint64_t head, oldest;
    uint32_t capacity, padding;
};

_Static_assert(offsetof(struct call_file_header, capacity) -
                       offsetof(struct call_file_header, head) ==
                   offsetof(struct ring_state, capacity),
               "the three lie together");

static bool is_capacity(uint32_t n) {
    return n >= CALL_FILE_CAPACITY && n <= CALL_FILE_CAPACITY_MAX && !(n & (n - 1));
}

/* The writer stores a new shape before it gives out the first ticket that needs it. So the shape is
 * read once more after the ticket: it is then that of all records before the ticket. */
static int read_head(struct call_rank *rank, uint64_t *ret_head) {
    struct ring_state first = {0}, state = {0};
    off_t at = offsetof(struct call_file_header, head);
    int r = ring_read(rank->fd, &first, sizeof first, at);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (r == 0)
        r = ring_read(rank->fd, &state, sizeof state, at);
    if (r < 0 || first.head < rank->cursor || first.head > HEAD_LIMIT ||
        state.oldest > state.head || !is_capacity(state.capacity))
        return -EBADMSG;
    rank->capacity = state.capacity;
    rank->oldest = state.oldest;
    *ret_head = first.head;
    return 0;
}

/* ---- events ---- */

static int64_t us_to_ns(uint32_t us) {
    return (int64_t)us * 1000;
}

static bool may_be_row(unsigned function) {
    enum call_class class = call_class((enum call_function)function);
    return class == CALL_TEST || class == CALL_RMA || class == CALL_RMA_SYNC;
}

static bool record_is_sane(const struct call_rank *rank, const struct call_record *r) {
    return r->function < CALL_COUNT && !(r->flags & ~CALL_FLAGS) && r->bytes >= 0 &&
           r->enter_ns >= 0 && r->exit_ns >= r->enter_ns && r->peer >= -1 &&
           (r->flags & CALL_FOLDED ? r->tag >= 1 && may_be_row(r->function) : r->tag >= -1) &&
           (r->peer < rank->world_size || r->peer == CALL_NO_PEER);
}

static int64_t folded_ns(const struct call_record *r) {
    uint64_t inside = r->cpu_us | (uint64_t)r->gap_cpu_us << 32;
    int64_t span = r->exit_ns - r->enter_ns;
    return inside > (uint64_t)span ? span : (int64_t)inside;
}

static void fill_event(struct call_event *e, const struct call_record *r) {
    bool folded = r->flags & CALL_FOLDED, extra = r->flags & (CALL_PART | CALL_REQUEST);
    *e = (struct call_event){
        .sequence = r->sequence,
        .function = (enum call_function)r->function,
        .flags = r->flags,
        .comm = r->comm,
        .peer = r->peer,
        .tag = folded ? CALL_NO_TAG : r->tag,
        .bytes = r->bytes,
        .enter_ns = r->enter_ns,
        .exit_ns = r->exit_ns,
        .cpu_ns = r->flags & CALL_HAS_CPU ? us_to_ns(r->cpu_us) : 0,
        .gap_cpu_ns = r->flags & CALL_HAS_GAP_CPU ? us_to_ns(r->gap_cpu_us) : 0,
        .polls = folded ? r->tag : !extra,
        .inside_ns = folded  ? folded_ns(r)
                     : extra ? 0
                             : r->exit_ns - r->enter_ns,
        .site_offset = r->site_offset,
        .site_module = r->site_module,
        .thread = r->thread,
    };
}

/* ---- the ring ---- */

/* Records that a lap has overwritten are lost: moves the cursor past them. */
static void skip_overwritten(struct call_rank *rank, uint64_t head) {
    uint64_t oldest = head > rank->capacity ? head - rank->capacity : 0;
    if (oldest < rank->oldest)
        oldest = rank->oldest < head ? rank->oldest : head;
    if (rank->cursor >= oldest)
        return;
    rank->lost += oldest - rank->cursor;
    rank->cursor = oldest;
    rank->stalled = 0;
}

static size_t batch_length(const struct call_rank *rank, uint64_t target) {
    uint64_t to_end = rank->capacity - rank->cursor % rank->capacity;
    uint64_t n = target - rank->cursor;
    n = n < to_end ? n : to_end;
    return n < BATCH ? n : BATCH;
}

/* If only one thread calls at a time, each record is complete when the next ticket is given out. So
 * a copy made after reading the tickets holds whole records except the last one. Otherwise it takes
 * two copies to know. */
static bool are_complete(const struct call_rank *rank, size_t n, uint64_t target) {
    return rank->thread_level >= 0 && rank->thread_level < CALL_FILE_THREAD_MULTIPLE &&
           rank->cursor + n < target;
}

static int copy_batch(const struct call_rank *rank, size_t n, uint64_t target,
                      struct call_record *to) {
    uint64_t slot = rank->cursor % rank->capacity;
    off_t offset = (off_t)(CALL_FILE_RECORDS + slot * sizeof *to);
    if (!are_complete(rank, n, target))
        return ring_read_records(rank->fd, to, n, sizeof *to, offset);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return ring_read(rank->fd, to, n * sizeof *to, offset);
}

static bool skip_stalled(struct call_rank *rank) {
    rank->stalled = 0;
    rank->lost++;
    rank->cursor++;
    return true;
}

/* The next record is not complete: waits for it, or after some patience counts it as lost. */
static bool skip_incomplete(struct call_rank *rank, int64_t now_ns) {
    if (rank->stalled == 0)
        rank->stalled_ns = now_ns;
    if (rank->stalled < STALLED_DRAINS)
        rank->stalled++;
    else if (now_ns - rank->stalled_ns >= STALLED_NS)
        return skip_stalled(rank);
    return false;
}

struct drain {
    call_event_fn *fn;
    void *ctx;
    size_t limit;
    int64_t now_ns;
    int passed;
    bool more; /* false: the next record is incomplete, or the caller has enough */
};

static void pass_record(struct call_rank *rank, const struct call_record *r, struct drain *d) {
    struct call_event event;
    if (r->sequence <= rank->cursor || r->sequence == CALL_FILE_BUSY) {
        d->more = skip_incomplete(rank, d->now_ns);
        return;
    }
    rank->stalled = 0;
    if (r->sequence != ++rank->cursor) {
        rank->lost++;
    } else if (!record_is_sane(rank, r)) {
        rank->malformed++;
    } else {
        fill_event(&event, r);
        d->passed++;
        d->more = d->fn(d->ctx, rank, &event) == 0 && (size_t)d->passed < d->limit;
    }
}

/* Reads the counter again after the copy, and drops the records at the front that were overwritten
 * meanwhile. */
static int drain_to(struct call_rank *rank, uint64_t target, struct drain *d) {
    struct call_record batch[BATCH];
    uint64_t head;
    skip_overwritten(rank, target);
    while (d->more && rank->cursor < target) {
        uint64_t from = rank->cursor;
        size_t n = batch_length(rank, target);
        if (copy_batch(rank, n, target, batch) < 0 || read_head(rank, &head) < 0)
            return give_up(rank);
        skip_overwritten(rank, head);
        while (d->more && rank->cursor < from + n)
            pass_record(rank, &batch[rank->cursor - from], d);
    }
    return d->passed;
}

int call_rank_drain(struct call_rank *rank, size_t limit, int64_t now_ns, call_event_fn *fn,
                    void *ctx) {
    struct drain d = {.fn = fn, .ctx = ctx, .limit = limit, .now_ns = now_ns, .more = limit > 0};
    struct call_file_header header;
    uint64_t target;
    int r = read_header(rank, &header);
    if (r == 0 && read_head(rank, &target) < 0)
        r = give_up(rank);
    return r < 0 ? r : drain_to(rank, target, &d);
}

uint64_t call_rank_waiting(struct call_rank *rank) {
    uint64_t head;
    return rank->broken || read_head(rank, &head) < 0 ? 0 : head - rank->cursor;
}

int call_rank_totals(struct call_rank *rank, int64_t now_ns, struct call_totals *ret_totals) {
    struct call_file_header header;
    struct call_total totals[CALL_COUNT];
    int r = read_header(rank, &header);
    if (r < 0)
        return r;
    if (ring_read(rank->fd, totals, sizeof totals, CALL_FILE_TOTALS) < 0)
        return give_up(rank);
    memcpy(ret_totals->function, totals, sizeof totals);
    memcpy(ret_totals->now, header.now, sizeof header.now);
    for (size_t i = 0; i < CALL_FILE_THREADS; i++) {
        struct call_now *now = &ret_totals->now[i];
        if (now->enter_ns < 0 || now->enter_ns > now_ns || now->function >= CALL_COUNT)
            *now = (struct call_now){.thread_id = now->thread_id};
    }
    return 0;
}

/* ---- the directory ---- */

/* A file without its magic is not ready yet. */
static int take_file(void *ctx, long pid, int fd) {
    struct call_reader *reader = ctx;
    struct call_rank rank = {.pid = (int32_t)pid, .fd = fd, .capacity = CALL_FILE_CAPACITY};
    struct call_file_header h;
    if (ring_read(fd, &h, sizeof h, 0) < 0 || !header_is_ours(&h, pid))
        return -EINVAL;
    take_header(&rank, &h);
    reader->ranks[reader->n_ranks++] = rank;
    return 0;
}

int call_reader_open(struct call_reader *ret_reader, const char *dir) {
    struct call_reader reader = {.n_ranks = 0};
    reader.ranks = calloc(CALL_MAX_RANKS, sizeof *reader.ranks);
    if (!reader.ranks)
        return -ENOMEM;
    int r = ring_files_open(&reader.files, dir, ".calls", (off_t)CALL_FILE_BYTES, CALL_MAX_RANKS);
    if (r < 0) {
        free(reader.ranks);
        return r;
    }
    reader.files.size_most = (off_t)CALL_FILE_BYTES_MAX;
    *ret_reader = reader;
    return 0;
}

/* Why a file was refused; NULL: it is sound, but there is no room. */
static const char *fault_of(int fd, int32_t pid) {
    struct call_file_header h;
    struct stat st;
    if (fstat(fd, &st) < 0 || st.st_size < (off_t)CALL_FILE_BYTES ||
        ring_read(fd, &h, sizeof h, 0) < 0 || h.magic == 0)
        return "its file is not complete";
    return header_is_ours(&h, pid) ? NULL : "its file is of another libchokepoint-mpi.so";
}

bool call_reader_why(const struct call_reader *reader, int32_t pid,
                     char ret_why[CALL_FILE_WHY_MAX + 1]) {
    char name[40];
    int dir = dirfd(reader->files.dir);
    snprintf(name, sizeof name, "%d.why", pid);
    ssize_t n = readlinkat(dir, name, ret_why, CALL_FILE_WHY_MAX);
    ret_why[n > 0 ? n : 0] = '\0';
    if (n > 0)
        return true;
    snprintf(name, sizeof name, "%d.calls", pid);
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return false;
    const char *fault = fault_of(fd, pid);
    snprintf(ret_why, CALL_FILE_WHY_MAX + 1, "%s", fault ? fault : "too many ranks on this host");
    close(fd);
    return true;
}

int call_reader_scan(struct call_reader *reader) {
    return ring_files_scan(&reader->files, take_file, reader);
}

void call_reader_forget(struct call_reader *reader) {
    for (size_t i = 0; i < reader->n_ranks; i++)
        close(reader->ranks[i].fd);
    reader->n_ranks = 0;
}

void call_reader_release(struct call_reader *reader) {
    call_reader_forget(reader);
    ring_files_release(&reader->files);
    free(reader->ranks);
    *reader = (struct call_reader){0};
}
