/* SPDX-License-Identifier: MIT */
/* Wait clocks in memory that the kernel would write to, made here in any state. */
#include "tests/unit/wait_test.h"

/* ---- clocks ---- */

static void a_wait_that_goes_on_is_seen(void **state) {
    struct made *m = with_worker(WAIT_FUTEX, 1 * S);
    (void)state;
    m->watch->memory.threads[0].ns[WAIT_FUTEX] = 5;
    sample(m, 3 * S);
    expect(&m->wait, "worker[7]", "futex_ns", 2 * S + 5);
    expect(&m->wait, "worker[7]", "run_ns", 0);
    expect(&m->wait, "worker[7]", "pid", 7);
    expect(&m->wait, "worker[7]", "rank", 3);
    expect(&m->wait, "worker[7]", "threads", 1);
    sample(m, 4 * S);
    expect(&m->wait, "worker[7]", "futex_ns", 3 * S + 5);
    unmake(m);
}

static void threads_of_a_process_are_summed(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    thread(m, 5, 7, WAIT_PIPE, 2 * S)->times[WAIT_PIPE] = 4;
    thread(m, 6, 8, WAIT_PIPE, 2 * S); /* of another process */
    sample(m, 3 * S);
    expect(&m->wait, "worker[7]", "run_ns", 2 * S);
    expect(&m->wait, "worker[7]", "pipe_ns", 1 * S);
    expect(&m->wait, "worker[7]", "pipe_waits", 4);
    expect(&m->wait, "worker[7]", "threads", 2);
    assert_int_equal(m->wait.rows.n, 1);
    unmake(m);
}

static void what_was_told_never_steps_back(void **state) {
    struct made *m = with_worker(WAIT_TIMER, 1 * S);
    (void)state;
    sample(m, 5 * S);
    thread(m, 0, 7, WAIT_RUN, 5 * S)->ns[WAIT_TIMER] = 3 * S;
    sample(m, 6 * S);
    expect(&m->wait, "worker[7]", "timer_ns", 4 * S);
    expect(&m->wait, "worker[7]", "run_ns", 1 * S);
    unmake(m);
}

static void an_event_after_the_frame_takes_nothing_off(void **state) {
    struct made *m = with_worker(WAIT_RUN, 9 * S);
    (void)state;
    m->watch->memory.threads[0].ns[WAIT_RUN] = 1 * S;
    sample(m, 8 * S);
    expect(&m->wait, "worker[7]", "run_ns", 1 * S);
    unmake(m);
}

static void a_thread_that_ended_leaves_its_figures(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    thread(m, 1, 7, WAIT_DISK, 1 * S);
    sample(m, 2 * S);
    m->watch->memory.threads[1].slot = WAIT_ENDED;
    m->watch->memory.threads[1].ns[WAIT_DISK] = 3 * S;
    sample(m, 5 * S);
    assert_int_equal(m->watch->memory.threads[1].slot, WAIT_FREE);
    sample(m, 6 * S);
    expect(&m->wait, "worker[7]", "disk_ns", 3 * S);
    expect(&m->wait, "worker[7]", "run_ns", 5 * S);
    expect(&m->wait, "worker[7]", "threads", 1);
    assert_int_equal(m->watch->memory.totals->next_thread, 1); /* the index of the free slot */
    unmake(m);
}

static void a_process_that_ended_has_a_last_row(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    sample(m, 2 * S);
    m->watch->memory.threads[0].slot = WAIT_ENDED;
    m->watch->memory.threads[0].ns[WAIT_RUN] = 2 * S;
    sample(m, 4 * S);
    expect(&m->wait, "worker[7]", "run_ns", 2 * S);
    sample(m, 5 * S);
    expect(&m->wait, "worker[7]", "run_ns", HARNESS_NO_ROW);
    unmake(m);
}

