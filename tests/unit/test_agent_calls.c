/* SPDX-License-Identifier: MIT */
/* The reader of files that ranks write: what it reads, and what a hostile file cannot do. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/shim/calls.h"
#include "common/clock.h"

#define MAX_SEEN (8 * CALL_FILE_CAPACITY)
#define LAP_NS(times) (CALL_FILE_HOLD_NS / (times)) /* of a ring that must grow so many times */

/* A rank's file as the shim maps it. */
struct file {
    char path[128];
    struct call_file_header *header;
    struct call_total *totals;
    struct call_record *records;
    int64_t lap_ns; /* time of each lap, by which the ring grows; 0: it does not */
};

struct fixture {
    char dir[64];
    struct call_reader reader;
    struct call_event *seen;
    int n, stop_after;
    int64_t now_ns;
    struct file files[2];
    int n_files;
};

static struct file *make_file(struct fixture *f, int pid) {
    struct file *file = &f->files[f->n_files++];
    char path[sizeof f->dir + 32];
    snprintf(path, sizeof path, "%s/%d.calls", f->dir, pid);
    strcpy(file->path, path);
    int fd = open(file->path, O_RDWR | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)CALL_FILE_BYTES), 0);
    char *map = mmap(NULL, CALL_FILE_BYTES_MAX, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    close(fd);
    file->header = (struct call_file_header *)(void *)map;
    file->totals = (struct call_total *)(void *)(map + CALL_FILE_TOTALS);
    file->records = (struct call_record *)(void *)(map + CALL_FILE_RECORDS);
    *file->header = (struct call_file_header){.magic = CALL_FILE_MAGIC,
                                              .version = CALL_FILE_VERSION,
                                              .record_bytes = sizeof(struct call_record),
                                              .first_capacity = CALL_FILE_CAPACITY,
                                              .capacity = CALL_FILE_CAPACITY,
                                              .n_functions = CALL_COUNT,
                                              .table_hash = CALL_TABLE_HASH,
                                              .pid = pid,
                                              .rank = 2,
                                              .world_size = 4,
                                              .thread_level = 3,
                                              .opened_ns = 1000};
    return file;
}

static const struct call_record plain = {.function = CALL_Send,
                                         .comm = 7,
                                         .peer = 3,
                                         .tag = 9,
                                         .bytes = 100,
                                         .enter_ns = 50,
                                         .exit_ns = 80};

/* A rank does so before it gives out the ticket. */
static void grow(struct file *file, uint64_t next) {
    struct call_file_header *h = file->header;
    uint32_t grown = call_file_grown(h->capacity, next, file->lap_ns, CALL_FILE_CAPACITY_MAX);
    if (next % h->capacity || grown == h->capacity)
        return;
    assert_int_equal(truncate(file->path, (off_t)CALL_FILE_BYTES_OF((size_t)grown)), 0);
    __atomic_store_n(&h->oldest, next - h->capacity, __ATOMIC_RELEASE);
    __atomic_store_n(&h->capacity, grown, __ATOMIC_RELEASE);
}

static void put(struct file *file, struct call_record record) {
    uint64_t ticket = file->header->head;
    if (file->lap_ns)
        grow(file, ticket);
    record.sequence = ticket + 1;
    __atomic_store_n(&file->header->head, ticket + 1, __ATOMIC_SEQ_CST);
    struct call_record *r = &file->records[ticket % file->header->capacity];
    __atomic_store_n(&r->sequence, CALL_FILE_BUSY, __ATOMIC_SEQ_CST);
    memcpy((char *)r + 8, (char *)&record + 8, sizeof record - 8);
    __atomic_store_n(&r->sequence, record.sequence, __ATOMIC_RELEASE);
}

static int collect(void *ctx, const struct call_rank *rank, const struct call_event *event) {
    struct fixture *f = ctx;
    (void)rank;
    assert_in_range(f->n, 0, MAX_SEEN - 1);
    f->seen[f->n++] = *event;
    return f->stop_after && f->n >= f->stop_after;
}

