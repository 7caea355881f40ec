/* SPDX-License-Identifier: MIT */
/* Writing: how the store keeps what agents send. */
#include "tests/unit/store_fixture.h"

#include <errno.h>

#include "collector/store_private.h"

#define BEGIN(f) assert_int_equal(store_begin((f)->store), 0)
#define COMMIT(f) assert_int_equal(store_commit((f)->store), 0)

static void counters_are_stored_as_growth_and_levels_as_they_are(void **state) {
    struct fixture *f = *state;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 10.0), 0);
    ROW(f, &memory_table, "memory", 500, 250000000, 1000);
    assert_int_equal(fixture_frame(f, 2, 10.1), 0);
    ROW(f, &memory_table, "memory", 400, 500000000, 1000 + 30000000);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM memory WHERE interval_ns IS NULL"
                                   " AND user_ns IS NULL AND free_bytes = 500"),
                     1);
    assert_int_equal(sql_number(f, "SELECT user_ns FROM memory WHERE free_bytes = 400"), 30000000);
    assert_int_equal(sql_number(f, "SELECT interval_ns FROM memory WHERE free_bytes = 400"),
                     100000000);
    assert_int_equal(sql_number(f, "SELECT 1000 * user_pct FROM memory_rate WHERE load = 0.5"),
                     30000);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM memory_rate WHERE host = 'vm1' AND"
                                   " memory = 'memory' AND abs(time_s - (10.1 - 0)) < 1e-9"),
                     1);
}

static void a_lost_frame_costs_resolution_and_not_the_sum(void **state) {
    struct fixture *f = *state;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    ROW(f, &net_table, "eth0", 100, 10);
    assert_int_equal(fixture_frame(f, 5, 1.4), 0);
    ROW(f, &net_table, "eth0", 500, 50);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT sum(receive_bytes) FROM net"), 400);
    assert_int_equal(sql_number(f, "SELECT sum(interval_ns) FROM net"), 400000000);
    assert_int_equal(sql_number(f, "SELECT gaps FROM stream"), 3);
}

static void a_counter_that_steps_back_began_again_at_zero(void **state) {
    struct fixture *f = *state;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    ROW(f, &net_table, "eth0", 1000, 1000);
    assert_int_equal(fixture_frame(f, 2, 1.1), 0);
    ROW(f, &net_table, "eth0", 70, 1100);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT sum(receive_bytes) FROM net"), 70);
    assert_int_equal(sql_number(f, "SELECT sum(send_bytes) FROM net"), 100);
    assert_int_equal(sql_number(f, "SELECT columns FROM counter_reset"), 1);
}

static void what_is_born_counts_whole_since_the_previous_sample(void **state) {
    struct fixture *f = *state;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    ROW(f, &net_table, "eth0", 1, 1);
    ROW_NEW(f, &net_table, "early", 9, 9); /* the time before is not known */
    assert_int_equal(fixture_frame(f, 2, 1.1), 0);
    ROW_NEW(f, &net_table, "eth1", 77, 7);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT sum(receive_bytes) FROM net"), 77);
    assert_int_equal(sql_number(f, "SELECT interval_ns FROM net WHERE receive_bytes = 77"),
                     100000000);
}

static void an_unknown_counter_value_leaves_no_false_growth(void **state) {
    struct fixture *f = *state;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    ROW(f, &net_table, "eth0", 100, 1);
    assert_int_equal(fixture_frame(f, 2, 1.1), 0);
    ROW(f, &net_table, "eth0", VALUE_ABSENT, 2);
    assert_int_equal(fixture_frame(f, 3, 1.2), 0);
    ROW(f, &net_table, "eth0", 300, -5);
    assert_int_equal(fixture_frame(f, 4, 1.3), 0);
    ROW(f, &net_table, "eth0", 301, 4);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT sum(receive_bytes) FROM net"), 1);
    assert_int_equal(sql_number(f, "SELECT sum(send_bytes) FROM net"), 1);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM counter_reset"), 0);
}

