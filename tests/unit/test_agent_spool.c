/* SPDX-License-Identifier: MIT */
/* The spool against crashes, full disks, its size limit, and other users who change its files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool/spool.h"
#include "agent/spool/spool_dir.h"
#include "common/error.h"

static const struct column columns[] = {{"number", UNIT_NONE, COLUMN_LEVEL, "of the frame"}};
static const struct table table_a = {"a", "thing", "", TABLE_SAMPLES, columns, 1};
static const struct table *const tables[] = {&table_a};

struct fixture {
    char dir[64];
    struct spool_config config;
    struct rows rows;
    struct buffer frame, scratch, body;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->dir, "/tmp/test_agent_spool.XXXXXX");
    if (!mkdtemp(f->dir) || rows_init(&f->rows, &table_a, 40) < 0)
        return -1;
    f->config = (struct spool_config){.dir = f->dir,
                                      .limit_bytes = 1 << 20,
                                      .segment_bytes = 4096,
                                      .stream = {.host = "h", .stream_id = 0xabc, .period_ns = 1},
                                      .tables = tables,
                                      .n_tables = 1};
    *state = f;
    return 0;
}

static void each_file(const char *dir, void (*fn)(const char *path, void *ctx), void *ctx) {
    DIR *d = opendir(dir);
    char path[512];
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') {
            snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
            fn(path, ctx);
        }
    closedir(d);
}

static void remove_file(const char *path, void *ctx) {
    (void)ctx;
    unlink(path);
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    each_file(f->dir, remove_file, NULL);
    rmdir(f->dir);
    rows_release(&f->rows);
    buffer_release(&f->frame);
    buffer_release(&f->scratch);
    buffer_release(&f->body);
    free(f);
    return 0;
}

/* ---- helpers ---- */

static struct spool *reopen(struct fixture *f) {
    struct spool *spool = NULL;
    assert_int_equal(spool_open(&f->config, &spool), 0);
    return spool;
}

/* Makes a frame whose head and row contain its number; `n_rows` make it larger. */
static void make_frame(struct fixture *f, uint64_t seq, uint64_t lost, size_t n_rows) {
    struct rows *list[] = {&f->rows};
    struct frame_head head = {.seq = seq,
                              .wall_ns = (int64_t)seq * 10,
                              .slot_ns = (int64_t)seq * 10,
                              .mono_ns = (int64_t)seq,
                              .missed = seq / 2,
                              .lost = lost};
    rows_reset(&f->rows);
    for (size_t i = 0; i < n_rows; i++)
        rows_append(&f->rows, "thing", 5)->values[0] = (int64_t)seq;
    buffer_reset(&f->frame);
    wire_put_frame(&f->frame, &f->scratch, &head, list, (const unsigned[]){0}, 1);
}

static int append_sized(struct fixture *f, struct spool *spool, uint64_t seq, size_t n_rows) {
    make_frame(f, seq, spool_lost(spool), n_rows);
    return spool_append(spool, f->frame.data, f->frame.size, seq);
}

static int append(struct fixture *f, struct spool *spool, uint64_t seq) {
    return append_sized(f, spool, seq, 1 + seq % 7);
}

static void append_all(struct fixture *f, struct spool *spool, uint64_t first, uint64_t last) {
    for (uint64_t seq = first; seq <= last; seq++)
        assert_int_equal(append(f, spool, seq), 0);
}

/* Decodes a body: every frame must be in the range, in order. Returns their number. */
static size_t check_body(const struct buffer *body, const struct spool_range *range) {
    struct wire_reader reader;
    struct wire_record record;
    size_t n = 0;
    uint64_t seq = 0;
    int r;
    wire_reader_init(&reader, body->data, body->size);
    while ((r = wire_next(&reader, &record)) == 0) {
        if (record.type != WIRE_FRAME)
            continue;
        assert_true(record.head.seq > seq);
        seq = record.head.seq;
        if (!n++)
            assert_int_equal(seq, range->first_seq);
    }
    assert_int_equal(r, WIRE_END);
    assert_int_equal(seq, range->last_seq);
    assert_int_equal(n, range->n_frames);
    wire_reader_release(&reader);
    return n;
}

