/* SPDX-License-Identifier: MIT */
/* Clocks of whole processes, in memory that the kernel would write to. */
#include "tests/unit/wait_test.h"

#include "common/error.h"

#define RUNNING (WAIT_ONE_RUNNING + WAIT_ONE_BUSY)

/* Makes a worker with one thread in that state, and its process, since then. */
static struct made *with_process(uint32_t state, int64_t since_ns) {
    struct made *m = with_worker(state, since_ns);
    process(m, 0, 7, since_ns);
    return m;
}

static struct wait_process *slot_of(struct made *m) {
    return &m->watch->memory.processes[0];
}

/* A kernel event ends the gap. */
static void wake(struct wait_process *p, uint32_t state, uint64_t now_ns) {
    uint64_t since_ns = __atomic_exchange_n(&p->gap_since_ns, 0, __ATOMIC_SEQ_CST);
    p->counts += RUNNING;
    p->run_ns -= now_ns;
    p->busy_ns -= now_ns;
    p->gap_ns[state] += now_ns - since_ns;
}

static int64_t sum_told(struct made *m) {
    static const char *const names[] = {
        "run",    "runnable", "socket_receive", "socket_send", "connect", "accept",
        "poll",   "futex",    "pipe",           "unix",        "disk",    "fault",
        "kernel", "timer",    "child",          "stopped",     "other"};
    int64_t sum = 0;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        char column[64];
        snprintf(column, sizeof column, "process_%s_ns", names[i]);
        sum += harness_value(&m->wait, "worker[7]", column);
    }
    return sum;
}

/* ---- clocks ---- */

static void a_process_runs_while_some_thread_does(void **state) {
    struct made *m = with_process(WAIT_RUN, 1 * S);
    struct wait_process *p = slot_of(m);
    (void)state;
    p->counts = 9 * WAIT_ONE_THREAD + RUNNING + WAIT_ONE_BUSY; /* and another is ready */
    p->gap_since_ns = 0;
    p->run_ns = -(uint64_t)(2 * S);
    p->busy_ns = -(uint64_t)(1 * S);
    sample(m, 5 * S);
    expect(&m->wait, "worker[7]", "process_run_ns", 3 * S);
    expect(&m->wait, "worker[7]", "process_runnable_ns", 1 * S);
    expect(&m->wait, "worker[7]", "process_pipe_ns", 0);
    assert_int_equal(sum_told(m), 4 * S);
    unmake(m);
}

static void the_beginning_of_a_gap_means_nothing_while_some_thread_is_busy(void **state) {
    struct made *m = with_process(WAIT_RUN, 1 * S);
    struct wait_process *p = slot_of(m);
    (void)state;
    p->counts += RUNNING;
    p->run_ns = p->busy_ns = -(uint64_t)(1 * S);
    p->gap_since_ns = 2 * S;
    sample(m, 5 * S);
    assert_int_equal(p->gap_since_ns, 2 * S);
    assert_int_equal(sum_told(m), 4 * S);
    unmake(m);
}

/* ---- gaps ---- */

static void a_gap_is_owned_once(void **state) {
    struct made *m = with_process(WAIT_RUN, 1 * S);
    struct wait_process *p = slot_of(m);
    (void)state;
    thread(m, 1, 7, WAIT_FUTEX, 1 * S);
    p->counts = 2 * WAIT_ONE_THREAD;
    sample(m, 3 * S);
    expect(&m->wait, "worker[7]", "process_pipe_ns", 2 * S); /* the state of the thread that blocked
                                                                last */
    assert_int_equal(p->gap_since_ns, 3 * S);
    wake(p, WAIT_FUTEX, 4 * S); /* the rest goes to the thread that continued */
    sample(m, 6 * S);
    expect(&m->wait, "worker[7]", "process_pipe_ns", 2 * S);
    expect(&m->wait, "worker[7]", "process_futex_ns", 1 * S);
    expect(&m->wait, "worker[7]", "process_run_ns", 2 * S);
    assert_int_equal(sum_told(m), 5 * S);
    unmake(m);
}