static void one_that_nobody_listed_is_summed_with_its_like(void **state) {
    struct made *m = make();
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        struct wait_thread *t = thread(m, i, 20 + i, WAIT_RUN, 1 * S);
        t->ns[WAIT_POLL] = 7;
        t->slot = WAIT_ENDED;
    }
    sample(m, 2 * S);
    expect(&m->wait, "ended unseen", "poll_ns", 21);
    assert_int_equal(m->wait.rows.n, 1);
    unmake(m);
}

static void an_id_that_is_used_again_is_another_process(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    sample(m, 2 * S);
    m->watch->memory.threads[0].slot = WAIT_ENDED;
    m->watch->memory.threads[0].ns[WAIT_RUN] = 8 * S;
    struct wait_thread *next = thread(m, 1, 7, WAIT_PIPE, 3 * S);
    next->start_ns = 900 * TICK_NS;
    sample(m, 4 * S);
    expect(&m->wait, "worker[7]", "run_ns", 8 * S); /* the first process's last row */
    expect(&m->wait, "worker[7]", "pipe_ns", 0);
    assert_int_equal(m->wait.rows.n, 1); /* the second process is not listed yet */
    list(m, (struct job_process[]){{.pid = 7, .rank = -1, .born = 900, .name = "later[7]"}}, 1);
    sample(m, 5 * S);
    expect(&m->wait, "later[7]", "pipe_ns", 2 * S);
    expect(&m->wait, "later[7]", "run_ns", 0);
    expect_absent(&m->wait, "later[7]", "rank");
    unmake(m);
}

static void a_renamed_process_has_a_row_under_both_names(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    sample(m, 2 * S);
    list(m, (struct job_process[]){{.pid = 7, .rank = 3, .born = 500, .name = "title[7]"}}, 1);
    sample(m, 3 * S);
    expect(&m->wait, "worker[7]", "run_ns", 2 * S);
    expect(&m->wait, "title[7]", "run_ns", 2 * S);
    sample(m, 4 * S);
    expect(&m->wait, "worker[7]", "run_ns", HARNESS_NO_ROW);
    expect(&m->wait, "title[7]", "run_ns", 3 * S);
    unmake(m);
}

static void one_that_came_later_is_born(void **state) {
    struct made *m = make();
    (void)state;
    m->watch->first_boot_ns = 400 * TICK_NS;
    list(m, (struct job_process[]){WORKER}, 1);
    thread(m, 0, 7, WAIT_RUN, 1 * S);
    sample(m, 2 * S);
    assert_int_equal(harness_row(&m->wait, "worker[7]")->flags, ROW_BORN);
    sample(m, 3 * S);
    assert_int_equal(harness_row(&m->wait, "worker[7]")->flags, 0);
    unmake(m);
}

/* ---- memory that makes no sense ---- */

static void a_slot_that_is_being_written_stands_where_it_was(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    sample(m, 2 * S);
    m->watch->memory.threads[0].sequence = 1;
    m->watch->memory.threads[0].ns[WAIT_RUN] = 77 * S;
    sample(m, 3 * S);
    expect(&m->wait, "worker[7]", "run_ns", 1 * S);
    m->watch->memory.threads[0].sequence = 2;
    m->watch->memory.threads[0].ns[WAIT_RUN] = 1 * S;
    sample(m, 4 * S);
    expect(&m->wait, "worker[7]", "run_ns", 4 * S);
    unmake(m);
}

static void numbers_that_cannot_be_are_left_out(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    thread(m, 1, 7, WAIT_STATES, 1 * S);
    thread(m, 2, 7, UINT32_MAX, 1 * S);
    thread(m, 3, 0, WAIT_RUN, 1 * S);
    thread(m, 4, UINT32_MAX, WAIT_RUN, 1 * S);
    thread(m, 5, 7, WAIT_SOCKET_RECEIVE, 1 * S)->wait_slot = UINT32_MAX;
    thread(m, 6, 7, WAIT_SOCKET_SEND, 1 * S)->wait_slot = WAIT_SOCKETS + 1;
    thread(m, 7, 7, WAIT_PIPE, 1 * S)->ns[WAIT_UNIX] = UINT64_MAX;
    m->watch->memory.threads[8].slot = 77;
    m->watch->memory.totals->next_thread = UINT32_MAX;
    sample(m, 3 * S);
    expect(&m->wait, "worker[7]", "run_ns", 2 * S);
    expect(&m->wait, "worker[7]", "threads", 6); /* they exist, whatever they contain */
    expect_absent(&m->wait, "worker[7]", "unix_ns");
    unmake(m);
}

