/* SPDX-License-Identifier: MIT */
/* A limit set on a link that had none: its cost follows from its rate, its burst, and the program's
 * traffic.
 */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/gain/whatif.h"
#include "analysis/run_model.h"
#include "analysis/simulate/replay_run.h"
#include "tests/unit/mpi_plant.h"
#include "tests/unit/warm.h"

#define ROUNDS 40
#define BOTH (MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU)
#define LARGE 1000000

/* Two ranks on two hosts, which always compute. */
static void begin(struct recording *r, int64_t round_ns) {
    plant_init(r, 2, (double)round_ns * ROUNDS / 1e9);
    r->clock_bound_ns = calloc(2, sizeof *r->clock_bound_ns);
    for (int rank = 0; rank < 2; rank++) {
        plant_process(r, rank, "train", (struct plant_process){rank, 1, 0, 0});
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 0);
    }
}

/* With rank 1's host at 10 MB/s both ways, and that burst, a round takes should_ns. */
static void check(struct recording *r, double burst, int64_t should_ns) {
    struct run_model model;
    struct whatif *w;
    struct whatif_answer a;
    struct whatif_scenario s = {WHATIF_LINK,         .host = 1,
                                .rank = -1,          .direction = WHATIF_BOTH,
                                .factor = 1,         .rate_bytes_s = 10e6,
                                .burst_bytes = burst};
    assert_int_equal(mpi_log_finish(&r->calls), 0);
    assert_int_equal(model_build(r, &model), 0);
    assert_int_equal(whatif_new(&model, &w), 0);
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    assert_true(a.replayed);
    double should_s = (double)should_ns * ROUNDS / 1e9;
    if (!(fabs(a.predicted_s / warm_s(should_s, a.measured_s) - 1) < 0.02))
        fail_msg("%.4g s as measured %.4g, then %.4g, not %.4g", a.measured_s, a.replay_s,
                 a.predicted_s, should_s);
    whatif_free(w);
    model_release(&model);
    recording_release(r);
}

/* Rank 1 computes for 50 ms, sends a megabyte, which arrives at once, and gets a word back. */
static void send_rounds(struct recording *r) {
    begin(r, 51 * MS);
    for (int64_t t = 0; t < 51 * MS * ROUNDS; t += 51 * MS) {
        int64_t sent = t + 50 * MS, there = sent + 500 * US, end = t + 51 * MS;
        PLANT(&r->calls, 1, 1, "MPI_Send", 0, 1, LARGE, sent, there, BOTH, .gap_cpu_ns = 50 * MS,
              .cpu_ns = 500 * US);
        PLANT(&r->calls, 0, 0, "MPI_Recv", 1, 1, LARGE, t, there, BOTH, .cpu_ns = there - t);
        PLANT(&r->calls, 0, 0, "MPI_Send", 1, 2, 8, there, there + US);
        PLANT(&r->calls, 1, 1, "MPI_Recv", 0, 2, 8, there, end, BOTH, .cpu_ns = end - there);
        PLANT(&r->calls, 0, 0, "MPI_Barrier", -1, -1, 0, there + US, end, BOTH,
              .cpu_ns = end - there - US);
        PLANT(&r->calls, 1, 1, "MPI_Barrier", -1, -1, 0, end, end);
    }
}

static void without_a_burst_all_of_a_message_waits_for_the_link(void **state) {
    struct recording r;
    (void)state;
    send_rounds(&r);
    check(&r, 0, 151 * MS);
}

/* 300 kB of it pass at once: the link was idle long enough to fill the bucket. */
static void a_burst_passes_a_limited_link_at_once(void **state) {
    struct recording r;
    (void)state;
    send_rounds(&r);
    check(&r, 300e3, 121 * MS);
}

/* The bucket does not fill further in the time: on average the rate holds. */
static void a_large_burst_does_not_make_a_link_faster_than_its_rate(void **state) {
    struct recording r;
    (void)state;
    send_rounds(&r);
    check(&r, 1e6, 100 * MS);
}

