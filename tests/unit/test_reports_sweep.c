/* SPDX-License-Identifier: MIT */
/* A sweep from the store to its tables: which runs belong to which cell, medians and intervals, the
 * run that stands for a cell, published figures, names with special meaning for a format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/error.h"
#include "reports/formats/formats.h"
#include "reports/model/summary.h"
#include "reports/plot/curve.h"
#include "reports/sweep/sweep_private.h"
#include "reports/sweep/sweep_write.h"
#include "tests/unit/golden.h"
#include "tests/unit/recorded_run.h"

struct fixture {
    char directory[64], path[96];
    struct store *store;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    char why[256];
    snprintf(f->directory, sizeof f->directory, "/tmp/chokepoint-sweep-XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    snprintf(f->path, sizeof f->path, "%s/test.db", f->directory);
    assert_int_equal(store_open_write(f->path, &f->store, why, sizeof why), 0);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    char command[128];
    store_close(f->store);
    snprintf(command, sizeof command, "rm -rf -- %s", f->directory);
    assert_int_equal(system(command), 0);
    free(f);
    return 0;
}

/* ---- figures ---- */

static void expect_figure(const double *values, size_t n, double median, double low, double high) {
    double copy[20];
    memcpy(copy, values, n * sizeof *values);
    struct sweep_figure f = sweep_figure(copy, n);
    assert_true(f.median == median && f.low == low && f.high == high);
}

static void few_runs_have_a_range_and_many_an_interval(void **state) {
    const double values[] = {9, 1, 8, 2, 7, 3, 6, 4, 5};
    (void)state;
    expect_figure(values, 1, 9, 9, 9);
    expect_figure(values, 5, 7, 1, 9);
    expect_figure(values, 6, 5, 1, 9); /* P(all on one side) = 2/64 */
    expect_figure(values, 8, 5, 1, 9); /* without the outermost 93 % */
    expect_figure(values, 9, 5, 2, 8); /* without the outermost 96.1 % */
}

static void unknown_values_do_not_count(void **state) {
    double values[] = {NAN, 4, NAN, 2}, none[] = {NAN};
    (void)state;
    struct sweep_figure f = sweep_figure(values, 4);
    assert_int_equal(f.n, 2);
    assert_true(f.median == 3 && f.mean == 3);
    f = sweep_figure(none, 1);
    assert_int_equal(f.n, 0);
    assert_true(isnan(f.median));
}

static void words_name_measures(void **state) {
    static const char *const good[] = {"time",      "to:85",     "to:0.5",
                                       "last:loss", "disk-read", "for:1000000"},
                             *const bad[] = {"",       "tim",  "times", "to:",   "to:0",
                                             "to:101", "to:x", "last:", "for:0", "for:x"};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(good); i++)
        assert_true(sweep_is_measure(good[i]));
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_false(sweep_is_measure(bad[i]));
}

/* 5000 examples in the two seconds between the first test and the last. */
static void a_time_for_examples_follows_from_the_rate(void **state) {
    double t_s[] = {1, 2, 3}, iteration[] = {0, 1, 2}, examples[] = {0, 1000, 5000};
    struct report_curve curve = {.name = (char *)"examples trained",
                                 .n = 3,
                                 .t_s = t_s,
                                 .iteration = iteration,
                                 .value = examples};
    struct report report = {.duration_s = 9, .curves = &curve, .n_curves = 1};
    struct sweep *sweep = calloc(1, sizeof *sweep);
    (void)state;
    assert_int_equal(sweep_add_measure(sweep, "for:1000000"), 0);
    assert_string_equal(sweep->measures[0].title, "time for 1000000 examples (s)");
    assert_float_equal(sweep_measure_run(&report, &sweep->measures[0]), 400, 1e-9);
    report.n_curves = 0; /* a program without marks */
    assert_true(isnan(sweep_measure_run(&report, &sweep->measures[0])));
    sweep_free(sweep);
}

/* ---- the store ---- */

static char *modes[] = {(char *)"sync", (char *)"=1|`<b>"},
            *batches[] = {(char *)"1", (char *)"10"};

static struct store_sweep plan(void) {
    return (struct store_sweep){
        .name = (char *)"r3",
        .command = (char *)"./train {mode} {batch}",
        .repeats = 2,
        .parameters = {{(char *)"mode", modes, 2}, {(char *)"batch", batches, 2}},
        .n_parameters = 2};
}

static int64_t begin(struct fixture *f, int64_t sweep, const char *mode, const char *batch) {
    const struct run_label labels[] = {{"mode", mode}, {"batch", batch}};
    const struct run_begin run = {.name = "r3/x",
                                  .command = "./train",
                                  .wall_ns = RECORDED_WALL_NS,
                                  .mono_ns = RECORDED_MONO_NS,
                                  .period_ns = 100 * NS_PER_MS,
                                  .sweep = sweep,
                                  .labels = labels,
                                  .n_labels = 2};
    int64_t id;
    assert_int_equal(store_run_begin(f->store, &run, &id), 0);
    return id;
}

