/* SPDX-License-Identifier: MIT */
/* Exact values of the system probes on whole hosts: several kernels, many cores, cgroups. */
#include "tests/unit/probe_test.h"

#include "common/error.h"
#include "common/wire.h"

static void start(struct harness *h, const char *host, const struct probe *probe) {
    char root[512];
    snprintf(root, sizeof root, FIXTURES "%s", host);
    probe_start(h, root, SCOPE_HOST, probe, 1000 * S);
}

static void start_cgroup(struct harness *h, const char *host, const struct probe *probe) {
    char root[512];
    snprintf(root, sizeof root, FIXTURES "%s", host);
    probe_start(h, root, SCOPE_CGROUP, probe, 1000 * S);
}

/* ---- a small virtual machine ---- */

static void every_core_has_its_eight_times(void **state) {
    struct harness h;
    (void)state;
    start(&h, "debian12-vm", &probe_cpu);
    assert_int_equal(h.rows.n, 2);
    expect(&h, "cpu0", "user_ns", 235850000000);
    expect(&h, "cpu0", "nice_ns", 140000000);
    expect(&h, "cpu0", "system_ns", 204840000000);
    expect(&h, "cpu0", "idle_ns", 2034080000000);
    expect(&h, "cpu0", "iowait_ns", 1090000000);
    expect(&h, "cpu0", "irq_ns", 0);
    expect(&h, "cpu0", "softirq_ns", 6920000000);
    expect(&h, "cpu0", "steal_ns", 360000000);
    expect(&h, "cpu1", "user_ns", 225180000000);
    expect(&h, "cpu1", "nice_ns", 70000000);
    expect(&h, "cpu1", "system_ns", 353730000000);
    expect(&h, "cpu1", "idle_ns", 1892820000000);
    expect(&h, "cpu1", "iowait_ns", 7660000000);
    expect(&h, "cpu1", "irq_ns", 0);
    expect(&h, "cpu1", "softirq_ns", 8180000000);
    expect(&h, "cpu1", "steal_ns", 290000000);
    harness_close(&h);
}

static void meminfo_is_in_bytes(void **state) {
    struct harness h;
    (void)state;
    start(&h, "debian12-vm", &probe_memory);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "memory", "total_bytes", 25276510208);
    expect(&h, "memory", "free_bytes", 23227465728);
    expect(&h, "memory", "available_bytes", 24123715584);
    expect(&h, "memory", "buffers_bytes", 7135232);
    expect(&h, "memory", "cached_bytes", 1042534400);
    expect(&h, "memory", "slab_bytes", 202412032);
    expect(&h, "memory", "anon_bytes", 568086528);
    expect(&h, "memory", "shmem_bytes", 13262848);
    expect(&h, "memory", "dirty_bytes", 6557696);
    expect(&h, "memory", "writeback_bytes", 0);
    expect(&h, "memory", "swap_total_bytes", 0);
    expect(&h, "memory", "swap_free_bytes", 0);
    harness_close(&h);
}

static void vmstat_counts_pages_in_bytes(void **state) {
    struct harness h;
    (void)state;
    start(&h, "debian12-vm", &probe_vmstat);
    expect(&h, "vm", "faults", 37995675);
    expect(&h, "vm", "major_faults", 8183);
    expect(&h, "vm", "swap_in_bytes", 0);
    expect(&h, "vm", "page_in_bytes", 3500045312);
    expect(&h, "vm", "page_out_bytes", 5570183168);
    expect(&h, "vm", "refault_bytes", 2210934784);
    expect(&h, "vm", "oom_kills", 0);
    harness_close(&h);
}

static void idle_loop_devices_are_no_disks(void **state) {
    struct harness h;
    (void)state;
    start(&h, "debian12-vm", &probe_disk);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "vda", "reads", 120939);
    expect(&h, "vda", "read_bytes", 3500045312);
    expect(&h, "vda", "read_ns", 82850000000);
    expect(&h, "vda", "writes", 160220);
    expect(&h, "vda", "write_bytes", 5570183168);
    expect(&h, "vda", "write_ns", 29051000000);
    expect(&h, "vda", "flushes", 36029);
    expect(&h, "vda", "busy_ns", 18196000000);
    expect(&h, "vda", "queue_ns", 115444000000);
    harness_close(&h);
}