/* Reads all frames after `after` in bodies of at most max bytes; returns their number, and the last
 * one's.
 */
static size_t read_all(struct fixture *f, struct spool *spool, uint64_t after, size_t max,
                       uint64_t *ret_last) {
    struct spool_range range;
    size_t n = 0;
    int r;
    while ((r = spool_read(spool, after, max, &f->body, &range)) == 0) {
        assert_true(range.first_seq > after);
        n += check_body(&f->body, &range);
        after = range.last_seq;
    }
    assert_int_equal(r, SPOOL_EMPTY);
    *ret_last = after;
    return n;
}

static void add_size(const char *path, void *ctx) {
    struct stat st;
    if (stat(path, &st) == 0)
        *(uint64_t *)ctx += (uint64_t)st.st_size;
}

static uint64_t bytes_on_disk(struct fixture *f) {
    uint64_t bytes = 0;
    each_file(f->dir, add_size, &bytes);
    return bytes;
}

static void count_file(const char *path, void *ctx) {
    (void)path;
    ++*(size_t *)ctx;
}

static size_t files_on_disk(struct fixture *f) {
    size_t n = 0;
    each_file(f->dir, count_file, &n);
    return n;
}

/* ---- tests ---- */

static void every_frame_comes_back_once_and_in_order(void **state) {
    struct fixture *f = *state;
    struct spool *spool = reopen(f);
    uint64_t last;
    append_all(f, spool, 1, 300);
    for (size_t max = 0; max < 10000; max += 700) {
        assert_int_equal(read_all(f, spool, 0, max, &last), 300);
        assert_int_equal(last, 300);
    }
    assert_int_equal(read_all(f, spool, 123, 2000, &last), 177);
    assert_true(files_on_disk(f) > 3);
    spool_close(spool, true);
    assert_int_equal(files_on_disk(f), 0);
}

static void a_body_keeps_to_its_limit(void **state) {
    struct fixture *f = *state;
    struct spool *spool = reopen(f);
    struct spool_range range;
    append_all(f, spool, 1, 100);
    for (uint64_t after = 0; spool_read(spool, after, 1000, &f->body, &range) == 0;
         after = range.last_seq)
        assert_true(f->body.size <= 1000);
    spool_close(spool, true);
}

static void a_header_is_a_stream_without_frames(void **state) {
    struct fixture *f = *state;
    struct spool *spool = reopen(f);
    struct spool_range none = {0};
    assert_int_equal(spool_header(spool, &f->body), 0);
    assert_int_equal(check_body(&f->body, &none), 0);
    assert_int_equal(spool_read(spool, 0, 1000, &f->body, &none), SPOOL_EMPTY);
    spool_close(spool, false);
}

static void acknowledged_segments_are_freed_but_the_newest(void **state) {
    struct fixture *f = *state;
    struct spool *spool = reopen(f);
    struct spool_counts counts;
    append_all(f, spool, 1, 200);
    spool_counts(spool, &counts);
    assert_int_equal(counts.waiting, 200);
    spool_ack(spool, 150);
    spool_counts(spool, &counts);
    assert_int_equal(counts.waiting, 50);
    assert_int_equal(counts.bytes, bytes_on_disk(f));
    spool_ack(spool, 120); /* an old answer changes nothing */
    spool_ack(spool, 999999);
    spool_counts(spool, &counts);
    assert_int_equal(counts.waiting, 0);
    assert_int_equal(counts.committed_seq, 200);
    assert_int_equal(counts.segments, 1);
    assert_int_equal(counts.lost, 0);
    spool_close(spool, false); /* all committed: nothing stays */
    assert_int_equal(files_on_disk(f), 0);
}

static void refused_frames_count_as_lost_once(void **state) {
    struct fixture *f = *state;
    struct spool *spool = reopen(f);
    append_all(f, spool, 1, 100);
    spool_ack(spool, 40);
    spool_refuse(spool, 45);
    spool_refuse(spool, 45);
    assert_int_equal(spool_lost(spool), 5);
    spool_close(spool, true);
}