static void runs_belong_to_cells_by_their_values(void **state) {
    struct fixture *f = *state;
    struct store_sweep sweep = plan(), found;
    struct store_sweep_run *runs;
    size_t n;
    int64_t id, again;
    assert_int_equal(store_sweep_join(f->store, &sweep, &id), 0);
    begin(f, id, "=1|`<b>", "10");
    begin(f, id, "sync", "7"); /* of no cell */
    begin(f, 0, "sync", "1");  /* of no sweep */
    int64_t last = begin(f, id, "sync", "1");
    assert_int_equal(store_sweep_join(f->store, &sweep, &again), 0);
    assert_int_equal(again, id);
    assert_int_equal(store_find_sweep(f->store, NULL, &found), 0);
    assert_string_equal(found.name, "r3");
    assert_int_equal(found.parameters[1].n_values, 2);
    assert_int_equal(store_list_sweep_runs(f->store, &found, &runs, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(runs[0].value[0], 1);
    assert_int_equal(runs[0].value[1], 1);
    assert_int_equal(runs[1].run.id, last);
    store_sweep_runs_free(runs, n);
    store_sweep_release(&found);
}

static void values_join_and_other_commands_do_not(void **state) {
    struct fixture *f = *state;
    char *more[] = {(char *)"10", (char *)"100"};
    struct store_sweep sweep = plan(), other = plan(), found;
    int64_t id;
    assert_int_equal(store_sweep_join(f->store, &sweep, &id), 0);
    sweep.parameters[1].values = more;
    assert_int_equal(store_sweep_join(f->store, &sweep, &id), 0);
    other.command = (char *)"./other {mode} {batch}";
    assert_int_equal(store_sweep_join(f->store, &other, &id), -EEXIST);
    other = plan();
    other.parameters[0].name = (char *)"way";
    assert_int_equal(store_sweep_join(f->store, &other, &id), -EEXIST);
    assert_int_equal(store_find_sweep(f->store, "r3", &found), 0);
    assert_int_equal(found.parameters[1].n_values, 3);
    assert_string_equal(found.parameters[1].values[2], "100");
    store_sweep_release(&found);
    assert_int_equal(store_find_sweep(f->store, "r4", &found), -ENOENT);
}

/* ---- tables ---- */

/* A recorded run of a cell; its labels are added afterwards, as the recorder knows no sweeps. */
static void record_cell(struct fixture *f, int64_t sweep, const char *mode, const char *batch,
                        double duration_s, double send_mb_s) {
    static const char *const hosts[] = {"vm1", "vm2"};
    const struct recorded_run run = {"r3/x", "./train", hosts, 2, duration_s, send_mb_s, true, 0};
    char command[600];
    assert_int_equal(record_run(f->store, &run), 0);
    snprintf(command, sizeof command,
             "sqlite3 %s \"INSERT INTO sweep_run SELECT max(run), %lld FROM run;"
             "INSERT INTO run_label SELECT max(run), 'mode', '%s' FROM run;"
             "INSERT INTO run_label SELECT max(run), 'batch', '%s' FROM run\"",
             f->path, (long long)sweep, mode, batch);
    for (char *p = strchr(command, '`'); p; p = strchr(p + 2, '`')) { /* for the shell */
        memmove(p + 1, p, strlen(p) + 1);
        *p = '\\';
    }
    assert_int_equal(system(command), 0);
}

static void record_sweep(struct fixture *f) {
    struct store_sweep sweep = plan();
    int64_t id;
    assert_int_equal(store_sweep_join(f->store, &sweep, &id), 0);
    record_cell(f, id, "sync", "1", 24, 110);
    record_cell(f, id, "sync", "10", 14, 110);
    record_cell(f, id, "=1|`<b>", "1", 20, 55);
    int64_t failed = begin(f, id, "=1|`<b>", "10");
    assert_int_equal(store_run_end(f->store, failed, RUN_FAILED, 3, RECORDED_WALL_NS,
                                   RECORDED_MONO_NS + NS_PER_S),
                     0);
    record_cell(f, id, "sync", "1", 28, 110);
    record_cell(f, id, "sync", "1", 40, 110);
}

static struct sweep *build(struct fixture *f) {
    static const char *const measures[] = {"time", "accuracy", "to:60", "send"};
    struct sweep *sweep;
    assert_int_equal(sweep_build(f->store, "r3", measures, ARRAY_SIZE(measures), false, &sweep), 0);
    return sweep;
}

static const char *cell_of(const struct sweep_table *table, const char *row, size_t column) {
    for (size_t r = 1; r < table->rows; r++)
        if (strcmp(table->cells[r * table->columns], row) == 0)
            return table->cells[r * table->columns + column];
    fail_msg("no row '%s'", row);
    return NULL;
}

static void a_cell_has_the_median_of_its_runs(void **state) {
    struct fixture *f = *state;
    record_sweep(f);
    struct sweep *sweep = build(f);
    const struct sweep_cell *cell = &sweep->cells[0];
    assert_int_equal(sweep->n_cells, 4);
    assert_int_equal(cell->n_done, 3);
    assert_true(cell->figures[0].median == 28 && cell->figures[0].low == 24 &&
                cell->figures[0].high == 40);
    assert_int_equal(cell->typical->run_id, 5);
    /* 50 % at the end of iteration 0, 5 points more at each fifth one: 60 % after 22 s */
    assert_float_equal(cell->figures[2].median, 22, 0.01);
    assert_int_equal(cell->figures[2].n, 3);
    assert_int_equal(sweep->cells[1].figures[2].n, 0); /* it never got there */
    assert_int_equal(sweep->cells[3].n_failed, 1);
    assert_null(sweep->cells[3].typical);
    struct sweep_tables tables = {
        0}; /* training takes 26 s of the 28, and sends every other second */
    assert_int_equal(sweep_tables_add(&tables, sweep, "means", 1), 0);
    assert_string_equal(cell_of(&tables.items[0], "sync, 1", 1), "3");
    assert_string_equal(cell_of(&tables.items[0], "sync, 1", 2), "30.7"); /* 24, 28, 40 s */
    sweep_tables_free(&tables);
    assert_int_equal(sweep_tables_add(&tables, sweep, "phases", 1), 0);
    assert_int_equal(tables.n, 2); /* and the table of what is marked as none */
    assert_string_equal(tables.items[0].title, "Averages of each host in phase training");
    assert_string_equal(tables.items[0].cells[1], "sync, 1 vm1");
    assert_string_equal(cell_of(&tables.items[0], "avg_nw_send (MB/s)", 1), "55.0");
    sweep_tables_free(&tables);
    sweep_free(sweep);
}

/* Runs that do not stand for their cell are only read for their figures. */
static void figures_need_no_verdict(void **state) {
    static const char *const measures[] = {
        "time", "training", "accuracy", "examples",  "updates",    "iteration", "staleness",
        "cpu",  "recv",     "send",     "disk-read", "disk-write", "to:55",     "last:accuracy"};
    struct fixture *f = *state;
    struct sweep *sweep;
    struct report *all, *measured;
    size_t known = 0;
    record_sweep(f);
    assert_int_equal(sweep_build(f->store, "r3", measures, ARRAY_SIZE(measures), false, &sweep), 0);
    assert_int_equal(report_build(f->store, "1", &(struct caller){0}, &all), 0);
    assert_int_equal(report_build_measured(f->store, "1", &measured), 0);
    for (size_t m = 0; m < ARRAY_SIZE(measures); m++) {
        double x = sweep_measure_run(all, &sweep->measures[m]),
               y = sweep_measure_run(measured, &sweep->measures[m]);
        assert_true(x == y || (isnan(x) && isnan(y)));
        known += !isnan(x);
    }
    assert_int_equal(known,
                     ARRAY_SIZE(measures) - 3); /* the program counts no examples or updates */
    assert_null(measured->verdict.resource);
    report_free(all);
    report_free(measured);
    sweep_free(sweep);
}

/* Marked iterations are the same for every reader. Found ones must not come from MPI calls (an
 * iteration each 0.5 s) in one run of a cell and from bytes on the links (each 2 s) in the others.
 */
static void all_runs_of_a_cell_are_measured_in_one_way(void **state) {
    static const char *const hosts[] = {"vm1", "vm2"};
    const struct recorded_run run = {"x", "./train", hosts, 2, 40, 110, false, 0.5};
    struct fixture *f = *state;
    struct report *all, *measured;
    assert_int_equal(record_run(f->store, &run), 0);
    assert_int_equal(report_build(f->store, "1", &(struct caller){0}, &all), 0);
    assert_int_equal(report_build_measured(f->store, "1", &measured), 0);
    assert_float_equal(report_summarize(all).iteration_median_s, 0.5, 0.01);
    assert_float_equal(report_summarize(measured).iteration_median_s, 0.5, 0.01);
    report_free(all);
    report_free(measured);
}

/* ---- pace ---- */

static struct report_curve planted_curve(const char *name, double *t_s, double *value, size_t n) {
    static double unknown[12] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    return (struct report_curve){(char *)name, 0, n, t_s, unknown, value};
}

/* Sync makes an update a second and ends after 20 s, async three and ends after 10 s: equal time is
 * 10 s (10 updates of sync), equal updates are 20 (6.67 s of async).
 */
static void cells_are_held_against_each_other_where_the_first_ended(void **state) {
    static double sync_t[] = {0, 20}, sync_updates[] = {0, 20}, sync_accuracy[] = {0.1, 0.9},
                  async_t[] = {0, 5, 10}, async_updates[] = {0, 15, 30},
                  async_accuracy[] = {0.1, 0.68, 0.7};
    struct report_curve sync[] = {planted_curve("accuracy", sync_t, sync_accuracy, 2),
                                  planted_curve("updates", sync_t, sync_updates, 2)},
                        async[] = {planted_curve("accuracy", async_t, async_accuracy, 3),
                                   planted_curve("updates", async_t, async_updates, 3)};
    struct report reports[] = {{.curves = sync, .n_curves = 2}, {.curves = async, .n_curves = 2}};
    struct sweep_cell cells[] = {{.typical = &reports[0]}, {.value = {1}, .typical = &reports[1]}};
    char *values[] = {(char *)"sync", (char *)"async"};
    struct sweep sweep = {.of = {.parameters = {{(char *)"mode", values, 2}}, .n_parameters = 1},
                          .cells = cells,
                          .n_cells = 2};
    struct sweep_tables tables = {0};
    (void)state;
    assert_int_equal(sweep_tables_add(&tables, &sweep, "pace", 0), 0);
    assert_int_equal(sweep_tables_add(&tables, &sweep, "curves", 0), 0);
    assert_int_equal(tables.n, 2);
    char *const *pace = tables.items[0].cells, *const *curves = tables.items[1].cells;
    assert_string_equal(pace[4], "accuracy after 10 s (%)");
    assert_string_equal(pace[5], "accuracy after 20 updates (%)");
    assert_string_equal(pace[6], "-"); /* the program counts no examples */
    assert_string_equal(pace[7 + 1], "1.00");
    assert_string_equal(pace[7 + 4], "10.00 to 90.00"); /* no test is near */
    assert_string_equal(pace[7 + 5], "90.0");
    assert_string_equal(pace[14 + 1], "3.00");
    assert_string_equal(pace[14 + 4], "70.0");
    assert_string_equal(pace[14 + 5], "68.7");
    assert_string_equal(curves[3 + 2], "10.00 % at 0 (0 s)");
    assert_string_equal(curves[9 + 2], "70.00 % at 30 (10 s)");
    sweep_tables_free(&tables);
    sweep.n_cells = 1; /* nothing to compare with */
    assert_int_equal(sweep_tables_add(&tables, &sweep, "pace", 0), 0);
    assert_int_equal(tables.n, 0);
}

/* Twelve cells, each with as many tests as its number: none is cut off, and no line is wider than a
 * terminal.
 */
static void curves_of_many_cells_fit_a_screen(void **state) {
    static double t[] = {10000.5, 20000.5, 30000.5, 40000.5, 50000.5, 60000.5,
                         70000.5, 80000.5, 90000.5, 100000,  110000,  120000},
                  updates[] = {1000000, 2000000, 3000000, 4000000,  5000000,  6000000,
                               7000000, 8000000, 9000000, 10000000, 11000000, 12000000},
                  accuracy[] = {0.01, 0.02, 0.03, 0.04, 0.05, 0.06,
                                0.07, 0.08, 0.09, 0.10, 0.11, 0.12};
    char *nodes[] = {(char *)"1", (char *)"2", (char *)"3"},
         *sizes[] = {(char *)"64", (char *)"128", (char *)"256", (char *)"512"};
    struct report_curve curves[12][2];
    struct report reports[12];
    struct sweep_cell cells[12];
    struct sweep sweep = {
        .of = {.parameters = {{(char *)"nodes", nodes, 3}, {(char *)"batch", sizes, 4}},
               .n_parameters = 2,
               .command = (char *)"./train"},
        .cells = cells,
        .n_cells = 12};
    struct sweep_tables tables = {0};
    const struct sweep_section section = {"F1", NULL, &sweep, &tables, NULL, NULL};
    char *text = NULL;
    size_t size;
    (void)state;
    for (size_t i = 0; i < 12; i++) {
        curves[i][0] = planted_curve("accuracy", t, accuracy, i + 1);
        curves[i][1] = planted_curve("updates", t, updates, i + 1);
        reports[i] = (struct report){.curves = curves[i], .n_curves = 2};
        cells[i] = (struct sweep_cell){.value = {i / 4, i % 4}, .typical = &reports[i]};
    }
    assert_int_equal(sweep_tables_add(&tables, &sweep, "curves", 0), 0);
    assert_int_equal(tables.n, 1);
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(sweep_write(&section, 1, &format_text, out), 0);
    fclose(out);
    char *const *one = tables.items[0].cells + 4, *const *last = tables.items[0].cells + 4 * 12;
    assert_true(!one[1] && !one[2]); /* its only test is its last */
    assert_string_equal(one[3], "1.00 % at 1000000 (1e+04 s)");
    assert_string_equal(last[0], "3, 512");
    assert_string_equal(last[1], "4.00 % at 4000000 (4e+04 s)");
    assert_string_equal(last[2], "8.00 % at 8000000 (8e+04 s)");
    assert_string_equal(last[3], "12.00 % at 12000000 (1.2e+05 s)");
    for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line;
         line = strtok_r(NULL, "\n", &rest))
        assert_in_range(strlen(line), 0, 100);
    free(text);
    sweep_tables_free(&tables);
}

/* A loss that falls from 1 to 0 and jumps by 0.3 at every point, and the same without the jumps. */
static void what_jumps_is_shown_by_its_mean(void **state) {
    enum { N = 400 };
    double t[N], calm[N], jumpy[N];
    (void)state;
    for (size_t i = 0; i < N; i++) {
        t[i] = (double)i;
        calm[i] = 1 - t[i] / (N - 1);
        jumpy[i] = calm[i] + (i % 2 ? 0.3 : -0.3);
    }
    jumpy[200] = NAN;
    struct report_curve course = planted_curve("loss", t, calm, N),
                        zigzag = planted_curve("loss", t, jumpy, N),
                        few = planted_curve("loss", t, jumpy, 50);
    assert_null(curve_running_mean(&course));
    assert_null(curve_running_mean(&few));
    double *means = curve_running_mean(&zigzag);
    assert_non_null(means);
    for (size_t i = 5; i + 5 < N; i++)
        assert_float_equal(means[i], calm[i], 0.07);
    assert_float_equal(means[0], jumpy[0], 1e-9); /* no neighbours on one side */
    free(means);
}

/* Every mean is that of its own window, beside a value that outweighs all others, beside unknown
 * ones, and in a curve of an hour, too long to sum each window separately.
 */
static void a_running_mean_is_of_its_window_alone(void **state) {
    enum { N = 500000, HUGE_AT = 100000, SIDE = N / 80 };
    static double t[N], value[N];
    (void)state;
    for (size_t i = 0; i < N; i++) {
        t[i] = (double)i;
        value[i] = i % 7 == 3 ? NAN : (double)(i % 1000) + (i % 2 ? 400 : 0);
    }
    value[HUGE_AT] = 1e20;
    struct report_curve zigzag = planted_curve("loss", t, value, N);
    double *means = curve_running_mean(&zigzag);
    assert_non_null(means);
    for (size_t at = 0; at < N; at += at < 50 || at + SIDE >= N ? 1 : 4973) {
        size_t side = at < SIDE ? at : N - 1 - at < SIDE ? N - 1 - at : SIDE, known = 0;
        double sum = 0;
        for (size_t i = at - side; i <= at + side; i++)
            if (!isnan(value[i])) {
                sum += value[i];
                known++;
            }
        if (known)
            assert_float_equal(means[at] / (sum / (double)known), 1, 1e-9);
        else
            assert_true(isnan(means[at]));
    }
    free(means);
}

/* ---- differences ---- */

enum { EACH = 5 };

/* A run of one host with one metric beside its duration. */
static void plant_run(struct report *report, struct report_resources *all,
                      struct report_value *values, int64_t id, double duration_s, double send) {
    static struct report_host host = {.name = (char *)"vm1"};
    for (size_t m = 0; m < METRIC_COUNT_; m++)
        values[m] = (struct report_value){NAN, NAN, NAN};
    values[METRIC_NET_SEND].mean = send;
    *all = (struct report_resources){(char *)"all", duration_s, values};
    *report = (struct report){.run_id = id,
                              .run_name = (char *)"r",
                              .command = (char *)"./train",
                              .state = (char *)"done",
                              .duration_s = duration_s,
                              .hosts = &host,
                              .n_hosts = 1,
                              .resources = all,
                              .n_resources = 1};
}

/* Run times that differ by twice as much as chance explains, and as many bytes a second within 1 %.
 */
static void differences_are_told_from_chance(void **state) {
    struct report reports[2][EACH];
    struct report_resources all[2][EACH];
    static struct report_value values[2][EACH][METRIC_COUNT_];
    struct sweep_run runs[2][EACH];
    struct sweep_cell cells[2];
    char *modes_planted[] = {(char *)"sync", (char *)"async"};
    struct sweep sweep = {
        .of = {.parameters = {{(char *)"mode", modes_planted, 2}}, .n_parameters = 1},
        .cells = cells,
        .n_cells = 2};
    struct sweep_tables tables = {0};
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        for (size_t i = 0; i < EACH; i++) {
            plant_run(&reports[c][i], &all[c][i], values[c][i], (int64_t)(10 * c + i),
                      c ? 5 + 0.1 * (double)i : 10 + 0.1 * (double)i, 80 + 0.1 * (double)(i + c));
            runs[c][i] = (struct sweep_run){.id = (int64_t)(10 * c + i),
                                            .measured = i ? &reports[c][i] : NULL};
        }
        cells[c] = (struct sweep_cell){
            .value = {c}, .runs = runs[c], .n_runs = EACH, .typical = &reports[c][0]};
    }
    assert_int_equal(sweep_tables_add(&tables, &sweep, "differences", 0), 0);
    assert_int_equal(tables.n, 1);
    const struct sweep_table *table = &tables.items[0];
    assert_string_equal(table->of, "async");
    static const char *const titles[] = {" ", "sync", "async", "is it real", "difference (95 %)"};
    for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
        assert_string_equal(table->cells[i], titles[i]);
    assert_string_equal(cell_of(table, "duration (s)", 1), "10.2");
    assert_string_equal(cell_of(table, "duration (s)", 2), "5.20");
    assert_non_null(strstr(cell_of(table, "duration (s)", 4), "-5.00 (-5."));
    assert_string_equal(cell_of(table, "duration (s)", 3), "yes, lower (0.008)"); /* 2 of 252 */
    assert_non_null(strstr(cell_of(table, "network write (MB/s)", 3), "no, within 2 % (0."));
    assert_string_equal(cell_of(table, "vm1 avg_nw_send (MB/s)", 1), "80.2");
    assert_non_null(strstr(cell_of(table, "vm1 avg_nw_send (MB/s)", 3), "no, within 2 %"));
    assert_int_equal(table->rows, 4); /* a figure that no cell has gets no row */
    sweep_tables_free(&tables);
    cells[1].n_runs = 4; /* too few runs of one */
    assert_int_equal(sweep_tables_add(&tables, &sweep, "differences", 0), 0);
    assert_string_equal(cell_of(&tables.items[0], "duration (s)", 3), "too few runs");
    assert_string_equal(cell_of(&tables.items[0], "duration (s)", 4), "-5.05");
    sweep_tables_free(&tables);
}

