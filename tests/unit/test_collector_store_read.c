/* SPDX-License-Identifier: MIT */
/* Reading: what the analysis gets of a run, and that a hostile file does no harm. */
#include "tables/tables.h"
#include "tests/unit/files.h"
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#include "collector/store_read_tables.h"
#include "collector/store_scan.h"

#define BEGIN(f) assert_int_equal(store_begin((f)->store), 0)
#define COMMIT(f) assert_int_equal(store_commit((f)->store), 0)

struct seen {
    int64_t host[64], t_ns[64], interval_ns[64], value[64];
    char name[64][16];
    size_t n;
    int stop_at;
};

static int see(void *ctx, const struct store_row_read *row) {
    struct seen *seen = ctx;
    if (seen->stop_at && (int)seen->n + 1 == seen->stop_at)
        return -ECANCELED;
    if (seen->n < 64) {
        seen->host[seen->n] = row->host;
        seen->t_ns[seen->n] = row->t_ns;
        seen->interval_ns[seen->n] = row->interval_ns;
        seen->value[seen->n] = row->values[0];
        snprintf(seen->name[seen->n], sizeof seen->name[0], "%s", row->instance_name);
    }
    seen->n++;
    return 0;
}

static int read_net(struct fixture *f, struct seen *seen) {
    static const char *const columns[] = {"receive_bytes", "no_such_column", "; DROP"};
    struct store *reader;
    *seen = (struct seen){.stop_at = seen->stop_at};
    int r = store_open_read(f->path, &reader, f->why, sizeof f->why);
    if (r)
        return r;
    r = store_each_row(reader, f->run, "net", columns, 3, see, seen);
    store_close(reader);
    return r;
}

/* Two hosts, two interfaces each, three frames, interleaved; vm2's monotonic clock is 100 s ahead.
 */
static void write_two_hosts(struct fixture *f) {
    int64_t streams[2];
    streams[0] = f->stream;
    fixture_stream(f, "vm2", BOOT_B, 9);
    streams[1] = f->stream;
    BEGIN(f);
    for (int i = 0; i < 3; i++) {
        for (int h = 0; h < 2; h++) {
            f->stream = streams[h];
            assert_int_equal(fixture_frame(f, 1 + (uint64_t)i, i + 1 + 100 * h), 0);
            ROW(f, &net_table, "lo", 10 * i, 0);
            ROW(f, &net_table, "eth0", 1000 * i, 0);
        }
    }
    for (int64_t s = 1; s <= 3; s++) {
        const struct clock_estimate exchanges[] = {
            {s * NS_PER_S, RUN_MONO_NS + 7, 100},
            {(100 + s) * NS_PER_S, RUN_MONO_NS - 100 * NS_PER_S, 300}};
        assert_int_equal(store_clock(f->store, streams[0], &exchanges[0]), 0);
        assert_int_equal(store_clock(f->store, streams[1], &exchanges[1]), 0);
    }
    COMMIT(f);
}

static void rows_come_by_host_instance_and_time_on_one_clock(void **state) {
    struct fixture *f = *state;
    struct seen seen = {0};
    write_two_hosts(f);
    assert_int_equal(read_net(f, &seen), 0);
    assert_int_equal(seen.n, 12);
    for (size_t i = 0; i < 12; i++) {
        assert_int_equal(seen.host[i], i < 6 ? seen.host[0] : seen.host[6]);
        assert_string_equal(seen.name[i], i / 3 % 2 ? "eth0" : "lo");
        /* vm1's clock is 7 ns off the wall clock */
        assert_int_equal(seen.t_ns[i], (int64_t)(i % 3 + 1) * NS_PER_S + (i < 6 ? 7 : 0));
        assert_int_equal(seen.interval_ns[i], i % 3 ? NS_PER_S : VALUE_ABSENT);
        assert_int_equal(seen.value[i], i % 3 == 0 ? VALUE_ABSENT : i / 3 % 2 ? 1000 : 10);
    }
    assert_true(seen.host[0] != seen.host[6]);
}

static void the_reader_of_rows_may_stop(void **state) {
    struct fixture *f = *state;
    struct seen seen = {.stop_at = 4};
    write_two_hosts(f);
    assert_int_equal(read_net(f, &seen), -ECANCELED);
    assert_int_equal(seen.n, 3);
}

/* ---- looks at processes ---- */

static void looks_at_processes_count_whatever_their_rows_are_apart(void **state) {
    struct fixture *f = *state;
    const int64_t samples_until[] = {1, 2, 12};
    int64_t n = 0;
    assert_int_equal(store_begin(f->store), 0);
    for (size_t i = 0; i < 3; i++) {
        int64_t values[TABLE_COLUMNS_MAX] = {[SELF_SAMPLES] = samples_until[i]};
        assert_int_equal(fixture_frame(f, 1 + i, 10.0 + (double)samples_until[i]), 0);
        fixture_row_flags(f, &all_tables[TABLE_SELF], 0, "process", values);
        fixture_row_flags(f, &all_tables[TABLE_SELF], 0, "cpu", values);
    }
    assert_int_equal(store_commit(f->store), 0);
    assert_int_equal(store_run_scans(f->store, f->run, &n), 0);
    assert_int_equal(n, 12);
    fixture_stream(f, "vm2", BOOT_B, 8); /* nothing came of it */
    assert_int_equal(store_run_scans(f->store, f->run, &n), 0);
    assert_int_equal(n, 0);
}

/* ---- scans ---- */

struct scanned {
    struct seen seen;
    size_t slot[64];
};

static int see_scanned(void *ctx, size_t slot, const struct store_row_read *row) {
    struct scanned *scanned = ctx;
    if (scanned->seen.n < 64)
        scanned->slot[scanned->seen.n] = slot;
    return see(&scanned->seen, row);
}

static int scan_net(struct fixture *f, struct scanned *scanned) {
    static const char *const columns[] = {"receive_bytes", "no_such_column", "; DROP"};
    struct store *reader;
    struct store_scan *scan;
    *scanned = (struct scanned){.seen.stop_at = scanned->seen.stop_at};
    assert_int_equal(store_open_read(f->path, &reader, f->why, sizeof f->why), 0);
    int r = store_scan_open(reader, f->run, &scan);
    if (!r) {
        r = store_scan_table(scan, "net", columns, 3, see_scanned, scanned);
        store_scan_close(scan);
    }
    store_close(reader);
    return r;
}

/* In the order of slots, and within a slot as they came. */
static void expect_rows_of_slots(const struct scanned *scanned, const struct seen *rows) {
    size_t n = 0;
    assert_int_equal(scanned->seen.n, rows->n);
    for (size_t slot = 0; slot < 64; slot++)
        for (size_t i = 0; i < rows->n; i++) {
            if (scanned->slot[i] != slot)
                continue;
            assert_int_equal(scanned->seen.host[i], rows->host[n]);
            assert_int_equal(scanned->seen.t_ns[i], rows->t_ns[n]);
            assert_int_equal(scanned->seen.interval_ns[i], rows->interval_ns[n]);
            assert_int_equal(scanned->seen.value[i], rows->value[n]);
            assert_string_equal(scanned->seen.name[i], rows->name[n++]);
        }
    assert_int_equal(n, rows->n);
}

