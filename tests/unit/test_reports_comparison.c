/* SPDX-License-Identifier: MIT */
/* Comparisons of made-up reports whose differences are known by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "reports/comparison/comparison.h"
#include "reports/says/term_words.h"
#include "reports/writer.h"

#define NEAR(a, b)                                                                                 \
    do {                                                                                           \
        double is_ = (a), should_ = (b);                                                           \
        if (!(fabs(is_ - should_) <= 1e-9))                                                        \
            fail_msg("%s is %.12g, not %.12g", #a, is_, should_);                                  \
    } while (0)

static const char *const two_hosts[] = {"vm1", "vm2"};

static struct report *make(int64_t id, const char *name, double duration_s,
                           const char *const *hosts, size_t n_hosts) {
    struct report *r = calloc(1, sizeof *r);
    r->run = calloc(1, sizeof *r->run);
    r->run->model.recording = &r->run->input.recording;
    r->run_id = id;
    r->run_name = strdup(name);
    r->command = strdup(name);
    r->state = strdup("done");
    r->duration_s = duration_s;
    r->period_s = 0.1;
    r->quality.grade = 'A';
    r->path_length_s = NAN;
    r->verdict = (struct report_verdict){.state = VERDICT_BALANCED,
                                         .host = -1,
                                         .resource = strdup("none"),
                                         .cause = strdup(""),
                                         .summary = strdup("Nothing stands out.")};
    r->hosts = calloc(n_hosts + 1, sizeof *r->hosts);
    r->series = calloc(n_hosts + 1, sizeof *r->series);
    for (size_t h = 0; h < n_hosts; h++)
        r->hosts[r->n_hosts++].name = strdup(hosts[h]);
    r->resources = calloc(2, sizeof *r->resources);
    r->resources[r->n_resources++] = (struct report_resources){
        .phase = strdup("all"),
        .duration_s = duration_s,
        .values = calloc(n_hosts * METRIC_COUNT_ + 1, sizeof(struct report_value))};
    for (size_t h = 0; h < n_hosts; h++)
        for (int m = 0; m < METRIC_COUNT_; m++)
            if (metric_is_of_gpu((enum metric)m))
                r->resources[0].values[h * METRIC_COUNT_ + (size_t)m].mean = NAN;
    return r;
}

static void set_mean(struct report *r, size_t host, enum metric metric, double mean) {
    r->resources[0].values[host * METRIC_COUNT_ + metric].mean = mean;
}

static void add_curve(struct report *r, const char *name, size_t n, const double *t,
                      const double *value) {
    r->curves = realloc(r->curves, (r->n_curves + 1) * sizeof *r->curves);
    struct report_curve *c = &r->curves[r->n_curves++];
    *c = (struct report_curve){.name = strdup(name),
                               .n = n,
                               .t_s = calloc(n, sizeof(double)),
                               .iteration = calloc(n, sizeof(double)),
                               .value = calloc(n, sizeof(double))};
    memcpy(c->t_s, t, n * sizeof *t);
    memcpy(c->value, value, n * sizeof *value);
}

/* Adds two ranks with the duration of an iteration of rank 0. */
static void add_ranks(struct report *r, bool in_step, double iteration_s) {
    r->ranks = calloc(1, sizeof *r->ranks);
    r->n_ranks = 1;
    r->ranks_in_step = in_step;
    r->ranks[0] = (struct report_rank){.role = strdup(""),
                                       .n = 1,
                                       .end_s = calloc(1, sizeof(double)),
                                       .duration_s = calloc(1, sizeof(double))};
    r->ranks[0].end_s[0] = 2;
    r->ranks[0].duration_s[0] = iteration_s;
}

/* Runs 1 to n called "a" and n + 1 to 2 n called "b", whose durations are a_s + i / 100 ... */
static size_t make_groups(struct report **runs, size_t n, double a_s, double b_s) {
    for (size_t i = 0; i < 2 * n; i++)
        runs[i] = make((int64_t)i + 1, i < n ? "a" : "b",
                       (i < n ? a_s : b_s) + (double)(i % n) / 100, two_hosts, 2);
    return 2 * n;
}

static struct comparison *compare(struct report **runs, size_t n) {
    struct comparison *c;
    assert_int_equal(comparison_build(runs, NULL, n, 0, &c), 0);
    return c;
}

static const struct comparison_row *find(const struct comparison *c, const char *label) {
    for (size_t i = 0; i < c->n_summary; i++)
        if (strcmp(c->summary[i].label, label) == 0)
            return &c->summary[i];
    for (size_t i = 0; i < c->n_resources; i++)
        if (strcmp(c->resources[i].label, label) == 0)
            return &c->resources[i];
    fail_msg("no row '%s'", label);
    return NULL;
}