/* A measure of GPUs that a run tells is shown for all; one that none tells is not. */
static void measures_of_gpus_need_a_gpu(void **state) {
    static struct sweep_run runs[2] = {{.measures = {1, 2, 3, 4}}, {.measures = {5, 6, NAN, 8}}};
    static struct sweep_cell cells[2];
    static struct sweep sweep = {.cells = cells, .n_cells = 2};
    static const char *const asked[] = {"gpu-sm", "time", "gpu-tensor", "examples"};
    (void)state;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(sweep_add_measure(&sweep, asked[i]), 0);
    for (size_t c = 0; c < 2; c++) {
        cells[c] = (struct sweep_cell){.runs = &runs[c], .n_runs = 1};
        for (size_t m = 1; m < 4; m++)
            cells[c].figures[m] = (struct sweep_figure){.n = m == 2 ? c : 1, .mean = (double)m};
    }
    sweep_drop_gpus(&sweep);
    assert_int_equal(sweep.n_measures, 3);
    assert_string_equal(sweep.measures[0].name, "time");
    assert_string_equal(sweep.measures[1].name, "gpu-tensor");
    assert_string_equal(sweep.measures[2].title, "examples a second (1/s)");
    assert_true(cells[1].figures[1].mean == 2 && runs[1].measures[2] == 8);
    cells[1].figures[1].n = 0;
    sweep_drop_gpus(&sweep);
    assert_int_equal(sweep.n_measures, 2);
    for (size_t m = 0; m < sweep.n_measures; m++) {
        free(sweep.measures[m].name);
        free(sweep.measures[m].title);
    }
}