static void a_scan_gives_the_same_rows(void **state) {
    struct fixture *f = *state;
    struct scanned scanned = {0};
    struct seen rows = {0};
    write_two_hosts(f);
    assert_int_equal(scan_net(f, &scanned), 0);
    assert_int_equal(read_net(f, &rows), 0);
    assert_int_equal(rows.n, 12);
    expect_rows_of_slots(&scanned, &rows);
    scanned.seen.stop_at = 4;
    assert_int_equal(scan_net(f, &scanned), -ECANCELED);
    struct run_begin other = {.command = "other"};
    assert_int_equal(store_run_begin(f->store, &other, &f->run), 0);
    assert_int_equal(scan_net(f, &scanned), -ENOENT);
}

#define MANY 30000

static int see_many(void *ctx, size_t slot, const struct store_row_read *row) {
    int64_t *t_ns = ctx;
    assert_in_range(slot, 0, MANY - 1);
    assert_int_equal(atoi(row->instance_name + 1), (int)slot);
    assert_int_equal(row->t_ns, t_ns[slot] + NS_PER_S);
    t_ns[slot] = row->t_ns;
    return 0;
}

/* More rows than one batch. */
static void a_scan_of_many_instances_gives_each_in_the_order_of_time(void **state) {
    static const char *const column = "receive_bytes";
    struct fixture *f = *state;
    struct store_scan *scan;
    int64_t *t_ns = calloc(MANY, sizeof *t_ns);
    char name[16];
    BEGIN(f);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(fixture_frame(f, (uint64_t)i, i), 0);
        for (int n = 0; n < MANY; n++) {
            snprintf(name, sizeof name, "i%d", n);
            ROW(f, &net_table, name, i + n, 0);
        }
    }
    COMMIT(f);
    assert_int_equal(store_scan_open(f->store, f->run, &scan), 0);
    assert_int_equal(store_scan_table(scan, "net", &column, 1, see_many, t_ns), 0);
    store_scan_close(scan);
    for (int n = 0; n < MANY; n++)
        assert_int_equal(t_ns[n], 3 * NS_PER_S);
    free(t_ns);
}

static void a_scan_passes_over_another_runs_rows(void **state) {
    struct fixture *f = *state;
    struct run_begin other = {.command = "other", .wall_ns = RUN_WALL_NS, .mono_ns = RUN_MONO_NS};
    struct scanned scanned = {0};
    struct seen rows = {0};
    int64_t streams[2] = {f->stream, 0}, run = f->run;
    assert_int_equal(store_run_begin(f->store, &other, &f->run), 0);
    fixture_stream(f, "vm1", BOOT_A, 7);
    streams[1] = f->stream;
    f->run = run;
    BEGIN(f);
    for (int i = 0; i < 6; i++) { /* another run's rows alternate with the run's */
        f->stream = streams[i % 2];
        assert_int_equal(fixture_frame(f, 1 + (uint64_t)i / 2, 1 + i / 2), 0);
        ROW(f, &net_table, "lo", i % 2 ? 777 * i : 10 * i, 0);
    }
    COMMIT(f);
    assert_int_equal(scan_net(f, &scanned), 0);
    assert_int_equal(read_net(f, &rows), 0);
    assert_int_equal(rows.n, 3);
    assert_int_equal(rows.value[1], 20);
    expect_rows_of_slots(&scanned, &rows);
}

/* A host was rebooted, and rows of its first boot came in between. */
static void a_scan_of_boots_in_turn_says_that_they_are_mixed(void **state) {
    struct fixture *f = *state;
    struct scanned scanned = {0};
    int64_t streams[2] = {f->stream, 0};
    fixture_stream(f, "vm1", BOOT_B, 9);
    streams[1] = f->stream;
    BEGIN(f);
    for (int i = 0; i < 4; i++) {
        f->stream = streams[i % 2];
        assert_int_equal(fixture_frame(f, 1 + (uint64_t)i / 2, 1 + i), 0);
        ROW(f, &net_table, "lo", 10 * i, 0);
    }
    COMMIT(f);
    assert_int_equal(scan_net(f, &scanned), STORE_SCAN_MIXED);
}

static void a_scan_of_a_file_that_means_harm_ends(void **state) {
    struct fixture *f = *state;
    struct scanned scanned = {0};
    write_two_hosts(f);
    store_close(f->store);
    f->store = NULL;
    sql_change(f, "DROP TABLE net; CREATE TABLE net(frame, instance, interval_ns, receive_bytes);"
                  "INSERT INTO net VALUES(5, 1, 1, 1), (1, 1, 'x', 'text'), (1.5, 1, 1, 1),"
                  " (-9, 1, 1, 1), (5, -1, 1, 1), (NULL, 'a', 1, 1), ('x', 1, 1, 1)");
    assert_int_equal(scan_net(f, &scanned), STORE_SCAN_MIXED);
    sql_change(f, "UPDATE stream SET clock_offset_ns = 9223372036854775807;"
                  "DELETE FROM clock_piece; INSERT INTO frame VALUES(-9223372036854775808, 1, 1, 1,"
                  " 1, 1, 1, 1), (9223372036854775807, 1, 1, 9223372036854775807, 1, 1, 1, 1)");
    int r = scan_net(f, &scanned);
    assert_true(r == 0 || r == STORE_SCAN_MIXED);
}

/* A quarter of an hour on a host whose clock drifts by 100 ppm: over several windows. */
#define DRIFT_S 900
static int64_t drifting_offset(int64_t mono_ns) {
    return RUN_MONO_NS - 5 * NS_PER_S + mono_ns / 10000;
}

static void write_drifting_host(struct fixture *f, bool reopen) {
    for (int64_t s = 1; s <= DRIFT_S; s++) {
        const struct clock_estimate exchange = {
            s * NS_PER_S + 1000, drifting_offset(s * NS_PER_S) + 9000 * (s % 3 - 1), 40000};
        if (reopen && s % 100 == 50) { /* the collector was killed and restarted */
            store_close(f->store);
            fixture_open(f);
            fixture_stream(f, "vm1", BOOT_A, 7);
        }
        BEGIN(f);
        assert_int_equal(fixture_frame(f, (uint64_t)s, (double)s), 0);
        ROW(f, &net_table, "lo", 10 * s, 0);
        assert_int_equal(store_clock(f->store, f->stream, &exchange), 0);
        COMMIT(f);
    }
}

