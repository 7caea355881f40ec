/* SPDX-License-Identifier: MIT */
/*
 * More CPU time than a peer's: more work, or a slower core? Two ranks in lockstep, of which one
 * takes longer, with the cost of sampling on both hosts and the times of their operators.
 */
#include "analysis/causes/causes_private.h"
#include "tests/unit/lockstep.h"
#include "tests/unit/own_remark.h"

#define SAMPLES 10 /* in a row, one row a second */

/* CPU time of a sample in us: of all the agent's work, and of each probe that does the same on
 * every host.
 */
struct sampling {
    double agent_us, probe_us;
    double burst_at_s; /* a row that took a hundred times as long; 0: none */
};

static const char *const cpu_names[] = {"cpu0", "cpu1", "cpu2", "cpu3",
                                        "cpu4", "cpu5", "cpu6", "cpu7"};
static const struct sampling usual = {800, 25, 0};
static struct sampling now;
static bool is_agent;

static double sampling_of(size_t column, double t_s) {
    double us = is_agent ? now.agent_us : now.probe_us;
    if (now.burst_at_s > 0 && fabs(t_s - now.burst_at_s) < 0.5)
        us *= 100;
    return column == SELF_CPU ? us * 1e3 * SAMPLES : column == SELF_SAMPLES ? SAMPLES : 0;
}

static void plant_sampling_but(struct recording *r, int host, struct sampling s, const char *but) {
    static const char *const probes[] = {"cpu", "memory", "psi", "vmstat", "disk", "net"};
    now = s;
    is_agent = true;
    plant(r, RECORDING_SELF, host, "agent", 1, 1u << SELF_RSS, sampling_of);
    is_agent = false;
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++)
        if (strcmp(probes[i], but) != 0)
            plant(r, RECORDING_SELF, host, probes[i], 1, 1u << SELF_RSS, sampling_of);
}

static void plant_sampling(struct recording *r, int host, struct sampling s) {
    plant_sampling_but(r, host, s, "");
}

static double calibration_us, third_calibration_us; /* third_calibration_us: of every third row; 0:
                                                       like the others */

static double calibration_of(size_t column, double t_s) {
    bool third = third_calibration_us > 0 && (long)lround(t_s) % 3 == 0;
    double us = third ? third_calibration_us : calibration_us;
    return column == SELF_CPU ? us * 1e3 * SAMPLES : column == SELF_SAMPLES ? SAMPLES : 0;
}

static void plant_calibration(struct recording *r, int host, double us) {
    calibration_us = us;
    plant(r, RECORDING_SELF, host, "core", 1, 1u << SELF_RSS, calibration_of);
}

static double rows_us, rows_samples; /* by row: CPU time of a sample, and number of samples */

static double row_of_few(size_t column, double t_s) {
    double later = t_s > 3 ? 3 : 1; /* the mean over rows, not over samples */
    return column == SELF_CPU       ? rows_us * 1e3 * rows_samples * later
           : column == SELF_SAMPLES ? rows_samples
                                    : 0;
}

/* The calibration over the first rows of a second each, in us. */
static double speed_of_rows(int rows, double samples) {
    struct recording r;
    struct window window = {0, rows * S};
    struct run_model model = {.recording = &r};
    rows_us = 20;
    rows_samples = samples;
    plant_init(&r, 2, 60);
    plant_part(&r, RECORDING_SELF, 1, 1, "core", 1, 0, 60, 1u << SELF_RSS, row_of_few);
    assert_true(isnan(core_calibration_ns(&model, 0, (struct windows){&window, 1})));
    double us = core_calibration_ns(&model, 1, (struct windows){&window, 1}) / 1e3;
    recording_release(&r);
    return us;
}

/* At least twenty samples, in at least two rows. */
static void few_samples_tell_no_speed(void **state) {
    (void)state;
    assert_true(isnan(speed_of_rows(2, 9)));
    assert_true(isnan(speed_of_rows(1, 100)));
    assert_true(isnan(speed_of_rows(19, 1)));
    assert_true(isnan(speed_of_rows(0, 100)));
    assert_true(fabs(speed_of_rows(2, 10) - 20) < 1e-9);
    assert_true(fabs(speed_of_rows(3, 7) - 20) < 1e-9);
    assert_true(fabs(speed_of_rows(4, 10) - (3 * 20 + 60) / 4.0) < 1e-9);
    assert_true(fabs(speed_of_rows(20, 1) - (3 * 20 + 17 * 60) / 20.0) < 1e-9);
}

