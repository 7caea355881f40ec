/* SPDX-License-Identifier: MIT */
/* Ranks that lose their core inside MPI: the time of the run without that, and without the waits of
 * others that it causes.
 */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/gain/whatif.h"
#include "analysis/run_model.h"
#include "tests/unit/mpi_plant.h"
#include "tests/unit/warm.h"

#define ROUNDS 40
#define BOTH (MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU)

/* Two ranks on two hosts; rank 1 has no core for `queue` of its time. */
static void begin(struct recording *r, int64_t round_ns, double queue) {
    plant_init(r, 2, (double)round_ns * ROUNDS / 1e9);
    r->clock_bound_ns = calloc(2, sizeof *r->clock_bound_ns);
    plant_process(r, 0, "train", (struct plant_process){0, 1, 0, 0});
    plant_process(r, 1, "train", (struct plant_process){1, 1 - queue, queue, 0});
    for (int rank = 0; rank < 2; rank++)
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 0);
}

static void meet(struct recording *r, int rank, int64_t own, int64_t enter, int64_t exit,
                 int64_t cpu) {
    PLANT(&r->calls, rank, rank, "MPI_Allreduce", -1, -1, 8, enter, exit, BOTH, .gap_cpu_ns = own,
          .cpu_ns = cpu);
}

/* A round without the term on rank 1's host takes this long. Returns the upper bound of that gain.
 */
static double check_without(struct recording *r, enum budget_term term, int64_t should_ns) {
    struct run_model model;
    struct whatif *w;
    struct whatif_answer a;
    struct whatif_scenario s = {WHATIF_WITHOUT, .host = 1, .rank = -1, .term = term, .factor = 1};
    assert_int_equal(mpi_log_finish(&r->calls), 0);
    assert_int_equal(model_build(r, &model), 0);
    assert_int_equal(whatif_new(&model, &w), 0);
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    assert_true(a.replayed);
    double should_s = (double)should_ns * ROUNDS / 1e9;
    if (!(fabs(a.replay_s / a.measured_s - 1) < 0.01) ||
        !(fabs(a.predicted_s / warm_s(should_s, a.measured_s) - 1) < 0.02))
        fail_msg("%.4g s as measured %.4g, then %.4g, not %.4g", a.measured_s, a.replay_s,
                 a.predicted_s, should_s);
    assert_true(a.bound_s <= a.predicted_s && a.gain <= a.gain_max);
    assert_true(fabs(a.gain_max - (1 - a.bound_s / a.measured_s)) < 1e-9);
    whatif_free(w);
    model_release(&model);
    recording_release(r);
    return a.gain_max;
}

static double check(struct recording *r, int64_t should_ns) {
    return check_without(r, BUDGET_RUN_QUEUE, should_ns);
}

/* In each round of 100 ms rank 1 computes for 20 ms and writes a file for 60 ms, of which 50 ms for
 * the disk. together: all ranks write, and the others come 10 ms after it.
 */
static void plant_writing(struct recording *r, bool together) {
    plant_init(r, 2, 4);
    r->clock_bound_ns = calloc(2, sizeof *r->clock_bound_ns);
    plant_process(r, 0, "train", (struct plant_process){0, .3, 0, 0});
    plant_process(r, 1, "train", (struct plant_process){1, .45, 0, .5});
    for (int rank = 0; rank < 2; rank++)
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 1 * MS, MPI_FLAG_HAS_CPU,
              .cpu_ns = 1 * MS);
    const char *write = together ? "MPI_File_write_at_all" : "MPI_File_write_at";
    for (int64_t t = 1 * MS; t < 1 * MS + 100 * MS * ROUNDS; t += 100 * MS) {
        PLANT(&r->calls, 1, 1, write, -1, -1, 4096, t + 20 * MS, t + 80 * MS, BOTH,
              .gap_cpu_ns = 20 * MS, .cpu_ns = 5 * MS, .comm = 9);
        if (together)
            PLANT(&r->calls, 0, 0, write, -1, -1, 4096, t + 20 * MS, t + 21 * MS, BOTH,
                  .gap_cpu_ns = 20 * MS, .cpu_ns = 1 * MS, .comm = 9);
        meet(r, 0, (together ? 1 : 20) * MS, t + (together ? 22 : 20) * MS, t + 100 * MS, 10 * MS);
        meet(r, 1, 20 * MS, t + 100 * MS, t + 100 * MS, 0);
    }
}

