/* SPDX-License-Identifier: MIT */
/* Chains of waits with a planted truth: which process is charged with the time that processes
 * without MPI wait for each other. Each process is described by its part of each second.
 */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/wait_plant.h"

#include <cmocka.h>

#include "analysis/run_model.h"

#define SECONDS 20
#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 0.02)

static struct recording recording;
static struct run_model model;

static void begin(void) {
    plant_init(&recording, 3, SECONDS);
}

static void build(void) {
    assert_int_equal(model_build(&recording, &model), 0);
    assert_int_equal(model.critical.source, CRITICAL_FROM_WAITS);
    assert_true(model_has_path(&model));
    for (size_t r = 0; r < model.budgets.n; r++)
        assert_true(budget_closes(&model.budgets.items[r].groups[0]));
}

static void release(void) {
    model_release(&model);
    recording_release(&recording);
}

static double path(int host, enum budget_term term) {
    return critical_share(&model.critical.groups[0], host, term);
}

static double transfer(size_t from, size_t to) {
    const struct critical_part *part = &model.critical.groups[0];
    return part->transfers[from * (model.n_hosts + 1) + to] / part->total_s;
}

#define A_TO_B "10.0.0.1:5000>10.0.0.2:6000"
#define B_TO_A "10.0.0.2:6000>10.0.0.1:5000"
#define B_TO_C "10.0.0.2:7000>10.0.0.3:8000"
#define C_TO_B "10.0.0.3:8000>10.0.0.2:7000"

static double one_core(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER ? .4e9 : column == CPU_IDLE ? .6e9 : 0;
}

static void those_that_take_turns_are_charged_with_what_they_compute(void **state) {
    (void)state;
    begin();
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .2, .receive = .8});
    add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .8, .receive = .2});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .8, 0, 0, .8, 1});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, .2, 0, 0, .2, 1});
    build();
    NEAR(path(0, BUDGET_CPU), .2);
    NEAR(path(1, BUDGET_CPU), .8);
    NEAR(path(0, BUDGET_PEER_WAIT), 0);
    assert_int_equal(model.budgets.n_waits, 2);
    release();
}

static double throttled(size_t column, double t_s) {
    (void)t_s;
    return column == CGROUP_THROTTLED ? .6e9 : 0;
}

/* A group with .4 of its only core, and three processes that always want it. */
static void all_that_are_ready_for_a_core_wait_for_its_quota_at_once(void **state) {
    (void)state;
    begin();
    plant(&recording, RECORDING_CPU, 1, "cpu0", 0.1, 0, one_core);
    plant(&recording, RECORDING_CGROUP, 1, "job", 0.1, 0, throttled);
    for (int pid = 1; pid <= 3; pid++)
        add_process(&recording,
                    (struct process){.host = 1, .pid = pid, .run = .4 / 3, .ready = 1 - .4 / 3});
    build();
    for (size_t r = 0; r < 3; r++)
        NEAR(model.budgets.items[r].groups[0].term_s[BUDGET_QUOTA] / SECONDS, .6);
    release();
}

static void waits_go_on_to_the_one_that_waits_for_nobody(void **state) {
    (void)state;
    begin(); /* A waits for B, B for C, which sleeps */
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .1, .receive = .9});
    add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .1, .receive = .9});
    add_process(&recording, (struct process){.host = 2, .pid = 3, .run = .1, .timer = .9});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .9, 0, 0, .9, 1});
    add_socket(&recording, 1, B_TO_C, (struct socket){2, .9, 0, 0, .9, 1});
    /* the far ends only exist */
    add_socket(&recording, 1, B_TO_A, (struct socket){2, 0, 0, 0, 0, 1});
    add_socket(&recording, 2, C_TO_B, (struct socket){3, 0, 0, 0, 0, 1});
    build();
    assert_true(path(2, BUDGET_IDLE) > .7);
    NEAR(path(0, BUDGET_IDLE) + path(1, BUDGET_IDLE), 0);
    NEAR(path(0, BUDGET_PEER_WAIT) + path(1, BUDGET_PEER_WAIT) + path(2, BUDGET_PEER_WAIT), 0);
    release();
}