static void what_found_no_room_is_said_once(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    m->watch->memory.totals->lost[WAIT_LOST_THREADS] = 5;
    sample(m, 2 * S);
    sample(m, 3 * S);
    assert_int_equal(m->notes, 1);
    assert_non_null(strstr(m->note, "more threads"));
    unmake(m);
}

/* ---- slices ---- */

static void time_that_was_not_clocked_is_shared_out(void **state) {
    struct made *m = with_worker(WAIT_RUN, 0);
    struct wait_thread *t = &m->watch->memory.threads[0];
    (void)state;
    sample(m, 0);
    t->ns[WAIT_RUN] = 1 * S;
    t->ns[WAIT_PIPE] = 3 * S;
    t->ns[WAIT_UNCLOCKED] = 8 * S;
    t->since_ns = 12 * S;
    sample(m, 12 * S);
    expect(&m->wait, "worker[7]", "run_ns", 3 * S);
    expect(&m->wait, "worker[7]", "pipe_ns", 9 * S);
    expect(&m->wait, "worker[7]", "unclocked_ns", 8 * S);
    sample(m, 13 * S);
    expect(&m->wait, "worker[7]", "run_ns", 4 * S); /* and stays */
    unmake(m);
}

static void a_connection_has_its_share_too(void **state) {
    struct made *m = with_worker(WAIT_RUN, 0);
    struct wait_thread *t = &m->watch->memory.threads[0];
    (void)state;
    struct wait_socket *s = socket_slot(m, 0, 7, 11);
    sample(m, 0);
    t->ns[WAIT_RUN] = 4 * S;
    t->ns[WAIT_UNCLOCKED] = 8 * S;
    t->since_ns = 12 * S;
    s->starved_ns = 1 * S;
    s->reads = 10;
    sample(m, 12 * S);
    expect(&m->socket, CONNECTION, "starved_ns", 3 * S);
    expect(&m->socket, CONNECTION, "reads", 30);
    sample(m, 13 * S);
    expect(&m->socket, CONNECTION, "starved_ns", 3 * S);
    unmake(m);
}

static void data_that_lay_there_before_a_pause_may_have_been_read(void **state) {
    struct made *m = with_worker(WAIT_TIMER, 1 * S);
    (void)state;
    socket_slot(m, 0, 7, 11)->ready_since_ns = 2 * S;
    m->watch->memory.totals->paused = 1;
    m->watch->memory.totals->paused_ns = 3 * S;
    sample(m, 3 * S + S / 2);
    expect(&m->socket, CONNECTION, "unread_ns", 1 * S); /* up to the pause */
    m->watch->memory.totals->paused = 0;
    m->watch->memory.totals->resumed_ns = 4 * S;
    sample(m, 5 * S);
    expect(&m->socket, CONNECTION, "unread_ns", 1 * S);
    unmake(m);
}

static void a_pause_lasts_three_seconds_and_is_said_once(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    struct wait_totals *totals = m->watch->memory.totals;
    (void)state;
    sample(m, 2 * S);
    assert_in_range(totals->budget, 1, 40000);
    totals->paused = 1;
    totals->paused_ns = 3 * S;
    m->watch->memory.paces[1].events = 99;
    sample(m, 3 * S + S / 10);
    expect(&m->wait, "worker[7]", "run_ns", 2 * S + S / 10); /* unchanged */
    sample(m, 5 * S + S / 2);
    expect(&m->wait, "worker[7]", "run_ns", 4 * S + S / 2);
    assert_int_equal(totals->paused, 1);
    assert_int_equal(m->watch->memory.paces[1].events, 99);
    sample(m, 6 * S);
    assert_int_equal(totals->paused, 0);
    assert_int_equal(m->watch->memory.paces[1].events, 0);
    assert_int_equal(m->notes, 1);
    assert_non_null(strstr(m->note, "slices"));
    unmake(m);
}