static void a_disk_takes_its_part_of_what_files_take(void **state) {
    struct recording r;
    (void)state;
    for (int together = 0; together < 2; together++) {
        plant_writing(&r, together);
        check_without(&r, BUDGET_DISK, 50 * MS);
        plant_writing(&r, together);
        check_without(&r, BUDGET_FILE, 90 * MS);
    }
}

/* Rank 1 has no core for .4 s of a second in MPI_Init; rank 0 has less to do and sleeps until both
 * are done, so it is delayed by .4 s, too.
 */
static void nobody_is_through_with_init_before_the_one_without_a_core(void **state) {
    struct recording r;
    (void)state;
    plant_init(&r, 2, 5);
    r.clock_bound_ns = calloc(2, sizeof *r.clock_bound_ns);
    plant_process(&r, 0, "train", (struct plant_process){0, .6, 0, 0});
    plant_process(&r, 1, "train", (struct plant_process){1, .6, .4, 0});
    for (int rank = 0; rank < 2; rank++)
        PLANT(&r.calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 1000 * MS, MPI_FLAG_HAS_CPU,
              .cpu_ns = (rank ? 600 : 200) * MS);
    for (int64_t t = 1000 * MS; t < 1000 * MS + 100 * MS * ROUNDS; t += 100 * MS) {
        meet(&r, 0, 50 * MS, t + 50 * MS, t + 100 * MS, 50 * MS);
        meet(&r, 1, 60 * MS, t + 100 * MS, t + 100 * MS, 0);
    }
    check(&r, 60 * MS + 600 * MS / ROUNDS);
}

/* The kernel takes a core away when a process makes a system call, also when it starts a receive.
 */
static void a_core_lost_in_a_call_that_waits_for_nobody_comes_back(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 100 * MS, 0.4);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        meet(&r, 0, 50 * MS, t + 50 * MS, t + 100 * MS, 50 * MS);
        PLANT(&r.calls, 1, 1, "MPI_Irecv", 0, 1, 8, t + 50 * MS, t + 90 * MS, BOTH,
              .gap_cpu_ns = 50 * MS);
        meet(&r, 1, 0, t + 90 * MS, t + 100 * MS, 10 * MS);
    }
    check(&r, 60 * MS);
}

/* Rank 1 polls every ms for a message, which is sent just after it has lost its core in such a
 * poll: the time of that poll is not the link's.
 */
static void a_core_lost_while_looking_keeps_back_what_had_come(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 100 * MS, 0.4);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        PLANT(&r.calls, 0, 0, "MPI_Send", 1, 1, 8, t + 50 * MS, t + 50 * MS + US, BOTH,
              .gap_cpu_ns = 50 * MS);
        meet(&r, 0, 0, t + 50 * MS + US, t + 100 * MS, 50 * MS);
        PLANT(&r.calls, 1, 1, "MPI_Irecv", 0, 1, 8, t + 40 * MS, t + 40 * MS + US, BOTH,
              .gap_cpu_ns = 40 * MS);
        PLANT(&r.calls, 1, 1, "MPI_Irecv", 0, 1, 8, t + 40 * MS, t + 91 * MS, MPI_FLAG_REQUEST);
        for (int poll = 41; poll < 50; poll++)
            PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 0, t + poll * MS, t + poll * MS + US, BOTH);
        PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 0, t + 50 * MS, t + 90 * MS, BOTH);
        PLANT(&r.calls, 1, 1, "MPI_Test", 0, 1, 8, t + 91 * MS - US, t + 91 * MS, BOTH);
        meet(&r, 1, 9 * MS, t + 100 * MS, t + 100 * MS, 0);
    }
    check(&r, 60 * MS);
}

/* Rank 1 computes for 40 ms and polls for a message every ms, from 41 ms of the round on. */
static void poll_each_ms(struct recording *r, int64_t t, int until) {
    PLANT(&r->calls, 1, 1, "MPI_Irecv", 0, 1, 8, t + 40 * MS, t + 40 * MS + US, BOTH,
          .gap_cpu_ns = 40 * MS);
    for (int poll = 41; poll < until; poll++)
        PLANT(&r->calls, 1, 1, "MPI_Test", -1, -1, 0, t + poll * MS, t + poll * MS + US, BOTH);
}