/* Rank 1 takes `work` times the CPU time. */
static void judge_two(double work, struct sampling second, struct recording *r, struct judged *j) {
    plant_lockstep(r, 2, (struct trouble){.work = work});
    plant_sampling(r, 0, usual);
    plant_sampling(r, 1, second);
    judge(r, j);
}

/* Expects that rank 1 is blamed for more work, or that it is not, with these words in the
 * counter-evidence or in what is ruled out. NULL: any words.
 */
static void expect_blame(struct recording *r, struct judged *j, bool blamed, const char *words) {
    if (blamed)
        expect(j, "imbalance", "skew", 1);
    else
        assert_true(blames_nobody(&j->verdict));
    assert_true(!words || any_says(blamed ? &j->words.against : &j->words.ruled_out, words));
    release(r, j);
}

static void expect_of_two(double work, struct sampling second, bool blamed, const char *words) {
    struct recording r;
    struct judged j;
    judge_two(work, second, &r, &j);
    expect_blame(&r, &j, blamed, words);
}

static void a_rank_on_a_slower_core_has_no_more_work(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    judge_two(1.35, (struct sampling){800 * 1.2, 25 * 1.1, 0}, &r, &j);
    assert_true(blames_nobody(&j.verdict));
    assert_true(any_says(&j.words.ruled_out, "rank 1 on vm2 took 1.35 times as much CPU time"));
    assert_true(any_says(&j.words.ruled_out, "sampling took 1.20 times as much CPU time there "
                                             "as for its peers: a slower core rather than more "
                                             "work"));
    release(&r, &j);
}

/* The straggler's remark with that code. */
static const struct remark *straggler_remark(const struct judged *j,
                                             const struct remark_kind *kind) {
    for (size_t i = 0; i < j->stragglers.n; i++) {
        const struct remarks *evidence = &j->stragglers.items[i].evidence;
        for (size_t k = 0; k < evidence->n; k++)
            if (evidence->items[k].kind == kind)
                return &evidence->items[k];
    }
    fail_msg("no straggler says %s", kind->name);
    return NULL;
}

static void expect_number(const struct remark *remark, int at, double number) {
    if (!(fabs(remark->numbers[at] - number) < 0.005))
        fail_msg("%s: %g and not %g", remark->kind->name, remark->numbers[at], number);
}

static void a_straggler_is_told_of_its_core_as_well(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    judge_two(1.6, (struct sampling){800 * 1.2, 25 * 1.1, 0}, &r, &j);
    expect_number(straggler_remark(&j, &remark_CORE_SLOWER), 0, 3); /* by sampling */
    expect_number(straggler_remark(&j, &remark_CORE_SLOWER), 1, 1.2);
    release(&r, &j);
    judge_two(1.6, usual, &r, &j);
    straggler_remark(&j, &remark_NO_SLOWER_CORE);
    release(&r, &j);
}

static void the_same_on_a_core_as_fast_is_more_work(void **state) {
    (void)state;
    expect_of_two(1.35, usual, true, "but sampling took no more CPU time there than for its peers");
}

/* 1.0605^1.6 and 1.0299^3.2 are 1.10. */
static void of_more_work_on_a_slower_core_the_work_is_told(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    judge_two(2.2, (struct sampling){800 * 1.0605, 25 * 1.0299, 0}, &r, &j);
    expect(&j, "imbalance", "skew", 1);
    assert_non_null(strstr(j.words.cause, "2.00 times as much to compute"));
    assert_true(any_says(&j.words.against, "a factor of 1.10 is put down to that"));
    release(&r, &j);
}

/* Rank 1 takes `work` times the CPU time, and its host's calibration loop `calibration` times;
 * sampling costs as much on both.
 */
static void judge_calibration(double work, double calibration, struct recording *r,
                              struct judged *j) {
    plant_lockstep(r, 2, (struct trouble){.work = work});
    for (int host = 0; host < 2; host++) {
        plant_sampling(r, host, usual);
        plant_calibration(r, host, host ? 12 * calibration : 12);
    }
    judge(r, j);
}

