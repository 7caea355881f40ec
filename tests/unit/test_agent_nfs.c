/* SPDX-License-Identifier: MIT */
/* NFS mounts: exact values of /proc/self/mountstats, and text that no kernel writes. */
#include "tests/unit/probe_test.h"

#define MOUNT(device, type) "device " device " mounted on /mnt with fstype " type " statvers=1.1\n"
#define READS(calls) "\tper-op statistics\n\t READ: " calls " 2 3 4 5 6 7 8 9\n"

static void start_text(struct tree *tree, struct harness *h, const char *text) {
    tree_make(tree, NULL);
    tree_write(tree, "proc/self/mountstats", text);
    probe_start(h, tree->path, SCOPE_HOST, &probe_nfs, S);
}

static void finish(struct tree *tree, struct harness *h) {
    harness_close(h);
    tree_remove(tree);
}

static void each_operation_of_each_export_is_counted(void **state) {
    struct harness h;
    (void)state;
    probe_start(&h, FIXTURES "bigiron", SCOPE_HOST, &probe_nfs, S);
    assert_int_equal(h.rows.n, 6); /* COMMIT was never called, /home2 is /home */
    expect(&h, "store1.cluster:/export/home READ", "operations", 12500);
    expect(&h, "store1.cluster:/export/home READ", "retransmissions", 3);
    expect(&h, "store1.cluster:/export/home READ", "timeouts", 1);
    expect(&h, "store1.cluster:/export/home READ", "send_bytes", 2500000);
    expect(&h, "store1.cluster:/export/home READ", "receive_bytes", 819200000);
    expect(&h, "store1.cluster:/export/home READ", "queue_ns", 4 * S);
    expect(&h, "store1.cluster:/export/home READ", "rtt_ns", 62500 * (S / 1000));
    expect(&h, "store1.cluster:/export/home READ", "execute_ns", 67 * S);
    expect(&h, "store1.cluster:/export/home READ", "errors", 2);
    expect(&h, "store1.cluster:/export/home WRITE", "queue_ns", 90 * S);
    harness_close(&h);
}

static void version_1_0_has_no_errors(void **state) {
    struct harness h;
    (void)state;
    probe_start(&h, FIXTURES "bigiron", SCOPE_HOST, &probe_nfs, S);
    expect(&h, "store2:/scratch\\040space READ", "retransmissions", 1);
    expect(&h, "store2:/scratch\\040space READ", "execute_ns", 403 * (S / 1000));
    expect_absent(&h, "store2:/scratch\\040space READ", "errors");
    harness_close(&h);
}

static void an_operation_called_for_the_first_time_is_growth(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    start_text(&tree, &h, MOUNT("a:/b", "nfs4") READS("0"));
    assert_int_equal(h.rows.n, 0);
    tree_write(&tree, "proc/self/mountstats", MOUNT("a:/b", "nfs4") READS("5"));
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    assert_int_equal(h.rows.n, 1);
    assert_true(harness_row(&h, "a:/b READ")->flags & ROW_BORN);
    finish(&tree, &h);
}

/* Without a mount the file is read every ten seconds. */
static void a_mount_may_come_later(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    start_text(&tree, &h, "device rootfs mounted on / with fstype rootfs\n");
    tree_write(&tree, "proc/self/mountstats", MOUNT("a:/b", "nfs") READS("5"));
    assert_int_equal(harness_sample_at(&h, 10 * S), 0);
    assert_int_equal(h.rows.n, 0);
    assert_int_equal(harness_sample_at(&h, 11 * S), 0);
    assert_int_equal(h.rows.n, 1);
    finish(&tree, &h);
}

static void what_is_not_of_nfs_is_left_alone(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    start_text(&tree, &h,
               MOUNT("a", "nfsd") READS("5") MOUNT("b", "ext4") READS("5") "device\n" READS("5")
                   READS("5"));
    assert_int_equal(h.rows.n, 0);
    finish(&tree, &h);
}

static void numbers_that_cannot_be_are_absent(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    start_text(
        &tree, &h,
        MOUNT("a:/b", "nfs4") "\t READ: 9223372036854775808 1 2 3 4 5 6 18446744073709551615\n"
                              "\t WRITE: 1 2 3 4 5 6 7\n" /* too few numbers */
                              "\t OPEN: 1 2 3 4 5 6 7 99999999999999999999999\n"
                              "\t close: 1 2 3 4 5 6 7 8\n" /* no name */
                              "\t : 1 2 3 4 5 6 7 8\n"
                              "\t LOOKUP: 1 2 3 4 5 6 7 8"); /* cut: no newline */
    assert_int_equal(h.rows.n, 1);
    expect_absent(&h, "a:/b READ", "operations");
    expect_absent(&h, "a:/b READ", "execute_ns");
    expect(&h, "a:/b READ", "retransmissions", 0);
    finish(&tree, &h);
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnop"
static void a_long_export_is_cut_and_more_rows_than_there_is_room_for_are_counted(void **state) {
    static char text[2000 * 100];
    struct tree tree;
    struct harness h;
    (void)state;
    size_t n = (size_t)snprintf(text, sizeof text, MOUNT(LETTERS, "nfs"));
    for (int i = 0; i < 2000; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "\t OP%d: 1 1 0 0 0 0 0 0\n", i);
    start_text(&tree, &h, text);
    assert_int_equal(h.rows.n, 1024);
    assert_true(h.rows.dropped == 2000 - 1024);
    assert_true(strlen(h.rows.items[0].name) == 63 + strlen(" OP0"));
    finish(&tree, &h);
}

static void without_the_file_there_is_no_probe(void **state) {
    struct tree tree;
    struct harness h;
    (void)state;
    tree_make(&tree, NULL);
    assert_int_equal(harness_init(&h, tree.path, SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_nfs), PROBE_ABSENT);
    finish(&tree, &h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_of_each_export_is_counted),
        cmocka_unit_test(version_1_0_has_no_errors),
        cmocka_unit_test(an_operation_called_for_the_first_time_is_growth),
        cmocka_unit_test(a_mount_may_come_later),
        cmocka_unit_test(what_is_not_of_nfs_is_left_alone),
        cmocka_unit_test(numbers_that_cannot_be_are_absent),
        cmocka_unit_test(a_long_export_is_cut_and_more_rows_than_there_is_room_for_are_counted),
        cmocka_unit_test(without_the_file_there_is_no_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