static void interfaces_have_both_directions(void **state) {
    struct harness h;
    (void)state;
    start(&h, "debian12-vm", &probe_net);
    assert_int_equal(h.rows.n, 4);
    expect(&h, "lo", "receive_bytes", 11893736);
    expect(&h, "lo", "receive_packets", 51592);
    expect(&h, "lo", "send_bytes", 11893736);
    expect(&h, "lo", "send_packets", 51592);
    expect(&h, "lo", "send_drops", 0);
    expect(&h, "eth0", "receive_bytes", 740534317);
    expect(&h, "eth0", "receive_packets", 15241);
    expect(&h, "eth0", "send_bytes", 677138);
    expect(&h, "eth0", "send_packets", 9255);
    expect(&h, "eth0", "send_drops", 0);
    harness_close(&h);
}

static void pressure_is_in_ns(void **state) {
    struct harness h;
    (void)state;
    start(&h, "debian12-vm", &probe_psi);
    assert_int_equal(h.rows.n, 3);
    expect(&h, "cpu", "some_ns", 199876118000);
    expect(&h, "cpu", "full_ns", 0);
    expect(&h, "memory", "some_ns", 0);
    expect(&h, "memory", "full_ns", 0);
    expect(&h, "io", "some_ns", 8220930000);
    expect(&h, "io", "full_ns", 6587601000);
    harness_close(&h);
}

/* ---- a large machine ---- */

static void a_hundred_and_twenty_eight_cores(void **state) {
    struct harness h;
    (void)state;
    start(&h, "bigiron", &probe_cpu);
    assert_int_equal(h.rows.n, 128);
    for (int core = 0; core < 128; core++) {
        char name[16];
        snprintf(name, sizeof name, "cpu%d", core);
        expect(&h, name, "user_ns", (1000000 + core) * INT64_C(10000000));
        expect(&h, name, "nice_ns", (10 + core) * INT64_C(10000000));
        expect(&h, name, "system_ns", (200000 + core) * INT64_C(10000000));
        expect(&h, name, "idle_ns", (90000000 + core) * INT64_C(10000000));
        expect(&h, name, "iowait_ns", (300 + core) * INT64_C(10000000));
        expect(&h, name, "irq_ns", 0);
        expect(&h, name, "softirq_ns", (4000 + core) * INT64_C(10000000));
        expect(&h, name, "steal_ns", (50 + core) * INT64_C(10000000));
    }
    assert_int_equal(h.rows.dropped, 0);
    harness_close(&h);
}

/* 24 SCSI disks, 9 NVMe, one RAID controller, one zram in use. Not counted: partitions, md and dm
 * above them, the two hidden paths of nvme8n1, and disks without I/O.
 */
static void every_byte_of_many_disks_counts_once(void **state) {
    struct harness h;
    int64_t sum = 0;
    (void)state;
    start(&h, "bigiron", &probe_disk);
    assert_int_equal(h.rows.n, 24 + 9 + 1 + 1);
    for (size_t i = 0; i < h.rows.n; i++)
        sum += harness_value(&h, h.rows.items[i].name, "read_bytes");
    int64_t units = 24 * 25 / 2 + (100 + 107) * 8 / 2 + 200 + 400 + 500;
    assert_int_equal(sum, units * 80000 * 512);
    assert_null(harness_row(&h, "sda1"));
    assert_null(harness_row(&h, "dm-0"));
    assert_null(harness_row(&h, "md0"));
    assert_null(harness_row(&h, "nvme8c0n1"));
    assert_null(harness_row(&h, "ram0"));
    harness_close(&h);
}

