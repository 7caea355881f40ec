/* SPDX-License-Identifier: MIT */
/* Energy (powercap) and bandwidth of memory (resctrl): trees as the kernel lays them out. */
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/probe_test.h"

#define POWERCAP "sys/class/powercap/"
#define RESCTRL "sys/fs/resctrl/"

static struct tree tree;
static struct harness h;

static int make(void **state) {
    (void)state;
    tree_make(&tree, NULL);
    return 0;
}

static int clean(void **state) {
    (void)state;
    harness_close(&h);
    tree_remove(&tree);
    return 0;
}

static void zone(const char *zone, const char *name, const char *energy_uj) {
    char path[256];
    snprintf(path, sizeof path, POWERCAP "%s/name", zone);
    tree_write(&tree, path, name);
    snprintf(path, sizeof path, POWERCAP "%s/max_energy_range_uj", zone);
    tree_write(&tree, path, "1000000\n");
    snprintf(path, sizeof path, POWERCAP "%s/energy_uj", zone);
    tree_write(&tree, path, energy_uj);
}

static void each_package_and_each_part_of_it_is_a_zone(void **state) {
    (void)state;
    zone("intel-rapl:0", "package-0\n", "100\n");
    zone("intel-rapl:0:0", "core\n", "60\n");
    zone("intel-rapl:0:1", "dram\n", "30\n");
    zone("intel-rapl:1", "package-1\n", "200\n");
    zone("intel-rapl:1:0", "dram\n", "40\n");
    zone("intel-rapl-mmio:0", "package-0\n", "7\n"); /* the first package again */
    tree_write(&tree, POWERCAP "intel-rapl/enabled", "1\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_energy, S);
    assert_int_equal(h.rows.n, 5);
    expect(&h, "package-0", "joules_nano", 100000);
    expect(&h, "package-0 core", "joules_nano", 60000);
    expect(&h, "package-0 dram", "joules_nano", 30000);
    expect(&h, "package-1", "joules_nano", 200000);
    expect(&h, "package-1 dram", "joules_nano", 40000);
}

static void a_counter_that_begins_anew_grows_on(void **state) {
    (void)state;
    zone("intel-rapl:0", "package-0\n", "999990\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_energy, S);
    tree_write(&tree, POWERCAP "intel-rapl:0/energy_uj", "5\n");
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    expect(&h, "package-0", "joules_nano", 1000005000);
    tree_write(&tree, POWERCAP "intel-rapl:0/energy_uj", "junk\n");
    assert_int_equal(harness_sample_at(&h, 3 * S), 0);
    expect_absent(&h, "package-0", "joules_nano");
}

static void zones_without_a_name_or_a_range_are_left_out(void **state) {
    (void)state;
    tree_write(&tree, POWERCAP "intel-rapl:0/energy_uj", "5\n");
    tree_write(&tree, POWERCAP "intel-rapl:1/name", "package-1\n");
    tree_write(&tree, POWERCAP "intel-rapl:1/energy_uj", "5\n");
    zone("intel-rapl:x", "package-2\n", "5\n");
    assert_int_equal(harness_init(&h, tree.path, SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_energy), PROBE_ABSENT);
    assert_string_equal(h.why, "");
}

/* Root may read whatever its mode is. */
static void what_only_root_may_read_is_said(void **state) {
    char path[256];
    (void)state;
    zone("intel-rapl:0", "package-0\n", "5\n");
    snprintf(path, sizeof path, "%s/" POWERCAP "intel-rapl:0/energy_uj", tree.path);
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(tree.path, 0755), 0);
    assert_int_equal(harness_init(&h, tree.path, SCOPE_HOST), 0);
    if (getuid() == 0)
        assert_int_equal(seteuid(65534), 0);
    int opened = harness_open(&h, &probe_energy);
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(opened, PROBE_ABSENT);
    assert_non_null(strstr(h.why, "energy_uj is for root alone"));
}

static void monitor(const char *group, const char *domain, const char *total, const char *local) {
    char path[256];
    snprintf(path, sizeof path, RESCTRL "%smon_data/%s/mbm_total_bytes", group, domain);
    tree_write(&tree, path, total);
    snprintf(path, sizeof path, RESCTRL "%smon_data/%s/mbm_local_bytes", group, domain);
    tree_write(&tree, path, local);
    snprintf(path, sizeof path, RESCTRL "%smon_data/%s/llc_occupancy", group, domain);
    tree_write(&tree, path, "12\n");
}

static void each_cache_and_each_group_counts_for_itself(void **state) {
    (void)state;
    monitor("", "mon_L3_00", "1000\n", "600\n");
    monitor("", "mon_L3_01", "2000\n", "Unavailable\n");
    monitor("batch/", "mon_L3_00", "50\n", "5\n");
    monitor("mon_groups/inner/", "mon_L3_00", "7\n", "7\n"); /* counted in the root's */
    tree_write(&tree, RESCTRL "info/L3_MON/num_rmids", "8\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_bandwidth, S);
    assert_int_equal(h.rows.n, 3);
    expect(&h, "L3_00", "total_bytes", 1000);
    expect(&h, "L3_00", "local_bytes", 600);
    expect(&h, "L3_01", "total_bytes", 2000);
    expect_absent(&h, "L3_01", "local_bytes");
    expect(&h, "L3_00 batch", "total_bytes", 50);
}

static void a_group_may_come_later(void **state) {
    (void)state;
    monitor("", "mon_L3_00", "1000\n", "600\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_bandwidth, S);
    monitor("late/", "mon_L3_00", "1\n", "1\n");
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_int_equal(h.rows.n, 1);
    assert_int_equal(harness_sample_at(&h, 12 * S), 0);
    assert_int_equal(h.rows.n, 2);
    expect(&h, "L3_00 late", "total_bytes", 1);
}

static void a_machine_without_monitors_has_no_rows_and_no_remark(void **state) {
    (void)state;
    tree_write(&tree, RESCTRL "mon_data/mon_L3_00/llc_occupancy", "12\n");
    assert_int_equal(harness_init(&h, tree.path, SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_bandwidth), PROBE_ABSENT);
    assert_string_equal(h.why, "");
}

int main(void) {
#define EACH(test) cmocka_unit_test_setup_teardown(test, make, clean)
    const struct CMUnitTest tests[] = {
        EACH(each_package_and_each_part_of_it_is_a_zone),
        EACH(a_counter_that_begins_anew_grows_on),
        EACH(zones_without_a_name_or_a_range_are_left_out),
        EACH(what_only_root_may_read_is_said),
        EACH(each_cache_and_each_group_counts_for_itself),
        EACH(a_group_may_come_later),
        EACH(a_machine_without_monitors_has_no_rows_and_no_remark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
