/* SPDX-License-Identifier: MIT */
/*
 * Programs on planted hardware: a small model makes the calls as they would have been measured; the
 * same model with changed hardware gives the expected prediction.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/gain/sweep.h"
#include "analysis/gain/whatif.h"
#include "analysis/run_model.h"
#include "analysis/simulate/replay_private.h"
#include "tests/unit/mpi_plant.h"
#include "tests/unit/warm.h"

#define ROUNDS 40
#define BOTH (MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU)
#define CLOSE(a, b)                                                                                \
    do {                                                                                           \
        double is_ = (a), should_ = (b);                                                           \
        if (!(fabs(is_ - should_) <= 0.01 * fabs(should_) + 1e-6))                                 \
            fail_msg("%s is %.6g, not %.6g", #a, is_, should_);                                    \
    } while (0)

/* Rank 1 computes and sends a large message to rank 0, which answers with a small one. Returns the
 * time of all rounds.
 */
struct hardware {
    double rate;        /* bytes/s of the link between hosts */
    double compute_s;   /* of rank 1, in a round */
    double queue_share; /* of this time without a core */
    int burst_every;    /* every how many rounds the message passes at once; 0: never */
};

#define LARGE 1000000
#define AT_ONCE 4e9 /* bytes/s */

/* Does nothing without a recording, when only the program's time is wanted. */
static void init_ranks(struct recording *r, int ranks, double at_s) {
    for (int rank = 0; r && rank < ranks; rank++)
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, (int64_t)(at_s * 1e9));
}

/* One host for each rank, with known clocks. */
static void begin_run(struct recording *r, int ranks, double seconds) {
    plant_init(r, (size_t)ranks, seconds);
    r->clock_bound_ns = calloc((size_t)ranks, sizeof *r->clock_bound_ns);
}

/* All ranks always compute. */
static void begin_training(struct recording *r, int ranks, double seconds) {
    begin_run(r, ranks, seconds);
    for (int rank = 0; rank < ranks; rank++)
        plant_process(r, rank, "train", (struct plant_process){rank, 1, 0, 0});
    init_ranks(r, ranks, 0);
}

static void end_run(struct recording *r, struct run_model *model) {
    assert_int_equal(mpi_log_finish(&r->calls), 0);
    assert_int_equal(model_build(r, model), 0);
}

static double play(struct recording *r, struct hardware h, bool marks) {
    double t = 0.1, latency = 100e-6;
    init_ranks(r, 2, t);
    for (int i = 0; i < ROUNDS; i++) {
        double rate = h.burst_every && i % h.burst_every == 0 ? AT_ONCE : h.rate;
        double begin = t, sent = t + h.compute_s, done = sent + LARGE / rate + latency;
        double back = done + latency;
        if (r) {
            int64_t cpu = (int64_t)(h.compute_s * (1 - h.queue_share) * 1e9);
            PLANT(&r->calls, 1, 1, "MPI_Send", 0, 1, LARGE, (int64_t)(sent * 1e9),
                  (int64_t)((done - latency) * 1e9), BOTH, .gap_cpu_ns = cpu,
                  .cpu_ns = (int64_t)(LARGE / rate * 1e9));
            PLANT(&r->calls, 0, 0, "MPI_Recv", 1, 1, LARGE, (int64_t)(begin * 1e9),
                  (int64_t)(done * 1e9), BOTH, .cpu_ns = (int64_t)((done - begin) * 1e9));
            PLANT(&r->calls, 0, 0, "MPI_Send", 1, 2, 8, (int64_t)(done * 1e9),
                  (int64_t)(done * 1e9));
            PLANT(&r->calls, 1, 1, "MPI_Recv", 0, 2, 8, (int64_t)((done - latency) * 1e9),
                  (int64_t)(back * 1e9), BOTH, .cpu_ns = (int64_t)(2 * latency * 1e9));
        }
        if (r && marks)
            plant_mark(r, MARK_ITERATION, "round", 1, 1, i, begin, back - begin);
        t = back;
    }
    return t - 0.1;
}

/* phase_from: the share of rounds after which a mark says that it trains; 0: no mark. */
static void build_in_phases(struct recording *r, struct run_model *model, struct hardware h,
                            double phase_from) {
    double seconds = play(NULL, h, false);
    begin_run(r, 2, seconds + 0.1);
    plant_process(r, 0, "train", (struct plant_process){0, 1, 0, 0});
    double queue = h.queue_share * h.compute_s * ROUNDS / (seconds + 0.1);
    plant_process(r, 1, "train", (struct plant_process){1, 1 - queue, queue, 0});
    play(r, h, true);
    for (int rank = 0; phase_from > 0 && rank < 2; rank++)
        plant_mark(r, MARK_PHASE, "training", rank, rank, 0, 0.1 + phase_from * seconds,
                   (1 - phase_from) * seconds);
    end_run(r, model);
}

static void build(struct recording *r, struct run_model *model, struct hardware h) {
    build_in_phases(r, model, h, 0);
}

