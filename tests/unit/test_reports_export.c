/* SPDX-License-Identifier: MIT */
/*
 * Exports of a planned recording, compared with files in tests/golden and with the planned rows.
 * After an intended change: UPDATE_GOLDEN=1 build/.../bin/test_reports_export, and read the
 * difference. tests/e2e/export_is_what_readers_take.sh checks that viewers accept the files.
 */
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <jansson.h>

#include "common/error.h"
#include "reports/export/export.h"
#include "reports/export/export_trace.h"
#include "reports/export/export_tracks.h"
#include "tests/unit/golden.h"
#include "tests/unit/recorded_run.h"

/* A name with special meaning for JSON, CSV, OpenMetrics and a terminal. */
#define HOSTILE "=1+1,\"\\</script>\\u0041é"
#define S NS_PER_S
#define US NS_PER_US

static const struct column cpu_columns[] = {
    {"user_ns", UNIT_NS, COLUMN_COUNTER, "time in user mode"},
    {"idle_ns", UNIT_NS, COLUMN_COUNTER, "time \"idle\" \\ nothing"},
};
static const struct table cpu_table = {"cpu", "core", "processors", TABLE_SAMPLES, cpu_columns, 2};

static const struct column process_columns[] = {
    {"pid", UNIT_NONE, COLUMN_LEVEL, "process id"},
    {"rank", UNIT_NONE, COLUMN_LEVEL, "rank"},
    {"job", UNIT_NONE, COLUMN_LEVEL, "of the job"},
    {"rss_bytes", UNIT_BYTES, COLUMN_LEVEL, "resident memory"},
    {"user_ns", UNIT_NS, COLUMN_COUNTER, "user"},
    {"system_ns", UNIT_NS, COLUMN_COUNTER, "system"},
    {"load_nano", UNIT_NANO, COLUMN_LEVEL, "load"},
};
static const struct table process_table = {"process",     "process",       "processes",
                                           TABLE_SAMPLES, process_columns, 7};

#define A VALUE_ABSENT
#define MARK(kind, name, rank, number, start, duration, bytes, value)                              \
    ROW(f, &all_tables[TABLE_MARK], name, kind, rank, 10 + (rank), number, 100 * S + (start),      \
        duration, bytes, value)
#define CALL(name, start, duration, thread, flags)                                                 \
    ROW(f, &all_tables[TABLE_CALL], name, 0, 10, A, start, duration, 0, 1, 7, 4096, A, A, A, A,    \
        flags, thread, A)

/* Rank 0 on vm1, in run time: two phases; three adjacent iterations whose times are not exact as
 * double x 1000; an operator in the second; and one of another thread that crosses it.
 */
static void plan_marks(struct fixture *f) {
    int64_t from = 1 * S + 570, step = 100 * NS_PER_MS + 1, third = from + 2 * step;
    MARK(1, "training", 0, A, 1 * S, A, A, A);
    MARK(1, "training", 0, A, 1 * S, S / 2, A, A);
    MARK(1, "testing", 0, A, 3 * S / 2, A, A, A);
    for (int i = 0; i < 3; i++)
        MARK(2, "iteration", 0, i, from + i * step, step, A, A);
    MARK(2, "iteration", 0, 3, 2 * S, A, A, A); /* its begin is not known */
    MARK(3, "matmul", 0, 0, from + step, step, 1 << 20, A);
    MARK(3, "read " HOSTILE, 0, 1, third - 10, 20, A, A);
    MARK(4, "accuracy", 0, 2, 2 * S, A, A, 750000000);
    MARK(4, "lost", 0, 2, 2 * S, A, A, A);
}

/* Two threads; one message of a call, and the life of a request, are no calls. */
static void plan_calls(struct fixture *f, int64_t from) {
    CALL("MPI_Recv", from + 5 * US, 5 * US, 0, 0);
    CALL("MPI_Send", from, 5 * US, 0, A);
    CALL("MPI_Send", from + 3 * US, 5 * US, 1, 0);
    CALL("MPI_Recv", from, 50 * US, 0, 4);
    CALL("MPI_Isend", from, 50 * US, 0, 8);
}

static void plan_samples(struct fixture *f, int i) {
    ROW(f, &cpu_table, "cpu0", i * S / 4, i * S / 4);
    ROW(f, &process_table, "train[10]", 10, 0, 1, 1000000 * (i + 1), i * S / 8, i * S / 8,
        1500000000);
    if (i < 3)
        ROW(f, &process_table, HOSTILE "[7]", 7, A, 0, 5000, 0, 0, -500000001);
}