/* ---- phases ---- */

/* Forty tests of 10 ms in a recording with ten samples a second: samples in that time belong to
 * training.
 */
static void what_is_shorter_than_two_samples_has_no_averages(void **state) {
    enum { TESTS = 40 };
    static struct report_value values[3][METRIC_COUNT_];
    struct report_resources resources[3];
    struct report_phase phases[TESTS + 1] = {{(char *)"training", 0, 9.6, "marker"}};
    struct report report;
    char *modes_planted[] = {(char *)"sync"};
    struct sweep_cell cell = {.typical = &report};
    struct sweep sweep = {
        .of = {.parameters = {{(char *)"mode", modes_planted, 1}}, .n_parameters = 1},
        .cells = &cell,
        .n_cells = 1};
    struct sweep_tables tables = {0};
    (void)state;
    plant_run(&report, &resources[0], values[0], 1, 10, 80);
    resources[1] = (struct report_resources){(char *)"training", 9.6, values[1]};
    resources[2] = (struct report_resources){(char *)"testing", 0.4, values[2]};
    for (size_t i = 1; i <= TESTS; i++)
        phases[i] = (struct report_phase){(char *)"testing", 0.24 * (double)i,
                                          0.24 * (double)i + 0.01, "marker"};
    report.resources = resources;
    report.n_resources = 3;
    report.phases = phases;
    report.n_phases = TESTS + 1;
    report.period_s = 0.1;
    assert_int_equal(sweep_tables_add(&tables, &sweep, "phases", 0), 0);
    assert_int_equal(tables.n, 1);
    assert_string_equal(tables.items[0].of, "training");
    sweep_tables_free(&tables);
    report.n_phases = 2; /* the same in one stretch */
    assert_int_equal(sweep_tables_add(&tables, &sweep, "phases", 0), 0);
    assert_int_equal(tables.n, 2);
    sweep_tables_free(&tables);
}