static int see_drifting(void *ctx, const struct store_row_read *row) {
    double *worst = ctx;
    int64_t s = (row->t_ns + NS_PER_S / 2 + 5 * NS_PER_S) / NS_PER_S, mono = s * NS_PER_S;
    int64_t truth = mono + drifting_offset(mono) - RUN_MONO_NS;
    *worst = fmax(*worst, fabs((double)(row->t_ns - truth)));
    /* A mark from long before, and an impossible time. */
    mono -= s > 300 ? 300 * NS_PER_S : 0;
    truth = mono + drifting_offset(mono) - RUN_MONO_NS;
    *worst = fmax(*worst, fabs((double)(store_row_time(row, mono) - truth)));
    assert_int_equal(store_row_time(row, VALUE_ABSENT), VALUE_ABSENT);
    return 0;
}

static void expect_drifting_host(struct fixture *f) {
    static const char *const columns[] = {"send_bytes"};
    double worst = 0;
    struct store_host *hosts;
    size_t n;
    assert_int_equal(store_each_row(f->store, f->run, "net", columns, 1, see_drifting, &worst), 0);
    assert_true(worst < 30000);
    assert_int_equal(store_list_hosts(f->store, f->run, &hosts, &n), 0);
    assert_true(fabs(hosts[0].clock_drift_ppm - 100) < 0.5);
    assert_in_range(hosts[0].clock_error_ns, worst, 100000);
    assert_true(llabs(hosts[0].clock_offset_ns - drifting_offset(NS_PER_S)) < 30000);
    store_hosts_free(hosts, n);
    assert_in_range(sql_number(f, "SELECT count(*) FROM clock_piece"), 2, 40);
    /* Each piece begins where the one before ends. */
    assert_int_equal(sql_number(f, "SELECT count(*) FROM (SELECT offset_ns + (lead(at_ns) OVER w -"
                                   " at_ns) * drift_ppm / 1e6 - lead(offset_ns) OVER w AS gap"
                                   " FROM clock_piece WINDOW w AS (ORDER BY from_ns))"
                                   " WHERE abs(gap) > 3"),
                     0);
    /* SQL gives the same line. */
    assert_int_equal(
        sql_number(f, "SELECT count(*) FROM net_rate WHERE"
                      " abs(time_s - (round((time_s + 5) / 1.0001) * 1.0001 - 5)) > 30e-6"),
        0);
    assert_int_equal(sql_number(f, "SELECT abs(last_s - (900 - 5 + 900e-4)) < 30e-6 AND"
                                   " abs(first_s + 4 - 1e-4) < 30e-6 FROM run_host"),
                     1);
}

static void a_drifting_clock_is_followed(void **state) {
    write_drifting_host(*state, false);
    expect_drifting_host(*state);
}

static void a_drifting_clock_is_followed_over_restarts_of_the_collector(void **state) {
    write_drifting_host(*state, true);
    expect_drifting_host(*state);
}

static void a_clock_that_jumps_is_said_to(void **state) {
    struct fixture *f = *state;
    for (int64_t s = 1; s <= 20; s++) {
        const struct clock_estimate e = {s * NS_PER_S, RUN_MONO_NS + (s < 12 ? 0 : NS_PER_S), 900};
        BEGIN(f);
        assert_int_equal(store_clock(f->store, f->stream, &e), s == 12 ? STORE_CLOCK_JUMPED : 0);
        COMMIT(f);
    }
    const struct clock_estimate bad = {-1, 0, 0};
    assert_int_equal(store_clock(f->store, f->stream, &bad), -EINVAL);
}

static void a_file_of_before_there_were_lines_is_read_by_the_constant(void **state) {
    struct fixture *f = *state;
    struct seen seen = {0};
    write_two_hosts(f);
    store_close(f->store);
    f->store = NULL;
    sql_change(f, "DROP TABLE clock_piece");
    assert_int_equal(read_net(f, &seen), 0);
    assert_int_equal(seen.n, 12);
    assert_int_equal(seen.t_ns[0], NS_PER_S + 7);
    fixture_open(f); /* a writer adds what is missing */
    assert_int_equal(sql_number(f, "SELECT count(*) FROM clock_piece"), 0);
}

static void pieces_that_mean_harm_are_left_out(void **state) {
    struct fixture *f = *state;
    struct seen seen = {0};
    write_two_hosts(f);
    sql_change(f, "INSERT INTO clock_piece VALUES(1, 1500000000, 1, 0, 0, 0, 0),"
                  " (1, 1600000000, 9223372036854775807, 0, 9223372036854775807, 0, 0),"
                  " (1, 1700000000, 1800000000, 0, 0, 0, 1e300),"
                  " (1, -9223372036854775807, 0, -5, 0, -1, -9e999)");
    assert_int_equal(read_net(f, &seen), 0);
    assert_int_equal(seen.n, 12);
    assert_int_equal(seen.t_ns[1], 2 * NS_PER_S + 7);
}

static void a_table_the_run_does_not_have_is_no_entry(void **state) {
    struct fixture *f = *state;
    static const char *const columns[] = {"x"};
    struct seen seen = {0};
    write_two_hosts(f);
    assert_int_equal(store_each_row(f->store, f->run, "disk", columns, 1, see, &seen), -ENOENT);
    assert_int_equal(store_each_row(f->store, f->run, "run", columns, 1, see, &seen), -ENOENT);
    struct run_begin other = {.command = "other"};
    assert_int_equal(store_run_begin(f->store, &other, &f->run), 0);
    assert_int_equal(read_net(f, &seen), -ENOENT);
}

static void hosts_tell_what_arrived_and_what_did_not(void **state) {
    struct fixture *f = *state;
    struct store_host *hosts;
    size_t n;
    write_two_hosts(f);
    BEGIN(f); /* f is at vm2's stream */
    assert_int_equal(fixture_frame(f, 3, 103.0), -EALREADY);
    assert_int_equal(fixture_frame(f, 9, 109.0), 0);
    COMMIT(f);
    assert_int_equal(store_list_hosts(f->store, f->run, &hosts, &n), 0);
    assert_int_equal(n, 2);
    assert_string_equal(hosts[0].name, "vm1");
    assert_in_range(hosts[0].clock_error_ns, 100,
                    10000); /* within a second the drift is not known */
    assert_int_equal(hosts[0].clock_offset_ns, RUN_MONO_NS + 7);
    assert_true(hosts[0].clock_drift_ppm == 0);
    assert_int_equal(hosts[0].frames, 3);
    assert_int_equal(hosts[0].first_ns, NS_PER_S + 7);
    assert_string_equal(hosts[1].name, "vm2");
    assert_int_equal(hosts[1].clock_offset_ns, RUN_MONO_NS - 100 * NS_PER_S);
    assert_int_equal(hosts[1].frames, 4);
    assert_int_equal(hosts[1].duplicates, 1);
    assert_int_equal(hosts[1].last_ns, 9 * NS_PER_S);
    store_hosts_free(hosts, n);
}

