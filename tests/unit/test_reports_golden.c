/* SPDX-License-Identifier: MIT */
/*
 * Output of every writer for two planned recordings, compared with the files in tests/golden. After
 * an intended change: UPDATE_GOLDEN=1 build/.../bin/test_reports_golden, and read the difference.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "common/error.h"
#include "reports/comparison/comparison.h"
#include "reports/formats/terminal.h"
#include "reports/model/model_private.h"
#include "reports/plot/plot.h"
#include "reports/says/term_words.h"
#include "reports/text/budget_bars.h"
#include "reports/writer.h"
#include "tests/unit/drawn.h"
#include "tests/unit/files.h"
#include "tests/unit/golden.h"
#include "tests/unit/own_remark.h"
#include "tests/unit/plant.h"
#include "tests/unit/recorded_run.h"

/* Names with special meaning for a terminal, a spreadsheet, Markdown, HTML. */
static const char *const hostile_hosts[] = {"vm1", "=1+1|`<b>\"x\"", "名前"};
static const char *const many_hosts[] = {
    "node01", "node02", "node03", "node04", "node05", "node06",
    "node07", "node08", "node09", "node10", "node11", "a-rather-long-name-of-a-host.example.org"};

static const struct recorded_run runs[] = {
    {"sync", "mpirun -np 3 ./train --mode sync", hostile_hosts, 3, 44, 110, true, 0},
    {"@fast|<i>", "./train `x` | cat", hostile_hosts, 3, 44, 55, true, 0},
    {"many", "./train", many_hosts, ARRAY_SIZE(many_hosts), 4, 60, false, 0},
};

struct fixture {
    char directory[64], path[96];
    struct store *store;
    struct report *reports[ARRAY_SIZE(runs)];
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    char which[8], why[256];
    snprintf(f->directory, sizeof f->directory, "/tmp/chokepoint-golden-XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    snprintf(f->path, sizeof f->path, "%s/test.db", f->directory);
    assert_int_equal(store_open_write(f->path, &f->store, why, sizeof why), 0);
    const struct store_ceiling measured = recorded_ceiling("vm1", NULL, "net_egress", 110);
    assert_int_equal(store_ceilings_add(f->store, &measured, 1), 0);
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
        assert_int_equal(record_run(f->store, &runs[i]), 0);
        snprintf(which, sizeof which, "%zu", i + 1);
        assert_int_equal(report_build(f->store, which, &(struct caller){0}, &f->reports[i]), 0);
    }
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
        report_free(f->reports[i]);
    store_close(f->store);
    assert_int_equal(folder_remove(f->directory), 0);
    free(f);
    return 0;
}

/* ---- against the files ---- */

static char *write_report(const struct report *report, const struct format *format) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(
        format ? report_write(report, format, out) : report_write_screen(report, false, out), 0);
    fclose(out);
    return text;
}

static void expect_lines(const struct report *report, const char *name) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(report_write_lines(report, false, out), 0);
    fclose(out);
    expect_golden(name, text);
    free(text);
}

static void expect_report(const struct report *report, const struct format *format,
                          const char *name) {
    char *text = write_report(report, format);
    expect_golden(name, text);
    free(text);
}

static void reports_are_as_before(void **state) {
    struct fixture *f = *state;
    expect_report(f->reports[0], &format_text, "report.txt");
    expect_report(f->reports[0], &format_md, "report.md");
    expect_report(f->reports[0], &format_csv, "report.csv");
    expect_report(f->reports[0], &format_json, "report.json");
    expect_report(f->reports[0], NULL, "screen.txt");
    expect_report(f->reports[2], &format_text, "many.txt");
    expect_report(f->reports[2], NULL, "many-screen.txt");
    expect_lines(f->reports[0], "lines.txt");
    expect_lines(f->reports[2], "many-lines.txt");
}