static void a_disk_has_all_its_columns(void **state) {
    struct harness h;
    (void)state;
    start(&h, "bigiron", &probe_disk);
    expect(&h, "sdc", "reads", 3000);
    expect(&h, "sdc", "read_bytes", 240000 * 512);
    expect(&h, "sdc", "read_ns", 1200 * NS_PER_MS);
    expect(&h, "sdc", "writes", 6000);
    expect(&h, "sdc", "write_bytes", 480000 * 512);
    expect(&h, "sdc", "write_ns", 2700 * NS_PER_MS);
    expect(&h, "sdc", "flushes", 165);
    expect(&h, "sdc", "busy_ns", 2100 * NS_PER_MS);
    expect(&h, "sdc", "queue_ns", 3900 * NS_PER_MS);
    expect(&h, "cciss/c0d0", "reads", 500000);
    harness_close(&h);
}

static void several_names_add_up_to_one_column(void **state) {
    struct harness h;
    (void)state;
    start(&h, "bigiron", &probe_vmstat);
    expect(&h, "vm", "faults", 7000000000);
    expect(&h, "vm", "major_faults", 1234);
    expect(&h, "vm", "swap_in_bytes", 11 * 4096);
    expect(&h, "vm", "swap_out_bytes", 22 * 4096);
    expect(&h, "vm", "page_in_bytes", 123456789 * INT64_C(1024));
    expect(&h, "vm", "page_out_bytes", 987654321 * INT64_C(1024));
    expect(&h, "vm", "refault_bytes", 11 * 4096);
    expect(&h, "vm", "reclaim_scanned_bytes", 127 * 4096);
    expect(&h, "vm", "reclaim_direct_bytes", 15 * 4096);
    expect(&h, "vm", "oom_kills", 2);
    harness_close(&h);
}

static void a_terabyte_of_memory(void **state) {
    struct harness h;
    (void)state;
    start(&h, "bigiron", &probe_memory);
    expect(&h, "memory", "total_bytes", 1056000000 * INT64_C(1024));
    expect(&h, "memory", "free_bytes", 500000000 * INT64_C(1024));
    expect(&h, "memory", "available_bytes", 900000000 * INT64_C(1024));
    expect(&h, "memory", "buffers_bytes", 1000000 * INT64_C(1024));
    expect(&h, "memory", "cached_bytes", 400000000 * INT64_C(1024));
    expect(&h, "memory", "slab_bytes", 9000000 * INT64_C(1024));
    expect(&h, "memory", "anon_bytes", 50000000 * INT64_C(1024));
    expect(&h, "memory", "shmem_bytes", 2000000 * INT64_C(1024));
    expect(&h, "memory", "dirty_bytes", 12345 * 1024);
    expect(&h, "memory", "writeback_bytes", 67 * 1024);
    expect(&h, "memory", "swap_total_bytes", 8388604 * INT64_C(1024));
    expect(&h, "memory", "swap_free_bytes", 8388000 * INT64_C(1024));
    harness_close(&h);
}

static void many_interfaces_with_large_counters(void **state) {
    struct harness h;
    (void)state;
    start(&h, "bigiron", &probe_net);
    assert_int_equal(h.rows.n, 48);
    expect(&h, "ib0", "receive_bytes", 50000000000000);
    expect(&h, "ib0", "receive_packets", 5000000000);
    expect(&h, "ib0", "receive_errors", 5);
    expect(&h, "ib0", "receive_drops", 10);
    expect(&h, "ib0", "send_bytes", 100000000000000);
    expect(&h, "ib0", "send_packets", 10000000000);
    expect(&h, "ib0", "send_errors", 20);
    expect(&h, "ib0", "send_drops", 25);
    harness_close(&h);
}

static void interrupts_have_only_full_pressure(void **state) {
    struct harness h;
    (void)state;
    start(&h, "bigiron", &probe_psi);
    assert_int_equal(h.rows.n, 4);
    expect(&h, "memory", "some_ns", 2000000 * NS_PER_US);
    expect(&h, "memory", "full_ns", 500000 * NS_PER_US);
    expect_absent(&h, "irq", "some_ns");
    expect(&h, "irq", "full_ns", 1500000 * NS_PER_US);
    harness_close(&h);
}

