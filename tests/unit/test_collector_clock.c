/* SPDX-License-Identifier: MIT */
/*
 * Planted offsets, delays that differ between the two directions, drifting clocks: the true offset
 * always lies within the given bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "agent/push/exchange.h"
#include "collector/clock.h"
#include "common/clock.h"

/* Seeded, so that a failure can be repeated. */
static uint64_t draw(uint64_t *state, uint64_t below) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (*state >> 33) % below;
}

/* Two clocks: the collector's as a function of the host's. */
struct world {
    int64_t offset_ns; /* when the host's clock is 0 */
    int64_t drift_ppm;
};

static int64_t true_offset(const struct world *world, int64_t host_ns) {
    return world->offset_ns + host_ns / 1000 * world->drift_ppm / 1000;
}

static struct exchange exchange_at(const struct world *world, int64_t sent_ns, int64_t out_ns,
                                   int64_t stay_ns, int64_t back_ns) {
    int64_t offset = true_offset(world, sent_ns);
    return (struct exchange){sent_ns, sent_ns + out_ns + offset,
                             sent_ns + out_ns + stay_ns + offset,
                             sent_ns + out_ns + stay_ns + back_ns};
}

static struct clock_estimate estimate_of(const struct exchange *x) {
    struct exchange_result result = {0};
    assert_true(exchange_solve(x, &result));
    return (struct clock_estimate){x->heard_ns, result.offset_ns, result.error_ns};
}

static void equal_delays_give_the_offset_to_the_ns(void **state) {
    (void)state;
    const struct world world = {-123456789012345, 0};
    struct exchange x = exchange_at(&world, 5 * NS_PER_S, 100000, 30000000, 100000);
    struct clock_estimate e = estimate_of(&x);
    assert_int_equal(e.offset_ns, world.offset_ns);
    assert_in_range(e.error_ns, 100000, 100000 + 6100); /* including the drift in 30 ms */
}

static void asymmetric_delays_shift_the_offset_but_never_past_the_bound(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 100000; i++) {
        const struct world world = {(int64_t)draw(&random, 1u << 30) * 1000 - (1 << 29), 0};
        struct exchange x =
            exchange_at(&world, NS_PER_S, (int64_t)draw(&random, 1u << 26),
                        (int64_t)draw(&random, 1u << 26), (int64_t)draw(&random, 1u << 10));
        struct clock_estimate e = estimate_of(&x);
        assert_true(llabs(e.offset_ns - world.offset_ns) <= e.error_ns);
    }
}

static void times_that_cannot_be_true_give_no_offset(void **state) {
    (void)state;
    const struct exchange impossible[] = {
        {100, 1000, 1500, 200},          /* it spent longer there than the exchange took */
        {100, 1000, 900, 300},           /* answered before it was received */
        {300, 1000, 1000, 200},          /* heard before it was sent */
        {1, INT64_MAX, INT64_MAX, -100}, /* sums overflow */
        {-100, INT64_MAX, INT64_MAX, INT64_MAX},
    };
    struct exchange_result result;
    for (size_t i = 0; i < sizeof impossible / sizeof impossible[0]; i++)
        assert_false(exchange_solve(&impossible[i], &result));
}

/* ---- many exchanges: a network whose truth is known ---- */

#define EXCHANGES_MAX 2000

struct network {
    int64_t base_ns;           /* of each direction, at least */
    int64_t jitter_ns;         /* at most so much more in each direction */
    int64_t queue_ns;          /* at most so much more under load */
    double busy_from, busy_to; /* time of load, in s */
    int loads;                 /* bit 0: requests, bit 1: answers */
    unsigned lost_percent;
};

/* The host's clock: an offset, a drift, a drift that varies, and a jump. */
struct planted {
    int64_t offset_ns;
    double drift_ppm, wander_ppm, wander_period_s;
    double jump_at_s;
    int64_t jump_ns;
};

struct recording {
    struct clock_estimate estimates[EXCHANGES_MAX];
    size_t n;
};

static const int64_t begin_ns = 3600 * NS_PER_S;