static void arithmetic_that_takes_as_much_longer_is_a_slower_core(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    judge_calibration(1.35, 1.3, &r, &j);
    expect_blame(&r, &j, false,
                 "the same arithmetic took 1.30 times as much CPU time there as for "
                 "its peers: a slower core rather than more work");
}

static void arithmetic_that_takes_no_longer_is_more_work(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    judge_calibration(1.35, 1, &r, &j);
    expect_number(straggler_remark(&j, &remark_NO_SLOWER_CORE), 0, 1); /* by arithmetic */
    expect_number(straggler_remark(&j, &remark_NO_SLOWER_CORE), 1, 1);
    expect_blame(&r, &j, true, "the same arithmetic took no more CPU time there");
}

/* The job's load on a core that hosts share shows on all of them. */
static void arithmetic_on_cores_that_hosts_share_says_nothing_of_a_host(void **state) {
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        struct recording r;
        struct judged j;
        plant_lockstep(&r, 2, (struct trouble){.work = 1});
        r.machines = calloc(2, sizeof *r.machines);
        r.machines[0] = 7;
        r.machines[1] = shared ? 7 : 8;
        plant_calibration(&r, 0, 12);
        plant_calibration(&r, 1, 15);
        judge(&r, &j);
        double ns = core_calibration_ns(&j.model, 1, phase_windows(&j.model.groups[0]));
        assert_true(shared ? isnan(ns) : fabs(ns - 15000) < 1);
        release(&r, &j);
    }
}

static void expect_straggler(double work, double calibration, const char *kind,
                             const struct remark_kind *cause, const struct remark_kind *evidence) {
    struct recording r;
    struct judged j;
    judge_calibration(work, calibration, &r, &j);
    assert_int_equal(j.stragglers.n, 1);
    assert_string_equal(cause_name(j.stragglers.items[0].cause_kind), kind);
    assert_ptr_equal(j.stragglers.items[0].cause.kind, cause);
    const struct remark *core = straggler_remark(&j, evidence);
    if (evidence == &remark_CORE_SLOWER) {
        expect_number(core, 0, 2); /* by arithmetic */
        expect_number(core, 1, calibration);
        expect_number(core, 3, calibration);
        expect_number(core, 4, work);
    }
    release(&r, &j);
}

/* If the core is slower by less than half of the rank's excess, it is not the main reason. */
static void a_straggler_is_on_a_slower_core_or_has_more_work(void **state) {
    (void)state;
    expect_straggler(1.35, 1.3, "slow-core", remark_named("CORE_IS_SLOWER"), &remark_CORE_SLOWER);
    expect_straggler(1.35, 1, "skew", remark_named("MORE_WORK_UNCONFIRMED"),
                     &remark_NO_SLOWER_CORE);
    expect_straggler(1.35, 1.1, "skew", remark_named("MORE_INSTRUCTIONS"), &remark_CORE_SLOWER);
}

/* The number of cores and probes of a host does not matter. */
static void arithmetic_is_beside_that_of_hosts_of_any_size(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.work = 1.35});
    for (int cpu = 1; cpu < 8; cpu++)
        plant(&r, RECORDING_CPU, 1, cpu_names[cpu], 0.1, 0, quiet_cpu);
    plant_calibration(&r, 0, 12);
    plant_calibration(&r, 1, 12 * 1.3);
    judge(&r, &j);
    expect_blame(&r, &j, false, "the same arithmetic took 1.30 times");
}

static void a_core_that_is_slow_for_a_third_of_the_time_is_slow(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.work = 1.35});
    plant_calibration(&r, 0, 12);
    third_calibration_us = 12 * 2;
    plant_calibration(&r, 1, 12);
    third_calibration_us = 0;
    judge(&r, &j);
    expect_blame(&r, &j, false, "the same arithmetic took 1.");
}

static void of_arithmetic_and_sampling_the_slower_counts(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.work = 1.35});
    plant_sampling(&r, 0, usual);
    plant_sampling(&r, 1, (struct sampling){800 * 1.2, 25 * 1.1, 0});
    plant_calibration(&r, 0, 12);
    plant_calibration(&r, 1, 12 * 1.1);
    judge(&r, &j);
    expect_blame(&r, &j, false, "sampling took 1.20 times as much CPU time there");
}

