/* SPDX-License-Identifier: MIT */
/*
 * Laws that hold for predictions of any program: a replay that does not react to the causes of
 * waits is no answer; a factor and the rate that it makes are the same question; no answer is
 * certain.
 */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/gain/whatif.h"
#include "analysis/run_model.h"
#include "tests/unit/mpi_plant.h"

#define ROUNDS 40
#define BOTH (MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU)
#define LARGE 1000000
#define RATE 10e6
#define ANY .host = -1, .rank = -1

static void begin(struct recording *r, double seconds) {
    plant_init(r, 2, seconds);
    r->clock_bound_ns = calloc(2, sizeof *r->clock_bound_ns);
    for (int rank = 0; rank < 2; rank++) {
        plant_process(r, rank, "train", (struct plant_process){rank, 1, 0, 0});
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 0);
    }
}

static struct whatif_answer ask(const struct whatif *w, struct whatif_scenario s) {
    struct whatif_answer a;
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    return a;
}

static struct whatif *finish(struct recording *r, struct run_model *model) {
    struct whatif *w;
    assert_int_equal(mpi_log_finish(&r->calls), 0);
    assert_int_equal(model_build(r, model), 0);
    assert_int_equal(whatif_new(model, &w), 0);
    return w;
}

static void release(struct recording *r, struct run_model *model, struct whatif *w) {
    whatif_free(w);
    model_release(model);
    recording_release(r);
}

/* ---- reaction ---- */

/* Rank 1 computes for 90 of 100 ms, and rank 0 waits for it in `name`, which does not record for
 * whom.
 */
static void check_wait(const char *name, bool is_named) {
    struct recording r;
    struct run_model model;
    begin(&r, 0.1 * ROUNDS);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 100 * MS) {
        PLANT(&r.calls, 1, 1, "MPI_Send", 0, 1, 8, t + 90 * MS, t + 90 * MS + US, BOTH,
              .gap_cpu_ns = 90 * MS);
        PLANT(&r.calls, 0, 0, name, -1, -1, 0, t + MS, t + 91 * MS, MPI_FLAG_UNKNOWN_PEER);
        PLANT(&r.calls, 0, 0, "MPI_Recv", 1, 1, 8, t + 91 * MS, t + 91 * MS + US, BOTH);
        for (int rank = 0; rank < 2; rank++)
            PLANT(&r.calls, rank, rank, "MPI_Barrier", -1, -1, 0, t + 99 * MS, t + 100 * MS);
    }
    struct whatif *w = finish(&r, &model);
    struct whatif_answer a =
        ask(w, (struct whatif_scenario){WHATIF_CPU, .host = 1, .rank = -1, .factor = 2});
    if (a.replayed && !(fabs(a.gain - 0.45) <= 0.05))
        fail_msg("%s: %.1f %% instead of 45 %%", name, 100 * a.gain);
    if (!a.replayed)
        assert_true(a.refused.code && (!is_named || strcmp(a.refused.call, name) == 0));
    assert_true(a.bound_s <= 0.055 * ROUNDS);
    release(&r, &model, w);
}

static void a_wait_for_nobody_known_moves_or_is_refused_by_its_name(void **state) {
    (void)state;
    check_wait("MPI_Mprobe", true);
    check_wait("MPI_Probe", true);
    check_wait("MPI_Win_wait", true);
    check_wait("MPI_Neighbor_alltoall", false); /* too many calls are unmatched */
}

/* ---- links ---- */

/* Rank 1 computes for 50 ms and sends a megabyte at RATE, which rank 0 answers. */
static struct whatif *send_rounds(struct recording *r, struct run_model *model) {
    int64_t way = (int64_t)(LARGE / RATE * 1e9), round = 51 * MS + way;
    begin(r, (double)(round * ROUNDS) / 1e9);
    for (int64_t t = 0; t < round * ROUNDS; t += round) {
        int64_t sent = t + 50 * MS, there = sent + way, end = t + round;
        PLANT(&r->calls, 1, 1, "MPI_Send", 0, 1, LARGE, sent, there, BOTH, .gap_cpu_ns = 50 * MS,
              .cpu_ns = way);
        PLANT(&r->calls, 0, 0, "MPI_Recv", 1, 1, LARGE, t, there, BOTH, .cpu_ns = there - t);
        PLANT(&r->calls, 0, 0, "MPI_Send", 1, 2, 8, there, there + US);
        PLANT(&r->calls, 1, 1, "MPI_Recv", 0, 2, 8, there, end, BOTH, .cpu_ns = end - there);
        PLANT(&r->calls, 0, 0, "MPI_Barrier", -1, -1, 0, there + US, end);
        PLANT(&r->calls, 1, 1, "MPI_Barrier", -1, -1, 0, end, end);
    }
    return finish(r, model);
}

static struct whatif_scenario link_of_rank_1(double factor, bool as_rate) {
    return (struct whatif_scenario){.kind = WHATIF_LINK,
                                    .host = 1,
                                    .rank = -1,
                                    .direction = WHATIF_SEND,
                                    .factor = as_rate ? 1 : factor,
                                    .rate_bytes_s = as_rate ? factor * RATE : 0};
}

static void a_factor_and_the_rate_that_it_makes_have_one_answer(void **state) {
    static const double factors[] = {0.25, 0.5, 0.9, 1, 2, 10, 33};
    struct recording r;
    struct run_model model;
    struct whatif *w = send_rounds(&r, &model);
    double before = INFINITY;
    (void)state;
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        struct whatif_answer a = ask(w, link_of_rank_1(factors[i], false));
        struct whatif_answer b = ask(w, link_of_rank_1(factors[i], true));
        assert_true(a.replayed && b.replayed);
        if (!(fabs(a.predicted_s / b.predicted_s - 1) <= 0.01))
            fail_msg("%gx: %.4g s, and %.4g s as a rate", factors[i], a.predicted_s, b.predicted_s);
        assert_true(fabs(a.bound_s / b.bound_s - 1) <= 0.01);
        assert_true(b.predicted_s <= before * 1.001);
        before = b.predicted_s;
        if (factors[i] <= 1)
            assert_true(b.predicted_s >= 0.999 * b.measured_s);
    }
    release(&r, &model, w);
}

static void no_prediction_has_an_interval_without_width(void **state) {
    struct recording r;
    struct run_model model;
    struct whatif *w = send_rounds(&r, &model);
    const struct whatif_scenario asked[] = {
        {WHATIF_CPU, .host = 0, .rank = -1, .factor = 2}, /* it does not compute */
        {WHATIF_CPU, .host = 1, .rank = -1, .factor = 2},
        {WHATIF_LINK, .host = 0, .rank = -1, .direction = WHATIF_SEND, .factor = 2},
        {WHATIF_LINK, ANY, .factor = 1000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        struct whatif_answer a = ask(w, asked[i]);
        assert_true(a.replayed);
        assert_true(a.low_s <= a.predicted_s && a.predicted_s < a.high_s);
    }
    release(&r, &model, w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_for_nobody_known_moves_or_is_refused_by_its_name),
        cmocka_unit_test(a_factor_and_the_rate_that_it_makes_have_one_answer),
        cmocka_unit_test(no_prediction_has_an_interval_without_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