static bool notes_say(const struct comparison *c, const char *what) {
    for (size_t i = 0; i < c->n_notes; i++)
        if (strstr(c->notes[i], what))
            return true;
    return false;
}

static char *written(const struct comparison *c, const struct format *format) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(comparison_write(c, format, out), 0);
    fclose(out);
    return text;
}

/* ---- groups ---- */

static void repeats_of_two_commands_are_two_groups_and_the_shorter_is_faster(void **state) {
    struct report *runs[10];
    struct comparison *c = compare(runs, make_groups(runs, 5, 10, 8));
    const struct comparison_row *row = find(c, "duration");
    (void)state;
    assert_int_equal(c->n_groups, 2);
    assert_int_equal(row->groups[1].finding, COMPARE_LOWER);
    NEAR(row->groups[0].median, 10.02);
    NEAR(row->groups[1].difference, -2);
    NEAR(row->groups[1].p_holm, 2.0 / 252); /* of one row */
    assert_non_null(strstr(row->judgement[5], "established: faster"));
    assert_null(row->judgement[4]);
    assert_string_equal(c->headline, "b is 1.25 times as fast as a: 8.02 s against 10.02 s");
    assert_int_equal(c->groups[1].typical, 7);
    comparison_free(c);
}

static void four_repeats_show_a_difference_and_claim_nothing(void **state) {
    struct report *runs[8];
    struct comparison *c = compare(runs, make_groups(runs, 4, 10, 8));
    (void)state;
    assert_int_equal(find(c, "duration")->groups[1].finding, COMPARE_TOO_FEW);
    assert_non_null(strstr(find(c, "duration")->judgement[4], "not established: 4 and 4 runs"));
    assert_non_null(
        strstr(c->headline,
               "(-20.0 %). 4 runs each cannot show whether this is chance: record 5 of each"));
    assert_null(strstr(c->headline, "fast"));
    comparison_free(c);
}