/* The message is sent at `sent` ms of the round, and found by the last poll, a us before `found`;
 * before that poll the rank computed. Then it does the rest of the round.
 */
static void find_at(struct recording *r, int64_t t, int sent, int found, int64_t computed_ns) {
    int64_t end = t + found * MS;
    PLANT(&r->calls, 0, 0, "MPI_Send", 1, 1, 8, t + sent * MS, t + sent * MS + US, BOTH,
          .gap_cpu_ns = sent * MS);
    meet(r, 0, 0, t + sent * MS + US, t + 100 * MS, (100 - sent) * MS - US);
    PLANT(&r->calls, 1, 1, "MPI_Irecv", 0, 1, 8, t + 40 * MS, end, MPI_FLAG_REQUEST);
    PLANT(&r->calls, 1, 1, "MPI_Test", 0, 1, 8, end - US, end, BOTH, .gap_cpu_ns = computed_ns);
    meet(r, 1, (100 - found) * MS, t + 100 * MS, t + 100 * MS, 0);
}

/* Two polls for a message that was sent at 50 ms lose the core, one after the other: 39 ms. */
static void cores_lost_one_after_the_other_all_keep_back(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 100 * MS, 0.39);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        poll_each_ms(&r, t, 50);
        PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 0, t + 50 * MS, t + 69 * MS, BOTH);
        PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 0, t + 70 * MS, t + 90 * MS, BOTH);
        find_at(&r, t, 50, 91, 0);
    }
    check(&r, 61 * MS);
}

/* Before the last poll it wakes up slowly, with 0.2 ms of CPU time: it was waiting all the same. */
static void waking_up_ends_no_wait(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 100 * MS, 0.4);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        poll_each_ms(&r, t, 50);
        PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 0, t + 50 * MS, t + 90 * MS, BOTH);
        find_at(&r, t, 50, 91, 200 * US);
    }
    check(&r, 60 * MS);
}

/* It polls for 10 ms and finds nothing, and then has 30 ms of its own work. */
static void polls_before_something_else_is_done_are_time_too(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 100 * MS, 0);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        poll_each_ms(&r, t, 51);
        find_at(&r, t, 75, 80, 30 * MS - 2 * US);
    }
    check(&r, 100 * MS);
}

/* Its back-offs are 0.1 ms, but 8 of 10 end 3.9 ms late, since another process has the core. */
static void backoffs_that_mostly_end_late_are_no_long_backoffs(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 100 * MS, 0.312);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        int64_t at = t + 40 * MS + 800 * US;
        poll_each_ms(&r, t, 41);
        for (int poll = 0; poll < 10; poll++, at += (poll < 2 ? 100 : 4000) * US)
            PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 0, at, at + US, BOTH);
        find_at(&r, t, 41, 73, 0);
    }
    check(&r, (100000 - 8 * 3900) * US);
}

/* A row of 9000 polls had the core for 9 ms, and one of the next polls had none for 40 ms: the
 * absence is no part of the other polls' time.
 */
static void of_polls_in_a_row_the_long_one_had_no_core(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 100 * MS, 0.41);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        PLANT(&r.calls, 0, 0, "MPI_Send", 1, 1, 8, t + 50 * MS, t + 50 * MS + US, BOTH,
              .gap_cpu_ns = 50 * MS);
        meet(&r, 0, 0, t + 50 * MS + US, t + 100 * MS, 50 * MS);
        PLANT(&r.calls, 1, 1, "MPI_Irecv", 0, 1, 8, t + 40 * MS, t + 40 * MS + US, BOTH,
              .gap_cpu_ns = 40 * MS);
        PLANT(&r.calls, 1, 1, "MPI_Irecv", 0, 1, 8, t + 40 * MS, t + 90 * MS + US,
              MPI_FLAG_REQUEST);
        PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 0, t + 41 * MS, t + 50 * MS, MPI_FLAG_FOLDED,
              .inside_ns = 9 * MS, .calls = 9000);
        PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 0, t + 50 * MS, t + 90 * MS, MPI_FLAG_FOLDED,
              .inside_ns = 40 * MS, .calls = 4);
        PLANT(&r.calls, 1, 1, "MPI_Test", 0, 1, 8, t + 90 * MS, t + 90 * MS + US, 0);
        meet(&r, 1, 10 * MS - US, t + 100 * MS, t + 100 * MS, 0);
    }
    check(&r, 60 * MS);
}

