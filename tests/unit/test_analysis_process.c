/* SPDX-License-Identifier: MIT */
/* Programs without MPI: processes of one job compared by the kernel's counts. */
#include "tests/unit/counted_process.h"
#include "tests/unit/warm.h"

#include "analysis/gain/whatif.h"

#define CONNECTION_LEVELS                                                                          \
    (1u << CONNECTION_PID | 1u << CONNECTION_RTT | 1u << CONNECTION_MIN_RTT |                      \
     1u << CONNECTION_DELIVERY_RATE)

/* A process with one thread on each host, in shares of time, and its traffic with each other
 * process.
 */
struct process {
    const char *name;
    double cpu, queue, disk;
    double sent_mb_s, under_way; /* from each other process: share of time */
};

static double sent_now, under_way_now;
static double kernel_of_last; /* of the last process, as a share of its CPU time */
static bool full_now;         /* the link carries no more, and data queue at it */

static double connection_of(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case CONNECTION_PID:
        return PID + host_now;
    case CONNECTION_BUSY:
        return under_way_now * 1e9;
    case CONNECTION_SEND_BYTES:
        return sent_now * 1e6;
    case CONNECTION_RTT:
        return full_now ? 5e6 : 1e5;
    case CONNECTION_MIN_RTT:
        return 1e5;
    case CONNECTION_DELIVERY_RATE:
        return full_now ? sent_now * 1e6 / under_way_now : 1e9;
    default:
        return 0;
    }
}

static void plant_job(struct recording *r, const struct process *processes, int n) {
    plant_hosts(r, (size_t)n, SECONDS);
    for (host_now = 0; host_now < n; host_now++) {
        char name[64];
        const struct process *p = &processes[host_now];
        shares_now = (struct shares){p->cpu, p->queue, p->disk};
        kernel_now = host_now == n - 1 ? kernel_of_last : 0;
        sent_now = p->sent_mb_s;
        snprintf(name, sizeof name, "%s[%d]", p->name, PID + host_now);
        plant(r, RECORDING_PROCESS, host_now, name, 1, PROCESS_LEVELS, process_of);
        for (int to = 0; to < n; to++) {
            int low = to < host_now ? to : host_now, high = to < host_now ? host_now : to;
            if (to == host_now)
                continue;
            snprintf(name, sizeof name, "10.0.0.%d:%d>10.0.0.%d:%d", host_now + 1,
                     host_now == low ? 5000 + high : 6000 + low, to + 1,
                     to == low ? 5000 + high : 6000 + low);
            under_way_now = processes[to].under_way;
            plant(r, RECORDING_CONNECTION, host_now, name, 0.5, CONNECTION_LEVELS, connection_of);
        }
    }
}

/* NULL: no process is to blame. */
static void expect_of(const struct process *processes, int n, const char *resource, int host) {
    struct recording r;
    struct judged j;
    plant_job(&r, processes, n);
    judge(&r, &j);
    const struct verdict *v = &j.verdict;
    bool blames = verdict_blames(v->state) && !blames_nobody(v);
    if (blames != (resource != NULL) ||
        (resource && (strcmp(resource_name(v->resource), resource) != 0 || v->host != host)))
        fail_msg("%s: %s", verdict_state_name(v->state), j.words.summary);
    assert_true(!blames || v->state == VERDICT_SUSPECTED);
    assert_true(v->confidence <=
                (blames ? number_CONFIDENCE_LEAN.usual : number_CONFIDENCE_CAP.usual));
    release(&r, &j);
}

/* In turn in both directions. For one direction alone, or a link that no process waits for, the
 * gain is not known.
 */
static void a_link_that_all_wait_for_is_answered_by_what_if(void **state) {
    struct process two[] = {{"train", 0.2, 0, 0, 30, 0.39}, {"train", 0.21, 0, 0, 30, 0.39}};
    struct whatif_scenario twice = {.kind = WHATIF_LINK, .host = 0, .rank = -1, .factor = 2};
    struct whatif_scenario one_way = twice;
    (void)state;
    one_way.direction = WHATIF_SEND;
    for (int full = 0; full < 2; full++) {
        const struct whatif *w;
        struct whatif_answer a;
        struct recording r;
        struct judged j;
        full_now = full;
        plant_job(&r, two, 2);
        judge(&r, &j);
        w = j.whatif;
        assert_int_equal(whatif_ask(w, &twice, 1, &a), 0);
        assert_int_equal(a.counted, full);
        if (full)
            assert_true(fabs(a.gain - 0.39) <= 0.02 && a.gain_low < a.gain && a.gain < a.gain_high);
        assert_int_equal(whatif_ask(w, &one_way, 1, &a), 0);
        assert_false(a.counted);
        release(&r, &j);
    }
    full_now = false;
}