/* Frames every half second, from 0.5 s before the command on; the host's clock is 100 s ahead. */
static void plan_host(struct fixture *f, const char *host, const char *boot, bool rank) {
    fixture_stream(f, host, boot, 7);
    assert_int_equal(store_begin(f->store), 0);
    for (int i = 0; i < 7; i++) {
        int64_t now = 995 * S / 10 + i * S / 2;
        const struct clock_estimate exchange = {now, RUN_MONO_NS - 100 * S, 1000};
        assert_int_equal(store_clock(f->store, f->stream, &exchange), 0);
        assert_int_equal(fixture_frame(f, 1 + (uint64_t)i, (double)now / 1e9), 0);
        plan_samples(f, i);
        if (rank && i >= 5)
            plan_calls(f, 101 * S + (i - 5) * 10 * US);
    }
    assert_int_equal(store_commit(f->store), 0);
}

static int setup(void **state) {
    int r = fixture_setup(state);
    struct fixture *f = *state;
    struct run_begin begin = {.name = "run " HOSTILE,
                              .command = "./train " HOSTILE,
                              .wall_ns = RUN_WALL_NS,
                              .mono_ns = RUN_MONO_NS,
                              .period_ns = 500 * NS_PER_MS,
                              .n_hosts_expected = 2};
    assert_int_equal(store_run_begin(f->store, &begin, &f->run), 0);
    plan_host(f, "vm1", BOOT_A, true);
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(fixture_frame(f, 100, 103), 0);
    plan_marks(f);
    assert_int_equal(store_commit(f->store), 0);
    plan_host(f, HOSTILE, BOOT_B, false);
    assert_int_equal(
        store_run_end(f->store, f->run, RUN_DONE, 0, RUN_WALL_NS + 3 * S, RUN_MONO_NS + 3 * S), 0);
    return r;
}

/* ---- what comes out ---- */

static char *export_run(struct fixture *f, const struct export_format *format, const char *table) {
    struct store *reader;
    struct store_run run;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(store_open_read(f->path, &reader, f->why, sizeof f->why), 0);
    assert_int_equal(store_find_run(reader, "last", &run), 0);
    assert_int_equal(format->write(reader, &run, table, out), 0);
    fclose(out);
    store_run_release(&run);
    store_close(reader);
    return text;
}

static void expect_export(struct fixture *f, const char *name, const struct export_format *format,
                          const char *table) {
    char *text = export_run(f, format, table);
    expect_golden(name, text);
    free(text);
}

static void exports_are_as_before(void **state) {
    struct fixture *f = *state;
    expect_export(f, "export-perfetto.json", &export_perfetto, NULL);
    expect_export(f, "export-openmetrics.txt", &export_openmetrics, NULL);
    expect_export(f, "export-process.csv", &export_csv, "process");
    expect_export(f, "export-mark.csv", &export_csv, "mark");
}

/* ---- the timeline has what was planned ---- */

static int64_t member_ns(const json_t *event, const char *name) {
    return (int64_t)(json_real_value(json_object_get(event, name)) * 1000.0);
}

static const char *member_text(const json_t *event, const char *name) {
    const char *text = json_string_value(json_object_get(event, name));
    return text ? text : "";
}

/* The n-th event with that phase and name. */
static const json_t *find_event(const json_t *events, const char *phase, const char *name,
                                size_t n) {
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event) {
        if (strcmp(member_text(event, "ph"), phase) == 0 &&
            strcmp(member_text(event, "name"), name) == 0 && n-- == 0)
            return event;
    }
    return NULL;
}

static void expect_slice(const json_t *events, const char *name, size_t n, int64_t start_ns,
                         int64_t duration_ns) {
    const json_t *event = find_event(events, "X", name, n);
    if (!event)
        fail_msg("no slice %s %zu", name, n);
    assert_int_equal(member_ns(event, "ts"), start_ns);
    assert_int_equal(member_ns(event, "dur"), duration_ns);
}

static int64_t tid_of(const json_t *events, const char *name, size_t n) {
    return json_integer_value(json_object_get(find_event(events, "X", name, n), "tid"));
}

