/* SPDX-License-Identifier: MIT */
/* Processes: their owner and use, from fixtures and from children of this test. */
#include "tests/unit/probe_test.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "agent/base/idmap.h"
#include "agent/base/process_files.h"

static void start_run(struct harness *h, const char *root, enum scope_kind kind, const char *run,
                      int64_t mono_ns) {
    assert_int_equal(harness_init(h, root, kind), 0);
    h->env.run_token_id = run;
    assert_int_equal(harness_open(h, &probe_process), 0);
    assert_int_equal(harness_sample_at(h, mono_ns), 0);
}

/* ---- whole hosts ---- */

static void the_job_is_who_carries_its_run(void **state) {
    struct harness h;
    (void)state;
    start_run(&h, FIXTURES "debian12-vm", SCOPE_HOST, "r1", 1000 * S);
    assert_int_equal(h.rows.n, 3); /* not the agent, its launcher, the other run or the kernel */
    expect(&h, "train[401]", "job", 1);
    expect(&h, "train[401]", "pid", 401);
    expect(&h, "train[401]", "rank", 3);
    expect(&h, "train[403]", "rank", 4);      /* passed on as OMPI_CHOKEPOINT_RUN */
    expect_absent(&h, "mpirun[400]", "rank"); /* it is in a batch step, but no rank */
    harness_close(&h);
    start_run(&h, FIXTURES "debian12-vm", SCOPE_HOST, NULL, 1000 * S);
    assert_int_equal(h.rows.n, 0);
    harness_close(&h);
}

static void a_process_has_all_its_columns(void **state) {
    struct harness h;
    (void)state;
    start_run(&h, FIXTURES "debian12-vm", SCOPE_HOST, "r1", 1000 * S);
    expect(&h, "train[401]", "threads", 2);
    expect(&h, "train[401]", "rss_bytes", 2560 * 4096);
    /* 2005 ms and 1001 ms on a CPU, split in proportion to 200 and 100 ticks */
    expect(&h, "train[401]", "user_ns", 2004000000);
    expect(&h, "train[401]", "system_ns", 1002000000);
    expect(&h, "train[401]", "run_queue_ns", 42000000);
    expect(&h, "train[401]", "minor_faults", 1234);
    expect(&h, "train[401]", "major_faults", 5);
    expect(&h, "train[401]", "read_bytes", 4096000);
    expect(&h, "train[401]", "write_bytes", 8192);
    expect(&h, "train[401]", "block_io_ns", 90000000);
    expect(&h, "train[401]", "voluntary_switches", 47);
    expect(&h, "train[401]", "involuntary_switches", 58);
    expect(&h, "train[401]", "children_ns", 0);
    expect(&h, "mpirun[400]", "children_ns", 70000000); /* 4 and 3 ticks */
    expect_absent(&h, "train[403]", "read_bytes");      /* its io is not readable */
    assert_in_range(harness_value(&h, "train[401]", "start_ns"), 1, 60 * S + S / 5);
    harness_close(&h);
}

static void the_cores_of_all_threads_are_those_of_the_process(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, "debian12-vm");
    tree_write(&tree, "proc/401/task/401/status", "Cpus_allowed:\t4\nCpus_allowed_list:\t2\n");
    tree_write(&tree, "proc/401/task/402/status", "Cpus_allowed_list:\t2,5-6\n");
    tree_write(&tree, "proc/403/task/403/status", "Name:\ttrain\n");
    start_run(&h, tree.path, SCOPE_HOST, "r1", 1000 * S);
    expect(&h, "train[401]", "cores", 3);
    expect(&h, "train[401]", "first_core", 2);
    expect_absent(&h, "train[403]", "cores");
    harness_close(&h);
    tree_remove(&tree);
}

static void only_collectors_of_garbage_are_told_by_their_names(void **state) {
    static const char *const others[] = {"VM Thread\n", "GC\n", "train\n", "C2 CompilerThre\n"};
    static const char *const names[] = {"GC Thread#0\n", "G1 Conc#0\n", "Shenandoah GC T\n",
                                        ".NET Server GC\n"};
    struct tree tree;
    struct harness h;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        tree_make(&tree, "debian12-vm");
        tree_write(&tree, "proc/401/task/402/comm", names[i]);
        start_run(&h, tree.path, SCOPE_HOST, "r1", 1000 * S);
        expect(&h, "train[401]", "collector_ns", 1001000000); /* of the second thread alone */
        expect_absent(&h, "train[403]", "collector_ns");
        harness_close(&h);
        tree_write(&tree, "proc/401/task/402/comm", others[i]);
        start_run(&h, tree.path, SCOPE_HOST, "r1", 1000 * S);
        expect_absent(&h, "train[401]", "collector_ns");
        harness_close(&h);
        tree_remove(&tree);
    }
}