/* A process that uses nine tenths of a core, with half a core or with two; and a process that waits
 * for the other.
 */
static void a_quota_for_who_never_waits_is_answered_by_what_if(void **state) {
    struct process two[] = {{"train", 0.3, 0, 0, 20, 0.02}, {"train", 0.97, 0, 0, 20, 0.02}};
    struct whatif_scenario s = {.kind = WHATIF_QUOTA, .host = 1, .rank = -1, .factor = 0.5};
    const struct whatif *w;
    struct whatif_answer a;
    struct recording r;
    struct judged j;
    (void)state;
    plant_job(&r, two, 2);
    judge(&r, &j);
    w = j.whatif;
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    assert_true(a.counted && fabs(a.gain - gain_warm(-0.955, 1)) < 0.02);
    assert_true(a.gain_low < a.gain && a.gain < a.gain_high);
    s.factor = 2;
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    assert_true(a.counted && fabs(a.gain) < 0.02);
    s.host = 0;
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    assert_false(a.counted);
    release(&r, &j);
}

/* With one peer, the peer may be the exception; with three or more it is not by chance. */
static void who_has_more_than_several_peers_is_told_twice_over(void **state) {
    struct process all[5];
    (void)state;
    for (int n = 2; n <= 5; n++) {
        struct recording r;
        struct judged j;
        for (int i = 0; i < n; i++)
            all[i] = (struct process){"train", i ? 0.3 : 0.9, 0, 0, 20, 0.02};
        plant_job(&r, all, n);
        judge(&r, &j);
        const struct candidate *found = NULL;
        for (size_t i = 0; i < j.candidates.n && !found; i++)
            if (j.candidates.items[i].resource == RESOURCE_IMBALANCE)
                found = &j.candidates.items[i];
        assert_non_null(found);
        assert_int_equal(found->host, 0);
        assert_int_equal(found->signals, n > 3 ? 2 : 1);
        release(&r, &j);
    }
}

static void equal_shares_of_the_work_are_balanced(void **state) {
    struct process two[] = {{"train", 0.95, 0, 0, 20, 0.03}, {"train", 0.9, 0.02, 0, 20, 0.02}};
    (void)state;
    expect_of(two, 2, NULL, -1);
}

static void who_computes_more_and_never_waits_is_waited_for(void **state) {
    struct process two[] = {{"train", 0.66, 0, 0, 20, 0.02}, {"train", 0.97, 0.02, 0, 20, 0.08}};
    struct process four[] = {{"train", 0.97, 0, 0, 20, 0.02},
                             {"train", 0.7, 0, 0, 20, 0.02},
                             {"train", 0.72, 0, 0, 20, 0.02},
                             {"train", 0.68, 0, 0, 20, 0.02}};
    (void)state;
    expect_of(two, 2, "imbalance", 1);
    expect_of(four, 4, "imbalance", 0);
}

/* All slices are alike, so an interval would only repeat the share. */
static void an_interval_that_says_no_more_is_not_told(void **state) {
    struct process two[] = {{"train", 0.66, 0, 0, 20, 0.02}, {"train", 0.97, 0.02, 0, 20, 0.08}};
    struct recording r;
    struct judged j;
    (void)state;
    plant_job(&r, two, 2);
    judge(&r, &j);
    if (!strstr(j.words.summary, "31 % of its recorded time. With"))
        fail_msg("%s", j.words.summary);
    release(&r, &j);
}

static void what_a_peer_computes_less_for_want_of_a_core_is_no_imbalance(void **state) {
    struct process two[] = {{"train", 0.66, 0, 0, 20, 0.02}, {"train", 0.67, 0.3, 0, 20, 0.1}};
    struct recording r;
    struct judged j;
    (void)state;
    plant_job(&r, two, 2);
    judge(&r, &j);
    assert_string_equal(resource_name(j.verdict.resource), "cpu");
    assert_int_equal(j.verdict.host, 1);
    release(&r, &j);
}