/* ---- pictures ---- */

static bool has_picture(const struct sweep_pictures *pictures, const char *name) {
    for (size_t i = 0; i < pictures->n; i++)
        if (strcmp(pictures->items[i].name, name) == 0)
            return true;
    return false;
}

/* Whether or not gnuplot is installed. */
static void a_beginning_and_an_end_are_no_curve(void **state) {
    static double t[] = {0, 10, 20}, accuracy[] = {0.1, 0.8, 0.9};
    struct report_curve curve = planted_curve("accuracy", t, accuracy, 3);
    struct report report = {.curves = &curve, .n_curves = 1};
    char *values[] = {(char *)"sync"};
    struct sweep_cell cell = {.typical = &report};
    struct sweep sweep = {.of = {.name = (char *)"../a b",
                                 .parameters = {{(char *)"mode", values, 1}},
                                 .n_parameters = 1},
                          .cells = &cell,
                          .n_cells = 1};
    const struct sweep_tables tables = {0};
    struct sweep_pictures pictures;
    (void)state;
    assert_int_equal(sweep_pictures_make(&sweep, &tables, &pictures), 0);
    assert_true(has_picture(&pictures, "_._a_b-accuracy-time")); /* the name cannot leave the
                                                                    directory */
    sweep_pictures_free(&pictures);
    curve.n = 2;
    assert_int_equal(sweep_pictures_make(&sweep, &tables, &pictures), 0);
    assert_int_equal(pictures.n, 0);
    sweep_pictures_free(&pictures);
}

