/* SPDX-License-Identifier: MIT */
/* Pictures of one run as files: their formats, and that they draw what the tables say. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/error.h"
#include "reports/facts/connections.h"
#include "reports/model/model_private.h"
#include "reports/plot/colour.h"
#include "reports/plot/finding.h"
#include "reports/plot/gnuplot.h"
#include "reports/plot/pictures.h"
#include "tests/unit/files.h"
#include "tests/unit/plant.h"

#define SECONDS 10

/* A host that sends 5 MB/s and receives 2 for ten seconds. */
struct planted {
    struct report_host host;
    struct report_host_series series;
    struct report report;
    double t[SECONDS], sent[SECONDS], received[SECONDS];
};

static void plant_host(struct planted *p) {
    *p = (struct planted){.host = {.name = (char *)"vm1", .n_cpus = 1}};
    for (int i = 0; i < SECONDS; i++) {
        p->t[i] = i + 1;
        p->sent[i] = 5;
        p->received[i] = 2;
    }
    p->series.metrics[METRIC_NET_SEND] =
        (struct report_series){(char *)"send", SECONDS, p->t, p->sent};
    p->series.metrics[METRIC_NET_RECV] =
        (struct report_series){(char *)"receive", SECONDS, p->t, p->received};
    static struct reported nothing;
    p->report = (struct report){.run = &nothing,
                                .run_name = (char *)"x",
                                .hosts = &p->host,
                                .n_hosts = 1,
                                .series = &p->series,
                                .duration_s = SECONDS,
                                .period_s = 1};
}

/* The contents of a file of that format; the caller frees them. NULL: gnuplot is not installed. */
static char *written(const struct report *report, const char *names, enum plot_file kind,
                     size_t *ret_size) {
    struct pictures pictures = {0};
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_size);
    assert_int_equal(pictures_make(report, names, &pictures), 0);
    int result = plots_write(pictures.items, pictures.n, "a heading", kind, out);
    pictures_release(&pictures);
    fclose(out);
    if (result == -ENOENT) {
        free(text);
        return NULL;
    }
    assert_int_equal(result, 0);
    return text;
}