/* The kernel frees one process's pages and touches them again: it runs for .97 of the time, .62 of
 * it in its own code; its peer runs for .66.
 */
static void what_the_kernel_does_for_one_is_no_more_to_compute(void **state) {
    struct process two[] = {{"train", 0.66, 0, 0, 20, 0.02}, {"train", 0.97, 0, 0, 20, 0.08}};
    struct recording r;
    struct judged j;
    (void)state;
    kernel_of_last = 0.35;
    expect_of(two, 2, NULL, -1);
    plant_job(&r, two, 2);
    judge(&r, &j);
    assert_true(any_says(&j.words.ruled_out, "took 1.47 times as much CPU time as its peer, but "
                                             "in its own code 0.94 times"));
    release(&r, &j);
    kernel_of_last = 0.2;
    expect_of(two, 2, "imbalance", 1);
    kernel_of_last = 0;
}

/* Threads of each process wait for each other: no host lacks a core. */
static void a_queue_as_long_as_that_of_its_peers_is_its_own(void **state) {
    struct process two[] = {{"train", 0.66, 0.3, 0, 20, 0.02}, {"train", 0.66, 0.31, 0, 20, 0.02}};
    (void)state;
    threads_now = 2;
    expect_of(two, 2, NULL, -1);
    two[0].queue = 0.1;
    expect_of(two, 2, "cpu", 1);
    threads_now = 0;
}

/* They alternate: each waits while the other computes, as intended. */
static void a_server_and_its_client_are_no_peers(void **state) {
    struct process turns[] = {{"train", 0.86, 0, 0, 20, 0.02}, {"train", 0.24, 0, 0, 20, 0.02}};
    struct process served[] = {{"train", 0.95, 0, 0, 60, 0.02},
                               {"train", 0.7, 0, 0, 20, 0.02},
                               {"train", 0.7, 0, 0, 20, 0.02},
                               {"train", 0.7, 0, 0, 20, 0.02}};
    (void)state;
    expect_of(turns, 2, NULL, -1);
    expect_of(served, 4, NULL, -1);
}

static void another_program_and_one_apart_are_no_peers(void **state) {
    struct process other[] = {{"train", 0.97, 0, 0, 20, 0.02}, {"feed", 0.66, 0, 0, 20, 0.02}};
    struct process apart[] = {{"train", 0.97, 0, 0, 0, 0}, {"train", 0.66, 0, 0, 0, 0}};
    (void)state;
    expect_of(other, 2, NULL, -1);
    expect_of(apart, 2, NULL, -1);
}

static void data_that_wait_for_one_that_is_off_its_core_tell_that_it_sleeps(void **state) {
    struct process two[] = {{"train", 0.6, 0.04, 0, 20, 0.03}, {"train", 0.6, 0.15, 0, 20, 0.12}};
    (void)state;
    expect_of(two, 2, "application", 1);
}

/* A little more computing, compared with its sleep; much more makes the others wait as well. */
static void a_sleeper_may_compute_a_little_more(void **state) {
    struct process two[] = {{"train", 0.24, 0.03, 0, 20, 0.03}, {"train", 0.3, 0.03, 0, 20, 0.12}};
    (void)state;
    expect_of(two, 2, "application", 1);
    two[1].cpu = 0.4;
    expect_of(two, 2, NULL, -1);
}

/* Its host is idle for most of the time: only its own threads had the core. */
static void a_sleeper_that_queues_for_its_own_threads_is_not_short_of_a_core(void **state) {
    struct process two[] = {{"train", 0.42, 0.03, 0, 20, 0.01}, {"train", 0.46, 0.15, 0, 20, 0.18}};
    struct recording r;
    struct judged j;
    (void)state;
    plant_job(&r, two, 2);
    struct series_set *cpu = &r.tables[RECORDING_CPU];
    for (size_t s = 0; s < cpu->n; s++)
        for (size_t row = 0; row < cpu->items[s].n; row++)
            if (cpu->items[s].interval_ns[row] != VALUE_ABSENT)
                cpu->items[s].values[row * cpu->n_columns + CPU_IDLE] *= 3;
    judge(&r, &j);
    assert_string_equal(resource_name(j.verdict.resource), "application");
    assert_int_equal(j.verdict.host, 1);
    release(&r, &j);
}

