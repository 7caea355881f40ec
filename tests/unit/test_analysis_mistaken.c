/* SPDX-License-Identifier: MIT */
/* Mechanisms that once misled verdicts, each alone: the verdict, its sentence and its advice.
 * tests/README.md lists all.
 */
#include "tests/unit/counted_process.h"

#include "analysis/gain/whatif.h"

/* ---- the gain and its command ---- */

/* The next step that is a question, or NULL. */
static const char *asked_by(const struct verdict_words *v) {
    for (size_t i = 0; i < v->next.n; i++) {
        const char *words = strstr(v->next.items[i], "`chokepoint whatif ");
        if (words)
            return words;
    }
    return NULL;
}

/* A fault of rank 1, and the command that removes it. */
static void a_verdict_gains_what_the_command_it_prints_answers(void **state) {
    static const struct {
        struct trouble trouble;
        const char *command;
        struct whatif_scenario scenario;
    } cases[] = {{{.work = 1.5},
                  "`chokepoint whatif last --without-straggler 1`",
                  {.kind = WHATIF_LIKE_PEERS, .host = 1, .rank = 1, .factor = 1}},
                 {{.asleep = 0.02},
                  "`chokepoint whatif last --without vm2:sleep`",
                  {.kind = WHATIF_WITHOUT, .host = 1, .rank = -1, .term = BUDGET_IDLE}},
                 {{.queue = 0.03},
                  "`chokepoint whatif last --without vm2:contention`",
                  {.kind = WHATIF_WITHOUT, .host = 1, .rank = -1, .term = BUDGET_RUN_QUEUE}},
                 {{.queue = 0.03, .throttled = true},
                  "`chokepoint whatif last --without vm2:quota`",
                  {.kind = WHATIF_WITHOUT, .host = 1, .rank = -1, .term = BUDGET_QUOTA}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct recording r;
        struct judged j;
        struct whatif_answer a;
        plant_lockstep(&r, 3, cases[i].trouble);
        judge(&r, &j);
        assert_int_equal(j.verdict.state, VERDICT_SATURATED);
        assert_string_equal(asked_by(&j.words), cases[i].command);
        assert_int_equal(whatif_ask(j.whatif, &cases[i].scenario, 1, &a), 0);
        assert_true(a.replayed && fabs(a.run_gain - j.verdict.gain) < 1e-9);
        assert_true(a.run_gain >= 0.05);
        release(&r, &j);
    }
}

/* ---- one core ---- */

static double full_core(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER ? 1e9 : 0;
}
static double other_core(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_IDLE ? 1e9 : 0;
}

/* Equal processes without MPI on the cores of one host. */
static void plant_alike(struct recording *r, int n, struct shares shares, int cores) {
    plant_init(r, 1, SECONDS);
    for (int i = 0; i < cores; i++) {
        char name[16];
        snprintf(name, sizeof name, "cpu%d", i);
        plant(r, RECORDING_CPU, 0, name, 0.1, 0, i < n * shares.cpu ? full_core : other_core);
    }
    shares_now = shares;
    for (host_now = 0; host_now < n; host_now++) { /* here the process's index */
        char name[32];
        snprintf(name, sizeof name, "work[%d]", PID + host_now);
        plant(r, RECORDING_PROCESS, 0, name, 1, PROCESS_LEVELS, process_of);
    }
}

static void one_thread_beside_an_idle_core_is_limited_by_its_core(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    threads_now = 1;
    plant_alike(&r, 1, (struct shares){.cpu = 0.98}, 2);
    judge(&r, &j);
    threads_now = 0;
    assert_int_equal(j.verdict.kind, CAUSE_SINGLE_THREAD);
    assert_int_equal(j.verdict.subject, SUBJECT_CORE);
    assert_int_equal(j.verdict.state, VERDICT_SATURATED);
    assert_true(any_says(&j.words.next, "divide the work among threads or processes"));
    release(&r, &j);
}

/* Four processes on two cores compute as much as the cores can: fewer would not be faster. */
static void processes_that_fill_all_cores_are_limited_by_them_not_by_their_number(void **state) {
    struct whatif_scenario twice = {.kind = WHATIF_CPU, .host = -1, .rank = -1, .factor = 2};
    struct whatif_answer a;
    struct recording r;
    struct judged j;
    (void)state;
    threads_now = 1;
    plant_alike(&r, 4, (struct shares){.cpu = 0.49, .queue = 0.5}, 2);
    judge(&r, &j);
    threads_now = 0;
    assert_int_equal(j.verdict.state, VERDICT_SATURATED);
    assert_int_equal(j.verdict.kind, CAUSE_COMPUTE_BOUND);
    assert_int_equal(j.verdict.subject, SUBJECT_ALL_HOSTS);
    assert_true(fabs(j.verdict.gain - 0.495) < 0.01);
    assert_int_equal(whatif_ask(j.whatif, &twice, 1, &a), 0);
    assert_true(a.counted && fabs(a.run_gain - j.verdict.gain) < 1e-9);
    assert_false(any_says(&j.words.next, "ranks or threads than"));
    release(&r, &j);
}

/* ---- a disk that only the host counts ---- */

static double waiting_share;
static double waited_for_io(size_t column, double t_s) {
    (void)t_s;
    return column == PSI_SOME ? waiting_share * 1e9 : 0;
}
static double busy_disk(size_t column, double t_s) {
    (void)t_s;
    return column == DISK_BUSY ? 0.9e9 : 1e6;
}
static double writing(size_t column, double t_s) {
    return column == PROCESS_WRITE ? 4e6 : process_of(column, t_s);
}

/* The kernel counts no disk waits of processes: the one that writes slept while its host waited. */
static void a_process_that_writes_waits_for_its_disk_for_as_long_as_its_host_does(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_init(&r, 1, SECONDS);
    waiting_share = 0.78;
    plant(&r, RECORDING_CPU, 0, "cpu0", 0.1, 0, other_core);
    plant(&r, RECORDING_PSI, 0, "io", 0.1, 0, waited_for_io);
    plant(&r, RECORDING_DISK, 0, "sda", 0.1, 0, busy_disk);
    shares_now = (struct shares){.cpu = 0.1};
    host_now = 0;
    plant(&r, RECORDING_PROCESS, 0, "sync[1000]", 1, PROCESS_LEVELS, writing);
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_SUSPECTED);
    assert_string_equal(resource_name(j.verdict.resource), "disk");
    assert_true(fabs(j.candidates.items[0].blocked - 0.78) < 0.02);
    assert_non_null(strstr(j.words.summary, "78 %"));
    release(&r, &j);
}