static int drain(struct fixture *f, size_t rank) {
    f->n = 0;
    assert_true(call_reader_scan(&f->reader) >= 0);
    assert_true(rank < f->reader.n_ranks);
    return call_rank_drain(&f->reader.ranks[rank], SIZE_MAX, f->now_ns, collect, f);
}

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->seen = calloc(MAX_SEEN, sizeof *f->seen);
    strcpy(f->dir, "/tmp/test-calls-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    assert_int_equal(call_reader_open(&f->reader, f->dir), 0);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    call_reader_release(&f->reader);
    for (int i = 0; i < f->n_files; i++) {
        munmap(f->files[i].header, CALL_FILE_BYTES_MAX);
        unlink(f->files[i].path);
    }
    assert_int_equal(rmdir(f->dir), 0);
    free(f->seen);
    free(f);
    return 0;
}

/* ---- what is taken ---- */

static void events_carry_what_was_written(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    struct call_record r = plain;
    r.flags = CALL_HAS_CPU | CALL_HAS_GAP_CPU | CALL_WILDCARD;
    r.cpu_us = 12;
    r.gap_cpu_us = 34;
    r.site_module = 5;
    r.site_offset = 6;
    r.thread = 1;
    put(file, r);
    assert_int_equal(drain(f, 0), 1);
    const struct call_event *e = &f->seen[0];
    assert_int_equal(e->sequence, 1);
    assert_int_equal(e->function, CALL_Send);
    assert_int_equal(e->flags, r.flags);
    assert_int_equal(e->comm, 7);
    assert_int_equal(e->peer, 3);
    assert_int_equal(e->tag, 9);
    assert_int_equal(e->bytes, 100);
    assert_int_equal(e->enter_ns, 50);
    assert_int_equal(e->exit_ns, 80);
    assert_int_equal(e->inside_ns, 30);
    assert_int_equal(e->polls, 1);
    assert_int_equal(e->cpu_ns, 12000);
    assert_int_equal(e->gap_cpu_ns, 34000);
    assert_int_equal(e->site_module, 5);
    assert_int_equal(e->site_offset, 6);
    assert_int_equal(e->thread, 1);
    assert_int_equal(f->reader.ranks[0].pid, 42);
    assert_int_equal(f->reader.ranks[0].rank, 2);
    assert_int_equal(f->reader.ranks[0].world_size, 4);
    assert_int_equal(drain(f, 0), 0);
}

static void functions_have_names_and_classes(void **state) {
    (void)state;
    assert_string_equal(call_name(CALL_Isend), "MPI_Isend");
    assert_int_equal(call_class(CALL_Isend), CALL_SEND_START);
    assert_int_equal(call_class(CALL_Waitall), CALL_WAIT);
    assert_int_equal(call_class(CALL_File_iread_at), CALL_IO_START);
    assert_null(call_name(CALL_COUNT));
    assert_null(call_name((enum call_function) - 1));
}

static void folded_polls_tell_how_many_and_how_long(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    struct call_record r = plain;
    r.function = CALL_Test;
    r.flags = CALL_FOLDED;
    r.tag = 500;
    r.bytes = 0;
    r.enter_ns = 0;
    r.exit_ns = INT64_C(20) << 32;
    r.cpu_us = 77;
    r.gap_cpu_us = 3;
    put(file, r);
    assert_int_equal(drain(f, 0), 1);
    assert_int_equal(f->seen[0].polls, 500);
    assert_int_equal(f->seen[0].tag, CALL_NO_TAG);
    assert_int_equal(f->seen[0].bytes, 0);
    assert_int_equal(f->seen[0].inside_ns, (INT64_C(3) << 32) + 77);
    assert_int_equal(f->seen[0].cpu_ns, 0);
}

static void parts_and_requests_are_no_calls(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    struct call_record r = plain;
    r.flags = CALL_REQUEST;
    put(file, r);
    r.flags = CALL_PART;
    put(file, r);
    assert_int_equal(drain(f, 0), 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(f->seen[i].polls, 0);
        assert_int_equal(f->seen[i].inside_ns, 0);
        assert_int_equal(f->seen[i].bytes, 100);
    }
}