/* ---- an old kernel ---- */

static void what_an_old_kernel_does_not_know_is_absent(void **state) {
    struct harness h;
    (void)state;
    start(&h, "old-kernel", &probe_cpu);
    assert_int_equal(h.rows.n, 2);
    expect(&h, "cpu1", "irq_ns", 30000000);
    expect_absent(&h, "cpu1", "steal_ns");
    harness_close(&h);
    start(&h, "old-kernel", &probe_memory);
    expect(&h, "memory", "free_bytes", 114512 * 1024);
    expect_absent(&h, "memory", "available_bytes");
    expect_absent(&h, "memory", "shmem_bytes");
    harness_close(&h);
    start(&h, "old-kernel", &probe_vmstat);
    expect(&h, "vm", "reclaim_scanned_bytes", 133 * 4096);
    expect(&h, "vm", "reclaim_direct_bytes", 16 * 4096);
    expect(&h, "vm", "refault_bytes", 8 * 4096);
    expect_absent(&h, "vm", "oom_kills");
    harness_close(&h);
}

static void short_lines_of_old_disks(void **state) {
    struct harness h;
    (void)state;
    start(&h, "old-kernel", &probe_disk);
    assert_int_equal(h.rows.n, 2);
    expect(&h, "sda", "write_bytes", 1600 * 512);
    expect(&h, "sda", "queue_ns", 140 * NS_PER_MS);
    expect_absent(&h, "sda", "flushes");
    expect(&h, "hda", "reads", 5);
    harness_close(&h);
}

static void no_blank_after_the_colon(void **state) {
    struct harness h;
    (void)state;
    start(&h, "old-kernel", &probe_net);
    assert_int_equal(h.rows.n, 2);
    expect(&h, "eth0", "receive_bytes", 1234567);
    expect(&h, "eth0", "receive_drops", 2);
    expect(&h, "eth0", "send_bytes", 7654321);
    expect(&h, "eth0", "send_drops", 5);
    harness_close(&h);
}

static void no_pressure_is_absent_with_a_reason(void **state) {
    struct harness h;
    (void)state;
    assert_int_equal(harness_init(&h, FIXTURES "old-kernel", SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_psi), PROBE_ABSENT);
    assert_non_null(strstr(h.why, "pressure stall information"));
    harness_close(&h);
}

/* ---- cgroups ---- */

static void a_v1_group_has_its_own_cores(void **state) {
    struct harness h;
    (void)state;
    start_cgroup(&h, "cgroup-v1", &probe_cpu);
    assert_int_equal(h.rows.n, 2);
    /* 1.5 s by the scheduler's clock; the tick saw 1 s of user and 0.2 s of system time */
    expect(&h, "cpu2", "user_ns", 1250000004);
    expect(&h, "cpu2", "system_ns", 250000002);
    expect(&h, "cpu2", "steal_ns", 200000000);
    expect(&h, "cpu2", "idle_ns", 1000 * S - 1500000006 - 200000000);
    expect(&h, "cpu2", "outside_ns", 4020000000 - 1500000006); /* of what the core did */
    expect(&h, "cpu3", "outside_ns", 0); /* a tick saw less than the scheduler */
    expect_absent(&h, "cpu2", "iowait_ns");
    expect(&h, "cpu3", "idle_ns", 1000 * S - 3400000007 - 300000000);
    harness_close(&h);
}

static void a_v1_group_has_its_own_memory(void **state) {
    struct harness h;
    (void)state;
    start_cgroup(&h, "cgroup-v1", &probe_memory);
    expect(&h, "memory", "total_bytes", 536870912); /* the parent's limit is tighter than its own */
    expect(&h, "memory", "free_bytes", 536870912 - 314572800);
    expect(&h, "memory", "available_bytes", 536870912 - 314572800 + 52428800);
    expect(&h, "memory", "cached_bytes", 104857600);
    expect(&h, "memory", "anon_bytes", 209715200);
    expect(&h, "memory", "writeback_bytes", 12288);
    expect_absent(&h, "memory", "slab_bytes");
    expect_absent(&h, "memory", "swap_total_bytes");
    harness_close(&h);
    start_cgroup(&h, "cgroup-v1", &probe_vmstat);
    expect(&h, "vm", "faults", 5000);
    expect(&h, "vm", "refault_bytes", 3 * 4096);
    expect(&h, "vm", "oom_kills", 3);
    expect_absent(&h, "vm", "page_in_bytes");
    harness_close(&h);
}