static struct comparison *compare_two(struct fixture *f) {
    struct report *two[2];
    struct comparison *comparison;
    assert_int_equal(report_build(f->store, "1", &(struct caller){0}, &two[0]), 0);
    assert_int_equal(report_build(f->store, "2", &(struct caller){0}, &two[1]), 0);
    assert_int_equal(comparison_build(two, NULL, 2, 0, &comparison), 0);
    return comparison;
}

static void comparisons_are_as_before(void **state) {
    static const struct {
        const struct format *format;
        const char *name;
    } files[] = {{&format_text, "compare.txt"},
                 {&format_md, "compare.md"},
                 {&format_csv, "compare.csv"},
                 {&format_json, "compare.json"}};
    struct comparison *comparison = compare_two(*state);
    for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_int_equal(comparison_write(comparison, files[i].format, out), 0);
        fclose(out);
        expect_golden(files[i].name, text);
        free(text);
    }
    comparison_free(comparison);
}

/* Two groups take one screen: at most 25 lines of 100 columns. */
static void a_comparison_is_one_screen(void **state) {
    struct comparison *comparison = compare_two(*state);
    char *text = NULL;
    size_t size, lines = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(comparison_set_gate(comparison, 0.05), 0);
    assert_int_equal(comparison_write_lines(comparison, "1 2", out), 0);
    fclose(out);
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    assert_in_range(lines, 5, 25);
    expect_golden("compare-lines.txt", text);
    free(text);
    comparison_free(comparison);
}

/* ---- what must hold of any report ---- */

static double mean_of(const struct report *report, size_t resources, size_t host,
                      enum metric metric) {
    return report->resources[resources].values[host * METRIC_COUNT_ + (size_t)metric].mean;
}

#define NEAR(a, b) assert_true(fabs((double)(a) - (double)(b)) < 1e-6 * fmax(1, fabs((double)(b))))

/* 110 MB/s for half of the time; 1000 MB/s on loopback do not count. */
static void the_table_has_the_planned_numbers(void **state) {
    const struct report *r = ((struct fixture *)*state)->reports[0];
    assert_int_equal(r->n_resources, 2); /* all, training */
    for (size_t p = 0; p < 2; p++) {
        NEAR(mean_of(r, p, 2, METRIC_NET_RECV), 27.5); /* "名前" */
        NEAR(mean_of(r, p, 2, METRIC_CPU_IDLE), 95);
        NEAR(mean_of(r, p, 1, METRIC_NET_SEND), 55); /* vm1 sorts after "=1+1..." */
        NEAR(mean_of(r, p, 1, METRIC_CPU_IDLE), 85);
        NEAR(mean_of(r, p, 1, METRIC_MEM_USED), 2);
        NEAR(mean_of(r, p, 1, METRIC_MEM_FREE), 6);
        NEAR(mean_of(r, p, 1, METRIC_DISK_READ), 2);
        NEAR(mean_of(r, p, 1, METRIC_DISK_WRITE), 0.5);
        NEAR(mean_of(r, p, 1, METRIC_JOB_CPU), 30);
    }
    assert_true(isnan(mean_of(r, 0, 2, METRIC_DISK_READ))); /* seen for two seconds of 44 */
    const struct candidates *candidates = &r->run->judgement.candidates;
    assert_int_equal(candidates->n_arithmetic, 3);
    NEAR(candidates->arithmetic[0].bytes_per_iteration, 110e6);
    NEAR(candidates->arithmetic[0].share, .5);
    NEAR(r->ranks[0].median_s, 2);
    assert_string_equal(r->verdict.resource, "net-egress");
}

/* Checks that no line is wider; returns the number of lines. */
static size_t check_lines(const char *text, size_t columns) {
    size_t n = 0;
    for (const char *line = text; *line; n++) {
        size_t size = strcspn(line, "\n");
        char *copy = strndup(line, size);
        if (terminal_width(copy) > columns)
            fail_msg("%zu columns: %s", terminal_width(copy), copy);
        if (size && line[size - 1] == ' ')
            fail_msg("blanks at the end: %s", copy);
        for (size_t i = 0; i < size; i++)
            if ((unsigned char)copy[i] < 0x20 || copy[i] == 0x7f)
                fail_msg("control character: %s", copy);
        free(copy);
        line += size + (line[size] == '\n');
    }
    return n;
}