static void a_group_against_itself_is_no_difference(void **state) {
    struct report *runs[10];
    const size_t groups[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
    struct comparison *c;
    (void)state;
    for (size_t i = 0; i < 10; i++)
        runs[i] = make((int64_t)(i % 5) + 1, "a", 1 + (double)(i % 5), two_hosts, 2);
    assert_int_equal(comparison_build(runs, groups, 10, 0, &c), 0);
    assert_int_equal(find(c, "duration")->groups[1].finding, COMPARE_SAME);
    assert_string_equal(find(c, "duration")->judgement[5], "no difference: the same runs");
    for (size_t i = 0; i < c->n_summary; i++)
        NEAR(c->summary[i].groups[1].difference, 0);
    comparison_free(c);
}

static void a_run_that_failed_is_left_out_and_named(void **state) {
    struct report *runs[12];
    size_t n = make_groups(runs, 6, 10, 8);
    free(runs[0]->state);
    runs[0]->state = strdup("interrupted");
    runs[0]->duration_s = 1;
    struct comparison *c = compare(runs, n);
    (void)state;
    assert_int_equal(find(c, "duration")->groups[0].n, 5);
    NEAR(find(c, "duration")->groups[0].median, 10.03);
    assert_true(notes_say(c, "run 1 (a) did not end well: interrupted; it is left out"));
    comparison_free(c);
}

static void hosts_that_one_group_lacks_are_left_out_with_the_reason(void **state) {
    static const char *const others[] = {"vm1", "vm3"};
    struct report *runs[2] = {make(1, "a", 1, two_hosts, 2), make(2, "b", 1, others, 2)};
    set_mean(runs[0], 0, METRIC_NET_SEND, 10);
    set_mean(runs[1], 0, METRIC_NET_SEND, 30);
    struct comparison *c = compare(runs, 2);
    (void)state;
    assert_int_equal(c->n_hosts, 1);
    NEAR(find(c, "vm1 net_send")->groups[1].difference, 20);
    assert_true(notes_say(c, "vm2 is left out of the averages per host: b did not run there"));
    assert_true(notes_say(c, "vm3 is left out of the averages per host: a did not run there"));
    assert_true(notes_say(c, "other hosts than the baseline"));
    comparison_free(c);
}

/* Sets vm2 in the last `n` / 2 runs. */
static bool names_gpus(const struct comparison *c) {
    for (size_t i = 0; i < c->n_summary; i++)
        if (strstr(c->summary[i].label, "GPU"))
            return true;
    for (size_t m = 0; m < c->n_metrics; m++)
        if (metric_is_of_gpu(c->metrics[m].metric))
            return true;
    return false;
}

/* A CPU alone beside a GPU has the GPU's rows, without a value of its own; two CPUs have none. */
static void gpus_of_one_run_have_rows_beside_a_run_without(void **state) {
    struct report *runs[2] = {make(1, "cpu", 9, two_hosts, 2), make(2, "gpu", 1, two_hosts, 2)};
    const double t[] = {0, 1}, trained[] = {0, 1500};
    (void)state;
    set_mean(runs[1], 0, METRIC_GPU_SM, 40);
    set_mean(runs[1], 1, METRIC_GPU_SM, 60);
    set_mean(runs[1], 0, METRIC_GPU_WATTS, 100);
    set_mean(runs[1], 1, METRIC_GPU_WATTS, 200);
    add_curve(runs[1], "examples", 2, t, trained);
    struct comparison *c = compare(runs, 2);
    assert_true(names_gpus(c));
    NEAR(find(c, "GPU multiprocessors")->value[1], 50);
    assert_true(isnan(find(c, "GPU multiprocessors")->value[0]));
    NEAR(find(c, "power of GPUs")->value[1], 300);
    NEAR(find(c, "energy of GPUs an example")->value[1], .2);
    NEAR(find(c, "vm2 gpu_sm")->value[1], 60);
    comparison_free(c);
    runs[0] = make(1, "a", 9, two_hosts, 2);
    runs[1] = make(2, "b", 1, two_hosts, 2);
    c = compare(runs, 2);
    assert_false(names_gpus(c));
    comparison_free(c);
}

static void set_core_speeds(struct report **runs, size_t n, double base_us, double us) {
    for (size_t i = 0; i < n; i++) {
        runs[i]->hosts[0].beat_us = base_us;
        runs[i]->hosts[1].beat_us = i < n / 2 ? base_us : us;
    }
}

static void a_group_on_slower_cores_is_told_by_how_much(void **state) {
    struct report *runs[10];
    size_t n = make_groups(runs, 5, 8, 10);
    set_core_speeds(runs, n, 12, 14.4);
    struct comparison *c = compare(runs, n);
    (void)state;
    assert_true(notes_say(c, "b ran on cores that were slower than those of the baseline a on 1 of "
                             "2 hosts: the same arithmetic took 14.40 us on vm2 against 12.00 "
                             "(1.20 times as long)"));
    assert_false(notes_say(c, "faster than those"));
    comparison_free(c);
}

static void so_is_one_on_faster_cores(void **state) {
    struct report *runs[10];
    size_t n = make_groups(runs, 5, 8, 10);
    set_core_speeds(runs, n, 12, 10);
    struct comparison *c = compare(runs, n);
    (void)state;
    assert_true(notes_say(c, "took 10.00 us on vm2 against 12.00 (1.20 times as fast)"));
    assert_false(notes_say(c, "slower than those"));
    comparison_free(c);
}

static void chance_one_run_and_what_was_not_measured_are_no_slower_cores(void **state) {
    struct report *runs[10];
    size_t n = make_groups(runs, 5, 8, 10);
    set_core_speeds(runs, n, 12, 12.5);
    runs[n - 1]->hosts[1].beat_us = 40;
    for (size_t i = n / 2; i < n; i++)
        runs[i]->hosts[0].beat_us = NAN;
    struct comparison *c = compare(runs, n);
    (void)state;
    assert_false(notes_say(c, "ran on cores"));
    comparison_free(c);
}

static void cores_of_a_run_that_failed_do_not_count(void **state) {
    struct report *runs[4];
    size_t n = make_groups(runs, 2, 8, 10);
    set_core_speeds(runs, n, 12, 12);
    free(runs[3]->state);
    runs[3]->state = strdup("interrupted");
    runs[3]->hosts[1].beat_us = 24;
    struct comparison *c = compare(runs, n);
    (void)state;
    assert_false(notes_say(c, "ran on cores"));
    comparison_free(c);
}

static void averages_of_hosts_are_means_over_the_repeats(void **state) {
    struct report *runs[10];
    size_t n = make_groups(runs, 5, 10, 8);
    for (size_t i = 0; i < n; i++)
        set_mean(runs[i], 1, METRIC_NET_RECV, i < 5 ? 10 + 10 * (double)(i == 0) : 50);
    struct comparison *c = compare(runs, n);
    (void)state;
    NEAR(find(c, "vm2 net_recv")->groups[0].shown, 12);
    NEAR(find(c, "vm2 net_recv")->groups[1].difference, 38);
    /* 14 rows of hosts: five runs cannot pass, which is reported instead of "no difference" */
    assert_int_equal(find(c, "vm2 net_recv")->groups[1].finding, COMPARE_UNCLEAR);
    assert_true(notes_say(c, "it takes 6 runs of each"));
    comparison_free(c);
}

/* ---- how much was done ---- */

static struct comparison *compare_work(double a, double b) {
    struct report *runs[2] = {make(1, "a", 10, two_hosts, 2), make(2, "b", 5, two_hosts, 2)};
    add_curve(runs[0], "examples trained", 2, (const double[]){0, 10}, (const double[]){0, a});
    add_curve(runs[1], "examples trained", 2, (const double[]){0, 5}, (const double[]){0, b});
    return compare(runs, 2);
}

/* Half of the time for a tenth of the examples means five times as long for the same number. */
static void runs_that_did_not_do_the_same_work_say_so_first(void **state) {
    struct comparison *c = compare_work(250000, 25000);
    (void)state;
    assert_ptr_equal(strstr(c->headline, "The runs did different amounts of work. "), c->headline);
    assert_non_null(strstr(c->headline,
                           "Per example, b takes 5.00 times as long as a (5000 against "
                           "25000 a second)"));
    comparison_free(c);
    c = compare_work(250000, 125000); /* half of them in half of the time */
    assert_non_null(strstr(c->headline, "Per example, b is as fast as a (25000 against"));
    comparison_free(c);
    c = compare_work(250000, 250000);
    assert_null(strstr(c->headline, "different amounts"));
    comparison_free(c);
}

/* ---- sync against async ---- */

static void iterations_in_step_and_out_of_step_are_not_compared(void **state) {
    struct report *runs[10];
    size_t n = make_groups(runs, 5, 10, 8);
    for (size_t i = 0; i < n; i++) {
        add_ranks(runs[i], i < 5, i < 5 ? 0.1 : 0.01);
        add_curve(runs[i], "updates", 2, (const double[]){0, 2},
                  (const double[]){0, i < 5 ? 20 : 80});
    }
    struct comparison *c = compare(runs, n);
    (void)state;
    assert_int_equal(find(c, "iteration")->groups[1].finding, COMPARE_TOO_FEW);
    assert_non_null(strstr(find(c, "iteration")->judgement[5], "not the same work"));
    NEAR(find(c, "iteration")->groups[1].difference, -0.09); /* shown nevertheless */
    assert_int_equal(find(c, "updates")->groups[1].finding, COMPARE_HIGHER);
    NEAR(find(c, "updates")->groups[1].median, 40);
    assert_true(notes_say(c, "times per iteration are not compared"));
    comparison_free(c);
}

/* a: 100 updates in 10 s, accuracy .60 to .64, tested half-way; b: 400 in 5 s, from .6 to `end`. At
 * 5 s a has .62; after 100 updates a has .64, and b a quarter of its increase.
 */
static struct comparison *progress_of(double end) {
    struct report *runs[2] = {make(1, "a", 10, two_hosts, 2), make(2, "b", 5, two_hosts, 2)};
    add_curve(runs[0], "updates", 2, (const double[]){0, 10}, (const double[]){0, 100});
    add_curve(runs[0], "accuracy", 3, (const double[]){0, 5, 10}, (const double[]){.6, .62, .64});
    add_curve(runs[1], "updates", 2, (const double[]){0, 5}, (const double[]){0, 400});
    add_curve(runs[1], "accuracy", 2, (const double[]){0, 5}, (const double[]){.6, end});
    return compare(runs, 2);
}

static void accuracy_is_compared_at_equal_time_and_at_equal_updates(void **state) {
    struct comparison *c = progress_of(.616);
    (void)state;
    NEAR(find(c, "accuracy at 5.00 s")->value[0], 0.62);
    NEAR(find(c, "accuracy at 5.00 s")->value[1], 0.616);
    NEAR(find(c, "accuracy at 100 updates")->value[0], 0.64);
    NEAR(find(c, "accuracy at 100 updates")->value[1], 0.604);
    NEAR(find(c, "last accuracy")->value[0], 0.64);
    comparison_free(c);
}

static void no_accuracy_is_made_up_between_tests_that_are_far_apart(void **state) {
    struct comparison *c = progress_of(.7);
    (void)state;
    NEAR(find(c, "accuracy at 5.00 s")->value[1], 0.7);
    NEAR(find(c, "accuracy at 100 updates")->value[0], 0.64);
    assert_true(isnan(find(c, "accuracy at 100 updates")->value[1]));
    comparison_free(c);
}

/* ---- where the run time went ---- */

static double sum_of_parts(const struct comparison *c, size_t group) {
    double sum = 0;
    for (size_t i = 0; i < c->n_parts; i++)
        sum += c->parts[i].seconds[group];
    return sum;
}

static void add_budget(struct report *r, double cpu, double wait) {
    r->budget = calloc(1, sizeof *r->budget);
    r->n_budget = 1;
    r->budget[0] =
        (struct report_budget){.phase = strdup("all"), .source = "events", .wall_s = cpu + wait};
    r->budget[0].term_s[BUDGET_CPU] = cpu;
    r->budget[0].term_s[BUDGET_PEER_WAIT] = wait;
    r->budget[0].term_s[BUDGET_STEAL] = NAN;
}

static void the_parts_of_the_run_time_add_up_to_its_difference(void **state) {
    struct report *runs[4];
    size_t n = make_groups(runs, 2, 10, 6);
    for (size_t i = 0; i < n; i++)
        add_budget(runs[i], 4, i < 2 ? 5.5 : 1.5);
    struct comparison *c = compare(runs, n);
    (void)state;
    assert_string_equal(c->parts_source, "budgets");
    NEAR(sum_of_parts(c, 0), 10.005);
    NEAR(sum_of_parts(c, 1), 6.005);
    assert_string_equal(c->parts[0].label, budget_term_words(BUDGET_PEER_WAIT));
    NEAR(c->parts[0].seconds[1] - c->parts[0].seconds[0], -4);
    comparison_free(c);
}

/* A program of one process and two helpers that sleep: 4 s of computing are 4 s. */
static void without_ranks_the_parts_are_sums_of_the_job(void **state) {
    struct report *runs[4];
    size_t n = make_groups(runs, 2, 10, 6);
    for (size_t i = 0; i < n; i++) {
        runs[i]->budget = calloc(3, sizeof *runs[i]->budget);
        runs[i]->n_budget = 3;
        for (size_t p = 0; p < 3; p++) {
            runs[i]->budget[p] = (struct report_budget){
                .phase = strdup("all"), .source = "counters", .rank = -1, .wall_s = 6};
            runs[i]->budget[p].term_s[BUDGET_CPU] = p ? 0 : i < 2 ? 8 : 4;
            runs[i]->budget[p].term_s[BUDGET_IDLE] = p ? 6 : 2;
        }
    }
    struct comparison *c = compare(runs, n);
    (void)state;
    assert_string_equal(c->parts[0].label, budget_term_words(BUDGET_CPU));
    NEAR(c->parts[0].seconds[0], 8);
    NEAR(c->parts[0].seconds[1], 4);
    NEAR(sum_of_parts(c, 0), 10.005);
    for (size_t i = 0; i < c->n_parts; i++)
        assert_int_not_equal(c->parts[i].term, BUDGET_IDLE);
    comparison_free(c);
}

/* Three processes that work at a time: the run time is divided among what they did. A process that
 * waits for another one of the job does not count beside it. */
static void parts_of_processes_at_a_time_add_up_to_the_run_time(void **state) {
    struct report *runs[4];
    size_t n = make_groups(runs, 2, 10, 6);
    for (size_t i = 0; i < n; i++) {
        runs[i]->budget = calloc(4, sizeof *runs[i]->budget);
        runs[i]->n_budget = 4;
        for (size_t p = 0; p < 4; p++) {
            runs[i]->budget[p] = (struct report_budget){
                .phase = strdup("all"), .source = "counters", .rank = -1, .wall_s = 6};
            if (p == 3) {
                runs[i]->budget[p].term_s[BUDGET_PEER_WAIT] = 6;
                continue;
            }
            runs[i]->budget[p].term_s[BUDGET_CPU] = 9;
            runs[i]->budget[p].term_s[BUDGET_DISK] = 3;
        }
    }
    struct comparison *c = compare(runs, n);
    (void)state;
    NEAR(sum_of_parts(c, 0), 10.005);
    NEAR(sum_of_parts(c, 1), 6.005);
    for (size_t i = 0; i < c->n_parts; i++) {
        assert_int_not_equal(c->parts[i].term, BUDGET_PEER_WAIT);
        NEAR(c->parts[i].seconds[0],
             c->parts[i].term == BUDGET_CPU ? 0.75 * 10.005 : 0.25 * 10.005);
    }
    comparison_free(c);
}

/* A rank of 8 s, and a helper that a rank forked, which computed for the 2 s of its life. */
static void helpers_count_for_the_part_of_their_lives(void **state) {
    struct report *runs[4];
    size_t n = make_groups(runs, 2, 10, 6);
    for (size_t i = 0; i < n; i++) {
        runs[i]->budget = calloc(2, sizeof *runs[i]->budget);
        runs[i]->n_budget = 2;
        for (int p = 0; p < 2; p++) {
            runs[i]->budget[p] = (struct report_budget){.phase = strdup("all"),
                                                        .source = "clocks",
                                                        .rank = p ? -1 : 0,
                                                        .wall_s = p ? 2 : 8};
            runs[i]->budget[p].term_s[BUDGET_CPU] = p ? 2 : 4;
            runs[i]->budget[p].term_s[BUDGET_DISK] = p ? 0 : 4;
        }
    }
    struct comparison *c = compare(runs, n);
    (void)state;
    for (size_t i = 0; i < c->n_parts; i++)
        if (c->parts[i].term == BUDGET_CPU)
            NEAR(c->parts[i].seconds[0], 6 / 1.25);
        else if (c->parts[i].term == BUDGET_DISK)
            NEAR(c->parts[i].seconds[0], 4 / 1.25);
    NEAR(sum_of_parts(c, 0), 10.005);
    comparison_free(c);
}

/* ---- one screen ---- */

static struct comparison *compare_commands(const char *base, const char *is) {
    struct report *runs[2] = {make(1, "a", 10, two_hosts, 2), make(2, "b", 9, two_hosts, 2)};
    free(runs[0]->command);
    free(runs[1]->command);
    runs[0]->command = strdup(base);
    runs[1]->command = strdup(is);
    return compare(runs, 2);
}

#define LONG_WORD                                                                                  \
    "0123456789012345678901234567890123456789012345678901234567890123456789"                       \
    "0123456789012345678901234567890123456789012345678901234567890123456789"

static void words_of_the_command_that_differ_are_named(void **state) {
    static const struct {
        const char *base, *is, *said;
    } cases[] = {
        {"./train --mode sync -n 4", "./train --mode async -n 4",
         "`--mode async` instead of `--mode sync`"},
        {"gcc -O2 a.c", "gcc -O3 -g a.c", "`-O3 -g` instead of `-O2`"},
        {"make", "make -j8", "`-j8` added"},
        {"tar -cz x", "tar x", "`-cz` left out"},
        {"sort 'a b' c", "sort 'a d' c", "`'a d'` instead of `'a b'`"},
        {"x a\\ b", "x a\\ c", "`a\\ c` instead of `a\\ b`"},
        {"a 1 b 2 c 3 d 4 e 5", "a 0 b 0 c 0 d 0 e 0",
         "`0` instead of `1`; `0` instead of `2`; `0` instead of `3`; 2 more differences"},
        {"gzip x", "pigz y", "`pigz y` instead of `gzip x`"},
        {"make", "", "`make` left out"},
        {"sh -c a", "sh -c '" LONG_WORD "'", "2 other words instead of `-c a`"},
        {"make", "make", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct comparison *c = compare_commands(cases[i].base, cases[i].is);
        assert_null(c->groups[0].changed);
        if (cases[i].said)
            assert_string_equal(c->groups[1].changed, cases[i].said);
        else
            assert_null(c->groups[1].changed);
        comparison_free(c);
    }
}

/* Nor are they looked for without an end. */
static void words_of_endless_commands_are_not_named(void **state) {
    char base[4001], is[4001];
    for (size_t i = 0; i < 4000; i++) {
        base[i] = i % 2 ? ' ' : 'a';
        is[i] = i % 2 ? ' ' : 'b';
    }
    base[4000] = is[4000] = '\0';
    struct comparison *c = compare_commands(base, is);
    (void)state;
    assert_string_equal(c->groups[1].changed, "another command");
    comparison_free(c);
}

static char *screen_of(const struct comparison *c) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(comparison_write_lines(c, "1 2", out), 0);
    fclose(out);
    return text;
}

/* 0.00003 and 0.06 MB/s are both nothing, 0 and 40 are a change without a factor, as are 10 and
 * 0.04; 10 and 25 have one. */
static void values_that_are_nothing_have_no_factor(void **state) {
    struct report *runs[2] = {make(1, "a", 10, two_hosts, 2), make(2, "b", 9, two_hosts, 2)};
    (void)state;
    for (size_t i = 0; i < 2; i++)
        for (size_t h = 0; h < 2; h++) {
            set_mean(runs[i], h, METRIC_DISK_READ, i ? .03 : .000015);
            set_mean(runs[i], h, METRIC_DISK_WRITE, i ? 20 : 0);
            set_mean(runs[i], h, METRIC_NET_SEND, i ? 12.5 : 5);
            set_mean(runs[i], h, METRIC_NET_RECV, i ? .02 : 5);
        }
    struct comparison *c = compare(runs, 2);
    char *text = screen_of(c);
    assert_null(strstr(text, "disk read"));
    assert_non_null(strstr(text, "40.0\n"));
    assert_non_null(strstr(text, "2.50 x\n"));
    assert_non_null(strstr(text, "0.0400\n"));
    free(text);
    comparison_free(c);
}

/* Three groups whose every sentence is at its longest: what does not fit is left out whole. */
static void one_screen_holds_whole_sentences_of_three_groups(void **state) {
    static const char *const names[] = {"a-name-of-forty-characters-for-the-first",
                                        "a-name-of-forty-characters-for-a-second",
                                        "a-name-of-forty-characters-for-the-third"};
    static const char limit[] =
        "CPU of vm1 (contention with nightly-backup-of-everything[27570]): 77 % of the training, "
        "from 3 s to 900 s. A second sentence tells what else there is to tell, at a length that "
        "nobody has the room for on a screen of so few lines. A third one ends it.";
    struct report *runs[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        runs[i] = make((int64_t)i + 1, names[i], 10 + (double)i, two_hosts, 2);
        free(runs[i]->command);
        runs[i]->command = strdup(i ? "./program --with-an-option another-value-for-that-option "
                                      "--with-a-second-option another-value-for-the-second"
                                    : "./program --with-an-option the-value-of-that-option "
                                      "--with-a-second-option the-value-of-the-second");
        runs[i]->verdict.limit = strdup(limit);
        add_budget(runs[i], 4, (double)i);
        if (i) {
            free(runs[i]->state);
            runs[i]->state = strdup("failed");
        }
    }
    struct comparison *c = compare(runs, 3);
    assert_int_equal(comparison_set_gate(c, .05), 0);
    char *text = screen_of(c);
    size_t lines = 0;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    if (lines > 25 || strstr(text, "..."))
        fail_msg("%zu lines:\n%s", lines, text);
    assert_non_null(strstr(text, "from 3 s to 900 s.\n"));
    assert_null(strstr(text, "A third one"));
    free(text);
    comparison_free(c);
}

/* ---- a gate ---- */

static struct gated gated(size_t repeats, double base_s, double other_s, double limit) {
    struct report *runs[10];
    struct comparison *c = compare(runs, make_groups(runs, repeats, base_s, other_s));
    assert_int_equal(comparison_set_gate(c, limit), 0);
    struct gated of = c->gate.each[1];
    assert_true(c->gate.each[0].passed);
    assert_int_equal(c->gate.passed, of.passed);
    comparison_free(c);
    return of;
}

static void a_gate_fails_for_a_group_that_is_slower_than_its_limit(void **state) {
    (void)state;
    struct gated of = gated(1, 10, 10.4, 0.05);
    assert_true(of.passed);
    assert_false(of.established);
    NEAR(of.slower, 0.04);
    assert_false(gated(1, 10, 10.6, 0.05).passed);
    assert_true(gated(1, 10, 5, 0).passed);
    of = gated(5, 10, 12, 0.05);
    assert_false(of.passed);
    assert_true(of.established);
    assert_true(gated(5, 10, 12, 0.25).passed);
}

static void a_gate_takes_the_time_of_the_same_work(void **state) {
    struct comparison *c = compare_work(250000, 25000);
    (void)state;
    assert_int_equal(comparison_set_gate(c, 0.05), 0);
    assert_true(c->gate.each[1].per_work);
    NEAR(c->gate.each[1].slower, 4);
    assert_false(c->gate.passed);
    comparison_free(c);
}

static void with_critical_paths_the_parts_are_of_hosts(void **state) {
    struct report *runs[2] = {make(1, "a", 10, two_hosts, 2), make(2, "b", 7, two_hosts, 2)};
    (void)state;
    for (int i = 0; i < 2; i++) {
        runs[i]->path_s = calloc(2 * BUDGET_TERMS, sizeof(double));
        runs[i]->path_s[BUDGET_CPU] = 4;
        runs[i]->path_s[BUDGET_TERMS + BUDGET_TRANSFER] = i ? 2 : 5;
    }
    struct comparison *c = compare(runs, 2);
    assert_string_equal(c->parts_source, "critical path");
    NEAR(sum_of_parts(c, 0), 10);
    NEAR(sum_of_parts(c, 1), 7);
    assert_non_null(strstr(c->parts[0].label, "vm2: "));
    NEAR(c->parts[0].seconds[1] - c->parts[0].seconds[0], -3);
    comparison_free(c);
}

/* ---- writers ---- */

static void every_format_writes_groups_and_the_same_bytes_again(void **state) {
    static const struct format *const formats[] = {&format_text, &format_md, &format_csv,
                                                   &format_json, &format_html};
    struct report *runs[10];
    size_t n = make_groups(runs, 5, 10, 8);
    for (size_t i = 0; i < n; i++)
        add_budget(runs[i], 4, i < 5 ? 5.5 : 3.5);
    struct comparison *c = compare(runs, n);
    (void)state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char *once = written(c, formats[i]), *again = written(c, formats[i]);
        assert_string_equal(once, again);
        if (formats[i] != &format_csv)
            assert_non_null(strstr(once, "1.25 times as fast"));
        free(once);
        free(again);
    }
    comparison_free(c);
}

