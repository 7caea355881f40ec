/* SPDX-License-Identifier: MIT */
/* The ring against its limits, clocks that are set, kills, full disks and files that are anybody's;
 * and which processes a cut takes for the job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/lineage.h"
#include "agent/ring/ring.h"
#include "agent/ring/ring_marks.h"
#include "agent/ring/ring_read.h"
#include "agent/ring/ring_thin.h"
#include "agent/spool/spool.h"
#include "common/clock.h"
#include "common/error.h"
#include "tables/tables.h"

#define S NS_PER_S
#define BEGIN (1700000000 * S)
#define MINUTE 60
#define PID 77

static const struct table *const tables[] = {&all_tables[TABLE_PROCESS]};

struct fixture {
    char dir[64];
    struct spool_config spool_config;
    struct ring_config ring_config;
    struct spool *spool;
    struct ring *ring;
    struct lineage *lineage;
    struct rows rows;
    struct buffer frame, scratch;
    int64_t wall_ns; /* of the next frame */
    uint64_t seq;    /* of the last one */
};

static void open_ring(struct fixture *f) {
    assert_int_equal(spool_open(&f->spool_config, &f->spool), 0);
    assert_int_equal(
        ring_open(&f->ring_config, f->spool_config.stream.stream_id, f->wall_ns, &f->ring), 0);
}

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->dir, "/tmp/test_agent_ring.XXXXXX");
    f->lineage = calloc(1, sizeof *f->lineage);
    if (!mkdtemp(f->dir) || !f->lineage || rows_init(&f->rows, tables[0], 400) < 0)
        return -1;
    f->spool_config =
        (struct spool_config){.dir = f->dir,
                              .limit_bytes = 4 << 20,
                              .stream = {.host = "h", .stream_id = 0xab2, .period_ns = S},
                              .tables = tables,
                              .n_tables = 1};
    f->ring_config = (struct ring_config){f->dir, 8 << 20, 3600 * S, false};
    f->wall_ns = BEGIN;
    *state = f;
    return 0;
}

static void close_ring(struct fixture *f) {
    ring_close(f->ring);
    spool_leave(f->spool);
    f->ring = NULL;
    f->spool = NULL;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    char command[128];
    close_ring(f);
    chmod(f->dir, 0700);
    snprintf(command, sizeof command, "rm -rf %s", f->dir);
    rows_release(&f->rows);
    buffer_release(&f->frame);
    buffer_release(&f->scratch);
    free(f->lineage);
    free(f);
    return system(command);
}

/* ---- writing ---- */

/* A frame of so many processes, of which the first has the id PID. */
static void append(struct fixture *f, size_t n_rows) {
    struct rows *list[] = {&f->rows};
    struct frame_head head = {.seq = ++f->seq,
                              .wall_ns = f->wall_ns,
                              .slot_ns = f->wall_ns,
                              .mono_ns = (int64_t)f->seq * S};
    rows_reset(&f->rows);
    for (size_t i = 0; i < n_rows; i++) {
        char name[32];
        snprintf(name, sizeof name, "p[%zu]", PID + i);
        struct row *row = rows_append(&f->rows, name, strlen(name));
        row->values[PROCESS_PID] = (int64_t)(PID + i);
        row->values[PROCESS_START] = 5;
        row->values[PROCESS_JOB] = i % 2; /* of the agent's own job, which a cut forgets */
        row->values[PROCESS_USER] = (int64_t)(f->seq * (i + 7) * 12345);
    }
    buffer_reset(&f->frame);
    wire_put_frame(&f->frame, &f->scratch, &head, list, (const unsigned[]){0}, 1);
    assert_int_equal(spool_append(f->spool, f->frame.data, f->frame.size, f->seq), 0);
    f->wall_ns += S;
}

static void pack(struct fixture *f) {
    assert_int_equal(ring_pack(f->ring, f->spool, f->lineage, f->wall_ns), 0);
}