static void a_reader_may_stop_and_go_on(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    for (int i = 0; i < 1000; i++)
        put(file, plain);
    f->stop_after = 10;
    assert_int_equal(drain(f, 0), 10);
    f->stop_after = 0;
    f->n = 0;
    assert_int_equal(call_rank_drain(&f->reader.ranks[0], 300, 0, collect, f), 300);
    assert_int_equal(f->seen[0].sequence, 11);
    f->reader.ranks[0].cursor = 900; /* a reader that takes over from another */
    assert_int_equal(drain(f, 0), 100);
    assert_int_equal(f->seen[0].sequence, 901);
    assert_int_equal(f->reader.ranks[0].lost, 0);
}

static void overwritten_events_are_counted_as_lost(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    for (int i = 0; i < CALL_FILE_CAPACITY + 100; i++)
        put(file, plain);
    assert_int_equal(drain(f, 0), CALL_FILE_CAPACITY);
    assert_int_equal(f->seen[0].sequence, 101);
    assert_int_equal(f->reader.ranks[0].lost, 100);
}

/* The slots of the last lap stay those of its records. */
static void a_ring_grows_only_where_no_record_moves(void **state) {
    (void)state;
    for (uint64_t next = CALL_FILE_CAPACITY; next < 64 * CALL_FILE_CAPACITY;
         next += CALL_FILE_CAPACITY)
        for (uint32_t from = CALL_FILE_CAPACITY; from <= CALL_FILE_CAPACITY_MAX; from *= 2) {
            uint32_t to = call_file_grown(from, next, 0, CALL_FILE_CAPACITY_MAX);
            assert_in_range(to, from, CALL_FILE_CAPACITY_MAX);
            if (to > from)
                assert_int_equal((next - from) % to, 0);
        }
    assert_int_equal(call_file_grown(1 << 14, 1 << 14, LAP_NS(6), 1 << 18), 1 << 17);
    assert_int_equal(call_file_grown(1 << 14, 1 << 14, LAP_NS(6), 1 << 15), 1 << 15);
    assert_int_equal(call_file_grown(1 << 14, 1 << 14, LAP_NS(1), 1 << 18), 1 << 14);
    assert_int_equal(call_file_grown(1 << 14, 2 << 14, LAP_NS(6), 1 << 18), 1 << 14);
    assert_int_equal(call_file_grown(1 << 14, 3 << 14, LAP_NS(6), 1 << 18), 1 << 15);
}

static void a_ring_that_grows_keeps_what_was_not_read(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    file->lap_ns = LAP_NS(2);
    for (int i = 0; i < 100; i++)
        put(file, plain);
    assert_int_equal(drain(f, 0), 100);
    for (int i = 100; i < 2 * CALL_FILE_CAPACITY; i++)
        put(file, plain);
    assert_int_equal(file->header->capacity, 2 * CALL_FILE_CAPACITY);
    assert_int_equal(drain(f, 0), 2 * CALL_FILE_CAPACITY - 100);
    for (int i = 0; i < f->n; i++)
        assert_int_equal(f->seen[i].sequence, 101 + i);
    file->lap_ns = LAP_NS(4);
    for (int i = 0; i < 8 * CALL_FILE_CAPACITY; i++) {
        put(file, plain);
        if (i == 3 * CALL_FILE_CAPACITY)
            assert_int_equal(drain(f, 0), i + 1);
    }
    assert_int_equal(file->header->capacity, CALL_FILE_CAPACITY_MAX);
    drain(f, 0);
    assert_int_equal(f->reader.ranks[0].lost, 0);
    assert_int_equal(f->reader.ranks[0].cursor, 10 * CALL_FILE_CAPACITY);
}

/* The larger ring has no record that the lap before the growth has overwritten. */
static void a_reader_that_comes_after_the_growth_counts_what_is_gone(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    assert_int_equal(call_reader_scan(&f->reader), 1);
    for (int i = 0; i < 3 * CALL_FILE_CAPACITY; i++)
        put(file, plain);
    file->lap_ns = LAP_NS(2);
    put(file, plain);
    assert_int_equal(file->header->capacity, 2 * CALL_FILE_CAPACITY);
    assert_int_equal(drain(f, 0), CALL_FILE_CAPACITY + 1);
    assert_int_equal(f->seen[0].sequence, 2 * CALL_FILE_CAPACITY + 1);
    assert_int_equal(f->reader.ranks[0].lost, 2 * CALL_FILE_CAPACITY);
}

