/* SPDX-License-Identifier: MIT */
#include "analysis/facts/recording/mpi_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/series.h" /* time_is_sane */
#include "common/error.h"

/* ---- functions ---- */

struct known {
    const char *name; /* without "MPI_"; "..." at the end matches any ending */
    struct mpi_function function;
};

#define GROUP(need_) .kind = MPI_KIND_COLLECTIVE, .need = (need_)

/* The first line that matches counts. */
static const struct known known[] = {
    {"Send", {.kind = MPI_KIND_SEND, .sends = true}},
    {"Bsend", {.kind = MPI_KIND_SEND, .sends = true}},
    {"Rsend", {.kind = MPI_KIND_SEND, .sends = true}},
    {"Ssend", {.kind = MPI_KIND_SEND, .sends = true, .synchronous = true}},
    {"Isend", {.kind = MPI_KIND_SEND_START, .sends = true}},
    {"Ibsend", {.kind = MPI_KIND_SEND_START, .sends = true}},
    {"Irsend", {.kind = MPI_KIND_SEND_START, .sends = true}},
    {"Issend", {.kind = MPI_KIND_SEND_START, .sends = true, .synchronous = true}},
    {"Send_init", {.kind = MPI_KIND_ADMIN, .sends = true}},
    {"Bsend_init", {.kind = MPI_KIND_ADMIN, .sends = true}},
    {"Rsend_init", {.kind = MPI_KIND_ADMIN, .sends = true}},
    {"Ssend_init", {.kind = MPI_KIND_ADMIN, .sends = true, .synchronous = true}},
    {"Recv", {.kind = MPI_KIND_RECV, .receives = true}},
    {"Mrecv", {.kind = MPI_KIND_RECV, .receives = true}},
    {"Irecv", {.kind = MPI_KIND_RECV_START, .receives = true}},
    {"Imrecv", {.kind = MPI_KIND_RECV_START, .receives = true}},
    {"Recv_init", {.kind = MPI_KIND_ADMIN, .receives = true}},
    {"Sendrecv...", {.kind = MPI_KIND_SENDRECV, .sends = true}},
    {"Start...", {.kind = MPI_KIND_START}},
    {"Wait...", {.kind = MPI_KIND_WAIT}},
    {"Buffer_detach", {.kind = MPI_KIND_WAIT}},
    {"Test...", {.kind = MPI_KIND_TEST}},
    {"Request_get_status", {.kind = MPI_KIND_TEST}},
    {"Iprobe", {.kind = MPI_KIND_TEST, .probes = true}},
    {"Improbe", {.kind = MPI_KIND_TEST, .probes = true}},
    {"Probe", {.kind = MPI_KIND_PROBE, .probes = true}},
    {"Mprobe", {.kind = MPI_KIND_PROBE, .probes = true}},
    {"Bcast", {GROUP(MPI_NEED_ROOT)}},
    {"Scatter", {GROUP(MPI_NEED_ROOT), .exchange = MPI_EXCHANGE_PARTS}},
    {"Scatterv", {GROUP(MPI_NEED_ROOT), .exchange = MPI_EXCHANGE_PARTS}},
    {"Gather", {GROUP(MPI_NEED_GATHERED), .exchange = MPI_EXCHANGE_PARTS}},
    {"Gatherv", {GROUP(MPI_NEED_GATHERED), .exchange = MPI_EXCHANGE_PARTS}},
    {"Reduce", {GROUP(MPI_NEED_GATHERED)}},
    {"Scan", {GROUP(MPI_NEED_EARLIER)}},
    {"Exscan", {GROUP(MPI_NEED_EARLIER)}},
    {"Neighbor_...", {GROUP(MPI_NEED_NEIGHBOURS), .exchange = MPI_EXCHANGE_EACH_ITS_PART}},
    {"Barrier", {GROUP(MPI_NEED_ALL)}},
    {"Allgather...", {GROUP(MPI_NEED_ALL), .exchange = MPI_EXCHANGE_EACH_ITS_PART}},
    {"Alltoall...", {GROUP(MPI_NEED_ALL), .exchange = MPI_EXCHANGE_EACH_ITS_PART}},
    {"Allreduce", {GROUP(MPI_NEED_ALL), .exchange = MPI_EXCHANGE_ALL_TO_ALL}},
    {"Reduce_scatter...", {GROUP(MPI_NEED_ALL), .exchange = MPI_EXCHANGE_EACH_ITS_PART}},
    {"Win_test", {.kind = MPI_KIND_TEST}},
    {"Win_create...", {.kind = MPI_KIND_RMA_SYNC, .need = MPI_NEED_ALL}},
    {"Win_allocate...", {.kind = MPI_KIND_RMA_SYNC, .need = MPI_NEED_ALL}},
    {"Win_free", {.kind = MPI_KIND_RMA_SYNC, .need = MPI_NEED_ALL}},
    {"Win_fence", {.kind = MPI_KIND_RMA_SYNC, .need = MPI_NEED_ALL}},
    {"Win_flush...", {.kind = MPI_KIND_RMA_SYNC, .completes = true}},
    {"Win_unlock...", {.kind = MPI_KIND_RMA_SYNC, .completes = true}},
    {"Win_complete", {.kind = MPI_KIND_RMA_SYNC, .completes = true}},
    {"Win_...", {.kind = MPI_KIND_RMA_SYNC}},
    {"Put", {.kind = MPI_KIND_RMA}},
    {"Get", {.kind = MPI_KIND_RMA, .fetches = true}},
    {"Accumulate", {.kind = MPI_KIND_RMA}},
    {"Get_accumulate", {.kind = MPI_KIND_RMA, .fetches = true}},
    {"Rput", {.kind = MPI_KIND_RMA}},
    {"Rget", {.kind = MPI_KIND_RMA, .fetches = true}},
    {"Raccumulate", {.kind = MPI_KIND_RMA}},
    {"Rget_accumulate", {.kind = MPI_KIND_RMA, .fetches = true}},
    {"Fetch_and_op", {.kind = MPI_KIND_RMA, .fetches = true}},
    {"Compare_and_swap", {.kind = MPI_KIND_RMA, .fetches = true}},
    {"Comm_join", {.kind = MPI_KIND_COMM}},
    {"Comm_idup", {.kind = MPI_KIND_COLLECTIVE_START, .need = MPI_NEED_ALL}},
    {"Comm_...", {.kind = MPI_KIND_COMM, .need = MPI_NEED_ALL}},
    {"Cart_...", {.kind = MPI_KIND_COMM, .need = MPI_NEED_ALL}},
    {"Graph_...", {.kind = MPI_KIND_COMM, .need = MPI_NEED_ALL}},
    {"Dist_graph_...", {.kind = MPI_KIND_COMM, .need = MPI_NEED_ALL}},
    {"Intercomm_...", {.kind = MPI_KIND_COMM, .need = MPI_NEED_ALL}},
    {"File_open", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_close", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_set_size", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_preallocate", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_set_view", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_sync", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_read_all...", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_read_at_all...", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_read_ordered...", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_write_all...", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_write_at_all...", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_write_ordered...", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_set_atomicity", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_seek_shared", {.kind = MPI_KIND_IO, .need = MPI_NEED_ALL}},
    {"File_i...", {.kind = MPI_KIND_IO_START}},
    {"File_...", {.kind = MPI_KIND_IO}},
    {"Finalize", {.kind = MPI_KIND_ADMIN, .need = MPI_NEED_ALL}},
};

/* Operations on GPUs. When a message has arrived is not told: they are matched with none. */
#define OF_GPU(need_) GROUP(need_), .of_gpu = true
static const struct known known_of_gpus[] = {
    {"AllReduce", {OF_GPU(MPI_NEED_ALL), .exchange = MPI_EXCHANGE_ALL_TO_ALL}},
    {"ReduceScatter", {OF_GPU(MPI_NEED_ALL), .exchange = MPI_EXCHANGE_EACH_ITS_PART}},
    {"AllGather", {OF_GPU(MPI_NEED_ALL), .exchange = MPI_EXCHANGE_EACH_ITS_PART}},
    {"AlltoAll", {OF_GPU(MPI_NEED_ALL), .exchange = MPI_EXCHANGE_EACH_ITS_PART}},
    {"Broadcast", {OF_GPU(MPI_NEED_ROOT)}},
    {"Scatter", {OF_GPU(MPI_NEED_ROOT), .exchange = MPI_EXCHANGE_PARTS}},
    {"Reduce", {OF_GPU(MPI_NEED_GATHERED)}},
    {"Gather", {OF_GPU(MPI_NEED_GATHERED), .exchange = MPI_EXCHANGE_PARTS}},
};

static bool fits(const char *pattern, const char *name) {
    size_t n = strlen(pattern);
    bool open = n > 3 && strcmp(pattern + n - 3, "...") == 0;
    return open ? strncmp(pattern, name, n - 3) == 0 : strcmp(pattern, name) == 0;
}

static const struct known *look_among(const struct known *items, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (fits(items[i].name, name))
            return &items[i];
    return NULL;
}

static const struct known *look_up(const char *name) {
    return look_among(known, ARRAY_SIZE(known), name);
}

/* "Iallreduce" starts the collective "Allreduce". */
static bool started_collective(const char *name, struct mpi_function *ret_function) {
    char plain[64];
    size_t n = strlen(name);
    if (name[0] != 'I' || n < 3 || n >= sizeof plain || name[1] < 'a' || name[1] > 'z')
        return false;
    memcpy(plain, name + 1, n);
    plain[0] = (char)(plain[0] - 'a' + 'A');
    const struct known *k = look_up(plain);
    if (!k || k->function.kind != MPI_KIND_COLLECTIVE)
        return false;
    *ret_function = k->function;
    ret_function->kind = MPI_KIND_COLLECTIVE_START;
    return true;
}

struct mpi_function mpi_function_of(const char *name) {
    struct mpi_function function = {.kind = MPI_KIND_ADMIN};
    bool of_gpu = strncmp(name, "nccl", 4) == 0;
    if (!of_gpu && strncmp(name, "MPI_", 4) != 0)
        return function;
    const struct known *k =
        of_gpu ? look_among(known_of_gpus, ARRAY_SIZE(known_of_gpus), name + 4) : look_up(name + 4);
    if (k)
        return k->function;
    if (!of_gpu)
        started_collective(name + 4, &function);
    return function;
}

/* ---- the log ---- */

#define SEQUENCE_MAX INT64_C(0xffffffff)

int mpi_log_function(struct mpi_log *log, const char *name) {
    for (size_t i = 0; i < log->n_functions; i++)
        if (strcmp(log->names[i], name) == 0)
            return (int)i;
    if (log->n_functions == MPI_FUNCTIONS_MAX)
        return -ENOSPC;
    char *copy = strdup(name);
    if (!copy)
        return -ENOMEM;
    log->functions[log->n_functions] = mpi_function_of(name);
    log->names[log->n_functions] = copy;
    return (int)log->n_functions++;
}

/* Makes items[*capacity], of `size` bytes each, larger if n fills it. */
static void *grown(void *items, size_t n, size_t *capacity, size_t size) {
    if (n < *capacity)
        return items;
    size_t more = *capacity ? 2 * *capacity : 16;
    void *moved = reallocarray(items, more, size);
    if (moved)
        *capacity = more;
    return moved;
}

struct mpi_rank *mpi_log_rank(struct mpi_log *log, int rank, int host, int64_t pid,
                              int *ret_error) {
    struct key key = key_of_process(host, pid);
    uint32_t at = key_find(&log->by_process, key);
    *ret_error = 0;
    if (at != KEY_NONE) {
        if (log->ranks[at].rank < 0)
            log->ranks[at].rank = rank;
        return &log->ranks[at];
    }
    if (log->n == MPI_RANKS_MAX)
        return NULL;
    struct mpi_rank *ranks = grown(log->ranks, log->n, &log->capacity, sizeof *ranks);
    log->ranks = ranks ? ranks : log->ranks;
    if (!ranks || key_add(&log->by_process, key) == KEY_NONE) {
        *ret_error = -ENOMEM;
        return NULL;
    }
    log->ranks[log->n] = (struct mpi_rank){
        .rank = rank, .host = host, .pid = pid, .lost_ns = INT64_MAX, .found_ns = INT64_MAX};
    return &log->ranks[log->n++];
}

static bool makes_sense(const struct mpi_event *e) {
    return time_is_sane(e->enter_ns) && time_is_sane(e->exit_ns) && e->exit_ns >= e->enter_ns &&
           e->bytes >= 0 && e->inside_ns >= 0 && e->cpu_ns >= 0 && e->gap_cpu_ns >= 0;
}

/* Calls that the recording side folds into rows: polls and one-sided accesses. */
static bool may_be_row(const struct mpi_function *f) {
    return f->kind == MPI_KIND_TEST || f->kind == MPI_KIND_RMA || f->kind == MPI_KIND_RMA_SYNC;
}

int mpi_log_add(struct mpi_log *log, struct mpi_rank *rank, const struct mpi_event *event,
                int64_t sequence) {
    if (!makes_sense(event) || event->function >= log->n_functions || rank->n >= INT32_MAX ||
        (event->flags & MPI_FLAG_FOLDED && !may_be_row(&log->functions[event->function]))) {
        log->refused++;
        return 0;
    }
    struct mpi_event *events = grown(rank->events, rank->n, &rank->capacity, sizeof *events);
    if (!events)
        return -ENOMEM;
    rank->events = events;
    uint32_t *sequences =
        grown(rank->sequences, rank->n, &rank->sequences_capacity, sizeof *sequences);
    if (!sequences)
        return -ENOMEM;
    rank->sequences = sequences;
    rank->sequences[rank->n] = (uint32_t)(sequence < SEQUENCE_MAX ? sequence : SEQUENCE_MAX);
    rank->events[rank->n++] = *event;
    return 0;
}

static int compare_events(const struct mpi_event *a, const struct mpi_event *b) {
    if (a->enter_ns != b->enter_ns)
        return a->enter_ns < b->enter_ns ? -1 : 1;
    return (a->exit_ns > b->exit_ns) - (a->exit_ns < b->exit_ns);
}

/* A stable merge sort that merges runs: quick, since most events are in order already. */
static void merge(const struct mpi_event *from, struct mpi_event *to, size_t a, size_t b,
                  size_t end) {
    size_t i = a, j = b;
    for (size_t k = a; k < end; k++)
        to[k] =
            i < b && (j >= end || compare_events(&from[i], &from[j]) <= 0) ? from[i++] : from[j++];
}

static int sort_events(struct mpi_rank *rank) {
    struct mpi_event *spare = malloc((rank->n + 1) * sizeof *spare), *own = rank->events;
    if (!spare)
        return -ENOMEM;
    for (size_t width = 1; width < rank->n; width *= 2) {
        for (size_t a = 0; a < rank->n; a += 2 * width) {
            size_t b = a + width < rank->n ? a + width : rank->n;
            size_t end = b + width < rank->n ? b + width : rank->n;
            if (b == end || compare_events(&own[b - 1], &own[b]) <= 0)
                memcpy(&spare[a], &own[a], (end - a) * sizeof *own);
            else
                merge(own, spare, a, b, end);
        }
        struct mpi_event *swap = own;
        own = spare;
        spare = swap;
    }
    rank->events = own;
    rank->capacity = rank->n;
    free(spare);
    return 0;
}

static bool is_sorted(const struct mpi_rank *rank) {
    for (size_t i = 1; i < rank->n; i++)
        if (compare_events(&rank->events[i - 1], &rank->events[i]) > 0)
            return false;
    return true;
}

static int compare_ranks(const void *a, const void *b) {
    const struct mpi_rank *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (x->pid > y->pid) - (x->pid < y->pid);
}

/* ---- lost events ---- */

/* The first sequence number missing in bits[]. */
static int64_t first_missing(const uint64_t *bits, int64_t last) {
    for (int64_t s = 1; s <= last; s++)
        if (!(bits[s / 64] >> (s % 64) & 1))
            return s;
    return last + 1;
}

static int64_t last_missing(const uint64_t *bits, int64_t last) {
    while (last > 0 && bits[last / 64] >> (last % 64) & 1)
        last--;
    return last;
}

/* Events are written when they end, so the loss lasts from the end of the last event before the
 * first missing one to the end of the first event after the last missing one.
 */
static void set_lost(struct mpi_rank *rank, int64_t first, int64_t last) {
    int64_t lost = INT64_MIN, found = INT64_MAX;
    for (size_t i = 0; i < rank->n; i++) {
        int64_t s = rank->sequences[i], exit_ns = rank->events[i].exit_ns;
        if (s > 0 && s < first && exit_ns > lost)
            lost = exit_ns;
        if (s > last && exit_ns < found)
            found = exit_ns;
    }
    rank->lost_ns = lost < rank->lost_ns ? lost : rank->lost_ns;
    rank->found_ns = found > lost ? found : lost;
}

static int find_lost(struct mpi_rank *rank) {
    int64_t last = 0, counted = 0;
    if (!rank->sequences)
        return 0;
    for (size_t i = 0; i < rank->n; i++) {
        int64_t s = rank->sequences[i];
        counted += s > 0;
        last = s > last ? s : last;
    }
    if (!counted ||
        last == counted) /* all there: numbers differ, unless the rank's data are wrong */
        return 0;
    /* numbers beyond all that can have been counted get no bits */
    int64_t bound = last < SEQUENCE_MAX && last < 64 * counted + 4096 ? last : counted;
    uint64_t *bits = calloc((size_t)bound / 64 + 1, sizeof *bits);
    if (!bits)
        return -ENOMEM;
    for (size_t i = 0; i < rank->n; i++) {
        int64_t s = rank->sequences[i];
        if (s > 0 && s <= bound)
            bits[s / 64] |= UINT64_C(1) << (s % 64);
    }
    set_lost(rank, first_missing(bits, bound),
             bound == last ? last_missing(bits, bound) : INT64_MAX);
    free(bits);
    return 0;
}

/* ---- rows ---- */

#define ROWS_MIN 0.05 /* share of a function's calls in rows up to which their order is known */

/* Marks functions with many calls in rows. A row of one call is a single call. */
static void find_rows(struct mpi_log *log) {
    double calls[MPI_FUNCTIONS_MAX] = {0}, in_rows[MPI_FUNCTIONS_MAX] = {0};
    for (size_t r = 0; r < log->n; r++)
        for (size_t i = 0; i < log->ranks[r].n; i++) {
            const struct mpi_event *e = &log->ranks[r].events[i];
            calls[e->function] += e->calls;
            if (e->flags & MPI_FLAG_FOLDED && e->calls > 1)
                in_rows[e->function] += e->calls;
        }
    for (size_t f = 0; f < log->n_functions; f++)
        log->functions[f].in_rows = in_rows[f] > ROWS_MIN * calls[f];
}

int mpi_log_finish(struct mpi_log *log) {
    int result = 0;
    key_table_release(&log->by_process); /* the sort moves ranks */
    if (log->n)
        qsort(log->ranks, log->n, sizeof *log->ranks, compare_ranks);
    for (size_t r = 0; result == 0 && r < log->n; r++) {
        result = find_lost(&log->ranks[r]); /* before they are sorted */
        free(log->ranks[r].sequences);
        log->ranks[r].sequences = NULL;
        if (result == 0 && !is_sorted(&log->ranks[r]))
            result = sort_events(&log->ranks[r]);
    }
    find_rows(log);
    return result;
}

size_t mpi_log_find(const struct mpi_log *log, int host, int64_t pid) {
    for (size_t r = 0; r < log->n; r++)
        if (log->ranks[r].host == host && log->ranks[r].pid == pid)
            return r;
    return SIZE_MAX;
}

void mpi_log_release(struct mpi_log *log) {
    for (size_t r = 0; r < log->n; r++) {
        free(log->ranks[r].events);
        free(log->ranks[r].sequences);
    }
    for (size_t f = 0; f < log->n_functions; f++)
        free(log->names[f]);
    key_table_release(&log->by_process);
    free(log->ranks);
    *log = (struct mpi_log){0};
}