static void text_fits_a_hundred_columns_and_a_screen_24_lines(void **state) {
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
        char *text = write_report(f->reports[i], &format_text);
        char *screen = write_report(f->reports[i], NULL);
        check_lines(text, 100);
        assert_true(check_lines(screen, 100) <= 24);
        free(text);
        free(screen);
    }
}

/* Without a blamed rank the report says that iterations take all ranks equally long. */
static void no_screen_blames_a_rank_and_finds_no_straggler(void **state) {
    struct fixture *f = *state;
    struct report report = *f->reports[0];
    struct reported run = *report.run;
    run.judgement.stragglers = (struct stragglers){
        .judged = true, .note = {.kind = remark_named("QUOTA_USED_UP"), .code = REMARK_OF_CAUSE}};
    report.run = &run;
    for (int rank = -1; rank < 1; rank++) {
        report.verdict.rank = rank;
        char *text = write_report(&report, NULL);
        assert_int_equal(strstr(text, "stragglers: ") != NULL, rank < 0);
        free(text);
    }
}

/* A cause that names a program. */
static struct remark contention_with(char *name) {
    return (struct remark){.kind = remark_named("CONTENTION_WITH"), .names = {name}};
}

/* Everything at its longest: nobody's sentence pushes the tables or the end out. */
static void the_fullest_screen_still_fits(void **state) {
    struct fixture *f = *state;
    struct report full = *f->reports[0];
    char *words[] = {malloc(1200), malloc(1200), malloc(1200), malloc(1200)};
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 1200; k++)
            words[i][k] = k == 1199 ? '\0' : k % 9 == 8 ? ' ' : 'w';
    struct straggler slow = {
        .kind = "persistent", .cause = contention_with(words[0]), .slowdown = 2};
    struct verdict_phase phase = {.group = 1,
                                  .state = VERDICT_SUSPECTED,
                                  .rank = -1,
                                  .blocked = .5,
                                  .candidate = {.cause = contention_with(words[0])}};
    struct reported run = *full.run;
    full.main_phase = full.shown_phase = 0;
    full.verdict.summary = words[0];
    full.verdict.evidence = full.verdict.against = full.verdict.ruled_out = full.verdict.next =
        words;
    full.verdict.n_evidence = full.verdict.n_against = full.verdict.n_ruled_out =
        full.verdict.n_next = 4;
    run.judgement.stragglers = (struct stragglers){.items = &slow, .n = 1};
    run.judgement.verdict.phases = &phase;
    run.judgement.verdict.n_phases = 1;
    full.run = &run;
    char *screen = write_report(&full, NULL);
    size_t lines = check_lines(screen, 100);
    if (lines > 24)
        fail_msg("%zu lines:\n%s", lines, screen);
    assert_non_null(strstr(screen, "  more:  "));
    free(screen);
    for (size_t i = 0; i < 4; i++)
        free(words[i]);
}

/* "computing 100 %" of a rank that failed at once would look like that of the run. */
static void a_bar_of_a_moment_says_so(void **state) {
    struct fixture *f = *state;
    struct report report = *f->reports[0];
    struct report_budget budget = {.rank = 1,
                                   .phase = report.resources[0].phase,
                                   .wall_s = 0.09 * report.resources[0].duration_s,
                                   .trusted = true,
                                   .awaited_rank = -1};
    budget.term_s[BUDGET_CPU] = budget.wall_s;
    report.budget = &budget;
    report.n_budget = 1;
    report.main_phase = report.shown_phase = 0;
    for (int twice = 0; twice < 2; twice++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        assert_int_equal(budget_put_bars(out, &report), 1);
        fclose(out);
        assert_int_equal(strstr(text, " in its 4 s: computing 100 %") != NULL, !twice);
        free(text);
        budget.wall_s *= 2;
        budget.term_s[BUDGET_CPU] *= 2;
    }
}