static void an_event_never_completed_holds_up_for_a_while_then_is_lost(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    put(file, plain);
    file->records[0].sequence = CALL_FILE_BUSY;
    put(file, plain);
    for (int i = 0; i < 8; i++, f->now_ns += 25 * NS_PER_MS)
        assert_int_equal(drain(f, 0), 0);
    assert_int_equal(drain(f, 0), 1);
    assert_int_equal(f->seen[0].sequence, 2);
    assert_int_equal(f->reader.ranks[0].lost, 1);
}

static void an_event_completed_after_a_quota_is_kept_however_often_it_is_looked_at(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    put(file, plain);
    file->records[0].sequence = CALL_FILE_BUSY;
    for (int i = 0; i < 20; i++, f->now_ns += 5 * NS_PER_MS)
        assert_int_equal(drain(f, 0), 0);
    file->records[0].sequence = 1;
    assert_int_equal(drain(f, 0), 1);
    assert_int_equal(f->reader.ranks[0].lost, 0);
}

static void a_host_that_stood_still_has_lost_no_event(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    put(file, plain);
    file->records[0].sequence = CALL_FILE_BUSY;
    assert_int_equal(drain(f, 0), 0);
    f->now_ns += 5 * NS_PER_S;
    assert_int_equal(drain(f, 0), 0);
    file->records[0].sequence = 1;
    assert_int_equal(drain(f, 0), 1);
    assert_int_equal(f->reader.ranks[0].lost, 0);
}

static void totals_and_the_present_call_are_read(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    struct call_totals totals;
    file->totals[CALL_Recv] = (struct call_total){.calls = 5, .time_ns = 600, .received_bytes = 7};
    file->header->now[0] =
        (struct call_now){.enter_ns = 900, .function = CALL_Recv, .thread_id = 4};
    file->header->now[1] = (struct call_now){.enter_ns = 1100, .function = CALL_Recv};
    file->header->now[2] = (struct call_now){.enter_ns = 900, .function = CALL_COUNT};
    file->header->now[3] = (struct call_now){.enter_ns = -1, .function = CALL_Recv};
    file->header->gap_cpu_ns = 77;
    file->header->finalized_ns = 2000;
    assert_int_equal(drain(f, 0), 0);
    assert_int_equal(call_rank_totals(&f->reader.ranks[0], 1000, &totals), 0);
    assert_int_equal(totals.function[CALL_Recv].calls, 5);
    assert_int_equal(totals.function[CALL_Recv].time_ns, 600);
    assert_int_equal(totals.function[CALL_Recv].received_bytes, 7);
    assert_int_equal(totals.now[0].enter_ns, 900);
    assert_int_equal(totals.now[0].thread_id, 4);
    for (int i = 1; i < 4; i++)
        assert_int_equal(totals.now[i].enter_ns, 0);
    assert_int_equal(f->reader.ranks[0].gap_cpu_ns, 77);
    assert_int_equal(f->reader.ranks[0].finalized_ns, 2000);
}

/* ---- what is hostile ---- */

static void refused(struct fixture *f, struct file *file, struct call_record record) {
    uint64_t before = f->reader.n_ranks ? f->reader.ranks[0].malformed : 0;
    put(file, record);
    assert_int_equal(drain(f, 0), 0);
    assert_int_equal(f->reader.ranks[0].malformed, before + 1);
}

static void nonsense_in_an_event_is_refused(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    struct call_record r = plain;
    r.function = CALL_COUNT;
    refused(f, file, r);
    r = plain, r.bytes = -1;
    refused(f, file, r);
    r = plain, r.peer = 4;
    refused(f, file, r);
    r = plain, r.peer = -2;
    refused(f, file, r);
    r = plain, r.tag = INT32_MIN;
    refused(f, file, r);
    r = plain, r.exit_ns = 49;
    refused(f, file, r);
    r = plain, r.enter_ns = -5;
    refused(f, file, r);
    r = plain, r.flags = 0x8000;
    refused(f, file, r);
    r = plain, r.function = CALL_Test, r.flags = CALL_FOLDED, r.tag = 0;
    refused(f, file, r);
    r = plain, r.function = CALL_Allreduce, r.flags = CALL_FOLDED; /* always an event of its own */
    refused(f, file, r);
    put(file, plain);
    assert_int_equal(drain(f, 0), 1);
}

