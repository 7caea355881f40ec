/* SPDX-License-Identifier: MIT */
/* Changes between samples: devices come and go, counters step back, files fail. */
#include "tests/unit/probe_test.h"

#include <sys/stat.h>

#define NET_HEAD "Inter-| Receive | Transmit\n face |bytes |bytes\n"
#define ETH0 "eth0: 100 1 0 0 0 0 0 0 200 2 0 0 0 0 0 0\n"
#define ETH1 "eth1: 300 3 0 0 0 0 0 0 400 4 0 0 0 0 0 0\n"
#define ETH1_ANEW "eth1: 5 1 0 0 0 0 0 0 6 1 0 0 0 0 0 0\n"

static bool is_born(const struct harness *h, const char *instance) {
    const struct row *row = harness_row(h, instance);
    assert_non_null(row);
    return row->flags & ROW_BORN;
}

static void an_interface_may_be_plugged_and_unplugged(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/net/dev", NET_HEAD ETH0);
    probe_start(&h, tree.path, SCOPE_HOST, &probe_net, S);
    assert_false(is_born(&h, "eth0")); /* the begin is not known: no growth */
    tree_write(&tree, "proc/net/dev", NET_HEAD ETH1 ETH0);
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_true(is_born(&h, "eth1"));
    assert_false(is_born(&h, "eth0"));
    expect(&h, "eth0", "send_bytes", 200);
    assert_int_equal(harness_sample_at(&h, 3 * S), 0);
    assert_false(is_born(&h, "eth1"));
    tree_write(&tree, "proc/net/dev", NET_HEAD ETH0);
    assert_int_equal(harness_sample_at(&h, 4 * S), 0);
    assert_int_equal(h.rows.n, 1);
    harness_close(&h);
    tree_remove(&tree);
}

static void an_interface_that_returns_is_born_only_with_new_counters(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/net/dev", NET_HEAD ETH0 ETH1);
    probe_start(&h, tree.path, SCOPE_HOST, &probe_net, S);
    tree_write(&tree, "proc/net/dev", NET_HEAD ETH0);
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    tree_write(&tree, "proc/net/dev", NET_HEAD ETH0 ETH1); /* moved away and back */
    assert_int_equal(harness_sample_at(&h, 3 * S), 0);
    assert_false(is_born(&h, "eth1"));
    tree_write(&tree, "proc/net/dev", NET_HEAD ETH0);
    assert_int_equal(harness_sample_at(&h, 4 * S), 0);
    tree_write(&tree, "proc/net/dev", NET_HEAD ETH0 ETH1_ANEW); /* another device with that name */
    assert_int_equal(harness_sample_at(&h, 5 * S), 0);
    assert_true(is_born(&h, "eth1"));
    harness_close(&h);
    tree_remove(&tree);
}

/* Read when an interface is first seen and once a minute; "-1" is a link that is down. */
static void an_interface_tells_its_speed(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/net/dev", NET_HEAD ETH0 ETH1 "../eth0: 1 1 0 0 0 0 0 0 2 2 0 0 0\n");
    tree_write(&tree, "sys/class/net/eth0/speed", "1000\n");
    tree_write(&tree, "sys/class/net/eth1/speed", "-1\n");
    tree_write(&tree, "sys/class/eth0/speed", "1000\n"); /* a file of no interface */
    probe_start(&h, tree.path, SCOPE_HOST, &probe_net, S);
    expect(&h, "eth0", "speed_bytes_per_s", 125000000);
    expect_absent(&h, "eth1", "speed_bytes_per_s");
    expect_absent(&h, "../eth0", "speed_bytes_per_s");
    tree_write(&tree, "sys/class/net/eth1/speed", "99999999999999999999\n");
    tree_write(&tree, "sys/class/net/eth0/speed", "10000\n");
    assert_int_equal(harness_sample_at(&h, 60 * S), 0);
    expect(&h, "eth0", "speed_bytes_per_s", 125000000);
    assert_int_equal(harness_sample_at(&h, 61 * S), 0);
    expect(&h, "eth0", "speed_bytes_per_s", 1250000000);
    expect_absent(&h, "eth1", "speed_bytes_per_s");
    harness_close(&h);
    tree_remove(&tree);
}

