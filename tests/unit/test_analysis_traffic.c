/* SPDX-License-Identifier: MIT */
/* Bytes of processes, from planted connections whose sums are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/evidence/process_traffic.h"
#include "tests/unit/plant.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)
enum { PID = 70, OTHER_PID = 71, HOST = 1 };

static void append(struct recording *r, enum recording_table table, int64_t instance,
                   const char *name, int64_t t_s, const int64_t *values) {
    assert_int_equal(series_set_append(&r->tables[table], HOST, instance, name, t_s * S, S, values),
                     0);
}

static void add_process(struct recording *r, int64_t instance, int64_t pid, int64_t t_s) {
    int64_t values[RECORDING_COLUMNS_MAX];
    for (size_t i = 0; i < RECORDING_COLUMNS_MAX; i++)
        values[i] = VALUE_ABSENT;
    values[PROCESS_PID] = pid;
    append(r, RECORDING_PROCESS, instance, "x", t_s, values);
}

static void add_connection(struct recording *r, int64_t instance, int64_t pid, int64_t t_s,
                           int64_t sent, int64_t received) {
    int64_t values[RECORDING_COLUMNS_MAX];
    for (size_t i = 0; i < RECORDING_COLUMNS_MAX; i++)
        values[i] = VALUE_ABSENT;
    values[CONNECTION_PID] = pid;
    values[CONNECTION_SEND_BYTES] = sent;
    values[CONNECTION_RECEIVE_BYTES] = received;
    append(r, RECORDING_CONNECTION, instance, "a:1>b:2", t_s, values);
}

static struct traffic named(const struct recording *r, const struct process_traffic *t, size_t i) {
    return process_traffic_named(t, &r->tables[RECORDING_PROCESS].items[i]);
}

static void connections_of_a_process_add_up(void **state) {
    struct recording r;
    struct process_traffic t;
    (void)state;
    plant_init(&r, 2, 4);
    add_process(&r, 1, PID, 1);
    add_process(&r, 2, OTHER_PID, 1);
    add_connection(&r, 3, PID, 1, 500, 10);
    add_connection(&r, 4, PID, 1, 30, VALUE_ABSENT);
    add_connection(&r, 4, PID, 2, 7, 1);
    assert_int_equal(process_traffic_make(&r, &t), 0);
    NEAR(named(&r, &t, 0).sent_bytes, 537);
    NEAR(named(&r, &t, 0).received_bytes, 11);
    NEAR(process_traffic_of(&t, HOST, PID).sent_bytes, 537);
    assert_true(isnan(named(&r, &t, 1).sent_bytes)); /* not seen, which differs from none */
    assert_true(isnan(process_traffic_of(&t, HOST, OTHER_PID).received_bytes));
    assert_true(isnan(process_traffic_of(&t, 0, PID).sent_bytes));
    NEAR(t.unowned_bytes, 0);
    process_traffic_release(&t);
    recording_release(&r);
}

/* sh[70] becomes python3[70]: a second row in the table of processes, for the same process. */
static void bytes_are_of_the_name_that_the_process_had_then(void **state) {
    struct recording r;
    struct process_traffic t;
    (void)state;
    plant_init(&r, 2, 8);
    for (int64_t t_s = 1; t_s <= 3; t_s++)
        add_process(&r, 1, PID, t_s);
    for (int64_t t_s = 4; t_s <= 6; t_s++)
        add_process(&r, 2, PID, t_s);
    for (int64_t t_s = 1; t_s <= 7; t_s++)
        add_connection(&r, 3, PID, t_s, t_s <= 3 ? 1 : 1000, 5);
    assert_int_equal(process_traffic_make(&r, &t), 0);
    NEAR(named(&r, &t, 0).sent_bytes, 3);
    NEAR(named(&r, &t, 1).sent_bytes, 4000);
    NEAR(process_traffic_of(&t, HOST, PID).sent_bytes, 4003);
    NEAR(process_traffic_of(&t, HOST, PID).received_bytes, 35);
    process_traffic_release(&t);
    recording_release(&r);
}

static void a_connection_that_changes_hands_is_divided(void **state) {
    struct recording r;
    struct process_traffic t;
    (void)state;
    plant_init(&r, 2, 4);
    add_process(&r, 1, PID, 1);
    add_process(&r, 2, OTHER_PID, 1);
    add_connection(&r, 3, PID, 1, 500, 10);
    add_connection(&r, 3, OTHER_PID, 2, 20, 0);
    assert_int_equal(process_traffic_make(&r, &t), 0);
    NEAR(named(&r, &t, 0).sent_bytes, 500);
    NEAR(named(&r, &t, 1).sent_bytes, 20);
    NEAR(named(&r, &t, 1).received_bytes, 0); /* known to be none */
    process_traffic_release(&t);
    recording_release(&r);
}

static void what_no_process_has_is_kept_apart(void **state) {
    struct recording r;
    struct process_traffic t;
    (void)state;
    plant_init(&r, 2, 4);
    add_process(&r, 1, PID, 1);
    add_connection(&r, 3, OTHER_PID, 1, 40, 2); /* ended before the table of processes saw it */
    add_connection(&r, 4, VALUE_ABSENT, 1, 600, 60);
    assert_int_equal(process_traffic_make(&r, &t), 0);
    assert_true(isnan(named(&r, &t, 0).sent_bytes));
    NEAR(process_traffic_of(&t, HOST, OTHER_PID).sent_bytes, 40);
    NEAR(t.unowned_bytes, 660);
    process_traffic_release(&t);
    recording_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_of_a_process_add_up),
        cmocka_unit_test(bytes_are_of_the_name_that_the_process_had_then),
        cmocka_unit_test(a_connection_that_changes_hands_is_divided),
        cmocka_unit_test(what_no_process_has_is_kept_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