/* ---- timelines ---- */

/* 280 ms, a column each 10 ms: two runs of one operator share a line, one too short for a column is
 * still visible, another rank's operator has a separate line.
 */
static void an_iteration_is_drawn_by_rank_and_operator(void **state) {
    static struct report_host hosts[] = {{.name = (char *)"vm1"}, {.name = (char *)"vm2"}};
    static struct report_bar bars[] = {{0, 0, (char *)"read", 0, 0.05},
                                       {0, 0, (char *)"apply", 0.05, 0.051},
                                       {0, 0, (char *)"read", 0.26, 0.28},
                                       {1, 1, (char *)"read", 0.1, 0.4}};
    struct report report = {
        .hosts = hosts,
        .n_hosts = 2,
        .timeline = {
            .rank = 0, .number = 7, .duration_s = 0.28, .bars = bars, .n_bars = ARRAY_SIZE(bars)}};
    char *values[] = {(char *)"sync"};
    struct sweep_cell cell = {.typical = &report};
    struct sweep sweep = {.of = {.parameters = {{(char *)"mode", values, 1}}, .n_parameters = 1},
                          .cells = &cell,
                          .n_cells = 1};
    struct sweep_tables tables = {0};
    (void)state;
    assert_int_equal(sweep_tables_add(&tables, &sweep, "timeline", 0), 0);
    assert_int_equal(tables.n, 1);
    const struct sweep_table *table = &tables.items[0];
    assert_string_equal(
        table->title, "sync: Timeline of iteration 7 of rank 0, the one of median length (280 ms)");
    assert_int_equal(table->rows, 4);
    assert_int_equal(table->drawn, 4);
    assert_string_equal(cell_of(table, "0 vm1: read", 2), "280");
    assert_string_equal(cell_of(table, "0 vm1: read", 3), "70.0");
    assert_string_equal(cell_of(table, "0 vm1: read", 4), "#####.....................##");
    assert_string_equal(cell_of(table, "0 vm1: apply", 4), ".....#......................");
    assert_string_equal(cell_of(table, "1 vm2: read", 4), "..........##################");
    sweep_tables_free(&tables);
}