static void runs_are_found_by_id_name_and_age(void **state) {
    struct fixture *f = *state;
    struct run_begin begin = {.name = "1", .command = "b", .wall_ns = 5, .mono_ns = 6};
    struct store_run run;
    int64_t id;
    assert_int_equal(store_run_begin(f->store, &begin, &id), 0);
    begin.name = "train";
    assert_int_equal(store_run_begin(f->store, &begin, &id), 0);
    assert_int_equal(store_run_end(f->store, id, RUN_KILLED, 137, 10, 16), 0);
    static const struct {
        const char *which;
        int64_t id;
    } cases[] = {{"last", 3},
                 {"last~0", 3},
                 {"last~1", 2},
                 {"last~2", 1},
                 {"1", 1},
                 {"3", 3},
                 {"train", 3},
                 {"last~3", 0},
                 {"9", 0},
                 {"", 0},
                 {"last~", 0},
                 {"last~-1", 0},
                 {"last~99999999999999999999", 0},
                 {"'", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int r = store_find_run(f->store, cases[i].which, &run);
        assert_int_equal(r, cases[i].id ? 0 : -ENOENT);
        if (r)
            continue;
        assert_int_equal(run.id, cases[i].id);
        store_run_release(&run);
    }
    assert_int_equal(store_find_run(f->store, "last", &run), 0);
    assert_int_equal(run.state, RUN_KILLED);
    assert_int_equal(run.exit_status, 137);
    assert_int_equal(run.duration_ns, 10);
    store_run_release(&run);
    assert_int_equal(store_run_end(f->store, 99, RUN_DONE, 0, 0, 0), -ENOENT);
}

static void a_run_whose_command_never_started_is_found_by_its_number_only(void **state) {
    struct fixture *f = *state;
    struct run_begin begin = {.name = "train", .command = "b", .wall_ns = 5, .mono_ns = 6};
    struct store_run run;
    int64_t good, bad;
    char which[24];
    assert_int_equal(store_run_begin(f->store, &begin, &good), 0);
    assert_int_equal(store_run_begin(f->store, &begin, &bad), 0);
    assert_int_equal(store_run_note(f->store, bad, "vm3 did not answer"), 0);
    assert_int_equal(store_run_note(f->store, bad, "1 of 3 hosts did not answer"), 0);
    assert_int_equal(store_run_end(f->store, bad, RUN_NOT_STARTED, 1, 10, 16), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(store_find_run(f->store, i ? "last" : "train", &run), 0);
        assert_int_equal(run.id, good);
        assert_null(run.refusal);
        store_run_release(&run);
    }
    snprintf(which, sizeof which, "%lld", (long long)bad);
    assert_int_equal(store_find_run(f->store, which, &run), 0);
    assert_int_equal(run.state, RUN_NOT_STARTED);
    assert_string_equal(run.refusal, "1 of 3 hosts did not answer");
    store_run_release(&run);
}

static void a_run_that_never_ended_lasts_to_its_last_frame(void **state) {
    struct fixture *f = *state;
    struct store_run *runs;
    size_t n;
    write_two_hosts(f);
    assert_int_equal(
        store_run_command_started(f->store, f->run, RUN_WALL_NS + NS_PER_S, RUN_MONO_NS + NS_PER_S),
        0);
    assert_int_equal(store_list_runs(f->store, &runs, &n), 0);
    assert_int_equal(n, 1);
    assert_string_equal(runs[0].name, "train");
    assert_string_equal(runs[0].command, "/usr/bin/train --fast");
    assert_int_equal(runs[0].state, RUN_RUNNING);
    assert_int_equal(runs[0].exit_status, -1);
    assert_int_equal(runs[0].duration_ns, 2 * NS_PER_S + 7);
    store_runs_free(runs, n);
}

static void notes_gather_all_there_is_to_say(void **state) {
    struct fixture *f = *state;
    static const struct column columns[] = {{"mono_ns", UNIT_NS, COLUMN_LEVEL, ""}};
    struct table note = {.name = "note",
                         .instance = "text",
                         .help = "",
                         .kind = TABLE_EVENTS,
                         .columns = columns,
                         .n_columns = 1};
    struct store_note *notes;
    size_t n;
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1.0), 0);
    ROW(f, &note, "no psi here", 5);
    ROW(f, &net_table, "eth0", 10, 10);
    ROW(f, &net_table, "eth0", 10, 10);
    assert_int_equal(fixture_frame(f, 2, 2.0), 0);
    ROW(f, &net_table, "eth0", 1, 1);
    ROW(f, &net_table, "sh[ended]", 10, 10);
    assert_int_equal(fixture_frame(f, 3, 3.0), 0);
    ROW(f, &net_table, "sh[ended]", 1, 1);
    COMMIT(f);
    assert_int_equal(store_run_note(f->store, f->run, "vm3 did not answer\nat all"), 0);
    assert_int_equal(store_run_note(f->store, f->run, "second"), 0);
    assert_int_equal(store_run_refused(f->store, f->run, "unauthorized", 2), 0);
    assert_int_equal(store_run_refused(f->store, f->run, "unauthorized", 3), 0);
    assert_int_equal(store_list_notes(f->store, f->run, &notes, &n), 0);
    assert_int_equal(n, 7);
    assert_string_equal(notes[0].text, "vm1: no psi here");
    assert_string_equal(notes[1].text, "vm3 did not answer?at all");
    assert_string_equal(notes[2].text, "second");
    assert_string_equal(notes[3].text, "vm1: 1 row could not be stored");
    assert_string_equal(notes[4].text, "vm1: a counter of net eth0 started again from zero");
    assert_false(notes[4].information);
    assert_string_equal(notes[5].text, "vm1: a counter of net sh[ended] started again from zero");
    assert_true(notes[5].information);
    assert_string_equal(notes[6].text, "5 pushes refused: unauthorized");
    store_notes_free(notes, n);
}

static void a_reader_does_not_wait_for_a_transaction(void **state) {
    struct fixture *f = *state;
    struct seen seen = {0};
    write_two_hosts(f);
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 4, 104.0), 0);
    ROW(f, &net_table, "eth0", 9000, 0);
    assert_int_equal(read_net(f, &seen), 0); /* sees committed rows */
    assert_int_equal(seen.n, 12);
    COMMIT(f);
    assert_int_equal(read_net(f, &seen), 0);
    assert_int_equal(seen.n, 13);
}

/* ---- files that cannot be read ---- */

static void expect_why(struct fixture *f, const char *path, int result, const char *why) {
    struct store *reader = NULL;
    int r = store_open_read(path, &reader, f->why, sizeof f->why);
    assert_int_equal(r, result);
    assert_null(reader);
    if (!strstr(f->why, why) || strchr(f->why, '\n'))
        fail_msg("'%s' does not say '%s' on one line", f->why, why);
}

