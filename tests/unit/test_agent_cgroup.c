/* SPDX-License-Identifier: MIT */
/* Control groups of the job: both versions, units, limits of parent groups. */
#include "tests/unit/probe_test.h"

#define MOUNTS_V1                                                                                  \
    "1 0 0:1 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"                                     \
    "2 0 0:2 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n"                             \
    "3 0 0:3 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"                               \
    "4 0 0:4 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n"
#define MOUNTS_V2 "9 0 0:9 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
#define V1 "sys/fs/cgroup/"

static void start(struct harness *h, const struct tree *tree, enum scope_kind kind, int32_t pid) {
    struct job_process process = {.pid = pid, .rank = 0};
    assert_int_equal(harness_init(h, tree->path, kind), 0);
    job_set(&h->job, 0, &process);
    job_end(&h->job, pid ? 1 : 0);
    assert_int_equal(harness_open(h, &probe_cgroup), 0);
    assert_int_equal(harness_sample_at(h, S), 0);
}

static void make_v1(struct tree *tree) {
    tree_make(tree, NULL);
    tree_write(tree, "proc/stat", "cpu0 1 2 3 4 5 6 7 8\n");
    tree_write(tree, "proc/self/mountinfo", MOUNTS_V1);
    tree_write(tree, "proc/self/cgroup", "3:memory:/\n2:cpuacct:/\n1:cpu:/\n");
    tree_write(tree, "proc/7/cgroup", "4:blkio:/a\n3:memory:/a\n2:cpuacct:/a\n1:cpu:/a\n");
    tree_write(tree, V1 "cpu/a/cpu.stat",
               "nr_periods 100\nnr_throttled 40\nthrottled_time 123456789\n");
    tree_write(tree, V1 "cpu/a/cpu.cfs_quota_us", "50000\n");
    tree_write(tree, V1 "cpu/a/cpu.cfs_period_us", "100000\n");
    tree_write(tree, V1 "cpuacct/a/cpuacct.usage", "987654321\n");
    tree_write(tree, V1 "memory/a/memory.usage_in_bytes", "4096000\n");
    tree_write(tree, V1 "memory/a/memory.limit_in_bytes", "8192000\n");
    tree_write(tree, V1 "memory/a/memory.failcnt", "17\n");
    tree_write(tree, V1 "memory/a/memory.oom_control",
               "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
    tree_write(tree, V1 "blkio/a/blkio.throttle.io_service_bytes",
               "8:0 Read 100\n8:0 Write 200\n8:16 Read 5\n8:0 Total 300\nTotal 305\n");
    tree_write(tree, V1 "blkio/a/blkio.throttle.read_bps_device", "8:0 2000000\n8:16 1000000\n");
    tree_write(tree, V1 "blkio/a/blkio.throttle.write_bps_device", "");
    tree_write(tree, V1 "blkio/a/blkio.throttle.io_serviced", "8:0 Read 9\n8:0 Write 9\n");
    tree_write(tree, V1 "blkio/a/blkio.throttle.io_serviced_recursive",
               "8:0 Read 3\n8:0 Write 4\n8:16 Write 1\nTotal 8\n");
    tree_write(tree, V1 "blkio/a/blkio.throttle.read_iops_device", "8:0 500\n");
    tree_write(tree, V1 "blkio/a/blkio.throttle.write_iops_device", "8:0 900\n8:16 400\n");
}

static void version_one_has_its_units(void **state) {
    struct tree tree;
    static struct harness h;
    (void)state;
    make_v1(&tree);
    start(&h, &tree, SCOPE_HOST, 7);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "/a", "cpu_ns", 987654321);
    expect(&h, "/a", "periods", 100);
    expect(&h, "/a", "throttled_periods", 40);
    expect(&h, "/a", "throttled_ns", 123456789);
    expect(&h, "/a", "quota_ns", 50000000);
    expect(&h, "/a", "period_ns", 100000000);
    expect(&h, "/a", "memory_bytes", 4096000);
    expect(&h, "/a", "memory_limit_bytes", 8192000);
    expect(&h, "/a", "memory_limit_hits", 17);
    expect(&h, "/a", "oom_kills", 2);
    expect(&h, "/a", "read_bytes", 105);
    expect(&h, "/a", "write_bytes", 200);
    expect(&h, "/a", "read_limit_bytes_per_s", 1000000);
    expect_absent(&h, "/a", "write_limit_bytes_per_s");
    expect(&h, "/a", "reads", 3);
    expect(&h, "/a", "writes", 5);
    expect(&h, "/a", "read_limit_per_s", 500);
    expect(&h, "/a", "write_limit_per_s", 400);
    harness_close(&h);
    tree_remove(&tree);
}