static uint32_t number_at(const char *text, size_t at) {
    const unsigned char *bytes = (const unsigned char *)text + at;
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void files_are_of_the_kind_that_was_asked_for(void **state) {
    struct planted p;
    size_t size;
    (void)state;
    plant_host(&p);
    char *png = written(&p.report, NULL, PLOT_FILE_PNG, &size);
    if (!png)
        skip(); /* gnuplot is not installed */
    assert_true(size > 100 && memcmp(png, "\x89PNG\r\n\x1a\n", 8) == 0);
    assert_int_equal(number_at(png, 16), 1470); /* the header's width */
    assert_memory_equal(png + size - 8, "IEND", 4);
    free(png);
    char *pdf = written(&p.report, NULL, PLOT_FILE_PDF, &size);
    assert_true(size > 100 && memcmp(pdf, "%PDF-", 5) == 0);
    assert_non_null(memmem(pdf + size - 16, 16, "%%EOF", 5));
    free(pdf);
    char *svg = written(&p.report, NULL, PLOT_FILE_SVG, &size);
    assert_non_null(strstr(svg, "<svg"));
    assert_non_null(strstr(svg, "a heading"));
    assert_non_null(strstr(svg, ">Network<"));
    free(svg);
}

static void a_name_that_is_none_is_told(void **state) {
    char wrong[8];
    (void)state;
    assert_int_equal(pictures_check("cpu,pairs,budget-iterations", wrong, sizeof wrong), 0);
    assert_int_equal(pictures_check("cpu,nonsense", wrong, sizeof wrong), -EINVAL);
    assert_string_equal(wrong, "nonsens");
    assert_int_equal(pictures_check("", wrong, sizeof wrong), -EINVAL);
    assert_int_equal(pictures_check("cpu,", wrong, sizeof wrong), -EINVAL);
    assert_int_equal(pictures_check("cp", wrong, sizeof wrong), -EINVAL);
}

static void only_what_is_named_is_made(void **state) {
    struct planted p;
    struct pictures pictures = {0};
    (void)state;
    plant_host(&p);
    assert_int_equal(pictures_make(&p.report, "network,network,pairs", &pictures), 0);
    assert_int_equal(pictures.n, 1); /* one; there are no pairs to draw */
    assert_string_equal(plot_title(pictures.items[0]), "Network");
    pictures_release(&pictures);
}

/* ---- what captions say ---- */

static struct report_budget budget_of_process(const char *name, double computing, double asleep) {
    struct report_budget b = {.rank = -1, .phase = (char *)"all", .source = "clocks"};
    snprintf(b.process, sizeof b.process, "%s", name);
    b.wall_s = computing + asleep;
    b.term_s[BUDGET_CPU] = computing;
    b.term_s[BUDGET_IDLE] = asleep;
    return b;
}

/* Background processes would outweigh those that do the work. */
static void sleepers_that_nobody_waits_for_are_left_out_of_the_largest_terms(void **state) {
    struct report_budget budgets[] = {budget_of_process("work[1]", 8, 2),
                                      budget_of_process("idler[2]", .1, 9.9),
                                      budget_of_process("slow[3]", .1, 9.9)};
    struct budget times = {.wall_s = 10};
    struct rank_budget items[] = {{.process = "work[1]", .groups = &times},
                                  {.process = "slow[3]", .groups = &times}};
    struct process_wait wait = {.who = 0, .whom = 1, .seconds = 2};
    struct reported run = {.model.budgets = {.items = items, .n = 2, .waits = &wait}};
    struct report_resources all = {.phase = (char *)"all"};
    struct report report = {
        .run = &run, .resources = &all, .n_resources = 1, .budget = budgets, .n_budget = 3};
    (void)state;
    char *said = picture_finding(&report, "budget");
    assert_string_equal(said, "Most of it: computing, 80 %; then asleep or blocked, 20 %. 2 "
                              "processes that slept and that nobody waited for are left out.");
    free(said);
    run.model.budgets.n_waits = 1;
    said = picture_finding(&report, "budget");
    assert_string_equal(said, "Most of it: asleep or blocked, 59.5 %; then computing, 40.5 %. 1 "
                              "process that slept and that nobody waited for is left out.");
    free(said);
    for (size_t i = 0; i < 3; i++)
        budgets[i].source = "counters"; /* a process that waits for a peer sleeps, too */
    run.model.budgets.n_waits = 0;
    said = picture_finding(&report, "budget");
    assert_null(strstr(said, "left out"));
    free(said);
}

/* ---- ceilings ---- */

static bool draws(const struct plot *plot, const char *what) {
    return memmem(plot->script, plot->size, what, strlen(what)) != NULL;
}

static void a_known_ceiling_is_a_line_with_words(void **state) {
    struct planted p;
    (void)state;
    plant_host(&p);
    struct plot *without = plot_resource(&p.report, PLOT_NETWORK);
    assert_false(draws(without, "ceiling"));
    assert_false(draws(without, "dt 2"));
    plot_free(without);
    p.series.ceilings[METRIC_NET_SEND] = (struct report_ceiling){6.25, ARITHMETIC_SET};
    struct plot *with = plot_resource(&p.report, PLOT_NETWORK);
    assert_true(draws(with, ", 6.25 with lines dt 2"));
    assert_true(draws(with, "'ceiling: send 6.25 MB/s (set)'"));
    assert_true(draws(with, "set yrange [0:10]"));
    plot_free(with);
}

/* A ceiling of 1250 MB/s does not flatten a curve of 5; the words mention it all the same. */
static void a_ceiling_far_away_leaves_the_curve_its_room(void **state) {
    struct planted p;
    (void)state;
    plant_host(&p);
    p.series.ceilings[METRIC_NET_SEND] = p.series.ceilings[METRIC_NET_RECV] =
        (struct report_ceiling){1250, ARITHMETIC_MEASURED};
    struct plot *plot = plot_resource(&p.report, PLOT_NETWORK);
    assert_true(draws(plot, "set yrange [0:5]"));
    assert_true(draws(plot, "'ceiling: send and receive 1250 MB/s (measured)'"));
    plot_free(plot);
}

/* ---- pairs of hosts ---- */

#define HOSTS 10

/* Each host sends (1 + its index) MB/s to each other one. */
static void plant_pairs(struct recording *r, struct report_host *hosts, char (*names)[32], size_t n,
                        struct report *report) {
    plant_init(r, n, SECONDS);
    for (size_t i = 0; i < n; i++) {
        snprintf(names[i], sizeof names[i], "vm%zu", i + 1);
        hosts[i] = (struct report_host){.name = names[i]};
    }
    for (size_t from = 0; from < n; from++)
        for (size_t to = 0; to < n; to++) {
            char name[160];
            size_t low = from < to ? from : to, high = from < to ? to : from;
            if (from == to)
                continue;
            snprintf(name, sizeof name, "10.0.0.%zu:%zu>10.0.0.%zu:%zu", from + 1,
                     from == low ? 1000 + high : 2000 + low, to + 1,
                     to == low ? 1000 + high : 2000 + low);
            for (int t = 1; t <= SECONDS; t++) {
                int64_t values[RECORDING_COLUMNS_MAX] = {0};
                values[CONNECTION_SEND_BYTES] = (int64_t)(from + 1) * 1000000;
                series_set_append(&r->tables[RECORDING_CONNECTION], (int)from,
                                  (int64_t)(1 + from * n + to), name, t * NS_PER_S, NS_PER_S,
                                  values);
            }
        }
    *report = (struct report){.run_name = (char *)"x",
                              .hosts = hosts,
                              .n_hosts = n,
                              .duration_s = SECONDS,
                              .period_s = 1};
    struct run_model model = {.recording = r};
    assert_int_equal(report_fill_routes(report, &model), 0);
}

static void release_pairs(struct recording *r, struct report *report) {
    for (size_t i = 0; i < report->n_routes; i++) {
        free(report->routes[i].series.label);
        free(report->routes[i].series.t_s);
        free(report->routes[i].series.value);
    }
    free(report->routes);
    recording_release(r);
}

static void a_connection_has_its_ports_process_and_round_trip(void **state) {
    struct recording r;
    struct report report;
    struct report_host hosts[HOSTS];
    char names[HOSTS][32];
    (void)state;
    plant_pairs(&r, hosts, names, 3, &report);
    struct run_model model = {.recording = &r};
    for (int t = 1; t <= SECONDS; t++) {
        int64_t process[RECORDING_COLUMNS_MAX] = {[PROCESS_PID] = 77},
                connection[RECORDING_COLUMNS_MAX] = {0};
        connection[CONNECTION_SEND_BYTES] = 50000000;
        connection[CONNECTION_PID] = 77;
        connection[CONNECTION_RTT] = t == 1 ? 900 * NS_PER_MS : 2 * NS_PER_MS;
        series_set_append(&r.tables[RECORDING_PROCESS], 1, 900, "train[77]", t * NS_PER_S, NS_PER_S,
                          process);
        series_set_append(&r.tables[RECORDING_CONNECTION], 1, 901, "10.0.0.2:5432>10.0.0.1:40000",
                          t * NS_PER_S, NS_PER_S, connection);
    }
    struct connections found;
    assert_int_equal(connections_find(&model, &found), 0);
    const struct report_connection *c = &found.items[0];
    assert_int_equal(found.n, 7);
    assert_int_equal(c->from, 1);
    assert_int_equal(c->to, 0);
    assert_int_equal(c->from_port, 5432);
    assert_int_equal(c->to_port, 40000);
    assert_string_equal(c->process, "train[77]");
    assert_float_equal(c->mean_mb_s, 50, 1e-9);
    assert_float_equal(c->rtt_ms, 2, 1e-9); /* the median */
    assert_null(found.items[1].process);
    free(found.items);
    release_pairs(&r, &report);
}

/* The mean of the values in the script for a pair. */
static double mean_drawn(const struct plot *plot, size_t route) {
    char name[32];
    double t, value, sum = 0;
    size_t n = 0;
    snprintf(name, sizeof name, "$r%zu << EOD\n", route);
    const char *at = memmem(plot->script, plot->size, name, strlen(name));
    assert_non_null(at);
    for (at += strlen(name); sscanf(at, "%lf %lf", &t, &value) == 2; at = strchr(at, '\n') + 1) {
        sum += value;
        n++;
    }
    return sum / (double)n;
}

static void pairs_are_drawn_as_the_table_has_them(void **state) {
    struct recording r;
    struct report report;
    struct report_host hosts[HOSTS];
    char names[HOSTS][32];
    (void)state;
    plant_pairs(&r, hosts, names, 4, &report); /* 12 pairs, all of them */
    assert_int_equal(report.n_routes, 12);
    struct plot *plot = plot_routes(&report);
    for (size_t i = 0; i < report.n_routes; i++) {
        const struct report_route *route = &report.routes[i];
        double mb_s = route->from + 1;
        assert_float_equal(route->bytes, mb_s * SECONDS * 1e6, 1);
        assert_float_equal(route->mean_mb_s, mb_s, 1e-6);
        assert_float_equal(route->peak_mb_s, mb_s, 1e-6);
        assert_float_equal(route->share_pct, 100 * mb_s / 30, 1e-6);
        assert_float_equal(mean_drawn(plot, i), route->mean_mb_s, 1e-3);
    }
    plot_free(plot);
    release_pairs(&r, &report);
}

/* ---- budgets of iterations ---- */

/* The numbers of bar `line` of the first panel. */
static void read_bar(const struct plot *plot, size_t line, double *ret_number, double *ret_first) {
    static const char block[] = "$p0 << EOD\n";
    const char *at = memmem(plot->script, plot->size, block, sizeof block - 1);
    assert_non_null(at);
    at += sizeof block - 1;
    while (line--)
        at = strchr(at, '\n') + 1;
    assert_int_equal(sscanf(at, "%lf %lf", ret_number, ret_first), 2);
}

/* n iterations of one rank, each 10 ms longer than the one before, and one of another phase. */
static struct plot *plot_of_iterations(size_t n, size_t every) {
    static struct report_host hosts[] = {{.name = (char *)"vm1"}};
    struct report_budget whole = {.rank = 2};
    struct report_resources all = {.phase = (char *)"all"};
    struct report_iteration_budget *items = calloc(n + 1, sizeof *items);
    for (size_t i = 0; i <= n; i++) {
        items[i] = (struct report_iteration_budget){
            .phase = i == n, .number = (int64_t)i, .budget = {.wall_s = 0.01 * (double)(i + 1)}};
        items[i].budget.term_s[0] = items[i].budget.wall_s;
    }
    const struct report report = {.hosts = hosts,
                                  .n_hosts = 1,
                                  .budget = &whole,
                                  .n_budget = 1,
                                  .resources = &all,
                                  .n_resources = 1};
    struct plot *plot = budget_iterations_drawn(
        &report, (struct iteration_budgets){.items = items, .n = n + 1, .every = every});
    free(items);
    return plot;
}

static void iterations_are_bars_and_means_of_them_where_they_are_many(void **state) {
    double number, first;
    (void)state;
    struct plot *plot = plot_of_iterations(3, 1);
    assert_non_null(plot);
    assert_int_equal(strncmp(plot->title, "Time of every iteration of ", 27), 0);
    assert_non_null(strstr(plot->title, ", by rank;"));
    assert_non_null(memmem(plot->script, plot->size, "set boxwidth 1\n", 15));
    assert_non_null(memmem(plot->script, plot->size, "set xrange [-0.5:2.5]", 21));
    read_bar(plot, 2, &number, &first);
    assert_float_equal(number, 2, 1e-6);
    assert_float_equal(first, 30, 1e-6);
    plot_free(plot);
    plot = plot_of_iterations(320, 5); /* two in each bar */
    assert_int_equal(strncmp(plot->title, "Time of one of 5 iterations of ", 31), 0);
    assert_non_null(memmem(plot->script, plot->size, "set boxwidth 10\n", 16));
    read_bar(plot, 1, &number, &first);
    assert_float_equal(number, 2.5, 1e-6);
    assert_float_equal(first, 35, 1e-6);
    plot_free(plot);
    plot = plot_of_iterations(1, 1); /* a single one shows no change */
    assert_null(plot);
}

/* Bars of the n-th operator of a timeline, and its name. */
static void expect_operator(const struct plot *plot, size_t n, const char *name,
                            const double *starts_ms, size_t n_starts) {
    char block[32], title[64];
    double middle, start, end;
    long line;
    snprintf(block, sizeof block, "$o%zu << EOD\n", n);
    const char *at = memmem(plot->script, plot->size, block, strlen(block));
    assert_non_null(at);
    at += strlen(block);
    for (size_t i = 0; i < n_starts; i++, at = strchr(at, '\n') + 1) {
        assert_int_equal(sscanf(at, "%lf %ld %lf %lf", &middle, &line, &start, &end), 4);
        assert_float_equal(start, starts_ms[i], 1e-6);
        assert_float_equal(middle, (start + end) / 2, 1e-6);
    }
    assert_int_equal(strncmp(at, "EOD\n", 4), 0);
    snprintf(block, sizeof block, "$o%zu using", n);
    at = memmem(plot->script, plot->size, block, strlen(block));
    assert_non_null(at);
    snprintf(title, sizeof title, "title '%s'", name);
    const char *found = strstr(at, title), *next = strstr(at + 1, "$o");
    assert_true(found && (!next || found < next));
}

/* Short ones are drawn on top: in all, c takes 3 s, d 2.5 s, b 2 s and a 1 s. */
static void operators_that_take_most_are_drawn_first(void **state) {
    static struct report_host hosts[] = {{.name = (char *)"vm1"}};
    static struct report_bar bars[] = {{0, 0, (char *)"a", 0, 1}, {0, 0, (char *)"b", 1, 2},
                                       {0, 0, (char *)"c", 2, 3}, {0, 1, (char *)"b", 3, 4},
                                       {0, 1, (char *)"c", 4, 6}, {0, 1, (char *)"d", 6, 8.5}};
    struct report report = {.hosts = hosts, .n_hosts = 1};
    (void)state;
    report.timeline = (struct report_timeline){
        .rank = 0, .number = 3, .duration_s = 9, .bars = bars, .n_bars = 6};
    struct plot *plot = plot_timeline(&report);
    assert_non_null(plot);
    expect_operator(plot, 0, "c", (const double[]){2000, 4000}, 2);
    expect_operator(plot, 1, "d", (const double[]){6000}, 1);
    expect_operator(plot, 2, "b", (const double[]){1000, 3000}, 2);
    expect_operator(plot, 3, "a", (const double[]){0}, 1);
    assert_string_equal(plot->title,
                        "Timeline of iteration 3 of rank 0, the one of median length (9000 ms)");
    plot_free(plot);
}

static void many_pairs_are_all_in_the_picture(void **state) {
    static const size_t hosts_of[] = {6, HOSTS}; /* 30 pairs are rows, 90 a matrix */
    (void)state;
    for (size_t k = 0; k < ARRAY_SIZE(hosts_of); k++) {
        struct recording r;
        struct report report;
        struct report_host hosts[HOSTS];
        char names[HOSTS][32];
        size_t n = hosts_of[k];
        plant_pairs(&r, hosts, names, n, &report);
        assert_int_equal(report.n_routes, n * (n - 1));
        struct plot *plot = plot_routes(&report);
        assert_true(draws(plot, k ? "'vm10'" : "'vm6 to vm5'"));
        plot_free(plot);
        release_pairs(&r, &report);
    }
}

/* ---- names from outside ---- */

static void hostile_names_stay_words(void **state) {
    static const char harm[] = "'`touch harm`\n\";set output 'harm'#<script>";
    struct planted p;
    size_t size;
    (void)state;
    plant_host(&p);
    p.host.name = (char *)harm;
    struct plot *plot = plot_resource(&p.report, PLOT_NETWORK);
    assert_false(draws(plot, "`"));
    assert_false(draws(plot, "\n\";set"));
    plot_free(plot);
    p.report.run_name = (char *)harm;
    char *svg = written(&p.report, NULL, PLOT_FILE_SVG, &size);
    if (!svg)
        skip(); /* gnuplot is not installed */
    assert_null(strstr(svg, "<script"));
    assert_int_equal(access("harm", F_OK), -1);
    free(svg);
}

/* ---- how much one file holds ---- */

static void a_column_is_bounded_and_pages_hold_all(void **state) {
    struct plot tall = {.height = 4000};
    struct plot *plots[] = {&tall, &tall, &tall, &tall, &tall};
    (void)state;
    assert_int_equal(plots_that_fit(plots, 5, PLOT_FILE_PNG), 3);
    assert_int_equal(plots_that_fit(plots, 5, PLOT_FILE_SVG), 3);
    assert_int_equal(plots_that_fit(plots, 5, PLOT_FILE_PDF), 5);
    tall.height = 2 * PLOT_COLUMN_MAX;
    assert_int_equal(plots_that_fit(plots, 5, PLOT_FILE_PNG), 1);
}

/* ---- side by side ---- */

/* Replaces gnuplot: the first process waits for the second; its picture is its script. */
static const char rendezvous[] = "#!/bin/sh\n"
                                 "cd \"$(dirname \"$0\")\" || exit 1\n"
                                 "if mkdir first 2>/dev/null; then read -r _ <meet\n"
                                 "else echo met >meet; fi\n"
                                 "cat\n";

static void pictures_that_are_begun_are_drawn_side_by_side(void **state) {
    char folder[] = "/tmp/pictures-XXXXXX", path[64], search[300];
    char *before = strdup(getenv("PATH"));
    struct planted p;
    struct pictures pictures = {0};
    (void)state;
    plant_host(&p);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/meet", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    snprintf(path, sizeof path, "%s/gnuplot", folder);
    file_write_text(path, rendezvous, 0700);
    snprintf(search, sizeof search, "%s:/usr/bin:/bin", folder);
    setenv("PATH", search, 1);
    assert_int_equal(pictures_make(&p.report, "network", &pictures), 0);
    assert_int_equal(pictures_make(&p.report, "network", &pictures), 0);
    assert_int_equal(pictures.n, 2);
    alarm(60); /* in sequence the first would wait for ever */
    for (size_t i = 0; i < 2; i++)
        plot_svg_begin(pictures.items[i]);
    char *svg = plot_svg(pictures.items[0]);
    assert_non_null(svg);
    assert_non_null(strstr(svg, "set terminal svg"));
    free(svg);
    pictures_release(&pictures); /* one picture is not taken */
    alarm(0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    setenv("PATH", before, 1);
    free(before);
    unlink(path);
    snprintf(path, sizeof path, "%s/meet", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/first", folder);
    rmdir(path);
    assert_int_equal(rmdir(folder), 0);
}

struct rgb {
    unsigned red, green, blue;
};

static struct rgb rgb_of(const char *colour) {
    struct rgb c;
    assert_int_equal(sscanf(colour, "#%2x%2x%2x", &c.red, &c.green, &c.blue), 3);
    return c;
}

static double distance(const char *one, const char *other) {
    struct rgb a = rgb_of(one), b = rgb_of(other);
    return hypot(hypot((double)a.red - b.red, (double)a.green - b.green), (double)a.blue - b.blue);
}

#define COLOURS 10

static void lines_have_colours_without_another_meaning(void **state) {
    static const char *const meanings[] = {
        COLOUR_COMPUTING, COLOUR_KERNEL,     COLOUR_CORE,     COLOUR_QUOTA,      COLOUR_STEAL,
        COLOUR_PEER,      COLOUR_UNSPLIT,    COLOUR_TRANSFER, COLOUR_RECEIVE,    COLOUR_OVERHEAD,
        COLOUR_DISK,      COLOUR_DISK_WRITE, COLOUR_MEMORY,   COLOUR_MEMORY_JOB, COLOUR_GPU,
        COLOUR_GPU_COPY,  COLOUR_GPU_PART,   COLOUR_GPU_ANY,  COLOUR_LIMIT};
    (void)state;
    for (size_t i = 0; i < COLOURS; i++) {
        for (size_t k = 0; k < ARRAY_SIZE(meanings); k++)
            assert_true(distance(script_colour(i), meanings[k]) > 40);
        for (size_t k = 0; k < i; k++)
            assert_true(distance(script_colour(i), script_colour(k)) > 40);
    }
    for (size_t i = 0; i < ARRAY_SIZE(meanings); i++)
        for (size_t k = 0; k < i; k++)
            assert_true(distance(meanings[i], meanings[k]) > 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_have_colours_without_another_meaning),
        cmocka_unit_test(files_are_of_the_kind_that_was_asked_for),
        cmocka_unit_test(a_name_that_is_none_is_told),
        cmocka_unit_test(only_what_is_named_is_made),
        cmocka_unit_test(sleepers_that_nobody_waits_for_are_left_out_of_the_largest_terms),
        cmocka_unit_test(a_known_ceiling_is_a_line_with_words),
        cmocka_unit_test(a_ceiling_far_away_leaves_the_curve_its_room),
        cmocka_unit_test(a_connection_has_its_ports_process_and_round_trip),
        cmocka_unit_test(pairs_are_drawn_as_the_table_has_them),
        cmocka_unit_test(iterations_are_bars_and_means_of_them_where_they_are_many),
        cmocka_unit_test(operators_that_take_most_are_drawn_first),
        cmocka_unit_test(many_pairs_are_all_in_the_picture),
        cmocka_unit_test(hostile_names_stay_words),
        cmocka_unit_test(a_column_is_bounded_and_pages_hold_all),
        cmocka_unit_test(pictures_that_are_begun_are_drawn_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