/* A message of rank 1 takes 20 ms, but is handed over after 1 ms: rank 1 computes for 30 ms
 * meanwhile. It also does so if the link takes 200 ms.
 */
static void who_has_handed_a_message_over_does_not_wait_for_the_link(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 31 * MS);
    for (int64_t t = 0; t < 31 * MS * ROUNDS; t += 31 * MS) {
        int64_t there = t + 20 * MS, end = t + 31 * MS;
        PLANT(&r.calls, 0, 0, "MPI_Recv", 1, 1, 2 * LARGE, t, there, BOTH, .cpu_ns = 20 * MS);
        PLANT(&r.calls, 0, 0, "MPI_Barrier", -1, -1, 0, end, end, BOTH, .gap_cpu_ns = 11 * MS);
        PLANT(&r.calls, 1, 1, "MPI_Send", 0, 1, 2 * LARGE, t, t + MS, BOTH, .cpu_ns = MS);
        PLANT(&r.calls, 1, 1, "MPI_Barrier", -1, -1, 0, end, end, BOTH, .gap_cpu_ns = 30 * MS);
    }
    check(&r, 0, 211 * MS);
}

/* Rank 0 computes for 30 ms, rank 1 for 20. */
static void exchange_rounds(struct recording *r, const char *name, int64_t bytes) {
    begin(r, 31 * MS);
    for (int64_t t = 0; t < 31 * MS * ROUNDS; t += 31 * MS)
        for (int rank = 0; rank < 2; rank++) {
            int64_t own = rank ? 20 * MS : 30 * MS;
            PLANT(&r->calls, rank, rank, name, -1, -1, bytes, t + own, t + 31 * MS, BOTH,
                  .gap_cpu_ns = own, .cpu_ns = 31 * MS - own);
        }
}

/* Each sends half of its data, both at once; rank 0 gets its half through rank 1's link. */
static void what_stays_at_home_does_not_cross_the_link(void **state) {
    struct recording r;
    (void)state;
    exchange_rounds(&r, "MPI_Alltoall", LARGE);
    check(&r, 0, 81 * MS);
}

static void two_ranks_that_add_up_send_all_of_it_once(void **state) {
    struct recording r;
    (void)state;
    exchange_rounds(&r, "MPI_Allreduce", LARGE);
    check(&r, 0, 131 * MS);
}

/* Small exchanges, as large as the burst, do not wait; larger ones wait for the rest. */
static void an_exchange_has_the_burst_as_well(void **state) {
    struct recording r;
    (void)state;
    exchange_rounds(&r, "MPI_Allreduce", 100000);
    check(&r, 100e3, 31 * MS);
    exchange_rounds(&r, "MPI_Allreduce", 300000);
    check(&r, 100e3, 51 * MS);
}

/* Rank 0 gives a megabyte to rank 1, which comes before it, together with it, or after it. */
static void who_gives_takes_as_much_longer_whoever_comes_last(void **state) {
    (void)state;
    for (int64_t own = 29 * MS; own <= 31 * MS; own += MS) {
        struct recording r;
        begin(&r, 31 * MS);
        for (int64_t t = 0; t < 31 * MS * ROUNDS; t += 31 * MS) {
            PLANT(&r.calls, 0, 0, "MPI_Reduce", 1, -1, LARGE, t + 30 * MS, t + 31 * MS, BOTH,
                  .gap_cpu_ns = 30 * MS, .cpu_ns = MS);
            PLANT(&r.calls, 1, 1, "MPI_Reduce", 1, -1, LARGE, t + own, t + 31 * MS, BOTH,
                  .gap_cpu_ns = own, .cpu_ns = 31 * MS - own);
        }
        check(&r, 0, 131 * MS);
    }
}

/* Rank 1 took `ns` for its part of a call. All links become twice as fast; the one into the root's
 * host limits at `limit` bytes/s; calls of few bytes take `few_ns`.
 */