static void accesses_in_a_row_tell_their_bytes_too(void **state) {
    struct fixture *f = *state;
    struct call_record r = plain;
    r.function = CALL_Put;
    r.flags = CALL_FOLDED;
    r.tag = 12;
    r.bytes = 96;
    r.cpu_us = 7;
    put(make_file(f, 42), r);
    assert_int_equal(drain(f, 0), 1);
    assert_int_equal(f->seen[0].polls, 12);
    assert_int_equal(f->seen[0].bytes, 96);
    assert_int_equal(f->seen[0].inside_ns, 7);
}

static void a_folded_time_is_never_longer_than_its_span(void **state) {
    struct fixture *f = *state;
    struct call_record r = plain;
    r.function = CALL_Test;
    r.flags = CALL_FOLDED;
    r.cpu_us = r.gap_cpu_us = UINT32_MAX;
    put(make_file(f, 42), r);
    assert_int_equal(drain(f, 0), 1);
    assert_int_equal(f->seen[0].inside_ns, 30);
}

static void what_is_no_such_file_is_refused(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    struct call_file_header good = *file->header;
#define REFUSED(member, value)                                                                     \
    do {                                                                                           \
        *file->header = good;                                                                      \
        file->header->member = value;                                                              \
        assert_int_equal(call_reader_scan(&f->reader), 0);                                         \
        assert_int_equal(f->reader.files.refused, 1);                                              \
    } while (0)
    REFUSED(magic, 0);
    REFUSED(version, CALL_FILE_VERSION + 1);
    REFUSED(record_bytes, 32);
    REFUSED(first_capacity, 1 << 30);
    REFUSED(n_functions, CALL_COUNT + 1);
    REFUSED(table_hash, CALL_TABLE_HASH + 1);
    REFUSED(pid, 43);
#undef REFUSED
    assert_int_equal(truncate(file->path, 4096), 0);
    *file->header = good;
    assert_int_equal(call_reader_scan(&f->reader), 0);
    assert_int_equal(truncate(file->path, (off_t)CALL_FILE_BYTES), 0);
    assert_int_equal(call_reader_scan(&f->reader), 1);
    assert_int_equal(call_reader_scan(&f->reader), 0);
}

/* A directory without a change is not read; a file that appears later is found. */
static void a_file_that_comes_late_is_found(void **state) {
    struct fixture *f = *state;
    make_file(f, 42);
    assert_int_equal(call_reader_scan(&f->reader), 1);
    for (int i = 0; i < 100; i++)
        assert_int_equal(call_reader_scan(&f->reader), 0);
    make_file(f, 43);
    assert_int_equal(call_reader_scan(&f->reader), 1);
}

/* A rank that gets no CPU time may take long between creating its file and writing the magic. */
static void a_file_that_is_whole_long_after_it_came_is_taken(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    char why[CALL_FILE_WHY_MAX + 1];
    file->header->magic = 0;
    for (int i = 0; i < 100; i++)
        assert_int_equal(call_reader_scan(&f->reader), 0);
    assert_true(call_reader_why(&f->reader, 42, why));
    assert_string_equal(why, "its file is not complete");
    file->header->magic = CALL_FILE_MAGIC;
    assert_int_equal(call_reader_scan(&f->reader), 1);
}

static void a_process_without_a_file_says_why(void **state) {
    struct fixture *f = *state;
    char why[CALL_FILE_WHY_MAX + 1], path[100];
    assert_false(call_reader_why(&f->reader, 42, why));
    snprintf(path, sizeof path, "%s/42.why", f->dir);
    assert_int_equal(symlink("no file for it: No space left on device", path), 0);
    assert_true(call_reader_why(&f->reader, 42, why));
    assert_string_equal(why, "no file for it: No space left on device");
    assert_false(call_reader_why(&f->reader, 4, why));
    assert_int_equal(unlink(path), 0);
    make_file(f, 43)->header->version = CALL_FILE_VERSION + 1;
    assert_true(call_reader_why(&f->reader, 43, why));
    assert_string_equal(why, "its file is of another libchokepoint-mpi.so");
}

