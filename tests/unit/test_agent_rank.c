/* SPDX-License-Identifier: MIT */
/* Reasons why ranks do not run: planted in a tree of files, and compared with this machine's
 * kernel.
 */
#include "tests/unit/probe_test.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "agent/probes/rank.h"

#define STAT                                                                                       \
    "%d (solver) %c 1 1 1 0 -1 4194560 %d 0 %d 0 %d 0 0 0 20 0 %d 0 5000 1000000 321 "             \
    "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 %d 0 0 %d 0 0\n"

static int user_ticks; /* ticks of all processes */
static char state_now = 'S';

static void write_stat(const struct tree *tree, int pid, int threads, int minor, int major, int cpu,
                       int block_ticks) {
    char name[64], text[512];
    snprintf(name, sizeof name, "proc/%d/stat", pid);
    snprintf(text, sizeof text, STAT, pid, state_now, minor, major, user_ticks, threads, cpu,
             block_ticks);
    tree_write(tree, name, text);
}

static void write_thread(const struct tree *tree, int pid, int tid, int64_t run, int64_t wait) {
    char name[64], text[128];
    snprintf(name, sizeof name, "proc/%d/task/%d/schedstat", pid, tid);
    snprintf(text, sizeof text, "%lld %lld 7\n", (long long)run, (long long)wait);
    tree_write(tree, name, text);
}

static void end_thread(const struct tree *tree, int pid, int tid) {
    char name[256];
    snprintf(name, sizeof name, "%s/proc/%d/task/%d", tree->path, pid, tid);
    run_command("rm -r %s%s", name, "");
}

static void set_job(struct harness *h, size_t n, const struct job_process *processes) {
    for (size_t i = 0; i < n; i++)
        job_set(&h->job, i, &processes[i]);
    job_end(&h->job, n);
}

static void start(struct harness *h, const struct tree *tree) {
    assert_int_equal(harness_init(h, tree ? tree->path : "", SCOPE_HOST), 0);
    h->env.run_token_id = "run";
    assert_int_equal(harness_open(h, &probe_rank), 0);
}

static void a_rank_is_the_sum_of_its_threads(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, "debian12-vm");
    tree_write(&tree, "proc/sys/kernel/task_delayacct", "1\n");
    write_stat(&tree, 70, 2, 100, 3, 1, 25);
    write_thread(&tree, 70, 70, 5000, 400);
    write_thread(&tree, 70, 71, 300, 20);
    start(&h, &tree);
    assert_int_equal(harness_sample_at(&h, 10 * S), 0);
    assert_int_equal(h.rows.n, 0);
    set_job(&h, 2, (struct job_process[]){{69, -1, 5, ""}, {70, 3, 5, ""}});
    assert_int_equal(harness_sample_at(&h, 11 * S), 0);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "rank 3 [70]", "rank", 3);
    expect(&h, "rank 3 [70]", "pid", 70);
    expect(&h, "rank 3 [70]", "threads", 2);
    expect(&h, "rank 3 [70]", "cpu", 1);
    expect(&h, "rank 3 [70]", "run_ns", 5300);
    expect(&h, "rank 3 [70]", "run_queue_ns", 420);
    expect(&h, "rank 3 [70]", "block_io_ns", 250000000);
    expect(&h, "rank 3 [70]", "minor_faults", 100);
    expect(&h, "rank 3 [70]", "major_faults", 3);
    expect(&h, "rank 3 [70]", "rss_bytes", 321 * (int64_t)h.env.page_size);
    /* One thread runs on, one ends, one starts. */
    write_thread(&tree, 70, 70, 6000, 500);
    end_thread(&tree, 70, 71);
    write_thread(&tree, 70, 72, 50, 5);
    write_stat(&tree, 70, 3, 100, 3, 0, 26); /* the number tells it */
    assert_int_equal(harness_sample_at(&h, 12 * S), 0);
    expect(&h, "rank 3 [70]", "cpu", 0);
    expect(&h, "rank 3 [70]", "run_ns", 6350);
    expect(&h, "rank 3 [70]", "run_queue_ns", 525);
    expect(&h, "rank 3 [70]", "longest_run_ns", 5000 + 1000); /* always the first one */
    expect(&h, "rank 3 [70]", "block_io_ns", 260000000);
    harness_close(&h);
    tree_remove(&tree);
}