static int64_t taking_ns(enum mpi_group_need need, double limit, int64_t ns, double few_ns) {
    struct run_model model = {.n_hosts = 2};
    double out[] = {INFINITY, INFINITY}, in[] = {limit, INFINITY}, twice[] = {2 * limit, INFINITY};
    double load[4], pace[] = {1, 2, 1, 1};
    uint32_t members[] = {0, 1};
    struct replay_rank ranks[] = {{.host = 0}, {.host = 1}};
    struct replay_group call = {
        .members = 2, .root = 0, .need = need, .bytes = LARGE, .exchange = MPI_EXCHANGE_WHOLE};
    struct rank_state states[2] = {{.at = 0}, {.at = 0}};
    struct replay p = {.model = &model,
                       .ranks = ranks,
                       .n_ranks = 2,
                       .groups = &call,
                       .n_groups = 1,
                       .group_members = members,
                       .net = {.egress = out, .ingress = in, .few_ns = {few_ns, few_ns}}};
    struct replay_change change = {.pace = pace};
    struct group_state state = {.carried_ns = VALUE_ABSENT, .longer_ns = VALUE_ABSENT};
    struct replay_op op = {.ns = ns};
    struct run run = {.p = &p,
                      .change = &change,
                      .egress = out,
                      .ingress = twice,
                      .other_links = true,
                      .load = load,
                      .group_pace = 2,
                      .ranks = states,
                      .groups = &state};
    return replay_group_ns(&run, 0, &op, ns, 1);
}

/* It gains once from what limits it: the root's link, or else the pace of the call. */
static void who_gives_is_made_faster_once(void **state) {
    (void)state;
    assert_int_equal(taking_ns(MPI_NEED_GATHERED, 10e6, 100 * MS, 0), 50 * MS);
    assert_int_equal(taking_ns(MPI_NEED_GATHERED, INFINITY, 100 * MS, 0), 50 * MS);
    /* receivers notice late that everything has come, but the giver does not wait */
    assert_int_equal(taking_ns(MPI_NEED_GATHERED, INFINITY, 100 * MS, 80 * MS), 50 * MS);
}

static void a_group_takes_what_few_bytes_do_on_the_fastest_link(void **state) {
    (void)state;
    assert_int_equal(taking_ns(MPI_NEED_ALL, INFINITY, 100 * MS, 20 * MS), 50 * MS);
    assert_int_equal(taking_ns(MPI_NEED_ALL, INFINITY, 100 * MS, 80 * MS), 80 * MS);
    assert_int_equal(taking_ns(MPI_NEED_ALL, INFINITY, 100 * MS, 200 * MS), 100 * MS);
}

/* Rank 0 comes first, and notices 3 ms later than rank 1 that the call is complete, for a word as
 * for a megabyte.
 */
static void what_few_bytes_take_is_of_who_came_first_and_who_came_last(void **state) {
    struct recording r;
    struct run_model model;
    struct replay *p;
    (void)state;
    begin(&r, 100 * MS);
    for (int64_t t = 0; t < 100 * MS * ROUNDS; t += 50 * MS)
        for (int rank = 0; rank < 2; rank++) {
            int64_t own = rank ? 32 * MS : 30 * MS, bytes = t / (50 * MS) % 2 ? 8 : LARGE;
            int64_t takes = (rank ? MS / 2 : 3 * MS) + (bytes == LARGE ? 8 * MS : 0);
            PLANT(&r.calls, rank, rank, "MPI_Allreduce", -1, -1, bytes, t + own,
                  t + 32 * MS + takes, BOTH, .gap_cpu_ns = own);
        }
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    assert_int_equal(replay_new(&model, &p), 0);
    assert_int_equal(p->net.few_ns[1], 3 * MS);
    assert_int_equal(p->net.few_ns[0], MS / 2);
    replay_free(p);
    model_release(&model);
    recording_release(&r);
}

