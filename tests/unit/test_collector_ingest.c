/* SPDX-License-Identifier: MIT */
/* Good and bad bodies against a real store: a refused body leaves nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collector/ingest.h"
#include "tests/unit/frames.h"
#include "tests/unit/stored_number.h"

struct fixture {
    char dir[32], db[48];
    struct store *store;
    int64_t run;
    struct ingest *ingest;
    struct buffer body;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->dir, "/tmp/ingest-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->db, sizeof f->db, "%s/x.db", f->dir);
    const struct run_begin begin = {.command = "true",
                                    .wall_ns = 1,
                                    .mono_ns = 1,
                                    .period_ns = 100000000,
                                    .n_hosts_expected = 1};
    assert_int_equal(store_open_write(f->db, &f->store, NULL, 0), 0);
    assert_int_equal(store_run_begin(f->store, &begin, &f->run), 0);
    assert_int_equal(ingest_new(f->store, f->run, &f->ingest), 0);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    ingest_free(f->ingest);
    store_close(f->store);
    buffer_release(&f->body);
    unlink(f->db);
    rmdir(f->dir);
    free(f);
    return 0;
}

static int push(struct fixture *f, struct ingest_push *p) {
    p->body = f->body.data;
    p->size = f->body.size;
    int r = ingest_check(f->ingest, p);
    if (r)
        return r;
    assert_int_equal(store_begin(f->store), 0);
    r = ingest_write(f->ingest, p);
    if (r)
        store_rollback(f->store);
    else
        assert_int_equal(store_commit(f->store), 0);
    return r;
}

static void body_of_stream(struct fixture *f, const char *host, uint64_t stream) {
    buffer_reset(&f->body);
    frames_open(&f->body, host, stream, &frames_cpu);
    frames_put_many(&f->body, &frames_cpu, 1, 1);
}

static void good_body(struct fixture *f, uint64_t first, uint64_t last) {
    buffer_reset(&f->body);
    frames_open(&f->body, "vm1", 7, &frames_cpu);
    frames_put_many(&f->body, &frames_cpu, first, last);
}

static void a_body_becomes_rows(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    good_body(f, 1, 5);
    assert_int_equal(push(f, &p), 0);
    assert_string_equal(p.host, "vm1");
    assert_int_equal(p.committed, 5);
    assert_int_equal(p.frames, 5);
    assert_int_equal(p.rows, 10);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 5);
    /* Growth of two cores over four intervals. */
    assert_int_equal(stored_number(f->db, "SELECT sum(user_ns) FROM cpu"), 2 * 4 * 1000);
    assert_true(ingest_committed(f->ingest, &p));
    assert_false(ingest_committed(f->ingest, &p));
}

static void fill_streams(struct fixture *f, const char *name, uint64_t n) {
    struct wire_stream stream = {.boot_id = "01234567-89ab-cdef-0123-456789abcdef",
                                 .period_ns = 100000000};
    int64_t host, id;
    strcpy(stream.host, name);
    assert_int_equal(store_begin(f->store), 0);
    for (stream.stream_id = 1; stream.stream_id <= n; stream.stream_id++)
        assert_int_equal(store_stream(f->store, f->run, &stream, &host, &id), 0);
    assert_int_equal(store_commit(f->store), 0);
}

static void a_host_has_a_bounded_number_of_streams(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    fill_streams(f, "vm1", STORE_STREAMS_MAX);
    body_of_stream(f, "vm1", STORE_STREAMS_MAX + 1);
    assert_int_equal(push(f, &p), -EUSERS);
    assert_string_equal(p.why, "the host has 4096 streams already");
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM stream"), STORE_STREAMS_MAX);
    body_of_stream(f, "vm1", STORE_STREAMS_MAX); /* known streams continue */
    assert_int_equal(push(f, &p), 0);
    body_of_stream(f, "vm2", 1); /* and so do other hosts */
    assert_int_equal(push(f, &p), 0);
}

