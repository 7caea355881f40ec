/* SPDX-License-Identifier: MIT */
/* Words of a verdict: commands that `chokepoint whatif` accepts, and what is left unsaid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/verdict/verdict_private.h"
#include "reports/model/prediction_private.h"
#include "reports/says/remark_words.h"
#include "reports/says/scenario_words.h"
#include "reports/says/verdict_words.h"
#include "tests/unit/own_remark.h"

/* Two hosts; rank 3 ran on the second. */
struct planted {
    struct recording recording;
    struct model_host hosts[2];
    struct rank_budget rank;
    struct run_model model;
};

static void plant_ranks(struct planted *p) {
    *p = (struct planted){.hosts = {{.name = "vm1"}, {.name = "vm2"}},
                          .rank = {.host = 1, .rank = 3}};
    p->model = (struct run_model){.recording = &p->recording, .hosts = p->hosts, .n_hosts = 2};
    p->model.budgets.items = &p->rank;
    p->model.budgets.n = 1;
}

/* ---- commands ---- */

/* The scenario that whatif reads from the printed options. */
static void read_back(const struct planted *p, const char *options,
                      struct whatif_scenario *ret_scenario) {
    struct judgement judgement = {.model = &p->model};
    char why[200] = "", text[100];
    struct prediction_reader reader = {&judgement, &p->model, why, sizeof why};
    snprintf(text, sizeof text, "%s", options);
    char *value = strchr(text, ' ');
    assert_non_null(value);
    *value = '\0';
    assert_int_equal(strncmp(text, "--", 2), 0);
    struct prediction_word word = {text + 2, value + 1};
    if (prediction_read_word(&reader, &word, ret_scenario) < 0)
        fail_msg("%s: %s", options, why);
}

static void check_read_back(const struct planted *p, const struct whatif_scenario *s) {
    struct whatif_scenario read;
    char *options = scenario_options(&p->model, s);
    assert_non_null(options);
    read_back(p, options, &read);
    bool same = read.kind == s->kind && read.host == s->host && read.rank == s->rank &&
                read.direction == s->direction && read.term == s->term && read.factor == s->factor;
    if (!same)
        fail_msg("%s asks something else", options);
    free(options);
}

static void whatif_reads_the_command_as_the_scenario_it_is_of(void **state) {
    static const struct whatif_scenario scenarios[] = {
        {WHATIF_LINK, 1, -1, WHATIF_SEND, 0, 2, 0, 0, 0},
        {WHATIF_LINK, 0, -1, WHATIF_RECEIVE, 0, 1000, 0, 0, 0},
        {WHATIF_LINK, -1, -1, WHATIF_BOTH, 0, 1.5, 0, 0, 0},
        {WHATIF_CPU, -1, -1, 0, 0, 2, 0, 0, 0},
        {WHATIF_LATENCY, -1, -1, 0, 0, 0.5, 0, 0, 0},
    };
    struct planted p;
    (void)state;
    plant_ranks(&p);
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        check_read_back(&p, &scenarios[i]);
    for (enum budget_term term = 0; term < BUDGET_TERMS; term++)
        if (scenario_term(term))
            check_read_back(&p,
                            &(struct whatif_scenario){WHATIF_WITHOUT, 1, -1, 0, term, 1, 0, 0, 0});
}

/* A rank is named by its number, which also identifies its host. */
static void a_straggler_is_asked_for_by_its_rank_or_its_host(void **state) {
    struct whatif_scenario s = {.kind = WHATIF_LIKE_PEERS, .host = 1, .rank = 3, .factor = 1}, read;
    struct planted p;
    (void)state;
    plant_ranks(&p);
    for (int i = 0; i < 2; i++) {
        char *options = scenario_options(&p.model, &s);
        read_back(&p, options, &read);
        assert_int_equal(read.kind, WHATIF_LIKE_PEERS);
        assert_int_equal(read.rank, 3); /* the only rank on vm2 */
        s.rank = -1;
        free(options);
    }
}

/* ---- advice ---- */