static void idle_stretches_are_one_row_and_intervals_still_tile_time(void **state) {
    struct fixture *f = *state;
    BEGIN(f);
    for (int i = 0; i <= 40; i++) { /* grows only between 2.0 s and 2.5 s */
        int64_t sent = i < 20 ? 0 : i < 25 ? i - 20 : 5;
        assert_int_equal(fixture_frame(f, 1 + (uint64_t)i, 0.1 * i), 0);
        ROW(f, &net_table, "eth0", 1000, 1000 * sent);
    }
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT sum(send_bytes) FROM net"), 5000);
    assert_int_equal(sql_number(f, "SELECT sum(interval_ns) FROM net"), 4000000000);
    assert_in_range(sql_number(f, "SELECT count(*) FROM net"), 8, 12);
    assert_int_equal(sql_number(f, "SELECT max(interval_ns) FROM net"), 1000000000);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM net_rate WHERE send_bytes_per_s > 9999"
                                   " AND time_s > 2.05 AND time_s < 2.55"),
                     5);
}

/* Rows are inserted some at a time, and the rest of them with the commit. */
static void all_rows_of_a_transaction_are_there_with_their_values(void **state) {
    struct fixture *f = *state;
    for (int n = 1; n < 60; n++) {
        BEGIN(f);
        assert_int_equal(fixture_frame(f, (uint64_t)n, n), 0);
        for (int i = 0; i < n; i++) {
            char name[16];
            snprintf(name, sizeof name, "m%02d", i);
            ROW(f, &memory_table, name, 100 * n + i, i % 3 ? i : VALUE_ABSENT, 7 * n);
        }
        COMMIT(f);
    }
    assert_int_equal(sql_number(f, "SELECT count(*) FROM memory"), 59 * 60 / 2);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM memory m JOIN frame f USING(frame) JOIN"
                                   " instance i USING(instance) WHERE m.free_bytes = 100 * f.seq +"
                                   " substr(i.name, 2) AND coalesce(m.load_nano, 0) IN (0,"
                                   " substr(i.name, 2) + 0) AND coalesce(m.user_ns, 7) = 7"),
                     59 * 60 / 2);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM memory WHERE load_nano IS NULL AND frame"
                                   " = (SELECT max(frame) FROM frame)"),
                     20);
}

static void a_second_row_of_an_instance_in_a_frame_is_dropped_and_counted(void **state) {
    struct fixture *f = *state;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    ROW(f, &net_table, "eth0", 1, 1);
    ROW(f, &net_table, "eth0", 2, 2);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM net"), 1);
    assert_int_equal(sql_number(f, "SELECT dropped_rows FROM stream"), 1);
}

static void a_replay_is_refused_and_counted(void **state) {
    struct fixture *f = *state;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    assert_int_equal(fixture_frame(f, 2, 1.1), 0);
    assert_int_equal(fixture_frame(f, 1, 1.0), -EALREADY);
    assert_int_equal(fixture_frame(f, 2, 1.1), -EALREADY);
    assert_int_equal(store_stream_last_seq(f->store, f->stream), 2);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT frames FROM stream"), 2);
    assert_int_equal(sql_number(f, "SELECT duplicates FROM stream"), 2);
}

static void slots_missed_and_an_agents_restart_are_counted(void **state) {
    struct fixture *f = *state;
    struct frame_head head = {.seq = 1, .mono_ns = NS_PER_S, .wall_ns = RUN_WALL_NS};
    BEGIN(f);
    assert_int_equal(store_frame(f->store, f->stream, &head), 0);
    head.seq = 2;
    head.mono_ns += 300 * NS_PER_MS; /* two slots were skipped, and reported */
    head.missed = 2;
    assert_int_equal(store_frame(f->store, f->stream, &head), 0);
    head.seq = 3;
    head.mono_ns += 5 * NS_PER_S; /* restarted: 49 slots are unknown */
    head.missed = 0;
    assert_int_equal(store_frame(f->store, f->stream, &head), 0);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT missed_slots FROM stream"), 2 + 49);
    assert_int_equal(sql_number(f, "SELECT restarts FROM stream"), 1);
}