static void a_sender_without_room_waits_for_the_link_or_for_the_reader(void **state) {
    (void)state;
    for (int reads = 0; reads < 2; reads++) {
        begin();
        add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .1, .send = .9});
        add_process(&recording,
                    reads ? (struct process){.host = 1, .pid = 2, .run = .1, .receive = .9}
                          : (struct process){.host = 1, .pid = 2, .run = .1, .timer = .9});
        add_socket(&recording, 0, A_TO_B, (struct socket){1, 0, 0, .9, 0, 1});
        add_socket(&recording, 1, B_TO_A,
                   reads ? (struct socket){2, .9, 0, 0, .9, 1}
                         : (struct socket){2, 0, .9, 0, 0, 1});
        build();
        if (reads) { /* it waits at the other end: bytes are under way */
            assert_true(transfer(0, 1) > .8);
            NEAR(path(1, BUDGET_IDLE), 0);
        } else { /* data lie unread, and it sleeps */
            NEAR(transfer(0, 1), 0);
            assert_true(path(1, BUDGET_IDLE) > .8);
        }
        release();
    }
}

static void time_in_which_both_wait_for_each_other_is_on_the_way(void **state) {
    (void)state;
    begin();
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .1, .receive = .9});
    add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .1, .receive = .9});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .9, 0, 0, .9, 1});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, .9, 0, 0, .9, 1});
    build();
    NEAR(path(0, BUDGET_CPU), .1);
    NEAR(path(1, BUDGET_CPU), .1);
    NEAR(path(0, BUDGET_TRANSFER) + path(1, BUDGET_TRANSFER), .8);
    NEAR(transfer(0, 1), .4);
    NEAR(transfer(1, 0), .4);
    release();
}

static void a_daemon_that_nobody_waits_for_is_not_on_the_path(void **state) {
    (void)state;
    begin();
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .5, .receive = .5});
    add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .5, .receive = .5});
    add_process(&recording, (struct process){.host = 2, .pid = 3, .run = .01, .timer = .99});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .5, 0, 0, .5, 1});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, .5, 0, 0, .5, 1});
    build();
    NEAR(path(2, BUDGET_IDLE), 0);
    NEAR(path(0, BUDGET_CPU), .5);
    release();
}

static void a_connection_at_rest_is_not_waited_for(void **state) {
    (void)state;
    begin(); /* a thread of B waits for C all the time, but messages of A wake B */
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .6, .receive = .4});
    add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .4, .receive = .6});
    add_process(&recording, (struct process){.host = 2, .pid = 3, .run = .01, .timer = .99});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .4, 0, 0, .4, 1});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, .6, 0, 0, .6, 1});
    add_socket(&recording, 1, B_TO_C, (struct socket){2, 1, 0, 0, 0, 1});
    add_socket(&recording, 2, C_TO_B, (struct socket){3, 0, 0, 0, 0, 1});
    build();
    NEAR(path(2, BUDGET_IDLE), 0);
    NEAR(path(0, BUDGET_CPU), .6);
    NEAR(path(1, BUDGET_CPU), .4);
    release();
}

static void polls_and_locks_are_waits_as_far_as_somebody_ended_them(void **state) {
    enum { FUTEX = WAIT_REASON_FUTEX };
    (void)state;
    begin();
    add_process(&recording,
                (struct process){.host = 0, .pid = 1, .run = .2, .poll = .4, .lock = .4});
    add_process(&recording, (struct process){.host = 0, .pid = 2, .run = .9, .timer = .1});
    add_pair(&recording, 0, (struct pair){1, 2, FUTEX, .3});
    build();
    const struct budget *b =
        &model.budgets.items[model.budgets.items[0].pid == 1 ? 0 : 1].groups[0];
    NEAR(b->term_s[BUDGET_PEER_WAIT] / b->wall_s, .3);
    NEAR(b->term_s[BUDGET_IDLE] / b->wall_s, .5);
    assert_int_equal(model.budgets.n_waits, 1);
    assert_int_equal(model.budgets.waits[0].kind, WAIT_KIND_LOCK);
    release();
}