static void the_limit_holds_and_every_drop_is_counted(void **state) {
    struct fixture *f = *state;
    f->config.limit_bytes = 160 << 10;
    struct spool *spool = reopen(f);
    struct spool_counts counts;
    uint64_t last;
    for (uint64_t seq = 1; seq <= 6000; seq++) {
        assert_int_equal(append(f, spool, seq), 0);
        if (seq % 50 == 0)
            assert_true(bytes_on_disk(f) <= f->config.limit_bytes);
    }
    spool_counts(spool, &counts);
    assert_true(counts.bytes > f->config.limit_bytes - 2 * 4096);
    assert_true(counts.lost > 1000);
    assert_int_equal(counts.waiting + counts.lost, 6000);
    assert_int_equal(read_all(f, spool, 0, 1 << 20, &last), counts.waiting);
    assert_int_equal(last, 6000);
    spool_close(spool, true);
}

static void what_was_committed_is_not_lost_when_dropped(void **state) {
    struct fixture *f = *state;
    f->config.limit_bytes = SPOOL_LIMIT_MIN;
    f->config.segment_bytes = SPOOL_LIMIT_MIN / 2;
    struct spool *spool = reopen(f);
    for (uint64_t seq = 1; seq <= 20000; seq++) {
        assert_int_equal(append(f, spool, seq), 0);
        spool_ack(spool, seq - seq % 10);
    }
    assert_int_equal(spool_lost(spool), 0);
    spool_close(spool, true);
}

static void a_frame_too_large_for_a_body_is_refused_and_counted(void **state) {
    struct fixture *f = *state;
    f->config.limit_bytes = 64 << 20;
    struct spool *spool = reopen(f);
    uint64_t last;
    uint8_t *huge = calloc(1, SPOOL_BODY_MAX);
    append_all(f, spool, 1, 3);
    assert_int_equal(spool_append(spool, huge, SPOOL_BODY_MAX, 4), -EMSGSIZE);
    free(huge);
    assert_int_equal(spool_lost(spool), 1);
    append_all(f, spool, 5, 6);
    assert_int_equal(read_all(f, spool, 0, 100, &last), 5);
    spool_close(spool, true);
}

static void a_frame_larger_than_a_segment_gets_its_own(void **state) {
    struct fixture *f = *state;
    f->config.segment_bytes = 300;
    struct spool *spool = reopen(f);
    uint64_t last;
    for (uint64_t seq = 1; seq <= 30; seq++)
        assert_int_equal(append_sized(f, spool, seq, seq % 2 ? 40 : 1), 0);
    assert_int_equal(read_all(f, spool, 0, 64, &last), 30);
    spool_close(spool, true);
}

/* Takes the path of the only file. */
static void take_path(const char *path, void *ctx) {
    strcpy(ctx, path);
}

static uint8_t *load(const char *path, size_t *ret_size) {
    struct stat st;
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    uint8_t *data = malloc((size_t)st.st_size + 1);
    assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
    close(fd);
    *ret_size = (size_t)st.st_size;
    return data;
}

static void store(const char *path, const uint8_t *data, size_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), size);
    close(fd);
}

/* ends[i] is the end of the first i frames (ends[0]: of the opening). */
static size_t frame_ends(const uint8_t *data, size_t size, size_t *ends) {
    struct wire_reader reader;
    struct wire_record record;
    size_t n = 0;
    wire_reader_init(&reader, data, size);
    while (wire_next(&reader, &record) == 0) {
        if (record.type == WIRE_FRAME)
            n++;
        ends[n] = record.offset + record.size;
    }
    wire_reader_release(&reader);
    return n;
}

static void check_recovery(struct fixture *f, size_t whole, size_t written) {
    struct frame_head head;
    uint64_t last;
    struct spool_counts counts;
    struct spool *spool = reopen(f);
    spool_counts(spool, &counts);
    assert_int_equal(counts.bytes, bytes_on_disk(f)); /* no damaged bytes are left in a file */
    assert_int_equal(counts.waiting, whole);
    assert_int_equal(spool_recovered(spool, &head), whole > 0);
    if (whole) {
        assert_int_equal(head.seq, whole);
        assert_int_equal(head.slot_ns, whole * 10);
        assert_int_equal(head.missed, whole / 2);
    }
    assert_int_equal(append(f, spool, whole + 1), 0);
    assert_int_equal(read_all(f, spool, 0, 1 << 20, &last), whole + 1);
    assert_int_equal(last, whole + 1);
    assert_true(whole <= written);
    spool_close(spool, true);
    assert_int_equal(files_on_disk(f), 0);
}