static struct whatif_answer ask(const struct run_model *model, struct whatif_scenario s) {
    struct whatif *w;
    struct whatif_answer a, again;
    assert_int_equal(whatif_new(model, &w), 0);
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    assert_int_equal(whatif_ask(w, &s, 1, &again), 0);
    assert_memory_equal(&a.predicted_s, &again.predicted_s, sizeof a.predicted_s);
    assert_memory_equal(&a.low_s, &again.low_s, sizeof a.low_s);
    whatif_free(w);
    return a;
}

static void release(struct recording *r, struct run_model *model) {
    model_release(model);
    recording_release(r);
}

static const struct hardware usual = {.rate = 10e6, .compute_s = 0.05};
#define ANY .host = -1, .rank = -1

static void a_faster_link_is_predicted_as_it_would_be_measured(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build(&r, &model, usual);
    struct whatif_answer a = ask(&model, (struct whatif_scenario){WHATIF_LINK, ANY, .factor = 2});
    assert_true(a.replayed && !a.refused.code);
    CLOSE(a.replay_s, a.measured_s);
    CLOSE(a.predicted_s,
          warm_s(0.1 + play(NULL, (struct hardware){20e6, 0.05, 0, 0}, false), a.measured_s));
    assert_true(a.low_s <= a.predicted_s && a.predicted_s <= a.high_s);
    assert_true(a.bound_s <= a.predicted_s * 1.01);
    release(&r, &model);
}

/* One computes and sends, the other receives: it has no peer, and nothing to divide. */
static void who_has_no_peer_is_not_compared_with_one(void **state) {
    static const enum whatif_kind kinds[] = {WHATIF_LIKE_PEERS, WHATIF_BALANCED};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct recording r;
        struct run_model model;
        build(&r, &model, usual);
        struct whatif_answer a =
            ask(&model, (struct whatif_scenario){kinds[i], .host = -1, .rank = 1, .factor = 1});
        assert_true(!a.replayed && a.refused.code);
        release(&r, &model);
    }
}

/* At both ends a byte costs a copy, however fast the link. */
static void without_a_limit_messages_are_still_copied(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build(&r, &model, (struct hardware){100e6, 0.001, 0, 0});
    struct whatif_answer a = ask(&model, (struct whatif_scenario){WHATIF_LINK, ANY, .factor = 1e4});
    assert_true(a.replayed && !a.refused.code);
    CLOSE(a.predicted_s,
          warm_s(0.1 + play(NULL, (struct hardware){2.5e9, 0.001, 0, 0}, false), a.measured_s));
    release(&r, &model);
}

/* With two hosts nothing shows which end of the link limits: either may be asked about. */
static void either_end_of_the_one_link_may_be_asked_for(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build(&r, &model, usual);
    double should = 0.1 + play(NULL, (struct hardware){20e6, 0.05, 0, 0}, false);
    struct whatif_scenario out = {WHATIF_LINK, .host = 1, .rank = -1, .direction = WHATIF_SEND,
                                  .factor = 2};
    struct whatif_scenario in = {WHATIF_LINK, .host = 0, .rank = -1, .direction = WHATIF_RECEIVE,
                                 .factor = 2};
    struct whatif_scenario other = {WHATIF_LINK, .host = 0, .rank = -1, .direction = WHATIF_SEND,
                                    .factor = 2};
    should = warm_s(should, ask(&model, out).measured_s);
    CLOSE(ask(&model, out).predicted_s, should);
    CLOSE(ask(&model, in).predicted_s, should);
    CLOSE(ask(&model, other).predicted_s, ask(&model, other).measured_s);
    release(&r, &model);
}

static void a_link_of_a_given_speed_slows_the_run_down(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build(&r, &model, usual);
    struct whatif_answer a =
        ask(&model, (struct whatif_scenario){WHATIF_LINK, ANY, .rate_bytes_s = 5e6});
    CLOSE(a.predicted_s,
          warm_s(0.1 + play(NULL, (struct hardware){5e6, 0.05, 0, 0}, false), a.measured_s));
    assert_true(a.gain < 0);
    release(&r, &model);
}

static void contention_is_taken_away_where_it_was(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build(&r, &model, (struct hardware){10e6, 0.1, 0.5, 0});
    struct whatif_scenario s = {WHATIF_WITHOUT, .host = 1, .rank = -1, .term = BUDGET_RUN_QUEUE,
                                .factor = 1};
    struct whatif_answer a = ask(&model, s);
    double should = 0.1 + play(NULL, (struct hardware){10e6, 0.05, 0, 0}, false);
    CLOSE(a.predicted_s, warm_s(should, a.measured_s));
    assert_true(a.bound_s <= a.predicted_s && a.bound_s > 0.97 * a.predicted_s);
    CLOSE(a.calls_s, should);
    s.host = 0;
    CLOSE(ask(&model, s).predicted_s, a.measured_s);
    release(&r, &model);
}