static void more_interfaces_than_there_is_room_for_are_counted(void **state) {
    struct tree tree;
    struct harness h;
    static char text[200 * 64];
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/net/dev", NET_HEAD ETH0);
    probe_start(&h, tree.path, SCOPE_HOST, &probe_net, S);
    size_t n = (size_t)sprintf(text, NET_HEAD);
    for (int i = 0; i < 100; i++)
        n += (size_t)sprintf(text + n, "v%d: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n", i);
    tree_write(&tree, "proc/net/dev", text);
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_int_equal(h.rows.n + h.rows.dropped, 100);
    assert_in_range(h.rows.n, 63, 64);
    harness_close(&h);
    tree_remove(&tree);
}

/* Room for 8 KiB sufficed at open; a cut line must not become a number. */
static void a_file_that_outgrew_its_buffer_loses_whole_lines(void **state) {
    struct tree tree;
    struct harness h;
    static char text[300 * 64];
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/net/dev", NET_HEAD ETH0);
    probe_start(&h, tree.path, SCOPE_HOST, &probe_net, S);
    size_t n = (size_t)sprintf(text, NET_HEAD);
    for (int i = 0; i < 250; i++)
        n += (size_t)sprintf(text + n,
                             "v0: 111111111111 1 0 0 0 0 0 0 222222222222 1 0 0 0 0 0 0\n");
    assert_true(n > 8192);
    tree_write(&tree, "proc/net/dev", text);
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "v0", "send_bytes", 222222222222);
    size_t whole_lines = (8192 - strlen(NET_HEAD)) / 58;
    assert_int_equal(h.rows.dropped,
                     whole_lines - 1 + 1); /* one name many times, and the cut line */
    harness_close(&h);
    tree_remove(&tree);
}

#define SDA "8 0 sda 1 0 8 1 1 0 8 1 0 1 2\n8 1 sda1 1 0 8 1 1 0 8 1 0 1 2\n"
#define SDB "8 16 sdb 2 0 16 1 1 0 8 1 0 1 2\n8 17 sdb1 2 0 16 1 1 0 8 1 0 1 2\n"
#define LOOP_IDLE "7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n"
#define LOOP_USED "7 0 loop0 1 0 2 1 0 0 0 0 0 1 1\n"