/* This table is sampled once a second, other samples ten times: its first instance, in its second
 * sample, has grown since the first.
 */
static void a_sample_without_rows_is_where_growth_begins(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    struct rows rows, *list[] = {&rows};
    const unsigned index[] = {0};
    struct buffer scratch = {0};
    assert_int_equal(rows_init(&rows, &frames_cpu, 1), 0);
    frames_open(&f->body, "vm1", 7, &frames_cpu);
    for (uint64_t seq = 1; seq <= 11; seq++) {
        const struct frame_head head = {.seq = seq, .mono_ns = (int64_t)seq * 100000000};
        rows_reset(&rows);
        rows.sampled = seq % 10 == 1;
        if (seq == 11) {
            struct row *row = rows_append(&rows, "cpu0", 4);
            row->flags = ROW_BORN;
            row->values[0] = 600;
        }
        wire_put_frame(&f->body, &scratch, &head, list, index, 1);
    }
    assert_int_equal(push(f, &p), 0);
    assert_int_equal(p.frames, 11);
    assert_int_equal(p.rows, 1);
    assert_int_equal(stored_number(f->db, "SELECT user_ns FROM cpu"), 600);
    assert_int_equal(stored_number(f->db, "SELECT interval_ns FROM cpu"), 1000000000);
    rows_release(&rows);
    buffer_release(&scratch);
}

static void a_replay_is_counted_and_stored_once(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    good_body(f, 1, 5);
    assert_int_equal(push(f, &p), 0);
    good_body(f, 3, 8);
    assert_int_equal(push(f, &p), 0);
    assert_int_equal(p.duplicates, 3);
    assert_int_equal(p.frames, 3);
    assert_int_equal(p.committed, 8);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 8);
    assert_int_equal(stored_number(f->db, "SELECT count(DISTINCT seq) FROM frame"), 8);
}

/* Every prefix and every flipped bit: either the body is whole and unchanged, or nothing is stored.
 */
static void a_damaged_body_is_refused_whole(void **state) {
    struct fixture *f = *state;
    good_body(f, 1, 3);
    size_t size = f->body.size, whole = 0;
    for (size_t cut = 0; cut < size; cut++) {
        struct ingest_push p = {.body = f->body.data, .size = cut};
        int r = ingest_check(f->ingest, &p);
        if (r == 0)
            whole++; /* cut between two records */
        else
            assert_int_equal(r, -EBADMSG);
        assert_true(r == 0 || p.why[0]);
    }
    assert_int_equal(whole, 4); /* after the stream, the table, the first and the second frame */
    for (size_t at = 0; at < size; at++) {
        f->body.data[at] ^= 0x10;
        struct ingest_push p = {0};
        int r = push(f, &p);
        f->body.data[at] ^= 0x10;
        assert_int_equal(r, -EBADMSG);
    }
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 0);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM host"), 0);
}

static void a_bad_frame_does_not_harm_the_next(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    good_body(f, 1, 4);
    f->body.data[f->body.size - 1] ^= 1; /* the checksum of the last */
    assert_int_equal(push(f, &p), -EBADMSG);
    assert_non_null(strstr(p.why, "checksum"));
    good_body(f, 5, 6);
    assert_int_equal(push(f, &p), 0);
    assert_int_equal(stored_number(f->db, "SELECT group_concat(seq) = '5,6' FROM frame"), 1);
}

static void frames_out_of_order_are_refused(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    good_body(f, 4, 4);
    frames_put(&f->body, &frames_cpu, 3);
    assert_int_equal(push(f, &p), -EBADMSG);
    assert_non_null(strstr(p.why, "rise"));
}

