/* SPDX-License-Identifier: MIT */
/* Ports of InfiniBand, RoCE and Omni-Path: a host as files, and files that no driver writes. */
#include <unistd.h>

#include "tests/unit/probe_test.h"

#define PORT "sys/class/infiniband/x/ports/1/"

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

/* A port of 100 Gbit/s with such counters. */
static void port(const char *receive, const char *send, const char *wait) {
    tree_write(&tree, PORT "rate", "100 Gb/sec (4X EDR)\n");
    tree_write(&tree, PORT "link_layer", "InfiniBand\n");
    tree_write(&tree, PORT "state", "4: ACTIVE\n");
    tree_write(&tree, PORT "counters/port_rcv_data", receive);
    tree_write(&tree, PORT "counters/port_xmit_data", send);
    tree_write(&tree, PORT "counters/port_xmit_wait", wait);
}

static void a_port_counts_words_of_four_bytes(void **state) {
    (void)state;
    probe_start(&h, FIXTURES "hpc-node", SCOPE_HOST, &probe_fabric, S);
    assert_int_equal(h.rows.n, 6);
    expect(&h, "mlx5_0/1", "receive_bytes", 1000 * S);
    expect(&h, "mlx5_0/1", "send_bytes", 500 * S);
    expect(&h, "mlx5_0/1", "speed_bytes_per_s", 25 * S);
    expect(&h, "mlx5_0/1", "send_waits", 77000);
    expect(&h, "mlx5_0/1", "link", 1);
    expect(&h, "mlx5_0/1", "state", 4);
    expect(&h, "mlx5_0/1", "send_discards", 3);
    expect(&h, "mlx5_0/1", "receive_errors", 0);
    expect(&h, "mlx5_0/1", "symbol_errors", 2);
    expect(&h, "mlx5_0/1", "link_downs", 1);
    expect(&h, "mlx5_0/1", "receive_packets", 900000000);
    expect(&h, "mlx5_0/1", "send_packets", 450000000);
    expect(&h, "mlx5_0/1", "out_of_sequence", 5);
    expect(&h, "mlx5_0/1", "sequence_errors", 6);
    expect(&h, "mlx5_0/1", "not_ready_retries", 7);
    expect(&h, "mlx5_0/1", "timeouts", 8);
    expect(&h, "mlx5_0/1", "no_buffer", 9);
    expect_absent(&h, "mlx5_0/1", "congestion_handled");
}

static void roce_has_notices_of_congestion(void **state) {
    (void)state;
    probe_start(&h, FIXTURES "hpc-node", SCOPE_HOST, &probe_fabric, S);
    expect(&h, "mlx5_bond_0/1", "link", 2);
    expect(&h, "mlx5_bond_0/1", "congestion_sent", 12);
    expect(&h, "mlx5_bond_0/1", "congestion_handled", 13);
    expect(&h, "mlx5_bond_0/1", "congestion_marked", 14);
    expect(&h, "irdma0/1", "link", 2);
    expect_absent(&h, "irdma0/1", "receive_bytes"); /* N/A (no PMA) */
}

/* Ethernet of 40 Gbit/s is called QDR, too, but has another code. */
static void the_code_of_the_lanes_carries_no_bytes(void **state) {
    (void)state;
    probe_start(&h, FIXTURES "hpc-node", SCOPE_HOST, &probe_fabric, S);
    expect(&h, "mlx4_0/1", "speed_bytes_per_s", 4 * S);
    expect(&h, "mlx5_bond_0/1", "speed_bytes_per_s", 5 * S);
    expect(&h, "mlx4_0/2", "speed_bytes_per_s", S / 4);
    expect(&h, "mlx4_0/2", "state", 1);
}

static void omni_path_is_told_by_its_driver(void **state) {
    (void)state;
    probe_start(&h, FIXTURES "hpc-node", SCOPE_HOST, &probe_fabric, S);
    expect(&h, "hfi1_0/1", "link", 3);
    expect(&h, "hfi1_0/1", "send_bytes", 24000);
    expect(&h, "hfi1_0/1", "send_waits", 7);
}

static void a_counter_of_32_bits_at_its_end_is_not_known(void **state) {
    (void)state;
    probe_start(&h, FIXTURES "hpc-node", SCOPE_HOST, &probe_fabric, S);
    expect(&h, "mlx4_0/1", "receive_bytes", 120 * S); /* of the counter in 64 bits */
    expect(&h, "mlx4_0/1", "send_bytes", 80 * S);
    expect_absent(&h, "mlx4_0/1", "send_waits");
    expect_absent(&h, "mlx4_0/2", "receive_bytes");
}