static void a_tail_cut_at_any_byte_recovers_to_the_last_whole_frame(void **state) {
    struct fixture *f = *state;
    char path[512];
    size_t size, ends[16];
    struct spool *spool = reopen(f);
    append_all(f, spool, 1, 8);
    spool_close(spool, false);
    each_file(f->dir, take_path, path);
    uint8_t *data = load(path, &size);
    size_t n = frame_ends(data, size, ends);
    assert_int_equal(n, 8);
    for (size_t cut = 0; cut <= size; cut++) {
        size_t whole = n;
        while (whole && ends[whole] > cut)
            whole--;
        store(path, data, cut);
        check_recovery(f, whole, n);
    }
    free(data);
}

static void a_flipped_byte_costs_the_frames_from_there_on(void **state) {
    struct fixture *f = *state;
    char path[512];
    size_t size, ends[16];
    struct spool *spool = reopen(f);
    append_all(f, spool, 1, 8);
    spool_close(spool, false);
    each_file(f->dir, take_path, path);
    uint8_t *data = load(path, &size);
    size_t n = frame_ends(data, size, ends);
    for (size_t at = 0; at < size; at++) {
        size_t whole = 0;
        while (whole < n && ends[whole + 1] <= at)
            whole++;
        data[at] ^= 0x55;
        store(path, data, size);
        data[at] ^= 0x55;
        check_recovery(f, at < ends[0] ? 0 : whole, n);
    }
    free(data);
}

static void a_restart_goes_on_with_the_stream_and_its_losses(void **state) {
    struct fixture *f = *state;
    f->config.limit_bytes = SPOOL_LIMIT_MIN;
    struct frame_head head;
    uint64_t last, lost, seq = 0;
    struct spool_counts counts;
    for (int start = 0; start < 5; start++) {
        struct spool *spool = reopen(f);
        assert_int_equal(spool_recovered(spool, &head), start > 0);
        if (start)
            assert_int_equal(head.seq, seq);
        append_all(f, spool, seq + 1, seq + 3000);
        seq += 3000;
        lost = spool_lost(spool);
        spool_close(spool, false);
        assert_true(start == 0 || lost >= head.lost);
    }
    struct spool *spool = reopen(f);
    spool_counts(spool, &counts);
    /* The drop of the last append may not be in any frame's head yet. */
    assert_true(counts.lost <= lost && counts.lost + 200 > lost);
    assert_int_equal(read_all(f, spool, 0, 4096, &last), counts.waiting);
    assert_int_equal(last, 15000);
    spool_close(spool, true);
}

static void another_stream_in_the_directory_is_left_alone(void **state) {
    struct fixture *f = *state;
    struct frame_head head;
    struct spool *spool = reopen(f), *other;
    append_all(f, spool, 1, 5);
    spool_close(spool, false);
    f->config.stream.stream_id = 0xdef;
    other = reopen(f);
    assert_false(spool_recovered(other, &head));
    append_all(f, other, 1, 2);
    spool_close(other, true);
    f->config.stream.stream_id = 0xabc;
    spool = reopen(f);
    assert_true(spool_recovered(spool, &head));
    assert_int_equal(head.seq, 5);
    spool_close(spool, true);
}

static void files_of_our_name_that_are_not_ours_do_no_harm(void **state) {
    struct fixture *f = *state;
    struct frame_head head;
    char path[512];
    snprintf(path, sizeof path, "%s/0000000000000abc-000003.spool", f->dir);
    store(path, (const uint8_t *)"rubbish", 7);
    snprintf(path, sizeof path, "%s/0000000000000abc-000004.spool", f->dir);
    store(path, (const uint8_t *)"", 0);
    snprintf(path, sizeof path, "%s/0000000000000abc-99999999999999.spool", f->dir);
    store(path, (const uint8_t *)"x", 1);
    snprintf(path, sizeof path, "%s/0000000000000abc-5x.spool", f->dir);
    store(path, (const uint8_t *)"x", 1);
    struct spool *spool = reopen(f);
    assert_false(spool_recovered(spool, &head));
    append_all(f, spool, 1, 5);
    spool_close(spool, true);
    assert_int_equal(files_on_disk(f), 2); /* names that are not ours */
}