static void too_many_frames_are_refused(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    struct buffer scratch = {0};
    good_body(f, 1, 0);
    for (uint64_t seq = 1; seq <= INGEST_FRAMES_MAX + 1; seq++) {
        const struct frame_head head = {.seq = seq};
        wire_put_frame(&f->body, &scratch, &head, NULL, NULL, 0);
    }
    buffer_release(&scratch);
    assert_int_equal(push(f, &p), -EBADMSG);
    assert_non_null(strstr(p.why, "32768"));
}

static void an_unknown_table_is_stored(void **state) {
    struct fixture *f = *state;
    static const struct column columns[] = {{"turns", UNIT_EVENTS, COLUMN_LEVEL, "of the wheel"}};
    static const struct table wheel = {"wheel",       "wheel", "never heard of",
                                       TABLE_SAMPLES, columns, 1};
    struct ingest_push p = {0};
    frames_open(&f->body, "vm1", 7, &wheel);
    frames_put_many(&f->body, &wheel, 1, 2);
    assert_int_equal(push(f, &p), 0);
    assert_int_equal(stored_number(f->db, "SELECT max(turns) FROM wheel"), 2000);
}

static void an_unknown_column_is_stored_beside_the_known(void **state) {
    struct fixture *f = *state;
    static const struct column columns[] = {{"user_ns", UNIT_NS, COLUMN_COUNTER, "user"},
                                            {"guest_ns", UNIT_NS, COLUMN_COUNTER, "new"}};
    static const struct table newer = {"cpu", "core", "newer", TABLE_SAMPLES, columns, 2};
    struct ingest_push p = {0};
    good_body(f, 1, 3);
    assert_int_equal(push(f, &p), 0);
    buffer_reset(&f->body);
    frames_open(&f->body, "vm2", 8, &newer);
    frames_put_many(&f->body, &newer, 1, 3);
    assert_int_equal(push(f, &p), 0);
    assert_int_equal(stored_number(f->db, "SELECT sum(guest_ns) FROM cpu"), 2 * 2 * 1000);
    assert_int_equal(stored_number(f->db, "SELECT sum(idle_ns) FROM cpu"), 2 * 2 * 1000);
}

static void a_table_of_another_meaning_costs_its_rows_not_the_host(void **state) {
    struct fixture *f = *state;
    static const struct column columns[] = {{"user_ns", UNIT_BYTES, COLUMN_LEVEL, "no time"}};
    static const struct table other = {"cpu", "core", "other", TABLE_SAMPLES, columns, 1};
    struct ingest_push p = {0};
    good_body(f, 1, 3);
    assert_int_equal(push(f, &p), 0);
    buffer_reset(&f->body);
    frames_open(&f->body, "vm2", 8, &other);
    frames_put_many(&f->body, &other, 1, 3);
    assert_int_equal(push(f, &p), 0);
    assert_int_equal(p.refused_rows, 6);
    assert_int_equal(p.committed, 3);
    assert_non_null(strstr(p.note, "vm2"));
    assert_int_equal(push(f, &p), 0);
    assert_string_equal(p.note, ""); /* reported once */
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM run_note"), 1);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 6);
}

static void a_run_has_no_more_tables_than_agents_can_have(void **state) {
    struct fixture *f = *state;
    static const struct column columns[] = {{"user_ns", UNIT_NS, COLUMN_COUNTER, "user"}};
    struct ingest_push p = {0};
    for (int i = 0; i < INGEST_TABLES_MAX + 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        const struct table table = {name, "core", "one more", TABLE_SAMPLES, columns, 1};
        buffer_reset(&f->body);
        frames_open(&f->body, "vm1", (uint64_t)i + 1, &table);
        frames_put_many(&f->body, &table, 1, 1);
        assert_int_equal(push(f, &p), 0);
        assert_int_equal(p.refused_rows, i < INGEST_TABLES_MAX ? 0 : 2);
    }
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM table_info WHERE name LIKE 't%'"),
                     INGEST_TABLES_MAX);
}

