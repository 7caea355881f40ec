/* SPDX-License-Identifier: MIT */
/*
 * Exchanges of large messages over a link that is slow one way: the answer to the other rank's
 * offer queues behind the bytes that its receiver sends itself.
 */
#include <math.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/gain/whatif.h"
#include "analysis/run_model.h"
#include "tests/unit/mpi_plant.h"
#include "tests/unit/warm.h"

#define ROUNDS 60
#define BYTES 200000
#define SLOW 12.5e6 /* bytes/s out of rank 0's host */
#define FAST 1e9    /* bytes/s out of rank 1's */
#define BOTH (MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU)

/* The other rank's message is received in a call, and the own one is sent in the same. */
static void exchange(struct recording *r, int rank, double enter_s, double exit_s, double own_s) {
    int64_t enter = (int64_t)(enter_s * 1e9), exit = (int64_t)(exit_s * 1e9);
    if (!r)
        return;
    PLANT(&r->calls, rank, rank, "MPI_Sendrecv", !rank, 5, BYTES, enter, exit, MPI_FLAG_PART);
    PLANT(&r->calls, rank, rank, "MPI_Sendrecv", !rank, 5, BYTES, enter, exit, BOTH,
          .gap_cpu_ns = (int64_t)(own_s * 1e9), .cpu_ns = exit - enter);
}

/* Rank 0 only begins to send, and looks after that before it sends again. */
static void begin_and_receive(struct recording *r, double enter_s, double exit_s, double next_s,
                              double own_s) {
    int64_t enter = (int64_t)(enter_s * 1e9), exit = (int64_t)(exit_s * 1e9);
    int64_t next = (int64_t)(next_s * 1e9);
    if (!r)
        return;
    PLANT(&r->calls, 0, 0, "MPI_Isend", 1, 5, BYTES, enter, enter + 1 * US, MPI_FLAG_HAS_GAP_CPU,
          .gap_cpu_ns = (int64_t)(own_s * 1e9));
    PLANT(&r->calls, 0, 0, "MPI_Recv", 1, 5, BYTES, enter + 2 * US, exit, MPI_FLAG_HAS_CPU,
          .cpu_ns = exit - enter);
    PLANT(&r->calls, 0, 0, "MPI_Isend", 1, 5, BYTES, enter, next, MPI_FLAG_REQUEST);
    PLANT(&r->calls, 0, 0, "MPI_Wait", 1, 5, BYTES, next - 2 * US, next - 1 * US,
          MPI_FLAG_HAS_GAP_CPU, .gap_cpu_ns = next - exit);
}

/* Rank 0 comes first in two rounds and last in the third. Where it comes first, rank 1's message
 * waits behind its own, if `queues`. The system takes its bytes over at once. Returns the end.
 */
static double play(struct recording *r, double rate, bool queues, bool split) {
    double now[2] = {0.1, 0.1}, link_free = 0;
    for (int i = 0; i < ROUNDS; i++) {
        double own[2] = {i % 3 ? 0.002 : 0.03, 0.01};
        double enter[2] = {now[0] + own[0], now[1] + own[1]};
        bool first = enter[0] < enter[1];
        double begin = fmax(enter[0], enter[1]);
        double out = fmax(begin, link_free) + BYTES / rate;
        double in = (first && queues ? out : begin) + BYTES / FAST;
        double exit[2] = {in, fmax(out, in)};
        double next = exit[0] + ((i + 1) % 3 ? 0.002 : 0.03);
        if (split)
            begin_and_receive(r, enter[0], exit[0], next, 0);
        for (int rank = split; rank < 2; rank++)
            exchange(r, rank, enter[rank], exit[rank], own[rank]);
        memcpy(now, exit, sizeof now);
        link_free = out;
    }
    return fmax(now[0], now[1]);
}

static struct whatif_answer ask(double rate, bool queues, bool split, double factor) {
    struct recording r;
    struct run_model model;
    struct whatif *w;
    struct whatif_answer a;
    struct whatif_scenario s = {WHATIF_LINK, .host = 0, .rank = -1, .factor = factor};
    plant_init(&r, 2, play(NULL, rate, queues, split));
    r.clock_bound_ns = calloc(2, sizeof *r.clock_bound_ns);
    for (int rank = 0; rank < 2; rank++) {
        plant_process(&r, rank, "train", (struct plant_process){rank, 1, 0, 0});
        PLANT(&r.calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 100 * MS);
    }
    play(&r, rate, queues, split);
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    assert_int_equal(whatif_new(&model, &w), 0);
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    whatif_free(w);
    model_release(&model);
    recording_release(&r);
    return a;
}

static void expect(bool queues, bool split, double factor) {
    struct whatif_answer a = ask(SLOW, queues, split, factor);
    double should_s = warm_s(play(NULL, factor * SLOW, queues, split), a.measured_s);
    if (!a.replayed || !(fabs(a.predicted_s / should_s - 1) < 0.03))
        fail_msg("%.4g s become %.4g s, not %.4g s", a.measured_s, a.predicted_s, should_s);
    assert_true(fabs(a.replay_s / a.measured_s - 1) < 0.001);
    assert_true(a.bound_s <= a.predicted_s);
}

static void an_answer_behind_own_bytes_comes_sooner_over_a_faster_link(void **state) {
    (void)state;
    for (int split = 0; split < 2; split++) {
        expect(true, split, 1000);
        expect(true, split, 2);
        expect(true, split, 0.5);
    }
}

static void answers_that_queue_behind_nothing_stay_as_they_are(void **state) {
    (void)state;
    expect(false, false, 2);
    expect(false, false, 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_behind_own_bytes_comes_sooner_over_a_faster_link),
        cmocka_unit_test(answers_that_queue_behind_nothing_stay_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