/* 500 ms late at 10 Hz: the agent counts its missed slots in its next frame. */
static void a_late_frame_is_no_hole(void **state) {
    struct fixture *f = *state;
    struct frame_head head = {.seq = 1, .mono_ns = NS_PER_S, .wall_ns = RUN_WALL_NS};
    BEGIN(f);
    assert_int_equal(store_frame(f->store, f->stream, &head), 0);
    head.seq = 2;
    head.mono_ns += 600 * NS_PER_MS;
    head.late_ns = 500 * NS_PER_MS;
    assert_int_equal(store_frame(f->store, f->stream, &head), 0);
    head.seq = 3;
    head.mono_ns += 100 * NS_PER_MS;
    head.late_ns = 0;
    head.missed = 5;
    assert_int_equal(store_frame(f->store, f->stream, &head), 0);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT missed_slots FROM stream"), 5);
    assert_int_equal(sql_number(f, "SELECT restarts FROM stream"), 0);
}

static void a_reboot_starts_afresh_and_a_restarted_collector_does_not(void **state) {
    struct fixture *f = *state;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1000.0), 0);
    ROW(f, &net_table, "eth0", 5000, 0);
    COMMIT(f);
    store_close(f->store); /* the collector is restarted */
    fixture_open(f);
    fixture_stream(f, "vm1", BOOT_A, 7);
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 2, 1000.1), 0);
    ROW(f, &net_table, "eth0", 5001, 0);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT sum(receive_bytes) FROM net"), 1);
    fixture_stream(f, "vm1", BOOT_B, 7); /* the host is rebooted */
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 3.0), 0);
    ROW(f, &net_table, "eth0", 9000, 0);
    assert_int_equal(fixture_frame(f, 2, 3.1), 0);
    ROW(f, &net_table, "eth0", 9010, 0);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT sum(receive_bytes) FROM net"), 11);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM counter_reset"), 0);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM host"), 1);
}

struct kept_state {
    uint64_t form, sample, n_columns, age;
    const char *end;
    enum { OF_STREAM, OF_OTHER_FORM, CUT, BY_TABLE } how;
};

/* One row for the stream, in which the table is one of several, or one for the table alone. */
static void frame_state(struct fixture *f, const struct kept_state *kept, const struct buffer *of,
                        struct buffer *ret_blob) {
    if (kept->how != BY_TABLE) {
        buffer_put_u8(ret_blob, kept->how == OF_OTHER_FORM ? 3 : 2);
        buffer_put_varint(ret_blob, 999); /* a table that is unknown */
        buffer_put_varint(ret_blob, kept->how == CUT ? 1 << 20 : 2);
        buffer_put(ret_blob, "xy", 2);
        buffer_put_varint(ret_blob, (uint64_t)sql_number(f, "SELECT table_id FROM table_info"));
        buffer_put_varint(ret_blob, of->size);
    }
    buffer_put(ret_blob, of->data, of->size);
}

/* Plants the blob of state_save for "eth0", with 5000 received and 0 sent, and these values
 * replaced.
 */
static void plant_state(struct fixture *f, const struct kept_state *kept) {
    struct buffer blob = {0}, framed = {0};
    sqlite3 *db;
    sqlite3_stmt *update;
    buffer_put_u8(&blob, (uint8_t)kept->form);
    buffer_put_zigzag(&blob, 1000 * NS_PER_S);
    buffer_put_varint(&blob, kept->sample);
    buffer_put_varint(&blob, kept->n_columns);
    buffer_put_varint(&blob, 1);
    buffer_put_varint(&blob, (uint64_t)sql_number(f, "SELECT max(instance) FROM instance"));
    buffer_put_varint(&blob, kept->age);
    buffer_put_zigzag(&blob, 1000 * NS_PER_S);
    for (uint64_t i = 0; i < kept->n_columns; i++)
        buffer_put_varint(&blob, i ? 1 : 5001);
    buffer_put(&blob, kept->end, strlen(kept->end));
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "UPDATE counter_state SET state = ?, table_id ="
                                        " (SELECT table_id FROM table_info) * ?",
                                        -1, &update, 0),
                     SQLITE_OK);
    frame_state(f, kept, &blob, &framed);
    sqlite3_bind_blob64(update, 1, framed.data, framed.size, SQLITE_STATIC);
    sqlite3_bind_int(update, 2, kept->how == BY_TABLE);
    assert_int_equal(sqlite3_step(update), SQLITE_DONE);
    assert_int_equal(sqlite3_changes(db), 1);
    sqlite3_finalize(update);
    sqlite3_close(db);
    buffer_release(&blob);
    buffer_release(&framed);
}