static void without_delay_accounting_disk_waits_are_unknown(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, "debian12-vm");
    tree_write(&tree, "proc/sys/kernel/task_delayacct", "0\n");
    start_run(&h, tree.path, SCOPE_HOST, "r1", 1000 * S);
    expect_absent(&h, "train[401]", "block_io_ns");
    tree_write(&tree, "proc/sys/kernel/task_delayacct", "1\n");
    assert_int_equal(harness_sample_at(&h, 1001 * S), 0);
    expect(&h, "train[401]", "block_io_ns", 90000000);
    harness_close(&h);
    tree_remove(&tree);
}

static void an_old_kernel_has_neither_delays_nor_switches(void **state) {
    struct harness h;
    (void)state;
    start_run(&h, FIXTURES "old-kernel", SCOPE_HOST, "r1", 1000 * S);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "train[51]", "user_ns", 100000000);
    expect(&h, "train[51]", "system_ns", 50000000);
    expect_absent(&h, "train[51]", "run_queue_ns");
    expect_absent(&h, "train[51]", "block_io_ns");
    expect_absent(&h, "train[51]", "voluntary_switches");
    harness_close(&h);
}

static void processes_of_other_groups_are_not_of_this_host(void **state) {
    struct harness h;
    (void)state;
    start_run(&h, FIXTURES "cgroup-v1", SCOPE_CGROUP, "r1", 1000 * S);
    assert_int_equal(h.rows.n, 2);
    assert_non_null(harness_row(&h, "inside[10]"));
    assert_non_null(harness_row(&h, "below[11]"));
    harness_close(&h);
    start_run(&h, FIXTURES "cgroup-v2", SCOPE_CGROUP, "r1", 1000 * S);
    assert_int_equal(h.rows.n, 1);
    assert_non_null(harness_row(&h, "inside[10]"));
    harness_close(&h);
    start_run(&h, FIXTURES "cgroup-v1", SCOPE_HOST, "r1", 1000 * S);
    assert_int_equal(h.rows.n, 4);
    harness_close(&h);
}

static void hostile_processes_cost_only_themselves(void **state) {
    struct harness h;
    (void)state;
    start_run(&h, FIXTURES "hostile", SCOPE_HOST, "r1", 1000 * S);
    assert_int_equal(h.rows.n, 2);
    expect(&h, "a) R (b??? [7]) x[20]", "user_ns", 100000000);
    expect_absent(&h, "a) R (b??? [7]) x[20]", "rank"); /* -4, 99999999999, and one cut off */
    expect(&h, "[25]", "job", 1);
    expect_absent(&h, "[25]", "user_ns");
    expect_absent(&h, "[25]", "rss_bytes");
    expect_absent(&h, "[25]", "start_ns");
    harness_close(&h);
}

/* ---- growth, births and ends ---- */

