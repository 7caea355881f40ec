/* SPDX-License-Identifier: MIT */
/* Rows become samples of series: counters that begin at 0, sums over cores, ends, and limits. */
#include "tests/unit/store_fixture.h"

#include "cli/remote/series.h"
#include "common/error.h"

#define HOSTILE "a\"b\\c\xc3\xa9{}"

static const struct remote_run run = {7, "train", "train --fast \"x\""};

struct set {
    struct fixture *f;
    struct store *reader;
    struct store_follow *follow;
    struct remote_set *series;
    int64_t until;
    const struct table *tables[REMOTE_TABLES];
};

static void open_set(struct set *set, struct fixture *f) {
    static struct remote_table tables[REMOTE_TABLES];
    *set = (struct set){.f = f};
    remote_tables_fill(tables);
    for (size_t t = 0; t < REMOTE_TABLES; t++)
        set->tables[t] = tables[t].table;
    assert_int_equal(store_open_read(f->path, &set->reader, f->why, sizeof f->why), 0);
    assert_int_equal(
        store_follow_open(set->reader, f->run, set->tables, REMOTE_TABLES, &set->follow), 0);
    assert_non_null(set->series = remote_new(&run, set->follow));
}

static void close_set(struct set *set) {
    remote_free(set->series);
    store_follow_close(set->follow);
    store_close(set->reader);
}

static void take_all(struct set *set) {
    assert_int_equal(
        store_follow_next(set->follow, set->until, 1000, remote_take, set->series, &set->until), 0);
    assert_int_equal(remote_taken(set->series), 0);
}

static void begin_frame(struct fixture *f, uint64_t seq, double t) {
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(fixture_frame(f, seq, t), 0);
}

/* The series of that name with a label of that value; NULL: none. */
static const struct message_series *find(struct set *set, const char *name, const char *value) {
    const struct message_series *list;
    size_t n = remote_list(set->series, &list);
    for (size_t i = 0; i < n; i++) {
        bool named = false, valued = !value;
        for (size_t l = 0; l < list[i].n_labels; l++) {
            named |= strcmp(list[i].labels[l].name, "__name__") == 0 &&
                     strcmp(list[i].labels[l].value, name) == 0;
            valued |= value && strcmp(list[i].labels[l].value, value) == 0;
            assert_true(l == 0 || strcmp(list[i].labels[l - 1].name, list[i].labels[l].name) < 0);
        }
        if (named && valued)
            return &list[i];
    }
    return NULL;
}

#define FIRST_MS (RUN_WALL_NS / NS_PER_MS + 100000)

static void put_cpu(struct fixture *f, const char *core, int64_t user_ns) {
    const struct table *table = &all_tables[TABLE_CPU];
    int64_t values[CPU_COLUMNS] = {user_ns};
    values[CPU_IDLE] = user_ns / 6;
    values[CPU_OUTSIDE] = VALUE_ABSENT;
    assert_int_equal(fixture_row_flags(f, table, 0, core, values), 0);
}

static void plan_cores(struct fixture *f) {
    for (uint64_t i = 0; i < 3; i++) {
        begin_frame(f, i + 1, 100 + (double)i);
        put_cpu(f, "cpu0", 1000 + (int64_t)i * 500000000);
        put_cpu(f, "cpu1", 5000 + (int64_t)i * 250000000);
        assert_int_equal(store_commit(f->store), 0);
    }
}

static void cores_are_one_counter_that_begins_at_zero(void **state) {
    struct set set;
    plan_cores(*state);
    open_set(&set, *state);
    take_all(&set);
    const struct message_series *user = find(&set, "chokepoint_cpu_user_seconds_total", "all");
    assert_non_null(user);
    assert_int_equal(user->n_labels, 3);
    assert_int_equal(user->n_samples, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(user->samples[i].ms, FIRST_MS + (int64_t)i * 1000);
        assert_true(user->samples[i].value == 0.75 * (double)i);
    }
    const struct message_series *busy = find(&set, "chokepoint_cpu_busy_seconds_total", "vm1"),
                                *passed = find(&set, "chokepoint_cpu_passed_seconds_total", "vm1");
    assert_true(busy->n_samples == 3 && passed->n_samples == 3);
    assert_true(busy->samples[2].value == 1.5 && passed->samples[2].value == 1.75);
    assert_null(find(&set, "chokepoint_cpu_outside_seconds_total", NULL));
    assert_null(find(&set, "chokepoint_cpu_user_seconds_total", "cpu0"));
    close_set(&set);
}

static void info_is_a_series_of_its_own_and_no_label_of_others(void **state) {
    struct set set;
    plan_cores(*state);
    open_set(&set, *state);
    take_all(&set);
    const struct message_series *info = find(&set, "chokepoint_run_info", "vm1");
    assert_int_equal(info->n_labels, 5);
    assert_int_equal(info->n_samples, 1); /* one each 15 s */
    assert_true(info->samples[0].value == 1);
    assert_ptr_equal(find(&set, "chokepoint_run_info", "7"), info);
    assert_ptr_equal(find(&set, "chokepoint_run_info", "train --fast \"x\""), info);
    close_set(&set);
}