/* The growth of the first row after a restart, or VALUE_ABSENT if it counts as a first row. */
static int64_t growth_after(struct fixture *f, const struct kept_state *kept, uint64_t seq) {
    store_close(f->store);
    if (kept)
        plant_state(f, kept);
    fixture_open(f);
    fixture_stream(f, "vm1", BOOT_A, 7);
    BEGIN(f);
    assert_int_equal(fixture_frame(f, seq, 1000.0 + 0.1 * (double)seq), 0);
    ROW(f, &net_table, "eth0", 5001, 0);
    COMMIT(f);
    return sql_number(f, "SELECT receive_bytes FROM net ORDER BY frame DESC LIMIT 1");
}

static void a_state_that_does_not_read_back_whole_is_ignored(void **state) {
    static const struct kept_state good[] = {{1, 3, 2, 1, "", OF_STREAM},
                                             {1, 3, 2, 1, "", BY_TABLE}},
                                   bad[] = {{0, 3, 2, 1, "", OF_STREAM},
                                            {2, 3, 2, 1, "", OF_STREAM},
                                            {1, 3, 3, 1, "", OF_STREAM},
                                            {1, 3, 2, 4, "", OF_STREAM},
                                            {1, 3, 2, 1, "x", OF_STREAM},
                                            {1, 3, 2, 1, "\xff", OF_STREAM},
                                            {1, 3, 2, 1, "", OF_OTHER_FORM},
                                            {1, 3, 2, 1, "", CUT},
                                            {1, 3, 2, 1, "x", BY_TABLE}};
    struct fixture *f = *state;
    uint64_t seq = 1;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, seq, 1000.0), 0);
    ROW(f, &net_table, "eth0", 5000, 0);
    COMMIT(f);
    assert_int_equal(growth_after(f, NULL, ++seq), 1);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_int_equal(growth_after(f, &good[i], ++seq), 1);
        assert_int_equal(sql_number(f, "SELECT count(*) FROM counter_state"), 1);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (growth_after(f, &bad[i], ++seq) != VALUE_ABSENT)
            fail_msg("state %zu was taken", i);
}

static void restart(struct fixture *f) {
    store_close(f->store);
    fixture_open(f);
    fixture_stream(f, "vm1", BOOT_A, 7);
}

static void a_table_without_rows_after_a_restart_keeps_its_state(void **state) {
    struct fixture *f = *state;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    ROW(f, &net_table, "eth0", 100, 10);
    ROW(f, &memory_table, "memory", 1, 2, 3000);
    COMMIT(f);
    for (uint64_t seq = 2; seq < 5; seq++) {
        restart(f);
        BEGIN(f);
        assert_int_equal(fixture_frame(f, seq, 1.0 + (double)seq), 0);
        ROW(f, &net_table, "eth0", 100 + (int64_t)seq, 10);
        COMMIT(f);
    }
    restart(f);
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 5, 9.0), 0);
    ROW(f, &memory_table, "memory", 1, 2, 3500);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT user_ns FROM memory ORDER BY frame DESC"), 500);
    assert_int_equal(sql_number(f, "SELECT sum(receive_bytes) FROM net"), 4);
}

static void a_file_that_was_replaced_takes_no_frame(void **state) {
    struct fixture *f = *state;
    char elsewhere[128], other[256];
    snprintf(elsewhere, sizeof elsewhere, "%s/elsewhere.db", f->directory);
    snprintf(other, sizeof other, "cp %s %s", elsewhere, f->path);
    assert_int_equal(rename(f->path, elsewhere), 0);
    assert_int_equal(store_begin(f->store), -ESTALE);
    assert_int_equal(system(other), 0); /* the same content is not the same file */
    assert_int_equal(store_begin(f->store), -ESTALE);
    assert_non_null(strstr(store_error(f->store), "elsewhere.db"));
    assert_int_equal(rename(elsewhere, f->path), 0);
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM frame"), 1);
}

static void a_rollback_leaves_no_trace_in_file_or_memory(void **state) {
    struct fixture *f = *state;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    ROW(f, &net_table, "eth0", 100, 0);
    COMMIT(f);
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 2, 1.1), 0);
    ROW(f, &net_table, "eth0", 900, 0);
    ROW(f, &memory_table, "memory", 1, 1, 1); /* a table was made and removed */
    store_rollback(f->store);
    assert_int_equal(store_stream_last_seq(f->store, f->stream), 1);
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 2, 1.2), 0);
    ROW(f, &net_table, "eth0", 150, 0);
    ROW(f, &memory_table, "memory", 1, 1, 1);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT sum(receive_bytes) FROM net"), 50);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM memory"), 1);
}