/* Rank 1 builds its next message and polls 70000 times meanwhile: the previous message had arrived
 * long before, and nobody waited for it.
 */
static void polls_that_something_is_done_between_are_no_wait(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 100 * MS, 0);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        PLANT(&r.calls, 0, 0, "MPI_Recv", 1, 1, 8192, t, t + 50 * US, 0);
        meet(&r, 0, 0, t + 50 * US, t + 100 * MS, 100 * MS - 50 * US);
        PLANT(&r.calls, 1, 1, "MPI_Isend", 0, 1, 8192, t, t + 10 * US, 0);
        PLANT(&r.calls, 1, 1, "MPI_Isend", 0, 1, 8192, t, t + 90 * MS + US, MPI_FLAG_REQUEST);
        PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 0, t + 60 * US, t + 90 * MS, MPI_FLAG_FOLDED,
              .inside_ns = 70 * MS, .calls = 70000);
        PLANT(&r.calls, 1, 1, "MPI_Test", 0, 1, 8192, t + 90 * MS, t + 90 * MS + US, 0);
        meet(&r, 1, 10 * MS - US, t + 100 * MS, t + 100 * MS, 0);
    }
    check(&r, 100 * MS);
}

/* Rank 0 waits for the message that rank 1 was sending when it lost its core. */
static void a_core_lost_while_sending_keeps_back_the_message(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 100 * MS, 0.4);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        PLANT(&r.calls, 0, 0, "MPI_Recv", 1, 1, 8, t, t + 90 * MS + 100 * US, BOTH,
              .cpu_ns = 90 * MS);
        meet(&r, 0, 9900 * US, t + 100 * MS, t + 100 * MS, 0);
        PLANT(&r.calls, 1, 1, "MPI_Send", 0, 1, 8, t + 50 * MS, t + 90 * MS, BOTH,
              .gap_cpu_ns = 50 * MS);
        meet(&r, 1, 0, t + 90 * MS, t + 100 * MS, 10 * MS);
    }
    check(&r, 60 * MS);
}

/* Rank 1 has no core for 44 ms while sending, except for a moment after 40 ms: then the message
 * arrives.
 */
static void a_message_that_comes_between_two_turns_was_kept_back_by_the_first(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 100 * MS, 0.44);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        PLANT(&r.calls, 0, 0, "MPI_Recv", 1, 1, 8, t, t + 90 * MS, BOTH, .cpu_ns = 90 * MS);
        meet(&r, 0, 10 * MS, t + 100 * MS, t + 100 * MS, 0);
        PLANT(&r.calls, 1, 1, "MPI_Send", 0, 1, 8, t + 50 * MS, t + 94 * MS, BOTH,
              .gap_cpu_ns = 50 * MS);
        meet(&r, 1, 0, t + 94 * MS, t + 100 * MS, 6 * MS);
    }
    check(&r, 60 * MS);
}

/* Making a communicator takes many exchanges: rank 1 loses its core in some of them, and once more
 * when rank 0 is done.
 */
static void who_is_through_with_many_turns_before_the_last_was_held_up(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 100 * MS, 0.4);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        PLANT(&r.calls, 0, 0, "MPI_Comm_dup", -1, -1, 0, t + 50 * MS, t + 80 * MS, BOTH,
              .gap_cpu_ns = 50 * MS, .cpu_ns = 30 * MS);
        meet(&r, 0, 20 * MS, t + 100 * MS, t + 100 * MS, 0);
        PLANT(&r.calls, 1, 1, "MPI_Comm_dup", -1, -1, 0, t + 50 * MS, t + 90 * MS, BOTH,
              .gap_cpu_ns = 50 * MS);
        meet(&r, 1, 0, t + 90 * MS, t + 100 * MS, 10 * MS);
    }
    check(&r, 70 * MS);
}