static void what_it_costs_beside_the_main_phase_is_told_as_well(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build_in_phases(&r, &model, (struct hardware){10e6, 0.1, 0.5, 0}, 0.25);
    struct whatif_scenario s = {WHATIF_WITHOUT, .host = 1, .rank = -1, .term = BUDGET_RUN_QUEUE,
                                .factor = 1};
    struct whatif_answer a = ask(&model, s);
    CLOSE(a.measured_s, 0.75 * play(NULL, (struct hardware){10e6, 0.1, 0, 0}, false));
    assert_true(fabs(a.elsewhere_s / (0.25 * ROUNDS * 0.05) - 1) < 0.03); /* known from samples */
    s.host = 0;
    CLOSE(ask(&model, s).elsewhere_s, 0);
    s = (struct whatif_scenario){WHATIF_LIKE_PEERS, .host = -1, .rank = 1, .factor = 1};
    CLOSE(ask(&model, s).elsewhere_s, 0);
    release(&r, &model);
    build(&r, &model, (struct hardware){10e6, 0.1, 0.5, 0}); /* the main phase is the whole run */
    s = (struct whatif_scenario){WHATIF_WITHOUT, .host = 1, .rank = -1, .term = BUDGET_RUN_QUEUE,
                                 .factor = 1};
    CLOSE(ask(&model, s).elsewhere_s, 0);
    release(&r, &model);
}

static void a_faster_core_shortens_what_is_computed(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build(&r, &model, usual);
    struct whatif_answer a = ask(&model, (struct whatif_scenario){WHATIF_CPU, ANY, .factor = 2});
    CLOSE(a.predicted_s - 0.1, play(NULL, (struct hardware){10e6, 0.025, 0, 0}, false));
    release(&r, &model);
}

static void a_slower_core_lengthens_what_is_computed(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build(&r, &model, usual);
    double should = 0.1 + play(NULL, (struct hardware){10e6, 0.2, 0, 0}, false);
    struct whatif_scenario s = {WHATIF_CPU, ANY, .factor = 0.25};
    struct whatif_answer a = ask(&model, s);
    assert_true(a.replayed && a.bound_s > a.measured_s && a.bound_s <= a.predicted_s);
    CLOSE(a.predicted_s, warm_s(should, a.measured_s));
    s = (struct whatif_scenario){WHATIF_RANK, .host = -1, .rank = 1, .factor = 0.25};
    CLOSE(ask(&model, s).predicted_s, warm_s(should, a.measured_s));
    s.rank = 0; /* it computes nothing */
    CLOSE(ask(&model, s).predicted_s, a.measured_s);
    release(&r, &model);
}

static void a_slower_link_slows_the_run_as_its_rate_does(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build(&r, &model, usual);
    double should = 0.1 + play(NULL, (struct hardware){5e6, 0.05, 0, 0}, false);
    struct whatif_answer a = ask(&model, (struct whatif_scenario){WHATIF_LINK, ANY, .factor = 0.5});
    CLOSE(a.predicted_s, warm_s(should, a.measured_s));
    a = ask(&model, (struct whatif_scenario){WHATIF_LINK, ANY, .factor = 1});
    CLOSE(a.predicted_s, a.measured_s);
    release(&r, &model);
}

/* Rank 0 sends next to nothing, and nothing tells what its link carries. */
static void a_slower_link_that_nobody_knows_is_refused(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build(&r, &model, usual);
    struct whatif_scenario s = {WHATIF_LINK, .host = 0, .rank = -1, .direction = WHATIF_SEND,
                                .factor = 0.5};
    struct whatif_answer a = ask(&model, s);
    assert_int_equal(a.refused.code, REFUSAL_LINK_UNKNOWN);
    assert_true(isnan(a.predicted_s));
    s.factor = 2; /* it never was the limit, whatever it carries */
    a = ask(&model, s);
    CLOSE(a.predicted_s, a.measured_s);
    release(&r, &model);
}

/* ---- collectives ---- */

/* Three ranks meet in each round; rank 2 needs twice as long. `started`: they start the call, and
 * wait for it with another.
 */
static void meet(struct recording *r, int rank, int64_t enter, int64_t exit, bool started) {
    int64_t own = enter % (200 * MS);
    if (!started) {
        PLANT(&r->calls, rank, rank, "MPI_Allreduce", -1, -1, 8, enter, exit, BOTH,
              .gap_cpu_ns = own, .cpu_ns = exit - enter);
        return;
    }
    PLANT(&r->calls, rank, rank, "MPI_Iallreduce", -1, -1, 8, enter, enter + US, BOTH,
          .gap_cpu_ns = own);
    PLANT(&r->calls, rank, rank, "MPI_Iallreduce", -1, -1, 8, enter, exit, MPI_FLAG_REQUEST);
    PLANT(&r->calls, rank, rank, "MPI_Wait", -1, -1, 0, enter + US, exit, BOTH,
          .cpu_ns = exit - enter - US);
}

static void build_skewed(struct recording *r, struct run_model *model, bool started) {
    begin_training(r, 3, 0.2 * ROUNDS);
    for (int rank = 0; rank < 3; rank++)
        for (int i = 0; i < ROUNDS; i++) {
            int64_t begin = 200 * MS * i, own = rank == 2 ? 190 * MS : 95 * MS;
            meet(r, rank, begin + own, begin + 200 * MS, started);
        }
    end_run(r, model);
}