static void a_disk_may_be_plugged_with_its_partitions(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/diskstats", SDA);
    tree_write(&tree, "sys/block/sda/dev", "8:0\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_disk, S);
    assert_int_equal(h.rows.n, 1);
    tree_write(&tree, "sys/block/sdb/dev", "8:16\n");
    tree_write(&tree, "proc/diskstats", SDB SDA);
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_int_equal(h.rows.n, 2);
    assert_true(is_born(&h, "sdb"));
    assert_false(is_born(&h, "sda"));
    expect(&h, "sdb", "read_bytes", 16 * 512);
    tree_write(&tree, "proc/diskstats", SDB);
    assert_int_equal(harness_sample_at(&h, 3 * S), 0);
    assert_int_equal(h.rows.n, 1);
    assert_false(is_born(&h, "sdb"));
    harness_close(&h);
    tree_remove(&tree);
}

static void a_disk_that_becomes_part_of_an_array_still_counts_once(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/diskstats", SDA);
    tree_write(&tree, "sys/block/sda/dev", "8:0\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_disk, S);
    tree_write(&tree, "sys/block/md0/slaves/sda/dev", "8:0\n");
    tree_write(&tree, "proc/diskstats", SDA "9 0 md0 1 0 8 1 1 0 8 1 0 1 2\n");
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_int_equal(h.rows.n, 1);
    assert_non_null(harness_row(&h, "sda"));
    harness_close(&h);
    tree_remove(&tree);
}

/* The names stay, but what they stand for changes: judged again after the set of names has changed.
 */
static void an_array_that_loses_its_slaves_counts_itself(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/diskstats", "9 0 md0 1 0 8 1 1 0 8 1 0 1 2\n" SDA);
    tree_write(&tree, "sys/block/md0/slaves/sda/dev", "8:0\n");
    tree_write(&tree, "sys/block/sda/dev", "8:0\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_disk, S);
    assert_null(harness_row(&h, "md0"));
    run_command("rm -r %s/sys/block/md0/slaves%s", tree.path, "");
    tree_write(&tree, "proc/diskstats", "9 0 md0 1 0 8 1 1 0 8 1 0 1 2\n");
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_int_equal(harness_sample_at(&h, 3 * S), 0);
    assert_non_null(harness_row(&h, "md0"));
    harness_close(&h);
    tree_remove(&tree);
}

static void a_loop_device_appears_with_its_first_io(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/diskstats", LOOP_IDLE SDA);
    tree_write(&tree, "sys/block/sda/dev", "8:0\n");
    tree_write(&tree, "sys/block/loop0/dev", "7:0\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_disk, S);
    assert_int_equal(h.rows.n, 1);
    tree_write(&tree, "proc/diskstats", LOOP_USED SDA);
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    expect(&h, "loop0", "read_bytes", 1024);
    assert_true(is_born(&h, "loop0")); /* it was seen with zero */
    harness_close(&h);
    tree_remove(&tree);
}

/* Backing files: one on a disk, one on /dev/shm, which has no disk. */
static void a_loop_device_over_a_file_of_a_disk_is_counted_below(void **state) {
    struct tree tree;
    struct harness h;
    struct stat st;
    char text[128];
    (void)state;
    tree_make(&tree, NULL);
    if (stat(tree.path, &st) < 0 || (st.st_dev >> 8) == 0) {
        tree_remove(&tree);
        skip(); /* /tmp is not on a disk here */
    }
    tree_write(&tree, "proc/diskstats", LOOP_USED SDA);
    tree_write(&tree, "sys/block/sda/dev", "8:0\n");
    snprintf(text, sizeof text, "%s/image\n", tree.path);
    tree_write(&tree, "sys/block/loop0/loop/backing_file", text);
    tree_write(&tree, "image", "");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_disk, S);
    assert_null(harness_row(&h, "loop0"));
    harness_close(&h);
    tree_write(&tree, "sys/block/loop0/loop/backing_file", "/dev/shm\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_disk, S);
    assert_non_null(harness_row(&h, "loop0"));
    harness_close(&h);
    tree_remove(&tree);
}

static void cores_may_go_offline_and_come_back(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/stat", "cpu  2 0 0 2\ncpu0 1 0 0 100\ncpu1 1 0 0 100\nintr 5\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_cpu, S);
    tree_write(&tree, "proc/stat", "cpu  2 0 0 2\ncpu0 1 0 0 110\nintr 5\n");
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_int_equal(h.rows.n, 1);
    tree_write(&tree, "proc/stat", "cpu  2 0 0 2\ncpu0 1 0 0 120\ncpu1 1 0 0 105\ncpu2 0 0 0 1\n");
    assert_int_equal(harness_sample_at(&h, 3 * S), 0);
    assert_int_equal(h.rows.n, 3);
    assert_false(is_born(&h, "cpu1")); /* its counters did not begin at zero */
    expect(&h, "cpu1", "idle_ns", 1050000000);
    harness_close(&h);
    tree_remove(&tree);
}

static void idle_time_does_not_step_back_but_a_restart_shows(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/stat", "cpu0 1 0 0 1000 500 0 0 0\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_cpu, S);
    tree_write(&tree, "proc/stat", "cpu0 1 0 0 999 498 0 0 0\n");
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    expect(&h, "cpu0", "idle_ns", 10000000000);
    expect(&h, "cpu0", "iowait_ns", 5000000000);
    tree_write(&tree, "proc/stat", "cpu0 1 0 0 1003 501 0 0 0\n");
    assert_int_equal(harness_sample_at(&h, 3 * S), 0);
    expect(&h, "cpu0", "idle_ns", 10030000000);
    tree_write(&tree, "proc/stat", "cpu0 1 0 0 7 1 0 0 0\n");
    assert_int_equal(harness_sample_at(&h, 4 * S), 0);
    expect(&h, "cpu0", "idle_ns", 70000000);
    harness_close(&h);
    tree_remove(&tree);
}

#define CPUACCT "sys/fs/cgroup/cpu,cpuacct/cpuacct."

static void a_group_that_used_more_than_passed_is_not_idle(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, "cgroup-v1");
    probe_start(&h, tree.path, SCOPE_CGROUP, &probe_cpu, 10 * S);
    int64_t idle_ns = harness_value(&h, "cpu2", "idle_ns");
    tree_write(&tree, CPUACCT "usage_percpu", "7 333 2550000006 3400000007\n");
    assert_int_equal(harness_sample_at(&h, 11 * S), 0); /* 1.05 s in 1 s: different clocks */
    expect(&h, "cpu2", "idle_ns", idle_ns);
    assert_int_equal(harness_sample_at(&h, 12 * S), 0);
    expect(&h, "cpu2", "idle_ns", 12 * S - 2550000006 - 200000000);
    harness_close(&h);
    tree_remove(&tree);
}

static void expect_times(struct harness *h, const char *ticks, const char *exact, int64_t user_ns,
                         int64_t system_ns, struct tree *tree) {
    tree_write(tree, CPUACCT "usage_all", ticks);
    tree_write(tree, CPUACCT "usage_percpu", exact);
    assert_int_equal(harness_sample_at(h, 100 * S), 0);
    expect(h, "cpu2", "user_ns", user_ns);
    expect(h, "cpu2", "system_ns", system_ns);
}

static void a_group_s_cores_go_by_the_scheduler_s_clock(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, "cgroup-v1");
    tree_write(&tree, CPUACCT "usage_percpu", "0 0 8 0\n");
    tree_write(&tree, CPUACCT "usage_all", "cpu user system\n2 0 0\n");
    probe_start(&h, tree.path, SCOPE_CGROUP, &probe_cpu, 10 * S);
    expect(&h, "cpu2", "user_ns", 8); /* no tick has seen it run */
    expect_times(&h, "cpu user system\n2 30 10\n", "0 0 400 0\n", 300, 100, &tree);
    /* All that the tick saw since was system time; no user time is taken back. */
    expect_times(&h, "cpu user system\n2 30 90\n", "0 0 480 0\n", 300, 180, &tree);
    expect_times(&h, "cpu user system\n2 930 90\n", "0 0 500 0\n", 320, 180, &tree);
    expect_times(&h, "cpu user system\n2 5 5\n", "0 0 20 0\n", 10, 10, &tree); /* a restart */
    expect_times(&h, "cpu user system\n2 50 60\n", "0 0\n", 50, 60, &tree);    /* missing */
    harness_close(&h);
    tree_remove(&tree);
}

