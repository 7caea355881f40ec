/* SPDX-License-Identifier: MIT */
/* Finds the scope: the machine, a container, a session, and invalid texts. */
#include "tests/unit/probe_test.h"

static int open_scope(const char *root, enum scope_kind kind, struct scope *ret_scope,
                      char why[256]) {
    char proc[600], sys[600];
    snprintf(proc, sizeof proc, "%.500s/proc", root);
    snprintf(sys, sizeof sys, "%.500s/sys", root);
    return scope_open(kind, proc, sys, ret_scope, why, 256);
}

static void a_host_has_the_cores_that_are_online(void **state) {
    struct scope scope;
    char why[256];
    (void)state;
    assert_int_equal(open_scope(FIXTURES "bigiron", SCOPE_HOST, &scope, why), 0);
    assert_int_equal(scope.n_cpus, 128);
    assert_true(scope_has_cpu(&scope, 127));
    assert_false(scope_has_cpu(&scope, 128));
    assert_false(scope_has_cpu(&scope, 100000));
    assert_string_equal(scope.cpu, "");
}

static void a_container_without_a_namespace_is_its_mount(void **state) {
    struct scope scope;
    char why[256];
    (void)state;
    assert_int_equal(open_scope(FIXTURES "cgroup-v1", SCOPE_CGROUP, &scope, why), 0);
    assert_string_equal(scope.cpu, FIXTURES "cgroup-v1/sys/fs/cgroup/cpu,cpuacct");
    assert_string_equal(scope.memory, FIXTURES "cgroup-v1/sys/fs/cgroup/memory");
    assert_string_equal(scope.io, FIXTURES "cgroup-v1/sys/fs/cgroup/blkio");
    assert_string_equal(scope.unified, "");
    assert_false(scope.v2_cpu || scope.v2_memory || scope.v2_io);
    assert_int_equal(scope.n_cpus, 2);
    assert_true(scope_has_cpu(&scope, 2) && scope_has_cpu(&scope, 3));
}

static void a_v2_group_is_the_same_directory_for_all(void **state) {
    struct scope scope;
    char why[256];
    (void)state;
    assert_int_equal(open_scope(FIXTURES "cgroup-v2", SCOPE_CGROUP, &scope, why), 0);
    assert_string_equal(scope.unified, FIXTURES "cgroup-v2/sys/fs/cgroup/user.slice/run.scope");
    assert_string_equal(scope.cpu, scope.unified);
    assert_string_equal(scope.memory, scope.unified);
    assert_string_equal(scope.io, scope.unified);
    assert_true(scope.v2_cpu && scope.v2_memory && scope.v2_io);
    assert_int_equal(scope.n_cpus, 4);
}

static bool has_process(const struct scope *scope, const char *groups) {
    return scope_has_process(scope, groups, strlen(groups));
}

static void a_process_is_inside_by_its_path(void **state) {
    struct scope scope;
    char why[256];
    (void)state;
    assert_int_equal(open_scope(FIXTURES "cgroup-v1", SCOPE_CGROUP, &scope, why), 0);
    assert_true(has_process(&scope, "5:cpu,cpuacct:/docker/0123abcd\n"));
    assert_true(has_process(&scope, "9:x:/\n5:cpuacct,cpu:/docker/0123abcd/below\n"));
    assert_false(has_process(&scope, "5:cpu,cpuacct:/docker/0123abcde\n"));
    assert_false(has_process(&scope, "5:cpu,cpuacct:/docker\n"));
    assert_false(has_process(&scope, "5:memory:/docker/0123abcd\n"));
    assert_false(has_process(&scope, ""));
}