/* ---- words ---- */

/* These tests check words; other tests check how the runs are judged. */
static void plant_verdicts(struct sweep *sweep) {
    for (size_t i = 0; i < sweep->n_cells; i++) {
        struct report_verdict *v =
            sweep->cells[i].typical ? &sweep->cells[i].typical->verdict : NULL;
        if (!v)
            continue;
        free(v->resource);
        v->resource = strdup("net-egress");
        v->state = i == 0 ? VERDICT_SATURATED : i == 1 ? VERDICT_SUSPECTED : VERDICT_BALANCED;
        v->host = 1;
        v->gain_pct = i == 0 ? 34 : NAN;
    }
}

static void expect_written(const struct sweep *sweep, const struct sweep_tables *tables,
                           const char *format, const char *name) {
    const struct sweep_section section = {"R3 <i>`x`", "Theirs differ.", sweep, tables, NULL, NULL};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(sweep_write(&section, 1, format_find(format), out), 0);
    fclose(out);
    if (name)
        expect_golden(name, text);
    free(text);
}

/* A user's own sweep has no title but its name. */
static void expect_named(const struct sweep *sweep, const struct sweep_tables *tables) {
    static const char *const formats[] = {"text", "md", "html", "json"};
    const struct sweep_section section = {NULL, NULL, sweep, tables, NULL, NULL};
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        char *text = NULL, heading[200];
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_int_equal(sweep_write(&section, 1, format_find(formats[i]), out), 0);
        fclose(out);
        bool document = strcmp(formats[i], "json") == 0;
        snprintf(heading, sizeof heading, document ? "\"title\": \"%s\"" : "Sweep %s",
                 sweep->of.name);
        if (!strstr(text, heading))
            fail_msg("%s has no '%s'", formats[i], heading);
        free(text);
    }
}