/* Started and waited for at once: up to one of the two, and back from there. */
static void a_started_sum_goes_one_way_after_the_other(void **state) {
    struct recording r;
    (void)state;
    begin(&r, 31 * MS);
    for (int64_t t = 0; t < 31 * MS * ROUNDS; t += 31 * MS)
        for (int rank = 0; rank < 2; rank++) {
            PLANT(&r.calls, rank, rank, "MPI_Iallreduce", -1, -1, 50000, t + 30 * MS,
                  t + 30 * MS + US, BOTH, .gap_cpu_ns = 30 * MS);
            PLANT(&r.calls, rank, rank, "MPI_Iallreduce", -1, -1, 50000, t + 30 * MS, t + 31 * MS,
                  MPI_FLAG_REQUEST);
            PLANT(&r.calls, rank, rank, "MPI_Wait", -1, -1, 0, t + 30 * MS + US, t + 31 * MS, BOTH,
                  .cpu_ns = MS - US);
        }
    check(&r, 0, 41 * MS);
}

/* ---- a link that nothing shows to be a limit ---- */

static double little(size_t column, double t_s) {
    (void)column;
    (void)t_s;
    return 1e6; /* bytes/s */
}

/* Sums take a third of the time, and rank 1's link is asked for at ten times its rate (MB/s; NAN:
 * not measured); it carries 1 MB/s.
 */
static struct whatif_answer ask_faster(double measured_mb_s) {
    struct recording r;
    struct run_model model;
    struct whatif *w;
    struct whatif_answer a;
    struct whatif_scenario s = {WHATIF_LINK, .host = 1, .rank = -1, .direction = WHATIF_BOTH,
                                .factor = 10};
    begin(&r, 45 * MS);
    r.ceilings = malloc(2 * METRIC_COUNT_ * sizeof *r.ceilings);
    for (size_t i = 0; i < (size_t)2 * METRIC_COUNT_; i++)
        r.ceilings[i] = measured_mb_s;
    for (int host = 0; host < 2; host++)
        plant(&r, RECORDING_NET, host, "eth0", 0.1, 0, little);
    for (int64_t t = 0; t < 45 * MS * ROUNDS; t += 45 * MS)
        for (int rank = 0; rank < 2; rank++)
            PLANT(&r.calls, rank, rank, "MPI_Allreduce", -1, -1, 45000, t + 30 * MS, t + 45 * MS,
                  BOTH, .gap_cpu_ns = 30 * MS, .cpu_ns = 15 * MS);
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    assert_int_equal(whatif_new(&model, &w), 0);
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    whatif_free(w);
    model_release(&model);
    recording_release(&r);
    return a;
}

/* The replay keeps the time of the sums: that is no answer, unless the link was hardly used. */
static void what_groups_take_of_a_link_that_nothing_shows_is_not_told(void **state) {
    static const double unknown[] = {NAN, 8};
    (void)state;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        struct whatif_answer a = ask_faster(unknown[i]);
        assert_false(a.replayed);
        assert_true(a.refused.code);
        assert_true(fabs(a.bound_s / a.measured_s - 0.7) < 0.02);
    }
    struct whatif_answer a = ask_faster(1000);
    assert_true(a.replayed);
    assert_true(fabs(a.gain) < 0.01);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_burst_all_of_a_message_waits_for_the_link),
        cmocka_unit_test(a_burst_passes_a_limited_link_at_once),
        cmocka_unit_test(who_has_handed_a_message_over_does_not_wait_for_the_link),
        cmocka_unit_test(a_large_burst_does_not_make_a_link_faster_than_its_rate),
        cmocka_unit_test(what_stays_at_home_does_not_cross_the_link),
        cmocka_unit_test(two_ranks_that_add_up_send_all_of_it_once),
        cmocka_unit_test(an_exchange_has_the_burst_as_well),
        cmocka_unit_test(who_gives_takes_as_much_longer_whoever_comes_last),
        cmocka_unit_test(who_gives_is_made_faster_once),
        cmocka_unit_test(a_group_takes_what_few_bytes_do_on_the_fastest_link),
        cmocka_unit_test(what_few_bytes_take_is_of_who_came_first_and_who_came_last),
        cmocka_unit_test(a_started_sum_goes_one_way_after_the_other),
        cmocka_unit_test(what_groups_take_of_a_link_that_nothing_shows_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