/* The message had been handed over before, and was under way: rank 1's want of a core during a
 * later wait does not delay it. Without that, rank 1 sees the answer sooner, and no other rank
 * gains.
 */
static void a_core_lost_after_sending_does_not_keep_back_the_message(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 110 * MS, 0.36);
    for (int64_t t = 0; t < 110 * MS * ROUNDS; t += 110 * MS) {
        PLANT(&r.calls, 0, 0, "MPI_Send", 1, 2, 8, t, t + US, BOTH);
        PLANT(&r.calls, 0, 0, "MPI_Recv", 1, 1, 8, t + US, t + 100 * MS, BOTH,
              .cpu_ns = 100 * MS - US);
        meet(&r, 0, 10 * MS, t + 110 * MS, t + 110 * MS, 0);
        PLANT(&r.calls, 1, 1, "MPI_Send", 0, 1, 8, t + 50 * MS, t + 50 * MS + US, BOTH,
              .gap_cpu_ns = 50 * MS);
        PLANT(&r.calls, 1, 1, "MPI_Recv", 0, 2, 8, t + 51 * MS, t + 90 * MS, BOTH,
              .gap_cpu_ns = MS - US);
        meet(&r, 1, 0, t + 90 * MS, t + 110 * MS, 20 * MS);
    }
    check(&r, 110 * MS);
}

/* Rank 1 comes 30 ms after a message that moves at 600 MB/s, except in every 20th round, in which
 * it waits for it. When the others arrived is not known, and 2 MB/s is not the link's rate.
 */
static void a_message_found_long_after_it_came_says_nothing_of_its_link(void **state) {
    struct recording r;
    int64_t t = 0;
    (void)state;
    begin(&r, (38 * 51 * MS + 2 * 21 * MS) / ROUNDS, 0.77);
    for (int round = 0; round < ROUNDS; round++) {
        bool waits = round % 20 == 19;
        int64_t polls = t + (waits ? 10 : 50) * MS,
                has = t + (waits ? 20 * MS + 100 * US : 50 * MS);
        int64_t end = has + MS;
        PLANT(&r.calls, 0, 0, "MPI_Send", 1, 1, 60000, t + 20 * MS, t + 20 * MS + US, BOTH,
              .gap_cpu_ns = 20 * MS);
        meet(&r, 0, 0, t + 20 * MS + US, end, end - t - 20 * MS);
        PLANT(&r.calls, 1, 1, "MPI_Irecv", 0, 1, 60000, t, t + US, BOTH);
        PLANT(&r.calls, 1, 1, "MPI_Irecv", 0, 1, 60000, t, has + US, MPI_FLAG_REQUEST);
        PLANT(&r.calls, 1, 1, "MPI_Wait", 0, 1, 60000, polls, has + US, BOTH, .gap_cpu_ns = 10 * MS,
              .cpu_ns = has + US - polls);
        meet(&r, 1, end - has - US, end, end, 0);
        t = end;
    }
    check(&r, 21 * MS);
}

/* ---- rounds of meetings ---- */

/* A rank's all-reduce: computing before it, arrival and departure in ms of the round, and its time
 * with a core.
 */
struct meeting {
    int rank, own, enter, exit, cpu;
};

struct rounds {
    int ms, without_contention_ms;
    double queue; /* rank 1's share of time without a core */
    struct meeting meetings[4];
};

/* The upper bound of the gain without the contention. */
static double check_rounds(const struct rounds *rounds) {
    struct recording r;
    int64_t round_ns = rounds->ms * MS;
    begin(&r, round_ns, rounds->queue);
    for (int64_t t = 0; t < round_ns * ROUNDS; t += round_ns)
        for (const struct meeting *m = rounds->meetings; m < rounds->meetings + 4 && m->exit; m++)
            meet(&r, m->rank, m->own * MS, t + m->enter * MS, t + m->exit * MS, m->cpu * MS);
    return check(&r, rounds->without_contention_ms * MS);
}

/* It spun for 40 ms until the other came, and then had no core for 40 ms; 89 ms of computing in
 * sequence remain after any gain.
 */