static void check_skewed(bool started) {
    struct recording r;
    struct run_model model;
    build_skewed(&r, &model, started);
    struct whatif_scenario s = {WHATIF_LIKE_PEERS, .host = -1, .rank = 2, .factor = 1};
    struct whatif_answer a = ask(&model, s);
    CLOSE(a.predicted_s, warm_s((95 + 95 / 3.0 + 10) / 1e3 * ROUNDS, a.measured_s));
    assert_true(a.bound_s <= a.predicted_s * 1.001);
    s.rank = 0;
    CLOSE(ask(&model, s).predicted_s, 0.2 * ROUNDS);
    struct whatif_scenario balanced = {WHATIF_BALANCED, ANY, .factor = 1};
    CLOSE(ask(&model, balanced).predicted_s,
          warm_s(((95 + 95 + 190) / 3.0 + 10) / 1e3 * ROUNDS, a.measured_s));
    release(&r, &model);
}

static void a_straggler_at_its_peers_pace_no_longer_holds_them_up(void **state) {
    (void)state;
    check_skewed(false);
}

/* The wait for an exchange includes the time after the last rank has come. */
static void an_exchange_that_was_started_takes_its_time_until_it_is_waited_for(void **state) {
    (void)state;
    check_skewed(true);
}

/* A server that works itself and one worker with twice as much to do: no rank shares its role. */
static void without_a_peer_of_its_role_a_straggler_is_held_against_who_computes(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    begin_training(&r, 2, 0.2 * ROUNDS);
    for (int i = 0; i < ROUNDS; i++) {
        int64_t t = 200 * MS * i;
        PLANT(&r.calls, 1, 1, "MPI_Send", 0, 1, 8, t + 198 * MS, t + 198 * MS + 1000, BOTH,
              .gap_cpu_ns = 196 * MS);
        PLANT(&r.calls, 0, 0, "MPI_Recv", 1, 1, 8, t + 100 * MS, t + 199 * MS, BOTH,
              .gap_cpu_ns = 98 * MS, .cpu_ns = 99 * MS);
        PLANT(&r.calls, 0, 0, "MPI_Send", 1, 2, 8, t + 199 * MS, t + 199 * MS + 1000);
        PLANT(&r.calls, 1, 1, "MPI_Recv", 0, 2, 8, t + 198 * MS + 1000, t + 200 * MS, BOTH,
              .cpu_ns = MS);
    }
    end_run(&r, &model);
    struct whatif_answer a = ask(
        &model, (struct whatif_scenario){WHATIF_LIKE_PEERS, .host = -1, .rank = 1, .factor = 1});
    assert_true(a.replayed);
    assert_true(fabs(a.predicted_s / (0.152 * ROUNDS) - 1) < 0.03); /* it has more work */
    a = ask(&model, (struct whatif_scenario){WHATIF_BALANCED, ANY, .factor = 1});
    assert_true(fabs(a.predicted_s / (0.152 * ROUNDS) - 1) < 0.03);
    release(&r, &model);
}

static void an_only_rank_has_no_peers_whose_pace_it_could_have(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    begin_training(&r, 1, 0.2 * ROUNDS);
    for (int i = 0; i < ROUNDS; i++)
        meet(&r, 0, 200 * MS * i + 190 * MS, 200 * MS * (i + 1), false);
    end_run(&r, &model);
    struct whatif_answer a = ask(
        &model, (struct whatif_scenario){WHATIF_LIKE_PEERS, .host = -1, .rank = 0, .factor = 1});
    assert_true(isnan(a.gain_max));
    release(&r, &model);
}

/* ---- who polls late ---- */

#define ROUND (122 * MS)

static void receive(struct recording *r, int from, int64_t begin, int64_t poll, int64_t found) {
    PLANT(&r->calls, 0, 0, "MPI_Irecv", from, 1, LARGE, begin, begin + US);
    PLANT(&r->calls, 0, 0, "MPI_Irecv", from, 1, LARGE, begin, found, MPI_FLAG_REQUEST);
    PLANT(&r->calls, 0, 0, "MPI_Wait", -1, -1, 0, poll, found, BOTH, .cpu_ns = found - poll);
}

/* 20 ms of work, then LARGE bytes to rank 0, in `way_ns`; the next round begins when rank 0
 * answers.
 */
static void send_round(struct recording *r, int rank, int64_t begin, int64_t way_ns) {
    int64_t sent = begin + 20 * MS;
    PLANT(&r->calls, rank, rank, "MPI_Send", 0, 1, LARGE, sent, sent + way_ns, BOTH,
          .gap_cpu_ns = 20 * MS, .cpu_ns = way_ns);
    PLANT(&r->calls, 0, 0, "MPI_Send", rank, 2, 8, begin + 121 * MS, begin + 121 * MS + US);
    PLANT(&r->calls, rank, rank, "MPI_Recv", 0, 2, 8, sent + way_ns, begin + ROUND, BOTH,
          .cpu_ns = ROUND - 20 * MS - way_ns);
}