/* ---- sockets ---- */

static void a_socket_starves_while_its_reader_waits(void **state) {
    struct made *m = with_worker(WAIT_SOCKET_RECEIVE, 1 * S);
    (void)state;
    m->watch->memory.threads[0].wait_slot = 3;
    struct wait_socket *s = socket_slot(m, 2, 7, 11);
    s->starved_ns = 5;
    s->reads = 4;
    s->read_bytes = 400;
    sample(m, 3 * S);
    expect(&m->socket, CONNECTION, "starved_ns", 2 * S + 5);
    expect(&m->socket, CONNECTION, "unread_ns", 0);
    expect(&m->socket, CONNECTION, "reads", 4);
    expect(&m->socket, CONNECTION, "read_bytes", 400);
    expect(&m->socket, CONNECTION, "pid", 7);
    expect(&m->socket, CONNECTION, "rank", 3);
    expect(&m->wait, "worker[7]", "socket_receive_ns", 2 * S);
    unmake(m);
}

static void a_writer_that_waits_blocks_no_reader(void **state) {
    struct made *m = with_worker(WAIT_SOCKET_SEND, 1 * S);
    (void)state;
    m->watch->memory.threads[0].wait_slot = 1;
    socket_slot(m, 0, 7, 11);
    sample(m, 3 * S);
    expect(&m->socket, CONNECTION, "send_blocked_ns", 2 * S);
    expect(&m->socket, CONNECTION, "starved_ns", 0);
    unmake(m);
}

static void data_that_lies_there_is_unread(void **state) {
    struct made *m = with_worker(WAIT_TIMER, 1 * S);
    (void)state;
    socket_slot(m, 0, 7, 11)->ready_since_ns = 2 * S;
    sample(m, 5 * S);
    expect(&m->socket, CONNECTION, "unread_ns", 3 * S);
    unmake(m);
}

static void a_slot_of_an_ended_socket_is_freed_after_its_last_row(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    struct wait_socket *s = socket_slot(m, 0, 7, 11);
    s->starved_ns = 9;
    sample(m, 2 * S);
    s->starved_ns = 10;
    s->ended = 1;
    sample(m, 3 * S);
    expect(&m->socket, CONNECTION, "starved_ns", 10);
    assert_int_equal(s->slot, WAIT_FREE);
    sample(m, 4 * S);
    assert_int_equal(m->socket.rows.n, 0);
    unmake(m);
}

static void another_socket_between_the_same_ends_begins_anew(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    socket_slot(m, 0, 7, 11)->starved_ns = 9 * S;
    sample(m, 2 * S);
    assert_int_equal(harness_row(&m->socket, CONNECTION)->flags, 0);
    socket_slot(m, 0, 7, 12)->starved_ns = 1 * S;
    sample(m, 3 * S);
    expect(&m->socket, CONNECTION, "starved_ns", 1 * S);
    assert_int_equal(harness_row(&m->socket, CONNECTION)->flags, ROW_BORN);
    unmake(m);
}

static void a_socket_at_rest_has_a_row_a_second(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    socket_slot(m, 0, 7, 11);
    sample(m, 2 * S);
    assert_int_equal(m->socket.rows.n, 1);
    sample(m, 2 * S + S / 10);
    assert_int_equal(m->socket.rows.n, 0);
    m->watch->memory.sockets[0].reads = 1;
    sample(m, 2 * S + S / 5);
    assert_int_equal(m->socket.rows.n, 1);
    sample(m, 3 * S + S / 5);
    assert_int_equal(m->socket.rows.n, 1);
    unmake(m);
}