static void spinning_before_the_peer_came_is_no_part_of_what_came_after(void **state) {
    const struct rounds rounds = {
        130,
        90,
        40.0 / 130,
        {{0, 60, 60, 61, 1}, {0, 0, 61, 130, 69}, {1, 20, 20, 100, 40}, {1, 29, 129, 130, 1}}};
    (void)state;
    double most = check_rounds(&rounds);
    assert_true(most > 0.3 && most < gain_warm(41.5 / 130, 2));
}

/* Both come together; rank 1 has no core for 40 ms before it does its part of the exchange. */
static void who_waits_for_a_member_without_a_core_goes_on_sooner_with_it(void **state) {
    const struct rounds rounds = {100, 60, 0.4, {{0, 50, 50, 100, 50}, {1, 50, 50, 100, 10}}};
    (void)state;
    check_rounds(&rounds);
}

/* Rank 0 left long before rank 1 had its core again: it had what it needed. */
static void who_had_gone_on_before_was_not_held_up(void **state) {
    const struct rounds rounds = {
        100,
        100,
        0.3,
        {{0, 40, 40, 60, 20}, {0, 40, 100, 100, 0}, {1, 40, 40, 80, 10}, {1, 20, 100, 100, 0}}};
    (void)state;
    check_rounds(&rounds);
}

/* Rank 0 has other work in the call: it leaves 30 ms later. */
static void who_went_on_long_after_was_not_held_up(void **state) {
    const struct rounds rounds = {100, 100, 0.4, {{0, 30, 30, 100, 70}, {1, 0, 30, 70, 0}}};
    (void)state;
    check_rounds(&rounds);
}

/* Both start a call at 50 ms. Rank 1 polls for its completion, and loses its core in two polls:
 * rank 0, which spins, waits for its part.
 */
static void who_waits_for_a_member_that_lost_its_core_twice_goes_on_sooner(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 100 * MS, 0.38);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        for (int rank = 0; rank < 2; rank++) {
            PLANT(&r.calls, rank, rank, "MPI_Iallreduce", -1, -1, 8, t + 50 * MS, t + 50 * MS + US,
                  BOTH, .gap_cpu_ns = 50 * MS);
            PLANT(&r.calls, rank, rank, "MPI_Iallreduce", -1, -1, 8, t + 50 * MS, t + 90 * MS,
                  MPI_FLAG_REQUEST);
        }
        PLANT(&r.calls, 0, 0, "MPI_Wait", -1, -1, 0, t + 50 * MS + US, t + 90 * MS, BOTH,
              .cpu_ns = 40 * MS - US);
        meet(&r, 0, 10 * MS, t + 100 * MS, t + 100 * MS, 0);
        PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 0, t + 50 * MS + US, t + 69 * MS, BOTH);
        PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 0, t + 70 * MS, t + 89 * MS, BOTH);
        PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 8, t + 90 * MS - US, t + 90 * MS, BOTH);
        meet(&r, 1, 10 * MS, t + 100 * MS, t + 100 * MS, 0);
    }
    check(&r, 62 * MS);
}

/* ---- how sure that is ---- */

static double throttled(size_t column, double t_s) {
    (void)t_s;
    return column == CGROUP_THROTTLED ? 0.4e9
           : column == CGROUP_QUOTA   ? 60e6
           : column == CGROUP_PERIOD  ? 100e6
                                      : 0;
}

/* The ends of the interval, as shares of the prediction without that term. */
static void ask_ends(struct recording *r, enum budget_term term, double *ret_low,
                     double *ret_high) {
    struct run_model model;
    struct whatif *w;
    struct whatif_answer a;
    struct whatif_scenario s = {WHATIF_WITHOUT, .host = 1, .rank = -1, .term = term, .factor = 1};
    assert_int_equal(mpi_log_finish(&r->calls), 0);
    assert_int_equal(model_build(r, &model), 0);
    assert_int_equal(whatif_new(&model, &w), 0);
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    double should_s = warm_s(60 * MS * ROUNDS / 1e9, a.measured_s);
    assert_true(a.replayed && fabs(a.predicted_s / should_s - 1) < 0.02);
    assert_true(a.bound_s <= a.low_s && a.gain_high <= a.gain_max + 1e-9);
    *ret_low = 1 - a.low_s / a.predicted_s;
    *ret_high = a.high_s / a.predicted_s - 1;
    whatif_free(w);
    model_release(&model);
    recording_release(r);
}