/* Rank 2's link has a tenth of rank 1's rate; rank 0 polls for rank 1's bytes once rank 2's have
 * come.
 */
static void what_had_come_before_it_was_looked_for_was_not_on_its_way(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    begin_training(&r, 3, (double)(ROUND * ROUNDS) / 1e9);
    for (int64_t begin = 0; begin < ROUND * ROUNDS; begin += ROUND) {
        receive(&r, 2, begin, begin + 2 * US, begin + 120 * MS);
        receive(&r, 1, begin + US, begin + 120 * MS, begin + 120 * MS + 10 * US);
        send_round(&r, 1, begin, 10 * MS);
        send_round(&r, 2, begin, 100 * MS);
    }
    end_run(&r, &model);
    struct whatif_answer a =
        ask(&model, (struct whatif_scenario){WHATIF_LINK, .host = 2, .rank = -1, .factor = 10});
    assert_true(a.replayed);
    if (!(fabs(a.predicted_s / (0.032 * ROUNDS) - 1) < 0.03))
        fail_msg("it is %.4g s, not %.4g", a.predicted_s, 0.032 * ROUNDS);
    release(&r, &model);
}

/* A link known to carry twenty times as much limits nothing: the change applies to the other end.
 */
static void a_link_known_to_carry_more_is_not_the_limit(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build(&r, &model, usual);
    model_release(&model);
    assert_int_equal(recording_add_ceiling(&r, 1, METRIC_NET_SEND, 200), 0);
    assert_int_equal(model_build(&r, &model), 0);
    struct whatif_scenario out = {WHATIF_LINK, .host = 1, .rank = -1, .direction = WHATIF_SEND,
                                  .factor = 2};
    struct whatif_scenario in = {WHATIF_LINK, .host = 0, .rank = -1, .direction = WHATIF_RECEIVE,
                                 .factor = 2};
    double should = 0.1 + play(NULL, (struct hardware){20e6, 0.05, 0, 0}, false);
    CLOSE(ask(&model, in).predicted_s, warm_s(should, ask(&model, in).measured_s));
    CLOSE(ask(&model, out).predicted_s, ask(&model, out).measured_s);
    release(&r, &model);
}

/* A shaped link passes a burst after a pause: the few messages that it did not throttle do not mean
 * that the throttled ones have the program's own pace.
 */
static void messages_that_pass_a_shaped_link_as_a_burst_do_not_hide_it(void **state) {
    struct recording r;
    struct run_model model;
    struct hardware bursts = {.rate = 10e6, .compute_s = 0.05, .burst_every = 4};
    (void)state;
    build(&r, &model, bursts);
    model_release(&model);
    assert_int_equal(recording_add_ceiling(&r, 1, METRIC_NET_SEND, 10), 0);
    assert_int_equal(model_build(&r, &model), 0);
    struct whatif_scenario out = {WHATIF_LINK, .host = 1, .rank = -1, .direction = WHATIF_SEND,
                                  .factor = 1e6};
    struct whatif_answer a = ask(&model, out);
    CLOSE(a.replay_s, a.measured_s);
    double should = 0.1 + play(NULL, (struct hardware){AT_ONCE, 0.05, .burst_every = 0}, false);
    CLOSE(a.predicted_s, warm_s(should, a.measured_s));
    release(&r, &model);
}

/* A round: rank 0 waits for one message, works, and finds the next one already there. */
static int64_t find_one(struct recording *r, int64_t t, int64_t flight) {
    int64_t found = t + 10 * MS + flight + 50 * MS, end = found + 100 * US;
    PLANT(&r->calls, 1, 1, "MPI_Send", 0, 1, 50000, t + 10 * MS, t + 10 * MS + US, BOTH,
          .gap_cpu_ns = 10 * MS);
    PLANT(&r->calls, 1, 1, "MPI_Send", 0, 1, 50000, t + 20 * MS, t + 20 * MS + US, BOTH,
          .gap_cpu_ns = 10 * MS);
    PLANT(&r->calls, 1, 1, "MPI_Recv", 0, 2, 8, t + 20 * MS + US, end, BOTH,
          .cpu_ns = end - t - 20 * MS);
    PLANT(&r->calls, 0, 0, "MPI_Recv", 1, 1, 50000, t, t + 10 * MS + flight, BOTH,
          .cpu_ns = 10 * MS + flight);
    PLANT(&r->calls, 0, 0, "MPI_Recv", 1, 1, 50000, found, found + 2 * US, BOTH,
          .gap_cpu_ns = 50 * MS);
    PLANT(&r->calls, 0, 0, "MPI_Send", 1, 2, 8, found + 2 * US, found + 3 * US);
    return end;
}

/* The arrival of a message that nobody waited for is not known: it does not show a slow link. */
static void messages_found_on_coming_late_say_nothing_of_the_path(void **state) {
    struct recording r;
    struct run_model model;
    int64_t t = 0;
    (void)state;
    begin_training(&r, 2, 0.07 * ROUNDS);
    for (int i = 0; i < ROUNDS; i++)
        t = find_one(&r, t, i % 4 ? 5 * MS : MS);
    end_run(&r, &model);
    struct whatif_answer a = ask(&model, (struct whatif_scenario){WHATIF_CPU, ANY, .factor = 1});
    assert_true(a.replayed);
    assert_true(fabs(a.replay_s / a.measured_s - 1) < 0.03);
    release(&r, &model);
}