static void a_v1_group_has_its_own_io(void **state) {
    struct harness h;
    (void)state;
    start_cgroup(&h, "cgroup-v1", &probe_disk);
    assert_int_equal(h.rows.n, 2); /* not dm-0, which is sda again; 99:9 has no name here */
    expect(&h, "sda", "read_bytes", 1000);
    expect(&h, "sda", "write_bytes", 2000);
    expect(&h, "sda", "reads", 10);
    expect(&h, "sda", "writes", 20);
    expect_absent(&h, "sda", "busy_ns");
    expect(&h, "99:9", "write_bytes", 6);
    harness_close(&h);
}

static void a_group_without_v2_has_no_pressure(void **state) {
    struct harness h;
    (void)state;
    assert_int_equal(harness_init(&h, FIXTURES "cgroup-v1", SCOPE_CGROUP), 0);
    assert_int_equal(harness_open(&h, &probe_psi), PROBE_ABSENT);
    assert_non_null(strstr(h.why, "cgroup v2"));
    harness_close(&h);
}

static void a_v2_group_is_one_row_of_all_its_cores(void **state) {
    struct harness h;
    (void)state;
    start_cgroup(&h, "cgroup-v2", &probe_cpu);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "cpus", "user_ns", 2000001000);
    expect(&h, "cpus", "system_ns", 1000002000);
    expect(&h, "cpus", "steal_ns", 2200000000); /* of cores 4 to 7 */
    expect(&h, "cpus", "idle_ns", 4 * 1000 * S - 2000001000 - 1000002000 - 2200000000);
    expect(&h, "cpus", "outside_ns", 4110000000 - 2000001000 - 1000002000);
    harness_close(&h);
}

static void a_v2_group_has_its_own_memory(void **state) {
    struct harness h;
    (void)state;
    start_cgroup(&h, "cgroup-v2", &probe_memory);
    expect(&h, "memory", "total_bytes", 8000000 * INT64_C(1024)); /* no limit: the machine's */
    expect(&h, "memory", "free_bytes", 8000000 * INT64_C(1024) - 209715200);
    expect(&h, "memory", "available_bytes", 8000000 * INT64_C(1024) - 209715200 + 41943040);
    expect(&h, "memory", "slab_bytes", 3145728);
    expect(&h, "memory", "dirty_bytes", 4096);
    harness_close(&h);
    start_cgroup(&h, "cgroup-v2", &probe_vmstat);
    expect(&h, "vm", "major_faults", 80);
    expect(&h, "vm", "reclaim_scanned_bytes", 300 * 4096);
    expect(&h, "vm", "reclaim_direct_bytes", 150 * 4096);
    expect(&h, "vm", "oom_kills", 4);
    harness_close(&h);
}

static void a_v2_group_has_its_own_io_and_pressure(void **state) {
    struct harness h;
    (void)state;
    start_cgroup(&h, "cgroup-v2", &probe_disk);
    assert_int_equal(h.rows.n, 1); /* not dm-0, nor loop0, which has no I/O */
    expect(&h, "nvme0n1", "read_bytes", 1000);
    expect(&h, "nvme0n1", "writes", 40);
    harness_close(&h);
    start_cgroup(&h, "cgroup-v2", &probe_psi);
    assert_int_equal(h.rows.n, 3);
    expect(&h, "io", "some_ns", 30000);
    expect(&h, "io", "full_ns", 3000);
    harness_close(&h);
}

static void a_group_is_seen_as_the_machine_when_asked_so(void **state) {
    struct harness h;
    (void)state;
    start(&h, "cgroup-v2", &probe_cpu);
    assert_int_equal(h.rows.n, 8);
    harness_close(&h);
}