/* The time that a spinning rank stood still in a call is inferred from the calls, whichever process
 * took the core.
 */
static void
what_a_quota_took_inside_of_calls_is_less_sure_than_what_rounds_differ_by(void **state) {
    (void)state;
    for (int quota = 0; quota < 2; quota++) {
        struct recording r;
        double low, high;
        begin(&r, 100 * MS, 0.4);
        if (quota)
            plant(&r, RECORDING_CGROUP, 1, "/job", 0.1, 1u << CGROUP_QUOTA | 1u << CGROUP_PERIOD,
                  throttled);
        for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
            meet(&r, 0, 50 * MS, t + 50 * MS, t + 100 * MS, 50 * MS);
            meet(&r, 1, 50 * MS, t + 50 * MS, t + 100 * MS, 10 * MS);
        }
        ask_ends(&r, quota ? BUDGET_QUOTA : BUDGET_RUN_QUEUE, &low, &high);
        assert_true(quota ? low >= 0.149 && high >= 0.149 : low < 0.05 && high < 0.05);
    }
}

/* ---- messages, and calls with a root ---- */

/* A receive of 200 ms on 70 % of a core: the message was sent after 140 ms. The link took most of
 * the rest.
 */
static void a_message_under_way_is_not_all_want_of_a_core(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 200 * MS, 0.3);
    for (int64_t t = 0; t < 200 * MS * ROUNDS; t += 200 * MS) {
        PLANT(&r.calls, 0, 0, "MPI_Send", 1, 1, 60e6, t + 140 * MS, t + 182 * MS, BOTH,
              .gap_cpu_ns = 140 * MS, .cpu_ns = 42 * MS);
        PLANT(&r.calls, 1, 1, "MPI_Recv", 0, 1, 60e6, t, t + 200 * MS, BOTH, .cpu_ns = 140 * MS);
        meet(&r, 0, 0, t + 182 * MS, t + 200 * MS, 18 * MS);
        meet(&r, 1, 0, t + 200 * MS, t + 200 * MS, 0);
    }
    check(&r, 182 * MS);
}

/* Rank 1 starts a call whose root is rank 0, and has no core for 40 ms of it: no rank needs it
 * there, though rank 0 leaves at the same time.
 */
static void who_does_not_need_the_late_member_was_not_held_up(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 100 * MS, 0.4);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        PLANT(&r.calls, 0, 0, "MPI_Bcast", 0, -1, 8, t + 50 * MS, t + 100 * MS, BOTH,
              .gap_cpu_ns = 50 * MS, .cpu_ns = 50 * MS);
        PLANT(&r.calls, 1, 1, "MPI_Bcast", 0, -1, 8, t + 50 * MS, t + 100 * MS, BOTH,
              .gap_cpu_ns = 50 * MS, .cpu_ns = 10 * MS);
    }
    check(&r, 100 * MS);
}

/* ---- messages of a host without a core ---- */

/* Rank 1 always comes 80 ms after a message, as it has no core for 60 ms. Its own message, which
 * follows one of few bytes, is polled for after that came. No rank waits for a large message.
 */
static void who_always_comes_late_says_nothing_of_the_way(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 102 * MS, 60.0 / 102);
    for (int64_t t = 0; t < 102 * MS * ROUNDS; t += 102 * MS) {
        int64_t there = t + 100 * MS, back = t + 101 * MS;
        PLANT(&r.calls, 0, 0, "MPI_Send", 1, 1, 60000, t + 20 * MS, t + 20 * MS + US, BOTH,
              .gap_cpu_ns = 20 * MS);
        PLANT(&r.calls, 0, 0, "MPI_Recv", 1, 2, 8, t + 20 * MS + US, back, BOTH,
              .cpu_ns = 81 * MS - US);
        PLANT(&r.calls, 0, 0, "MPI_Recv", 1, 3, 60000, back, back + 10 * US, BOTH,
              .cpu_ns = 10 * US);
        meet(&r, 0, 0, back + 10 * US, t + 102 * MS, MS - 10 * US);
        PLANT(&r.calls, 1, 1, "MPI_Recv", 0, 1, 60000, there, there + 10 * US, BOTH,
              .gap_cpu_ns = 40 * MS, .cpu_ns = 10 * US);
        PLANT(&r.calls, 1, 1, "MPI_Send", 0, 2, 8, there + 10 * US, there + 20 * US, BOTH,
              .cpu_ns = 10 * US);
        PLANT(&r.calls, 1, 1, "MPI_Send", 0, 3, 60000, there + 20 * US, there + 30 * US, BOTH,
              .cpu_ns = 10 * US);
        meet(&r, 1, 2 * MS - 30 * US, t + 102 * MS, t + 102 * MS, 0);
    }
    check(&r, 42 * MS);
}