/* ---- what a rank does between two polls ---- */

/* Rank 1 computes for 20 ms and asks rank 0, which polls, pauses for `pause_s`, backs off a
 * millisecond between further polls, and then answers. Every other round has no pause.
 */
static double serve(struct recording *r, double pause_s) {
    double t = 0.1, backoff = 1e-3, way = 50e-6;
    init_ranks(r, 2, t);
    for (int i = 0; i < ROUNDS; i++) {
        double asked = t + 0.02, polled = t, posted = t, before = t;
        for (int poll = 0; polled < asked + way; poll++) {
            polled += poll == 1 && pause_s > 0 && i % 2 ? pause_s : backoff / (poll ? 1 : 10);
            if (r && polled < asked + way)
                PLANT(&r->calls, 0, 0, "MPI_Test", -1, -1, 0, (int64_t)(polled * 1e9),
                      (int64_t)(polled * 1e9), BOTH);
        }
        if (r) {
            PLANT(&r->calls, 0, 0, "MPI_Irecv", 1, 1, 8, (int64_t)(posted * 1e9),
                  (int64_t)(posted * 1e9), MPI_FLAG_AT_MOST);
            PLANT(&r->calls, 0, 0, "MPI_Test", 1, 1, 8, (int64_t)(polled * 1e9),
                  (int64_t)(polled * 1e9), BOTH);
            PLANT(&r->calls, 0, 0, "MPI_Irecv", 1, 1, 8, (int64_t)(posted * 1e9),
                  (int64_t)(polled * 1e9), MPI_FLAG_REQUEST);
            PLANT(&r->calls, 0, 0, "MPI_Send", 1, 2, 8, (int64_t)(polled * 1e9),
                  (int64_t)(polled * 1e9));
            PLANT(&r->calls, 1, 1, "MPI_Send", 0, 1, 8, (int64_t)(asked * 1e9),
                  (int64_t)(asked * 1e9), BOTH, .gap_cpu_ns = (int64_t)((asked - before) * 1e9));
            PLANT(&r->calls, 1, 1, "MPI_Recv", 0, 2, 8, (int64_t)(asked * 1e9),
                  (int64_t)((polled + way) * 1e9), BOTH);
            plant_mark(r, MARK_ITERATION, "round", 1, 1, i, t, polled + way - t);
        }
        t = polled + way;
    }
    return t - 0.1;
}

/* Rank 0 begins a large message, sleeps for `pause_s` and only then polls for it; rank 1 waits for
 * it, computes for 20 ms and answers.
 */
static double leave(struct recording *r, double pause_s) {
    double t = 0.1, move = 2e-3, way = 50e-6;
    init_ranks(r, 2, t);
    for (int i = 0; i < ROUNDS; i++) {
        double back = t + (i % 2 ? pause_s : 0), had = back + move, answered = had + 0.02;
        if (r) {
            int64_t at = (int64_t)(t * 1e9), gone = (int64_t)(had * 1e9);
            PLANT(&r->calls, 0, 0, "MPI_Isend", 1, 1, LARGE, at, at + 1000);
            PLANT(&r->calls, 0, 0, "MPI_Isend", 1, 1, LARGE, at, gone, MPI_FLAG_REQUEST);
            for (int poll = 0; poll < 3; poll++) /* after short back-offs */
                PLANT(&r->calls, 0, 0, "MPI_Test", -1, -1, 0, at + 1000 + poll * 200 * US,
                      at + 2000 + poll * 200 * US, BOTH);
            PLANT(&r->calls, 0, 0, "MPI_Wait", 1, 1, LARGE, (int64_t)(back * 1e9) + MS / 2, gone,
                  BOTH);
            PLANT(&r->calls, 0, 0, "MPI_Recv", 1, 2, 8, gone, (int64_t)((answered + way) * 1e9),
                  BOTH);
            PLANT(&r->calls, 1, 1, "MPI_Recv", 0, 1, LARGE, at, gone, BOTH);
            PLANT(&r->calls, 1, 1, "MPI_Send", 0, 2, 8, (int64_t)(answered * 1e9),
                  (int64_t)(answered * 1e9), BOTH, .gap_cpu_ns = 20000000);
            plant_mark(r, MARK_ITERATION, "round", 0, 0, i, t, answered + way - t);
        }
        t = answered + way;
    }
    return t - 0.1;
}

/* Without its pauses the program is predicted to take its time without pauses, within that share.
 */