/* An agent with more processes to scan is on no slower core; nor is one for which only the fixed
 * reading costs more.
 */
static void one_figure_alone_says_nothing_of_the_core(void **state) {
    static const char words[] = "no more CPU time there than for its peers (1.00 times)";
    (void)state;
    expect_of_two(1.35, (struct sampling){800 * 2, 25, 0}, true, words);
    expect_of_two(1.35, (struct sampling){800, 25 * 2, 0}, true, words);
}

/* More cores cost the agent more, since it reads them, too. */
static void a_host_with_more_cores_is_none_with_slower_ones(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.work = 1.35});
    for (int cpu = 1; cpu < 8; cpu++)
        plant(&r, RECORDING_CPU, 1, cpu_names[cpu], 0.1, 0, quiet_cpu);
    plant_sampling(&r, 0, usual);
    plant_sampling(&r, 1, (struct sampling){800 + 6 * 50, 25 + 50, 0});
    judge(&r, &j);
    expect_blame(&r, &j, true, "CPU time alone cannot tell");
}

/* The peer's kernel has no pressure figures: less to read, but no slower core here. */
static void a_probe_that_only_one_host_has_makes_none_slow(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.work = 1.35});
    plant_sampling_but(&r, 0, (struct sampling){800 * 0.85, 25, 0}, "psi");
    plant_sampling(&r, 1, usual);
    judge(&r, &j);
    expect_blame(&r, &j, true, "CPU time alone cannot tell");
}

static void without_fixed_probes_nothing_is_said_of_the_core(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.work = 1.35});
    is_agent = true;
    now = usual;
    plant(&r, RECORDING_SELF, 0, "agent", 1, 1u << SELF_RSS, sampling_of);
    plant(&r, RECORDING_SELF, 1, "agent", 1, 1u << SELF_RSS, sampling_of);
    judge(&r, &j);
    expect_blame(&r, &j, true, "CPU time alone cannot tell");
}

/* Rank 1 has the most CPU time due to its core; rank 2 has more to do. */
static void a_slow_core_hides_no_other_rank_s_work(void **state) {
    static const double work[][2] = {{1, 1}, {1.36, 1.36}, {1.68, 1}, {1, 1}};
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 4, (struct trouble){.works = work});
    for (int host = 0; host < 4; host++)
        plant_sampling(&r, host, host == 1 ? (struct sampling){800 * 1.2, 25 * 1.1, 0} : usual);
    judge(&r, &j);
    expect(&j, "imbalance", "skew", 2);
    assert_true(any_says(&j.words.ruled_out, "rank 1 on vm2 took 1.36 times as much CPU time"));
    release(&r, &j);
}

static void what_comes_between_once_is_none_of_the_core_s_speed(void **state) {
    (void)state;
    expect_of_two(1.35, (struct sampling){800, 25, 4.5}, true, NULL);
}

static void without_samples_of_either_it_is_said_that_it_cannot_be_told(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.work = 1.35});
    plant_sampling(&r, 1, usual);
    judge(&r, &j);
    expect_blame(&r, &j, true, "more work or a slower core");
}

static void what_cores_of_one_kind_differ_by_is_told_and_nobody_blamed(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    judge_two(1.16, usual, &r, &j);
    assert_true(blames_nobody(&j.verdict));
    assert_true(any_says(&j.words.ruled_out, "1.16 times as much CPU time as its peers: more "
                                             "work or a slower core"));
    release(&r, &j);
    judge_two(1.05, usual, &r, &j);
    assert_false(any_says(&j.words.ruled_out, "imbalance"));
    release(&r, &j);
}

/* ---- operators ---- */

/* Operators of rank 1 beside those of rank 0. */
struct told {
    double byte_time; /* factor on the time for as much output */
    double amount;    /* factor on output that grows with the work */
    bool one;         /* there is but one operator */
    double seldom;    /* factor on an operator that takes .8 % of the time; 0: there is none */
};

static void plant_operator(struct recording *r, const char *name, int rank, double start_s,
                           double duration_s, double bytes) {
    plant_mark(r, MARK_OPERATOR, name, rank, rank, 0, start_s, duration_s);
    r->marks[r->n_marks - 1].output_bytes = (int64_t)bytes;
}