static void lines_are_found_by_name_wherever_they_are(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/meminfo", "MemTotal: 10 kB\nMemFree: 5 kB\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_memory, S);
    tree_write(&tree, "proc/meminfo", "New: 1 kB\nMemFree: 4 kB\nOther: 7 kB\nMemTotal: 11 kB\n");
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    expect(&h, "memory", "total_bytes", 11 * 1024);
    expect(&h, "memory", "free_bytes", 4 * 1024);
    harness_close(&h);
    tree_remove(&tree);
}

static void an_emptied_file_costs_this_sample_only(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    tree_write(&tree, "proc/stat", "cpu0 1 0 0 1000 500 0 0 0\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_cpu, S);
    tree_write(&tree, "proc/stat", "");
    assert_true(harness_sample_at(&h, 2 * S) < 0);
    tree_write(&tree, "proc/stat", "cpu0 2 0 0 1000 500 0 0 0\n");
    assert_int_equal(harness_sample_at(&h, 3 * S), 0);
    expect(&h, "cpu0", "user_ns", 20000000);
    harness_close(&h);
    tree_remove(&tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interface_may_be_plugged_and_unplugged),
        cmocka_unit_test(an_interface_that_returns_is_born_only_with_new_counters),
        cmocka_unit_test(an_interface_tells_its_speed),
        cmocka_unit_test(more_interfaces_than_there_is_room_for_are_counted),
        cmocka_unit_test(a_file_that_outgrew_its_buffer_loses_whole_lines),
        cmocka_unit_test(a_disk_may_be_plugged_with_its_partitions),
        cmocka_unit_test(a_disk_that_becomes_part_of_an_array_still_counts_once),
        cmocka_unit_test(an_array_that_loses_its_slaves_counts_itself),
        cmocka_unit_test(a_loop_device_appears_with_its_first_io),
        cmocka_unit_test(a_loop_device_over_a_file_of_a_disk_is_counted_below),
        cmocka_unit_test(cores_may_go_offline_and_come_back),
        cmocka_unit_test(idle_time_does_not_step_back_but_a_restart_shows),
        cmocka_unit_test(a_group_that_used_more_than_passed_is_not_idle),
        cmocka_unit_test(a_group_s_cores_go_by_the_scheduler_s_clock),
        cmocka_unit_test(lines_are_found_by_name_wherever_they_are),
        cmocka_unit_test(an_emptied_file_costs_this_sample_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