/* One thread ran since it was last read, and ended: 20 ms of the process's sum are its own. */
static void what_threads_ran_before_they_ended_is_not_lost(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, "debian12-vm");
    write_stat(&tree, 70, 2, 0, 0, 0, 0);
    write_thread(&tree, 70, 70, 10000000, 0);
    write_thread(&tree, 70, 71, 5000000, 0);
    start(&h, &tree);
    set_job(&h, 1, (struct job_process[]){{70, 3, 5, ""}});
    assert_int_equal(harness_sample_at(&h, 11 * S), 0);
    expect(&h, "rank 3 [70]", "run_ns", 15000000);
    expect(&h, "rank 3 [70]", "longest_run_ns", 10000000);
    end_thread(&tree, 70, 71);
    write_thread(&tree, 70, 70, 25000000, 0);
    user_ticks = 5;
    write_stat(&tree, 70, 1, 0, 0, 0, 0);
    user_ticks = 0;
    assert_int_equal(harness_sample_at(&h, 12 * S), 0);
    expect(&h, "rank 3 [70]", "run_ns", 50000000);
    expect(&h, "rank 3 [70]", "longest_run_ns", 10000000 + 15000000 + 20000000);
    harness_close(&h);
    tree_remove(&tree);
}

static void a_successor_with_the_same_id_begins_anew(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, "debian12-vm");
    write_stat(&tree, 70, 1, 0, 0, 0, 0);
    write_thread(&tree, 70, 70, 5000, 400);
    start(&h, &tree);
    set_job(&h, 1, (struct job_process[]){{70, 3, 5, ""}});
    assert_int_equal(harness_sample_at(&h, 11 * S), 0);
    expect(&h, "rank 3 [70]", "run_ns", 5000);
    run_command("rm -r %s/proc/%s", tree.path, "70");
    write_stat(&tree, 70, 1, 0, 0, 0, 0);
    write_thread(&tree, 70, 70, 100, 4);
    set_job(&h, 1, (struct job_process[]){{70, 1, 900, ""}});
    assert_int_equal(harness_sample_at(&h, 12 * S), 0);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "rank 1 [70]", "run_ns", 100);
    expect(&h, "rank 1 [70]", "run_queue_ns", 4);
    set_job(&h, 0, NULL);
    assert_int_equal(harness_sample_at(&h, 13 * S), 0);
    assert_int_equal(h.rows.n, 0);
    harness_close(&h);
    tree_remove(&tree);
}

static void more_threads_than_can_be_watched_make_a_sum_unknown(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, "debian12-vm");
    write_stat(&tree, 70, RANK_THREADS_MAX + 1, 9, 0, 0, 0);
    for (int i = 0; i <= RANK_THREADS_MAX; i++)
        write_thread(&tree, 70, 70 + i, 10, 1);
    write_stat(&tree, 60, 1, 0, 0, 0, 0);
    write_thread(&tree, 60, 60, 77, 7);
    start(&h, &tree);
    set_job(&h, 2, (struct job_process[]){{60, 0, 5, ""}, {70, 1, 5, ""}});
    assert_int_equal(harness_sample_at(&h, 11 * S), 0);
    expect(&h, "rank 0 [60]", "run_ns", 77);
    expect_absent(&h, "rank 1 [70]", "run_ns");
    expect_absent(&h, "rank 1 [70]", "run_queue_ns");
    expect(&h, "rank 1 [70]", "minor_faults", 9);
    harness_close(&h);
    tree_remove(&tree);
}

static void hostile_files_make_values_absent(void **state) {
    static const char *const texts[] = {"", "x", "5", "5 6", "99999999999999999999 1 1\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tree tree;
        struct harness h;
        tree_make(&tree, "debian12-vm");
        write_stat(&tree, 70, 1, 0, 0, 0, 0);
        tree_write(&tree, "proc/70/task/70/schedstat", texts[i]);
        start(&h, &tree);
        set_job(&h, 1, (struct job_process[]){{70, 0, 5, ""}});
        assert_int_equal(harness_sample_at(&h, 11 * S), 0);
        expect_absent(&h, "rank 0 [70]", "run_ns");
        tree_write(&tree, "proc/70/stat", texts[i]);
        assert_int_equal(harness_sample_at(&h, 12 * S), 0);
        assert_int_equal(h.rows.n, 0);
        harness_close(&h);
        tree_remove(&tree);
    }
}