static int64_t planted_offset(const struct planted *p, int64_t host_ns) {
    double s = (double)(host_ns - begin_ns) / 1e9, turn = 2 * M_PI / fmax(p->wander_period_s, 1);
    double ns = 1e3 * p->drift_ppm * s + 1e3 * p->wander_ppm / turn * (1 - cos(turn * s));
    bool jumped = p->jump_ns && s >= p->jump_at_s;
    return p->offset_ns + (int64_t)llround(ns) + (jumped ? p->jump_ns : 0);
}

static int64_t delay_ns(const struct network *net, double s, int way, uint64_t *random) {
    bool busy = s >= net->busy_from && s < net->busy_to && (net->loads >> way & 1);
    return net->base_ns + (int64_t)draw(random, (uint64_t)net->jitter_ns + 1) +
           (busy ? (int64_t)draw(random, (uint64_t)net->queue_ns + 1) : 0);
}

/* The collector's clock at the host's time t. */
static int64_t collector_at(const struct planted *p, int64_t t) {
    return t + planted_offset(p, t);
}

static void exchange_for(const struct planted *planted, const struct network *net, double seconds,
                         uint64_t seed, struct recording *ret_recording) {
    uint64_t random = seed;
    ret_recording->n = 0;
    for (double s = 0; s < seconds; s++) {
        int64_t sent = begin_ns + (int64_t)(s * 1e9) + (int64_t)draw(&random, 1000000);
        int64_t there = sent + delay_ns(net, s, 0, &random);
        int64_t left = there + (int64_t)draw(&random, 3000000);
        int64_t back = left + delay_ns(net, s, 1, &random);
        const struct exchange x = {sent, collector_at(planted, there), collector_at(planted, left),
                                   back};
        if (draw(&random, 100) >= net->lost_percent)
            ret_recording->estimates[ret_recording->n++] = estimate_of(&x);
    }
}

struct judgement {
    double worst_error_ns, worst_bound_ns; /* the worst within the exchanges */
    double drift_ppm;                      /* in the longest piece */
    size_t pieces;
    bool jumped;
};

/* Checks every 10 ms, from a second before to a second after. */
static struct judgement judge(const struct planted *planted, const struct recording *recording) {
    const struct clock_estimate *e = recording->estimates;
    struct clock_piece *pieces;
    struct judgement j = {0};
    int64_t first = e[0].mono_ns, last = e[recording->n - 1].mono_ns, longest = -1;
    const struct clock_span span = {first, last, false, 0};
    assert_int_equal(clock_solve(e, recording->n, &span, &pieces, &j.pieces, &j.jumped), 0);
    for (int64_t t = first - NS_PER_S; t <= last + NS_PER_S; t += 10 * NS_PER_MS) {
        int64_t offset, bound;
        assert_true(clock_read(pieces, j.pieces, t, &offset, &bound));
        double error = fabs((double)(offset - planted_offset(planted, t)));
        if (error > (double)bound)
            fail_msg("at %.3f s the error is %.0f ns, the bound %.0f", (double)(t - begin_ns) / 1e9,
                     error, (double)bound);
        if (t >= first && t <= last) {
            j.worst_error_ns = fmax(j.worst_error_ns, error);
            j.worst_bound_ns = fmax(j.worst_bound_ns, (double)bound);
        }
    }
    for (size_t i = 0; i < j.pieces; i++) {
        assert_true(clock_piece_valid(&pieces[i]));
        assert_true(i == 0 || pieces[i].from_ns > pieces[i - 1].from_ns);
        if (pieces[i].until_ns - pieces[i].from_ns > longest) {
            longest = pieces[i].until_ns - pieces[i].from_ns;
            j.drift_ppm = pieces[i].drift_ppm;
        }
    }
    free(pieces);
    return j;
}

static double draw_between(uint64_t *random, double low, double high) {
    return low + (high - low) * (double)draw(random, 1000001) / 1e6;
}

static struct planted draw_planted(uint64_t *random) {
    return (struct planted){.offset_ns = (int64_t)draw_between(random, -5e9, 5e9),
                            .drift_ppm = draw_between(random, -100, 100)};
}

