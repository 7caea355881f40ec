/* SPDX-License-Identifier: MIT */
/*
 * Numbers in sentences: the numbers of each sentence of a verdict are compared in order with those
 * of the verdict, of which no two are alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ctype.h>
#include <math.h>

#include "common/error.h"
#include "reports/says/candidate_words.h"
#include "reports/says/refusal_words.h"
#include "reports/says/remark_words.h"
#include "reports/says/verdict_words.h"
#include "tests/unit/own_remark.h"

#define NUMBERS_MAX 16

/* Numbers within names ("vm2") do not count. */
static size_t numbers_in(const char *text, double numbers[NUMBERS_MAX]) {
    size_t n = 0;
    for (const char *p = text; *p;) {
        bool in_name = p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_');
        char *end = (char *)p + 1;
        bool minus = *p == '-' && (p == text || p[-1] == ' ') && isdigit((unsigned char)p[1]);
        if ((isdigit((unsigned char)*p) || minus) && !in_name && n < NUMBERS_MAX)
            numbers[n++] = strtod(p, &end);
        else if (isdigit((unsigned char)*p))
            strtod(p, &end); /* skip the name's digits */
        p = end;
    }
    return n;
}

static void expect_numbers(const char *what, const char *text, const double *should, size_t n) {
    double is[NUMBERS_MAX];
    size_t k = text ? numbers_in(text, is) : 0;
    bool same = k == n;
    for (size_t i = 0; same && i < n; i++)
        same = fabs(is[i] - should[i]) < 1e-9;
    if (!same)
        fail_msg("%s: %s", what, text ? text : "nothing");
}