/* A host with one core cannot run fewer ranks; control groups have files of two versions. */
static void advice_can_be_followed_on_any_host(void **state) {
    static const struct {
        const char *name;
        const char *said[2];
    } advice[] = {{"ADVISE_FEWER_RANKS", {"no more ranks and threads", "than it has cores"}},
                  {"ADVISE_RAISE_CPU_MAX", {"cpu.max", "cpu.cfs_quota_us"}},
                  {"ADVISE_RAISE_IO_MAX", {"io.max", "blkio.throttle"}},
                  {"ADVISE_RAISE_MEMORY_MAX", {"memory.max", "memory.limit_in_bytes"}}};
    (void)state;
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++)
        for (size_t k = 0; k < 2; k++)
            assert_non_null(
                strstr(remark_sentence(remark_named(advice[i].name)), advice[i].said[k]));
}

/* ---- the verdict ---- */

static void say_candidate(struct candidate *c, enum verdict_sureness sureness, bool too_little,
                          struct verdict_words *ret_words) {
    struct planted p;
    struct verdict v = {.candidate = c, .sureness = sureness};
    plant_ranks(&p);
    remark_fill(&c->cause, remark_named("QUOTA_USED_UP"), NUMBERS(), NAMES());
    remarks_add(&v.next, ADVISE_ASK, NUMBERS(), NAMES());
    remarks_add(&v.next, ADVISE_COMPARE, NUMBERS(), NAMES());
    if (too_little)
        remark_set(&v.too_little, SAMPLES_TOO_FEW, NUMBERS(5, 10), NAMES("vm1"));
    assert_int_equal(verdict_say(&p.model, &v, &(struct caller){0}, ret_words), 0);
    verdict_release(&v);
    remark_release(&c->cause);
}

static struct candidate quota_of(enum budget_term term) {
    struct candidate c = candidate_of(1, 0, RESOURCE_CPU_QUOTA, CAUSE_QUOTA);
    c.remove =
        (struct whatif_scenario){.kind = WHATIF_WITHOUT, .host = 1, .rank = -1, .term = term};
    return c;
}

static void a_scenario_that_no_option_asks_is_not_advised(void **state) {
    struct verdict_words words;
    struct candidate asked = quota_of(BUDGET_QUOTA), not_asked = quota_of(BUDGET_CPU);
    (void)state;
    say_candidate(&asked, VERDICT_SURE, false, &words);
    assert_int_equal(words.next.n, 2);
    assert_non_null(strstr(words.next.items[0], "`chokepoint whatif last --without vm2:quota`"));
    verdict_words_release(&words);
    say_candidate(&not_asked, VERDICT_SURE, false, &words);
    assert_int_equal(words.next.n, 1);
    assert_non_null(strstr(words.next.items[0], "chokepoint compare"));
    verdict_words_release(&words);
}

static void too_little_is_said_before_what_it_looks_like(void **state) {
    struct verdict_words words;
    struct candidate c = quota_of(BUDGET_QUOTA);
    (void)state;
    say_candidate(&c, VERDICT_PROBABLE, true, &words);
    const char *looks = strstr(words.summary, "So far it looks like this: The run probably waits "
                                              "for vm2's CPU quota");
    assert_non_null(looks);
    assert_int_equal(strncmp(words.summary, "Only 5 samples of vm1", 21), 0);
    verdict_words_release(&words);
}

/* Two figures beside each other never contradict the word. */
static void the_confidence_alone_chooses_the_word_of_doubt(void **state) {
    static const struct {
        double confidence;
        enum verdict_sureness sureness;
        const char *limit, *summary;
    } cases[] = {{.98, VERDICT_SURE, "CPU quota of vm2", "The run waits for"},
                 {.8, VERDICT_SURE, "CPU quota of vm2", "The run waits for"},
                 {.79, VERDICT_PROBABLE, "probably CPU quota", "The run probably waits for"},
                 {.5, VERDICT_PROBABLE, "probably CPU quota", "The run probably waits for"},
                 {.49, VERDICT_POSSIBLE, "possibly CPU quota", "The run possibly waits for"}};
    struct planted p;
    (void)state;
    plant_ranks(&p);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct verdict_words words;
        struct candidate c = quota_of(BUDGET_QUOTA);
        assert_int_equal(verdict_sureness(&p.model, cases[i].confidence), cases[i].sureness);
        say_candidate(&c, cases[i].sureness, false, &words);
        assert_int_equal(strncmp(words.limit, cases[i].limit, strlen(cases[i].limit)), 0);
        assert_non_null(strstr(words.summary, cases[i].summary));
        verdict_words_release(&words);
    }
}