/* All in one transaction, since each costs the disk a write. */
static void a_run_has_no_more_hosts_than_it_may(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    int r = 0;
    assert_int_equal(store_begin(f->store), 0);
    for (int i = 0; i <= INGEST_HOSTS_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%d", i);
        buffer_reset(&f->body);
        frames_open(&f->body, name, (uint64_t)i + 1, &frames_cpu);
        p.body = f->body.data;
        p.size = f->body.size;
        assert_int_equal(ingest_check(f->ingest, &p), 0);
        r = ingest_write(f->ingest, &p);
        assert_int_equal(r, i < INGEST_HOSTS_MAX ? 0 : -EUSERS);
    }
    assert_string_equal(p.why, "the run has 4096 hosts already");
    store_rollback(f->store);
}

static void a_host_may_not_fill_the_store_with_notes(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {.have_clock = true};
    for (int64_t i = 0; i < 20; i++) {
        p.clock = (struct clock_estimate){1000 * (i + 1), i % 2 ? 900000 : 500, 40};
        good_body(f, 1, 1);
        assert_int_equal(push(f, &p), 0);
        assert_int_equal(p.note[0] != '\0', i >= 1 && i <= 8);
    }
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM run_note"), 8);
}

static void clock_estimates_reach_the_store(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {.have_clock = true, .clock = {1000, 500, 40}};
    good_body(f, 1, 1);
    assert_int_equal(push(f, &p), 0);
    p.clock = (struct clock_estimate){2000, 530, 40};
    assert_int_equal(push(f, &p), 0);
    /* 460..540 and 490..570 leave 490..540. */
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM clock"), 2);
    assert_int_equal(stored_number(f->db, "SELECT offset_ns BETWEEN 500 AND 530 FROM clock_piece"),
                     1);
    p.clock = (struct clock_estimate){3000, 900000, 40};
    assert_int_equal(push(f, &p), 0);
    assert_non_null(strstr(p.note, "jumped"));
    p.clock.mono_ns = -1; /* no exchange: the push is accepted all the same */
    assert_int_equal(push(f, &p), 0);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM clock"), 3);
}

static void an_opening_alone_tells_what_is_committed(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    good_body(f, 1, 9);
    assert_int_equal(push(f, &p), 0);
    good_body(f, 1, 0);
    assert_int_equal(push(f, &p), 0);
    assert_int_equal(p.frames, 0);
    assert_int_equal(p.committed, 9);
}

static void what_was_rolled_back_can_be_pushed_again(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    good_body(f, 1, 5);
    p.body = f->body.data;
    p.size = f->body.size;
    assert_int_equal(ingest_check(f->ingest, &p), 0);
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(ingest_write(f->ingest, &p), 0);
    store_rollback(f->store);
    assert_int_equal(push(f, &p), 0);
    assert_int_equal(p.duplicates, 0);
    assert_int_equal(stored_number(f->db, "SELECT sum(user_ns) FROM cpu"), 2 * 4 * 1000);
}

/* The body with the number in place of its tables. */
static void leave_out_tables(struct fixture *f, uint64_t id) {
    struct span tables;
    assert_true(wire_find_tables(f->body.data, f->body.size, &tables));
    wire_replace_tables(&f->body, tables, id);
}

static void tables_that_came_once_need_not_come_again(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    good_body(f, 1, 5);
    assert_int_equal(push(f, &p), 0);
    uint64_t id = p.tables;
    assert_true(id > 0 && id <= INT64_MAX);
    good_body(f, 6, 9);
    leave_out_tables(f, id);
    assert_int_equal(push(f, &p), 0);
    assert_int_equal(p.frames, 4);
    assert_int_equal(p.tables, id);
    good_body(f, 10, 11); /* an older agent always sends them */
    assert_int_equal(push(f, &p), 0);
    assert_int_equal(p.tables, id);
    assert_int_equal(stored_number(f->db, "SELECT sum(user_ns) FROM cpu"), 2 * 10 * 1000);
}