#define EXPECT(text, ...)                                                                          \
    expect_numbers(#text, text, (const double[]){__VA_ARGS__},                                     \
                   sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

/* ---- a verdict ---- */

static struct said {
    struct recording recording;
    struct model_host hosts[2];
    struct window window;
    struct phase_group groups[2];
    struct run_model model;
    struct candidate candidate, other;
    struct verdict verdict;
    struct verdict_words words;
} s;

/* A link that is full for a part of a phase; all of its numbers are known. */
static void begin(void) {
    s = (struct said){.hosts = {{.name = "vm1"}, {.name = "vm2"}},
                      .window = {0, 1000},
                      .groups = {{.name = "all"}, {.name = "training"}}};
    for (size_t g = 0; g < 2; g++) {
        s.groups[g].items = &s.window;
        s.groups[g].n = 1;
    }
    s.model = (struct run_model){.recording = &s.recording,
                                 .hosts = s.hosts,
                                 .n_hosts = 2,
                                 .groups = s.groups,
                                 .n_groups = 2,
                                 .observed = {.path = true}};
    s.candidate = candidate_of(1, 1, RESOURCE_NET_EGRESS, CAUSE_PATH_LIMITED);
    s.candidate.blocked = .31;
    s.candidate.reached = .97;
    s.candidate.ceiling = 117.4;
    s.candidate.ceiling_from = CEILING_MEASURED;
    s.candidate.start_s = 3.5;
    s.candidate.end_s = 17.25;
    s.candidate.gain = (struct gain){.41, .38, .44, .replayed = true};
    s.candidate.lost = (struct gain){.estimate = NAN, .low = NAN, .high = NAN};
    s.candidate.twice.direction = WHATIF_BOTH;
    remark_fill(&s.candidate.cause, remark_named("LINK_SLOWER"), NUMBERS(), NAMES());
    s.verdict = (struct verdict){.candidate = &s.candidate,
                                 .state = VERDICT_SATURATED,
                                 .sureness = VERDICT_SURE,
                                 .share_low = .22,
                                 .share_high = .25,
                                 .gain_high = .52};
}

static void say(void) {
    verdict_words_release(&s.words);
    assert_int_equal(verdict_say(&s.model, &s.verdict, &(struct caller){0}, &s.words), 0);
}

static void end(void) {
    verdict_words_release(&s.words);
    remark_release(&s.candidate.cause);
    remark_release(&s.other.cause);
    verdict_release(&s.verdict);
}

static void a_link_at_what_it_can_carry(void **state) {
    (void)state;
    begin();
    s.candidate.doubled = (struct gain){.21, .19, .23, .replayed = true};
    say();
    EXPECT(s.words.summary, 31, 22, 25, 97, 117.4, 3.5, 17.2, 21, 19, 23, 41);
    EXPECT(s.words.limit, 97, 117, 3.5, 17.2);
    EXPECT(s.words.worth, -21, 19, 23, -41);
    EXPECT(s.words.cost, 31, 22, 25);
    end();
}

static void a_link_whose_rate_was_only_seen(void **state) {
    (void)state;
    begin();
    s.candidate.reached = 0;
    s.candidate.start_s = s.candidate.end_s = NAN;
    say();
    EXPECT(s.words.summary, 31, 22, 25, 117.4, 41, 38, 44);
    EXPECT(s.words.limit, 31);
    EXPECT(s.words.worth, -41, 38, 44);
    EXPECT(s.words.cost, 31, 22, 25);
    end();
}

static void a_limit_of_the_whole_run(void **state) {
    (void)state;
    begin();
    s.candidate.group = 0;
    s.candidate.start_s = NAN;
    say();
    EXPECT(s.words.summary, 31, 22, 25, 97, 117.4, 41, 38, 44);
    s.verdict.share_low = .247;
    say(); /* both ends round to the same */
    EXPECT(s.words.summary, 25, 97, 117.4, 41, 38, 44);
    end();
}

static void both_directions_of_a_link(void **state) {
    (void)state;
    begin();
    s.other = s.candidate;
    s.other.cause = (struct remark){0};
    s.other.resource = RESOURCE_NET_INGRESS;
    s.other.blocked = .12;
    s.other.reached = .83;
    s.other.ceiling = 99.5;
    s.verdict.other = &s.other;
    s.candidate.start_s = NAN;
    say();
    EXPECT(s.words.summary, 31, 97, 117.4, 12, 83, 99.5, 41, 38, 44);
    EXPECT(s.words.limit, 97, 117, 83, 99.5);
    EXPECT(s.words.cost, 31, 12);
    end();
}

static void a_gain_by_counters(void **state) {
    (void)state;
    begin();
    s.candidate.start_s = NAN;
    s.candidate.gain.replayed = false;
    s.candidate.counted = (struct gain){.36, .35, .37, .counted = true};
    say();
    EXPECT(s.words.summary, 31, 22, 25, 97, 117.4, 36, 35, 37);
    EXPECT(s.words.worth, -36, 35, 37);
    end();
}

static void a_gain_of_which_only_a_bound_is_known(void **state) {
    (void)state;
    begin();
    s.candidate.start_s = NAN;
    s.candidate.gain.replayed = false;
    say();
    EXPECT(s.words.summary, 31, 22, 25, 97, 117.4);
    EXPECT(s.words.worth, -52);
    end();
}

/* Without a critical path it is a share of the time of the process that lost most. */
static void a_share_of_a_process(void **state) {
    (void)state;
    begin();
    s.model.observed.path = false;
    s.candidate.resource = RESOURCE_DISK;
    s.candidate.kind = CAUSE_THROTTLE;
    s.candidate.ceiling = 0;
    s.candidate.start_s = NAN;
    s.candidate.lost = (struct gain){.estimate = .47, .low = .45, .high = .49};
    say();
    EXPECT(s.words.summary, 47, 45, 49, 41, 38, 44);
    EXPECT(s.words.limit, 47);
    end();
}

static void say_subject(enum subject subject, enum resource resource, enum cause_kind kind) {
    begin();
    s.candidate.group = 0;
    s.candidate.start_s = NAN;
    s.candidate.ceiling = 0;
    s.candidate.subject = subject;
    s.candidate.resource = resource;
    s.candidate.kind = kind;
    say();
}

static void limits_that_are_no_host_s(void **state) {
    (void)state;
    say_subject(SUBJECT_MACHINE, RESOURCE_CPU, CAUSE_CONTENTION);
    EXPECT(s.words.summary, 31, 41, 38, 44);
    EXPECT(s.words.limit, 31);
    end();
    say_subject(SUBJECT_CORE, RESOURCE_CPU, CAUSE_SINGLE_THREAD);
    EXPECT(s.words.summary, 31, 41, 38, 44);
    EXPECT(s.words.limit, 31);
    end();
    say_subject(SUBJECT_MESSAGES, RESOURCE_NET_EGRESS, CAUSE_LATENCY);
    EXPECT(s.words.summary, 31, 41, 38, 44);
    EXPECT(s.words.worth, -41, 38, 44);
    end();
    begin();
    s.candidate.group = 0;
    s.candidate.start_s = NAN;
    s.candidate.ceiling = 0;
    s.candidate.resource = RESOURCE_CPU;
    s.candidate.kind = CAUSE_COMPUTE_BOUND;
    s.candidate.fallback = true;
    say();
    EXPECT(s.words.summary, 31, 41, 38, 44);
    EXPECT(s.words.limit, 31);
    EXPECT(s.words.worth, -41, 38, 44);
    end();
}

static void hosts_that_suffer_alike(void **state) {
    (void)state;
    begin();
    s.candidate.start_s = NAN;
    s.candidate.ceiling = 0;
    s.candidate.resource = RESOURCE_DISK;
    s.candidate.kind = CAUSE_THROTTLE;
    s.verdict.n_alike = 1;
    say();
    EXPECT(s.words.summary, 31, 22, 25, 41, 38, 44);
    s.model.n_hosts = 9;
    s.verdict.n_alike = 7;
    say();
    EXPECT(s.words.summary, 31, 22, 25, 7, 41, 38, 44);
    end();
}

static void what_is_not_the_limit(void **state) {
    struct verdict_harmless *harmless = calloc(1, sizeof *harmless);
    struct candidate busy = candidate_of(0, 0, RESOURCE_DISK, CAUSE_THROTTLE);
    struct verdict_phase *phases = calloc(2, sizeof *phases);
    (void)state;
    begin();
    remark_fill(&busy.cause, remark_named("DEVICE_BUSY"), NUMBERS(), NAMES());
    busy.run_share = .17;
    busy.gain = (struct gain){.estimate = .07, .low = .06, .high = .08};
    s.verdict.runner_up = &busy;
    s.verdict.lost = VERDICT_LOST_LESS;
    remarks_add(&s.verdict.against, RUNNER_UP, NUMBERS(), NAMES());
    *harmless =
        (struct verdict_harmless){.candidate = &busy, .why = VERDICT_BUSY_HARMLESS, .at_most = .13};
    s.verdict.harmless = harmless;
    s.verdict.n_harmless = 1;
    phases[0] = (struct verdict_phase){.state = VERDICT_BALANCED, .busy = .63};
    phases[1] = (struct verdict_phase){
        .state = VERDICT_SUSPECTED, .candidate = busy, .blocked = .29, .busy = .62};
    s.verdict.phases = phases;
    s.verdict.n_phases = 2;
    say();
    assert_int_equal(s.words.against.n, 1);
    EXPECT(s.words.against.items[0], 17);
    assert_int_equal(s.words.ruled_out.n, 1);
    EXPECT(s.words.ruled_out.items[0], 13);
    for (size_t i = 0; i < 2; i++) {
        AUTO(text_free) char *text = verdict_say_phase(&s.model, &phases[i]);
        EXPECT(text, i ? 29 : 63);
    }
    s.verdict.candidate = NULL;
    s.verdict.against.n = 0;
    s.verdict.state = VERDICT_BALANCED;
    s.verdict.closest = &busy;
    say();
    EXPECT(s.words.worth, -7);
    phases[1].candidate.cause = (struct remark){0};
    end();
    remark_release(&busy.cause);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_at_what_it_can_carry),
        cmocka_unit_test(a_link_whose_rate_was_only_seen),
        cmocka_unit_test(a_limit_of_the_whole_run),
        cmocka_unit_test(both_directions_of_a_link),
        cmocka_unit_test(a_gain_by_counters),
        cmocka_unit_test(a_gain_of_which_only_a_bound_is_known),
        cmocka_unit_test(a_share_of_a_process),
        cmocka_unit_test(limits_that_are_no_host_s),
        cmocka_unit_test(hosts_that_suffer_alike),
        cmocka_unit_test(what_is_not_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