static void without_clocks_there_is_no_path(void **state) {
    (void)state;
    begin();
    process_now = (struct process){.host = 0, .pid = 1, .run = .5};
    plant(&recording, RECORDING_PROCESS, 0, "p[1]", 0.1, PROCESS_LEVELS, process_row);
    assert_int_equal(model_build(&recording, &model), 0);
    assert_false(model_has_path(&model));
    release();
}

/* A is a runtime with its own scheduler: one thread polls a connection to B and hands answers over
 * to another one. The clocks of A as one say that it waits for a lock; B sleeps in each request.
 */
static void a_hand_over_between_threads_is_a_wait_for_what_they_wait_for(void **state) {
    (void)state;
    begin();
    add_process(
        &recording,
        (struct process){
            .host = 0, .pid = 1, .run = .1, .lock = .9, .threads_poll = .9, .lock_ends = 20});
    add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .1, .timer = .9});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .9, 0, 0, .9, 1});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, 0, 0, 0, 0, 1});
    add_hand_over(&recording, 0, 1, 3, .9, 20);
    build();
    NEAR(path(0, BUDGET_IDLE), 0);
    NEAR(path(0, BUDGET_CPU), .1);
    assert_true(path(1, BUDGET_IDLE) > .75);
    for (size_t i = 0; i < model.budgets.n_waits; i++)
        assert_int_equal(model.budgets.waits[i].kind, WAIT_KIND_MESSAGE);
    release();
}

/* A thread that looks at the time ends a wait in which it slept only at last. */
static void a_process_sleeps_no_longer_than_its_threads(void **state) {
    (void)state;
    begin();
    add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .1, .ticked = .9});
    add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .1, .timer = .9});
    add_socket(&recording, 0, A_TO_B, (struct socket){1, .9, 0, 0, .9, 1});
    add_socket(&recording, 1, B_TO_A, (struct socket){2, 0, 0, 0, 0, 1});
    build();
    NEAR(path(0, BUDGET_IDLE), 0);
    assert_true(path(1, BUDGET_IDLE) > .75);
    release();
}

/* On a host with one core. `counted` is what the kernel counts of computing. */
static void clocks_in_slices_do_not_stand_against_counters(void **state) {
    static const struct {
        double clocked, counted, computing;
    } plants[] = {{.3, .9, .9},   /* slices missed it */
                  {.3, .305, .3}, /* jitter alone */
                  {.3, .32, .3}}; /* whole, and begun a moment late */
    (void)state;
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        begin();
        plant(&recording, RECORDING_CPU, 0, "cpu0", 0.1, 0, one_core);
        add_process(&recording, (struct process){.host = 0,
                                                 .pid = 1,
                                                 .run = plants[i].clocked,
                                                 .timer = 1 - plants[i].clocked,
                                                 .counted = plants[i].counted});
        build();
        const struct budget *b = &model.budgets.items[0].groups[0];
        NEAR(b->term_s[BUDGET_CPU] / SECONDS, plants[i].computing);
        NEAR(b->term_s[BUDGET_IDLE] / SECONDS, 1 - plants[i].computing);
        const struct claimed *claimed = &model.budgets.items[0].claims[0].terms[BUDGET_CPU];
        const struct claim *clocks = &claimed->by[CLAIM_CLOCKS];
        NEAR(clocks->low_s / SECONDS, plants[i].clocked); /* both are kept */
        NEAR(claimed->by[CLAIM_COUNTERS].high_s / SECONDS, plants[i].counted);
        release();
    }
}

static double unsent; /* bytes that its connection could not send yet */

static double sender_row(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case CONNECTION_PID:
        return 1;
    case CONNECTION_BUSY:
        return .9e9;
    case CONNECTION_SEND_BYTES:
        return 1e7;
    case CONNECTION_UNSENT_BYTES:
        return unsent;
    default:
        return 0;
    }
}