/* The network between two hosts on one switch. */
static const struct network quiet = {15000, 60000, 0, 0, 0, 0, 2};

static void planted_offsets_and_drifts_are_found_within_a_fifth_of_a_ms(void **state) {
    (void)state;
    static struct recording recording;
    double error = 0, bound = 0;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = seed;
        struct planted planted = draw_planted(&random);
        exchange_for(&planted, &quiet, 10 + (double)(seed % 290), seed, &recording);
        struct judgement j = judge(&planted, &recording);
        error = fmax(error, j.worst_error_ns);
        bound = fmax(bound, j.worst_bound_ns);
        assert_true(j.worst_error_ns < 200e3 && j.worst_bound_ns < 100e3);
        assert_true(j.pieces <= 4 + recording.n / 20);
        if (recording.n > 200)
            assert_true(fabs(j.drift_ppm - planted.drift_ppm) < 2);
    }
    print_message("300 quiet runs: error up to %.1f us, bound up to %.1f us\n", error / 1e3,
                  bound / 1e3);
}

static void the_bound_holds_whatever_the_network_does(void **state) {
    (void)state;
    static struct recording recording;
    double error = 0, bound = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        uint64_t random = seed;
        struct planted planted = draw_planted(&random);
        planted.wander_ppm = draw_between(&random, 0, CLOCK_WANDER_PPM / 2.0);
        planted.wander_period_s = draw_between(&random, 20, 2000);
        const struct network net = {
            .base_ns = (int64_t)draw(&random, 200000),
            .jitter_ns = (int64_t)draw(&random, 500000),
            .queue_ns = (int64_t)draw(&random, 20000000),
            .busy_from = draw_between(&random, 0, 60),
            .busy_to = draw_between(&random, 60, 200),
            .loads = (int)draw(&random, 4),
            .lost_percent = (unsigned)draw(&random, 60),
        };
        exchange_for(&planted, &net, 5 + (double)(seed % 200), seed, &recording);
        if (recording.n == 0)
            continue;
        struct judgement j = judge(&planted, &recording);
        error = fmax(error, j.worst_error_ns);
        bound = fmax(bound, j.worst_bound_ns);
    }
    print_message("1000 bad networks: error up to %.0f us, bound up to %.0f us\n", error / 1e3,
                  bound / 1e3);
}

/* A minute of a full queue between two quiet ones; each of its exchanges is wrong by milliseconds.
 */
static void a_busy_minute_is_bridged_by_the_quiet_around_it(void **state) {
    (void)state;
    static struct recording recording;
    struct network net = quiet;
    net.busy_from = 60;
    net.busy_to = 120;
    net.queue_ns = 10 * NS_PER_MS;
    net.loads = 1;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        uint64_t random = seed;
        struct planted planted = draw_planted(&random);
        exchange_for(&planted, &net, 180, seed, &recording);
        struct judgement j = judge(&planted, &recording);
        assert_true(j.worst_error_ns < 200e3);
        assert_true(j.worst_bound_ns < 700e3);
    }
}

/* The bound before and after is as good as without it. */
static void a_busy_minute_does_not_widen_the_quiet_bound(void **state) {
    (void)state;
    static struct recording recording;
    struct network net = quiet;
    net.busy_from = 100;
    net.busy_to = 300;
    net.queue_ns = 50 * NS_PER_MS;
    net.loads = 3;
    const struct planted planted = {.offset_ns = -77, .drift_ppm = 31};
    exchange_for(&planted, &net, 301, 5, &recording);
    struct clock_piece *pieces;
    size_t n;
    const struct clock_span span = {begin_ns, begin_ns, false, 0};
    assert_int_equal(clock_solve(recording.estimates, recording.n, &span, &pieces, &n, NULL), 0);
    int64_t offset, quiet_bound, busy_bound;
    clock_read(pieces, n, begin_ns + 40 * NS_PER_S, &offset, &quiet_bound);
    clock_read(pieces, n, begin_ns + 200 * NS_PER_S, &offset, &busy_bound);
    assert_true(quiet_bound < 150000);
    assert_true(busy_bound > 300000);
    free(pieces);
}