/* Each round has a product, which is most of the computing, an operator on its result, the
 * gradient, whose size is fixed, and the sum of all gradients, for which the ranks wait.
 */
static void plant_operators(struct recording *r, struct told second) {
    double at = 0.1;
    for (int i = 0; i < ROUNDS; i++) {
        double end = at + round_s(&trouble_now, 2, i), cpu;
        for (int rank = 0; rank < 2; rank++) {
            double amount = rank ? second.amount : 1, byte_time = rank ? second.byte_time : 1;
            double gap = gap_of(&trouble_now, rank, i, &cpu), enter = at + gap;
            plant_operator(r, "product", rank, at, 0.03 * byte_time * amount, 1e6 * amount);
            if (second.one)
                continue;
            plant_operator(r, "sigmoid", rank, at + 0.7 * gap, 0.008 * byte_time * amount,
                           1e5 * amount);
            plant_operator(r, "gradient", rank, at + 0.9 * gap, 0.004 * byte_time * amount, 1e4);
            if (rank && second.seldom > 0)
                plant_operator(r, "side", rank, at + 0.99 * gap, 4e-4, 1e3 * second.seldom);
            else if (second.seldom > 0)
                plant_operator(r, "side", rank, at + 0.99 * gap, 4e-4, 1e3);
            plant_operator(r, "sum of all", rank, enter - 1e-5, end - enter + 1e-5, 1e4);
        }
        at = end;
    }
}

/* Sampling costs as much on both hosts. */
static void judge_told(double work, struct told second, struct recording *r, struct judged *j) {
    plant_lockstep(r, 2, (struct trouble){.work = work});
    plant_sampling(r, 0, usual);
    plant_sampling(r, 1, usual);
    plant_operators(r, second);
    judge(r, j);
}

static void expect_told(double work, struct told second, bool blamed, const char *words) {
    struct recording r;
    struct judged j;
    judge_told(work, second, &r, &j);
    expect_blame(&r, &j, blamed, words);
}

static void operators_that_take_longer_for_as_much_tell_a_slower_core(void **state) {
    static const char *const words[] = {"its operators took at least 1.30 times as long",
                                        "or more work whose output is as large"};
    (void)state;
    for (int i = 0; i < 2; i++)
        expect_told(1.35, (struct told){.byte_time = 1.3, .amount = 1}, false, words[i]);
}

static void no_core_of_a_kind_is_half_as_fast_as_another(void **state) {
    (void)state;
    expect_told(2.5, (struct told){.byte_time = 2.5, .amount = 1}, true, NULL);
}

static void operators_that_give_more_tell_more_work(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    judge_told(1.35, (struct told){.byte_time = 1, .amount = 1.35}, &r, &j);
    expect(&j, "imbalance", "skew", 1);
    assert_non_null(strstr(j.words.cause, "1.35 times as much to compute"));
    assert_true(any_says(&j.words.evidence, "gave up to 1.35 times as much an iteration"));
    assert_ptr_equal(j.stragglers.items[0].cause.kind, remark_named("HAS_MORE_WORK"));
    expect_number(straggler_remark(&j, remark_named("OPERATORS_GAVE")), 0, 1.35);
    release(&r, &j);
}

/* Its core makes up for nearly all of it. Shared out, .055 and .05 s become .0525 s each; sharing
 * out more would make the other rank take longer.
 */
static void more_work_on_a_faster_core_is_more_work(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    judge_told(1.1, (struct told){.byte_time = 1.1 / 1.5, .amount = 1.5}, &r, &j);
    expect_state(&j, VERDICT_SUSPECTED, "imbalance", "skew", 1);
    assert_true(fabs(j.verdict.gain - 0.0025 / 0.056) < 0.002);
    assert_true(any_says(&j.words.next, "to share it out among its peers is worth little"));
    /* .0418 of its .055 s are for half as much more work */
    assert_non_null(strstr(j.words.cause, "1.34 times as much to compute"));
    release(&r, &j);
}

static void more_of_what_hardly_takes_time_is_no_more_work(void **state) {
    (void)state;
    expect_told(1.02, (struct told){.byte_time = 1, .amount = 1, .seldom = 3}, false, NULL);
}