/* One gap left open by a running thread, one left by ticks. */
static void what_ticks_leave_over_is_told_once(void **state) {
    struct made *m = with_process(WAIT_RUN, 1 * S);
    struct wait_process *p = slot_of(m);
    (void)state;
    p->counts = WAIT_ONE_THREAD;
    p->gap_since_ns = 2 * S;
    p->gap_ns[WAIT_POLL] = 0;
    p->carry_ns = 1 * S; /* blocked until 2 s, except one tick */
    thread(m, 0, 7, WAIT_POLL, 2 * S);
    sample(m, 3 * S);
    expect(&m->wait, "worker[7]", "process_poll_ns", 2 * S);
    assert_int_equal(p->carry_ns, 0);
    wake(p, WAIT_POLL, 4 * S);
    p->gap_ns[WAIT_POLL] -= 1 * S; /* the event above closes the gap at once; here it stays open */
    p->open_gap_ns = 1 * S;
    p->open_state = WAIT_POLL;
    sample(m, 5 * S);
    expect(&m->wait, "worker[7]", "process_poll_ns", 3 * S);
    assert_int_equal(p->open_gap_ns, 0);
    assert_int_equal(sum_told(m), 4 * S);
    unmake(m);
}

static void a_gap_of_one_thread_has_the_state_of_it(void **state) {
    struct made *m = with_process(WAIT_FUTEX, 1 * S);
    (void)state;
    slot_of(m)->last_state = WAIT_PIPE;
    sample(m, 3 * S);
    expect(&m->wait, "worker[7]", "process_futex_ns", 2 * S);
    unmake(m);
}

static void an_event_after_the_frame_moves_no_clock_back(void **state) {
    struct made *m = with_process(WAIT_FUTEX, 1 * S);
    (void)state;
    sample(m, 3 * S);
    wake(slot_of(m), WAIT_FUTEX, 4 * S + 7); /* the next frame was due at 4 s */
    sample(m, 4 * S);
    expect(&m->wait, "worker[7]", "process_futex_ns", 3 * S + 7);
    expect(&m->wait, "worker[7]", "process_run_ns", 0);
    expect(&m->wait, "worker[7]", "process_runnable_ns", 0);
    sample(m, 6 * S);
    assert_int_equal(sum_told(m), 5 * S);
    unmake(m);
}

/* ---- ends ---- */

static void a_process_that_ended_leaves_its_clocks(void **state) {
    struct made *m = with_process(WAIT_RUN, 1 * S);
    struct wait_process *p = slot_of(m);
    (void)state;
    sample(m, 2 * S);
    *p = (struct wait_process){.slot = WAIT_ENDED,
                               .tgid = 7,
                               .start_ns = p->start_ns,
                               .joined_ns = 1 * S,
                               .ended_ns = 4 * S,
                               .gap_since_ns = 4 * S,
                               .run_ns = 1 * S,
                               .busy_ns = 1 * S,
                               .gap_ns = {[WAIT_TIMER] = 2 * S}};
    sample(m, 9 * S);
    expect(&m->wait, "worker[7]", "process_run_ns", 1 * S);
    expect(&m->wait, "worker[7]", "process_timer_ns", 2 * S);
    assert_int_equal(p->slot, WAIT_READ); /* an event may still be under way */
    sample(m, 10 * S);
    assert_int_equal(p->slot, WAIT_FREE);
    expect(&m->wait, "worker[7]", "process_timer_ns", 2 * S);
    assert_int_equal(m->watch->memory.totals->next_process, 0);
    unmake(m);
}

static void one_that_nobody_listed_is_summed_too(void **state) {
    struct made *m = make();
    (void)state;
    thread(m, 0, 20, WAIT_RUN, 1 * S)->slot = WAIT_ENDED;
    struct wait_process *p = process(m, 0, 20, 1 * S);
    p->slot = WAIT_ENDED;
    p->ended_ns = 2 * S;
    p->gap_ns[WAIT_POLL] = 7;
    sample(m, 3 * S);
    expect(&m->wait, "ended unseen", "process_poll_ns", 7);
    unmake(m);
}

