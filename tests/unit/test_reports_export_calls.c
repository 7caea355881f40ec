/* SPDX-License-Identifier: MIT */
/* MPI calls on the timeline: rows of polls are one slice, messages are arrows. */
#include "tests/unit/store_fixture.h"

#include <errno.h>
#include <jansson.h>

#include "common/error.h"
#include "reports/export/export.h"
#include "tests/unit/recorded_run.h"

#define S NS_PER_S
#define US NS_PER_US
#define MS NS_PER_MS
#define FOLDED 2

static int64_t sequences[2];

static void call(struct fixture *f, int rank, const char *name, int64_t start, int64_t duration,
                 int64_t polls, int flags) {
    const int64_t none = VALUE_ABSENT;
    ROW(f, &all_tables[TABLE_CALL], name, rank, 10 + rank, ++sequences[rank], 100 * S + start,
        duration, 0, 1 - rank, 7, 4096, none, none, none, polls, flags, 0, none);
}

/* A frame of each rank and second, as agents send them. */
static void frame(struct fixture *f, uint64_t seq) {
    assert_int_equal(fixture_frame(f, seq, 100.0 + (double)seq / 10), 0);
}

static void begin(struct fixture *f) {
    const struct clock_estimate exchange = {100 * S, RUN_MONO_NS - 100 * S, 1000};
    sequences[0] = sequences[1] = 0;
    assert_int_equal(store_begin(f->store), 0);
    assert_int_equal(store_clock(f->store, f->stream, &exchange), 0);
}

static json_t *export_events(struct fixture *f, json_t **ret_document) {
    struct store *reader;
    struct store_run run;
    char *text = NULL;
    size_t size;
    assert_int_equal(store_commit(f->store), 0);
    assert_int_equal(
        store_run_end(f->store, f->run, RUN_DONE, 0, RUN_WALL_NS + 3 * S, RUN_MONO_NS + 3 * S), 0);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(store_open_read(f->path, &reader, f->why, sizeof f->why), 0);
    assert_int_equal(store_find_run(reader, "last", &run), 0);
    assert_int_equal(export_perfetto.write(reader, &run, NULL, out), 0);
    fclose(out);
    store_run_release(&run);
    store_close(reader);
    *ret_document = json_loads(text, 0, NULL);
    free(text);
    assert_non_null(*ret_document);
    return json_object_get(*ret_document, "traceEvents");
}

static const char *text_of(const json_t *event, const char *member) {
    const char *text = json_string_value(json_object_get(event, member));
    return text ? text : "";
}

static int64_t time_of(const json_t *event, const char *member) {
    return (int64_t)(json_real_value(json_object_get(event, member)) * 1000.0);
}

static int64_t argument(const json_t *event, const char *name) {
    return json_integer_value(json_object_get(json_object_get(event, "args"), name));
}

/* The n-th event with that phase and category, or NULL. */
static const json_t *nth(const json_t *events, const char *phase, const char *category, size_t n) {
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event) {
        if (strcmp(text_of(event, "ph"), phase) == 0 &&
            strcmp(text_of(event, "cat"), category) == 0 && n-- == 0)
            return event;
    }
    return NULL;
}

static void a_row_of_polls_is_one_slice(void **state) {
    struct fixture *f = *state;
    json_t *document;
    begin(f);
    for (int i = 0; i < 40; i++) { /* over several frames, 1 ms apart */
        if (i % 10 == 0)
            frame(f, 1 + (uint64_t)i / 10);
        call(f, 0, "MPI_Test", S + i * MS, 2 * US, 3, FOLDED);
        call(f, 1, i % 2 ? "MPI_Test" : "MPI_Iprobe", S + i * MS, 2 * US, 1, FOLDED);
    }
    frame(f, 10);
    call(f, 0, "MPI_Test", S + 200 * MS, 2 * US, 1, FOLDED); /* after a pause */
    call(f, 0, "MPI_Test", S + 201 * MS, 2 * US, 1, 0);      /* found something */
    call(f, 0, "MPI_Test", S + 202 * MS, 2 * US, 1, FOLDED);
    json_t *events = export_events(f, &document);
    const json_t *row = nth(events, "X", "mpi", 0), *mixed;
    assert_string_equal(text_of(row, "name"), "MPI_Test");
    assert_int_equal(time_of(row, "ts"), S);
    assert_int_equal(time_of(row, "dur"), 39 * MS + 2 * US);
    assert_int_equal(argument(row, "polls"), 120);
    assert_int_equal(argument(row, "events"), 40);
    assert_int_equal(time_of(nth(events, "X", "mpi", 1), "ts"), S + 200 * MS);
    assert_int_equal(time_of(nth(events, "X", "mpi", 2), "ts"), S + 201 * MS);
    size_t n = 0;
    while ((mixed = nth(events, "X", "mpi", n)) && strcmp(text_of(mixed, "name"), "MPI polls"))
        n++;
    assert_non_null(mixed);
    assert_int_equal(argument(mixed, "polls"), 40);
    while (nth(events, "X", "mpi", n))
        n++;
    assert_int_equal(n, 5); /* three more of rank 0, one of rank 1 */
    json_decref(document);
}

