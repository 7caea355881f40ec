/* SPDX-License-Identifier: MIT */
/* Signs and units of single sections, from models made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>
#include <math.h>

#include "common/clock.h"
#include "reports/facts/changes.h"
#include "reports/formats/formats.h"
#include "reports/model/layout.h"
#include "reports/model/prediction.h"
#include "reports/sections/sections.h"

#define HAS(text, part)                                                                            \
    do {                                                                                           \
        if (!strstr(text, part))                                                                   \
            fail_msg("no '%s' in:\n%s", part, text);                                               \
    } while (0)

/* ---- what a change would bring ---- */

static char *predicted(int (*write)(const struct prediction *, FILE *)) {
    struct prediction_answer answers[] = {
        {.text = (char *)"--link vm1=2x",
         .answer = {.replayed = true,
                    .measured_s = 20,
                    .replay_s = 20.5,
                    .predicted_s = 15,
                    .low_s = 14,
                    .high_s = 16,
                    .bound_s = 12,
                    .gain = 0.25,
                    .gain_low = 0.2,
                    .gain_high = 0.3,
                    .gain_max = 0.4,
                    .run_gain = -0.05,
                    .run_low = -0.1,
                    .run_high = 0.02}},
    };
    const struct prediction p = {.run_id = 7,
                                 .run_name = (char *)"train",
                                 .command = (char *)"./train",
                                 .phase = (char *)"training",
                                 .run_s = 25,
                                 .events = true,
                                 .answers = answers,
                                 .n_answers = 1};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(write(&p, out), 0);
    fclose(out);
    return text;
}

static void less_time_is_a_change_with_a_minus(void **state) {
    (void)state;
    char *text = predicted(prediction_write_text);
    HAS(text, "The answers are for its phase training, which took 20");
    HAS(text, "15.0");
    HAS(text, "14.0 to 16.0");
    HAS(text, "-25.0 %");
    HAS(text, "+5.0 %");
    HAS(text, "12.0");
    HAS(text, "take 2.50 % more than they did");
    free(text);
}

static void expect_near(const json_t *object, const char *key, double should) {
    double is = json_number_value(json_object_get(object, key));
    if (!(fabs(is - should) < 1e-9))
        fail_msg("%s is %g, not %g", key, is, should);
}

static void gains_are_percent_for_programs(void **state) {
    (void)state;
    char *text = predicted(prediction_write_json);
    json_t *document = json_loads(text, 0, NULL);
    const json_t *answer = json_array_get(json_object_get(document, "answers"), 0);
    const json_t *gain = json_object_get(answer, "gain_pct");
    const json_t *of_run = json_object_get(answer, "run_gain_pct");
    expect_near(gain, "low", 20);
    expect_near(gain, "estimate", 25);
    expect_near(gain, "high", 30);
    expect_near(answer, "gain_max_pct", 40);
    expect_near(of_run, "low", -10);
    expect_near(of_run, "estimate", -5);
    expect_near(of_run, "high", 2);
    expect_near(answer, "predicted_s", 15);
    const json_t *interval = json_object_get(answer, "interval_s");
    expect_near(interval, "low", 14);
    expect_near(interval, "high", 16);
    expect_near(answer, "bound_s", 12);
    json_decref(document);
    free(text);
}

/* ---- alerts ---- */

/* The run began at 22:13:20 UTC: alerts show the wall clock, not the run's time. */
static void an_alert_is_at_the_time_of_the_day_at_which_it_began(void **state) {
    static struct report_host hosts[] = {{.name = (char *)"vm1"}};
    static struct model_host host = {.name = "vm1"};
    struct rate *busy = &host.metrics[METRIC_DISK_BUSY];
    struct window whole = {0, 100 * NS_PER_S};
    struct phase_group all = {.items = &whole, .n = 1};
    struct reported run = {.model = {.groups = &all,
                                     .n_groups = 1,
                                     .recording = &run.input.recording,
                                     .hosts = &host,
                                     .n_hosts = 1},
                           .input.recording.duration_ns = 100 * NS_PER_S};
    const struct report report = {
        .hosts = hosts, .n_hosts = 1, .run = &run, .started_wall_ns = 1700000000 * NS_PER_S};
    char *text = NULL, time[LAYOUT_NUMBER_SIZE];
    size_t size;
    struct page page;
    (void)state;
    assert_int_equal(rate_init(busy, 1, 1), 0);
    busy->t_ns[0] = 75 * NS_PER_S;
    busy->dt_ns[0] = 10 * NS_PER_S;
    busy->base[0] = 1;
    busy->amount[0] = 99;
    FILE *out = open_memstream(&text, &size);
    page_begin(&page, &format_text, out, "", "test");
    section_alerts(&report, &page);
    assert_int_equal(page_end(&page), 0);
    fclose(out);
    HAS(text, "CRITICAL");
    HAS(text, layout_time(time, 1700000065 * NS_PER_S));
    free(text);
    rate_release(busy);
}