/* ---- pauses ---- */

static void pause_at(struct made *m, int64_t ns) {
    m->watch->memory.totals->paused = 1;
    m->watch->memory.totals->paused_ns = (uint64_t)ns;
}

static void clocks_are_right_after_a_pause(void **state) {
    struct made *m = with_process(WAIT_RUN, 1 * S);
    struct wait_process *p = slot_of(m);
    struct wait_totals *totals = m->watch->memory.totals;
    (void)state;
    wake(p, WAIT_PIPE, 2 * S);
    sample(m, 3 * S);
    pause_at(m, 4 * S);
    sample(m, 5 * S);
    expect(&m->wait, "worker[7]", "process_unclocked_ns", 0); /* not yet: it may grow */
    sample(m, 9 * S);
    assert_int_equal(totals->paused, 0);
    assert_int_equal(totals->generation, 1);
    assert_int_equal(p->counts, WAIT_ONE_THREAD); /* no thread has been examined */
    assert_int_equal(p->gap_since_ns, 9 * S);
    expect(&m->wait, "worker[7]", "process_unclocked_ns", 5 * S);
    assert_in_range(sum_told(m), 8 * S - 20, 8 * S);
    wake(p, WAIT_UNCLOCKED, 10 * S);
    sample(m, 12 * S);
    expect(&m->wait, "worker[7]", "process_unclocked_ns", 6 * S);
    assert_in_range(sum_told(m), 11 * S - 20, 11 * S);
    unmake(m);
}

static void a_gap_ends_where_a_pause_begins(void **state) {
    struct made *m = with_process(WAIT_TIMER, 1 * S);
    (void)state;
    sample(m, 2 * S);
    pause_at(m, 4 * S);
    sample(m, 9 * S);
    expect(&m->wait, "worker[7]", "process_unclocked_ns", 5 * S);
    assert_int_equal(slot_of(m)->gap_ns[WAIT_TIMER] + slot_of(m)->gap_ns[WAIT_PIPE], 3 * S);
    unmake(m);
}

static void one_that_ended_in_a_pause_lived_until_then(void **state) {
    struct made *m = with_process(WAIT_RUN, 1 * S);
    struct wait_process *p = slot_of(m);
    (void)state;
    wake(p, WAIT_PIPE, 2 * S);
    sample(m, 3 * S);
    pause_at(m, 4 * S);
    p->slot = WAIT_ENDED;
    p->ended_ns = 5 * S;
    p->counts -= WAIT_ONE_THREAD;
    m->watch->memory.threads[0].slot = WAIT_ENDED;
    sample(m, 6 * S);
    expect(&m->wait, "worker[7]", "process_unclocked_ns", 1 * S);
    assert_in_range(sum_told(m), 4 * S - 20, 4 * S);
    unmake(m);
}

static void one_that_began_in_a_pause_has_no_time_before(void **state) {
    struct made *m = with_worker(WAIT_RUN, 5 * S);
    struct wait_process *p = process(m, 0, 7, 5 * S);
    (void)state;
    sample(m, 3 * S);
    pause_at(m, 4 * S);
    sample(m, 9 * S);
    expect(&m->wait, "worker[7]", "process_unclocked_ns", 4 * S);
    assert_int_equal(p->gap_since_ns, 9 * S);
    /* That time is reported under its next state. */
    wake(p, WAIT_UNCLOCKED, 9 * S);
    sample(m, 11 * S);
    expect(&m->wait, "worker[7]", "process_unclocked_ns", 4 * S);
    expect(&m->wait, "worker[7]", "process_run_ns", (4 + 2) * S);
    unmake(m);
}