static void append_minutes(struct fixture *f, size_t minutes, size_t n_rows) {
    for (size_t i = 0; i < minutes; i++) {
        for (int s = 0; s < MINUTE; s++)
            append(f, n_rows);
        pack(f);
    }
}

static void add_lineage(struct fixture *f, int32_t pid, int32_t parent, uint32_t user,
                        const char *groups) {
    size_t place = SIZE_MAX;
    struct lineage_entry *entry = lineage_report(f->lineage, &place, pid, 5, true);
    assert_non_null(entry);
    entry->above[0] = parent;
    entry->above[1] = 1;
    entry->n_above = 2;
    entry->user = user;
    entry->session = 60;
    lineage_set_groups(entry, groups, strlen(groups));
}

static size_t files_of(const struct fixture *f) {
    struct ring_status status;
    ring_status(f->ring, &status);
    return status.files;
}

/* ---- reading ---- */

struct found {
    size_t frames, job_rows, lineages;
    uint64_t first_seq, last_seq;
    bool ordered, whole; /* numbers rise; each frame that was marked is still one */
    struct ring_reading told;
};

static void read_piece(struct ring_piece *piece, struct ring_marks *marks, int64_t from_ns,
                       int64_t to_ns, struct found *found) {
    struct wire_reader reader;
    struct wire_record record;
    int r;
    if (piece->kind == RING_LINEAGE) {
        found->lineages += ring_marks_take(marks, piece->data, piece->size) == 0;
        return;
    }
    wire_reader_init(&reader, piece->data, piece->size);
    while ((r = wire_next(&reader, &record)) == 0) {
        if (record.type != WIRE_FRAME || record.head.seq <= found->last_seq ||
            record.head.wall_ns < from_ns || record.head.wall_ns > to_ns)
            continue;
        found->job_rows += ring_marks_set(marks, &reader, record, piece->data);
        found->ordered &= found->frames == 0 || record.head.seq > found->last_seq;
        found->first_seq = found->frames ? found->first_seq : record.head.seq;
        found->last_seq = record.head.seq;
        found->frames++;
    }
    wire_reader_release(&reader);
    wire_reader_init(&reader, piece->data, piece->size);
    while ((r = wire_next(&reader, &record)) == 0)
        ;
    found->whole &= r != -EBADMSG;
    wire_reader_release(&reader);
}

static struct found read_time(struct fixture *f, int64_t from_ns, int64_t to_ns,
                              const char *choice) {
    struct found found = {.ordered = true, .whole = true};
    struct job_choice job;
    struct ring_marks *marks;
    struct ring_reader *ring;
    struct ring_piece piece;
    char why[120];
    int r;
    if (choice)
        assert_int_equal(job_choice_parse(choice, &job, why, sizeof why), 0);
    assert_int_equal(ring_marks_new(&job, choice ? 1 : 0, &marks), 0);
    assert_int_equal(ring_reader_open(f->dir, from_ns, to_ns, &ring), 0);
    while ((r = ring_reader_next(ring, &piece)) == 0)
        read_piece(&piece, marks, from_ns, to_ns, &found);
    assert_int_equal(r, RING_END);
    found.told = *ring_reader_told(ring);
    ring_reader_close(ring);
    ring_marks_free(marks);
    return found;
}

static struct found read_all(struct fixture *f) {
    return read_time(f, 0, INT64_MAX, NULL);
}

static void path_of(const struct fixture *f, const char *name, char path[200]) {
    snprintf(path, 200, "%s/%s", f->dir, name);
}