/* ---- who has the core ---- */

/* Also with names of launchers and of the profiler. */
static void a_culprit_is_told_by_what_it_takes_not_by_its_name(void **state) {
    static const char *const names[] = {"chokepoint[77]", "orted[77]", "mpirun[77]", "ssh[77]"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct recording r;
        struct judged j;
        plant_lockstep(&r, 3, (struct trouble){.queue = 0.03});
        plant_process(&r, 1, names[i], (struct plant_process){-1, 0.4, 0.3, 0});
        judge(&r, &j);
        expect(&j, "cpu", "contention", 1);
        assert_string_equal(j.verdict.culprit, names[i]);
        release(&r, &j);
    }
}

/* Programs that do not live long enough to be seen, on one host. */
static void a_core_that_outsiders_had_unseen_is_no_reason_for_fewer_ranks(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_lockstep(&r, 3, (struct trouble){.queue = 0.03});
    plant(&r, RECORDING_CPU, 1, "cpu1", 0.1, 0, full_core);
    judge(&r, &j);
    expect(&j, "cpu", "contention", 1);
    assert_null(j.verdict.culprit);
    assert_string_equal(j.words.cause, "contention with other programs");
    assert_true(any_says(&j.words.evidence, "programs outside the job used"));
    assert_true(any_says(&j.words.next, "see who else computes on that host"));
    assert_false(any_says(&j.words.next, "ranks or threads than"));
    release(&r, &j);
}

/* It is off its core for most of the time, but asleep; the other one is short of a core. */
static void who_sleeps_is_not_the_one_that_lacks_a_core(void **state) {
    static const struct shares of[] = {{.cpu = 0.44}, {.cpu = 0.45, .queue = 0.51}};
    struct recording r;
    struct judged j;
    (void)state;
    threads_now = 1;
    plant_hosts(&r, 2, SECONDS);
    plant(&r, RECORDING_CPU, 1, "cpu1", 0.1, 0, full_core);
    for (host_now = 0; host_now < 2; host_now++) {
        shares_now = of[host_now];
        plant(&r, RECORDING_PROCESS, host_now, host_now ? "load[1001]" : "load[1000]", 1,
              PROCESS_LEVELS, process_of);
    }
    judge(&r, &j);
    threads_now = 0;
    assert_true(verdict_blames(j.verdict.state));
    assert_string_equal(resource_name(j.verdict.resource), "cpu");
    assert_int_equal(j.verdict.host, 1);
    assert_int_equal(j.candidates.items[0].host, 1);
    assert_true(fabs(j.candidates.items[0].blocked - 0.51) < 0.02);
    release(&r, &j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verdict_gains_what_the_command_it_prints_answers),
        cmocka_unit_test(one_thread_beside_an_idle_core_is_limited_by_its_core),
        cmocka_unit_test(processes_that_fill_all_cores_are_limited_by_them_not_by_their_number),
        cmocka_unit_test(a_process_that_writes_waits_for_its_disk_for_as_long_as_its_host_does),
        cmocka_unit_test(a_culprit_is_told_by_what_it_takes_not_by_its_name),
        cmocka_unit_test(a_core_that_outsiders_had_unseen_is_no_reason_for_fewer_ranks),
        cmocka_unit_test(who_sleeps_is_not_the_one_that_lacks_a_core),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