/* A process's connection is closed after the process: by then its owner is not known. */
static void a_socket_has_its_last_figures_when_its_process_ends(void **state) {
    struct made *m = with_worker(WAIT_SOCKET_SEND, 1 * S);
    (void)state;
    m->watch->memory.threads[0].wait_slot = 1;
    struct wait_socket *s = socket_slot(m, 0, 7, 11);
    sample(m, 2 * S);
    s->send_blocked_ns = 1 * S + S / 20;
    m->watch->memory.threads[0].slot = WAIT_ENDED;
    sample(m, 2 * S + S / 10);
    expect(&m->socket, CONNECTION, "send_blocked_ns", 1 * S + S / 20);
    unmake(m);
}

static void sockets_of_others_and_of_no_family_have_no_row(void **state) {
    struct made *m = with_worker(WAIT_RUN, 1 * S);
    (void)state;
    socket_slot(m, 0, 99, 11);
    socket_slot(m, 1, 7, 12)->family = 77;
    sample(m, 2 * S);
    assert_int_equal(m->socket.rows.n, 0);
    unmake(m);
}

/* ---- off ---- */

static void nobody_loads_programs_where_it_is_turned_off(void **state) {
    static struct harness h;
    (void)state;
    assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
    assert_int_equal(harness_open(&h, &probe_wait), PROBE_ABSENT);
    assert_string_equal(h.why, "");
    harness_close(&h);
    assert_int_equal(harness_open(&h, &probe_wakeup), PROBE_ABSENT);
    harness_close(&h);
}

/* If anything is missing, one line says so, and the probe is absent. */
static void what_keeps_clocks_away_is_said(void **state) {
    static struct harness h;
    (void)state;
    assert_int_equal(harness_init(&h, FIXTURES "nowhere", SCOPE_HOST), 0);
    h.env.waits = calloc(1, sizeof *h.env.waits);
    assert_int_equal(harness_open(&h, &probe_wait), PROBE_ABSENT);
    assert_non_null(strstr(h.why, "CHOKEPOINT_RUN"));
    harness_close(&h);
    h.env.run_token_id = "r";
    assert_int_equal(harness_open(&h, &probe_wait), PROBE_ABSENT);
    assert_string_not_equal(h.why, "");
    harness_close(&h);
    free(h.env.waits);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_that_goes_on_is_seen),
        cmocka_unit_test(threads_of_a_process_are_summed),
        cmocka_unit_test(what_was_told_never_steps_back),
        cmocka_unit_test(an_event_after_the_frame_takes_nothing_off),
        cmocka_unit_test(a_thread_that_ended_leaves_its_figures),
        cmocka_unit_test(a_process_that_ended_has_a_last_row),
        cmocka_unit_test(one_that_nobody_listed_is_summed_with_its_like),
        cmocka_unit_test(an_id_that_is_used_again_is_another_process),
        cmocka_unit_test(a_renamed_process_has_a_row_under_both_names),
        cmocka_unit_test(one_that_came_later_is_born),
        cmocka_unit_test(a_slot_that_is_being_written_stands_where_it_was),
        cmocka_unit_test(numbers_that_cannot_be_are_left_out),
        cmocka_unit_test(what_found_no_room_is_said_once),
        cmocka_unit_test(time_that_was_not_clocked_is_shared_out),
        cmocka_unit_test(a_connection_has_its_share_too),
        cmocka_unit_test(data_that_lay_there_before_a_pause_may_have_been_read),
        cmocka_unit_test(a_pause_lasts_three_seconds_and_is_said_once),
        cmocka_unit_test(a_socket_starves_while_its_reader_waits),
        cmocka_unit_test(a_writer_that_waits_blocks_no_reader),
        cmocka_unit_test(data_that_lies_there_is_unread),
        cmocka_unit_test(a_slot_of_an_ended_socket_is_freed_after_its_last_row),
        cmocka_unit_test(another_socket_between_the_same_ends_begins_anew),
        cmocka_unit_test(a_socket_at_rest_has_a_row_a_second),
        cmocka_unit_test(a_socket_has_its_last_figures_when_its_process_ends),
        cmocka_unit_test(sockets_of_others_and_of_no_family_have_no_row),
        cmocka_unit_test(nobody_loads_programs_where_it_is_turned_off),
        cmocka_unit_test(what_keeps_clocks_away_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