/* ---- threads behind each other ---- */

static double queue_of(const struct process *two, int host) {
    struct recording r;
    struct judged j;
    plant_job(&r, two, 2);
    judge(&r, &j);
    const struct rank_budget *items = j.model.budgets.items;
    const struct budget *b = items[items[0].host == host ? 0 : 1].groups;
    double share = b->term_s[BUDGET_RUN_QUEUE] / b->wall_s;
    assert_true(j.model.budgets.n == 2 && budget_closes(b));
    release(&r, &j);
    return share;
}

/* The host's core is busy for half of the time. */
static void threads_that_wait_for_their_own_process_make_it_wait_for_nobody(void **state) {
    struct process two[] = {{"train", 0.2, 0.25, 0, 20, 0.02}, {"train", 0.46, 0.3, 0, 20, 0.02}};
    (void)state;
    threads_now = 2;
    assert_true(fabs(queue_of(two, 0) - 0.25) < 0.01); /* others had the core for 0.3 */
    assert_true(fabs(queue_of(two, 1) - 0.04) < 0.01);
    threads_now = 1;
    assert_true(fabs(queue_of(two, 1) - 0.3) < 0.01);
    threads_now = 0;
}

/* Each on its own host: each thread waits for the other one. */
static void threads_that_wait_for_each_other_for_a_third_of_the_time_want_no_core(void **state) {
    struct process two[] = {{"train", 0.46, 0.34, 0, 20, 0.02}, {"train", 0.46, 0.32, 0, 20, 0.02}};
    (void)state;
    threads_now = 2;
    expect_of(two, 2, NULL, -1);
    threads_now = 1; /* only another program can have had the core */
    struct recording r;
    struct judged j;
    plant_job(&r, two, 2);
    judge(&r, &j);
    assert_string_equal(resource_name(j.verdict.resource), "cpu");
    release(&r, &j);
    threads_now = 0;
}

static void what_comes_for_one_that_computes_tells_that_it_slept_before(void **state) {
    struct process two[] = {{"train", 0.46, 0.08, 0, 20, 0.04}, {"train", 0.46, 0.2, 0, 20, 0.1}};
    struct process clean[] = {{"train", 0.46, 0.12, 0, 20, 0.04}, {"train", 0.46, 0.2, 0, 20, 0.1}};
    struct process else_where[] = {{"train", 0.46, 0.2, 0, 20, 0.04},
                                   {"train", 0.46, 0.08, 0, 20, 0.1}};
    (void)state;
    threads_now = 2;
    expect_of(two, 2, "application", 1);
    expect_of(clean, 2, NULL, -1);
    expect_of(else_where, 2, NULL, -1);
    threads_now = 1;
    expect_of(clean, 2, NULL, -1);
    threads_now = 0;
}

/* make, a shell script: their processes are short-lived, and compute together. */
static void processes_that_come_and_go_are_counted_by_their_parents(void **state) {
    struct process make[] = {{"make", 0.02, 0, 0, 0, 0}};
    const struct {
        double cores;
        enum cause_kind kind;
        double gain;
    } cases[] = {{1.9, CAUSE_COMPUTE_BOUND, 0.5}, {0.95, CAUSE_SINGLE_THREAD, 0.485}};
    struct whatif_scenario twice = {.kind = WHATIF_CPU, .host = -1, .rank = -1, .factor = 2};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct recording r;
        struct judged j;
        struct whatif_answer a;
        unseen_now = cases[i].cores;
        plant_job(&r, make, 1);
        plant(&r, RECORDING_CPU, 0, "cpu1", 0.1, 0, quiet_cpu);
        judge(&r, &j);
        assert_int_equal(j.verdict.state, VERDICT_SATURATED);
        assert_int_equal(j.verdict.kind, cases[i].kind);
        assert_true(fabs(j.verdict.gain - cases[i].gain) < 0.02);
        assert_int_equal(whatif_ask(j.whatif, &twice, 1, &a), 0);
        assert_true(a.counted && fabs(a.gain - j.verdict.gain) < 1e-9);
        release(&r, &j);
    }
    unseen_now = 0;
}