static void a_group_at_the_root_has_everybody(void **state) {
    struct tree tree;
    struct scope scope;
    char why[256];
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/self/cgroup", "0::/\n");
    tree_write(&tree, "proc/self/mountinfo", "1 0 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    tree_write(&tree, "proc/stat", "cpu 1\ncpu0 1\ncpu1 1\n");
    assert_int_equal(open_scope(tree.path, SCOPE_CGROUP, &scope, why), 0);
    assert_true(has_process(&scope, "0::/anything\n"));
    assert_int_equal(scope.n_cpus, 2);  /* from /proc/stat, since there is nothing else */
    assert_string_equal(scope.cpu, ""); /* it has no files of its own, so the machine's are used */
    tree_remove(&tree);
}

static void affinity_counts_where_there_is_no_cpuset(void **state) {
    struct tree tree;
    struct scope scope;
    char why[256];
    (void)state;
    tree_make(&tree, "cgroup-v2");
    run_command("rm %s/sys/fs/cgroup/user.slice/run.scope/cpuset.cpus.effective%s", tree.path, "");
    tree_write(&tree, "proc/self/status", "Name:\tx\nCpus_allowed:\t7\nCpus_allowed_list:\t0,2\n");
    assert_int_equal(open_scope(tree.path, SCOPE_CGROUP, &scope, why), 0);
    assert_int_equal(scope.n_cpus, 2);
    assert_true(scope_has_cpu(&scope, 2));
    tree_remove(&tree);
}

/* The agent runs in a separate step beside the command's. */
static void steps_of_a_batch_job_are_the_jobs(void **state) {
    (void)state;
    char v2[] = "0::/system.slice/slurmstepd.scope/job_7/step_1/user/task_0\n";
    char v1[] =
        "9:memory:/slurm/uid_0/job_70/step_extern/task_0\n8:cpuset:/a\n1:cpu:/job_/step_0\n";
    char none[] = "0::/user/job_7/steps\n1:cpu:/job_x/step_0";
    assert_true(scope_cut_steps(v2));
    assert_string_equal(v2, "0::/system.slice/slurmstepd.scope/job_7\n");
    assert_true(scope_cut_steps(v1));
    assert_string_equal(v1, "9:memory:/slurm/uid_0/job_70\n8:cpuset:/a\n1:cpu:/job_/step_0\n");
    assert_false(scope_cut_steps(none));
    assert_string_equal(none, "0::/user/job_7/steps\n1:cpu:/job_x/step_0");
}

/* A job that has all cores has the machine's scope; one that has a part of them has that part. */
static void a_job_is_its_part_of_the_machine(void **state) {
    (void)state;
    struct tree tree;
    struct scope scope;
    char why[256];
    tree_make(&tree, "cgroup-v2");
    assert_int_equal(open_scope(tree.path, SCOPE_JOB, &scope, why), 0);
    assert_int_equal(scope.kind, SCOPE_HOST);
    run_command("mkdir -p %s/sys/fs/cgroup/s/job_7/step_1%s", tree.path, "");
    tree_write(&tree, "proc/self/cgroup", "0::/s/job_7/step_1\n");
    tree_write(&tree, "sys/fs/cgroup/s/job_7/cpuset.cpus.effective", "1\n");
    tree_write(&tree, "sys/fs/cgroup/s/job_7/cpu.stat", "usage_usec 1\n");
    tree_write(&tree, "sys/devices/system/cpu/online", "0-3\n");
    assert_int_equal(open_scope(tree.path, SCOPE_JOB, &scope, why), 0);
    assert_int_equal(scope.kind, SCOPE_CGROUP);
    assert_int_equal(scope.n_cpus, 1);
    assert_string_equal(scope.member_path, "/s/job_7");
    tree_write(&tree, "sys/fs/cgroup/s/job_7/cpuset.cpus.effective", "0-3\n");
    assert_int_equal(open_scope(tree.path, SCOPE_JOB, &scope, why), 0);
    assert_int_equal(scope.kind, SCOPE_HOST);
    assert_string_equal(scope.member_path, "");
    tree_remove(&tree);
}

static void hostile_texts_lead_nowhere(void **state) {
    struct scope scope;
    char why[256];
    (void)state;
    assert_int_equal(open_scope(FIXTURES "hostile", SCOPE_CGROUP, &scope, why), 0);
    assert_string_equal(scope.unified, "");
    assert_string_equal(scope.memory, "");
    assert_true(scope.n_cpus > 0);
}

static void without_cgroup_files_the_reason_is_said(void **state) {
    struct scope scope = {.n_cpus = 77};
    char why[256] = "";
    (void)state;
    assert_true(open_scope("/nonexistent", SCOPE_CGROUP, &scope, why) < 0);
    assert_non_null(strstr(why, "/nonexistent/proc/self"));
    assert_int_equal(scope.n_cpus, 77); /* unchanged */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_has_the_cores_that_are_online),
        cmocka_unit_test(a_container_without_a_namespace_is_its_mount),
        cmocka_unit_test(a_v2_group_is_the_same_directory_for_all),
        cmocka_unit_test(a_process_is_inside_by_its_path),
        cmocka_unit_test(a_group_at_the_root_has_everybody),
        cmocka_unit_test(affinity_counts_where_there_is_no_cpuset),
        cmocka_unit_test(steps_of_a_batch_job_are_the_jobs),
        cmocka_unit_test(a_job_is_its_part_of_the_machine),
        cmocka_unit_test(hostile_texts_lead_nowhere),
        cmocka_unit_test(without_cgroup_files_the_reason_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