static void names_with_quotes_are_labels_as_they_are(void **state) {
    struct fixture *f = *state;
    struct set set;
    plan_cores(f); /* of another host */
    fixture_stream(f, HOSTILE, BOOT_B, 8);
    for (uint64_t i = 1; i <= 2; i++) {
        begin_frame(f, i, 100 + (double)i);
        int64_t values[NET_COLUMNS] = {(int64_t)i * 1000};
        assert_int_equal(fixture_row_flags(f, &all_tables[TABLE_NET], 0, "e\"0", values), 0);
        assert_int_equal(store_commit(f->store), 0);
    }
    open_set(&set, f);
    take_all(&set);
    const struct message_series *bytes = find(&set, "chokepoint_net_receive_bytes_total", HOSTILE);
    assert_non_null(bytes);
    assert_ptr_equal(find(&set, "chokepoint_net_receive_bytes_total", "e\"0"), bytes);
    assert_true(bytes->samples[1].value == 1000);
    close_set(&set);
}

static void ends_are_marked_once_and_undone_by_samples(void **state) {
    struct fixture *f = *state;
    struct set set;
    plan_cores(f);
    open_set(&set, f);
    take_all(&set);
    remote_clear(set.series);
    assert_int_equal(remote_end(set.series, FIRST_MS + 2000), 0); /* not older than that */
    assert_null(find(&set, "chokepoint_cpu_user_seconds_total", NULL));
    for (int i = 0; i < 2; i++)
        assert_int_equal(remote_end(set.series, FIRST_MS + 2001), 0);
    const struct message_series *user = find(&set, "chokepoint_cpu_user_seconds_total", NULL);
    assert_int_equal(user->n_samples, 1);
    assert_int_equal(user->samples[0].ms, FIRST_MS + 2001);
    const double stale = message_stale();
    assert_memory_equal(&user->samples[0].value, &stale, sizeof stale);
    assert_int_equal(find(&set, "chokepoint_run_info", NULL)->samples[0].ms, FIRST_MS + 2001);
    remote_clear(set.series);
    begin_frame(f, 4, 103);
    put_cpu(f, "cpu0", 2000000000);
    assert_int_equal(store_commit(f->store), 0);
    take_all(&set);
    assert_int_equal(remote_end(set.series, INT64_MAX), 0);
    user = find(&set, "chokepoint_cpu_user_seconds_total", NULL);
    assert_int_equal(user->n_samples, 2);
    assert_int_equal(find(&set, "chokepoint_run_info", NULL)->n_samples, 2);
    close_set(&set);
}

static void restored_set_goes_on_with_the_same_numbers(void **state) {
    struct fixture *f = *state;
    struct set set, again;
    struct buffer memory = {0};
    plan_cores(f);
    open_set(&set, f);
    take_all(&set);
    remote_save(set.series, &memory);
    open_set(&again, f);
    struct cursor from = {memory.data, memory.data + memory.size, false};
    assert_int_equal(remote_restore(again.series, &from), 0);
    assert_true(from.p == from.end);
    assert_int_equal(remote_count(again.series), remote_count(set.series));
    again.until = set.until;
    begin_frame(f, 4, 103);
    put_cpu(f, "cpu0", 1000 + 2000000000);
    put_cpu(f, "cpu1", 5000 + 500000000);
    assert_int_equal(store_commit(f->store), 0);
    take_all(&again);
    const struct message_series *user = find(&again, "chokepoint_cpu_user_seconds_total", NULL);
    assert_int_equal(user->n_samples, 1);
    assert_true(user->samples[0].value == 2.5);
    for (size_t size = 0; size < memory.size; size++) { /* cut short */
        struct set cut;
        open_set(&cut, f);
        from = (struct cursor){memory.data, memory.data + size, false};
        assert_int_equal(remote_restore(cut.series, &from), -EBADMSG);
        close_set(&cut);
    }
    buffer_release(&memory);
    close_set(&set);
    close_set(&again);
}

static void host_has_no_more_series_than_its_room(void **state) {
    struct fixture *f = *state;
    struct set set;
    const char *host;
    for (uint64_t i = 1; i <= 2; i++) {
        begin_frame(f, i, 100 + (double)i);
        for (int n = 0; n < 100; n++) {
            char name[16];
            int64_t values[NET_COLUMNS] = {(int64_t)i * 1000};
            snprintf(name, sizeof name, "veth%d", n);
            assert_int_equal(fixture_row_flags(f, &all_tables[TABLE_NET], 0, name, values), 0);
        }
        put_cpu(f, "cpu0", 1000 * (int64_t)i);
        assert_int_equal(store_commit(f->store), 0);
    }
    open_set(&set, f);
    take_all(&set);
    assert_in_range(remote_count(set.series), 250, REMOTE_SERIES_MAX);
    assert_true(remote_left_out(set.series, &host) > 0);
    assert_string_equal(host, "vm1");
    assert_non_null(find(&set, "chokepoint_cpu_user_seconds_total", NULL));
    assert_non_null(find(&set, "chokepoint_net_receive_bytes_total", "veth0"));
    assert_null(find(&set, "chokepoint_net_receive_bytes_total", "veth99"));
    close_set(&set);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(cores_are_one_counter_that_begins_at_zero),
        TEST(info_is_a_series_of_its_own_and_no_label_of_others),
        TEST(names_with_quotes_are_labels_as_they_are),
        TEST(ends_are_marked_once_and_undone_by_samples),
        TEST(restored_set_goes_on_with_the_same_numbers),
        TEST(host_has_no_more_series_than_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