static void a_file_that_is_no_database_is_named_as_what_it_is(void **state) {
    struct fixture *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/none.db", f->directory);
    expect_why(f, path, -ENOENT, "record one with `chokepoint run COMMAND`");
    assert_int_equal(access(path, F_OK), -1);
    expect_why(f, f->directory, -EISDIR, "is a directory");
    expect_why(f, "/dev/null", -EINVAL, "not a regular file");
    file_write_text(
        path, "just some text, long enough to be looked at by a database library ...........", 0);
    expect_why(f, path, STORE_FOREIGN, "is not a Chokepoint database");
    assert_int_equal(store_open_write(path, &f->store, f->why, sizeof f->why), STORE_FOREIGN);
    file_write_text(path, "", 0);
    expect_why(f, path, -ENODATA, "is empty: no run was begun in it");
}

static void a_foreign_database_is_left_as_it_was(void **state) {
    struct fixture *f = *state;
    struct fixture other = {0};
    struct store *writer = NULL;
    snprintf(other.path, sizeof other.path, "%s/other.db", f->directory);
    sql_change(&other, "CREATE TABLE mine(x); INSERT INTO mine VALUES(1)");
    assert_int_equal(store_open_write(other.path, &writer, f->why, sizeof f->why), STORE_FOREIGN);
    expect_why(f, other.path, STORE_FOREIGN, "is not a Chokepoint database");
    assert_int_equal(sql_number(&other, "SELECT count(*) FROM sqlite_schema"), 1);
    assert_int_equal(sql_number(&other, "SELECT journal_mode = 'delete' FROM pragma_journal_mode"),
                     1);
}

static void another_schema_version_is_named(void **state) {
    struct fixture *f = *state;
    store_close(f->store);
    f->store = NULL;
    sql_change(f, "PRAGMA user_version = 7");
    expect_why(f, f->path, STORE_OTHER_VERSION,
               "was written by schema version 7, this chokepoint reads 1");
    assert_int_equal(store_open_write(f->path, &f->store, f->why, sizeof f->why),
                     STORE_OTHER_VERSION);
}

static void a_locked_database_is_said_to_be_locked(void **state) {
    struct fixture *f = *state;
    sqlite3 *db;
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    expect_why(f, f->path, -EBUSY, "is locked by another program");
    sqlite3_close(db);
}

/* ---- joined rows ---- */

static int read_joined(struct fixture *f, const struct table *table, const char *column,
                       struct seen *seen) {
    struct store *reader;
    *seen = (struct seen){0};
    assert_int_equal(store_open_read(f->path, &reader, f->why, sizeof f->why), 0);
    int r = store_each_row_joined(reader, f->run, table->name, &column, 1, see, seen);
    store_close(reader);
    return r;
}

/* 25 frames, a second of them in each push. */
static void write_seconds(struct fixture *f) {
    for (int64_t i = 1; i <= 25; i++) {
        if (i % 10 == 1)
            BEGIN(f);
        assert_int_equal(fixture_frame(f, (uint64_t)i, 0.1 * (double)i), 0);
        ROW(f, &memory_table, "memory", 1000 + i, VALUE_ABSENT, 3 * i);
        ROW(f, &net_table, "eth0", 100 * i, i < 5 ? 0 : i);
        if (i % 10 == 0 || i == 25)
            COMMIT(f);
    }
}

static void joined_rows_hold_what_grew_and_the_last_level(void **state) {
    struct fixture *f = *state;
    struct seen seen;
    int64_t grew = 0;
    write_seconds(f);
    assert_int_equal(read_joined(f, &net_table, "receive_bytes", &seen), 0);
    assert_int_equal(seen.n,
                     4); /* the first row, whose growth is not known, and one for each push */
    assert_int_equal(seen.interval_ns[0], VALUE_ABSENT);
    assert_int_equal(seen.interval_ns[1], 900 * NS_PER_MS);
    assert_int_equal(seen.interval_ns[2], NS_PER_S);
    assert_int_equal(seen.interval_ns[3], 500 * NS_PER_MS);
    for (size_t i = 1; i < 4; i++)
        grew += seen.value[i];
    assert_int_equal(grew, sql_number(f, "SELECT sum(receive_bytes) FROM net"));
    assert_int_equal(read_joined(f, &memory_table, "free_bytes", &seen), 0);
    assert_int_equal(seen.value[1], 1010);
    assert_int_equal(seen.value[3], 1025);
    assert_int_equal(read_joined(f, &memory_table, "load_nano", &seen), 0);
    assert_int_equal(seen.value[3], VALUE_ABSENT);
    assert_int_equal(read_joined(f, &memory_table, "user_ns", &seen), 0);
    assert_int_equal(seen.value[2], 30);
    assert_int_equal(read_joined(f, &memory_table, "no_such_column", &seen), 0);
    assert_int_equal(seen.value[2], VALUE_ABSENT);
}

/* One push with three seconds, as after an outage. */
static void joined_rows_are_of_about_a_second(void **state) {
    struct fixture *f = *state;
    struct seen seen;
    BEGIN(f);
    for (int64_t i = 1; i <= 31; i++) {
        assert_int_equal(fixture_frame(f, (uint64_t)i, 0.1 * (double)i), 0);
        ROW(f, &net_table, "eth0", 100 * i, 0);
    }
    COMMIT(f);
    assert_int_equal(read_joined(f, &net_table, "receive_bytes", &seen), 0);
    assert_int_equal(seen.n, 4);
    for (size_t i = 1; i < 4; i++) {
        assert_int_equal(seen.interval_ns[i], NS_PER_S);
        assert_int_equal(seen.value[i], 1000);
    }
}

struct sums {
    int64_t value, interval_ns;
    size_t n;
};

static int add_up(void *ctx, const struct store_row_read *row) {
    struct sums *sums = ctx;
    sums->value += row->values[0] == VALUE_ABSENT ? 0 : row->values[0];
    sums->interval_ns += row->interval_ns == VALUE_ABSENT ? 0 : row->interval_ns;
    sums->n++;
    return 0;
}

static void expect_joined_as_stored(struct fixture *f, size_t n) {
    static const char *const columns[] = {"receive_bytes"};
    struct store *reader;
    struct sums sums = {0};
    assert_int_equal(store_open_read(f->path, &reader, f->why, sizeof f->why), 0);
    assert_int_equal(store_each_row_joined(reader, f->run, "net", columns, 1, add_up, &sums), 0);
    store_close(reader);
    assert_int_equal(sums.value, sql_number(f, "SELECT sum(receive_bytes) FROM net"));
    assert_int_equal(sums.interval_ns, sql_number(f, "SELECT sum(interval_ns) FROM net"));
    assert_int_equal(sums.n, n);
}

/* Joining such rows would only store them twice, also after a restart. */
static void rows_a_second_apart_are_joined_already(void **state) {
    struct fixture *f = *state;
    fixture_stream_of(f, "vm2", BOOT_A, 8, NS_PER_S);
    for (int64_t i = 1; i <= 6; i++) {
        if (i == 4) {
            store_close(f->store);
            fixture_open(f);
            fixture_stream_of(f, "vm2", BOOT_A, 8, NS_PER_S);
        }
        BEGIN(f);
        assert_int_equal(fixture_frame(f, (uint64_t)i, (double)i), 0);
        ROW(f, &net_table, "eth0", i * i, 0);
        COMMIT(f);
    }
    assert_int_equal(sql_number(f, "SELECT count(*) FROM joined"), 0);
    expect_joined_as_stored(f, 6);
}