/* NTP changes the rate by more than a clock wanders: then the bound rests on the drift alone. */
static void a_rate_that_turns_is_seen_and_not_trusted(void **state) {
    (void)state;
    static struct recording recording;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        const struct planted planted = {
            .offset_ns = 1, .wander_ppm = 80, .wander_period_s = 40 + (double)seed};
        exchange_for(&planted, &quiet, 120, seed, &recording);
        struct judgement j = judge(&planted, &recording);
        assert_true(j.worst_error_ns < 200e3);
    }
}

static void a_clock_that_jumped_is_told_and_learnt_anew(void **state) {
    (void)state;
    static struct recording recording;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t random = seed;
        struct planted planted = draw_planted(&random);
        planted.jump_at_s = 1 + (double)draw(&random, 28) + 0.5;
        planted.jump_ns = (int64_t)draw_between(&random, -9e9, 9e9);
        exchange_for(&planted, &quiet, 30, seed, &recording);
        judge(&planted, &recording);
        size_t n = 1;
        while (recording.estimates[n - 1].mono_ns < begin_ns + (int64_t)(planted.jump_at_s * 1e9))
            n++;
        recording.n = n;
        assert_true(judge(&planted, &recording).jumped);
        recording.n = n - 1;
        planted.jump_ns = 0; /* times after the jump are not judged */
        assert_false(recording.n && judge(&planted, &recording).jumped);
    }
}

static void one_exchange_is_enough_and_none_is_too_few(void **state) {
    (void)state;
    const struct clock_estimate only = {begin_ns, 1234, 50};
    const struct clock_span span = {begin_ns - NS_PER_S, begin_ns + NS_PER_S, false, 0};
    struct clock_piece *pieces;
    size_t n;
    int64_t offset, bound;
    assert_int_equal(clock_solve(&only, 0, &span, &pieces, &n, NULL), -EINVAL);
    assert_int_equal(clock_solve(&only, 1, &span, &pieces, &n, NULL), 0);
    assert_true(clock_read(pieces, n, begin_ns, &offset, &bound));
    assert_int_equal(offset, 1234);
    assert_in_range(bound, 50, 1000 * CLOCK_DRIFT_PPM + 100);
    clock_read(pieces, n, begin_ns + 100 * NS_PER_S, &offset, &bound);
    assert_true(bound >= 99 * 1000 * CLOCK_DRIFT_PPM); /* it grows where nothing is known */
    free(pieces);
    assert_false(clock_read(NULL, 0, 0, &offset, &bound));
}

static void a_window_goes_on_where_the_last_one_ended(void **state) {
    (void)state;
    static struct recording recording;
    const struct planted planted = {.offset_ns = 500, .drift_ppm = -60};
    exchange_for(&planted, &quiet, 100, 3, &recording);
    int64_t joint = recording.estimates[50].mono_ns, offset, bound;
    const struct clock_span span = {joint, joint, true, planted_offset(&planted, joint) + 10};
    struct clock_piece *pieces;
    size_t n;
    assert_int_equal(clock_solve(recording.estimates + 50, 50, &span, &pieces, &n, NULL), 0);
    clock_read(pieces, n, joint, &offset, &bound);
    assert_int_equal(offset, span.offset_ns);
    free(pieces);
}

/* A line that begins near one wall of the tube is far from the other wall. */
static void the_bound_reaches_to_the_far_wall(void **state) {
    (void)state;
    const struct clock_estimate only = {begin_ns, 0, 1000};
    for (int64_t start = -900; start <= 900; start += 300) {
        const struct clock_span span = {begin_ns, begin_ns, true, start};
        struct clock_piece *pieces;
        size_t n;
        int64_t offset, bound;
        assert_int_equal(clock_solve(&only, 1, &span, &pieces, &n, NULL), 0);
        assert_true(clock_read(pieces, n, begin_ns, &offset, &bound));
        assert_int_equal(offset, start);
        assert_in_range(bound, 1000 + llabs(start), 1000 + llabs(start) + 5);
        free(pieces);
    }
}