/* ---- a job that sleeps ---- */

/* `sleep 12` asks nothing of its host. A process with a connection may wait for the other end. */
static void a_sleeper_is_no_riddle(void **state) {
    struct process sleeper[] = {{"sleep", 0.0002, 0.0001, 0, 0, 0}};
    struct process client[] = {{"client", 0.0002, 0, 0, 0, 0}, {"server", 0.0002, 0, 0, 0, 0}};
    struct recording r;
    struct judged j;
    (void)state;
    plant_job(&r, sleeper, 1);
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_IDLE);
    assert_string_equal(j.words.summary, "These hosts did not limit the run. The program slept "
                                         "100 % of the time.");
    release(&r, &j);
    plant_job(&r, client, 2);
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_INSUFFICIENT);
    release(&r, &j);
}

/* ---- a GPU that is not seen ---- */

static void judge_one(double computing, double queue, double gpu, struct recording *r,
                      struct judged *j) {
    struct process one[] = {{"train", computing, queue, 0, 0, 0}};
    threads_now = 1;
    gpu_now = gpu;
    plant_job(r, one, 1);
    plant(r, RECORDING_CPU, 0, "cpu1", 0.1, 0, quiet_cpu);
    judge(r, j);
    gpu_now = 0;
    threads_now = 0;
}

/* A thread that waits for a GPU spins. Older recordings without that column are judged as before.
 */
static void a_core_that_the_user_of_a_gpu_burns_is_no_evidence_of_computing(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    judge_one(0.97, 0.01, 1, &r, &j);
    assert_int_equal(j.verdict.state, VERDICT_INSUFFICIENT);
    assert_int_equal(j.verdict.resource, RESOURCE_NONE);
    assert_int_equal(j.verdict.kind, CAUSE_NONE);
    assert_null(j.verdict.candidate);
    assert_int_equal(j.verdict.n_phases, 0);
    assert_true(j.verdict.confidence == 0 && isnan(j.verdict.gain));
    assert_true(strstr(j.words.summary, "a GPU is in use, and waits for it were not clocked") &&
                strstr(j.words.summary, "train[1000]"));
    release(&r, &j);
    const double others[] = {0, NAN};
    for (size_t i = 0; i < 2; i++) {
        judge_one(0.97, 0.01, others[i], &r, &j);
        assert_int_equal(j.verdict.kind, CAUSE_SINGLE_THREAD);
        release(&r, &j);
    }
}

/* It waits for a core that other programs have, whatever it would do with it. */
static void a_core_that_others_have_stays_what_the_user_of_a_gpu_waits_for(void **state) {
    struct recording r;
    struct judged with, without;
    (void)state;
    judge_one(0.4, 0.58, 0, &r, &without);
    enum cause_kind kind = without.verdict.kind;
    assert_int_equal(without.verdict.resource, RESOURCE_CPU);
    assert_int_equal(kind, CAUSE_CONTENTION);
    release(&r, &without);
    judge_one(0.4, 0.58, 1, &r, &with);
    assert_int_equal(with.verdict.kind, kind);
    release(&r, &with);
}

/* ---- advice ---- */

/* Whether advice for a job of one process has these words; it has none of MPI. */
static bool advises(double computing, double queue, bool refused, const char *words) {
    struct recording r;
    struct judged j;
    struct process one[] = {{"train", computing, queue, 0, 0, 0}};
    bool found = false;
    plant_job(&r, one, 1);
    r.waits_refused = refused;
    judge(&r, &j);
    for (size_t i = 0; i < j.words.next.n; i++) {
        found |= strstr(j.words.next.items[i], words) != NULL;
        assert_null(strstr(j.words.next.items[i], "rank"));
        assert_null(strstr(j.words.next.items[i], "OMP_"));
        assert_null(strstr(j.words.next.items[i], "mpirun"));
    }
    release(&r, &j);
    return found;
}

static void nothing_is_advised_that_is_of_mpi_or_was_refused(void **state) {
    (void)state;
    assert_true(advises(0.4, 0.58, false, "no more processes and threads on"));
    assert_true(advises(0.3, 0, false, "--wait-clocks"));
    assert_false(advises(0.3, 0, true, "--wait-clocks"));
}