/* Half as much more work, which a faster core makes up for: its peers wait for nothing. */
static void more_work_that_takes_no_longer_is_not_waited_for(void **state) {
    (void)state;
    expect_told(0.97, (struct told){.byte_time = 0.97 / 1.5, .amount = 1.5}, false, NULL);
}

static void without(struct recording *r, enum mark_kind kind, int rank) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_marks; i++)
        if (r->marks[i].kind != kind || r->marks[i].rank != rank)
            r->marks[n++] = r->marks[i];
    r->n_marks = n;
}

/* Its output over the whole run is not comparable with the other rank's in an iteration. */
static void iterations_that_one_rank_alone_marks_make_nobody_give_more(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.work = 1.02});
    plant_operators(&r, (struct told){.byte_time = 1, .amount = 1});
    without(&r, MARK_ITERATION, 1);
    judge(&r, &j);
    struct operator_work *works = operator_works_of(&j.model, j.model.main_group);
    assert_non_null(works);
    for (int host = 0; host < 2; host++) {
        assert_true(isnan(works[host].amount) && isnan(works[host].more));
        assert_true(fabs(works[host].byte_time - 1) < 0.01);
    }
    free(works);
    assert_true(blames_nobody(&j.verdict));
    release(&r, &j);
}

/* There are so many marks that only a sample is timed; their output is still the sum of all. */
static void of_very_many_marks_all_count_for_what_was_given(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.work = 1.02});
    plant_operators(&r, (struct told){.byte_time = 1, .amount = 1});
    for (int i = 0; i < 300000; i++)
        plant_mark(&r, MARK_VALUE, "other", 0, 0, i, 0.1 + 1e-6 * i, NAN);
    judge(&r, &j);
    struct operator_work *works = operator_works_of(&j.model, j.model.main_group);
    assert_non_null(works);
    assert_true(fabs(works[1].amount - 1) < 1e-9);
    free(works);
    release(&r, &j);
}

/* It tests for messages all the time, so the time that an operator spent in those calls is not
 * known.
 */
static void operators_within_a_row_of_small_calls_tell_nothing(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.work = 1.02});
    plant_operators(&r, (struct told){.byte_time = 1, .amount = 1});
    double at = 0.1;
    for (int i = 0; i < ROUNDS; i++) {
        double cpu, gap = gap_of(&trouble_now, 1, i, &cpu);
        PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 0, (int64_t)(1e9 * (at - 1e-5)),
              (int64_t)(1e9 * (at + gap - 1e-3)), MPI_FLAG_FOLDED, .inside_ns = 1000);
        at += round_s(&trouble_now, 2, i);
    }
    judge(&r, &j);
    struct operator_work *works = operator_works_of(&j.model, j.model.main_group);
    assert_non_null(works);
    assert_true(isnan(works[0].byte_time) && isnan(works[1].byte_time));
    free(works);
    release(&r, &j);
}

/* Cores with other users may take as much longer; operators as fast as the peer's exclude that. */
static void a_smaller_excess_is_told_with_operators_alone(void **state) {
    (void)state;
    expect_of_two(1.25, usual, false, NULL);
    expect_told(1.25, (struct told){.byte_time = 1, .amount = 1}, true,
                "some of its operators took no longer there for as much output");
}

static void one_operator_alone_tells_nothing(void **state) {
    (void)state;
    expect_told(1.35, (struct told){.byte_time = 1.3, .amount = 1, .one = true}, true,
                "the program marks no amounts of work");
}

/* 1.35 times the work in all, alternating with its peer: each waits for the other. */
static void who_waits_as_long_itself_is_not_waited_for(void **state) {
    static const double work[][2] = {{1, 1}, {2.5, 0.2}};
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 2, (struct trouble){.works = work});
    plant_sampling(&r, 0, usual);
    plant_sampling(&r, 1, usual);
    judge(&r, &j);
    expect_blame(&r, &j, false, NULL);
}

/* ---- pieces so short that their CPU time is measured on one core and not on the other ---- */

#define PIECES 20000
#define PIECE_NS 110000 /* on rank 1's core; its peer's core is a fifth faster */
#define LIKE_IT_NS 90000