/* Another user with access to the directory may put a file, or a link, in place of the next one. */
static void a_file_in_the_place_of_the_next_is_not_written_to(void **state) {
    struct fixture *f = *state;
    char path[512], kept[512];
    size_t size;
    uint64_t last;
    struct spool *spool = reopen(f);
    snprintf(path, sizeof path, "%s/0000000000000abc-000000.spool", f->dir);
    snprintf(kept, sizeof kept, "%s/kept", f->dir);
    store(kept, (const uint8_t *)"kept", 4);
    assert_int_equal(link(kept, path), 0);
    append_all(f, spool, 1, 5);
    assert_int_equal(spool_lost(spool), 0);
    uint8_t *data = load(kept, &size);
    assert_int_equal(size, 4);
    free(data);
    assert_int_equal(read_all(f, spool, 0, 1 << 20, &last), 5);
    unlink(path);
    spool_close(spool, true);
}

static void a_file_of_our_name_with_another_stream_in_it_is_not_recovered(void **state) {
    struct fixture *f = *state;
    struct frame_head head;
    char from[512], to[512];
    f->config.stream.stream_id = 0xdef;
    struct spool *spool = reopen(f);
    append_all(f, spool, 1, 5);
    spool_close(spool, false);
    each_file(f->dir, take_path, from);
    snprintf(to, sizeof to, "%s/0000000000000abc-000001.spool", f->dir);
    assert_int_equal(rename(from, to), 0);
    f->config.stream.stream_id = 0xabc;
    spool = reopen(f);
    assert_false(spool_recovered(spool, &head));
    spool_close(spool, true);
}

static void a_full_disk_loses_frames_and_nothing_else(void **state) {
    struct fixture *f = *state;
    f->config.segment_bytes = 64 << 10;
    struct rlimit before, small = {.rlim_cur = 3000};
    uint64_t last, n_bad = 0, seq = 1;
    struct spool_counts counts;
    struct spool *spool = reopen(f);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    append_all(f, spool, 1, 5);
    /* Writes end early at byte 3000 of a file, and no file can be created. */
    small.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (seq = 6; n_bad == 0; seq++)
        n_bad += append(f, spool, seq) < 0;
    small.rlim_cur = 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (; n_bad < 20; seq++)
        n_bad += append(f, spool, seq) < 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    append_all(f, spool, seq, seq + 10);
    spool_counts(spool, &counts);
    assert_int_equal(counts.lost, n_bad);
    assert_int_equal(counts.bytes, bytes_on_disk(f));
    assert_int_equal(read_all(f, spool, 0, 1 << 20, &last), seq + 10 - n_bad);
    assert_int_equal(last, seq + 10);
    spool_close(spool, false);
    spool = reopen(f); /* all frames are intact on disk */
    assert_int_equal(read_all(f, spool, 0, 1 << 20, &last), seq + 10 - n_bad);
    spool_close(spool, true);
}

static void removed_and_overwritten_segments_are_given_up_not_looped_over(void **state) {
    struct fixture *f = *state;
    struct spool *spool = reopen(f);
    struct spool_counts counts;
    uint64_t last;
    char path[512];
    append_all(f, spool, 1, 400);
    spool_counts(spool, &counts);
    assert_true(counts.segments > 4);
    snprintf(path, sizeof path, "%s/0000000000000abc-000001.spool", f->dir);
    unlink(path);
    snprintf(path, sizeof path, "%s/0000000000000abc-000002.spool", f->dir);
    assert_int_equal(truncate(path, 10), 0);
    size_t n = read_all(f, spool, 0, 1 << 20, &last);
    assert_int_equal(last, 400);
    assert_true(n < 400);
    assert_int_equal(n + spool_lost(spool), 400);
    each_file(f->dir, remove_file, NULL); /* removes everything: what is left is open */
    n = read_all(f, spool, 0, 1 << 20, &last);
    assert_int_equal(last, 400);
    assert_true(n > 0);
    assert_int_equal(spool_lost(spool), 400 - n);
    append_all(f, spool, 401, 410);
    assert_int_equal(read_all(f, spool, 400, 1 << 20, &last), 10);
    spool_close(spool, true);
}