static void an_id_from_before_a_rollback_is_refused(void **state) {
    struct fixture *f = *state;
    struct wire_row row = {.name = {"eth0", 4}};
    struct table twin = net_table;
    int64_t before, after;
    twin.name = "twin";
    BEGIN(f);
    assert_int_equal(store_table(f->store, &net_table, &before), 0);
    store_rollback(f->store);
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    assert_int_equal(store_row(f->store, before, &net_table, &row), -EINVAL);
    assert_int_equal(store_table(f->store, &twin, &after), 0); /* in place of the old one */
    assert_int_equal(store_row(f->store, before, &net_table, &row), -EINVAL);
    store_rollback(f->store);
}

static void a_new_column_joins_the_table_and_its_view(void **state) {
    struct fixture *f = *state;
    struct column wider[3] = {{"drops", UNIT_EVENTS, COLUMN_COUNTER, "new"}};
    memcpy(wider + 1, net_columns, sizeof net_columns);
    struct table later = net_table;
    later.columns = wider;
    later.n_columns = 3;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    ROW(f, &net_table, "eth0", 100, 10);
    assert_int_equal(fixture_frame(f, 2, 2.0), 0);
    ROW(f, &later, "eth0", 7, 200, 20);
    assert_int_equal(fixture_frame(f, 3, 3.0), 0);
    ROW(f, &later, "eth0", 9, 300, 30);
    assert_int_equal(fixture_frame(f, 4, 4.0), 0);
    ROW(f, &net_table, "eth0", 400, 40);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT sum(receive_bytes) FROM net"), 300);
    assert_int_equal(sql_number(f, "SELECT sum(drops) FROM net"), 2);
    assert_int_equal(sql_number(f, "SELECT drops_per_s FROM net_rate WHERE drops_per_s > 0"), 2);
}

static void names_with_another_meaning_are_refused(void **state) {
    struct fixture *f = *state;
    static const char *const taken[] = {"run",      "host",     "frame",    "counter_state",
                                        "run_host", "sqlite_x", "net_rate", "frame_of_stream"};
    struct column other = {"receive_bytes", UNIT_EVENTS, COLUMN_COUNTER, ""};
    struct table table = net_table;
    int64_t id;
    BEGIN(f);
    assert_int_equal(store_table(f->store, &net_table, &id), 0);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        table.name = taken[i];
        assert_int_equal(store_table(f->store, &table, &id), -EEXIST);
        assert_non_null(strstr(store_error(f->store), taken[i]));
    }
    table = net_table;
    table.kind = TABLE_EVENTS;
    assert_int_equal(store_table(f->store, &table, &id), -EEXIST);
    table = (struct table){.name = "net", .instance = "x", .columns = &other, .n_columns = 1};
    assert_int_equal(store_table(f->store, &table, &id), -EEXIST);
    table.name = "own";
    other.name = "interval_ns";
    assert_int_equal(store_table(f->store, &table, &id), -EEXIST);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM table_info"), 1);
}

static void keywords_are_names_like_any_other(void **state) {
    struct fixture *f = *state;
    static const struct column columns[] = {{"select", UNIT_EVENTS, COLUMN_COUNTER, "it's"},
                                            {"time_s", UNIT_NONE, COLUMN_LEVEL, ""}};
    struct table table = {.name = "group",
                          .instance = "order",
                          .help = "a \"quoted\" help",
                          .columns = columns,
                          .n_columns = 2};
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    ROW(f, &table, "x", 1, 2);
    assert_int_equal(fixture_frame(f, 2, 2.0), 0);
    ROW(f, &table, "x", 4, 2);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT select_per_s FROM group_rate WHERE interval_s = 1"), 3);
}