static void plant_pieces(struct recording *r) {
    const int64_t round_ns = PIECE_NS + 1000;
    plant_hosts(r, 2, PIECES * (double)round_ns / 1e9 + 0.1);
    for (int rank = 0; rank < 2; rank++) {
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 1000);
        for (int i = 0; i < PIECES; i++) {
            int64_t at = 1000 + i * round_ns, took = rank ? PIECE_NS : LIKE_IT_NS;
            PLANT(&r->calls, rank, rank, "MPI_Allreduce", -1, -1, 8, at + took, at + round_ns,
                  rank ? MPI_FLAG_HAS_GAP_CPU : 0, .gap_cpu_ns = rank ? PIECE_NS : 0);
            if (i % 100 == 0)
                plant_mark(r, MARK_ITERATION, "hundred", rank, rank, i / 100, (double)at / 1e9,
                           100 * (double)round_ns / 1e9);
        }
        plant_process(r, rank, "train", (struct plant_process){rank, 1, 0, 0});
    }
}

static void common_work_in_short_pieces_is_not_serial(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_pieces(&r);
    judge(&r, &j);
    for (size_t i = 0; i < j.candidates.n; i++)
        assert_string_not_equal(cause_name(j.candidates.items[i].kind), "serial");
    assert_true(blames_nobody(&j.verdict));
    release(&r, &j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_samples_tell_no_speed),
        cmocka_unit_test(a_rank_on_a_slower_core_has_no_more_work),
        cmocka_unit_test(a_straggler_is_told_of_its_core_as_well),
        cmocka_unit_test(the_same_on_a_core_as_fast_is_more_work),
        cmocka_unit_test(of_more_work_on_a_slower_core_the_work_is_told),
        cmocka_unit_test(arithmetic_that_takes_as_much_longer_is_a_slower_core),
        cmocka_unit_test(arithmetic_that_takes_no_longer_is_more_work),
        cmocka_unit_test(arithmetic_on_cores_that_hosts_share_says_nothing_of_a_host),
        cmocka_unit_test(a_straggler_is_on_a_slower_core_or_has_more_work),
        cmocka_unit_test(arithmetic_is_beside_that_of_hosts_of_any_size),
        cmocka_unit_test(a_core_that_is_slow_for_a_third_of_the_time_is_slow),
        cmocka_unit_test(of_arithmetic_and_sampling_the_slower_counts),
        cmocka_unit_test(one_figure_alone_says_nothing_of_the_core),
        cmocka_unit_test(a_host_with_more_cores_is_none_with_slower_ones),
        cmocka_unit_test(a_probe_that_only_one_host_has_makes_none_slow),
        cmocka_unit_test(without_fixed_probes_nothing_is_said_of_the_core),
        cmocka_unit_test(a_slow_core_hides_no_other_rank_s_work),
        cmocka_unit_test(what_comes_between_once_is_none_of_the_core_s_speed),
        cmocka_unit_test(without_samples_of_either_it_is_said_that_it_cannot_be_told),
        cmocka_unit_test(what_cores_of_one_kind_differ_by_is_told_and_nobody_blamed),
        cmocka_unit_test(operators_that_take_longer_for_as_much_tell_a_slower_core),
        cmocka_unit_test(no_core_of_a_kind_is_half_as_fast_as_another),
        cmocka_unit_test(operators_that_give_more_tell_more_work),
        cmocka_unit_test(more_work_on_a_faster_core_is_more_work),
        cmocka_unit_test(more_of_what_hardly_takes_time_is_no_more_work),
        cmocka_unit_test(more_work_that_takes_no_longer_is_not_waited_for),
        cmocka_unit_test(iterations_that_one_rank_alone_marks_make_nobody_give_more),
        cmocka_unit_test(of_very_many_marks_all_count_for_what_was_given),
        cmocka_unit_test(operators_within_a_row_of_small_calls_tell_nothing),
        cmocka_unit_test(a_smaller_excess_is_told_with_operators_alone),
        cmocka_unit_test(one_operator_alone_tells_nothing),
        cmocka_unit_test(who_waits_as_long_itself_is_not_waited_for),
        cmocka_unit_test(common_work_in_short_pieces_is_not_serial),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