/* Rank 1's host has no core for a sixth of the time, and the messages it waits for take 10, 20 or
 * 30 ms: with a core that much less, but no less than those that came soon.
 */
static void expect_of_messages(const int64_t took_ms[3], int64_t should_ms) {
    struct recording r;
    int64_t t = 0;
    begin(&r, 60 * MS, 1.0 / 6);
    for (int round = 0; round < ROUNDS; round++) {
        int64_t sent = t + 20 * MS, came = sent + took_ms[round % 3] * MS, end = came + 20 * MS;
        PLANT(&r.calls, 0, 0, "MPI_Send", 1, 1, 8, sent, sent + US, BOTH, .gap_cpu_ns = 20 * MS);
        meet(&r, 0, 0, sent + US, end, end - sent - US);
        PLANT(&r.calls, 1, 1, "MPI_Recv", 0, 1, 8, t, came, BOTH, .cpu_ns = came - t);
        meet(&r, 1, 10 * MS, end, end, 0);
        t = end;
    }
    check(&r, should_ms * MS);
}

static void messages_take_less_with_a_core(void **state) {
    (void)state;
    expect_of_messages((const int64_t[]){10, 20, 30}, 20 + 17 + 10);
    expect_of_messages((const int64_t[]){20, 20, 20}, 20 + 20 + 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_always_comes_late_says_nothing_of_the_way),
        cmocka_unit_test(messages_take_less_with_a_core),
        cmocka_unit_test(a_disk_takes_its_part_of_what_files_take),
        cmocka_unit_test(nobody_is_through_with_init_before_the_one_without_a_core),
        cmocka_unit_test(a_message_found_long_after_it_came_says_nothing_of_its_link),
        cmocka_unit_test(a_core_lost_while_looking_keeps_back_what_had_come),
        cmocka_unit_test(of_polls_in_a_row_the_long_one_had_no_core),
        cmocka_unit_test(cores_lost_one_after_the_other_all_keep_back),
        cmocka_unit_test(waking_up_ends_no_wait),
        cmocka_unit_test(polls_before_something_else_is_done_are_time_too),
        cmocka_unit_test(backoffs_that_mostly_end_late_are_no_long_backoffs),
        cmocka_unit_test(who_waits_for_a_member_that_lost_its_core_twice_goes_on_sooner),
        cmocka_unit_test(polls_that_something_is_done_between_are_no_wait),
        cmocka_unit_test(a_core_lost_while_sending_keeps_back_the_message),
        cmocka_unit_test(a_message_that_comes_between_two_turns_was_kept_back_by_the_first),
        cmocka_unit_test(who_is_through_with_many_turns_before_the_last_was_held_up),
        cmocka_unit_test(a_core_lost_after_sending_does_not_keep_back_the_message),
        cmocka_unit_test(a_core_lost_in_a_call_that_waits_for_nobody_comes_back),
        cmocka_unit_test(spinning_before_the_peer_came_is_no_part_of_what_came_after),
        cmocka_unit_test(who_waits_for_a_member_without_a_core_goes_on_sooner_with_it),
        cmocka_unit_test(what_a_quota_took_inside_of_calls_is_less_sure_than_what_rounds_differ_by),
        cmocka_unit_test(who_had_gone_on_before_was_not_held_up),
        cmocka_unit_test(a_message_under_way_is_not_all_want_of_a_core),
        cmocka_unit_test(who_does_not_need_the_late_member_was_not_held_up),
        cmocka_unit_test(who_went_on_long_after_was_not_held_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
