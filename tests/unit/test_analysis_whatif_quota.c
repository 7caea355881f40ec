/* SPDX-License-Identifier: MIT */
/* A CPU quota that a run did not have: a rank that needs more is throttled, one that needs less is
 * not.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/gain/whatif.h"
#include "analysis/run_model.h"
#include "tests/unit/mpi_plant.h"
#include "tests/unit/warm.h"

#define ROUNDS 60
#define BOTH (MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU)

/* Two ranks on two hosts meet every 50 ms: rank 0 computes for 10 ms of them, rank 1 for all. */
static void build(struct recording *r, struct run_model *model, bool spins) {
    plant_init(r, 2, 0.05 * ROUNDS);
    r->clock_bound_ns = calloc(2, sizeof *r->clock_bound_ns);
    for (int rank = 0; rank < 2; rank++) {
        plant_process(r, rank, "train",
                      (struct plant_process){rank, rank || spins ? 1 : 0.2, 0, 0});
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 0);
    }
    for (int64_t t = 0; t < 50 * MS * ROUNDS; t += 50 * MS)
        for (int rank = 0; rank < 2; rank++) {
            int64_t own = rank ? 50 * MS : 10 * MS;
            PLANT(&r->calls, rank, rank, "MPI_Allreduce", -1, -1, 8, t + own, t + 50 * MS, BOTH,
                  .gap_cpu_ns = own, .cpu_ns = spins ? 50 * MS - own : 0);
        }
    assert_int_equal(mpi_log_finish(&r->calls), 0);
    assert_int_equal(model_build(r, model), 0);
}

static struct whatif_scenario quota(int host, double cpus) {
    return (struct whatif_scenario){.kind = WHATIF_QUOTA, .host = host, .rank = -1, .factor = cpus};
}

/* With that quota a round takes should_ns. */
static void check_all(const struct run_model *model, const struct whatif_scenario *s, size_t n,
                      int64_t should_ns) {
    struct whatif *w;
    struct whatif_answer a;
    double should_s = (double)should_ns * ROUNDS / 1e9;
    assert_int_equal(whatif_new(model, &w), 0);
    assert_int_equal(whatif_ask(w, s, n, &a), 0);
    assert_true(a.replayed && a.bound_s <= a.predicted_s);
    if (!(fabs(a.predicted_s / warm_s(should_s, a.measured_s) - 1) < 0.02))
        fail_msg("%.4g s as measured, then %.4g, not %.4g", a.measured_s, a.predicted_s, should_s);
    whatif_free(w);
}

static void check(const struct run_model *model, struct whatif_scenario s, int64_t should_ns) {
    check_all(model, &s, 1, should_ns);
}

static void release(struct recording *r, struct run_model *model) {
    model_release(model);
    recording_release(r);
}

static void who_computes_all_the_time_takes_as_much_longer_as_its_quota_is_less(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build(&r, &model, true);
    check(&model, quota(1, 0.5), 100 * MS);
    check(&model, quota(1, 0.8), 62500 * US);
    check(&model, quota(-1, 0.25), 200 * MS);
    release(&r, &model);
}

/* Rank 0 waits for rank 1 anyway, asleep or spinning; it does not miss the time that it spins away.
 */
static void a_quota_that_is_more_than_what_is_needed_costs_nothing(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    for (int spins = 0; spins < 2; spins++) {
        build(&r, &model, spins);
        check(&model, quota(0, 0.5), 50 * MS);
        check(&model, quota(1, 1), 50 * MS);
        release(&r, &model);
    }
}

/* Rank 1 polls for 40 ms of each round without a pause, and then computes for 10 ms: except in the
 * first round, half a CPU is used up when the message comes.
 */
static void who_polls_all_the_time_uses_its_quota_up(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    plant_init(&r, 2, 0.05 * ROUNDS);
    r.clock_bound_ns = calloc(2, sizeof *r.clock_bound_ns);
    for (int rank = 0; rank < 2; rank++) {
        plant_process(&r, rank, "train", (struct plant_process){rank, 1, 0, 0});
        PLANT(&r.calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 0);
    }
    for (int64_t t = 0; t < 50 * MS * ROUNDS; t += 50 * MS) {
        int64_t sent = t + 40 * MS, end = t + 50 * MS;
        PLANT(&r.calls, 0, 0, "MPI_Send", 1, 1, 8, sent, sent + US, BOTH, .gap_cpu_ns = 40 * MS);
        PLANT(&r.calls, 0, 0, "MPI_Barrier", -1, -1, 0, sent + US, end, BOTH,
              .cpu_ns = end - sent - US);
        PLANT(&r.calls, 1, 1, "MPI_Irecv", 0, 1, 8, t, t + US, 0);
        PLANT(&r.calls, 1, 1, "MPI_Irecv", 0, 1, 8, t, sent + 2 * US, MPI_FLAG_REQUEST);
        PLANT(&r.calls, 1, 1, "MPI_Test", -1, -1, 0, t + US, sent + US, MPI_FLAG_FOLDED,
              .inside_ns = 40 * MS, .calls = 40000);
        PLANT(&r.calls, 1, 1, "MPI_Test", 0, 1, 8, sent + US, sent + 2 * US, 0);
        PLANT(&r.calls, 1, 1, "MPI_Barrier", -1, -1, 0, end, end, BOTH,
              .gap_cpu_ns = 10 * MS - 2 * US);
    }
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    check(&model, quota(1, 0.5), 98500 * US);
    check(&model, quota(1, 1), 50 * MS);
    release(&r, &model);
}