static void hostile_instance_names_are_only_text(void **state) {
    struct fixture *f = *state;
    static const char *const names[] = {"'; DROP TABLE net; --", "\"", "eth\xc3\xa9 \xe2\x82\xac",
                                        "%s%n", "NULL"};
    char longest[INSTANCE_MAX + 1];
    memset(longest, 'x', INSTANCE_MAX);
    longest[INSTANCE_MAX] = '\0';
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ROW(f, &net_table, names[i], 1, 2);
    ROW(f, &net_table, longest, 1, 2);
    ROW(f, &net_table, "bad\nname", 1, 2);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM net_rate"), 6);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM instance WHERE name LIKE '%DROP%'"), 1);
    assert_int_equal(sql_number(f, "SELECT dropped_rows FROM stream"), 1);
}

static void events_of_one_instance_keep_their_order(void **state) {
    struct fixture *f = *state;
    static const struct column columns[] = {{"number", UNIT_NONE, COLUMN_LEVEL, ""},
                                            {"value_nano", UNIT_NANO, COLUMN_LEVEL, ""}};
    struct table table = {.name = "mark",
                          .instance = "name",
                          .help = "",
                          .kind = TABLE_EVENTS,
                          .columns = columns,
                          .n_columns = 2};
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    ROW(f, &table, "step", 3, 500000000);
    ROW(f, &table, "step", 3, 500000000);
    ROW(f, &table, "test", 9, VALUE_ABSENT);
    assert_int_equal(fixture_frame(f, 2, 1.1), 0);
    ROW(f, &table, "step", 4, INT64_MAX);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM mark_rate WHERE name = 'step'"), 3);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM mark_rate WHERE value = 0.5 AND n < 2"),
                     2);
}

static void absurd_frames_are_refused_and_overflow_nothing(void **state) {
    struct fixture *f = *state;
    struct frame_head head = {.seq = 1, .mono_ns = INT64_MAX, .wall_ns = INT64_MAX};
    BEGIN(f);
    assert_int_equal(store_frame(f->store, f->stream, &head), 0);
    ROW(f, &net_table, "eth0", INT64_MAX, 0);
    head.seq = 2;
    head.mono_ns = 0;
    assert_int_equal(store_frame(f->store, f->stream, &head), 0);
    ROW(f, &net_table, "eth0", 0, INT64_MAX);
    head = (struct frame_head){.seq = 3, .mono_ns = INT64_MAX, .missed = UINT64_C(1) << 53};
    assert_int_equal(store_frame(f->store, f->stream, &head), 0);
    ROW(f, &net_table, "eth0", INT64_MAX, INT64_MAX);
    head = (struct frame_head){.seq = INT64_MAX,
                               .mono_ns = 1,
                               .late_ns = INT64_MIN,
                               .missed = INT64_MAX,
                               .lost = INT64_MAX};
    assert_int_equal(store_frame(f->store, f->stream, &head), 0);
    ROW(f, &net_table, "eth0", INT64_MIN, -1);
    head.seq = UINT64_MAX;
    assert_int_equal(store_frame(f->store, f->stream, &head), -EINVAL);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM net"), 4);
}

static void thousands_of_instances_are_each_found_again(void **state) {
    struct fixture *f = *state;
    char name[32];
    BEGIN(f);
    for (int64_t round = 0; round < 3; round++) {
        assert_int_equal(fixture_frame(f, 1 + (uint64_t)round, 1.0 + (double)round), 0);
        for (int64_t i = 0; i < 3000; i++) {
            int64_t k = round % 2 ? 2999 - i : i;
            snprintf(name, sizeof name, "p[%d]", (int)k);
            ROW(f, &net_table, name, 10 * k + round * k, 1);
        }
    }
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT sum(receive_bytes) FROM net"), 2999 * 3000);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM instance"), 3000);
}