/* Terms may overlap, and a recording may claim anything: a bar is as wide as the others. */
static void a_bar_of_more_than_its_time_is_no_wider(void **state) {
    struct fixture *f = *state;
    struct report report = *f->reports[0];
    struct report_budget budget = {.rank = 1,
                                   .phase = report.resources[0].phase,
                                   .wall_s = report.resources[0].duration_s,
                                   .trusted = true,
                                   .awaited_rank = -1};
    char *text = NULL;
    size_t size;
    budget.term_s[BUDGET_CPU] = 0.5 * budget.wall_s;
    budget.term_s[BUDGET_DISK] = 40 * budget.wall_s;
    report.budget = &budget;
    report.n_budget = 1;
    report.main_phase = report.shown_phase = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(budget_put_bars(out, &report), 1);
    fclose(out);
    assert_non_null(strstr(text, " CCCCCCCCCCCCDDDDDDDDDDDD "));
    free(text);
}

/* A launcher that slept all the time delays no one, and a mean that includes it would not be of the
 * work.
 */
static void bystanders_are_no_part_of_the_bars(void **state) {
    struct fixture *f = *state;
    struct report report = *f->reports[0];
    struct report_budget budgets[6];
    char *text = NULL;
    size_t size;
    for (size_t i = 0; i < 6; i++) {
        budgets[i] = (struct report_budget){.rank = i < 5 ? (int)i : -1,
                                            .process = "mpirun",
                                            .phase = report.resources[0].phase,
                                            .wall_s = 10,
                                            .trusted = true,
                                            .awaited_rank = -1};
        budgets[i].term_s[i < 5 ? BUDGET_CPU : BUDGET_IDLE] = i == 3 ? 8 : i < 5 ? 4 : 10;
        budgets[i].term_s[BUDGET_PEER_WAIT] = i == 3 ? 2 : i < 5 ? 6 : 0;
    }
    report.budget = budgets;
    report.n_budget = 6;
    report.main_phase = report.shown_phase = 0;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(budget_put_bars(out, &report), 3);
    fclose(out);
    assert_non_null(strstr(text, "mean of 5 "));
    assert_non_null(strstr(text, "waiting for a peer 52 %, computing 48 %"));
    assert_non_null(strstr(text, "rank 3 "));
    assert_null(strstr(text, "mpirun"));
    free(text);
    out = open_memstream(&text, &size);
    assert_int_equal(budget_put_legend(out, &report), 1); /* nor does the legend explain their
                                                             letters */
    fclose(out);
    assert_non_null(strstr(text, budget_term_words(BUDGET_PEER_WAIT)));
    assert_null(strstr(text, budget_term_words(BUDGET_IDLE)));
    free(text);
}

/* A budget of a process without a rank in the whole run; `used` in a term, asleep otherwise. */
static struct report_budget process_budget(const struct report *report, const char *name,
                                           double wall_s, enum budget_term term, double used_s) {
    struct report_budget budget = {.rank = -1,
                                   .phase = report->resources[0].phase,
                                   .wall_s = wall_s,
                                   .trusted = true,
                                   .awaited_rank = -1};
    snprintf(budget.process, sizeof budget.process, "%s", name);
    budget.term_s[BUDGET_IDLE] = wall_s - used_s;
    budget.term_s[term] += used_s;
    return budget;
}

/* The bars of these processes under a verdict about those terms, as text for the caller to free. */
static char *bars_of_processes(const struct report *like, struct report_budget *budgets, size_t n,
                               unsigned terms, size_t lines) {
    struct report report = *like;
    struct reported run = *like->run;
    struct candidate candidate = {.host = -1, .path.terms = terms};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    run.judgement.verdict.candidate = &candidate;
    report.run = &run;
    report.verdict.state = VERDICT_SATURATED;
    report.budget = budgets;
    report.n_budget = n;
    report.main_phase = report.shown_phase = 0;
    assert_int_equal(budget_put_bars(out, &report), lines);
    fclose(out);
    return text;
}