static void write_process(const struct tree *tree, int pid, const char *comm, int user_ticks,
                          int threads, int start_ticks, bool of_job) {
    char name[64], text[512];
    snprintf(name, sizeof name, "proc/%d/stat", pid);
    snprintf(text, sizeof text,
             "%d (%s) S 1 1 1 0 -1 4194560 1 0 0 0 %d 0 0 0 20 0 %d 0 %d 1 1 1 1 1 0 0 0 0 0 0 0 0 "
             "0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             pid, comm, user_ticks, threads, start_ticks);
    tree_write(tree, name, text);
    snprintf(name, sizeof name, "proc/%d/environ", pid);
    tree_write(tree, name, "");
    char path[160];
    snprintf(path, sizeof path, "%s/%s", tree->path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    if (of_job)
        fwrite("CHOKEPOINT_RUN=r1", 1, sizeof "CHOKEPOINT_RUN=r1", file);
    fclose(file);
}

static void write_thread(const struct tree *tree, int pid, int tid, int64_t run_ns,
                         int64_t wait_ns) {
    char name[64], text[64];
    snprintf(name, sizeof name, "proc/%d/task/%d/schedstat", pid, tid);
    snprintf(text, sizeof text, "%lld %lld 3\n", (long long)run_ns, (long long)wait_ns);
    tree_write(tree, name, text);
}

static void an_ended_thread_leaves_its_time_behind(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    write_process(&tree, 7, "train", 300, 2, 100, true);
    write_thread(&tree, 7, 7, S, 10);
    write_thread(&tree, 7, 8, 2 * S, 500);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    expect(&h, "train[7]", "user_ns", 3 * S);
    expect(&h, "train[7]", "run_queue_ns", 510);
    run_command("rm -r %s/proc/7/task/8%s", tree.path, "");
    write_process(&tree, 7, "train", 305, 1, 100, true);
    write_thread(&tree, 7, 7, S + 50000000, 30);
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    expect(&h, "train[7]", "user_ns", 3 * S + 50000000);
    expect(&h, "train[7]", "run_queue_ns", 530);
    write_process(&tree, 7, "train", 305, 2, 100, true); /* a new thread */
    write_thread(&tree, 7, 9, 1000, 70);
    assert_int_equal(harness_sample_at(&h, 102 * S), 0);
    expect(&h, "train[7]", "user_ns", 3 * S + 50001000);
    expect(&h, "train[7]", "run_queue_ns", 600);
    harness_close(&h);
    tree_remove(&tree);
}

static void write_switches(const struct tree *tree, int pid, int voluntary, int io_bytes) {
    char name[64], text[128];
    snprintf(name, sizeof name, "proc/%d/task/%d/status", pid, pid);
    snprintf(text, sizeof text, "voluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t7\n",
             voluntary);
    tree_write(tree, name, text);
    snprintf(name, sizeof name, "proc/%d/io", pid);
    snprintf(text, sizeof text, "read_bytes: %d\nwrite_bytes: 0\n", io_bytes);
    tree_write(tree, name, text);
}

/* Files that cannot have changed are not opened; this one has. */
static void a_thread_that_has_not_run_is_not_read_again(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    write_process(&tree, 7, "train", 100, 1, 100, true);
    write_thread(&tree, 7, 7, S, 10);
    write_switches(&tree, 7, 5, 4096);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    expect(&h, "train[7]", "voluntary_switches", 5);
    expect(&h, "train[7]", "read_bytes", 4096);
    write_switches(&tree, 7, 6, 8192);
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    expect(&h, "train[7]", "voluntary_switches", 5);
    expect(&h, "train[7]", "read_bytes", 4096);
    expect(&h, "train[7]", "run_queue_ns", 10);
    write_thread(&tree, 7, 7, S + 1, 10);
    assert_int_equal(harness_sample_at(&h, 102 * S), 0);
    expect(&h, "train[7]", "voluntary_switches", 6);
    expect(&h, "train[7]", "read_bytes", 8192);
    write_switches(&tree, 7, 9, 8192);
    write_thread(&tree, 7, 7, S + 1, 11); /* it waited for a core */
    assert_int_equal(harness_sample_at(&h, 103 * S), 0);
    expect(&h, "train[7]", "voluntary_switches", 9);
    harness_close(&h);
    tree_remove(&tree);
}

static void a_thread_that_came_and_went_is_made_up_for_by_ticks(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    write_process(&tree, 7, "train", 100, 1, 100, true);
    write_thread(&tree, 7, 7, S + 3000000, 10);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    expect(&h, "train[7]", "user_ns", S + 3000000);
    write_process(&tree, 7, "train", 180, 1, 100, true);
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    expect(&h, "train[7]", "user_ns", S + S * 8 / 10);
    harness_close(&h);
    tree_remove(&tree);
}

static void a_thread_id_may_pass_to_another_process(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    write_process(&tree, 7, "train", 10, 2, 100, true);
    write_thread(&tree, 7, 7, 1000, 10);
    write_thread(&tree, 7, 8, 1000, 20);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    run_command("rm -r %s/proc/7/task/8%s", tree.path, "");
    write_process(&tree, 7, "train", 10, 1, 100, true);
    write_process(&tree, 9, "other", 10, 2, 100, true);
    write_thread(&tree, 9, 9, 1000, 100);
    write_thread(&tree, 9, 8, 2000, 500);
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    expect(&h, "train[7]", "run_queue_ns", 30);
    expect(&h, "other[9]", "run_queue_ns", 600);
    harness_close(&h);
    tree_remove(&tree);
}

static void zeroes_of_a_kernel_without_statistics_are_no_delays(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    write_process(&tree, 7, "train", 300, 1, 100, true);
    write_thread(&tree, 7, 7, 0, 0);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    expect(&h, "train[7]", "user_ns", 3 * S);
    expect_absent(&h, "train[7]", "run_queue_ns");
    harness_close(&h);
    tree_remove(&tree);
}

static bool is_born(const struct harness *h, const char *instance) {
    const struct row *row = harness_row(h, instance);
    assert_non_null(row);
    return row->flags & ROW_BORN;
}

static void a_process_is_born_when_it_started_after_the_previous_sample(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    write_process(&tree, 7, "old", 1, 1, 100, true);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    assert_false(is_born(&h, "old[7]"));
    write_process(&tree, 8, "new", 1, 1, 10050, true);
    write_process(&tree, 9, "moved here", 1, 1, 100, true);
    write_process(&tree, 10, "young", 1, 1, 9900, true); /* but older than the previous sample */
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    assert_false(is_born(&h, "young[10]"));
    assert_false(is_born(&h, "old[7]"));
    assert_true(is_born(&h, "new[8]"));
    assert_false(is_born(&h, "moved here[9]"));
    assert_int_equal(harness_sample_at(&h, 102 * S), 0);
    assert_false(is_born(&h, "new[8]"));
    harness_close(&h);
    tree_remove(&tree);
}

/* Between fork and exec a child looks like its parent; it is examined again while it is young. */
static void a_process_joins_the_job_when_it_calls_exec(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    write_process(&tree, 1, "init", 0, 1, 1, false);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    write_process(&tree, 8, "orted", 0, 1, 10050, false);
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    assert_int_equal(h.rows.n, 0);
    write_process(&tree, 8, "orted", 7, 1, 10050, true); /* still the same name */
    assert_int_equal(harness_sample_at(&h, 102 * S), 0);
    expect(&h, "orted[8]", "job", 1);
    assert_true(is_born(&h, "orted[8]")); /* all its use belongs to the job */
    /* An old process is examined again only if its name changes. */
    write_process(&tree, 9, "sh", 0, 1, 100, false);
    assert_int_equal(harness_sample_at(&h, 103 * S), 0);
    write_process(&tree, 9, "sh", 0, 1, 100, true);
    assert_int_equal(harness_sample_at(&h, 104 * S), 0);
    assert_null(harness_row(&h, "sh[9]"));
    write_process(&tree, 9, "train", 0, 1, 100, true);
    assert_int_equal(harness_sample_at(&h, 105 * S), 0);
    expect(&h, "train[9]", "job", 1);
    harness_close(&h);
    tree_remove(&tree);
}

/* Between two samples a wrapper executes a program: the work of both counts under the old name. */
static void a_renamed_process_has_a_last_row_under_its_old_name(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    write_process(&tree, 7, "sh", 1, 1, 100, true);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    write_process(&tree, 7, "train", 95, 1, 100, true);
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    assert_int_equal(h.rows.n, 2);
    expect(&h, "train[7]", "user_ns", 950000000);
    expect(&h, "sh[7]", "user_ns", 950000000);
    expect(&h, "sh[7]", "job", 1);
    write_process(&tree, 7, "train", 190, 1, 100, true);
    assert_int_equal(harness_sample_at(&h, 102 * S), 0);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "train[7]", "user_ns", 1900000000);
    harness_close(&h);
    tree_remove(&tree);
}

static void a_reused_id_is_another_process(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    write_process(&tree, 7, "train", 500, 1, 100, true);
    write_thread(&tree, 7, 7, 5 * S, 1000);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    write_process(&tree, 7, "train", 1, 1, 10080, true);
    write_thread(&tree, 7, 7, 10000000, 20);
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    assert_int_equal(h.rows.n, 1);
    assert_true(is_born(&h, "train[7]"));
    expect(&h, "train[7]", "user_ns", 10000000);
    expect(&h, "train[7]", "run_queue_ns", 20);
    harness_close(&h);
    tree_remove(&tree);
}

static size_t open_files(void) {
    size_t n = 0;
    DIR *files = opendir("/proc/self/fd");
    while (readdir(files))
        n++;
    closedir(files);
    return n;
}

/* A stat file that stays open is read afresh, closed, and replaced for a successor. */
static void a_kept_descriptor_is_of_one_process_alone(void **state) {
    struct tree tree;
    struct harness h;
    size_t before = open_files();
    (void)state;
    tree_make(&tree, NULL);
    write_process(&tree, 7, "train", 500, 1, 100, true);
    write_process(&tree, 8, "train", 500, 1, 100, true);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    size_t opened = open_files();
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    assert_int_equal(open_files(), opened + 2);
    write_process(&tree, 7, "train", 600, 1, 100, true);
    assert_int_equal(harness_sample_at(&h, 102 * S), 0);
    expect(&h, "train[7]", "user_ns", 6 * S);
    write_process(&tree, 7, "train", 20, 1, 10150, true);
    assert_int_equal(harness_sample_at(&h, 103 * S), 0);
    expect(&h, "train[7]", "user_ns", S / 5);
    char ended[160], elsewhere[160];
    snprintf(ended, sizeof ended, "%s/proc/7", tree.path);
    snprintf(elsewhere, sizeof elsewhere, "%s/before", tree.path);
    assert_int_equal(rename(ended, elsewhere), 0); /* an open file can still be read */
    write_process(&tree, 7, "train", 30, 1, 10150, true);
    snprintf(ended, sizeof ended, "%s/proc/8", tree.path);
    snprintf(elsewhere, sizeof elsewhere, "%s/ended", tree.path);
    assert_int_equal(rename(ended, elsewhere), 0);
    assert_int_equal(harness_sample_at(&h, 104 * S), 0);
    expect(&h, "train[7]", "user_ns", S * 3 / 10);
    assert_in_range(open_files(), opened, opened + 1);
    harness_close(&h);
    assert_int_equal(open_files(), before);
    tree_remove(&tree);
}

static void the_busiest_others_have_a_name(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    for (int pid = 10; pid < 40; pid++)
        write_process(&tree, pid, "other", 1000, 1, 100, false);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    assert_int_equal(h.rows.n, 0); /* their growth is not known */
    for (int pid = 10; pid < 40; pid++)
        write_process(&tree, pid, "other", 1000 + (pid == 19 || pid == 29 ? 9 : pid % 5), 1, 100,
                      false);
    write_process(&tree, 23, "hog", 1090, 1, 100, false);
    h.env.foreign_processes = 3;
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    assert_int_equal(h.rows.n, 3);
    assert_string_equal(h.rows.items[0].name, "hog[23]");
    expect(&h, "hog[23]", "job", 0);
    expect(&h, "hog[23]", "user_ns", 1090 * INT64_C(10000000));
    expect(&h, "other[19]", "user_ns", 1009 * INT64_C(10000000));
    expect(&h, "other[29]", "user_ns", 1009 * INT64_C(10000000));
    harness_close(&h);
    tree_remove(&tree);
}

static void write_io(const struct tree *tree, int pid, int64_t read, int64_t written) {
    char name[64], text[256];
    snprintf(name, sizeof name, "proc/%d/io", pid);
    snprintf(text, sizeof text,
             "rchar: 1\nwchar: 1\nsyscr: 1\nsyscw: 1\nread_bytes: %lld\nwrite_bytes: %lld\n"
             "cancelled_write_bytes: 0\n",
             (long long)read, (long long)written);
    tree_write(tree, name, text);
}

/* They never use a tick of CPU, and are found in turns, all within 16 samples. */
static void the_busiest_by_disk_have_a_name_too(void **state) {
    struct tree tree;
    struct harness h;
    int first = 0;
    (void)state;
    tree_make(&tree, NULL);
    for (int pid = 10; pid < 30; pid++) {
        write_process(&tree, pid, "other", 1000, 1, 100, false);
        write_io(&tree, pid, 0, 0);
    }
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    h.env.foreign_processes = 2;
    for (int i = 1; i <= 40; i++) {
        write_io(&tree, 13, 0, i * INT64_C(100000000));
        write_io(&tree, 17, i * INT64_C(50000000), 0);
        write_io(&tree, 19, i * INT64_C(20000000), 0);
        write_io(&tree, 21, 0, i * INT64_C(1000)); /* a log */
        write_process(&tree, 25, "cpu", 1000 + 50 * i, 1, 100, false);
        assert_int_equal(harness_sample_at(&h, (100 + i) * S), 0);
        if (!first && harness_row(&h, "other[13]") && harness_row(&h, "other[17]"))
            first = i;
    }
    assert_in_range(first, 2, 33); /* one turn to read them, one to see their growth */
    assert_string_equal(h.rows.items[0].name, "cpu[25]");
    assert_string_equal(h.rows.items[1].name, "other[13]");
    assert_string_equal(h.rows.items[2].name, "other[17]");
    assert_int_equal(h.rows.n, 3);
    expect(&h, "other[13]", "write_bytes", INT64_C(4000000000));
    harness_close(&h);
    tree_remove(&tree);
}

static void who_leads_both_lists_has_one_row(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    write_process(&tree, 10, "dd", 0, 1, 100, false);
    write_io(&tree, 10, 0, 0);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    for (int i = 1; i <= 3; i++) {
        write_process(&tree, 10, "dd", 50 * i, 1, 100, false);
        write_io(&tree, 10, 0, i * INT64_C(100000000));
        assert_int_equal(harness_sample_at(&h, (100 + i) * S), 0);
        assert_int_equal(h.rows.n, 1);
    }
    harness_close(&h);
    tree_remove(&tree);
}

static void who_leaves_the_list_is_told_once_more(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    write_process(&tree, 10, "a", 0, 1, 100, false);
    write_process(&tree, 11, "b", 0, 1, 100, false);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    h.env.foreign_processes = 1;
    write_process(&tree, 10, "a", 50, 1, 100, false);
    assert_int_equal(harness_sample_at(&h, 101 * S), 0);
    assert_int_equal(h.rows.n, 1);
    write_process(&tree, 10, "a", 60, 1, 100, false);
    write_process(&tree, 11, "b", 90, 1, 100, false);
    assert_int_equal(harness_sample_at(&h, 102 * S), 0);
    assert_int_equal(h.rows.n, 2);
    expect(&h, "a[10]", "user_ns", 600000000);
    assert_int_equal(harness_sample_at(&h, 103 * S), 0);
    assert_int_equal(h.rows.n, 1);
    assert_null(harness_row(&h, "a[10]"));
    harness_close(&h);
    tree_remove(&tree);
}

static void a_culprit_stays_listed_for_a_while_but_not_for_ever(void **state) {
    struct tree tree;
    struct harness h;
    int listed = 0;
    (void)state;
    tree_make(&tree, NULL);
    write_process(&tree, 10, "burst", 0, 1, 100, false);
    start_run(&h, tree.path, SCOPE_HOST, "r1", 100 * S);
    write_process(&tree, 10, "burst", 50, 1, 100, false);
    for (int i = 1; i <= 30; i++) {
        assert_int_equal(harness_sample_at(&h, (100 + i) * S), 0);
        listed += h.rows.n == 1;
    }
    assert_in_range(listed, 2, 15);
    harness_close(&h);
    tree_remove(&tree);
}

/* srun passes on variables that begin with SLURM_, whatever its options. */
static void a_task_that_srun_gives_no_environment_is_of_the_job(void **state) {
    struct process_environ environ;
    static const char text[] = "SLURM_PROCID=3\0SLURM_CHOKEPOINT_RUN=r1";
    (void)state;
    process_parse_environ(text, sizeof text, "r1", &environ);
    assert_true(environ.of_job);
    process_parse_environ(text, sizeof text, "r2", &environ);
    assert_false(environ.of_job);
}

static void an_environment_that_is_cut_off_says_nothing(void **state) {
    struct process_environ environ;
    static const char text[] = "PMI_RANK=3\0CHOKEPOINT_RUN=r1";
    (void)state;
    process_parse_environ(text, sizeof text, "r1", &environ);
    assert_true(environ.of_job);
    process_parse_environ(text, sizeof text - 1, "r1", &environ);
    assert_false(environ.of_job);
    assert_int_equal(environ.rank, 3);
}

static struct process_environ environ_of(const char *text, size_t size) {
    struct process_environ environ;
    process_parse_environ(text, size, "r1", &environ);
    return environ;
}

#define ENVIRON(text) environ_of(text, sizeof text)

/* RANK alone may mean anything; MPI's number goes first. */
static void a_rank_of_pytorch_has_a_world(void **state) {
    (void)state;
    assert_int_equal(ENVIRON("RANK=1\0WORLD_SIZE=4\0LOCAL_RANK=0").rank, 1);
    assert_int_equal(ENVIRON("WORLD_SIZE=4\0RANK=3").rank, 3);
    assert_int_equal(ENVIRON("WORLD_SIZE=4\0SLURM_PROCID=0\0RANK=3").rank, 3);
    assert_int_equal(ENVIRON("RANK=1").rank, -1);
    assert_int_equal(ENVIRON("RANK=4\0WORLD_SIZE=4").rank, -1);
    assert_int_equal(ENVIRON("RANK=1\0WORLD_SIZE=99999999999").rank, -1);
    assert_int_equal(ENVIRON("RANK=sergeant\0WORLD_SIZE=4").rank, -1);
    assert_int_equal(ENVIRON("RANK=1\0WORLD_SIZE=4\0OMPI_COMM_WORLD_RANK=2").rank, 2);
    assert_int_equal(ENVIRON("PMI_RANK=2\0RANK=1\0WORLD_SIZE=4").rank, 2);
    assert_int_equal(ENVIRON("RANK=1\0WORLD_SIZE=4\0SLURM_PROCID=x").rank_quality, 2);
}

static void a_rank_of_pytorch_fits_its_node(void **state) {
    (void)state;
    assert_int_equal(ENVIRON("RANK=3\0WORLD_SIZE=4\0LOCAL_RANK=1\0GROUP_RANK=1").rank, 3);
    assert_int_equal(ENVIRON("RANK=0\0WORLD_SIZE=4\0LOCAL_RANK=1").rank, -1);
    assert_int_equal(ENVIRON("RANK=1\0WORLD_SIZE=4\0LOCAL_RANK=0\0GROUP_RANK=2").rank, -1);
    assert_int_equal(ENVIRON("RANK=1\0WORLD_SIZE=4\0LOCAL_RANK=-1").rank, -1);
    assert_int_equal(ENVIRON("RANK=1\0WORLD_SIZE=4\0GROUP_RANK=99999999999999999999").rank, -1);
    assert_int_equal(ENVIRON("RANK=-1\0WORLD_SIZE=4").rank, -1);
    assert_int_equal(ENVIRON("RANK=1\0WORLD_SIZE=4\0LOCAL_RANK=0").rank_quality,
                     RANK_OF_TORCH_LAUNCHER);
    assert_int_equal(ENVIRON("RANK=1\0WORLD_SIZE=4").rank_quality, RANK_OF_TORCH);
}

static void a_role_is_short_and_plain(void **state) {
    (void)state;
    assert_string_equal(ENVIRON("DASK_WORKER_NAME=gpu-1.a_b").role, "worker gpu-1.a_b");
    assert_string_equal(ENVIRON("SPARK_EXECUTOR_ID=12").role, "executor 12");
    assert_string_equal(ENVIRON("DASK_WORKER_NAME=").role, "");
    assert_string_equal(ENVIRON("DASK_WORKER_NAME=a b").role, "");
    assert_string_equal(ENVIRON("DASK_WORKER_NAME=a\x1b[2J").role, "");
    assert_string_equal(ENVIRON("SPARK_EXECUTOR_ID=1\n2").role, "");
    assert_string_equal(ENVIRON("DASK_WORKER_NAME=abcdefghijklmnopqrstuvwx").role,
                        "worker abcdefghijklmnopqrstuvwx");
    assert_string_equal(ENVIRON("DASK_WORKER_NAME=abcdefghijklmnopqrstuvwxy").role, "");
}

static void ids_that_meet_in_one_slot_are_kept_apart(void **state) {
    static struct idmap map;
    (void)state;
    for (int32_t i = 0; i < 10; i++) /* all of them begin at the last slot */
        assert_int_equal(idmap_add(&map, IDMAP_SLOTS - 1 + i * IDMAP_SLOTS), i);
    for (int32_t i = 0; i < 10; i++)
        assert_int_equal(idmap_find(&map, IDMAP_SLOTS - 1 + i * IDMAP_SLOTS), i);
    assert_int_equal(idmap_find(&map, IDMAP_SLOTS - 1 + 10 * IDMAP_SLOTS), -1);
    for (int32_t i = 10; i < IDMAP_CAPACITY; i++)
        assert_int_equal(idmap_add(&map, i), i);
    assert_int_equal(idmap_add(&map, 1), -1); /* full */
    map.ids[0] = map.ids[--map.n];
    idmap_rebuild(&map);
    assert_int_equal(idmap_find(&map, IDMAP_SLOTS - 1), -1);
    assert_int_equal(idmap_find(&map, map.ids[0]), 0);
}

/* ---- this machine ---- */

static pid_t start_child(const char *script) {
    static char run[] = "CHOKEPOINT_RUN=unit-test", rank[] = "OMPI_COMM_WORLD_RANK=12";
    char *environment[] = {run, rank, NULL};
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if an assertion ends the test early */
        execle("/bin/sh", "sh", "-c", script, (char *)NULL, environment);
        _exit(127);
    }
    return pid;
}