/* The joined row of .4 s must not become one of a minute, over which its bytes would be spread. */
static void a_row_over_lost_seconds_stands_by_itself(void **state) {
    struct fixture *f = *state;
    struct seen seen;
    BEGIN(f);
    for (int64_t i = 1; i <= 5; i++) {
        assert_int_equal(fixture_frame(f, (uint64_t)i, 0.1 * (double)i), 0);
        ROW(f, &net_table, "eth0", 1000 * i, 0);
    }
    assert_int_equal(fixture_frame(f, 6, 60), 0);
    ROW(f, &net_table, "eth0", 5007, 0);
    COMMIT(f);
    assert_int_equal(read_joined(f, &net_table, "receive_bytes", &seen), 0);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.interval_ns[1], 400 * NS_PER_MS);
    assert_int_equal(seen.value[1], 4000);
    assert_int_equal(seen.interval_ns[2], 59500 * NS_PER_MS);
    assert_int_equal(seen.value[2], 7);
}

static void a_stream_goes_on_joined_after_a_restart_of_the_collector(void **state) {
    struct fixture *f = *state;
    for (int64_t i = 1; i <= 40; i++) {
        if (i == 14 || i == 27) { /* except where a joined row would end anyway */
            store_close(f->store);
            fixture_open(f);
            fixture_stream(f, "vm1", BOOT_A, 7);
        }
        BEGIN(f);
        assert_int_equal(fixture_frame(f, (uint64_t)i, 0.1 * (double)i), 0);
        ROW(f, &net_table, "eth0", i * i, 0);
        COMMIT(f);
    }
    expect_joined_as_stored(f, 40); /* one in each transaction */
    assert_int_equal(sql_number(f, "SELECT sum(interval_ns) FROM net"), 3900 * NS_PER_MS);
}

/* Rows of zeros that end by growth, after a second, and at the commit. */
static void idle_rows_are_joined_like_others(void **state) {
    struct fixture *f = *state;
    struct seen seen;
    int64_t bytes = 0;
    BEGIN(f);
    for (int64_t i = 1; i <= 50; i++) {
        bytes += i < 4 || (i > 8 && i < 12) || (i > 34 && i < 46) ? i : 0;
        assert_int_equal(fixture_frame(f, (uint64_t)i, 0.1 * (double)i), 0);
        ROW(f, &net_table, "eth0", bytes, 0);
    }
    COMMIT(f);
    assert_int_equal(read_joined(f, &net_table, "receive_bytes", &seen), 0);
    expect_joined_as_stored(f, seen.n);
    assert_true(seen.n < 10);
    assert_int_equal(seen.t_ns[seen.n - 1], 5 * NS_PER_S);
    for (size_t i = 1; i < seen.n; i++) /* they cover the time without gaps */
        assert_int_equal(seen.t_ns[i] - seen.interval_ns[i], seen.t_ns[i - 1]);
}

/* Rows that never join, 100 in a frame: more than are held in memory, and the last ones are idle
 * rows written at the commit.
 */
static void too_many_rows_for_memory_are_written_before_the_commit(void **state) {
    struct fixture *f = *state;
    char name[32];
    BEGIN(f);
    for (int64_t i = 1; i <= 656; i++) {
        assert_int_equal(fixture_frame(f, (uint64_t)i, i <= 655 ? 2. * (double)i : 1310.1), 0);
        for (int64_t k = 0; k < 100; k++) {
            snprintf(name, sizeof name, "if%d", (int)k);
            ROW(f, &net_table, name, (k + 1) * (i <= 655 ? i : 655), 0);
        }
    }
    COMMIT(f);
    expect_joined_as_stored(f, 65600);
    /* The last value of each batch is short. */
    assert_int_equal(sql_number(f, "SELECT count(*) FROM joined WHERE length(rows) < 60000"), 2);
}

static void columns_that_join_a_table_join_its_joined_rows(void **state) {
    struct fixture *f = *state;
    struct seen seen;
    static const struct column more[] = {{"receive_bytes", UNIT_BYTES, COLUMN_COUNTER, ""},
                                         {"drops", UNIT_NONE, COLUMN_COUNTER, ""}};
    const struct table wider = {
        .name = "net", .instance = "interface", .help = "", .columns = more, .n_columns = 2};
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 1, 1), 0);
    ROW(f, &net_table, "eth0", 5, 6);
    assert_int_equal(fixture_frame(f, 2, 1.1), 0);
    ROW(f, &net_table, "eth0", 7, 8);
    assert_int_equal(fixture_frame(f, 3, 1.2), 0);
    ROW(f, &wider, "eth0", 10, 1);
    assert_int_equal(fixture_frame(f, 4, 1.3), 0);
    ROW(f, &wider, "eth0", 20, 5);
    COMMIT(f);
    assert_int_equal(read_joined(f, &net_table, "receive_bytes", &seen), 0);
    assert_int_equal(seen.n, 4);
    assert_int_equal(seen.value[1], 2);
    assert_int_equal(seen.value[3], 10);
    assert_int_equal(read_joined(f, &net_table, "drops", &seen), 0);
    assert_int_equal(seen.value[1], VALUE_ABSENT);
    assert_int_equal(seen.value[3], 4);
}

static void many_instances_fill_several_values(void **state) {
    struct fixture *f = *state;
    struct seen seen;
    char name[32];
    BEGIN(f);
    for (int64_t i = 1; i <= 2; i++) {
        assert_int_equal(fixture_frame(f, (uint64_t)i, 0.1 * (double)i), 0);
        for (int k = 0; k < 6000; k++) {
            snprintf(name, sizeof name, "if%d", k);
            ROW(f, &net_table, name, (INT64_C(1) << 40) * i, k * i);
        }
    }
    COMMIT(f);
    assert_true(sql_number(f, "SELECT count(*) FROM joined") > 1);
    assert_true(sql_number(f, "SELECT max(length(rows)) FROM joined") < 70000);
    assert_int_equal(read_joined(f, &net_table, "send_bytes", &seen), 0);
    assert_int_equal(seen.n, 12000);
    assert_int_equal(seen.value[63], 31);
}

static void a_stream_without_joined_rows_is_read_as_it_is(void **state) {
    struct fixture *f = *state;
    struct seen seen;
    write_seconds(f);
    store_close(f->store);
    f->store = NULL;
    sql_change(f, "DELETE FROM joined");
    assert_int_equal(read_joined(f, &net_table, "receive_bytes", &seen), 0);
    assert_int_equal(seen.n, 25);
    fixture_open(f); /* begun without joined rows: continues without */
    BEGIN(f);
    assert_int_equal(fixture_frame(f, 26, 2.6), 0);
    ROW(f, &net_table, "eth0", 2600, 26);
    COMMIT(f);
    assert_int_equal(sql_number(f, "SELECT count(*) FROM joined"), 0);
    store_close(f->store);
    f->store = NULL;
    sql_change(f, "DROP TABLE joined");
    assert_int_equal(read_joined(f, &net_table, "receive_bytes", &seen), 0);
    assert_int_equal(seen.n, 26);
    sql_change(f, "CREATE VIEW joined AS SELECT 1 AS stream, 1 AS rows, 1 AS joined");
    assert_int_equal(read_joined(f, &net_table, "receive_bytes", &seen), 0);
    assert_int_equal(seen.n, 26);
}