static bool stands_before(const char *text, const char *a, const char *b) {
    const char *first = strstr(text, a), *second = strstr(text, b);
    return first && second && first < second;
}

/* Neither CPU time nor a longer life puts a helper before it; and its sleep hides it not. */
static void the_process_with_most_of_the_limit_has_the_first_bar(void **state) {
    struct fixture *f = *state;
    const struct report *report = f->reports[0];
    struct report_budget budgets[] = {
        process_budget(report, "helper[7]", 44, BUDGET_CPU, 9),
        process_budget(report, "main[5]", 40, BUDGET_DISK, .5),
    };
    char *text = bars_of_processes(report, budgets, 2, 1u << BUDGET_DISK, 2);
    assert_true(stands_before(text, "main[5] ", "helper[7] "));
    free(text);
    text = bars_of_processes(report, budgets, 2, 1u << BUDGET_CPU, 2);
    assert_true(stands_before(text, "helper[7] ", "main[5] "));
    free(text);
}

/* The run takes 44 s; the sleep of processes that ended unseen is not known. */
static void helpers_that_hardly_lived_share_a_bar(void **state) {
    struct fixture *f = *state;
    const struct report *report = f->reports[0];
    struct report_budget budgets[] = {
        process_budget(report, "basename[9]", .1, BUDGET_CPU, .1),
        process_budget(report, "main[5]", 42, BUDGET_CPU, 30),
        process_budget(report, "sh[ended]", 42, BUDGET_RUN_QUEUE, .05),
        process_budget(report, "bash[8]", .1, BUDGET_CPU, .05),
        process_budget(report, "other[6]", .5, BUDGET_CPU, .4),
    };
    char *text = bars_of_processes(report, budgets, 5, 1u << BUDGET_CPU, 3);
    assert_true(stands_before(text, "main[5] ", "other[6] "));
    assert_true(stands_before(text, "other[6] ", "3 more, 0.25 s "));
    assert_non_null(strstr(text, " in its 0.5 s: computing 80 %"));
    assert_null(strstr(text, "bash"));
    free(text);
}

/* Ten compilers are one row; what is left behind the third is one, too. */
static void processes_of_one_program_share_a_bar_if_there_are_many(void **state) {
    struct fixture *f = *state;
    const struct report *report = f->reports[0];
    struct report_budget budgets[14];
    for (size_t i = 0; i < 10; i++)
        budgets[i] = process_budget(report, "cc1[1]", 4, BUDGET_CPU, 3);
    for (size_t i = 10; i < 14; i++) {
        char name[] = "a[2]";
        name[0] = (char)('a' + i);
        budgets[i] = process_budget(report, name, 40, BUDGET_CPU, 20 - (double)i);
    }
    char *text = bars_of_processes(report, budgets, 14, 1u << BUDGET_CPU, 4);
    assert_true(stands_before(text, "10 cc1 ", "k[2] "));
    assert_true(stands_before(text, "l[2] ", "2 more, 80 s "));
    assert_non_null(strstr(text, " CCCCCCCCCCCCCCCCCCiiiiii in their 40 s: computing 75 %"));
    free(text);
}

/* The limit of a phase other than the main one, to which the verdict refers. */
static void other_phases_have_a_line_each(void **state) {
    static const struct format *const formats[] = {&format_text, &format_md, NULL};
    struct fixture *f = *state;
    struct report report = *f->reports[0];
    struct reported run = *report.run;
    struct verdict_phase phase = {.group = 1,
                                  .state = VERDICT_SUSPECTED,
                                  .host = 1,
                                  .rank = -1,
                                  .blocked = .63,
                                  .candidate = {.host = 1,
                                                .resource = RESOURCE_DISK,
                                                .cause = {.kind = remark_named("QUOTA_USED_UP")}}};
    run.judgement.verdict.phases = &phase;
    run.judgement.verdict.n_phases = 1;
    report.run = &run;
    for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
        report.main_phase = 1;
        char *text = write_report(&report, formats[i]);
        assert_null(strstr(text, "63 %"));
        free(text);
        report.main_phase = 0;
        text = write_report(&report, formats[i]);
        assert_non_null(strstr(text, "training (42.0 s)"));
        assert_non_null(strstr(text, "63 %"));
        free(text);
    }
}