/* Those of a goal come first, each against iterations and time; counts of both programs are folded.
 */
static void curves_are_drawn_against_iterations_and_time(void **state) {
    static const char *const pictures[] = {"accuracy against iteration", "accuracy against time",
                                           "Other values that the programs counted",
                                           "updates against iteration", "updates against time"};
    struct comparison *c = progress_of(.616);
    (void)state;
    char *page = written(c, &format_html);
    const char *at = strstr(page, "Progress as the programs reported it");
    bool drawn = strstr(page, "<svg") != NULL; /* by gnuplot, if it is installed */
    assert_non_null(at);
    for (size_t i = 0; drawn && i < sizeof pictures / sizeof *pictures; i++) {
        if (!(at = strstr(at, pictures[i])))
            fail_msg("%s", pictures[i]);
    }
    assert_null(strstr(page, "against updates"));
    free(page);
    comparison_free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeats_of_two_commands_are_two_groups_and_the_shorter_is_faster),
        cmocka_unit_test(four_repeats_show_a_difference_and_claim_nothing),
        cmocka_unit_test(a_group_against_itself_is_no_difference),
        cmocka_unit_test(a_run_that_failed_is_left_out_and_named),
        cmocka_unit_test(hosts_that_one_group_lacks_are_left_out_with_the_reason),
        cmocka_unit_test(gpus_of_one_run_have_rows_beside_a_run_without),
        cmocka_unit_test(a_group_on_slower_cores_is_told_by_how_much),
        cmocka_unit_test(so_is_one_on_faster_cores),
        cmocka_unit_test(chance_one_run_and_what_was_not_measured_are_no_slower_cores),
        cmocka_unit_test(cores_of_a_run_that_failed_do_not_count),
        cmocka_unit_test(averages_of_hosts_are_means_over_the_repeats),
        cmocka_unit_test(runs_that_did_not_do_the_same_work_say_so_first),
        cmocka_unit_test(iterations_in_step_and_out_of_step_are_not_compared),
        cmocka_unit_test(accuracy_is_compared_at_equal_time_and_at_equal_updates),
        cmocka_unit_test(no_accuracy_is_made_up_between_tests_that_are_far_apart),
        cmocka_unit_test(the_parts_of_the_run_time_add_up_to_its_difference),
        cmocka_unit_test(without_ranks_the_parts_are_sums_of_the_job),
        cmocka_unit_test(parts_of_processes_at_a_time_add_up_to_the_run_time),
        cmocka_unit_test(helpers_count_for_the_part_of_their_lives),
        cmocka_unit_test(words_of_the_command_that_differ_are_named),
        cmocka_unit_test(words_of_endless_commands_are_not_named),
        cmocka_unit_test(values_that_are_nothing_have_no_factor),
        cmocka_unit_test(one_screen_holds_whole_sentences_of_three_groups),
        cmocka_unit_test(a_gate_fails_for_a_group_that_is_slower_than_its_limit),
        cmocka_unit_test(a_gate_takes_the_time_of_the_same_work),
        cmocka_unit_test(with_critical_paths_the_parts_are_of_hosts),
        cmocka_unit_test(curves_are_drawn_against_iterations_and_time),
        cmocka_unit_test(every_format_writes_groups_and_the_same_bytes_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