static void the_timeline_has_what_was_planned(void **state) {
    char *text = export_run(*state, &export_perfetto, NULL);
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const json_t *events = json_object_get(document, "traceEvents");
    int64_t step = 100000001;
    expect_slice(events, "training", 0, S, S / 2);
    expect_slice(events, "testing", 0, 3 * S / 2, 3 * S / 2); /* to the end of the command */
    for (int i = 0; i < 3; i++)
        expect_slice(events, "iteration", (size_t)i, S + 570 + i * step, step);
    expect_slice(events, "matmul", 0, S + 570 + step, step);
    expect_slice(events, "MPI_Send", 0, S, 5 * US);
    expect_slice(events, "MPI_Send", 1, S + 3 * US, 5 * US);
    expect_slice(events, "MPI_Recv", 0, S + 5 * US, 5 * US);
    /* each once: no second half of a phase, no part of a call */
    assert_null(find_event(events, "X", "training", 1));
    assert_null(find_event(events, "X", "iteration", 3));
    assert_null(find_event(events, "X", "MPI_Recv", 2));
    assert_null(find_event(events, "X", "MPI_Isend", 0));
    assert_null(find_event(events, "C", "rank 0 lost", 0));
    const json_t *accuracy = find_event(events, "C", "rank 0 accuracy", 0);
    assert_int_equal(member_ns(accuracy, "ts"), 2 * S);
    assert_float_equal(json_real_value(json_object_get(json_object_get(accuracy, "args"), "value")),
                       0.75, 1e-9);
    json_decref(document);
    free(text);
}

static void what_crosses_gets_a_track_of_its_own(void **state) {
    char *text = export_run(*state, &export_perfetto, NULL);
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const json_t *events = json_object_get(document, "traceEvents");
    int64_t rank = tid_of(events, "iteration", 0);
    assert_int_equal(tid_of(events, "training", 0), rank);
    assert_int_equal(tid_of(events, "matmul", 0), rank);
    assert_int_not_equal(tid_of(events, "read " HOSTILE, 0), rank);
    assert_int_not_equal(tid_of(events, "MPI_Send", 0), rank);
    assert_int_equal(tid_of(events, "MPI_Recv", 0), tid_of(events, "MPI_Send", 0));
    assert_int_not_equal(tid_of(events, "MPI_Send", 1), tid_of(events, "MPI_Send", 0));
    json_decref(document);
    free(text);
}

/* ---- a table that nobody here has heard of ---- */

static const struct column odd_columns[] = {
    {"number", UNIT_NONE, COLUMN_LEVEL, "an id: no counter"},
    {"waited_ns", UNIT_NS, COLUMN_COUNTER, "percent"},
    {"read_bytes", UNIT_BYTES, COLUMN_COUNTER, "MB/s"},
    {"drops", UNIT_EVENTS, COLUMN_COUNTER, "never: no counter"},
    {"rtt_ns", UNIT_NS, COLUMN_LEVEL, "ms"},
    {"rate_bytes_per_s", UNIT_BYTES, COLUMN_LEVEL, "MB/s"},
};
static const struct table odd_table = {"odd", "thing", "odd things", TABLE_SAMPLES, odd_columns, 6};

static void expect_counter(const json_t *events, const char *name, size_t n, int64_t t_ns,
                           const char *unit, double value) {
    const json_t *event = find_event(events, "C", name, n);
    if (!event)
        fail_msg("no counter %s %zu", name, n);
    const json_t *found = json_object_get(json_object_get(event, "args"), unit);
    assert_non_null(found);
    assert_float_equal(json_number_value(found), value, 1e-9);
    assert_int_equal(member_ns(event, "ts"), t_ns);
}

static void any_table_of_samples_becomes_counters(void **state) {
    struct fixture *f = *state;
    assert_int_equal(store_begin(f->store), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fixture_frame(f, 200 + (uint64_t)i, 103 + 0.5 * i), 0);
        ROW(f, &odd_table, HOSTILE, 7, i * S / 4, 5000000 * (i > 1), 0, 40000 * US / 1000, 2000000);
    }
    assert_int_equal(store_commit(f->store), 0);
    char *text = export_run(f, &export_perfetto, NULL);
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    const json_t *events = json_object_get(document, "traceEvents");
    expect_counter(events, "odd " HOSTILE " waited", 0, 3 * S, "%", 50);
    expect_counter(events, "odd " HOSTILE " read", 0, 7 * S / 2, "MB/s", 10);
    expect_counter(events, "odd " HOSTILE " rtt", 0, 3 * S, "ms", 0.04);
    expect_counter(events, "odd " HOSTILE " rate", 0, 3 * S, "MB/s", 2);
    assert_null(find_event(events, "C", "odd " HOSTILE " waited", 1)); /* once */
    assert_null(find_event(events, "C", "odd " HOSTILE " number", 0));
    assert_null(find_event(events, "C", "odd " HOSTILE " drops", 0));
    json_decref(document);
    free(text);
}