/* The words of a limit of the first of two hosts that took `blocked` of the run and is worth
 * `gain`.
 */
static void say_worth(double blocked, struct gain gain, double alike,
                      struct verdict_words *ret_words) {
    struct planted p;
    struct candidate c = candidate_of(0, 0, RESOURCE_CPU, CAUSE_CONTENTION);
    struct verdict v = {.candidate = &c, .n_alike = alike > 0, .blocked_alike = alike};
    struct critical_part part = {.length_s = 1};
    plant_ranks(&p);
    p.model.observed.path = true;
    p.model.critical.groups = &part;
    p.model.critical.n_groups = 1;
    c.blocked = c.run_share = blocked;
    c.start_s = c.end_s = c.lost.estimate = NAN;
    c.remove = (struct whatif_scenario){
        .kind = WHATIF_WITHOUT, .host = 0, .rank = -1, .term = BUDGET_RUN_QUEUE};
    c.gain = gain;
    c.gain.replayed = true;
    remark_set(&c.cause, LINK, NUMBERS(), NAMES());
    assert_int_equal(verdict_say(&p.model, &v, &(struct caller){0}, ret_words), 0);
    verdict_release(&v);
    remark_release(&c.cause);
}

static void expect_worth(double blocked, struct gain gain, const char *end) {
    struct verdict_words words;
    say_worth(blocked, gain, 0, &words);
    size_t size = strlen(words.worth), size_of_end = strlen(end);
    if (size < size_of_end || strcmp(words.worth + size - size_of_end, end) != 0)
        fail_msg("%s", words.worth);
    verdict_words_release(&words);
}

static void a_gain_that_does_not_fit_its_share_says_why(void **state) {
    (void)state;
    expect_worth(.38, (struct gain){.38, .35, .41, 0, 0}, "-38 % run time (35 to 41)");
    expect_worth(.38, (struct gain){.41, .38, .44, 0, 0}, "-41 % run time (38 to 44)");
    expect_worth(.38, (struct gain){.55, .5, .6, 0, 0},
                 "(50 to 60); more than its share, since what waits for it ends sooner, too");
    expect_worth(.38, (struct gain){.2, .18, .22, 0, 0},
                 "(18 to 22); then something else is the limit");
}

/* The path passes one host after the other, and the gain is that of all. */
static void a_limit_of_all_hosts_took_what_each_of_them_took(void **state) {
    struct verdict_words words;
    (void)state;
    say_worth(.2, (struct gain){.38, .35, .41, 0, 0}, .18, &words);
    if (!strstr(words.limit, "both hosts") || !strstr(words.limit, "38 % of the run"))
        fail_msg("%s", words.limit);
    assert_null(strstr(words.worth, "more than its share"));
    verdict_words_release(&words);
}

/* A cause completes the first sentence of a verdict that blames no host. */
static void a_balanced_verdict_names_its_cause_and_then_the_time(void **state) {
    struct planted p;
    struct verdict v = {.state = VERDICT_BALANCED};
    struct verdict_words words;
    (void)state;
    plant_ranks(&p);
    remark_set(&v.cause, WAITING_IN_TURN, NUMBERS(), NAMES());
    remarks_add(&v.summary, NONE_STANDS_OUT, NUMBERS(), NAMES());
    remarks_add(&v.summary, PROCESSES_RUN, NUMBERS(97), NAMES());
    assert_int_equal(verdict_say(&p.model, &v, &(struct caller){0}, &words), 0);
    assert_string_equal(words.summary,
                        "No host stands out: its ranks wait for each other in turn. The processes "
                        "run 97 % of the time and hardly wait for anything that was recorded.");
    verdict_words_release(&words);
    verdict_release(&v);
}

static void say_gain_of(const struct whatif_scenario *change, double gain, bool sleeps,
                        struct verdict_words *ret_words) {
    struct planted p;
    struct candidate c = candidate_of(1, 0, sleeps ? RESOURCE_APPLICATION : RESOURCE_NET_EGRESS,
                                      sleeps ? CAUSE_SLEEP : CAUSE_PATH_LIMITED);
    struct verdict v = {.candidate = &c, .sureness = VERDICT_SURE, .share_high = .15};
    plant_ranks(&p);
    c.blocked = v.share_low = .14;
    c.remove = *change;
    c.counted = (struct gain){.estimate = gain, .low = gain, .high = gain, .counted = true};
    remark_set(&c.cause, PROCESS_SLEEPS, NUMBERS(), NAMES("db[7]"));
    assert_int_equal(verdict_say(&p.model, &v, &(struct caller){0}, ret_words), 0);
    verdict_release(&v);
    remark_release(&c.cause);
}