/* A writer calls by changing its file's times. Other changes are ignored. */
static void a_writer_that_calls_is_heard(void **state) {
    struct fixture *f = *state;
    char events[4096];
    int fd = ring_files_listen(&f->reader.files);
    if (fd == -EMFILE || fd == -ENOSPC)
        skip(); /* other programs use up the user's watches */
    assert_true(fd >= 0);
    struct file *file = make_file(f, 42);
    put(file, plain);
    assert_int_equal(drain(f, 0), 1);
    assert_true(read(fd, events, sizeof events) < 0 && errno == EAGAIN);
    assert_int_equal(utimensat(AT_FDCWD, file->path, NULL, 0), 0);
    assert_true(read(fd, events, sizeof events) > 0);
    close(fd);
}

static void a_rank_beyond_its_world_is_unknown(void **state) {
    struct fixture *f = *state;
    struct file *file = make_file(f, 42);
    file->header->rank = 4;
    put(file, plain);
    assert_int_equal(drain(f, 0), 0);
    assert_int_equal(f->reader.ranks[0].rank, -1);
    assert_int_equal(f->reader.ranks[0].world_size, -1);
    assert_int_equal(f->reader.ranks[0].malformed, 1); /* its peer is not in any world */
    file->header->rank = INT32_MIN;
    file->header->world_size = INT32_MIN;
    file->header->thread_level = 99;
    assert_int_equal(drain(f, 0), 0);
    assert_int_equal(f->reader.ranks[0].rank, -1);
    assert_int_equal(f->reader.ranks[0].thread_level, -1);
}

/* Damage to one file leaves the other file working, and the damaged one stays abandoned. */
static void broken(struct fixture *f, struct file *file, void (*do_harm)(struct file *)) {
    struct call_totals totals;
    struct file *other = make_file(f, 43);
    for (int i = 0; i < 10; i++)
        put(file, plain);
    assert_int_equal(call_reader_scan(&f->reader), 2);
    size_t bad = f->reader.ranks[0].pid == 42 ? 0 : 1;
    assert_int_equal(drain(f, bad), 10);
    do_harm(file);
    assert_int_equal(drain(f, bad), -EBADMSG);
    assert_true(f->reader.ranks[bad].broken);
    assert_int_equal(call_rank_totals(&f->reader.ranks[bad], 1, &totals), -EBADMSG);
    put(other, plain);
    assert_int_equal(drain(f, 1 - bad), 1);
}

static void truncate_it(struct file *file) {
    assert_int_equal(truncate(file->path, 0), 0);
}
static void turn_back(struct file *file) {
    file->header->head = 9;
}
static void run_away(struct file *file) {
    file->header->head = UINT64_MAX;
}
static void change_format(struct file *file) {
    file->header->first_capacity = 1;
}
static void shrink_ring(struct file *file) {
    file->header->capacity = 1;
}
static void forget_all(struct file *file) {
    file->header->oldest = file->header->head + 1;
}

static void a_truncated_file_is_given_up(void **state) {
    broken(*state, make_file(*state, 42), truncate_it);
}
static void a_counter_that_turns_back_is_given_up(void **state) {
    broken(*state, make_file(*state, 42), turn_back);
}
static void a_counter_beyond_reason_is_given_up(void **state) {
    broken(*state, make_file(*state, 42), run_away);
}
static void a_header_that_changes_is_given_up(void **state) {
    broken(*state, make_file(*state, 42), change_format);
}

static void a_ring_of_another_shape_is_given_up(void **state) {
    broken(*state, make_file(*state, 42), shrink_ring);
}
static void a_ring_older_than_its_counter_is_given_up(void **state) {
    broken(*state, make_file(*state, 42), forget_all);
}