static void expect_without_pauses(double (*program)(struct recording *r, double pause_s),
                                  double pause_s, double near) {
    struct recording r;
    struct run_model model;
    double seconds = program(NULL, pause_s), without = program(NULL, 0);
    begin_run(&r, 2, seconds + 0.1);
    plant_process(&r, 0, "pause", (struct plant_process){0, 0, 0, 0});
    plant_process(&r, 1, "train", (struct plant_process){1, 0.02 * ROUNDS / seconds, 0, 0});
    program(&r, pause_s);
    end_run(&r, &model);
    struct whatif_answer a = ask(&model, (struct whatif_scenario){WHATIF_WITHOUT, .host = 0,
                                                                  .rank = -1, .term = BUDGET_IDLE});
    assert_true(a.replayed && !a.refused.code);
    double should = warm_s(0.1 + without, a.measured_s);
    assert_true(fabs(a.predicted_s - should) < near * should);
    release(&r, &model);
}

static void a_pause_that_is_no_backoff_is_replayed_and_can_be_taken_away(void **state) {
    (void)state;
    expect_without_pauses(serve, 0.06, 0.06); /* about one back-off in each round */
}

static void a_message_held_up_by_a_sender_that_sleeps_comes_sooner_without_its_sleep(void **state) {
    (void)state;
    expect_without_pauses(leave, 0.04, 0.02);
}

/* ---- what is refused ---- */

static void without_calls_there_is_a_reason_and_what_counters_tell(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    plant_init(&r, 1, 10);
    plant_process(&r, 0, "a", (struct plant_process){0, 0.6, 0.4, 0});
    assert_int_equal(model_build(&r, &model), 0);
    struct whatif_scenario s = {WHATIF_WITHOUT, .host = 0, .rank = -1, .term = BUDGET_RUN_QUEUE,
                                .factor = 1};
    struct whatif_answer a = ask(&model, s);
    assert_true(!a.replayed && a.counted && a.refused.code);
    CLOSE(a.predicted_s, warm_s(6, 10));
    assert_true(isnan(a.bound_s) && isnan(a.gain_max)); /* there is no path */
    release(&r, &model);
}

/* Lost calls are not replaced by guesses. */
static void lost_calls_refuse_a_prediction(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    build(&r, &model, usual);
    model_release(&model);
    r.calls.ranks[0].lost_ns = 2 * S;
    assert_int_equal(model_build(&r, &model), 0);
    struct whatif_answer a = ask(&model, (struct whatif_scenario){WHATIF_LINK, ANY, .factor = 2});
    assert_true(!a.replayed && a.refused.code && isnan(a.gain));
    assert_true(a.bound_s <= a.measured_s);
    release(&r, &model);
}

/* ---- all that could be asked ---- */

#define COMPUTING (1u << BUDGET_CPU)

static void the_sweep_finds_the_resource_that_is_worth_most(void **state) {
    struct recording r;
    struct run_model model;
    struct whatif *w;
    const struct whatif_sweep *sweep, *again;
    (void)state;
    build(&r, &model, (struct hardware){.rate = 10e6, .compute_s = 0.02});
    assert_int_equal(whatif_new(&model, &w), 0);
    assert_int_equal(whatif_sweep_make(w, &sweep), 0);
    const struct sweep_answer *best = whatif_sweep_best(&model, sweep, COMPUTING);
    assert_int_equal(best->scenario.kind, WHATIF_LINK);
    assert_in_range(best->scenario.host, 0, 1); /* no more is gained by all links */
    assert_true(best->answer.run_gain > 0.8);
    best = whatif_sweep_best(&model, sweep, 1u << BUDGET_TRANSFER);
    assert_int_equal(best->scenario.kind, WHATIF_CPU);
    assert_int_equal(best->scenario.host, 1);
    assert_null(whatif_sweep_best(&model, sweep, COMPUTING | 1u << BUDGET_TRANSFER));
    assert_int_equal(whatif_sweep_make(w, &again), 0);
    assert_ptr_equal(again, sweep);
    whatif_free(w);
    release(&r, &model);
}

static void the_sweep_names_all_hosts_where_no_single_one_tells(void **state) {
    struct recording r;
    struct run_model model;
    struct whatif *w;
    const struct whatif_sweep *sweep;
    (void)state;
    build_skewed(&r, &model, false);
    assert_int_equal(whatif_new(&model, &w), 0);
    assert_int_equal(whatif_sweep_make(w, &sweep), 0);
    const struct sweep_answer *best = whatif_sweep_best(&model, sweep, 0);
    assert_int_equal(best->scenario.kind, WHATIF_CPU);
    assert_int_equal(best->scenario.host, -1);
    whatif_free(w);
    release(&r, &model);
}

static void the_sweep_says_how_much_nobody_could_tell(void **state) {
    struct recording r;
    struct run_model model;
    struct whatif *w;
    const struct whatif_sweep *sweep;
    (void)state;
    build(&r, &model, usual);
    model_release(&model);
    r.calls.ranks[0].lost_ns = 2 * S; /* no replay */
    assert_int_equal(model_build(&r, &model), 0);
    assert_int_equal(whatif_new(&model, &w), 0);
    assert_int_equal(whatif_sweep_make(w, &sweep), 0);
    assert_true(sweep->untold > 0.5);
    whatif_free(w);
    release(&r, &model);
}

static double queue_ms_now; /* round trips beyond the shortest */