static void joined_rows_that_mean_harm_are_refused(void **state) {
    static const char *const bad[] = {
        "x''",                                 /* no version */
        "x'02'",                               /* another version */
        "zeroblob(900000)",                    /* another version */
        "'text'",                              /* another version */
        "x'0102'",                             /* a section cut short */
        "x'0102810100'",                       /* 129 columns */
        "x'0102ffffffffffffffffff0100'",       /* more columns than can be */
        "x'010202ffffffffffffffffff01'",       /* longer than the value */
        "x'010202020202'",                     /* a row cut short */
        "x'0102020cffffffffffffffffffffffff'", /* a number without an end */
    };
    struct fixture *f = *state;
    struct seen seen;
    char sql[256];
    write_seconds(f);
    store_close(f->store);
    f->store = NULL;
    assert_int_equal(sql_number(f, "SELECT table_id FROM table_info WHERE name = 'net'"), 2);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(sql, sizeof sql, "UPDATE joined SET rows = CAST(%s AS BLOB)", bad[i]);
        sql_change(f, sql);
        int r = read_joined(f, &net_table, "receive_bytes", &seen);
        if (r != -EBADMSG)
            fail_msg("%s: %d, %zu rows", bad[i], r, seen.n);
    }
    sql_change(f, "UPDATE joined SET rows = x'01'");
    assert_int_equal(read_joined(f, &net_table, "receive_bytes", &seen), 0);
    assert_int_equal(seen.n, 0);
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void damaged_joined_rows_do_no_harm(void **state) {
    struct fixture *f = *state;
    struct seen seen;
    uint64_t random = 12345;
    char sql[256];
    write_seconds(f);
    store_close(f->store);
    f->store = NULL;
    sql_change(f, "CREATE TABLE sound AS SELECT joined, rows FROM joined");
    int64_t size = sql_number(f, "SELECT max(length(rows)) FROM joined");
    for (int i = 0; i < 150; i++) {
        int64_t at = (int64_t)(next_random(&random) % (uint64_t)size);
        snprintf(sql, sizeof sql,
                 "UPDATE joined SET rows = (SELECT CAST(substr(s.rows, 1, %lld) || x'%02x' ||"
                 " substr(s.rows, %lld) AS BLOB) FROM sound s WHERE s.joined = joined.joined)",
                 (long long)at, (unsigned)(next_random(&random) & 0xff), (long long)at + 2);
        sql_change(f, sql);
        int r = read_joined(f, &net_table, "receive_bytes", &seen);
        assert_true(r == 0 || r == -EBADMSG);
        r = read_joined(f, &memory_table, "user_ns", &seen);
        assert_true(r == 0 || r == -EBADMSG);
    }
}

/* ---- files that mean harm ---- */

static void scan_everything(struct store *reader, const char *const *tables,
                            const char *const *columns) {
    struct store_scan *scan;
    struct scanned scanned = {0};
    if (store_scan_open(reader, 1, &scan))
        return;
    for (size_t i = 0; i < 4; i++)
        store_scan_table(scan, tables[i], columns, 4, see_scanned, &scanned);
    store_scan_close(scan);
}

/* Reads everything; nothing may crash, whatever is returned. */
static void read_everything(const char *path) {
    static const char *const tables[] = {"net", "memory", "mark", "frame"};
    static const char *const columns[] = {"receive_bytes", "free_bytes", "n", "frame"};
    struct store *reader;
    char why[256];
    if (store_open_read(path, &reader, why, sizeof why))
        return;
    struct store_run run, *runs;
    struct store_host *hosts;
    struct store_note *notes;
    struct seen seen = {0};
    size_t n;
    if (store_find_run(reader, "last", &run) == 0)
        store_run_release(&run);
    if (store_list_runs(reader, &runs, &n) == 0)
        store_runs_free(runs, n);
    if (store_list_hosts(reader, 1, &hosts, &n) == 0)
        store_hosts_free(hosts, n);
    if (store_list_notes(reader, 1, &notes, &n) == 0)
        store_notes_free(notes, n);
    for (size_t i = 0; i < 4; i++)
        store_each_row(reader, 1, tables[i], columns, 4, see, &seen);
    scan_everything(reader, tables, columns);
    store_close(reader);
}

static void values_of_the_wrong_type_are_absent(void **state) {
    struct fixture *f = *state;
    struct seen seen = {0};
    write_two_hosts(f);
    store_close(f->store);
    f->store = NULL;
    sql_change(f, "DROP TABLE net; CREATE TABLE net(frame, instance, interval_ns, receive_bytes,"
                  " PRIMARY KEY(frame, instance)) WITHOUT ROWID;"
                  "INSERT INTO net VALUES(1, 1, 'x', 'text'), (3, 1, -5, zeroblob(900000)),"
                  " (5, 1, 1e300, 7), (-9, 1, 1, 1), (5, -1, 1, 1), (5, 'a', 1, 1)");
    sql_change(f, "PRAGMA ignore_check_constraints = 1; UPDATE host SET name = printf('%.*c',"
                  " 900000, 'x') WHERE host = 1; UPDATE stream SET clock_offset_ns ="
                  " 9223372036854775807, frames = -4 WHERE stream = 2;"
                  "UPDATE run SET hosts_expected = -9223372036854775807, period_ns = -1");
    assert_int_equal(read_net(f, &seen), 0);
    assert_int_equal(seen.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(seen.interval_ns[i], VALUE_ABSENT);
        assert_int_equal(seen.value[i], i == 2 ? 7 : VALUE_ABSENT);
    }
    struct store_host *hosts;
    size_t n;
    assert_int_equal(store_open_read(f->path, &f->store, f->why, sizeof f->why), 0);
    assert_int_equal(store_list_hosts(f->store, 1, &hosts, &n), 0);
    assert_true(strlen(hosts[0].name) <= 256);
    assert_int_equal(hosts[1].frames, 0);
    store_hosts_free(hosts, n);
    read_everything(f->path);
}

static void a_view_in_place_of_a_table_is_not_run(void **state) {
    struct fixture *f = *state;
    struct seen seen = {0};
    write_two_hosts(f);
    store_close(f->store);
    f->store = NULL;
    const char *endless = "WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x)"
                          " SELECT i AS frame, i AS instance, i AS receive_bytes FROM x";
    char sql[512];
    snprintf(sql, sizeof sql, "DROP TABLE net; CREATE VIEW net AS %s", endless);
    sql_change(f, sql);
    assert_int_equal(read_net(f, &seen), -ENOENT);
    snprintf(sql, sizeof sql, "DROP TABLE frame; CREATE VIEW frame AS %s", endless);
    sql_change(f, sql);
    expect_why(f, f->path, -EBADMSG, "has other tables than chokepoint makes");
}