static void a_removed_directory_is_made_anew_with_what_is_open(void **state) {
    struct fixture *f = *state;
    f->config.segment_bytes = 64 << 10;
    struct spool *spool = reopen(f);
    uint64_t last;
    append_all(f, spool, 1, 20);
    each_file(f->dir, remove_file, NULL);
    assert_int_equal(rmdir(f->dir), 0);
    assert_int_equal(read_all(f, spool, 0, 1 << 20, &last), 20); /* before anything is appended */
    append_all(f, spool, 21, 25);
    assert_int_equal(spool_lost(spool), 0);
    assert_int_equal(read_all(f, spool, 0, 1 << 20, &last), 25);
    spool_close(spool, false);
    assert_int_equal(files_on_disk(f), 1);
    spool = reopen(f);
    assert_int_equal(read_all(f, spool, 0, 1 << 20, &last), 25);
    spool_close(spool, true);
}

static void a_directory_removed_between_two_segments_is_made_anew(void **state) {
    struct fixture *f = *state;
    struct frame_head head;
    struct spool *spool = reopen(f);
    append_all(f, spool, 1, 3);
    spool_close(spool, false);
    spool = reopen(f); /* a segment that was recovered is not open */
    each_file(f->dir, remove_file, NULL);
    assert_int_equal(rmdir(f->dir), 0);
    append_all(f, spool, 4, 6);
    spool_close(spool, false);
    spool = reopen(f);
    assert_true(spool_recovered(spool, &head));
    assert_int_equal(head.seq, 6);
    spool_close(spool, true);
}

static void a_gap_within_a_segment_ends_it(void **state) {
    struct fixture *f = *state;
    char path[512];
    struct spool *spool = reopen(f);
    append_all(f, spool, 1, 3);
    spool_close(spool, false);
    each_file(f->dir, take_path, path);
    for (uint64_t seq = 5; seq <= 6; seq++) { /* whole frames, but 4 is missing */
        make_frame(f, seq, 0, 1);
        int fd = open(path, O_WRONLY | O_APPEND);
        assert_int_equal(write(fd, f->frame.data, f->frame.size), f->frame.size);
        close(fd);
    }
    check_recovery(f, 3, 3);
}

static void a_stream_is_torn_when_its_last_frames_are_gone(void **state) {
    struct fixture *f = *state;
    struct spool_memory memory = {0};
    f->config.memory = &memory;
    struct spool *spool = reopen(f);
    assert_false(spool_is_torn(spool));
    append_all(f, spool, 1, 200);
    spool_ack(spool, 190);
    spool_close(spool, false);
    spool = reopen(f);
    assert_false(spool_is_torn(spool));
    spool_close(spool, false);
    each_file(f->dir, remove_file, NULL);
    spool = reopen(f);
    assert_true(spool_is_torn(spool));
    spool_close(spool, true);
}