/* ---- pieces ---- */

static char *slice_text(const char *name, int64_t start_ns, int64_t end_ns) {
    char *text = NULL;
    size_t size;
    struct trace trace;
    struct trace_argument argument = {"text", 0, name};
    struct trace_slice slice = {1, 2, start_ns, end_ns, "test", name, &argument, 1};
    FILE *out = open_memstream(&text, &size);
    trace_begin(&trace, out);
    trace_put_slice(&trace, &slice);
    trace_put_counter(&trace, 1, start_ns, name, name, 1e300 * 1e300);
    assert_int_equal(trace_end(&trace, NULL, 0), 0);
    fclose(out);
    return text;
}

/* As readers convert them: double x 1000, truncated. */
static void no_nanosecond_is_lost(void **state) {
    (void)state;
    srandom(1);
    for (int i = 0; i < 20000; i++) {
        int64_t start = ((int64_t)random() << 13 | random() % 8192) % (1000 * S),
                duration = random() % (i % 2 ? 1000 : 100000000);
        char *text = slice_text("x", start, start + duration);
        json_t *document = json_loads(text, 0, NULL);
        const json_t *event = json_array_get(json_object_get(document, "traceEvents"), 0);
        if (member_ns(event, "ts") != start || member_ns(event, "dur") != duration)
            fail_msg("%lld + %lld: %s", (long long)start, (long long)duration, text);
        json_decref(document);
        free(text);
    }
}

static void no_text_breaks_the_file(void **state) {
    static const char *const texts[] = {HOSTILE, "",       "a\tb\nc\001", "\xff\xfe", "\\",
                                        "\"",    "\u202e", "</script>",   "\\u0041\\"};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        char *text = slice_text(texts[i], 0, 1);
        json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        if (!document)
            fail_msg("%s", text);
        assert_int_equal(json_array_size(json_object_get(document, "traceEvents")), 1);
        for (const char *p = text; (p = strchr(p, '\\')); p += 2)
            assert_true(p[1] == '"' || p[1] == '\\');
        json_decref(document);
        free(text);
    }
    char *text = slice_text(HOSTILE, 0, 1);
    json_t *document = json_loads(text, 0, NULL);
    const json_t *event = json_array_get(json_object_get(document, "traceEvents"), 0);
    assert_string_equal(member_text(event, "name"), HOSTILE);
    json_decref(document);
    free(text);
}

#define TRACK_SLICES 3000
struct placed {
    int64_t start, end;
    unsigned tid;
};

static int by_start(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                                : (x->end < y->end) - (x->end > y->end);
}

static void slices_of_a_track_never_cross(void **state) {
    static struct placed slices[TRACK_SLICES];
    struct strands strands = {.next_tid = 5};
    bool is_new;
    size_t tracks = 0;
    (void)state;
    srandom(2);
    for (size_t i = 0; i < TRACK_SLICES; i++) {
        slices[i].start = random() % 100000;
        slices[i].end = slices[i].start + random() % (i % 10 ? 100 : 3000);
    }
    qsort(slices, TRACK_SLICES, sizeof *slices, by_start);
    struct strand *strand = strand_get(&strands, 0, 1, -1, 0, &is_new);
    for (size_t i = 0; i < TRACK_SLICES; i++) {
        struct track *track =
            strand_place(&strands, strand, slices[i].start, slices[i].end, &is_new);
        slices[i].tid = track ? track->tid : 0;
        tracks += is_new;
        for (size_t k = 0; k < i; k++)
            if (slices[i].tid && slices[k].tid == slices[i].tid &&
                slices[k].start < slices[i].start && slices[i].start < slices[k].end &&
                slices[k].end < slices[i].end)
                fail_msg("%zu crosses %zu", i, k);
    }
    assert_int_equal(tracks, strand->n_tracks);
    assert_int_equal(strands.next_tid, 5 + tracks);
    assert_int_equal(strands.left_out, 0);
    strands_release(&strands);
}

/* Nonsense marks of a program cost its own slices, which are counted. */
static void too_deep_a_nest_is_counted(void **state) {
    struct strands strands = {.next_tid = 1};
    bool is_new;
    (void)state;
    struct strand *strand = strand_get(&strands, 0, 1, -1, 0, &is_new);
    for (int i = 0; i < 100000; i++)
        strand_place(&strands, strand, i, 200000 + i, &is_new);
    assert_int_equal(strand->n_tracks, TRACKS_OF_STRAND);
    assert_int_equal(strands.left_out, 100000 - TRACKS_OF_STRAND);
    strands_release(&strands);
}