static double flow_row(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case CONNECTION_PID:
        return 1000;
    case CONNECTION_SEND_BYTES:
        return 20e6;
    case CONNECTION_BUSY:
        return .9e9;
    case CONNECTION_DELIVERY_RATE:
        return 22e6;
    case CONNECTION_RTT:
        return 1e5 + queue_ms_now * 1e6;
    case CONNECTION_MIN_RTT:
        return 1e5;
    default:
        return 0;
    }
}

static void plant_ends(struct recording *r) {
    const uint64_t levels = 1u << CONNECTION_PID | 1u << CONNECTION_RTT | 1u << CONNECTION_MIN_RTT |
                            1u << CONNECTION_DELIVERY_RATE;
    plant(r, RECORDING_CONNECTION, 0, "10.0.0.1:5000>10.0.0.2:6000", 0.1, levels, flow_row);
    plant(r, RECORDING_CONNECTION, 1, "10.0.0.2:6000>10.0.0.1:5000", 0.1, levels, flow_row);
}

/* No replay answers, but the connections tell whether any path held them up. */
static void a_link_that_held_up_nothing_saves_nothing(void **state) {
    (void)state;
    for (int held = 0; held <= 1; held++) {
        struct recording r;
        struct run_model model;
        queue_ms_now = held ? 20 : 0;
        build(&r, &model, usual);
        model_release(&model);
        r.calls.ranks[0].lost_ns = 2 * S;
        plant_ends(&r);
        assert_int_equal(model_build(&r, &model), 0);
        struct whatif_answer a =
            ask(&model, (struct whatif_scenario){WHATIF_LINK, ANY, .factor = 1000});
        assert_true(isnan(a.predicted_s));
        assert_true(held ? a.gain_max > .3 : a.gain_max < .01);
        release(&r, &model);
    }
}

static void what_makes_no_sense_is_refused(void **state) {
    struct recording r;
    struct run_model model;
    struct whatif *w;
    struct whatif_answer a;
    (void)state;
    build(&r, &model, usual);
    assert_int_equal(whatif_new(&model, &w), 0);
    const struct whatif_scenario bad[] = {
        {WHATIF_LINK, .host = 2, .rank = -1, .factor = 2},
        {WHATIF_LINK, ANY, .factor = 0},
        {WHATIF_LINK, ANY, .factor = NAN},
        {WHATIF_CPU, ANY, .factor = -1},
        {WHATIF_WITHOUT, ANY, .term = BUDGET_PEER_WAIT},
        {WHATIF_WORKERS, ANY, .workers = 1}, /* two ranks are no parameter server */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(whatif_ask(w, &bad[i], 1, &a), -EINVAL);
    whatif_free(w);
    release(&r, &model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_faster_link_is_predicted_as_it_would_be_measured),
        cmocka_unit_test(who_has_no_peer_is_not_compared_with_one),
        cmocka_unit_test(without_a_limit_messages_are_still_copied),
        cmocka_unit_test(either_end_of_the_one_link_may_be_asked_for),
        cmocka_unit_test(a_link_of_a_given_speed_slows_the_run_down),
        cmocka_unit_test(contention_is_taken_away_where_it_was),
        cmocka_unit_test(what_it_costs_beside_the_main_phase_is_told_as_well),
        cmocka_unit_test(a_faster_core_shortens_what_is_computed),
        cmocka_unit_test(a_slower_core_lengthens_what_is_computed),
        cmocka_unit_test(a_slower_link_slows_the_run_as_its_rate_does),
        cmocka_unit_test(a_slower_link_that_nobody_knows_is_refused),
        cmocka_unit_test(the_sweep_finds_the_resource_that_is_worth_most),
        cmocka_unit_test(the_sweep_names_all_hosts_where_no_single_one_tells),
        cmocka_unit_test(the_sweep_says_how_much_nobody_could_tell),
        cmocka_unit_test(a_link_that_held_up_nothing_saves_nothing),
        cmocka_unit_test(a_straggler_at_its_peers_pace_no_longer_holds_them_up),
        cmocka_unit_test(an_exchange_that_was_started_takes_its_time_until_it_is_waited_for),
        cmocka_unit_test(without_a_peer_of_its_role_a_straggler_is_held_against_who_computes),
        cmocka_unit_test(an_only_rank_has_no_peers_whose_pace_it_could_have),
        cmocka_unit_test(what_had_come_before_it_was_looked_for_was_not_on_its_way),
        cmocka_unit_test(a_link_known_to_carry_more_is_not_the_limit),
        cmocka_unit_test(messages_that_pass_a_shaped_link_as_a_burst_do_not_hide_it),
        cmocka_unit_test(messages_found_on_coming_late_say_nothing_of_the_path),
        cmocka_unit_test(a_pause_that_is_no_backoff_is_replayed_and_can_be_taken_away),
        cmocka_unit_test(a_message_held_up_by_a_sender_that_sleeps_comes_sooner_without_its_sleep),
        cmocka_unit_test(without_calls_there_is_a_reason_and_what_counters_tell),
        cmocka_unit_test(lost_calls_refuse_a_prediction),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