static void without_a_limit_there_is_none(void **state) {
    struct tree tree;
    static struct harness h;
    (void)state;
    make_v1(&tree);
    tree_write(&tree, V1 "cpu/a/cpu.cfs_quota_us", "-1\n");
    tree_write(&tree, V1 "memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    start(&h, &tree, SCOPE_HOST, 7);
    expect_absent(&h, "/a", "quota_ns");
    expect_absent(&h, "/a", "period_ns");
    expect_absent(&h, "/a", "memory_limit_bytes");
    expect(&h, "/a", "cpu_ns", 987654321);
    harness_close(&h);
    tree_remove(&tree);
}

/* Limits are read once a second, use each time. */
static void a_limit_that_is_set_shows_within_a_second(void **state) {
    struct tree tree;
    static struct harness h;
    (void)state;
    make_v1(&tree);
    tree_write(&tree, V1 "cpu/a/cpu.cfs_quota_us", "-1\n");
    start(&h, &tree, SCOPE_HOST, 7);
    tree_write(&tree, V1 "memory/a/memory.limit_in_bytes", "5000000\n");
    tree_write(&tree, V1 "memory/a/memory.usage_in_bytes", "4999999\n");
    assert_int_equal(harness_sample_at(&h, S + S / 2), 0);
    expect(&h, "/a", "memory_bytes", 4999999);
    expect(&h, "/a", "memory_limit_bytes", 8192000);
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    expect(&h, "/a", "memory_limit_bytes", 5000000);
    harness_close(&h);
    tree_remove(&tree);
}

/* A quota with running periods is read with them: its start is not a second late. */
static void a_quota_shows_with_its_first_period(void **state) {
    struct tree tree;
    static struct harness h;
    (void)state;
    make_v1(&tree);
    tree_write(&tree, V1 "cpu/a/cpu.cfs_quota_us", "-1\n");
    start(&h, &tree, SCOPE_HOST, 7);
    expect_absent(&h, "/a", "quota_ns");
    tree_write(&tree, V1 "cpu/a/cpu.cfs_quota_us", "50000\n");
    tree_write(&tree, V1 "cpu/a/cpu.stat",
               "nr_periods 101\nnr_throttled 41\nthrottled_time 123456790\n");
    assert_int_equal(harness_sample_at(&h, S + S / 10), 0);
    expect(&h, "/a", "quota_ns", 50000000);
    expect(&h, "/a", "period_ns", 100000000);
    harness_close(&h);
    tree_remove(&tree);
}

static void make_v2(struct tree *tree) {
    tree_make(tree, NULL);
    tree_write(tree, "proc/stat", "cpu0 1 2 3 4 5 6 7 8\n");
    tree_write(tree, "proc/self/mountinfo", MOUNTS_V2);
    tree_write(tree, "proc/self/cgroup", "0::/\n");
    tree_write(tree, "proc/7/cgroup", "0::/pod/box/step\n");
    tree_write(tree, V1 "pod/cpu.max", "max 100000\n");
    tree_write(tree, V1 "pod/memory.max", "max\n");
    tree_write(tree, V1 "pod/box/cpu.max", "150000 100000\n");
    tree_write(tree, V1 "pod/box/memory.max", "max\n");
    tree_write(tree, V1 "pod/box/step/cpu.stat",
               "usage_usec 5\nuser_usec 3\nsystem_usec 2\nnr_periods 7\nnr_throttled 6\n"
               "throttled_usec 12\n");
    tree_write(tree, V1 "pod/box/step/memory.current", "1000\n");
    tree_write(tree, V1 "pod/box/step/memory.max", "max\n");
    tree_write(tree, V1 "pod/box/step/memory.events", "low 0\nhigh 1\nmax 3\noom 4\noom_kill 5\n");
    tree_write(tree, V1 "pod/box/step/io.stat",
               "8:0 rbytes=10 wbytes=20 rios=1 wios=1\n8:16 rbytes=1\n7:0\n");
    tree_write(tree, V1 "pod/box/step/io.max", "8:0 rbps=max wbps=3000 riops=max wiops=70\n");
}

static void version_two_has_its_units(void **state) {
    struct tree tree;
    static struct harness h;
    (void)state;
    make_v2(&tree);
    start(&h, &tree, SCOPE_HOST, 7);
    expect(&h, "/pod/box/step", "cpu_ns", 5000);
    expect(&h, "/pod/box/step", "periods", 7);
    expect(&h, "/pod/box/step", "throttled_periods", 6);
    expect(&h, "/pod/box/step", "throttled_ns", 12000);
    expect_absent(&h, "/pod/box/step", "quota_ns");
    expect(&h, "/pod/box/step", "memory_bytes", 1000);
    expect_absent(&h, "/pod/box/step", "memory_limit_bytes");
    expect(&h, "/pod/box/step", "memory_limit_hits", 3);
    expect(&h, "/pod/box/step", "oom_kills", 5);
    expect(&h, "/pod/box/step", "read_bytes", 11);
    expect(&h, "/pod/box/step", "write_bytes", 20);
    expect_absent(&h, "/pod/box/step", "read_limit_bytes_per_s");
    expect(&h, "/pod/box/step", "write_limit_bytes_per_s", 3000);
    expect(&h, "/pod/box/step", "reads", 1);
    expect(&h, "/pod/box/step", "writes", 1);
    expect_absent(&h, "/pod/box/step", "read_limit_per_s");
    expect(&h, "/pod/box/step", "write_limit_per_s", 70);
    harness_close(&h);
    tree_remove(&tree);
}

static void of_the_groups_above_those_with_a_limit_count(void **state) {
    struct tree tree;
    static struct harness h;
    (void)state;
    make_v2(&tree);
    start(&h, &tree, SCOPE_HOST, 7);
    assert_int_equal(h.rows.n, 2);
    expect(&h, "/pod/box", "quota_ns", 150000000);
    assert_null(harness_row(&h, "/pod"));
    harness_close(&h);
    tree_remove(&tree);
}

static void processes_come_with_their_groups_and_groups_go(void **state) {
    struct tree tree;
    static struct harness h;
    (void)state;
    make_v2(&tree);
    tree_write(&tree, "proc/8/cgroup", "0::/other\n");
    tree_write(&tree, V1 "other/memory.current", "77\n");
    start(&h, &tree, SCOPE_HOST, 0);
    assert_int_equal(h.rows.n, 0);
    struct job_process process = {.pid = 8};
    job_set(&h.job, 0, &process);
    job_end(&h.job, 1);
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "/other", "memory_bytes", 77);
    job_end(&h.job, 0); /* the process has ended, but its group exists */
    assert_int_equal(harness_sample_at(&h, 3 * S), 0);
    assert_int_equal(h.rows.n, 1);
    harness_close(&h);
    tree_remove(&tree);
}