static void write_bytes(const struct fixture *f, const char *name, const void *data, size_t size) {
    char path[200];
    path_of(f, name, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static size_t read_bytes(const struct fixture *f, const char *name, uint8_t *to, size_t size) {
    char path[200];
    path_of(f, name, path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(to, 1, size, file);
    fclose(file);
    return n;
}

/* ---- what is kept ---- */

static void frames_come_back_in_order_and_in_little_room(void **state) {
    struct fixture *f = *state;
    struct ring_status status;
    open_ring(f);
    append_minutes(f, 5, 40);
    append(f, 40); /* is in no file yet */
    struct found found = read_all(f);
    assert_int_equal(found.frames, 5 * MINUTE + 1);
    assert_int_equal(found.first_seq, 1);
    assert_int_equal(found.last_seq, 5 * MINUTE + 1);
    assert_true(found.ordered && found.whole);
    assert_int_equal(found.told.files, 5);
    assert_int_equal(found.told.damaged + found.told.refused, 0);
    ring_status(f->ring, &status);
    assert_in_range(status.bytes, 1, (found.frames * f->frame.size) / 2);
}

static void a_cut_takes_the_blocks_of_its_time(void **state) {
    struct fixture *f = *state;
    open_ring(f);
    append_minutes(f, 10, 3);
    struct found found = read_time(f, BEGIN + 3 * MINUTE * S, BEGIN + 5 * MINUTE * S - S, NULL);
    assert_int_equal(found.first_seq, 3 * MINUTE + 1);
    assert_int_equal(found.last_seq, 5 * MINUTE);
    assert_int_equal(found.told.first_ns, BEGIN);
    found = read_time(f, BEGIN + 3600 * S, BEGIN + 7200 * S, NULL);
    assert_int_equal(found.frames, 0);
}

static void too_many_bytes_cost_the_oldest(void **state) {
    struct fixture *f = *state;
    struct ring_status status;
    f->ring_config.limit_bytes = RING_LIMIT_MIN;
    open_ring(f);
    append_minutes(f, 60, 80);
    ring_status(f->ring, &status);
    assert_in_range(status.bytes, 1, RING_LIMIT_MIN);
    struct found found = read_all(f);
    assert_in_range(found.first_seq, 2, found.last_seq);
    assert_int_equal(found.last_seq, 60 * MINUTE);
    assert_int_equal(found.frames, found.last_seq - found.first_seq + 1);
}

static void what_is_too_old_goes(void **state) {
    struct fixture *f = *state;
    f->ring_config.span_ns = 10 * MINUTE * S;
    open_ring(f);
    append_minutes(f, 30, 1);
    assert_in_range(files_of(f), 10, 11);
    f->wall_ns += 3600 * S; /* nothing was sampled for an hour */
    pack(f);
    assert_int_equal(files_of(f), 0);
}

static void a_clock_that_was_wrong_keeps_nothing_for_ever(void **state) {
    struct fixture *f = *state;
    f->ring_config.span_ns = 10 * MINUTE * S;
    f->wall_ns = BEGIN + 1000 * 86400 * S; /* three years ahead, then set right */
    open_ring(f);
    append_minutes(f, 3, 1);
    f->wall_ns = BEGIN;
    append_minutes(f, 30, 1);
    assert_in_range(files_of(f), 10, 11);
    struct found found = read_time(f, BEGIN, BEGIN + 86400 * S, NULL);
    assert_true(found.ordered);
    assert_int_equal(found.last_seq, 33 * MINUTE);
}

static void a_clock_that_was_set_back_loses_nothing(void **state) {
    struct fixture *f = *state;
    open_ring(f);
    append_minutes(f, 3, 1);
    f->wall_ns -= 90 * S;
    append_minutes(f, 3, 1);
    assert_int_equal(read_all(f).frames, 6 * MINUTE);
}

/* ---- ends ---- */

static void a_killed_agent_loses_nothing(void **state) {
    struct fixture *f = *state;
    open_ring(f);
    append_minutes(f, 2, 5);
    add_lineage(f, PID, 60, 7, "0::/a.service\n");
    for (int i = 0; i < 30; i++)
        append(f, 5);
    assert_int_equal(ring_keep_lineage(f->ring, f->lineage), 0);
    close_ring(f);
    f->spool_config.stream.stream_id = 0xcc0; /* the next agent */
    memset(f->lineage, 0, sizeof *f->lineage);
    f->seq = 0;
    open_ring(f);
    assert_int_equal(files_of(f), 3);
    append_minutes(f, 1, 5);
    struct found found = read_time(f, 0, INT64_MAX, "unit=a");
    assert_int_equal(found.told.files, 4);
    assert_int_equal(found.job_rows, 30); /* the killed agent's last half minute has its lineage */
    assert_int_equal(found.last_seq, 2 * MINUTE + 30); /* then 1 to 60 of the next stream */
}

static void a_file_counts_up_to_its_last_whole_block(void **state) {
    struct fixture *f = *state;
    static uint8_t whole[1 << 20];
    open_ring(f);
    append_minutes(f, 2, 3);
    size_t size = read_bytes(f, "0000000002.ring", whole, sizeof whole);
    for (size_t n = 0; n < size; n += 1 + n / 3) {
        write_bytes(f, "0000000002.ring", whole, n);
        struct found found = read_all(f);
        assert_true(found.frames >= MINUTE && found.frames <= 2 * MINUTE);
        assert_true(found.ordered);
    }
    write_bytes(f, "0000000002.ring", whole, 10);
    close_ring(f);
    open_ring(f);
    assert_int_equal(files_of(f), 1); /* without a whole block it is gone */
    append_minutes(f, 1, 3);
    assert_int_equal(files_of(f), 2);
}

static void changed_bytes_cost_their_block(void **state) {
    struct fixture *f = *state;
    static uint8_t bytes[1 << 20];
    open_ring(f);
    append_minutes(f, 2, 3);
    size_t size = read_bytes(f, "0000000001.ring", bytes, sizeof bytes);
    for (size_t i = 0; i < size; i += 7) {
        bytes[i] ^= 0x41;
        write_bytes(f, "0000000001.ring", bytes, size);
        struct found found = read_all(f);
        assert_in_range(found.frames, MINUTE, 2 * MINUTE);
        assert_true(found.told.damaged > 0 || found.frames < 2 * MINUTE || found.lineages < 2);
        bytes[i] ^= 0x41;
    }
}

static void other_files_are_not_read(void **state) {
    struct fixture *f = *state;
    char path[200];
    open_ring(f);
    append_minutes(f, 1, 3);
    path_of(f, "0000000007.ring", path);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    path_of(f, "0000000008.ring", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    path_of(f, "0000000009.ring", path);
    assert_int_equal(mkdir(path, 0700), 0);
    write_bytes(f, "0000000010.ring", "x", 1);
    path_of(f, "0000000010.ring", path);
    assert_int_equal(chmod(path, 0666), 0);
    write_bytes(f, "notes.ring", "x", 1);
    struct found found = read_all(f);
    assert_int_equal(found.frames, MINUTE);
    assert_int_equal(found.told.refused, 4);
}

static int open_result(const char *dir) {
    struct ring_reader *ring = NULL;
    int r = ring_reader_open(dir, 0, INT64_MAX, &ring);
    ring_reader_close(r == 0 ? ring : NULL);
    return r;
}

static void a_directory_of_all_is_refused(void **state) {
    struct fixture *f = *state;
    char path[200];
    assert_int_equal(open_result(f->dir), 0);
    assert_int_equal(chmod(f->dir, 0777), 0);
    assert_int_equal(open_result(f->dir), -EPERM);
    assert_int_equal(chmod(f->dir, 0700), 0);
    path_of(f, "link", path);
    assert_int_equal(symlink(f->dir, path), 0);
    assert_int_equal(open_result(path), -ELOOP);
    assert_int_equal(open_result("/nowhere"), -ENOENT);
}

static void the_group_reads_only_when_asked(void **state) {
    struct fixture *f = *state;
    struct stat st;
    char path[200];
    path_of(f, "0000000001.ring", path);
    open_ring(f);
    append_minutes(f, 1, 1);
    assert_int_equal(stat(f->dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    close_ring(f);
    f->ring_config.group_reads = true;
    open_ring(f);
    append_minutes(f, 1, 1);
    path_of(f, "0000000002.ring", path);
    assert_int_equal(stat(f->dir, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0750);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void a_full_disk_costs_the_oldest(void **state) {
    struct fixture *f = *state;
    open_ring(f);
    append_minutes(f, 32, 3);
    assert_true(ring_shed(f->ring));
    assert_in_range(files_of(f), 28, 30);
    assert_int_equal(read_all(f).last_seq, 32 * MINUTE);
    while (ring_shed(f->ring))
        ;
    assert_int_equal(files_of(f), 1);
}

/* ---- frames that become one ---- */

/* The frames of the ring as one; `body` gets its stream. */
static void thin_all(struct fixture *f, struct buffer *body) {
    struct ring_reader *ring;
    struct ring_piece piece;
    struct ring_thin *thin = NULL;
    struct wire_reader reader;
    struct wire_record record;
    struct frame_head head = {.seq = 1, .wall_ns = 5, .mono_ns = 5};
    assert_int_equal(ring_reader_open(f->dir, 0, INT64_MAX, &ring), 0);
    while (ring_reader_next(ring, &piece) == 0 && piece.kind != RING_FRAMES)
        ;
    wire_reader_init(&reader, piece.data, piece.size);
    while (wire_next(&reader, &record) == 0) {
        if (record.type != WIRE_FRAME)
            continue;
        if (!thin) {
            buffer_put(body, piece.data, record.offset);
            assert_int_equal(ring_thin_new(reader.tables, &thin), 0);
        }
        assert_true(ring_thin_add(thin, &reader, record));
    }
    assert_int_equal(ring_thin_put(thin, &head, &f->frame), 0);
    buffer_put(body, f->frame.data, f->frame.size);
    ring_thin_free(thin);
    wire_reader_release(&reader);
    ring_reader_close(ring);
}

static void a_thinned_cut_keeps_the_last_row_of_each(void **state) {
    struct fixture *f = *state;
    struct buffer body = {0};
    struct wire_reader reader;
    struct wire_record record;
    struct wire_row row;
    const struct table *table;
    unsigned index;
    size_t n = 0;
    open_ring(f);
    for (size_t i = 0; i < 5; i++)
        append(f, 5 - i); /* a process ends at each */
    pack(f);
    thin_all(f, &body);
    wire_reader_init(&reader, body.data, body.size);
    while (wire_next(&reader, &record) == 0 && record.type != WIRE_FRAME)
        ;
    assert_int_equal(record.head.wall_ns, 5);
    while (wire_frame_row(&reader, &record, &table, &index, &row)) {
        uint64_t i = (uint64_t)row.values[PROCESS_PID] - PID, last_seq = 5 - i;
        assert_int_equal(row.values[PROCESS_USER], last_seq * (i + 7) * 12345);
        n++;
    }
    assert_int_equal(n, 5);
    assert_int_equal(wire_next(&reader, &record), WIRE_END);
    wire_reader_release(&reader);
    buffer_release(&body);
}

/* ---- the job of a cut ---- */

static void expect_job(struct fixture *f, const char *choice, size_t rows) {
    struct found found = read_time(f, 0, INT64_MAX, choice);
    assert_true(found.whole);
    if (found.job_rows != rows) {
        print_error("%s: %zu rows, not %zu\n", choice, found.job_rows, rows);
        fail();
    }
}

static void the_job_is_who_was_recorded_as_it(void **state) {
    struct fixture *f = *state;
    open_ring(f);
    add_lineage(f, PID, 70, 7, "0::/system.slice/nginx.service\n");
    add_lineage(f, PID + 1, PID, 7, "0::/system.slice/nginx.service\n");
    add_lineage(f, PID + 2, 61, 8,
                "4:cpu:/x\n0::/system.slice/slurmstepd.scope/job_42/step_0/user/task_0\n");
    for (int s = 0; s < 10; s++)
        append(f, 4);
    assert_int_equal(ring_keep_lineage(f->ring, f->lineage), 0);
    expect_job(f, "unit=nginx", 20); /* before there is a file, and then in it */
    pack(f);
    expect_job(f, NULL, 40); /* all that was busy */
    expect_job(f, "unit=nginx", 20);
    expect_job(f, "pid=77", 20);
    expect_job(f, "pid=78", 10);
    expect_job(f, "pid=61", 10);
    expect_job(f, "pid=5000", 0);
    expect_job(f, "cgroup=/system.slice", 30);
    expect_job(f, "cgroup=/system.slice/nginx.service", 20);
    expect_job(f, "slurm=42", 10);
    expect_job(f, "slurm=4", 0);
    expect_job(f, "user=8", 10);
    expect_job(f, "session=60", 30);
    expect_job(f, "port=80", 0);
}

static void a_reused_id_is_another_process(void **state) {
    struct fixture *f = *state;
    size_t place = SIZE_MAX;
    open_ring(f);
    struct lineage_entry *entry = lineage_report(f->lineage, &place, PID, 4, true);
    entry->n_above = 0;
    append(f, 1); /* started at 5 */
    pack(f);
    expect_job(f, "pid=77", 0);
}

static void lineages_of_ended_processes_are_forgotten(void **state) {
    struct fixture *f = *state;
    open_ring(f);
    add_lineage(f, PID, 70, 7, "0::/a\n");
    append(f, 1);
    pack(f);
    append(f, 1);
    pack(f); /* nobody reported it */
    assert_int_equal(f->lineage->n, 0);
    for (int32_t i = 0; i < LINEAGE_MAX; i++)
        add_lineage(f, 1000 + i, 1, 0, "0::/\n");
    size_t place = SIZE_MAX;
    assert_null(lineage_report(f->lineage, &place, 9999, 5, true));
}

static void foreign_lineages_are_refused(void **state) {
    static const uint8_t bad[][8] = {{0xff}, {1, 2, 3, 4, 200}, {1, 2, 3, 4, 0, 90, 1, 1}};
    struct job_choice job;
    struct ring_marks *marks;
    char why[120];
    (void)state;
    assert_int_equal(job_choice_parse("pid=1", &job, why, sizeof why), 0);
    assert_int_equal(ring_marks_new(&job, 1, &marks), 0);
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_int_equal(ring_marks_take(marks, bad[i], sizeof bad[i]), -EBADMSG);
    static uint8_t large[1200] = {1, 2, 3, 4, 0, 0xe9, 7}; /* groups of 1001 bytes */
    assert_int_equal(ring_marks_take(marks, large, 7 + 1001), -EBADMSG);
    assert_int_equal(ring_marks_take(marks, "", 0), 0);
    ring_marks_free(marks);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(frames_come_back_in_order_and_in_little_room),
        TEST(a_cut_takes_the_blocks_of_its_time),
        TEST(too_many_bytes_cost_the_oldest),
        TEST(what_is_too_old_goes),
        TEST(a_clock_that_was_wrong_keeps_nothing_for_ever),
        TEST(a_clock_that_was_set_back_loses_nothing),
        TEST(a_killed_agent_loses_nothing),
        TEST(a_file_counts_up_to_its_last_whole_block),
        TEST(changed_bytes_cost_their_block),
        TEST(other_files_are_not_read),
        TEST(a_directory_of_all_is_refused),
        TEST(the_group_reads_only_when_asked),
        TEST(a_full_disk_costs_the_oldest),
        TEST(a_thinned_cut_keeps_the_last_row_of_each),
        TEST(the_job_is_who_was_recorded_as_it),
        TEST(a_reused_id_is_another_process),
        TEST(lineages_of_ended_processes_are_forgotten),
        TEST(foreign_lineages_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