/* Lines are counted exactly, so that the screen fits: words that just fit, that do not, and that
 * fit no line.
 */
static void lines_are_counted_as_they_are_written(void **state) {
    char words[1200];
    (void)state;
    for (size_t step = 2; step < 130; step++) {
        char *text = NULL;
        size_t size, lines = 0;
        for (size_t k = 0; k < sizeof words; k++)
            words[k] = k % step == step - 1 ? ' ' : k % 7 ? 'w' : '%';
        words[sizeof words - 1] = '\0';
        FILE *out = open_memstream(&text, &size);
        size_t put = terminal_paragraph(out, "  label: ", words, 0);
        assert_int_equal(terminal_paragraph_lines(out, "  label: ", words), put);
        fclose(out);
        for (const char *end = text; (end = strchr(end, '\n')); end++)
            lines++;
        assert_int_equal(lines, put);
        free(text);
    }
}

/* ---- pictures ---- */

/* Ten seconds of 5 MB/s; connections are sampled once a second, and the first row says that its 5
 * MB came within a tenth of one.
 */
static void no_burst_is_made_up_where_a_connection_is_first_seen(void **state) {
    struct recording r;
    struct report report = {
        .hosts = (struct report_host[]){{.name = (char *)"vm1"}, {.name = (char *)"vm2"}},
        .n_hosts = 2};
    struct run_model model = {.recording = &r};
    (void)state;
    plant_init(&r, 2, 10);
    struct series_set *set = &r.tables[RECORDING_CONNECTION];
    for (int end = 0; end < 2; end++)
        for (int t = 1; t <= 10; t++) {
            int64_t values[RECORDING_COLUMNS_MAX] = {0};
            values[CONNECTION_SEND_BYTES] = end ? 0 : 5000000;
            series_set_append(set, end, 1 + end,
                              end ? "10.0.0.2:6000>10.0.0.1:5000" : "10.0.0.1:5000>10.0.0.2:6000",
                              t * NS_PER_S, t == 1 ? NS_PER_S / 10 : NS_PER_S, values);
        }
    assert_int_equal(report_fill_routes(&report, &model), 0);
    assert_int_equal(report.n_routes, 1);
    for (size_t i = 0; i < report.routes[0].series.n; i++)
        assert_float_equal(report.routes[0].series.value[i], 5, 0.01);
    free(report.routes[0].series.label);
    free(report.routes[0].series.t_s);
    free(report.routes[0].series.value);
    free(report.routes);
    recording_release(&r);
}

/* Whether a colour is in an SVG, however gnuplot wrote it. */
static bool has_colour(const char *svg, int red, int green, int blue) {
    char hex[8];
    int r, g, b;
    snprintf(hex, sizeof hex, "#%02x%02x%02x", red, green, blue);
    for (const char *at = svg; (at = strstr(at, "rgb(")); at++)
        if (sscanf(at, "rgb( %d , %d , %d", &r, &g, &b) == 3 && r == red && g == green && b == blue)
            return true;
    return strcasestr(svg, hex) != NULL;
}

/* A host with one core has a picture of it, too. */
static void the_picture_of_one_core_has_its_samples(void **state) {
    double t[] = {1, 2, 3, 4}, busy[] = {0, 100, 0, 100};
    struct report_series core = {(char *)"cpu0", 4, t, busy};
    struct report_host_series series = {.cores = &core, .n_cores = 1};
    struct report_host host = {.name = (char *)"vm1", .n_cpus = 1};
    struct report report = {
        .hosts = &host, .n_hosts = 1, .series = &series, .duration_s = 4, .period_s = 1};
    (void)state;
    char *svg = draw_and_free(plot_cores(&report, 0));
    if (!svg && errno == ENOENT)
        skip(); /* gnuplot is not installed */
    assert_non_null(svg);
    assert_true(has_colour(svg, 46, 158, 79)); /* full */
    free(svg);
}