static void count_note(void *ctx, enum note_level level, const char *subject, const char *text) {
    assert_int_equal(level, NOTE_INFO);
    assert_string_equal(subject, "rank");
    assert_non_null(strstr(text, "sysctl kernel.task_delayacct=1"));
    assert_true(strlen(subject) + 2 + strlen(text) <= INSTANCE_MAX);
    ++*(int *)ctx;
}

static void delays_that_are_not_accounted_are_unknown_and_said_once(void **state) {
    struct tree tree;
    struct harness h;
    int n = 0;
    (void)state;
    tree_make(&tree, "debian12-vm");
    tree_write(&tree, "proc/sys/kernel/task_delayacct", "0\n");
    write_stat(&tree, 70, 1, 0, 0, 0, 25);
    write_thread(&tree, 70, 70, 5000, 400);
    start(&h, &tree);
    h.env.note = count_note;
    h.env.note_ctx = &n;
    assert_int_equal(harness_sample_at(&h, 10 * S), 0);
    assert_int_equal(n, 0); /* no rank, so nothing is missed */
    set_job(&h, 1, (struct job_process[]){{70, 0, 5, ""}});
    assert_int_equal(harness_sample_at(&h, 11 * S), 0);
    assert_int_equal(harness_sample_at(&h, 12 * S), 0);
    assert_int_equal(n, 1);
    expect_absent(&h, "rank 0 [70]", "block_io_ns");
    harness_close(&h);
    tree_remove(&tree);
}

/* A child that uses 100 ms of CPU time and then stops. */
static void run_time_is_what_the_kernel_counts(void **state) {
    struct harness h;
    struct timespec used;
    clockid_t clock;
    int status;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < 100 * NS_PER_MS)
            ;
        raise(SIGSTOP);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
    assert_true(WIFSTOPPED(status));
    start(&h, NULL);
    set_job(&h, 1, (struct job_process[]){{pid, 0, 5, ""}});
    assert_int_equal(harness_sample(&h), 0);
    assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
    assert_int_equal(clock_gettime(clock, &used), 0);
    char name[32];
    snprintf(name, sizeof name, "rank 0 [%d]", pid);
    int64_t run_ns = harness_value(&h, name, "run_ns"),
            used_ns = (int64_t)used.tv_sec * NS_PER_S + used.tv_nsec;
    assert_true(used_ns >= 100 * NS_PER_MS);
    assert_in_range(run_ns, used_ns - NS_PER_MS, used_ns + NS_PER_MS);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    harness_close(&h);
}

static void time_in_which_a_rank_was_stopped_is_counted(void **state) {
    static const char states[] = "TSRTTtSDZ";
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, "debian12-vm");
    write_thread(&tree, 70, 70, 5000, 0);
    start(&h, &tree);
    set_job(&h, 1, (struct job_process[]){{70, 3, 5, ""}});
    for (int i = 0; states[i]; i++) { /* the length of the first stop is not known */
        state_now = states[i];
        write_stat(&tree, 70, 1, 0, 0, 0, 0);
        assert_int_equal(harness_sample_at(&h, (101 + i) * S), 0);
        expect(&h, "rank 3 [70]", "stopped_ns", (i < 3 ? 0 : i < 6 ? i - 2 : 3) * S);
    }
    state_now = 'S';
    harness_close(&h);
    tree_remove(&tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_is_the_sum_of_its_threads),
        cmocka_unit_test(what_threads_ran_before_they_ended_is_not_lost),
        cmocka_unit_test(a_successor_with_the_same_id_begins_anew),
        cmocka_unit_test(more_threads_than_can_be_watched_make_a_sum_unknown),
        cmocka_unit_test(hostile_files_make_values_absent),
        cmocka_unit_test(delays_that_are_not_accounted_are_unknown_and_said_once),
        cmocka_unit_test(time_in_which_a_rank_was_stopped_is_counted),
        cmocka_unit_test(run_time_is_what_the_kernel_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