/* ---- the store's part ---- */

static void tables_are_listed_with_what_agents_said(void **state) {
    struct fixture *f = *state;
    struct store_table_info *tables;
    size_t n;
    static const char *const names[] = {"call", "cpu", "mark", "process"};
    assert_int_equal(store_list_tables(f->store, f->run, &tables, &n), 0);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(tables[i].name, names[i]);
    assert_int_equal(tables[0].kind, TABLE_EVENTS);
    assert_int_equal(tables[1].n_columns, 2);
    assert_string_equal(tables[1].instance, "core");
    assert_string_equal(tables[1].columns[0].help, "time in user mode");
    assert_int_equal(tables[1].columns[0].unit, UNIT_NS);
    assert_int_equal(tables[1].columns[0].kind, COLUMN_COUNTER);
    assert_int_equal(tables[3].columns[0].kind, COLUMN_LEVEL);
    store_tables_free(tables, n);
    assert_int_equal(store_list_tables(f->store, 1, &tables, &n), 0);
    assert_int_equal(n, 0); /* the first run has no rows */
    store_tables_free(tables, n);
}

struct order {
    int64_t host, t_ns, n;
};

static int see_order(void *ctx, const struct store_row_read *row) {
    struct order *order = ctx;
    assert_true(row->host > order->host || row->t_ns >= order->t_ns);
    *order = (struct order){row->host, row->t_ns, order->n + 1};
    return 0;
}

static void rows_come_as_stored(void **state) {
    struct fixture *f = *state;
    static const char *const columns[] = {"rank", "no_such_column"};
    struct order order = {0};
    assert_int_equal(
        store_each_row_as_stored(f->store, f->run, "process", columns, 2, see_order, &order), 0);
    assert_int_equal(order.n, 2 * (7 + 2)); /* a resting process: its first row and its last */
    assert_int_equal(
        store_each_row_as_stored(f->store, f->run, "none", columns, 2, see_order, &order), -ENOENT);
}

static int no_header(void *ctx, const char *const *names, size_t n) {
    (void)ctx;
    (void)names;
    (void)n;
    return 0;
}
static int no_row(void *ctx, const struct store_cell *cells, size_t n) {
    (void)ctx;
    (void)cells;
    (void)n;
    return -ECANCELED;
}

static void a_view_that_is_none_is_refused(void **state) {
    struct fixture *f = *state;
    static const char *const names[] = {"run", "none", "x\" --", "frame", ""};
    const struct store_view_reader reader = {no_header, no_row, NULL};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        assert_int_equal(store_read_view(f->store, f->run, names[i], &reader), -ENOENT);
    assert_int_equal(store_read_view(f->store, f->run, "cpu", &reader), -ECANCELED);
}

/* ---- a recording without calls or marks, and none at all ---- */

static void an_empty_run_has_empty_exports(void **state) {
    struct fixture *f = *state;
    struct store_run run;
    static const struct export_format *const formats[] = {&export_perfetto, &export_openmetrics};
    assert_int_equal(store_find_run(f->store, "1", &run), 0);
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_int_equal(formats[i]->write(f->store, &run, NULL, out), 0);
        fclose(out);
        assert_true(size > 10);
        free(text);
    }
    store_run_release(&run);
}

static void a_full_disk_is_told(void **state) {
    struct fixture *f = *state;
    struct store_run run;
    static const struct export_format *const formats[] = {&export_perfetto, &export_openmetrics,
                                                          &export_csv};
    assert_int_equal(store_find_run(f->store, "last", &run), 0);
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        FILE *full = fopen("/dev/full", "w");
        assert_non_null(full);
        setvbuf(full, NULL, _IONBF, 0);
        assert_int_equal(formats[i]->write(f->store, &run, "mark", full), -EIO);
        fclose(full);
    }
    store_run_release(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(exports_are_as_before, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(the_timeline_has_what_was_planned, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(what_crosses_gets_a_track_of_its_own, setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(any_table_of_samples_becomes_counters, setup,
                                        fixture_teardown),
        cmocka_unit_test(no_nanosecond_is_lost),
        cmocka_unit_test(no_text_breaks_the_file),
        cmocka_unit_test(slices_of_a_track_never_cross),
        cmocka_unit_test(too_deep_a_nest_is_counted),
        cmocka_unit_test_setup_teardown(tables_are_listed_with_what_agents_said, setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(rows_come_as_stored, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_view_that_is_none_is_refused, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(an_empty_run_has_empty_exports, setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_is_told, setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