static void a_number_that_is_not_known_is_asked_about_and_stores_nothing(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    good_body(f, 1, 5);
    assert_int_equal(push(f, &p), 0);
    uint64_t id = p.tables;
    good_body(f, 6, 9);
    leave_out_tables(f, id ^ 1);
    assert_int_equal(push(f, &p), -ENODATA);
    assert_int_equal(p.tables, 0);
    /* A restarted collector has another key. */
    ingest_free(f->ingest);
    assert_int_equal(ingest_new(f->store, f->run, &f->ingest), 0);
    good_body(f, 6, 9);
    leave_out_tables(f, id);
    assert_int_equal(push(f, &p), -ENODATA);
    assert_int_equal(stored_number(f->db, "SELECT count(*) FROM frame"), 5);
    good_body(f, 6, 9);
    assert_int_equal(push(f, &p), 0);
    assert_true(p.tables && p.tables != id);
}

/* A hostile stream describes other tables each time: tables in use stay known, and memory is
 * bounded.
 */
static void many_descriptions_do_not_push_out_one_in_use(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    good_body(f, 1, 1);
    assert_int_equal(push(f, &p), 0);
    uint64_t id = p.tables, first_other = 0;
    for (int i = 0; i < 200; i++) {
        char help[32];
        snprintf(help, sizeof help, "help %d", i);
        struct table table = frames_cpu;
        table.help = help;
        buffer_reset(&f->body);
        frames_open(&f->body, "vm2", 8, &table);
        p = (struct ingest_push){.body = f->body.data, .size = f->body.size};
        assert_int_equal(ingest_check(f->ingest, &p), 0);
        first_other = first_other ? first_other : p.tables;
        good_body(f, 2, 2);
        leave_out_tables(f, id);
        p = (struct ingest_push){.body = f->body.data, .size = f->body.size};
        assert_int_equal(ingest_check(f->ingest, &p), 0);
    }
    good_body(f, 2, 2);
    leave_out_tables(f, first_other);
    assert_int_equal(push(f, &p), -ENODATA);
}

/* Store ids are remembered with the tables, and a rollback removes them. */
static void known_tables_are_registered_again_after_a_rollback(void **state) {
    struct fixture *f = *state;
    struct ingest_push p = {0};
    good_body(f, 1, 5);
    p.body = f->body.data, p.size = f->body.size;
    assert_int_equal(ingest_check(f->ingest, &p), 0);
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(ingest_write(f->ingest, &p), 0);
    store_rollback(f->store);
    leave_out_tables(f, p.tables);
    assert_int_equal(push(f, &p), 0);
    assert_int_equal(p.rows, 10);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_body_becomes_rows),
        TEST(a_sample_without_rows_is_where_growth_begins),
        TEST(a_replay_is_counted_and_stored_once),
        TEST(a_damaged_body_is_refused_whole),
        TEST(a_bad_frame_does_not_harm_the_next),
        TEST(frames_out_of_order_are_refused),
        TEST(too_many_frames_are_refused),
        TEST(an_unknown_table_is_stored),
        TEST(an_unknown_column_is_stored_beside_the_known),
        TEST(a_table_of_another_meaning_costs_its_rows_not_the_host),
        TEST(a_run_has_no_more_tables_than_agents_can_have),
        TEST(a_run_has_no_more_hosts_than_it_may),
        TEST(a_host_may_not_fill_the_store_with_notes),
        TEST(a_host_has_a_bounded_number_of_streams),
        TEST(clock_estimates_reach_the_store),
        TEST(an_opening_alone_tells_what_is_committed),
        TEST(what_was_rolled_back_can_be_pushed_again),
        TEST(tables_that_came_once_need_not_come_again),
        TEST(a_number_that_is_not_known_is_asked_about_and_stores_nothing),
        TEST(many_descriptions_do_not_push_out_one_in_use),
        TEST(known_tables_are_registered_again_after_a_rollback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