/* Two collectors record into one file at once, and their agents have different columns. */
static void two_writers_share_a_file(void **state) {
    struct fixture *f = *state, other = *f;
    struct column wider[3] = {{"drops", UNIT_EVENTS, COLUMN_COUNTER, "new"}};
    struct table later = net_table;
    struct run_begin begin = {.command = "other", .period_ns = 100 * NS_PER_MS};
    memcpy(wider + 1, net_columns, sizeof net_columns);
    later.columns = wider;
    later.n_columns = 3;
    fixture_open(&other);
    assert_int_equal(store_run_begin(other.store, &begin, &other.run), 0);
    fixture_stream(&other, "vm1", BOOT_A, 7);
    for (int64_t i = 0; i < 5; i++) {
        BEGIN(f);
        assert_int_equal(fixture_frame(f, 1 + (uint64_t)i, 1.0 + (double)i), 0);
        ROW(f, &net_table, "eth0", 10 * i, i);
        COMMIT(f);
        BEGIN(&other);
        assert_int_equal(fixture_frame(&other, 1 + (uint64_t)i, 1.0 + (double)i), 0);
        ROW(&other, &later, "eth0", i, 1000 * i, i);
        COMMIT(&other);
    }
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 6, 6.0), 0);
    ROW(f, &later, "eth0", 0, 50, 5); /* the first writer meets the column that the other added */
    COMMIT(f);
    store_close(other.store);
    assert_int_equal(sql_number(f, "SELECT sum(receive_bytes) FROM net"), 50 + 4000);
    assert_int_equal(sql_number(f, "SELECT sum(drops) FROM net"), 4);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM frame"), 11);
}

static void a_closed_database_is_one_plain_file(void **state) {
    struct fixture *f = *state;
    char path[128];
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    COMMIT(f);
    snprintf(path, sizeof path, "%s-wal", f->path);
    assert_int_equal(access(path, F_OK), 0);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(access(path, F_OK), -1);
    FILE *file = fopen(f->path, "rb");
    unsigned char head[20];
    assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
    fclose(file);
    assert_int_equal(head[18], 1); /* readable without a log: 2 would mean WAL */
    assert_int_equal(head[19], 1);
}

/* Limits the file to so many pages, as a full disk would. */
static void store_limit_pages(struct store *store, int pages) {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA max_page_count = %d", pages);
    assert_int_equal(sql_exec(store, sql), 0);
}

static void a_full_disk_fails_the_transaction_and_no_more(void **state) {
    struct fixture *f = *state;
    char name[32];
    int r = 0;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    ROW(f, &net_table, "eth0", 100, 0);
    COMMIT(f);
    store_limit_pages(f->store, 40);
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 2, 1.1), 0);
    for (int i = 0; !r && i < 100000; i++) {
        snprintf(name, sizeof name, "instance %d", i);
        r = fixture_row_flags(f, &net_table, 0, name, (const int64_t[]){i, i});
    }
    assert_int_equal(r, -ENOSPC);
    store_rollback(f->store);
    store_limit_pages(f->store, 1 << 30);
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 2, 1.1), 0);
    ROW(f, &net_table, "eth0", 107, 0);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT sum(receive_bytes) FROM net"), 7);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM instance"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(counters_are_stored_as_growth_and_levels_as_they_are),
        TEST(a_lost_frame_costs_resolution_and_not_the_sum),
        TEST(a_counter_that_steps_back_began_again_at_zero),
        TEST(what_is_born_counts_whole_since_the_previous_sample),
        TEST(an_unknown_counter_value_leaves_no_false_growth),
        TEST(idle_stretches_are_one_row_and_intervals_still_tile_time),
        TEST(all_rows_of_a_transaction_are_there_with_their_values),
        TEST(a_second_row_of_an_instance_in_a_frame_is_dropped_and_counted),
        TEST(a_replay_is_refused_and_counted),
        TEST(slots_missed_and_an_agents_restart_are_counted),
        TEST(a_late_frame_is_no_hole),
        TEST(a_reboot_starts_afresh_and_a_restarted_collector_does_not),
        TEST(a_state_that_does_not_read_back_whole_is_ignored),
        TEST(a_table_without_rows_after_a_restart_keeps_its_state),
        TEST(a_file_that_was_replaced_takes_no_frame),
        TEST(a_rollback_leaves_no_trace_in_file_or_memory),
        TEST(an_id_from_before_a_rollback_is_refused),
        TEST(a_new_column_joins_the_table_and_its_view),
        TEST(names_with_another_meaning_are_refused),
        TEST(keywords_are_names_like_any_other),
        TEST(hostile_instance_names_are_only_text),
        TEST(events_of_one_instance_keep_their_order),
        TEST(absurd_frames_are_refused_and_overflow_nothing),
        TEST(two_writers_share_a_file),
        TEST(a_closed_database_is_one_plain_file),
        TEST(a_full_disk_fails_the_transaction_and_no_more),
        TEST(thousands_of_instances_are_each_found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
