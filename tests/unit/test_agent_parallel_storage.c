/* SPDX-License-Identifier: MIT */
/* Lustre and BeeGFS: a host as files, and texts that no module writes. */
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/probe_test.h"

#define LLITE "sys/kernel/debug/lustre/llite/"
#define OSC "sys/kernel/debug/lustre/osc/"
#define CLIENT "proc/fs/beegfs/c1/"

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

/* ---- calls to Lustre ---- */

static void a_call_has_its_bytes_and_its_time(void **state) {
    (void)state;
    probe_start(&h, FIXTURES "hpc-node", SCOPE_HOST, &probe_lustre, S);
    expect(&h, "scratch read", "operations", 2100);
    expect(&h, "scratch read", "bytes", 8388608000);
    expect(&h, "scratch read", "time_ns", 42 * S);
    expect(&h, "scratch write", "operations", 500);
    expect(&h, "scratch write", "bytes", 524288000);
    expect(&h, "scratch open", "time_ns", S * 6 / 10);
    expect_absent(&h, "scratch open", "bytes");
    expect(&h, "scratch ioctl", "operations", 7);
    expect_absent(&h, "scratch ioctl", "time_ns");
}

/* Calls that read nothing are calls, too. */
static void lines_of_one_call_may_come_in_any_order(void **state) {
    (void)state;
    tree_write(&tree, LLITE "a-ffff1/stats",
               "read 9 samples [usecs] 1 1 18 36\nread_bytes 7 samples [bytes] 1 1 70 700\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_lustre, S);
    expect(&h, "a read", "operations", 9);
    expect(&h, "a read", "bytes", 70);
    expect(&h, "a read", "time_ns", 18000);
}

static void how_long_files_were_open_is_no_call(void **state) {
    (void)state;
    probe_start(&h, FIXTURES "hpc-node", SCOPE_HOST, &probe_lustre, S);
    assert_null(harness_row(&h, "scratch openclosetime"));
    assert_null(harness_row(&h, "scratch getxattr_hits"));
    assert_null(harness_row(&h, "scratch elapsed_time"));
}

static void old_versions_count_no_time(void **state) {
    (void)state;
    probe_start(&h, FIXTURES "hpc-node", SCOPE_HOST, &probe_lustre, S);
    expect(&h, "home read", "operations", 632846);
    expect(&h, "home read", "bytes", 2446905945284);
    expect_absent(&h, "home read", "time_ns");
    expect(&h, "home open", "operations", 39);
    expect_absent(&h, "home open", "time_ns");
}

static void a_call_made_for_the_first_time_is_growth(void **state) {
    (void)state;
    tree_write(&tree, LLITE "a-ffff1/stats", "open 1 samples [usecs] 1 1 1 1\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_lustre, S);
    tree_write(&tree, LLITE "a-ffff1/stats",
               "open 2 samples [usecs] 1 1 2 2\nfsync 1 samples [usecs] 9 9 9 81\n");
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_false(harness_row(&h, "a open")->flags & ROW_BORN);
    assert_true(harness_row(&h, "a fsync")->flags & ROW_BORN);
}

static void two_mounts_of_one_file_system_keep_their_whole_names(void **state) {
    (void)state;
    tree_write(&tree, LLITE "a-ffff1/stats", "open 1 samples [usecs] 1 1 1 1\n");
    tree_write(&tree, LLITE "a-ffff2/stats", "open 2 samples [usecs] 1 1 1 1\n");
    tree_write(&tree, LLITE "b-c-ffff3/stats", "open 3 samples [usecs] 1 1 1 1\n");
    tree_write(&tree, "proc/fs/lustre/llite/a-ffff1/stats", "open 4 samples [regs]\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_lustre, S);
    assert_int_equal(h.rows.n, 3); /* what both roots have is one mount */
    expect(&h, "a-ffff1 open", "operations", 4);
    expect(&h, "a-ffff2 open", "operations", 2);
    expect(&h, "b-c open", "operations", 3);
}

static void texts_that_no_module_writes_are_left_alone(void **state) {
    (void)state;
    tree_write(&tree, LLITE "a-ffff1/stats",
               "read_bytes 5 samples [bytes] 1 2 -3 4\n" /* an overflow */
               "write_bytes 18446744073709551615 samples [bytes] 0 0 18446744073709551615\n"
               "open 99999999999999999999999 samples [usecs] 1 1 1\n"
               "OPEN 1 samples [usecs] 1 1 1\n"
               "../x 1 samples [usecs] 1 1 1\n"
               "seek 1\n"
               "\n"
               "sync 0 samples [usecs] 0 0 0\n"
               "stat 1 times [usecs] 1 1 1\n"
               "mmap 1 samples\n"
               "fault 3 samples [furlongs] 1 1 1\n"
               "close 4 samples [usecs] 1 1 7\n"
               "close 6 samples [usecs] 1 1 12\n"
               "flock 7 samples [usecs] 1 1"); /* cut */
    probe_start(&h, tree.path, SCOPE_HOST, &probe_lustre, S);
    assert_int_equal(h.rows.n, 4);
    expect(&h, "a read_bytes", "operations", 5);
    expect_absent(&h, "a read_bytes", "bytes");
    expect_absent(&h, "a write", "operations");
    expect_absent(&h, "a write", "bytes");
    expect(&h, "a fault", "operations", 3);
    expect_absent(&h, "a fault", "time_ns");
    expect(&h, "a close", "time_ns", 12000); /* the last line counts */
}

static void more_kinds_of_calls_than_there_is_room_for_are_counted(void **state) {
    static char text[200 * 40];
    size_t n = 0;
    (void)state;
    for (int i = 0; i < 200; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "op%d 1 samples [usecs] 1 1 1\n", i);
    tree_write(&tree, LLITE "a-ffff1/stats", text);
    probe_start(&h, tree.path, SCOPE_HOST, &probe_lustre, S);
    assert_int_equal(h.rows.n, 64);
    assert_int_equal(h.rows.dropped, 200 - 64);
}

static void a_mount_may_come_and_go(void **state) {
    (void)state;
    tree_write(&tree, LLITE "a-ffff1/stats", "open 1 samples [usecs] 1 1 1 1\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_lustre, S);
    tree_write(&tree, LLITE "b-ffff2/stats", "open 1 samples [usecs] 1 1 1 1\n");
    run_command("rm -r %s/%s", tree.path, LLITE "a-ffff1");
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_int_equal(h.rows.n, 0);
    assert_int_equal(harness_sample_at(&h, 11 * S), 0);
    expect(&h, "b open", "operations", 1);
}

/* ---- requests to its servers ---- */

static void each_target_has_its_requests_and_their_waits(void **state) {
    (void)state;
    probe_start(&h, FIXTURES "hpc-node", SCOPE_HOST, &probe_lustre_target, S);
    assert_int_equal(h.rows.n, 3);
    expect(&h, "scratch-OST0000", "requests", 1500);
    expect(&h, "scratch-OST0000", "wait_ns", 36 * S);
    expect(&h, "scratch-OST0000", "read_bytes", 5033164800);
    expect(&h, "scratch-OST0000", "write_bytes", 314572800);
    expect(&h, "scratch-OST0000", "connected", 1);
    expect(&h, "scratch-OST0000", "timeouts", 2);
    expect(&h, "scratch-MDT0000", "wait_ns", S * 3 / 4);
    expect(&h, "scratch-MDT0000", "connected", 1); /* idle */
    expect_absent(&h, "scratch-MDT0000", "read_bytes");
}

static void a_lost_connection_is_told(void **state) {
    (void)state;
    probe_start(&h, FIXTURES "hpc-node", SCOPE_HOST, &probe_lustre_target, S);
    expect(&h, "scratch-OST0001", "connected", 0);
}

static void what_servers_ask_of_each_other_is_left_out(void **state) {
    (void)state;
    tree_write(&tree, OSC "s-OST0000-osc-MDT0000/stats", "req_waittime 1 samples [usec] 1 1 1\n");
    tree_write(&tree, OSC "s-OST0001-osc-ffff1/stats", "req_waittime 2 samples [usec] 1 1 3\n");
    tree_write(&tree, OSC "odd/stats", "req_waittime 1 samples [usec] 1 1 1\n");
    tree_write(&tree, OSC "num_refs", "3\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_lustre_target, S);
    assert_int_equal(h.rows.n, 1);
    expect(&h, "s-OST0001", "wait_ns", 3000);
    expect_absent(&h, "s-OST0001", "connected"); /* no import */
    tree_write(&tree, OSC "s-OST0001-osc-ffff1/import", "state:\nstate: FULL\n timeouts: -1\n");
    tree_write(&tree, OSC "s-OST0001-osc-ffff1/stats", "req_waittime 2 samples [parsecs] 1 1 3\n");
    assert_int_equal(harness_sample_at(&h, 11 * S), 0);
    expect(&h, "s-OST0001", "connected", 1);
    expect_absent(&h, "s-OST0001", "timeouts");
    expect_absent(&h, "s-OST0001", "wait_ns");
    expect(&h, "s-OST0001", "requests", 2);
}

static void many_targets(void **state) {
    char path[200];
    (void)state;
    for (int i = 0; i < 260; i++) {
        snprintf(path, sizeof path, OSC "s-OST%04x-osc-ffff1/stats", i);
        tree_write(&tree, path, "req_waittime 2 samples [usec] 1 1 3\n");
    }
    probe_start(&h, tree.path, SCOPE_HOST, &probe_lustre_target, S);
    assert_int_equal(h.rows.n, 256);
}

static void without_lustre_there_is_no_probe(void **state) {
    (void)state;
    assert_int_equal(harness_init(&h, tree.path, SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_lustre), PROBE_ABSENT);
    harness_close(&h);
    assert_int_equal(harness_open(&h, &probe_lustre_target), PROBE_ABSENT);
    harness_close(&h);
    assert_int_equal(harness_open(&h, &probe_beegfs), PROBE_ABSENT);
    assert_string_equal(h.why, "");
}

/* ---- BeeGFS ---- */

static void each_server_has_its_connections_and_targets(void **state) {
    (void)state;
    probe_start(&h, FIXTURES "hpc-node", SCOPE_HOST, &probe_beegfs, S);
    assert_int_equal(h.rows.n, 4);
    expect(&h, "meta meta01", "tcp_connections", 1);
    expect(&h, "meta meta01", "targets", 1);
    expect(&h, "storage storage01", "rdma_connections", 4);
    expect(&h, "storage storage01", "tcp_connections", 0);
    expect(&h, "storage storage01", "fallback", 0);
    expect(&h, "storage storage01", "targets", 2);
    expect(&h, "storage storage01", "offline_targets", 1); /* not in order */
    expect(&h, "storage storage02", "fallback", 1);
    expect(&h, "storage storage02", "offline_targets", 0);
    expect(&h, "storage storage03", "rdma_connections", 0);
    expect(&h, "storage storage03", "offline_targets", 1);
}

static void texts_that_no_client_writes_are_left_alone(void **state) {
    (void)state;
    tree_write(&tree, CLIENT "storage_nodes",
               "   Connections: TCP: 9 (x); \n" /* of nobody */
               "nameless\n [ID: 7]\n [ID: \n"
               "a b\x01 [ID: 1]\n"
               "   Connections: TCP: 99999999999999999999 (x); RDMA: 2 (x); \n"
               "   Connections: TCP: -1; SDP: 3 (y); RDMA: \n"
               "cut [ID: 2]");
    tree_write(&tree, CLIENT "storage_target_state",
               "[Target ID: 1] @ \n[Target ID: 2]\n[Target ID: 3] @ beegfs-storage c [ID: 9]: \n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_beegfs, S);
    assert_int_equal(h.rows.n, 2);
    expect(&h, "storage b?", "tcp_connections", 0);
    expect(&h, "storage b?", "rdma_connections", 2);
    expect(&h, "storage c", "offline_targets", 1);
}

static void its_module_may_go(void **state) {
    (void)state;
    tree_write(&tree, CLIENT "storage_nodes", "a [ID: 1]\n   Connections: TCP: 1 (x); \n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_beegfs, S);
    assert_int_equal(h.rows.n, 1);
    run_command("rm -r %s/%s", tree.path, "proc/fs/beegfs");
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_int_equal(h.rows.n, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make, clean)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_call_has_its_bytes_and_its_time),
        TEST(lines_of_one_call_may_come_in_any_order),
        TEST(how_long_files_were_open_is_no_call),
        TEST(old_versions_count_no_time),
        TEST(a_call_made_for_the_first_time_is_growth),
        TEST(two_mounts_of_one_file_system_keep_their_whole_names),
        TEST(texts_that_no_module_writes_are_left_alone),
        TEST(more_kinds_of_calls_than_there_is_room_for_are_counted),
        TEST(a_mount_may_come_and_go),
        TEST(each_target_has_its_requests_and_their_waits),
        TEST(a_lost_connection_is_told),
        TEST(what_servers_ask_of_each_other_is_left_out),
        TEST(many_targets),
        TEST(without_lustre_there_is_no_probe),
        TEST(each_server_has_its_connections_and_targets),
        TEST(texts_that_no_client_writes_are_left_alone),
        TEST(its_module_may_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