/* ---- what if ---- */

static struct whatif_answer ask_of(const struct process *two, struct whatif_scenario s) {
    const struct whatif *w;
    struct whatif_answer a;
    struct recording r;
    struct judged j;
    plant_job(&r, two, 2);
    judge(&r, &j);
    w = j.whatif;
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    assert_true(!a.replayed && a.refused.code);
    if (a.counted) { /* the verdict says the same */
        assert_true(j.verdict.host == s.host && fabs(j.verdict.gain - a.gain) < 1e-9);
        assert_true(a.gain_low < a.gain && a.gain < a.gain_high && isnan(a.bound_s));
    }
    release(&r, &j);
    return a;
}

/* For 0.62 of the run, longer than the longest phase: within the phase its own part counts. */
static void what_is_lost_all_the_run_is_answered_for_a_phase_of_it(void **state) {
    struct process two[] = {{"train", 0.2, 0.02, 0, 20, 0.04}, {"train", 0.36, 0.62, 0, 20, 0.04}};
    struct whatif_scenario s = {
        .kind = WHATIF_WITHOUT, .host = 1, .rank = -1, .term = BUDGET_RUN_QUEUE, .factor = 1};
    struct whatif_answer a;
    struct recording r;
    struct judged j;
    (void)state;
    plant_job(&r, two, 2);
    plant_mark(&r, MARK_PHASE, "first", -1, 0, 0, 0, 7);
    plant_mark(&r, MARK_PHASE, "second", -1, 0, 0, 7, 5);
    judge(&r, &j);
    assert_int_equal(whatif_ask(j.whatif, &s, 1, &a), 0);
    assert_true(a.counted && a.measured_s < 7.5);
    assert_true(fabs(a.gain - 0.6) < 0.04 && fabs(a.run_gain - 0.6) < 0.04);
    assert_true(fabs(j.verdict.gain - a.run_gain) < 1e-9);
    assert_int_equal(j.verdict.state, VERDICT_SATURATED);
    release(&r, &j);
}

/* Off its core for 0.36 of the time, for 0.04 of which it had data under way. */
static void a_sleep_that_the_others_wait_for_is_answered_by_what_if(void **state) {
    struct process two[] = {{"train", 0.58, 0.04, 0, 20, 0.04}, {"train", 0.6, 0.04, 0, 20, 0.2}};
    struct whatif_scenario s = {
        .kind = WHATIF_WITHOUT, .host = 1, .rank = -1, .term = BUDGET_IDLE, .factor = 1};
    struct whatif_answer a;
    (void)state;
    a = ask_of(two, s);
    assert_true(a.counted && fabs(a.gain - 0.34) < 0.02);
    s.host = 0;
    assert_false(ask_of(two, s).counted);
    s.host = -1;
    assert_false(ask_of(two, s).counted);
}

static void who_has_more_to_compute_without_ranks_is_answered_by_its_host(void **state) {
    struct process two[] = {{"train", 0.66, 0, 0, 20, 0.02}, {"train", 0.97, 0.02, 0, 20, 0.08}};
    struct process late[] = {{"train", 0.5, 0, 0, 20, 0.02}, {"train", 0.8, 0, 0, 20, 0.12}};
    struct whatif_scenario s = {.kind = WHATIF_LIKE_PEERS, .host = 1, .rank = -1, .factor = 1};
    (void)state;
    struct whatif_answer a = ask_of(two, s);
    assert_true(a.counted && fabs(a.gain - 0.31) < 0.02);
    a = ask_of(late, s); /* it waits, but data also wait for it */
    assert_true(a.counted && fabs(a.gain - 0.3) < 0.02);
    s.host = 0;
    assert_false(ask_of(two, s).counted);
}

/* ---- the start ---- */

static double started_now = 1.5; /* s: it exchanges data from then on */
static double loading_now;       /* host 0 waits for its disk at first, and the job exchanges
                                    nothing */