static void an_arrow_leads_from_a_send_to_its_receive(void **state) {
    struct fixture *f = *state;
    json_t *document;
    begin(f);
    frame(f, 1);
    for (int i = 0; i < 3; i++) {
        call(f, 0, "MPI_Send", S + 20 * i * MS, 5 * US, 1, 0);
        call(f, 1, "MPI_Recv", S + 20 * i * MS - 10 * US, 30 * US, 1, 0);
    }
    json_t *events = export_events(f, &document);
    const json_t *send = nth(events, "X", "mpi", 0), *from, *to;
    assert_string_equal(text_of(send, "name"), "MPI_Recv"); /* it begins first */
    for (size_t i = 0; i < 3; i++) {
        from = nth(events, "s", "message", i);
        to = nth(events, "f", "message", i);
        assert_non_null(from);
        assert_non_null(to);
        assert_true(json_equal(json_object_get(from, "id"), json_object_get(to, "id")));
        assert_string_equal(text_of(to, "bp"), "e");
        assert_int_equal(time_of(from, "ts") % (20 * MS), 0);
        assert_int_equal(time_of(to, "ts") - time_of(from, "ts"), 20 * US - 1);
        assert_false(json_equal(json_object_get(from, "tid"), json_object_get(to, "tid")));
    }
    assert_null(nth(events, "s", "message", 3));
    json_decref(document);
}

static void messages_that_do_not_fit_have_no_arrow(void **state) {
    struct fixture *f = *state;
    json_t *document;
    begin(f);
    frame(f, 1);
    call(f, 1, "MPI_Recv", S, 30 * US, 1, 0); /* received before it was sent */
    call(f, 0, "MPI_Send", S + 2 * MS, 5 * US, 1, 0);
    json_t *events = export_events(f, &document);
    assert_non_null(nth(events, "X", "mpi", 1));
    assert_null(nth(events, "s", "message", 0));
    json_decref(document);
}

/* More than a timeline holds: short calls alternate with polls, and three long ones are among them.
 */
static void short_calls_join_where_there_are_too_many(void **state) {
    struct fixture *f = *state;
    json_t *document, *event;
    size_t i, slices = 0, together = 0, longs = 0;
    begin(f);
    int64_t at = S;
    for (int n = 0; n < 24000; n++) {
        bool is_long = n % 8000 == 4000;
        int64_t duration = is_long ? 30 * US : US + n % 1000;
        if (n % 200 == 0)
            frame(f, 1 + (uint64_t)n / 200);
        call(f, 0,
             n % 2     ? "MPI_Test"
             : is_long ? "MPI_Send"
                       : "MPI_Isend",
             at, duration, n % 2, n % 2 ? FOLDED : 0);
        at += duration + US / 2;
    }
    json_t *events = export_events(f, &document);
    json_array_foreach(events, i, event) {
        const char *name = json_string_value(json_object_get(event, "name"));
        if (strcmp(json_string_value(json_object_get(event, "ph")), "X") != 0)
            continue;
        slices++;
        together += strcmp(name, "MPI calls") == 0;
        longs += strcmp(name, "MPI_Send") == 0;
    }
    assert_true(slices <= 20000);
    assert_true(together > 0);
    assert_int_equal(longs, 3);
    json_decref(document);
}