/* ---- hostile text ---- */

static void odd_cores_cost_only_themselves(void **state) {
    struct harness h;
    (void)state;
    start(&h, "hostile", &probe_cpu);
    assert_int_equal(h.rows.n, 3);
    expect(&h, "cpu0", "idle_ns", 90000000000);
    expect_absent(&h, "cpu3", "user_ns"); /* 2^64 - 1 ticks */
    expect(&h, "cpu3", "steal_ns", 70000000);
    expect(&h, "cpu5", "idle_ns", 40000000);
    expect_absent(&h, "cpu5", "iowait_ns"); /* "five" */
    harness_close(&h);
}

static void odd_numbers_are_absent(void **state) {
    struct harness h;
    (void)state;
    start(&h, "hostile", &probe_memory);
    expect(&h, "memory", "total_bytes", 1024000);
    expect_absent(&h, "memory", "free_bytes");      /* no number */
    expect_absent(&h, "memory", "available_bytes"); /* negative */
    expect(&h, "memory", "buffers_bytes", 7168);
    expect_absent(&h, "memory", "cached_bytes"); /* "lots" */
    expect_absent(&h, "memory", "slab_bytes");   /* too large, and said twice */
    expect_absent(&h, "memory", "anon_bytes");
    expect(&h, "memory", "shmem_bytes", 3072);
    expect_absent(&h, "memory", "swap_free_bytes"); /* its line has no end */
    harness_close(&h);
    start(&h, "hostile", &probe_vmstat);
    expect(&h, "vm", "faults", 10);
    expect_absent(&h, "vm", "major_faults");
    expect_absent(&h, "vm", "swap_in_bytes");
    expect_absent(&h, "vm", "swap_out_bytes"); /* 2^62 pages */
    expect_absent(&h, "vm", "reclaim_scanned_bytes");
    expect(&h, "vm", "refault_bytes", 7 * 4096);
    expect_absent(&h, "vm", "oom_kills");
    harness_close(&h);
}

static void odd_disks_cost_only_themselves(void **state) {
    struct harness h;
    (void)state;
    start(&h, "hostile", &probe_disk);
    assert_int_equal(h.rows.n, 2);
    expect(&h, "sda", "reads", 1); /* the second line of that name is left out */
    expect(&h, "sda", "flushes", 16);
    expect_absent(&h, "sdf", "reads");
    expect_absent(&h, "sdf", "read_bytes");
    expect(&h, "sdf", "writes", 5);
    harness_close(&h);
}

static void odd_interfaces_cost_only_themselves(void **state) {
    struct harness h;
    (void)state;
    start(&h, "hostile", &probe_net);
    assert_int_equal(h.rows.n, 3);
    expect(&h, "eth0", "send_bytes", 9);
    expect(&h, "ev?il", "receive_bytes", 1);
    expect_absent(&h, "eth4", "receive_bytes");
    expect(&h, "eth4", "receive_packets", 2);
    assert_int_equal(h.rows.dropped, 2); /* a name of 200 bytes, a second eth0 */
    harness_close(&h);
}

static void odd_pressure_costs_only_itself(void **state) {
    struct harness h;
    (void)state;
    start(&h, "hostile", &probe_psi);
    assert_int_equal(h.rows.n, 2);
    expect(&h, "cpu", "full_ns", 5000);
    expect_absent(&h, "memory", "some_ns");
    expect(&h, "memory", "full_ns", 77000);
    harness_close(&h);
}

/* ---- what all probes must obey ---- */