static double pressure_at(size_t column, double t_s) {
    return column == PSI_SOME && host_now == 0 && t_s < loading_now ? 0.9e9 : 0;
}
static double reading_at(size_t column, double t_s) {
    if (column == PROCESS_BLOCK_IO)
        return host_now == 0 && t_s < loading_now ? 0.9e9 : 0;
    return column == PROCESS_USER ? (t_s < loading_now ? 0.1e9 : 0.9e9) : process_of(column, t_s);
}
static double exchange_at(size_t column, double t_s) {
    return column == CONNECTION_SEND_BYTES && t_s < started_now ? 0 : connection_of(column, t_s);
}
static double net_at(size_t column, double t_s) {
    (void)column;
    return t_s < started_now ? 0 : 20e6;
}

static void plant_loading(struct recording *r, double seconds) {
    const char *const ends[] = {"10.0.0.1:5001>10.0.0.2:6000", "10.0.0.2:6000>10.0.0.1:5001"};
    loading_now = seconds;
    shares_now = (struct shares){0};
    sent_now = 20;
    under_way_now = 0.02;
    plant_init(r, 2, SECONDS);
    for (host_now = 0; host_now < 2; host_now++) {
        plant(r, RECORDING_CPU, host_now, "cpu0", 0.1, 0, quiet_cpu);
        plant(r, RECORDING_NET, host_now, "eth0", 0.1, 0, net_at);
        plant(r, RECORDING_PSI, host_now, "io", 0.1, 0, pressure_at);
        plant(r, RECORDING_PROCESS, host_now, host_now ? "train[1001]" : "train[1000]", 0.1,
              PROCESS_LEVELS, reading_at);
        plant(r, RECORDING_CONNECTION, host_now, ends[host_now], 1, CONNECTION_LEVELS, exchange_at);
    }
}

static void what_a_host_waited_for_while_the_program_was_loaded_is_told_only(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_loading(&r, 1.2);
    judge(&r, &j);
    assert_true(blames_nobody(&j.verdict));
    assert_true(j.candidates.n == 1 && j.candidates.items[0].fallback);
    assert_true(any_says(&j.words.ruled_out, "vm1 waited for it about 1.1 s of the first 1.5 s"));
    release(&r, &j);
}

static void connections_made_before_the_program_is_loaded_do_not_end_its_start(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    started_now = 0.2;
    plant_loading(&r, 1.2);
    judge(&r, &j);
    started_now = 1.5;
    assert_true(blames_nobody(&j.verdict));
    assert_true(j.candidates.n == 1 && j.candidates.items[0].fallback);
    assert_true(any_says(&j.words.ruled_out, "disk-throttle: vm1 waited for it in the first"));
    release(&r, &j);
}

/* The exchange of data continues meanwhile. */
static void what_it_waits_for_later_is_blamed(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_loading(&r, 4);
    judge(&r, &j);
    assert_string_equal(resource_name(j.verdict.resource), "disk-throttle");
    assert_int_equal(j.verdict.host, 0);
    release(&r, &j);
}

/* All are off their cores alike, and nothing shows who waits for whom. */
static void waiting_that_no_connection_explains_is_nobody_s(void **state) {
    struct process alike[] = {{"train", 0.6, 0.04, 0, 20, 0.1}, {"train", 0.6, 0.15, 0, 20, 0.12}};
    struct process quick[] = {{"train", 0.6, 0.04, 0, 20, 0.001}, {"train", 0.6, 0, 0, 20, 0.03}};
    (void)state;
    expect_of(alike, 2, NULL, -1);
    expect_of(quick, 2, NULL, -1);
}

/* Data wait for it, too, but the other process is the one that never waits. */
static void who_waits_for_a_busy_one_does_not_sleep(void **state) {
    struct process two[] = {{"train", 0.98, 0, 0, 20, 0.03}, {"train", 0.9, 0, 0, 20, 0.12}};
    (void)state;
    two[1].cpu = 0.88;
    expect_of(two, 2, NULL, -1);
}

static void a_process_that_reads_a_disk_does_not_sleep(void **state) {
    struct process two[] = {{"train", 0.6, 0, 0, 20, 0.03}, {"train", 0.6, 0, 0.38, 20, 0.12}};
    struct recording r;
    struct judged j;
    (void)state;
    plant_job(&r, two, 2);
    judge(&r, &j);
    assert_string_not_equal(resource_name(j.verdict.resource), "application");
    release(&r, &j);
}