/* A polls. Its connection has data to send, which wait, or are all under way; or the kernel saw
 * that it went on to send.
 */
static void a_process_that_polls_for_room_sends(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        bool queued = i == 0, told = i == 1;
        begin();
        unsent = queued ? 1e6 : 0;
        add_process(&recording, (struct process){.host = 0, .pid = 1, .run = .1, .poll = .9});
        add_process(&recording, (struct process){.host = 1, .pid = 2, .run = .1, .receive = .9});
        plant(&recording, RECORDING_CONNECTION, 0, A_TO_B, 0.1,
              1u << CONNECTION_PID | 1u << CONNECTION_UNSENT_BYTES, sender_row);
        add_socket(&recording, 0, A_TO_B, (struct socket){1, 0, 0, told ? .9 : 0, 0, 1});
        add_socket(&recording, 1, B_TO_A, (struct socket){2, .9, 0, 0, .9, 1});
        build();
        const struct budget *b = &model.budgets.items[0].groups[0];
        NEAR(b->term_s[BUDGET_TRANSFER] / SECONDS, queued || told ? .9 : 0);
        NEAR(b->term_s[BUDGET_IDLE] / SECONDS, queued || told ? 0 : .9);
        if (queued || told)
            assert_true(transfer(0, 1) > .8);
        release();
    }
}

/* The thread that hands over was blocked on storage: alone, and beside one that polls. */
static void a_hand_over_after_storage_is_a_wait_for_storage(void **state) {
    (void)state;
    for (int polls = 0; polls < 2; polls++) {
        begin();
        add_process(&recording, (struct process){.host = 0,
                                                 .pid = 1,
                                                 .run = .1,
                                                 .lock = .9,
                                                 .threads_poll = polls,
                                                 .threads_disk = 1.6,
                                                 .lock_ends = 20});
        add_hand_over(&recording, 0, 1, 3, .9, 20);
        build();
        NEAR(path(0, BUDGET_DISK), .9);
        release();
    }
}

/* Waits that end at a time of their choice are asleep, whatever another thread does: half of them
 * are ended by a thread that hands over.
 */
static void a_lock_that_nobody_releases_is_asleep(void **state) {
    (void)state;
    for (int handed = 0; handed < 2; handed++) {
        begin();
        add_process(
            &recording,
            (struct process){
                .host = 0, .pid = 1, .run = .1, .lock = .9, .threads_disk = .9, .lock_ends = 20});
        if (handed)
            add_hand_over(&recording, 0, 1, .45, .01, 10);
        build();
        NEAR(path(0, BUDGET_DISK), handed ? .45 : 0);
        NEAR(path(0, BUDGET_IDLE), handed ? .45 : .9);
        release();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hand_over_between_threads_is_a_wait_for_what_they_wait_for),
        cmocka_unit_test(a_process_sleeps_no_longer_than_its_threads),
        cmocka_unit_test(clocks_in_slices_do_not_stand_against_counters),
        cmocka_unit_test(a_process_that_polls_for_room_sends),
        cmocka_unit_test(a_hand_over_after_storage_is_a_wait_for_storage),
        cmocka_unit_test(a_lock_that_nobody_releases_is_asleep),
        cmocka_unit_test(those_that_take_turns_are_charged_with_what_they_compute),
        cmocka_unit_test(all_that_are_ready_for_a_core_wait_for_its_quota_at_once),
        cmocka_unit_test(waits_go_on_to_the_one_that_waits_for_nobody),
        cmocka_unit_test(a_sender_without_room_waits_for_the_link_or_for_the_reader),
        cmocka_unit_test(time_in_which_both_wait_for_each_other_is_on_the_way),
        cmocka_unit_test(a_daemon_that_nobody_waits_for_is_not_on_the_path),
        cmocka_unit_test(a_connection_at_rest_is_not_waited_for),
        cmocka_unit_test(polls_and_locks_are_waits_as_far_as_somebody_ended_them),
        cmocka_unit_test(without_clocks_there_is_no_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