/* Two ranks marked it: each has a curve, and nothing is drawn at zero. */
static void what_several_ranks_marked_has_a_curve_each(void **state) {
    double t[] = {1, 2, 3}, none[] = {0, 0, 0}, some[] = {1, 5, 9};
    struct report_curve curves[] = {{(char *)"bytes", 0, 3, t, t, none},
                                    {(char *)"bytes", 1, 3, t, t, some},
                                    {(char *)"idle", 0, 3, t, t, none}};
    struct report report = {.curves = curves, .n_curves = 3, .run_name = (char *)"x"};
    (void)state;
    assert_int_equal(plot_marked_count(&report, "bytes"), 2);
    char *svg = draw_and_free(plot_marked(&report, "bytes", PLOT_TIME)),
         *idle = draw_and_free(plot_marked(&report, "idle", PLOT_TIME));
    if (!svg && errno == ENOENT)
        skip(); /* gnuplot is not installed */
    assert_non_null(svg);
    assert_non_null(strstr(svg, "rank 0"));
    assert_non_null(strstr(svg, "rank 1"));
    assert_non_null(idle);
    assert_null(strstr(idle, "-0.5"));
    assert_null(strstr(idle, "-1<"));
    free(svg);
    free(idle);
}

/* A hundred thousand points do not make a page of megabytes, and the outlier stays. */
static void a_long_curve_is_drawn_with_few_points(void **state) {
    enum { N = 100000 };
    double *t = calloc(N, sizeof *t), *value = calloc(N, sizeof *value);
    for (size_t i = 0; i < N; i++)
        t[i] = (double)i;
    value[54321] = 1000;
    struct report_curve curve = {(char *)"loss", 0, N, t, t, value};
    struct report report = {.curves = &curve, .n_curves = 1, .run_name = (char *)"x"};
    (void)state;
    char *svg = draw_and_free(plot_marked(&report, "loss", PLOT_TIME));
    bool missing = !svg && errno == ENOENT; /* gnuplot is not installed */
    free(t);
    free(value);
    if (missing)
        skip();
    assert_non_null(svg);
    assert_in_range(strlen(svg), 0, 30000);
    assert_non_null(strstr(svg, " 1000<"));
    free(svg);
}

/* A mark before the first iteration has no place among iterations; its neighbours do, however far
 * away.
 */
static void points_without_a_place_hide_no_others(void **state) {
    enum { N = 100000 };
    static double t[N], iteration[N], value[N];
    (void)state;
    for (size_t i = 0; i < N; i++) {
        t[i] = (double)i;
        iteration[i] = i % 50 ? (double)i : NAN;
        value[i] = i % 50 ? 0 : i % 100 ? 5000 : -5000;
    }
    value[54321] = 1000;
    struct report_curve curve = {(char *)"loss", 0, N, t, iteration, value};
    const struct report report = {.curves = &curve, .n_curves = 1, .run_name = (char *)"x"},
                        *reports[] = {&report};
    char *svg = draw_and_free(plot_curve(reports, NULL, 1, "loss", PLOT_ITERATION));
    if (!svg && errno == ENOENT)
        skip(); /* gnuplot is not installed */
    assert_non_null(svg);
    assert_non_null(strstr(svg, " 1000<"));
    free(svg);
}

/* Even if a name passed the checks of store and wire, it could not move a cursor. */
static void escapes_never_reach_a_terminal(void **state) {
    char *text = NULL;
    size_t size;
    (void)state;
    FILE *out = open_memstream(&text, &size);
    terminal_put(out, "a\033[2Jb\u202e\xff\xc2\x9b", 0);
    terminal_put_cell(out, "\033]0;x\a", 8, false);
    terminal_paragraph(out, "", "x \033[31m y", 0);
    fclose(out);
    assert_null(strchr(text, '\033'));
    assert_null(strchr(text, '\a'));
    assert_null(strstr(text, "\u202e"));
    assert_null(strstr(text, "\xff"));
    free(text);
}