static void check_mode(const char *path, void *ctx) {
    struct stat st;
    (void)ctx;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

/* For an agent that takes over: what is kept of a stream, read from outside. */
static void what_is_kept_of_a_stream_is_told(void **state) {
    struct fixture *f = *state;
    uint64_t seq = 99;
    assert_int_equal(spool_last_kept(f->dir, 0xabc, &seq), -ENOENT);
    struct spool *spool = reopen(f);
    append_all(f, spool, 1, 300);
    assert_int_equal(spool_last_kept(f->dir, 0xabc, &seq), 0);
    assert_int_equal(seq, 300);
    assert_int_equal(spool_last_kept(f->dir, 0xabd, &seq), -ENOENT);
    spool_ack(spool, 300);
    spool_leave(spool); /* the end stays even if everything is committed */
    assert_int_equal(spool_last_kept(f->dir, 0xabc, &seq), 0);
    assert_int_equal(seq, 300);
    spool = reopen(f);
    append_all(f, spool, 301, 301);
    spool_ack(spool, 301);
    spool_close(spool, false);
    assert_int_equal(spool_last_kept(f->dir, 0xabc, &seq), -ENOENT);
}

static void nobody_else_may_read_it(void **state) {
    struct fixture *f = *state;
    struct stat st;
    mode_t before = umask(0);
    rmdir(f->dir);
    struct spool *spool = reopen(f);
    append_all(f, spool, 1, 100);
    umask(before);
    each_file(f->dir, check_mode, NULL);
    assert_int_equal(stat(f->dir, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    spool_close(spool, true);
}

static void a_directory_that_is_not_ours_alone_is_refused(void **state) {
    struct fixture *f = *state;
    char link[96], slashed[100];
    struct spool *spool = NULL;
    snprintf(link, sizeof link, "%s.link", f->dir);
    snprintf(slashed, sizeof slashed, "%s//", link);
    assert_int_equal(symlink(f->dir, link), 0);
    f->config.dir = link;
    assert_int_equal(spool_open(&f->config, &spool), -ELOOP);
    f->config.dir = slashed;
    assert_int_equal(spool_open(&f->config, &spool), -ELOOP);
    unlink(link);
    f->config.dir = f->dir;
    chmod(f->dir, 0770);
    assert_int_equal(spool_open(&f->config, &spool), -EPERM);
    chmod(f->dir, 0702);
    assert_int_equal(spool_open(&f->config, &spool), -EPERM);
    chmod(f->dir, 0700);
    if (geteuid() == 0 && chown(f->dir, 65534, (gid_t)-1) == 0) {
        assert_int_equal(spool_open(&f->config, &spool), -EPERM);
        assert_int_equal(chown(f->dir, 0, (gid_t)-1), 0);
    }
    assert_null(spool);
}

static void the_last_stream_of_samples_is_found(void **state) {
    struct fixture *f = *state;
    uint64_t stream = 0;
    int fd = spool_dir_open(f->dir, NULL);
    assert_false(spool_dir_find_stream(fd, &stream));
    static const uint64_t ids[] = {0xdee, 0xabc, 0xabd}; /* odd: streams of single events */
    for (size_t i = 0; i < 3; i++) {
        f->config.stream.stream_id = ids[i];
        struct spool *spool = reopen(f);
        append_all(f, spool, 1, 1);
        spool_close(spool, false);
        usleep(20000); /* file systems have coarse clocks */
    }
    assert_true(spool_dir_find_stream(fd, &stream));
    assert_int_equal(stream, 0xabc);
    close(fd);
}

static void a_limit_of_file_sizes_makes_smaller_segments(void **state) {
    struct fixture *f = *state;
    f->config.segment_bytes = 64 << 10;
    struct rlimit before, small;
    uint64_t last;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = 6000, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct spool *spool = reopen(f);
    append_all(f, spool, 1, 1000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(spool_lost(spool), 0);
    assert_int_equal(read_all(f, spool, 0, 1 << 20, &last), 1000);
    spool_close(spool, true);
}

static void a_directory_that_cannot_be_used_is_refused(void **state) {
    struct fixture *f = *state;
    struct spool *spool = NULL;
    f->config.dir = "/nonexistent/spool/of/nobody";
    assert_int_equal(spool_open(&f->config, &spool), -ENOENT);
    f->config.dir = "/dev/null";
    assert_int_equal(spool_open(&f->config, &spool), -ENOTDIR);
    f->config.dir = f->dir;
    f->config.limit_bytes = SPOOL_LIMIT_MIN - 1;
    assert_int_equal(spool_open(&f->config, &spool), -EINVAL);
    assert_null(spool);
}

/* ---- two threads ---- */

#define RACE_FRAMES 20000

struct race {
    struct spool *spool;
    atomic_bool done;
    size_t n_read;
    uint64_t last;
};

static void *read_on(void *arg) {
    struct race *race = arg;
    struct buffer body = {0};
    struct spool_range range;
    for (;;) {
        bool done = atomic_load(&race->done);
        int r = spool_read(race->spool, race->last, 30000, &body, &range);
        if (r == SPOOL_EMPTY && done)
            break;
        if (r != 0)
            continue;
        race->n_read += check_body(&body, &range);
        race->last = range.last_seq;
        spool_ack(race->spool, range.last_seq);
    }
    buffer_release(&body);
    return NULL;
}

static void one_appends_while_another_reads(void **state) {
    struct fixture *f = *state;
    f->config.limit_bytes = SPOOL_LIMIT_MIN;
    struct race race = {.spool = reopen(f)};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_on, &race), 0);
    append_all(f, race.spool, 1, RACE_FRAMES);
    atomic_store(&race.done, true);
    pthread_join(thread, NULL);
    assert_int_equal(race.last, RACE_FRAMES);
    /* A frame that was read may be dropped before it is acknowledged, and then counts as both. */
    assert_true(race.n_read + spool_lost(race.spool) >= RACE_FRAMES);
    assert_true(race.n_read <= RACE_FRAMES);
    spool_close(race.spool, false);
    assert_int_equal(files_on_disk(f), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- its directory ---- */

static bool is_there(const char *directory, const char *name) {
    char path[PATH_MAX + NAME_MAX + 2];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return lstat(path, &st) == 0;
}

static void a_directory_that_is_made_has_a_name_by_chance_and_tells_its_run(void **state) {
    const struct fixture *f = *state;
    char one[PATH_MAX], two[PATH_MAX], link[PATH_MAX + 8], run[20] = "";
    struct stat st;
    setenv("TMPDIR", f->dir, 1);
    int fd = spool_dir_make("0123456789abcdef", one), other = spool_dir_make("", two);
    unsetenv("TMPDIR");
    assert_true(fd >= 0 && other >= 0);
    assert_int_equal(strncmp(one, f->dir, strlen(f->dir)), 0);
    assert_string_not_equal(one, two);
    assert_int_equal(stat(one, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    snprintf(link, sizeof link, "%s/run", one);
    assert_int_equal(readlink(link, run, sizeof run), 16);
    assert_string_equal(run, "0123456789abcdef");
    assert_false(is_there(two, "run"));
    assert_int_equal(close(openat(fd, "kept", O_CREAT | O_WRONLY, 0600)), 0);
    spool_dir_remove(one);
    assert_true(is_there(one, "kept") && is_there(one, "run"));
    assert_int_equal(unlinkat(fd, "kept", 0), 0);
    spool_dir_remove(one);
    spool_dir_remove(two);
    assert_int_equal(access(one, F_OK), -1);
    assert_int_equal(access(two, F_OK), -1);
    close(fd);
    close(other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_frame_comes_back_once_and_in_order),
        TEST(a_body_keeps_to_its_limit),
        TEST(a_header_is_a_stream_without_frames),
        TEST(acknowledged_segments_are_freed_but_the_newest),
        TEST(refused_frames_count_as_lost_once),
        TEST(the_limit_holds_and_every_drop_is_counted),
        TEST(what_was_committed_is_not_lost_when_dropped),
        TEST(a_frame_too_large_for_a_body_is_refused_and_counted),
        TEST(a_frame_larger_than_a_segment_gets_its_own),
        TEST(a_tail_cut_at_any_byte_recovers_to_the_last_whole_frame),
        TEST(a_flipped_byte_costs_the_frames_from_there_on),
        TEST(a_restart_goes_on_with_the_stream_and_its_losses),
        TEST(another_stream_in_the_directory_is_left_alone),
        TEST(files_of_our_name_that_are_not_ours_do_no_harm),
        TEST(a_file_in_the_place_of_the_next_is_not_written_to),
        TEST(a_file_of_our_name_with_another_stream_in_it_is_not_recovered),
        TEST(a_full_disk_loses_frames_and_nothing_else),
        TEST(removed_and_overwritten_segments_are_given_up_not_looped_over),
        TEST(a_removed_directory_is_made_anew_with_what_is_open),
        TEST(a_directory_removed_between_two_segments_is_made_anew),
        TEST(a_gap_within_a_segment_ends_it),
        TEST(a_stream_is_torn_when_its_last_frames_are_gone),
        TEST(what_is_kept_of_a_stream_is_told),
        TEST(nobody_else_may_read_it),
        TEST(a_directory_that_is_not_ours_alone_is_refused),
        TEST(the_last_stream_of_samples_is_found),
        TEST(a_limit_of_file_sizes_makes_smaller_segments),
        TEST(a_directory_that_cannot_be_used_is_refused),
        TEST(a_directory_that_is_made_has_a_name_by_chance_and_tells_its_run),
        TEST(one_appends_while_another_reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