static void a_directory_open_to_others_is_refused(void **state) {
    struct fixture *f = *state;
    struct call_reader reader;
    assert_int_equal(chmod(f->dir, 0755), 0);
    assert_int_equal(call_reader_open(&reader, f->dir), -EPERM);
    assert_int_equal(call_reader_open(&reader, "/nonexistent/marks"), -ENOENT);
    assert_int_equal(chmod(f->dir, 0700), 0);
}

/* ---- at the same time ---- */

#define HURRIED 4000000

static void *hurry(void *ctx) {
    for (int i = 0; i < HURRIED; i++) {
        struct call_record r = plain;
        r.tag = i;
        r.bytes = 3 * (int64_t)i;
        r.site_offset = ~(uint32_t)i;
        put(ctx, r);
    }
    return NULL;
}

static int check_whole(void *ctx, const struct call_rank *rank, const struct call_event *e) {
    (void)rank;
    assert_int_equal(e->tag, e->sequence - 1);
    assert_int_equal(e->bytes, 3 * (int64_t)e->tag);
    assert_int_equal(e->site_offset, ~(uint32_t)e->tag);
    ++*(int *)ctx;
    return 0;
}

static void check_hurried(struct fixture *f, int32_t pid, int32_t thread_level, int64_t lap_ns) {
    struct file *file = make_file(f, pid);
    file->lap_ns = lap_ns;
    pthread_t writer;
    int taken = 0;
    file->header->thread_level = thread_level;
    assert_int_equal(call_reader_scan(&f->reader), 1);
    struct call_rank *rank = &f->reader.ranks[f->reader.n_ranks - 1];
    pthread_create(&writer, NULL, hurry, file);
    while (rank->cursor < HURRIED)
        assert_true(call_rank_drain(rank, SIZE_MAX, 0, check_whole, &taken) >= 0);
    pthread_join(writer, NULL);
    assert_int_equal((uint64_t)taken + rank->lost, HURRIED);
    assert_int_equal(rank->malformed, 0);
}

static void events_are_whole_while_their_writer_laps_the_reader(void **state) {
    check_hurried(*state, 42, 3, 0);
    check_hurried(*state, 43, 2, 0); /* one at a time: the reader copies once */
}

static void events_are_whole_while_their_ring_grows(void **state) {
    check_hurried(*state, 42, 2, LAP_NS(2));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(events_carry_what_was_written),
        TEST(functions_have_names_and_classes),
        TEST(folded_polls_tell_how_many_and_how_long),
        TEST(accesses_in_a_row_tell_their_bytes_too),
        TEST(parts_and_requests_are_no_calls),
        TEST(a_reader_may_stop_and_go_on),
        TEST(overwritten_events_are_counted_as_lost),
        TEST(a_ring_grows_only_where_no_record_moves),
        TEST(a_ring_that_grows_keeps_what_was_not_read),
        TEST(a_reader_that_comes_after_the_growth_counts_what_is_gone),
        TEST(an_event_never_completed_holds_up_for_a_while_then_is_lost),
        TEST(an_event_completed_after_a_quota_is_kept_however_often_it_is_looked_at),
        TEST(a_host_that_stood_still_has_lost_no_event),
        TEST(totals_and_the_present_call_are_read),
        TEST(nonsense_in_an_event_is_refused),
        TEST(a_folded_time_is_never_longer_than_its_span),
        TEST(what_is_no_such_file_is_refused),
        TEST(a_file_that_comes_late_is_found),
        TEST(a_writer_that_calls_is_heard),
        TEST(a_file_that_is_whole_long_after_it_came_is_taken),
        TEST(a_process_without_a_file_says_why),
        TEST(a_rank_beyond_its_world_is_unknown),
        TEST(a_truncated_file_is_given_up),
        TEST(a_counter_that_turns_back_is_given_up),
        TEST(a_counter_beyond_reason_is_given_up),
        TEST(a_header_that_changes_is_given_up),
        TEST(a_ring_of_another_shape_is_given_up),
        TEST(a_ring_older_than_its_counter_is_given_up),
        TEST(a_directory_open_to_others_is_refused),
        TEST(events_are_whole_while_their_writer_laps_the_reader),
        TEST(events_are_whole_while_their_ring_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