/* A thread without an event since a pause is in no state. */
static void a_thread_of_before_a_pause_stands_still(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    struct wait_totals *totals = m->watch->memory.totals;
    (void)state;
    totals->generation = 1;
    totals->paused_ns = 3 * S;
    sample(m, 9 * S);
    expect(&m->wait, "worker[7]", "run_ns", 2 * S);
    m->watch->memory.threads[0].generation = 1;
    m->watch->memory.threads[0].ns[WAIT_RUN] = 2 * S;
    m->watch->memory.threads[0].since_ns = 9 * S;
    sample(m, 10 * S);
    expect(&m->wait, "worker[7]", "run_ns", 3 * S);
    unmake(m);
}

/* ---- memory that makes no sense ---- */

static void a_clock_in_the_midst_of_an_event_stands_where_it_was(void **state) {
    struct made *m = with_process(WAIT_RUN, 1 * S);
    struct wait_process *p = slot_of(m);
    (void)state;
    wake(p, WAIT_PIPE, 2 * S);
    sample(m, 3 * S);
    p->counts -= RUNNING; /* its clocks are still to be advanced */
    sample(m, 4 * S);
    assert_int_equal(sum_told(m), 2 * S);
    p->counts += RUNNING;
    p->busy_ns += 4 * S;
    sample(m, 5 * S);
    assert_int_equal(sum_told(m), 2 * S);
    p->busy_ns -= 4 * S;
    sample(m, 6 * S);
    assert_int_equal(sum_told(m), 5 * S);
    unmake(m);
}

static void numbers_that_cannot_be_move_no_clock(void **state) {
    struct made *m = with_process(WAIT_RUN, 1 * S);
    struct wait_process *p = slot_of(m);
    (void)state;
    thread(m, 1, 7, WAIT_RUN, 1 * S); /* it has other threads, so its process decides */
    sample(m, 2 * S);
    p->last_state = UINT32_MAX;
    sample(m, 3 * S);
    expect(&m->wait, "worker[7]", "process_other_ns", 1 * S);
    p->last_state = WAIT_RUN;
    sample(m, 4 * S);
    expect(&m->wait, "worker[7]", "process_other_ns", 2 * S);
    p->gap_since_ns = UINT64_MAX;
    sample(m, 5 * S);
    p->joined_ns = UINT64_MAX;
    p->gap_since_ns = 1;
    sample(m, 6 * S);
    assert_int_equal(sum_told(m), 3 * S);
    p->tgid = UINT32_MAX;
    process(m, 1, 0, 1 * S);
    process(m, 2, 8, 1 * S);
    process(m, 3, 7, 1 * S)->start_ns++;
    process(m, 4, 7, 1 * S)->slot = 77;
    m->watch->memory.totals->next_process = UINT32_MAX;
    sample(m, 7 * S);
    assert_int_equal(sum_told(m), 3 * S);
    p->tgid = 7;
    p->joined_ns = 1 * S;
    p->gap_ns[WAIT_DISK] = UINT64_MAX;
    sample(m, 8 * S);
    expect_absent(&m->wait, "worker[7]", "process_disk_ns");
    unmake(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_runs_while_some_thread_does),
        cmocka_unit_test(the_beginning_of_a_gap_means_nothing_while_some_thread_is_busy),
        cmocka_unit_test(a_gap_is_owned_once),
        cmocka_unit_test(what_ticks_leave_over_is_told_once),
        cmocka_unit_test(a_gap_of_one_thread_has_the_state_of_it),
        cmocka_unit_test(an_event_after_the_frame_moves_no_clock_back),
        cmocka_unit_test(a_process_that_ended_leaves_its_clocks),
        cmocka_unit_test(one_that_nobody_listed_is_summed_too),
        cmocka_unit_test(clocks_are_right_after_a_pause),
        cmocka_unit_test(a_gap_ends_where_a_pause_begins),
        cmocka_unit_test(one_that_ended_in_a_pause_lived_until_then),
        cmocka_unit_test(one_that_began_in_a_pause_has_no_time_before),
        cmocka_unit_test(a_thread_of_before_a_pause_stands_still),
        cmocka_unit_test(a_clock_in_the_midst_of_an_event_stands_where_it_was),
        cmocka_unit_test(numbers_that_cannot_be_move_no_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
