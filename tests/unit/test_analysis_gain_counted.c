/* SPDX-License-Identifier: MIT */
/* Gains by counters: processes with known times, each on its own host. */
#include "tests/unit/counted_process.h"
#include "tests/unit/warm.h"

#include "analysis/gain/gain_counted.h"
#include "analysis/gain/whatif.h"

/* Shares of the time from `from_s` on; earlier time was not recorded. */
struct process {
    double cpu, queue, disk, from_s;
};

/* One process on each host. */
static void plant_job(struct recording *r, const struct process *processes, int n) {
    plant_hosts(r, (size_t)n, SECONDS);
    for (host_now = 0; host_now < n; host_now++) {
        char name[64];
        const struct process *p = &processes[host_now];
        shares_now = (struct shares){p->cpu, p->queue, p->disk};
        snprintf(name, sizeof name, "train[%d]", PID + host_now);
        plant_part(r, RECORDING_PROCESS, host_now, PID + host_now, name, 0.1, p->from_s, SECONDS,
                   PROCESS_LEVELS, process_of);
    }
}

#define NEAR(a, b)                                                                                 \
    do {                                                                                           \
        double is_ = (a), should_ = (b);                                                           \
        if (!(fabs(is_ - should_) <= 0.02))                                                        \
            fail_msg("%s is %.4g, not %.4g", #a, is_, should_);                                    \
    } while (0)

#define QUEUE (1u << BUDGET_RUN_QUEUE)
#define DISK (1u << BUDGET_DISK)

/* The counted loss of host 1. */
static bool count(const struct process *processes, int n, unsigned terms, struct counted *c) {
    struct recording r;
    struct run_model model;
    struct counted_loss loss = {.host = 1, .rank = -1, .terms = terms, .part = 1};
    plant_job(&r, processes, n);
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    bool told = gain_counted(&model, &loss, c);
    model_release(&model);
    recording_release(&r);
    return told;
}

static void of_one_that_never_waits_the_gain_is_what_it_lost(void **state) {
    struct process queues[] = {{0.38, 0, 0, 0}, {0.42, 0.57, 0, 0}};
    struct process reads[] = {{0.38, 0, 0, 0}, {0.42, 0, 0.57, 0}};
    struct counted c;
    (void)state;
    assert_true(count(queues, 2, QUEUE, &c));
    NEAR(c.gain, 0.57);
    NEAR(c.gain_low, 1 - 1.1 * 0.43); /* the rest of the time at another pace */
    NEAR(c.gain_high, 1 - 0.9 * 0.43);
    assert_true(count(reads, 2, DISK, &c));
    NEAR(c.gain, 0.57);
}

/* Data that the other rank has in flight while it waits take as long if this rank has less to do;
 * but if it lacks a core, that wait may be for it.
 */
static void less_to_compute_makes_no_exchange_shorter(void **state) {
    struct process two[] = {{0.38, 0, 0, 0}, {0.98, 0, 0, 0}};
    struct process queues[] = {{0.38, 0, 0, 0}, {0.38, 0.6, 0, 0}};
    struct recording r;
    struct run_model model;
    struct counted c;
    (void)state;
    for (int lacks = 0; lacks < 2; lacks++) {
        struct counted_loss loss = {.host = 1,
                                    .rank = -1,
                                    .terms = lacks ? QUEUE : 1u << BUDGET_CPU,
                                    .part = lacks ? 1 : 0.6 / 0.98};
        plant_job(&r, lacks ? queues : two, 2);
        assert_int_equal(mpi_log_finish(&r.calls), 0);
        assert_int_equal(model_build(&r, &model), 0);
        for (size_t i = 0; i < model.budgets.n; i++) {
            struct budget *b = &model.budgets.items[i].groups[0];
            if (model.budgets.items[i].host == 0) {
                b->term_s[BUDGET_TRANSFER] = 0.3 * b->wall_s;
                b->term_s[BUDGET_IDLE] -= 0.3 * b->wall_s;
            }
        }
        assert_true(gain_counted(&model, &loss, &c));
        NEAR(c.lost, 0.6);
        NEAR(c.gain, lacks ? 0.61 : 1 - 0.9 * (0.38 + 0.3)); /* with warm caches */
        model_release(&model);
        recording_release(&r);
    }
}

static void it_is_a_share_of_the_recorded_time(void **state) {
    struct process late[] = {{0.38, 0, 0, 3}, {0.42, 0.57, 0, 3}};
    struct counted c;
    (void)state;
    assert_true(count(late, 2, QUEUE, &c));
    NEAR(c.lost, 0.57);
    NEAR(c.gain, 0.57);
    NEAR(c.gain_low, (1 - 1.1 * 0.43) * 0.75); /* nothing was lost before the recording */
}

static void what_another_has_to_do_anyway_is_not_gained(void **state) {
    struct process two[] = {{0.7, 0, 0, 0}, {0.42, 0.57, 0, 0}};
    struct counted c;
    (void)state;
    assert_true(count(two, 2, QUEUE, &c));
    NEAR(c.gain, 1 - 0.9 * 0.7); /* with warm caches */
    NEAR(c.gain_low, 0.3);
    NEAR(c.lost, 0.57);
}

static void peers_tell_how_long_a_process_waits_for_its_own_threads(void **state) {
    struct process two[] = {{0.3, 0.1, 0, 0}, {0.42, 0.57, 0, 0}};
    struct counted c;
    (void)state;
    assert_true(count(two, 2, QUEUE, &c));
    NEAR(c.gain, 0.47);
    NEAR(c.gain_high, 1 - 0.9 * 0.43);
}

static void of_who_waits_for_others_as_well_counters_tell_no_gain(void **state) {
    struct process waits[] = {{0.38, 0, 0, 0}, {0.3, 0.4, 0, 0}};
    struct process a_little[] = {{0.38, 0, 0, 0}, {0.4, 0, 0.5, 0}};
    struct process briefly[] = {{0.38, 0, 0, 0}, {0.42, 0.57, 0, 8}};
    struct counted c;
    (void)state;
    assert_false(count(waits, 2, QUEUE, &c));
    NEAR(c.lost, 0.4);
    assert_false(count(briefly, 2, QUEUE, &c));
    assert_true(count(a_little, 2, DISK, &c)); /* compared with what it lost */
    NEAR(c.gain, 0.5);
    NEAR(c.gain_low, 1 - 1.1 * (0.5 + 0.1));
}

static void who_ended_before_the_others_is_not_what_the_end_waits_for(void **state) {
    struct recording r;
    struct run_model model;
    struct counted c;
    struct counted_loss loss = {.host = 0, .rank = -1, .terms = DISK, .part = 1};
    (void)state;
    plant_hosts(&r, 2, SECONDS);
    for (host_now = 0; host_now < 2; host_now++) {
        shares_now = (struct shares){0.42, 0, 0.57};
        plant_part(&r, RECORDING_PROCESS, host_now, PID + host_now, host_now ? "b[2]" : "a[1]", 0.1,
                   0, host_now ? SECONDS : 8, PROCESS_LEVELS, process_of);
    }
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    assert_false(gain_counted(&model, &loss, &c));
    loss.host = 1;
    assert_true(gain_counted(&model, &loss, &c));
    model_release(&model);
    recording_release(&r);
}

/* All wait as long as the link was full; or one of them has something else to do, or waits longer.
 */
static void a_link_that_all_wait_for_is_worth_its_time(void **state) {
    struct process alike[] = {{0.2, 0, 0, 0}, {0.21, 0, 0, 0}};
    struct process busy[] = {{0.2, 0, 0, 0}, {0.8, 0, 0, 0}};
    struct process idle[] = {{0.22, 0, 0, 0}, {0.11, 0, 0, 0}};
    const struct process *jobs[] = {busy, alike, idle};
    (void)state;
    for (int job = 0; job < 3; job++) {
        bool all = job == 1;
        struct recording r;
        struct run_model model;
        struct counted c;
        plant_job(&r, jobs[job], 2);
        assert_int_equal(mpi_log_finish(&r.calls), 0);
        assert_int_equal(model_build(&r, &model), 0);
        struct counted_link link = {.host = 1, .way = 0.78, .ways = 0.78};
        assert_int_equal(gain_counted_link(&model, &link, &c), all);
        if (all)
            NEAR(c.gain, 0.78);
        model_release(&model);
        recording_release(&r);
    }
}

/* Two processes send in turn: each waits for what the other sends, so the link is in use while they
 * wait, in each direction for half of the time. Not with a third host, from which data may come as
 * well; nor if one direction is in use for as long and they wait longer. If each direction is in
 * use for about as long as all wait, both are in use at once, and worth the longer one.
 */
static void a_link_that_is_used_by_turns_is_worth_both_ways(void **state) {
    struct process by_turns[] = {{0.24, 0, 0, 0}, {0.25, 0, 0, 0}, {0.24, 0, 0, 0}};
    const struct {
        int hosts;
        double sends[3];
        bool told;
        double gain;
    } jobs[] = {{2, {0.37, 0.38}, true, 0.75},
                {3, {0.37, 0.38, 0}, false, 0},
                {2, {0, 0.38}, false, 0},
                {2, {0.7, 0.69}, true, 0.7}};
    (void)state;
    for (size_t job = 0; job < sizeof jobs / sizeof *jobs; job++) {
        struct recording r;
        struct run_model model;
        struct counted c;
        struct counted_link link = {.host = 1, .way = 0.37, .ways = 0.37};
        plant_job(&r, by_turns, jobs[job].hosts);
        assert_int_equal(mpi_log_finish(&r.calls), 0);
        assert_int_equal(model_build(&r, &model), 0);
        for (size_t i = 0; i < model.budgets.n; i++) {
            struct budget *b = &model.budgets.items[i].groups[0];
            b->term_s[BUDGET_TRANSFER] = jobs[job].sends[model.budgets.items[i].host] * b->wall_s;
            b->term_s[BUDGET_IDLE] -= b->term_s[BUDGET_TRANSFER];
        }
        assert_int_equal(gain_counted_link(&model, &link, &c), jobs[job].told);
        if (jobs[job].told)
            NEAR(c.gain, jobs[job].gain);
        model_release(&model);
        recording_release(&r);
    }
}

static void a_verdict_and_what_if_say_that_it_was_counted(void **state) {
    struct process two[] = {{0.38, 0, 0, 0}, {0.42, 0.57, 0, 3}};
    struct whatif_scenario without = {
        .kind = WHATIF_WITHOUT, .host = 1, .rank = -1, .term = BUDGET_RUN_QUEUE};
    struct whatif_scenario link = {.kind = WHATIF_LINK, .host = 1, .rank = -1, .factor = 2};
    const struct whatif *w;
    struct whatif_answer a;
    struct recording r;
    struct judged j;
    (void)state;
    plant_job(&r, two, 2);
    judge(&r, &j);
    assert_string_equal(resource_name(j.verdict.resource), "cpu");
    assert_string_equal(j.verdict.gain_source, "counters");
    NEAR(j.verdict.gain, 0.57);
    assert_non_null(strstr(j.words.summary, "by counters, not replayed"));
    w = j.whatif;
    assert_int_equal(whatif_ask(w, &without, 1, &a), 0);
    assert_true(a.counted && !a.replayed && a.refused.code && isnan(a.bound_s));
    NEAR(a.gain, 0.57);
    assert_int_equal(whatif_ask(w, &link, 1, &a), 0);
    assert_true(!a.counted && isnan(a.predicted_s));
    release(&r, &j);
}

static void a_bound_is_a_share_of_the_recorded_time_as_well(void **state) {
    struct process two[] = {{0.6, 0, 0, 0}, {0.3, 0.5, 0, 3}};
    struct recording r;
    struct judged j;
    (void)state;
    plant_job(&r, two, 2);
    judge(&r, &j);
    assert_string_equal(resource_name(j.verdict.resource), "cpu");
    assert_string_equal(j.verdict.gain_source, "bound");
    assert_true(isnan(j.verdict.gain));
    NEAR(j.verdict.gain_high, 0.5);
    release(&r, &j);
}

/* The process itself waits as well, and what for may be gone with it. */
static const struct run_model usual; /* of the usual judge */

static void a_bound_is_no_less_than_what_nobody_has_to_do(void **state) {
    struct process two[] = {{0.38, 0, 0, 0}, {0.3, 0.5, 0, 0}};
    struct recording r;
    struct judged j;
    (void)state;
    plant_job(&r, two, 2);
    judge(&r, &j);
    assert_string_equal(j.verdict.gain_source, "bound");
    NEAR(j.verdict.gain_high, 1 - 0.9 * 0.38);
    release(&r, &j);
    NEAR(gain_most_of_quota(&usual, 0.4), 1 - 0.9 * 0.6);
    NEAR(gain_most_of_quota(&usual, 3), 1);
    assert_true(isnan(gain_most_of_quota(&usual, NAN)));
}

/* Two processes that always compute have half a CPU each; bursts make no difference. */
static void a_quota_is_shared_by_all_processes_of_a_host(void **state) {
    struct recording r;
    struct run_model model;
    struct counted c;
    (void)state;
    plant_hosts(&r, 1, SECONDS);
    shares_now = (struct shares){.cpu = 0.97};
    threads_now = 1;
    for (host_now = 0; host_now < 2; host_now++)
        plant_part(&r, RECORDING_PROCESS, 0, PID + host_now,
                   host_now ? "train[1001]" : "train[1000]", 0.1, 0, SECONDS, PROCESS_LEVELS,
                   process_of);
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    assert_true(gain_counted_quota(&model, 0, model.main_group, 1, &c));
    NEAR(c.gain, gain_warm(1 - 1.955, 1));
    NEAR(c.gain_low, 1 - 1.1 * 1.97);
    NEAR(c.gain_high, 1 - 0.9 * 1.94);
    model_release(&model);
    recording_release(&r);
}

/* `whatif` answers by the replay, and the verdict says the same. */
static void counters_speak_only_where_no_replay_answers(void **state) {
    struct candidate c = candidate_of(0, 0, RESOURCE_CPU, CAUSE_SERIAL);
    (void)state;
    c.gain = (struct gain){.estimate = 0.09, .replayed = true};
    assert_ptr_equal(candidate_gain(&c), &c.gain);
    c.counted = (struct gain){.estimate = 0.35, .counted = true};
    assert_ptr_equal(candidate_gain(&c), &c.gain);
    c.gain.replayed = false;
    assert_ptr_equal(candidate_gain(&c), &c.counted);
}

/* No wait changes nothing, all waits change all; half of it, and half of a twentieth of the rest.
 */
static void who_waits_less_computes_faster(void **state) {
    (void)state;
    assert_true(gain_warm(0, 1) == 0 && gain_warm(1, 1) == 1 && isnan(gain_warm(NAN, 1)));
    double estimate = 0.5, low = 0.4, high = 0.6;
    gain_warm_all(&estimate, &low, &high);
    assert_true(fabs(estimate - 0.5125) < 1e-9 && low == 0.4 && fabs(high - 0.624) < 1e-9);
    estimate = -1, low = -1.2,
    high = -0.8; /* twice as long: all of the additional time is waiting */
    gain_warm_all(&estimate, &low, &high);
    assert_true(fabs(estimate + 1.05) < 1e-9 && fabs(low + 1.32) < 1e-9 && high == -0.8);
}

static void a_suspicion_that_counters_find_worth_little_is_not_named(void **state) {
    struct candidate c = {.gain = {.estimate = 0.26},
                          .counted = {.estimate = 0.03, .counted = true}};
    (void)state;
    assert_false(candidate_is_worth_naming(&usual, &c));
    c.saturated = true; /* it ran out */
    assert_true(candidate_is_worth_naming(&usual, &c));
    c.saturated = false;
    c.gain.replayed = true;
    assert_true(candidate_is_worth_naming(&usual, &c));
    c.gain.replayed = false;
    c.counted.estimate = 0.06;
    assert_true(candidate_is_worth_naming(&usual, &c));
    c.gain.estimate = 0.04;
    assert_false(candidate_is_worth_naming(&usual, &c));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_less_computes_faster),
        cmocka_unit_test(a_suspicion_that_counters_find_worth_little_is_not_named),
        cmocka_unit_test(of_one_that_never_waits_the_gain_is_what_it_lost),
        cmocka_unit_test(less_to_compute_makes_no_exchange_shorter),
        cmocka_unit_test(it_is_a_share_of_the_recorded_time),
        cmocka_unit_test(what_another_has_to_do_anyway_is_not_gained),
        cmocka_unit_test(peers_tell_how_long_a_process_waits_for_its_own_threads),
        cmocka_unit_test(of_who_waits_for_others_as_well_counters_tell_no_gain),
        cmocka_unit_test(who_ended_before_the_others_is_not_what_the_end_waits_for),
        cmocka_unit_test(a_link_that_all_wait_for_is_worth_its_time),
        cmocka_unit_test(a_link_that_is_used_by_turns_is_worth_both_ways),
        cmocka_unit_test(a_verdict_and_what_if_say_that_it_was_counted),
        cmocka_unit_test(a_bound_is_a_share_of_the_recorded_time_as_well),
        cmocka_unit_test(a_bound_is_no_less_than_what_nobody_has_to_do),
        cmocka_unit_test(a_quota_is_shared_by_all_processes_of_a_host),
        cmocka_unit_test(counters_speak_only_where_no_replay_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