/* ---- ranks without calls ---- */

static double ranked_process(size_t column, double t_s) {
    return column == PROCESS_RANK ? host_now : process_of(column, t_s);
}

static double busy_rank(size_t column, double t_s) {
    (void)t_s;
    return column == RANK_PID ? PID + host_now : column == RANK_RUN ? shares_now.cpu * 1e9 : 0;
}

/* A run of 3 s: processes were sampled at 0.4 s and 1.4 s, ranks until their end at 2.7 s. */
static void what_ranks_did_since_processes_were_sampled_last_counts(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_hosts(&r, 2, 3);
    shares_now = (struct shares){.cpu = 0.97};
    for (host_now = 0; host_now < 2; host_now++) {
        plant_part(&r, RECORDING_PROCESS, host_now, 1 + host_now, "train", 1, 0.4, 1.4,
                   PROCESS_LEVELS, ranked_process);
        plant_part(&r, RECORDING_RANK, host_now, 1 + host_now, "rank", 0.1, 0.4, 2.7,
                   1u << RANK_PID, busy_rank);
    }
    judge(&r, &j);
    assert_true(blames_nobody(&j.verdict));
    assert_non_null(strstr(j.words.summary, "run 97 % of the time"));
    release(&r, &j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sleeper_is_no_riddle),
        cmocka_unit_test(a_core_that_the_user_of_a_gpu_burns_is_no_evidence_of_computing),
        cmocka_unit_test(a_core_that_others_have_stays_what_the_user_of_a_gpu_waits_for),
        cmocka_unit_test(a_link_that_all_wait_for_is_answered_by_what_if),
        cmocka_unit_test(a_quota_for_who_never_waits_is_answered_by_what_if),
        cmocka_unit_test(who_has_more_than_several_peers_is_told_twice_over),
        cmocka_unit_test(equal_shares_of_the_work_are_balanced),
        cmocka_unit_test(who_computes_more_and_never_waits_is_waited_for),
        cmocka_unit_test(an_interval_that_says_no_more_is_not_told),
        cmocka_unit_test(what_a_peer_computes_less_for_want_of_a_core_is_no_imbalance),
        cmocka_unit_test(what_the_kernel_does_for_one_is_no_more_to_compute),
        cmocka_unit_test(a_queue_as_long_as_that_of_its_peers_is_its_own),
        cmocka_unit_test(a_server_and_its_client_are_no_peers),
        cmocka_unit_test(another_program_and_one_apart_are_no_peers),
        cmocka_unit_test(data_that_wait_for_one_that_is_off_its_core_tell_that_it_sleeps),
        cmocka_unit_test(a_sleeper_that_queues_for_its_own_threads_is_not_short_of_a_core),
        cmocka_unit_test(a_sleeper_may_compute_a_little_more),
        cmocka_unit_test(threads_that_wait_for_their_own_process_make_it_wait_for_nobody),
        cmocka_unit_test(threads_that_wait_for_each_other_for_a_third_of_the_time_want_no_core),
        cmocka_unit_test(what_comes_for_one_that_computes_tells_that_it_slept_before),
        cmocka_unit_test(processes_that_come_and_go_are_counted_by_their_parents),
        cmocka_unit_test(what_is_lost_all_the_run_is_answered_for_a_phase_of_it),
        cmocka_unit_test(a_sleep_that_the_others_wait_for_is_answered_by_what_if),
        cmocka_unit_test(who_has_more_to_compute_without_ranks_is_answered_by_its_host),
        cmocka_unit_test(what_a_host_waited_for_while_the_program_was_loaded_is_told_only),
        cmocka_unit_test(connections_made_before_the_program_is_loaded_do_not_end_its_start),
        cmocka_unit_test(what_it_waits_for_later_is_blamed),
        cmocka_unit_test(waiting_that_no_connection_explains_is_nobody_s),
        cmocka_unit_test(who_waits_for_a_busy_one_does_not_sleep),
        cmocka_unit_test(nothing_is_advised_that_is_of_mpi_or_was_refused),
        cmocka_unit_test(a_process_that_reads_a_disk_does_not_sleep),
        cmocka_unit_test(what_ranks_did_since_processes_were_sampled_last_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