/* ---- parts of a page ---- */

static char *page_of(const struct report *report, report_section *section) {
    char *text = NULL;
    size_t size;
    struct page page;
    FILE *out = open_memstream(&text, &size);
    page_begin(&page, &format_html, out, "", "test");
    section(report, &page);
    assert_int_equal(page_end(&page), 0);
    fclose(out);
    *strstr(text, "<script>") = '\0';
    return text;
}

static struct report_change changes[] = {{.change = (char *)"vm2's <b> link twice as fast",
                                          .limit = (char *)"vm2's network",
                                          .options = (char *)"--link vm2=2x",
                                          .gain_pct = 40,
                                          .low_pct = 31,
                                          .high_pct = 51,
                                          .source = "replay",
                                          .letter = 'A',
                                          .advised = true},
                                         {.change = (char *)"no CPU quota on vm1",
                                          .limit = (char *)"vm1's CPU quota",
                                          .options = (char *)"--without vm1:quota",
                                          .gain_pct = 20.4,
                                          .low_pct = 20.2,
                                          .high_pct = 20.6,
                                          .source = "counters",
                                          .letter = 'B'}};
static struct report_together together[] = {
    {.first = 0,
     .second = 1,
     .options = (char *)"--link vm2=2x --without vm1:quota --together",
     .gain_pct = 47,
     .low_pct = NAN,
     .high_pct = NAN,
     .source = "replay"}};
static const struct changes with_changes = {
    .single = changes,
    .n = 2,
    .together = together,
    .n_together = 1,
    .factors = {{.what = (char *)"vm2's link",
                 .points = {{1.5, 30, 25, 35, NULL}, {2, 40, NAN, NAN, NULL}},
                 .n = 2}},
    .n_factors = 1};

static char *page_of_changes(const struct changes *all) {
    const struct report report = {.run_id = 7, .caller.run = 7};
    char *text = NULL;
    size_t size;
    struct page page;
    FILE *out = open_memstream(&text, &size);
    page_begin(&page, &format_html, out, "x", "");
    changes_put(all, &report, &page);
    assert_int_equal(page_end(&page), 0);
    fclose(out);
    return text;
}

static void a_change_says_what_the_run_time_would_be_and_how_to_ask(void **state) {
    const struct changes none = {0};
    (void)state;
    char *text = page_of_changes(&with_changes), *empty = page_of_changes(&none);
    HAS(text, "vm2&#39;s &lt;b&gt; link twice as fast");
    HAS(text, "-40 % (-31 to -51)");
    HAS(text, ">-20 %<"); /* an interval of less than a percent is not shown */
    HAS(text, "<code>chokepoint whatif 7 --link vm2=2x</code>");
    HAS(text, "<td class=\"t established\">vm2"); /* to which the verdict refers */
    HAS(empty, "No change on one host");
    free(text);
    free(empty);
}

static void two_changes_have_an_answer_of_their_own(void **state) {
    (void)state;
    char *text = page_of_changes(&with_changes);
    HAS(text, ">A + B<");
    HAS(text, ">-47 %<");
    HAS(text, "whatif 7 --link vm2=2x --without vm1:quota --together</code>");
    free(text);
}

/* Only what was asked for is a point, with its interval if it has one. */
static void a_change_at_several_factors_is_drawn_as_points(void **state) {
    (void)state;
    char *text = page_of_changes(&with_changes);
    size_t dots = 0, spans = 0;
    for (const char *at = text; (at = strstr(at, "class=\"dot\"")); at++)
        dots++;
    for (const char *at = text; (at = strstr(at, "class=\"span\"")); at++)
        spans++;
    assert_int_equal(dots, 3); /* and the run as it was */
    assert_int_equal(spans, 1);
    HAS(text, "Run time by the factor of vm2&#39;s link");
    HAS(text, ">1.5x<");
    HAS(text, ">-30 %<");
    free(text);
}

static void the_headline_says_what_it_is_worth_and_what_to_do(void **state) {
    static char *next[] = {(char *)"raise it by `tc`", (char *)"then run it again"};
    const struct report report = {.run_id = 7,
                                  .caller.run = 7,
                                  .quality.grade = 'A',
                                  .verdict = {.state = VERDICT_SATURATED,
                                              .summary = (char *)"The run waits.",
                                              .confidence = .98,
                                              .limit = (char *)"network of vm1",
                                              .worth = (char *)"a link twice as fast: -45 %",
                                              .next = next,
                                              .n_next = 2}};
    (void)state;
    char *text = page_of(&report, section_headline);
    HAS(text, "<span class=\"badge saturated\">");
    HAS(text, "confidence 98 %");
    HAS(text, "<dd class=\"limit\">network of vm1</dd>");
    HAS(text, "<dd class=\"worth\">a link twice as fast: -45 %</dd>");
    HAS(text, "report 7 --why</code>");
    HAS(text, "<dd class=\"do\">raise it by <code>tc</code></dd>");
    HAS(text, "complete, grade A");
    free(text);
}