/* ---- trees whose pages lead to each other ---- */

#define PAGE 4096
#define LEVELS 12

static uint32_t be32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void put_be32(uint8_t *p, uint32_t value) {
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* The field of an inner page's i-th cell that holds its child page. */
static uint8_t *link_of(uint8_t *page, int i) {
    return page + (page[12 + 2 * i] << 8 | page[13 + 2 * i]);
}

/* All cells of the root lead to a copy of it, those of the copy to the next, and the last to one
 * leaf: a full walk would take more than 10^12 steps.
 */
static void knot(uint8_t *file, uint32_t root) {
    uint8_t *top = file + (root - 1) * PAGE, copy[PAGE];
    int n = top[3] << 8 | top[4];
    uint32_t chain[LEVELS + 1], leaf = be32(link_of(top, n / 2));
    assert_int_equal(top[0], 2);
    assert_in_range(n, 2 * LEVELS, 400);
    while (file[(leaf - 1) * PAGE] == 2)
        leaf = be32(link_of(file + (leaf - 1) * PAGE, 0));
    chain[0] = root;
    for (int i = 1; i < LEVELS; i++)
        chain[i] = be32(link_of(top, i - 1));
    chain[LEVELS] = leaf;
    memcpy(copy, top, PAGE);
    for (int level = 0; level < LEVELS; level++) {
        for (int i = 0; i < n; i++)
            put_be32(link_of(copy, i), chain[level + 1]);
        put_be32(copy + 8, chain[level + 1]);
        memcpy(file + (chain[level] - 1) * PAGE, copy, PAGE);
    }
}

static void knot_instances(struct fixture *f) {
    static uint8_t file[8 << 20];
    sql_change(f,
               "WITH RECURSIVE x(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM x WHERE i < 1200)"
               " INSERT INTO instance(host, table_id, name) SELECT h.host, t.table_id,"
               " printf('%0100d', i) FROM x, table_info t, (SELECT min(host) AS host FROM host) h"
               " WHERE t.name = 'net'");
    uint32_t root = (uint32_t)sql_number(
        f, "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_instance_1'");
    int fd = open(f->path, O_RDWR);
    ssize_t size = read(fd, file, sizeof file);
    assert_true(size > 0 && (size_t)size < sizeof file && size % PAGE == 0);
    knot(file, root);
    assert_int_equal(pwrite(fd, file, (size_t)size, 0), size);
    close(fd);
}

static void a_tree_without_end_is_given_up(void **state) {
    struct fixture *f = *state;
    struct seen seen = {0};
    uint64_t n;
    write_two_hosts(f);
    store_close(f->store);
    f->store = NULL;
    knot_instances(f);
    assert_int_equal(read_net(f, &seen), -E2BIG); /* kept in memory, so it has its own bound */
    struct store *reader;
    assert_int_equal(store_open_read(f->path, &reader, f->why, sizeof f->why), 0);
    assert_int_equal(store_count_instances(reader, f->run, "net", &n), -EBADMSG);
    store_close(reader);
}

static void a_damaged_file_fails_without_harm(void **state) {
    struct fixture *f = *state;
    char path[128];
    static uint8_t good[1 << 20], bad[1 << 20];
    write_two_hosts(f);
    store_close(f->store);
    f->store = NULL;
    int fd = open(f->path, O_RDONLY);
    ssize_t size = read(fd, good, sizeof good);
    close(fd);
    assert_true(size > 4096);
    snprintf(path, sizeof path, "%s/bad.db", f->directory);
    for (uint64_t seed = 1; seed <= 150; seed++) {
        uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15);
        memcpy(bad, good, (size_t)size);
        for (uint64_t i = 0; i < 1 + seed % 40; i++) /* the magic stays */
            bad[100 + next_random(&random) % (uint64_t)(size - 100)] =
                (uint8_t)next_random(&random);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        size_t cut = seed % 5 ? (size_t)size : next_random(&random) % (uint64_t)size;
        assert_int_equal(write(fd, bad, cut), (ssize_t)cut);
        close(fd);
        read_everything(path);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(rows_come_by_host_instance_and_time_on_one_clock),
        TEST(a_drifting_clock_is_followed),
        TEST(a_drifting_clock_is_followed_over_restarts_of_the_collector),
        TEST(a_clock_that_jumps_is_said_to),
        TEST(a_file_of_before_there_were_lines_is_read_by_the_constant),
        TEST(pieces_that_mean_harm_are_left_out),
        TEST(the_reader_of_rows_may_stop),
        TEST(looks_at_processes_count_whatever_their_rows_are_apart),
        TEST(a_scan_gives_the_same_rows),
        TEST(a_scan_of_many_instances_gives_each_in_the_order_of_time),
        TEST(a_scan_passes_over_another_runs_rows),
        TEST(a_scan_of_boots_in_turn_says_that_they_are_mixed),
        TEST(a_scan_of_a_file_that_means_harm_ends),
        TEST(a_table_the_run_does_not_have_is_no_entry),
        TEST(hosts_tell_what_arrived_and_what_did_not),
        TEST(runs_are_found_by_id_name_and_age),
        TEST(a_run_whose_command_never_started_is_found_by_its_number_only),
        TEST(a_run_that_never_ended_lasts_to_its_last_frame),
        TEST(notes_gather_all_there_is_to_say),
        TEST(a_reader_does_not_wait_for_a_transaction),
        TEST(a_file_that_is_no_database_is_named_as_what_it_is),
        TEST(a_foreign_database_is_left_as_it_was),
        TEST(another_schema_version_is_named),
        TEST(a_locked_database_is_said_to_be_locked),
        TEST(joined_rows_hold_what_grew_and_the_last_level),
        TEST(joined_rows_are_of_about_a_second),
        TEST(a_row_over_lost_seconds_stands_by_itself),
        TEST(rows_a_second_apart_are_joined_already),
        TEST(a_stream_goes_on_joined_after_a_restart_of_the_collector),
        TEST(idle_rows_are_joined_like_others),
        TEST(too_many_rows_for_memory_are_written_before_the_commit),
        TEST(columns_that_join_a_table_join_its_joined_rows),
        TEST(many_instances_fill_several_values),
        TEST(a_stream_without_joined_rows_is_read_as_it_is),
        TEST(joined_rows_that_mean_harm_are_refused),
        TEST(damaged_joined_rows_do_no_harm),
        TEST(values_of_the_wrong_type_are_absent),
        TEST(a_view_in_place_of_a_table_is_not_run),
        TEST(a_tree_without_end_is_given_up),
        TEST(a_damaged_file_fails_without_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