static void a_process_that_is_moved_after_its_start_is_found(void **state) {
    struct tree tree;
    static struct harness h;
    (void)state;
    make_v2(&tree);
    tree_write(&tree, "proc/8/cgroup", "0::/\n");
    tree_write(&tree, V1 "other/memory.current", "77\n");
    start(&h, &tree, SCOPE_HOST, 8);
    assert_int_equal(h.rows.n, 0);
    tree_write(&tree, "proc/8/cgroup", "0::/other\n");
    assert_int_equal(harness_sample_at(&h, S + S / 10), 0);
    assert_int_equal(h.rows.n, 0); /* not at every sample */
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    expect(&h, "/other", "memory_bytes", 77);
    harness_close(&h);
    tree_remove(&tree);
}

static void the_scopes_own_group_is_there_without_a_job(void **state) {
    struct tree tree;
    static struct harness h;
    (void)state;
    make_v1(&tree);
    tree_write(&tree, "proc/self/cgroup", "3:memory:/a\n2:cpuacct:/a\n1:cpu:/a\n");
    start(&h, &tree, SCOPE_CGROUP, 0);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "/a", "throttled_ns", 123456789);
    harness_close(&h);
    tree_remove(&tree);
}

static void many_groups_are_bounded(void **state) {
    struct tree tree;
    static struct harness h;
    char name[64], text[64];
    (void)state;
    make_v2(&tree);
    start(&h, &tree, SCOPE_HOST, 0);
    for (int i = 0; i < 40; i++) {
        struct job_process process = {.pid = 100 + i};
        snprintf(name, sizeof name, "proc/%d/cgroup", process.pid);
        snprintf(text, sizeof text, "0::/g%d\n", i);
        tree_write(&tree, name, text);
        snprintf(name, sizeof name, V1 "g%d/memory.current", i);
        tree_write(&tree, name, "1\n");
        job_set(&h.job, (size_t)i, &process);
    }
    job_end(&h.job, 40);
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_int_equal(h.rows.n, 32);
    assert_int_equal(h.rows.dropped, 8);
    harness_close(&h);
    tree_remove(&tree);
}