/* ---- marks that do not fit ---- */

enum { PHASE = 1, ITERATION = 2, VALUE = 4 };

static void mark(struct fixture *f, int kind, int64_t number, int64_t start, int64_t duration) {
    ROW(f, &all_tables[TABLE_MARK], "mark", kind, 0, 10, number, 100 * S + start, duration,
        VALUE_ABSENT, VALUE_ABSENT);
}

static void value(struct fixture *f, const char *name, int rank, int64_t start, int64_t nano) {
    ROW(f, &all_tables[TABLE_MARK], name, VALUE, rank, 10 + rank, VALUE_ABSENT, 100 * S + start, 0,
        VALUE_ABSENT, nano);
}

/* There is room for 10,000 in a run this short; the shortest are left out, and never a phase. */
static void marks_that_do_not_fit_are_counted(void **state) {
    struct fixture *f = *state;
    enum { MARKS = 10600, SHORT = 700 };
    json_t *document, *event;
    size_t i, iterations = 0, phases = 0;
    begin(f);
    frame(f, 1);
    mark(f, PHASE, VALUE_ABSENT, 0, 1 * US);
    for (int n = 0; n < MARKS; n++) {
        if (n % 1000 == 0)
            frame(f, 2 + (uint64_t)n / 1000);
        mark(f, ITERATION, n, n * 100 * US, (n < SHORT ? 2 : 50) * US + n);
    }
    frame(f, 20);
    json_t *events = export_events(f, &document);
    json_array_foreach(events, i, event) {
        bool slice = strcmp(text_of(event, "ph"), "X") == 0;
        iterations += slice && strcmp(text_of(event, "cat"), "iteration") == 0;
        phases += slice && strcmp(text_of(event, "cat"), "phase") == 0;
    }
    json_int_t left_out = json_integer_value(
        json_object_get(json_object_get(document, "otherData"), "marks_left_out"));
    assert_int_equal(iterations, 10000);
    assert_int_equal(left_out, MARKS - 10000);
    assert_int_equal(phases, 1);
    json_decref(document);
}

/* A step has the mean of its values; a track with one value keeps it. */
static void marked_values_join_where_there_are_too_many(void **state) {
    struct fixture *f = *state;
    enum { VALUES = 12000 };
    json_t *document, *event;
    size_t i, n[2] = {0}, seldom = 0;
    double first[2] = {0};
    begin(f);
    for (int v = 0; v < VALUES; v++) {
        if (v % 1000 == 0)
            frame(f, 1 + (uint64_t)v / 1000);
        for (int rank = 0; rank < 2; rank++)
            value(f, "loss", rank, v * 200 * US, (int64_t)v * NS_PER_S);
    }
    value(f, "learning rate", 0, S, 7 * NS_PER_S);
    frame(f, 20);
    json_t *events = export_events(f, &document);
    json_array_foreach(events, i, event) {
        const char *name = text_of(event, "name");
        double shown = json_number_value(json_object_get(json_object_get(event, "args"), "value"));
        if (strcmp(name, "rank 0 learning rate") == 0 && ++seldom)
            assert_true(shown == 7);
        for (int rank = 0; rank < 2; rank++)
            if (strcmp(name, rank ? "rank 1 loss" : "rank 0 loss") == 0 && n[rank]++ == 0)
                first[rank] = shown;
    }
    assert_int_equal(seldom, 1);
    /* 10,000 are the share of three tracks: 2.4 s in 3,333 steps of 720 us, of 4 values each. */
    for (int rank = 0; rank < 2; rank++) {
        assert_int_equal(n[rank], VALUES / 4);
        assert_true(first[rank] == 1.5);
    }
    json_int_t joined = json_integer_value(
        json_object_get(json_object_get(document, "otherData"), "values_joined"));
    assert_int_equal(joined, 2 * (VALUES - VALUES / 4));
    json_decref(document);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_row_of_polls_is_one_slice),
        TEST(short_calls_join_where_there_are_too_many),
        TEST(an_arrow_leads_from_a_send_to_its_receive),
        TEST(messages_that_do_not_fit_have_no_arrow),
        TEST(marks_that_do_not_fit_are_counted),
        TEST(marked_values_join_where_there_are_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