/* It stands as it is: growth is counted where rows are stored, which knows resets. */
static void a_counter_that_was_reset_is_lower(void **state) {
    (void)state;
    port("1000\n", "2000\n", "5\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_fabric, S);
    tree_write(&tree, PORT "counters/port_rcv_data", "3\n");
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    expect(&h, "x/1", "receive_bytes", 12);
    expect(&h, "x/1", "send_bytes", 8000);
}

static void files_that_no_driver_writes_are_not_known(void **state) {
    static const char *const texts[] = {"",
                                        "\n",
                                        "-1\n",
                                        "junk\n",
                                        "99999999999999999999999\n",
                                        "x1",
                                        "\xff",
                                        "N/A",
                                        "9223372036854775807\n"};
    (void)state;
    port("1\n", "1\n", "1\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_fabric, S);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        port(texts[i], "1\n", "1\n");
        tree_write(&tree, PORT "rate", texts[i]);
        tree_write(&tree, PORT "state", texts[i]);
        assert_int_equal(harness_sample_at(&h, (int64_t)(2 + i) * S), 0);
        expect_absent(&h, "x/1", "receive_bytes");
        expect_absent(&h, "x/1", "speed_bytes_per_s");
        expect_absent(&h, "x/1", "state");
        expect(&h, "x/1", "send_bytes", 4);
    }
}

static void rates(void **state) {
    static const struct {
        const char *text;
        int64_t bytes_per_s;
    } of[] = {{"10 Gb/sec (4X SDR)\n", S},
              {"20 Gb/sec (4X DDR)\n", 2 * S},
              {"40 Gb/sec (4X FDR10)\n", 5 * S},
              {"66 Gb/sec (4X FDR)\n", 8 * S},
              {"800 Gb/sec (4X XDR)\n", 100 * S},
              {"0 Gb/sec (4X EDR)\n", VALUE_ABSENT},
              {"99999999 Gb/sec (4X EDR)\n", VALUE_ABSENT},
              {"100 MB\n", VALUE_ABSENT}};
    (void)state;
    port("1\n", "1\n", "1\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_fabric, S);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        tree_write(&tree, PORT "rate", of[i].text);
        assert_int_equal(harness_sample_at(&h, (int64_t)(2 + i) * S), 0);
        expect(&h, "x/1", "speed_bytes_per_s", of[i].bytes_per_s);
    }
}

static void odd_names_and_too_many_ports(void **state) {
    char path[300];
    (void)state;
    tree_write(&tree, "sys/class/infiniband/a b\x01/ports/1/rate", "100 Gb/sec (4X EDR)\n");
    tree_write(&tree, "sys/class/infiniband/empty/node_type", "1: CA\n");
    memset(path, 'n', sizeof path);
    snprintf(path + 250, 50, "/ports/1/rate");
    memcpy(path, "sys/class/infiniband/", 21);
    tree_write(&tree, path, "100 Gb/sec (4X EDR)\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_fabric, S);
    assert_int_equal(h.rows.n, 2);
    expect_absent(&h, "a b?/1", "receive_bytes");
    for (int i = 0; i < 40; i++) {
        snprintf(path, sizeof path, "sys/class/infiniband/p%d/ports/1/rate", i);
        tree_write(&tree, path, "100 Gb/sec (4X EDR)\n");
    }
    assert_int_equal(harness_sample_at(&h, 11 * S), 0); /* they are looked for again */
    assert_int_equal(h.rows.n, 32);
    assert_int_equal(h.rows.dropped, 10);
}

static void a_port_may_go(void **state) {
    (void)state;
    port("1\n", "1\n", "1\n");
    probe_start(&h, tree.path, SCOPE_HOST, &probe_fabric, S);
    run_command("rm -r %s/%s", tree.path, "sys/class/infiniband/x");
    assert_int_equal(harness_sample_at(&h, 2 * S), 0);
    expect_absent(&h, "x/1", "receive_bytes");
    assert_int_equal(harness_sample_at(&h, 11 * S), 0);
    assert_int_equal(h.rows.n, 0);
}

static void without_ports_there_is_no_probe(void **state) {
    (void)state;
    assert_int_equal(harness_init(&h, tree.path, SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_fabric), PROBE_ABSENT);
    assert_string_equal(h.why, "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make, clean)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_port_counts_words_of_four_bytes),
        TEST(roce_has_notices_of_congestion),
        TEST(the_code_of_the_lanes_carries_no_bytes),
        TEST(omni_path_is_told_by_its_driver),
        TEST(a_counter_of_32_bits_at_its_end_is_not_known),
        TEST(a_counter_that_was_reset_is_lower),
        TEST(files_that_no_driver_writes_are_not_known),
        TEST(rates),
        TEST(odd_names_and_too_many_ports),
        TEST(a_port_may_go),
        TEST(without_ports_there_is_no_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