/* 10 ms of 50 ms are a fifth: a tenth of a CPU makes them last twice as long. */
static void who_needs_more_than_its_quota_becomes_the_slower_one(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build(&r, &model, false);
    check(&model, quota(0, 0.1), 100 * MS);
    release(&r, &model);
}

/* Two ranks on two hosts meet every 50 ms. Before that, rank 1 computes for cpu_ms, has nothing to
 * do for a while, and is off the CPU for blocked_ms in a call that waits for nobody.
 */
static void build_idle(struct recording *r, struct run_model *model, int64_t cpu_ms,
                       int64_t blocked_ms) {
    plant_init(r, 2, 0.05 * ROUNDS);
    r->clock_bound_ns = calloc(2, sizeof *r->clock_bound_ns);
    for (int rank = 0; rank < 2; rank++) {
        plant_process(r, rank, "train", (struct plant_process){rank, (double)cpu_ms / 50, 0, 0});
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 0);
    }
    for (int64_t t = 0; t < 50 * MS * ROUNDS; t += 50 * MS) {
        int64_t own = (50 - blocked_ms) * MS, end = t + 50 * MS;
        if (blocked_ms)
            PLANT(&r->calls, 1, 1, "MPI_File_write_at", -1, -1, 0, t + own, end, BOTH,
                  .gap_cpu_ns = cpu_ms * MS);
        PLANT(&r->calls, 0, 0, "MPI_Barrier", -1, -1, 0, t + 10 * MS, end, BOTH,
              .gap_cpu_ns = 10 * MS);
        PLANT(&r->calls, 1, 1, "MPI_Barrier", -1, -1, 0, end, end, blocked_ms ? 0 : BOTH,
              .gap_cpu_ns = cpu_ms * MS);
    }
    assert_int_equal(mpi_log_finish(&r->calls), 0);
    assert_int_equal(model_build(r, model), 0);
}

static void who_is_blocked_in_a_call_uses_nothing_up(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build_idle(&r, &model, 10, 40);
    check(&model, quota(1, 0.5), 50 * MS);
    release(&r, &model);
}

/* It computes for 30 of 50 ms: twice as fast, that is 15 of 35 ms, for which half a CPU suffices.
 */
static void a_faster_cpu_needs_less_of_a_quota(void **state) {
    struct recording r;
    struct run_model model;
    struct whatif_scenario both[] = {quota(1, 0.5),
                                     {.kind = WHATIF_CPU, .host = 1, .rank = -1, .factor = 2}};
    (void)state;
    build_idle(&r, &model, 30, 0);
    check_all(&model, both, 2, 35 * MS);
    release(&r, &model);
}

/* A gap of 30 years, which a hundredth of a CPU makes 3,000, exceeds all times. */
static void hostile_times_end_a_replay_at_once(void **state) {
    struct recording r;
    struct run_model model;
    struct whatif *w;
    struct whatif_answer a;
    struct whatif_scenario tiny = quota(-1, 0.01);
    int64_t late = TIME_SANE_NS - S;
    (void)state;
    plant_init(&r, 2, 0.05 * ROUNDS);
    r.clock_bound_ns = calloc(2, sizeof *r.clock_bound_ns);
    for (int rank = 0; rank < 2; rank++) {
        plant_process(&r, rank, "train", (struct plant_process){rank, 1, 0, 0});
        PLANT(&r.calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 0);
        for (int64_t t = 50 * MS; t <= 50 * MS * ROUNDS; t += 50 * MS)
            PLANT(&r.calls, rank, rank, "MPI_Barrier", -1, -1, 0, t, t, BOTH,
                  .gap_cpu_ns = 50 * MS);
        PLANT(&r.calls, rank, rank, "MPI_Barrier", -1, -1, 0, late, late, BOTH, .gap_cpu_ns = late);
    }
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    assert_int_equal(whatif_new(&model, &w), 0);
    assert_int_equal(whatif_ask(w, &tiny, 1, &a), 0);
    whatif_free(w);
    release(&r, &model);
}

static void a_quota_of_nothing_makes_no_sense(void **state) {
    struct recording r;
    struct run_model model;
    struct whatif *w;
    struct whatif_answer a;
    struct whatif_scenario none = quota(0, 0);
    (void)state;
    build(&r, &model, false);
    assert_int_equal(whatif_new(&model, &w), 0);
    assert_int_equal(whatif_ask(w, &none, 1, &a), -EINVAL);
    whatif_free(w);
    release(&r, &model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_computes_all_the_time_takes_as_much_longer_as_its_quota_is_less),
        cmocka_unit_test(a_quota_that_is_more_than_what_is_needed_costs_nothing),
        cmocka_unit_test(who_polls_all_the_time_uses_its_quota_up),
        cmocka_unit_test(who_needs_more_than_its_quota_becomes_the_slower_one),
        cmocka_unit_test(who_is_blocked_in_a_call_uses_nothing_up),
        cmocka_unit_test(a_faster_cpu_needs_less_of_a_quota),
        cmocka_unit_test(hostile_times_end_a_replay_at_once),
        cmocka_unit_test(a_quota_of_nothing_makes_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