/* Between two exchanges more is possible than at either of them. */
static void the_bound_counts_what_is_possible_between_exchanges(void **state) {
    (void)state;
    const struct clock_estimate two[] = {{begin_ns, 0, 100}, {begin_ns + NS_PER_S, 0, 100}};
    const struct clock_span span = {begin_ns, begin_ns + NS_PER_S, false, 0};
    struct clock_piece *pieces;
    size_t n;
    int64_t offset, bound;
    assert_int_equal(clock_solve(two, 2, &span, &pieces, &n, NULL), 0);
    assert_true(clock_read(pieces, n, begin_ns + NS_PER_S / 2, &offset, &bound));
    assert_in_range(bound, 100 + 500 * CLOCK_WANDER_PPM, 300 + 500 * CLOCK_WANDER_PPM);
    free(pieces);
}

/* Any plausible exchanges: nothing overflows (the sanitizers check). */
static void wild_exchanges_harm_nobody(void **state) {
    (void)state;
    static struct recording recording;
    uint64_t random = 11;
    for (int round = 0; round < 3000; round++) {
        int64_t t = (int64_t)(draw(&random, 1u << 30) << draw(&random, 30));
        recording.n = 0;
        for (size_t i = 0; i < 1 + draw(&random, 40); i++) {
            struct clock_estimate e = {t,
                                       ((int64_t)draw(&random, UINT64_C(1) << 31) - (1 << 30)) *
                                           (INT64_C(1) << draw(&random, 30)),
                                       (int64_t)draw(&random, 1u << 30) << draw(&random, 29)};
            t += 1 + (int64_t)(draw(&random, 1u << 30) << draw(&random, 22));
            if (clock_estimate_valid(&e))
                recording.estimates[recording.n++] = e;
        }
        const struct clock_span span = {(int64_t)draw(&random, 1u << 30), INT64_MAX, false, 0};
        struct clock_piece *pieces;
        size_t n;
        if (recording.n == 0)
            continue;
        assert_int_equal(clock_solve(recording.estimates, recording.n, &span, &pieces, &n, NULL),
                         0);
        for (size_t i = 1; i < n; i++)
            assert_true(pieces[i].from_ns > pieces[i - 1].from_ns);
        free(pieces);
    }
}

static void numbers_that_are_no_exchange_are_refused(void **state) {
    (void)state;
    const struct clock_estimate bad[] = {{-1, 0, 0}, {0, INT64_MAX, 0}, {0, INT64_MIN, 0},
                                         {0, 0, -1}, {0, 0, INT64_MAX}, {INT64_MAX, 0, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(clock_estimate_valid(&bad[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_delays_give_the_offset_to_the_ns),
        cmocka_unit_test(asymmetric_delays_shift_the_offset_but_never_past_the_bound),
        cmocka_unit_test(times_that_cannot_be_true_give_no_offset),
        cmocka_unit_test(planted_offsets_and_drifts_are_found_within_a_fifth_of_a_ms),
        cmocka_unit_test(the_bound_holds_whatever_the_network_does),
        cmocka_unit_test(a_busy_minute_is_bridged_by_the_quiet_around_it),
        cmocka_unit_test(a_busy_minute_does_not_widen_the_quiet_bound),
        cmocka_unit_test(a_rate_that_turns_is_seen_and_not_trusted),
        cmocka_unit_test(a_clock_that_jumped_is_told_and_learnt_anew),
        cmocka_unit_test(one_exchange_is_enough_and_none_is_too_few),
        cmocka_unit_test(a_window_goes_on_where_the_last_one_ended),
        cmocka_unit_test(the_bound_reaches_to_the_far_wall),
        cmocka_unit_test(the_bound_counts_what_is_possible_between_exchanges),
        cmocka_unit_test(wild_exchanges_harm_nobody),
        cmocka_unit_test(numbers_that_are_no_exchange_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