static void every_table_can_be_sent(void **state) {
    (void)state;
    for (size_t i = 0; i < probe_list_size; i++) {
        const struct table *table = probe_list[i]->table;
        assert_true(table_name_valid(table->name, strlen(table->name)));
        assert_true(table_name_valid(table->instance, strlen(table->instance)));
        assert_in_range(strlen(table->help), 1, TABLE_HELP_MAX);
        assert_in_range(table->n_columns, 1, TABLE_COLUMNS_MAX);
        for (size_t c = 0; c < table->n_columns; c++) {
            assert_non_null(table->columns[c].name);
            assert_true(table_name_valid(table->columns[c].name, strlen(table->columns[c].name)));
            assert_in_range(strlen(table->columns[c].help), 1, TABLE_HELP_MAX);
            assert_int_equal(table_find_column(table, table->columns[c].name), c);
        }
    }
}

static void a_root_without_files_is_an_error_with_a_reason(void **state) {
    (void)state;
    for (size_t i = 0; i < probe_list_size; i++) {
        struct harness h;
        if (probe_list[i] == &probe_qdisc || probe_list[i] == &probe_flow ||
            probe_list[i] == &probe_mpi_function || probe_list[i] == &probe_call ||
            probe_list[i] == &probe_wait || probe_list[i] == &probe_socket_wait ||
            probe_list[i] == &probe_wakeup || probe_list[i] == &probe_gpu ||
            probe_list[i] == &probe_gpu_process || probe_list[i] == &probe_gpu_device)
            continue; /* ask the kernel or a driver, not files */
        if (probe_list[i] == &probe_gpu_burst || probe_list[i] == &probe_gpu_kernel ||
            probe_list[i] == &probe_energy || probe_list[i] == &probe_bandwidth ||
            probe_list[i] == &probe_fabric || probe_list[i] == &probe_lustre ||
            probe_list[i] == &probe_lustre_target || probe_list[i] == &probe_beegfs)
            continue; /* few hosts have it, which needs no remark */
        assert_int_equal(harness_init(&h, "/nonexistent", SCOPE_HOST), 0);
        h.why[0] = '\0';
        assert_int_not_equal(harness_open(&h, probe_list[i]), 0);
        assert_true(strlen(h.why) > 10);
        harness_close(&h);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_core_has_its_eight_times),
        cmocka_unit_test(meminfo_is_in_bytes),
        cmocka_unit_test(vmstat_counts_pages_in_bytes),
        cmocka_unit_test(idle_loop_devices_are_no_disks),
        cmocka_unit_test(interfaces_have_both_directions),
        cmocka_unit_test(pressure_is_in_ns),
        cmocka_unit_test(a_hundred_and_twenty_eight_cores),
        cmocka_unit_test(every_byte_of_many_disks_counts_once),
        cmocka_unit_test(a_disk_has_all_its_columns),
        cmocka_unit_test(several_names_add_up_to_one_column),
        cmocka_unit_test(a_terabyte_of_memory),
        cmocka_unit_test(many_interfaces_with_large_counters),
        cmocka_unit_test(interrupts_have_only_full_pressure),
        cmocka_unit_test(what_an_old_kernel_does_not_know_is_absent),
        cmocka_unit_test(short_lines_of_old_disks),
        cmocka_unit_test(no_blank_after_the_colon),
        cmocka_unit_test(no_pressure_is_absent_with_a_reason),
        cmocka_unit_test(a_v1_group_has_its_own_cores),
        cmocka_unit_test(a_v1_group_has_its_own_memory),
        cmocka_unit_test(a_v1_group_has_its_own_io),
        cmocka_unit_test(a_group_without_v2_has_no_pressure),
        cmocka_unit_test(a_v2_group_is_one_row_of_all_its_cores),
        cmocka_unit_test(a_v2_group_has_its_own_memory),
        cmocka_unit_test(a_v2_group_has_its_own_io_and_pressure),
        cmocka_unit_test(a_group_is_seen_as_the_machine_when_asked_so),
        cmocka_unit_test(odd_cores_cost_only_themselves),
        cmocka_unit_test(odd_numbers_are_absent),
        cmocka_unit_test(odd_disks_cost_only_themselves),
        cmocka_unit_test(odd_interfaces_cost_only_themselves),
        cmocka_unit_test(odd_pressure_costs_only_itself),
        cmocka_unit_test(every_table_can_be_sent),
        cmocka_unit_test(a_root_without_files_is_an_error_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