static void what_the_limit_says_is_not_said_again(void **state) {
    const struct report report = {
        .quality.grade = 'A',
        .verdict = {.state = VERDICT_INSUFFICIENT,
                    .all_in_limit = true,
                    .summary = (char *)"Nothing ran out on these hosts.",
                    .limit = (char *)"not known. Nothing ran out on these hosts.",
                    .worth = (char *)""}};
    (void)state;
    char *text = page_of(&report, section_headline), *first = strstr(text, "Nothing ran out");
    assert_non_null(first);
    assert_null(strstr(first + 1, "Nothing ran out"));
    free(text);
}

static void plant_held(struct report_budget budgets[3], const char *phase) {
    for (int i = 0; i < 3; i++)
        budgets[i] = (struct report_budget){.phase = (char *)phase,
                                            .host = 0,
                                            .rank = i,
                                            .wall_s = 10,
                                            .awaited_rank = -1,
                                            .awaited_host = -1,
                                            .path_pct = 97.2,
                                            .receiver_pct = 2.8,
                                            .send_buffer_pct = 0,
                                            .term_s = {[BUDGET_TRANSFER] = 1}};
}

/* Once for all ranks if it is the same for each; no limit is named for a rank without one. */
static void what_held_up_data_is_said_once_where_ranks_are_alike(void **state) {
    static struct report_host hosts[] = {{.name = (char *)"vm1"}};
    struct report_resources phases[] = {{.phase = (char *)"training", .duration_s = 10}};
    struct report_budget budgets[3];
    struct reported run = {.model.n_hosts = 1};
    const struct report report = {.hosts = hosts,
                                  .n_hosts = 1,
                                  .resources = phases,
                                  .n_resources = 1,
                                  .budget = budgets,
                                  .n_budget = 3,
                                  .run = &run};
    (void)state;
    plant_held(budgets, "training");
    char *text = page_of(&report, section_budget_said);
    HAS(text,
        "each of the 3 ranks: the data it sent was held up by the path 97 %, receivers 3 % of");
    assert_null(strstr(text, "rank 1"));
    assert_null(strstr(text, "buffers"));
    free(text);
    budgets[1].path_pct = 50;
    text = page_of(&report, section_budget_said);
    HAS(text, "rank 1 on vm1: the data it sent was held up by the path 50 %");
    HAS(text, "rank 2 on vm1");
    free(text);
    budgets[1].term_s[BUDGET_TRANSFER] = .01; /* the only data that it sent were small requests */
    text = page_of(&report, section_budget_said);
    assert_null(strstr(text, "rank 1"));
    HAS(text, "rank 2 on vm1");
    free(text);
}

static void the_square_of_hosts_is_shaded_by_what_they_sent(void **state) {
    static struct report_host hosts[] = {{.name = (char *)"vm1"}, {.name = (char *)"vm2"}};
    static struct report_route routes[] = {
        {.from = 0, .to = 1, .bytes = 1e9, .mean_mb_s = 100, .series = {.label = (char *)"a"}},
        {.from = 1, .to = 0, .bytes = 1e8, .mean_mb_s = 10, .series = {.label = (char *)"b"}}};
    const struct report report = {.hosts = hosts,
                                  .n_hosts = 2,
                                  .routes = routes,
                                  .n_routes = 2,
                                  .duration_s = 10,
                                  .period_s = 1};
    (void)state;
    char *text = page_of(&report, section_matrix);
    HAS(text, "<td class=\"n heat4\">100</td>");
    HAS(text, "<td class=\"n heat1\">10.0</td>");
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(less_time_is_a_change_with_a_minus),
        cmocka_unit_test(gains_are_percent_for_programs),
        cmocka_unit_test(an_alert_is_at_the_time_of_the_day_at_which_it_began),
        cmocka_unit_test(a_change_says_what_the_run_time_would_be_and_how_to_ask),
        cmocka_unit_test(two_changes_have_an_answer_of_their_own),
        cmocka_unit_test(a_change_at_several_factors_is_drawn_as_points),
        cmocka_unit_test(the_headline_says_what_it_is_worth_and_what_to_do),
        cmocka_unit_test(what_the_limit_says_is_not_said_again),
        cmocka_unit_test(what_held_up_data_is_said_once_where_ranks_are_alike),
        cmocka_unit_test(the_square_of_hosts_is_shaded_by_what_they_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