static void wide_characters_take_two_columns(void **state) {
    (void)state;
    assert_int_equal(terminal_width("名前"), 4);
    assert_int_equal(terminal_width("e\u0301"), 1);
    assert_int_equal(terminal_width("vm1"), 3);
}

static void no_spreadsheet_takes_a_name_for_a_formula(void **state) {
    struct fixture *f = *state;
    char *csv = write_report(f->reports[1], &format_csv);
    assert_non_null(strstr(csv, "\"'@fast|<i>\",\"'=1+1|`<b>\"\"x\"\"\",\"all\",cpu_idle,%,"));
    free(csv);
}

static void markdown_shows_names_as_they_are(void **state) {
    struct fixture *f = *state;
    char *md = write_report(f->reports[1], &format_md);
    assert_non_null(strstr(md, "@fast\\|&lt;i&gt;"));
    assert_non_null(strstr(md, "`` ./train `x` | cat ``"));
    assert_null(strstr(md, "<b>"));
    free(md);
}

static void json_is_json_with_every_member_of_the_contract(void **state) {
    static const char *const members[] = {"run",     "phases",     "resources", "verdict",
                                          "ranking", "stragglers", "budget",    "iterations",
                                          "alerts",  "quality"};
    struct fixture *f = *state;
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
        char *text = write_report(f->reports[i], &format_json);
        json_error_t error;
        json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &error);
        if (!document)
            fail_msg("%s", error.text);
        assert_string_equal(json_string_value(json_object_get(document, "schema")),
                            "chokepoint.report/1");
        for (size_t m = 0; m < ARRAY_SIZE(members); m++)
            assert_non_null(json_object_get(document, members[m]));
        json_decref(document);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_has_the_planned_numbers),
        cmocka_unit_test(reports_are_as_before),
        cmocka_unit_test(comparisons_are_as_before),
        cmocka_unit_test(a_comparison_is_one_screen),
        cmocka_unit_test(text_fits_a_hundred_columns_and_a_screen_24_lines),
        cmocka_unit_test(no_screen_blames_a_rank_and_finds_no_straggler),
        cmocka_unit_test(the_fullest_screen_still_fits),
        cmocka_unit_test(a_bar_of_a_moment_says_so),
        cmocka_unit_test(a_bar_of_more_than_its_time_is_no_wider),
        cmocka_unit_test(bystanders_are_no_part_of_the_bars),
        cmocka_unit_test(the_process_with_most_of_the_limit_has_the_first_bar),
        cmocka_unit_test(helpers_that_hardly_lived_share_a_bar),
        cmocka_unit_test(processes_of_one_program_share_a_bar_if_there_are_many),
        cmocka_unit_test(lines_are_counted_as_they_are_written),
        cmocka_unit_test(other_phases_have_a_line_each),
        cmocka_unit_test(no_burst_is_made_up_where_a_connection_is_first_seen),
        cmocka_unit_test(the_picture_of_one_core_has_its_samples),
        cmocka_unit_test(what_several_ranks_marked_has_a_curve_each),
        cmocka_unit_test(a_long_curve_is_drawn_with_few_points),
        cmocka_unit_test(points_without_a_place_hide_no_others),
        cmocka_unit_test(escapes_never_reach_a_terminal),
        cmocka_unit_test(wide_characters_take_two_columns),
        cmocka_unit_test(no_spreadsheet_takes_a_name_for_a_formula),
        cmocka_unit_test(markdown_shows_names_as_they_are),
        cmocka_unit_test(json_is_json_with_every_member_of_the_contract),
    };
    setenv("TZ", "UTC", 1);
    return cmocka_run_group_tests(tests, setup, teardown);
}