static const struct row *wait_for_job_row(struct harness *h, pid_t pid, int64_t least_user_ns) {
    int user = table_find_column(probe_process.table, "user_ns");
    for (int i = 0; i < 2000; i++) {
        assert_int_equal(harness_sample(h), 0);
        for (size_t r = 0; r < h->rows.n; r++)
            if (h->rows.items[r].values[0] == pid && h->rows.items[r].values[2] == 1 &&
                h->rows.items[r].values[user] >= least_user_ns)
                return &h->rows.items[r];
        usleep(5000);
    }
    return NULL;
}

static void a_child_of_the_job_is_found_and_its_time_is_the_kernels(void **state) {
    struct harness h;
    (void)state;
    start_run(&h, "", SCOPE_HOST, "unit-test", clock_monotonic_ns());
    assert_int_equal(h.rows.n, 0);
    pid_t pid = start_child("while :; do :; done");
    const struct row *row = wait_for_job_row(&h, pid, 20 * NS_PER_MS);
    assert_non_null(row);
    char name[96];
    strcpy(name, row->name);
    expect(&h, name, "rank", 12);
    /* Bracketed by two readings of the kernel's own clock of that process. */
    clockid_t clock;
    assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
    int64_t before = clock_ns(clock);
    assert_int_equal(harness_sample(&h), 0);
    int64_t after = clock_ns(clock);
    int64_t used = harness_value(&h, name, "user_ns") + harness_value(&h, name, "system_ns");
    assert_in_range(used, before - 1, after + 10 * NS_PER_MS);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(harness_sample(&h), 0); /* its last row, if the kernel reports its end */
    assert_int_equal(harness_sample(&h), 0);
    assert_null(harness_row(&h, name));
    harness_close(&h);
}