/* The limit is one process's sleep, or one direction of a link; the change covers more. */
static void a_gain_beyond_the_share_says_of_how_much_it_is(void **state) {
    struct whatif_scenario sleep = {WHATIF_WITHOUT, 1, -1, 0, BUDGET_IDLE, 1, 0, 0, 0},
                           link = {WHATIF_LINK, 1, -1, WHATIF_BOTH, 0, 1000, 0, 0, 0};
    struct verdict_words words;
    (void)state;
    say_gain_of(&sleep, .67, true, &words);
    assert_non_null(strstr(words.summary, "Without any sleep on vm2, that of other processes there "
                                          "as well, the run would take about 67 % less"));
    assert_non_null(strstr(words.worth, "without any sleep on that host: about -67 %"));
    verdict_words_release(&words);
    say_gain_of(&sleep, .15, true, &words);
    assert_non_null(strstr(words.summary, "Without that the run would take about 15 % less"));
    assert_non_null(strstr(words.worth, "without this limit: about -15 %"));
    verdict_words_release(&words);
    say_gain_of(&link, .3, false, &words);
    assert_non_null(strstr(words.summary, "Without that in both directions the run would"));
    assert_non_null(strstr(words.worth, "without this limit in both directions: about -30 %"));
    verdict_words_release(&words);
}

/* The run took 40 s. The caller releases the words. */
static void say_share_of(double blocked, double bound, struct verdict_words *ret_words) {
    struct planted p;
    struct window whole = {0, INT64_C(40000000000)};
    struct phase_group all = {.items = &whole, .n = 1};
    struct candidate c = quota_of(BUDGET_QUOTA);
    struct verdict v = {.candidate = &c, .sureness = VERDICT_SURE, .gain_high = bound};
    plant_ranks(&p);
    p.model.groups = &all;
    p.model.n_groups = 1;
    c.blocked = c.run_share = blocked;
    c.start_s = 2;
    c.end_s = 31.9;
    remark_fill(&c.cause, remark_named("QUOTA_USED_UP"), NUMBERS(), NAMES());
    assert_int_equal(verdict_say(&p.model, &v, &(struct caller){0}, ret_words), 0);
    verdict_release(&v);
    remark_release(&c.cause);
}

/* "100 % of the run, only from 2.0 s to 31.9 s" cannot be of 40 s; nor is a gain of 81 % that of
 * 67 %. */
static void two_figures_of_a_line_fit_each_other(void **state) {
    struct verdict_words words;
    (void)state;
    say_share_of(1, 1, &words);
    assert_null(strstr(words.limit, "only from"));
    assert_null(strstr(words.summary, "Only from"));
    assert_null(strstr(words.worth, "if all else"));
    verdict_words_release(&words);
    say_share_of(.67, .81, &words);
    assert_non_null(strstr(words.limit, "67 % of the run, from 2 s to 31.9 s"));
    assert_non_null(strstr(words.worth, "-67 % run time if all else takes as long, at most -81 %"));
    verdict_words_release(&words);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_figures_of_a_line_fit_each_other),
        cmocka_unit_test(whatif_reads_the_command_as_the_scenario_it_is_of),
        cmocka_unit_test(a_straggler_is_asked_for_by_its_rank_or_its_host),
        cmocka_unit_test(advice_can_be_followed_on_any_host),
        cmocka_unit_test(a_scenario_that_no_option_asks_is_not_advised),
        cmocka_unit_test(too_little_is_said_before_what_it_looks_like),
        cmocka_unit_test(the_confidence_alone_chooses_the_word_of_doubt),
        cmocka_unit_test(a_gain_that_does_not_fit_its_share_says_why),
        cmocka_unit_test(a_limit_of_all_hosts_took_what_each_of_them_took),
        cmocka_unit_test(a_balanced_verdict_names_its_cause_and_then_the_time),
        cmocka_unit_test(a_gain_beyond_the_share_says_of_how_much_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