/* ---- figures of somebody else ---- */

/* A table of two rows and one column. */
static void plant_table(struct sweep_tables *tables) {
    struct sweep_table *table = sweep_table_new(tables, "grid", "", 3, 2, "By mode");
    assert_int_equal(sweep_table_set(table, 0, 1, "time (s)"), 0);
    assert_int_equal(sweep_table_set(table, 1, 0, "sync"), 0);
    assert_int_equal(sweep_table_set(table, 2, 0, "async"), 0);
}

static void put(struct sweep_tables *tables, const char *row, const char *column) {
    assert_int_equal(sweep_tables_put_beside(tables, "grid", "", row, column, row), 0);
}

static void what_ours_lacks_stands_last(void **state) {
    struct sweep_tables tables = {0};
    (void)state;
    plant_table(&tables);
    put(&tables, SWEEP_BESIDE ", on Spark", "time (s)");
    put(&tables, SWEEP_BESIDE ", on Spark", "time (s)");
    put(&tables, SWEEP_BESIDE ", on Spark", "no such column");
    put(&tables, SWEEP_BESIDE ", nowhere", "no such column");
    put(&tables, "async", "time (s)");
    const struct sweep_table *table = &tables.items[0];
    assert_int_equal(table->rows, 5);
    assert_string_equal(table->cells[2 * 2], "async");
    assert_string_equal(table->cells[3 * 2], SWEEP_BESIDE);
    assert_string_equal(table->cells[3 * 2 + 1], "async");
    assert_string_equal(table->cells[4 * 2], SWEEP_BESIDE ", on Spark");
    assert_true(!table->beside[2] && table->beside[3] && table->beside[4]);
    sweep_tables_free(&tables);
}

static void tables_are_as_before(void **state) {
    static const char *const kinds[] = {"grid", "verdicts", "hosts", "job", "curves"};
    struct fixture *f = *state;
    struct sweep_tables tables = {0};
    record_sweep(f);
    struct sweep *sweep = build(f);
    plant_verdicts(sweep);
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
        assert_int_equal(sweep_tables_add(&tables, sweep, kinds[i], 1), 0);
    assert_int_equal(sweep_tables_put_beside(&tables, "grid", "time", "sync", "10", "64.8"), 0);
    assert_int_equal(sweep_tables_put_beside(&tables, "grid", "time", "sync", "1", "135.7"), 0);
    assert_int_equal(sweep_tables_put_beside(&tables, "grid", "time", "third", "1", "x"), 0);
    expect_written(sweep, &tables, "text", "sweep.txt");
    expect_written(sweep, &tables, "md", "sweep.md");
    expect_written(sweep, &tables, "csv", "sweep.csv");
    expect_written(sweep, &tables, "json", NULL);
    expect_named(sweep, &tables);
    sweep_tables_free(&tables);
    sweep_free(sweep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_runs_have_a_range_and_many_an_interval),
        cmocka_unit_test(unknown_values_do_not_count),
        cmocka_unit_test(words_name_measures),
        cmocka_unit_test(a_time_for_examples_follows_from_the_rate),
        cmocka_unit_test_setup_teardown(runs_belong_to_cells_by_their_values, setup, teardown),
        cmocka_unit_test_setup_teardown(values_join_and_other_commands_do_not, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cell_has_the_median_of_its_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(figures_need_no_verdict, setup, teardown),
        cmocka_unit_test_setup_teardown(all_runs_of_a_cell_are_measured_in_one_way, setup,
                                        teardown),
        cmocka_unit_test(cells_are_held_against_each_other_where_the_first_ended),
        cmocka_unit_test(differences_are_told_from_chance),
        cmocka_unit_test(measures_of_gpus_need_a_gpu),
        cmocka_unit_test(what_is_shorter_than_two_samples_has_no_averages),
        cmocka_unit_test(a_beginning_and_an_end_are_no_curve),
        cmocka_unit_test(an_iteration_is_drawn_by_rank_and_operator),
        cmocka_unit_test(what_jumps_is_shown_by_its_mean),
        cmocka_unit_test(a_running_mean_is_of_its_window_alone),
        cmocka_unit_test(curves_of_many_cells_fit_a_screen),
        cmocka_unit_test(what_ours_lacks_stands_last),
        cmocka_unit_test_setup_teardown(tables_are_as_before, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