/* A process that has ended, but was not waited for yet, has no environment any more. */
static void a_rank_that_has_ended_is_still_of_the_job(void **state) {
    struct harness h;
    siginfo_t end;
    char name[96];
    (void)state;
    start_run(&h, "", SCOPE_HOST, "unit-test", clock_monotonic_ns());
    pid_t pid = start_child("while :; do :; done");
    const struct row *row = wait_for_job_row(&h, pid, 0);
    assert_non_null(row);
    strcpy(name, row->name);
    kill(pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT), 0);
    assert_int_equal(harness_sample(&h), 0);
    expect(&h, name, "job", 1);
    expect(&h, name, "rank", 12);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    harness_close(&h);
}

static void whoever_runs_the_agents_executable_is_not_the_job(void **state) {
    struct harness h;
    char self[512], run[] = "CHOKEPOINT_RUN=unit-test", *environment[] = {run, NULL};
    (void)state;
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(pipes[1], 1);
        execle(self, self, "--sleep", (char *)NULL, environment);
        _exit(127);
    }
    char byte;
    assert_int_equal(read(pipes[0], &byte, 1), 1); /* it has called exec */
    start_run(&h, "", SCOPE_HOST, "unit-test", clock_monotonic_ns());
    assert_int_equal(h.rows.n, 0);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(pipes[0]);
    close(pipes[1]);
    harness_close(&h);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--sleep") == 0)
        return write(1, "", 1) == 1 ? pause() : 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_job_is_who_carries_its_run),
        cmocka_unit_test(a_process_has_all_its_columns),
        cmocka_unit_test(the_cores_of_all_threads_are_those_of_the_process),
        cmocka_unit_test(only_collectors_of_garbage_are_told_by_their_names),
        cmocka_unit_test(without_delay_accounting_disk_waits_are_unknown),
        cmocka_unit_test(an_old_kernel_has_neither_delays_nor_switches),
        cmocka_unit_test(processes_of_other_groups_are_not_of_this_host),
        cmocka_unit_test(hostile_processes_cost_only_themselves),
        cmocka_unit_test(an_ended_thread_leaves_its_time_behind),
        cmocka_unit_test(a_thread_that_has_not_run_is_not_read_again),
        cmocka_unit_test(a_thread_that_came_and_went_is_made_up_for_by_ticks),
        cmocka_unit_test(a_thread_id_may_pass_to_another_process),
        cmocka_unit_test(zeroes_of_a_kernel_without_statistics_are_no_delays),
        cmocka_unit_test(a_process_is_born_when_it_started_after_the_previous_sample),
        cmocka_unit_test(a_process_joins_the_job_when_it_calls_exec),
        cmocka_unit_test(a_renamed_process_has_a_last_row_under_its_old_name),
        cmocka_unit_test(a_reused_id_is_another_process),
        cmocka_unit_test(a_kept_descriptor_is_of_one_process_alone),
        cmocka_unit_test(the_busiest_others_have_a_name),
        cmocka_unit_test(the_busiest_by_disk_have_a_name_too),
        cmocka_unit_test(who_leads_both_lists_has_one_row),
        cmocka_unit_test(who_leaves_the_list_is_told_once_more),
        cmocka_unit_test(a_culprit_stays_listed_for_a_while_but_not_for_ever),
        cmocka_unit_test(a_task_that_srun_gives_no_environment_is_of_the_job),
        cmocka_unit_test(an_environment_that_is_cut_off_says_nothing),
        cmocka_unit_test(a_rank_of_pytorch_has_a_world),
        cmocka_unit_test(a_rank_of_pytorch_fits_its_node),
        cmocka_unit_test(a_role_is_short_and_plain),
        cmocka_unit_test(ids_that_meet_in_one_slot_are_kept_apart),
        cmocka_unit_test(a_child_of_the_job_is_found_and_its_time_is_the_kernels),
        cmocka_unit_test(a_rank_that_has_ended_is_still_of_the_job),
        cmocka_unit_test(whoever_runs_the_agents_executable_is_not_the_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