static void a_long_path_keeps_its_end(void **state) {
    struct tree tree;
    static struct harness h;
    char path[160] = "", text[200], file[256];
    (void)state;
    make_v2(&tree);
    for (int i = 0; i < 10; i++)
        strcat(path, "/twelve_bytes");
    strcat(path, "/end");
    snprintf(text, sizeof text, "0::%s\n", path);
    tree_write(&tree, "proc/7/cgroup", text);
    snprintf(file, sizeof file, V1 "%s/memory.current", path);
    tree_write(&tree, file, "1\n");
    start(&h, &tree, SCOPE_HOST, 7);
    assert_int_equal(h.rows.n, 1);
    assert_int_equal(h.rows.items[0].name_size, INSTANCE_MAX);
    assert_string_equal(h.rows.items[0].name + INSTANCE_MAX - 4, "/end");
    harness_close(&h);
    tree_remove(&tree);
}

static void without_cgroups_there_is_a_reason(void **state) {
    struct tree tree;
    static struct harness h;
    (void)state;
    make_v2(&tree);
    tree_write(&tree, "proc/self/mountinfo", "1 0 0:1 / / rw - ext4 /dev/sda rw\n");
    assert_int_equal(harness_init(&h, tree.path, SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_cgroup), PROBE_ABSENT);
    assert_non_null(strstr(h.why, "no cgroups"));
    harness_close(&h);
    tree_remove(&tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_one_has_its_units),
        cmocka_unit_test(without_a_limit_there_is_none),
        cmocka_unit_test(a_limit_that_is_set_shows_within_a_second),
        cmocka_unit_test(a_quota_shows_with_its_first_period),
        cmocka_unit_test(version_two_has_its_units),
        cmocka_unit_test(of_the_groups_above_those_with_a_limit_count),
        cmocka_unit_test(processes_come_with_their_groups_and_groups_go),
        cmocka_unit_test(a_process_that_is_moved_after_its_start_is_found),
        cmocka_unit_test(the_scopes_own_group_is_there_without_a_job),
        cmocka_unit_test(many_groups_are_bounded),
        cmocka_unit_test(a_long_path_keeps_its_end),
        cmocka_unit_test(without_cgroups_there_is_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
