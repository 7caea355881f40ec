/* SPDX-License-Identifier: MIT */
/*
 * Programs whose calls are known, on hosts that throttle what they send. A replay answers what
 * their links would gain if it can; otherwise there is a bound.
 */
#include "tests/unit/lockstep.h"
#include "tests/unit/warm.h"

#include "analysis/simulate/replay.h"

#define SET_MB_S 10.0
#define BUCKET 120e3 /* bytes that pass at once after a pause */
#define FREELY 4e9   /* bytes/s of an unlimited link */
#define LATENCY_S 50e-6

static struct { double mean_mb_s, backlog, overlimits_s; } queue_now;

static double sent(size_t column, double t_s) {
    (void)t_s;
    return column == NET_SEND_BYTES ? queue_now.mean_mb_s * 1e6 : 1e6;
}

static double held_back(size_t column, double t_s) {
    (void)t_s;
    return column == QDISC_BACKLOG      ? queue_now.backlog
           : column == QDISC_RATE       ? SET_MB_S * 1e6
           : column == QDISC_OVERLIMITS ? queue_now.overlimits_s
           : column == QDISC_SEND_BYTES ? queue_now.mean_mb_s * 1e6
                                        : 0;
}

/* Two hosts, of which the second has a set rate; both compute for a part of the time. */
static void plant_shaped(struct recording *r, double seconds, double computing) {
    plant_init(r, 2, seconds);
    r->clock_bound_ns = calloc(2, sizeof *r->clock_bound_ns);
    for (int h = 0; h < 2; h++) {
        plant(r, RECORDING_CPU, h, "cpu0", 0.1, 0, quiet_cpu);
        plant(r, RECORDING_NET, h, "eth0", 0.1, 0, h ? sent : little_net);
        plant_process(r, h, "train", (struct plant_process){h, computing, 0, 0});
        PLANT(&r->calls, h, h, "MPI_Init", -1, -1, 0, 0, 0);
    }
    plant(r, RECORDING_QDISC, 1, "eth0 tbf 1:", 0.1, 1u << QDISC_BACKLOG | 1u << QDISC_RATE,
          held_back);
}

static struct whatif_answer ask(const struct run_model *model, struct whatif_scenario s) {
    struct whatif *w;
    struct whatif_answer a;
    assert_int_equal(whatif_new(model, &w), 0);
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    whatif_free(w);
    return a;
}

static const struct whatif_scenario without_limit = {
    .kind = WHATIF_LINK, .host = 1, .rank = -1, .direction = WHATIF_SEND, .factor = 1000};

/* ---- messages ---- */

#define MESSAGES 300
#define COMPUTE_S 0.02

/* Both compute, then rank 1 sends a message of 150, 200 or 250 kB to rank 0, which answers with a
 * small one. Returns the time of all rounds.
 */
static double play_messages(struct recording *r, bool shaped) {
    double t = 0.1;
    for (int i = 0; i < MESSAGES; i++) {
        double bytes = 150e3 + 50e3 * (i % 3), begin = t, go = t + COMPUTE_S;
        double way = shaped ? (bytes - BUCKET) / (SET_MB_S * 1e6) : bytes / FREELY;
        double there = go + way + LATENCY_S, back = there + LATENCY_S;
        t = back;
        if (!r)
            continue;
        PLANT(&r->calls, 1, 1, "MPI_Send", 0, 1, (int64_t)bytes, (int64_t)(go * 1e9),
              (int64_t)((go + way) * 1e9), BOTH, .gap_cpu_ns = (int64_t)(COMPUTE_S * 1e9));
        PLANT(&r->calls, 0, 0, "MPI_Recv", 1, 1, (int64_t)bytes, (int64_t)(go * 1e9),
              (int64_t)(there * 1e9), BOTH, .gap_cpu_ns = (int64_t)(COMPUTE_S * 1e9));
        PLANT(&r->calls, 0, 0, "MPI_Send", 1, 2, 8, (int64_t)(there * 1e9), (int64_t)(there * 1e9));
        PLANT(&r->calls, 1, 1, "MPI_Recv", 0, 2, 8, (int64_t)((go + way) * 1e9),
              (int64_t)(back * 1e9), BOTH);
        plant_mark(r, MARK_ITERATION, "round", 1, 1, i, begin, back - begin);
    }
    return t - 0.1;
}

/* They move at 2.5 times the set rate on average, the smallest at five times. */
static void messages_that_pass_in_part_as_bursts_are_held_back_all_the_same(void **state) {
    struct recording r;
    struct judged j;
    double takes = play_messages(NULL, true), would = play_messages(NULL, false);
    (void)state;
    queue_now.mean_mb_s = 200e3 * MESSAGES / takes / 1e6;
    queue_now.backlog = 8e3;
    queue_now.overlimits_s = 400;
    plant_shaped(&r, takes + 0.1, COMPUTE_S * MESSAGES / takes);
    play_messages(&r, true);
    judge(&r, &j);
    expect(&j, "net-egress", "path-limited", 1);
    struct whatif_answer a = ask(&j.model, without_limit);
    assert_true(a.replayed);
    double should = warm_s(0.1 + would, a.measured_s);
    if (fabs(a.predicted_s - should) > 0.02 * should)
        fail_msg("it is %.4g s, not %.4g", a.predicted_s, should);
    release(&r, &j);
}

/* ---- answers ---- */

static double measured_s; /* of the last run that was asked about */

#define BOTH_WAYS 400e3 /* bytes */

/* Both compute, then rank 1 sends a message to rank 0, which answers with an equally large one. */
static double play_answers(struct recording *r, double out_bytes_s, double back_bytes_s) {
    double t = 0.1;
    for (int i = 0; i < MESSAGES; i++) {
        double begin = t, go = t + COMPUTE_S, out = BOTH_WAYS / out_bytes_s + LATENCY_S;
        double there = go + out, end = there + BOTH_WAYS / back_bytes_s + LATENCY_S;
        t = end;
        if (!r)
            continue;
        PLANT(&r->calls, 1, 1, "MPI_Send", 0, 1, (int64_t)BOTH_WAYS, (int64_t)(go * 1e9),
              (int64_t)(there * 1e9), BOTH, .gap_cpu_ns = (int64_t)(COMPUTE_S * 1e9));
        PLANT(&r->calls, 0, 0, "MPI_Recv", 1, 1, (int64_t)BOTH_WAYS, (int64_t)(go * 1e9),
              (int64_t)(there * 1e9), BOTH, .gap_cpu_ns = (int64_t)(COMPUTE_S * 1e9));
        PLANT(&r->calls, 0, 0, "MPI_Send", 1, 2, (int64_t)BOTH_WAYS, (int64_t)(there * 1e9),
              (int64_t)(end * 1e9));
        PLANT(&r->calls, 1, 1, "MPI_Recv", 0, 2, (int64_t)BOTH_WAYS, (int64_t)(there * 1e9),
              (int64_t)(end * 1e9), BOTH);
        plant_mark(r, MARK_ITERATION, "round", 1, 1, i, begin, end - begin);
    }
    return t - 0.1;
}

/* Predicted time of the answers without a limit on the requests, including the start. */
static double answers_without_limit(double out_bytes_s, double back_bytes_s) {
    struct recording r;
    struct judged j;
    double takes = play_answers(NULL, out_bytes_s, back_bytes_s);
    queue_now.mean_mb_s = BOTH_WAYS * MESSAGES / takes / 1e6;
    queue_now.backlog = 8e3;
    queue_now.overlimits_s = 400;
    plant_shaped(&r, takes + 0.1, COMPUTE_S * MESSAGES / takes);
    play_answers(&r, out_bytes_s, back_bytes_s);
    judge(&r, &j);
    struct whatif_answer a = ask(&j.model, without_limit);
    assert_true(a.replayed);
    release(&r, &j);
    measured_s = a.measured_s;
    return a.predicted_s;
}

static void expect_about(double s, double truth) {
    truth = warm_s(0.1 + truth, measured_s);
    if (fabs(s - truth) > 0.02 * truth)
        fail_msg("it is %.4g s, not %.4g", s, truth);
}

static void what_one_way_takes_freely_the_other_takes_without_its_limit(void **state) {
    double freely = 50e6;
    (void)state;
    expect_about(answers_without_limit(SET_MB_S * 1e6, freely), play_answers(NULL, freely, freely));
}

static void ways_that_are_as_slow_do_not_tell_what_they_take_without_a_limit(void **state) {
    (void)state;
    expect_about(answers_without_limit(SET_MB_S * 1e6, SET_MB_S * 1e6),
                 play_answers(NULL, FREELY, SET_MB_S * 1e6));
}

/* The other direction is faster, and at its link's set rate: so it is limited, too. */
static void a_way_as_fast_as_its_link_does_not_tell(void **state) {
    double shared = 0.6 * SET_MB_S * 1e6, own = SET_MB_S * 1e6;
    (void)state;
    expect_about(answers_without_limit(shared, own), play_answers(NULL, FREELY, own));
}

/* ---- bursts ---- */

#define PAUSE_S 0.03
#define SOON_S 0.001
#define AT_ONCE_S 50e6 /* bytes/s that a bucket lets pass */

/* The time of a message through a bucket that holds *tokens, which it updates. */
static double through_bucket(double bytes, double bucket, double *tokens) {
    double rate = SET_MB_S * 1e6, s = fmax(bytes / AT_ONCE_S, (bytes - *tokens) / rate);
    *tokens = fmin(bucket, fmax(0, *tokens + rate * s - bytes));
    return s;
}

/* Both compute, then rank 1 sends a message of 100, 150 or 200 kB, another one of 200 kB soon
 * after, and waits for a small one. bucket 0: nothing is limited.
 */
static double play_bursts(struct recording *r, double bucket, double bytes_s) {
    double t = 0.1, tokens = bucket;
    for (int i = 0; i < MESSAGES; i++) {
        double begin = t;
        for (int second = 0; second < 2; second++) {
            double bytes = second ? 200e3 : 100e3 + 50e3 * (i % 3);
            double pause = second ? SOON_S : PAUSE_S, go = t + pause;
            tokens = fmin(bucket, tokens + pause * SET_MB_S * 1e6);
            double way = bucket > 0 ? through_bucket(bytes, bucket, &tokens) : bytes / bytes_s;
            t = go + way + LATENCY_S;
            if (!r)
                continue;
            for (int rank = 0; rank < 2; rank++)
                PLANT(&r->calls, rank, rank, rank ? "MPI_Send" : "MPI_Recv", !rank, 1,
                      (int64_t)bytes, (int64_t)(go * 1e9), (int64_t)(t * 1e9), BOTH,
                      .gap_cpu_ns = (int64_t)(pause * 1e9));
        }
        if (r) {
            PLANT(&r->calls, 0, 0, "MPI_Send", 1, 2, 8, (int64_t)(t * 1e9), (int64_t)(t * 1e9));
            PLANT(&r->calls, 1, 1, "MPI_Recv", 0, 2, 8, (int64_t)(t * 1e9),
                  (int64_t)((t + LATENCY_S) * 1e9), BOTH);
            plant_mark(r, MARK_ITERATION, "round", 1, 1, i, begin, t + LATENCY_S - begin);
        }
        t += LATENCY_S;
    }
    return t - 0.1;
}

static double bursts_without_limit(double bucket) {
    struct recording r;
    struct judged j;
    double takes = play_bursts(NULL, bucket, 0);
    queue_now.mean_mb_s = 350e3 * MESSAGES / takes / 1e6;
    queue_now.backlog = 8e3;
    queue_now.overlimits_s = 400;
    plant_shaped(&r, takes + 0.1, (PAUSE_S + SOON_S) * MESSAGES / takes);
    play_bursts(&r, bucket, 0);
    judge(&r, &j);
    struct whatif_answer a = ask(&j.model, without_limit);
    assert_true(a.replayed);
    release(&r, &j);
    measured_s = a.measured_s;
    return a.predicted_s;
}

static void what_passes_at_once_after_a_pause_is_what_it_takes_without_a_limit(void **state) {
    (void)state;
    expect_about(bursts_without_limit(210e3), play_bursts(NULL, 0, AT_ONCE_S));
}

/* The rest of each message passes at the set rate. */
static void a_bucket_that_is_used_up_does_not_tell(void **state) {
    (void)state;
    expect_about(bursts_without_limit(60e3), play_bursts(NULL, 0, FREELY));
}

/* ---- groups ---- */

/* Both compute, rank 1 a little longer, and exchange data; its host delays it by held_s. */
static void plant_exchanges(struct recording *r, double held_s) {
    double each = COMPUTE_S + held_s, t = 0.1;
    plant_shaped(r, each * MESSAGES + 0.2, COMPUTE_S / each);
    for (int i = 0; i < MESSAGES; i++, t += each)
        for (int rank = 0; rank < 2; rank++) {
            double computes = rank ? COMPUTE_S : 0.99 * COMPUTE_S;
            PLANT(&r->calls, rank, rank, "MPI_Alltoall", -1, -1, 100000,
                  (int64_t)((t + computes) * 1e9), (int64_t)((t + each) * 1e9), BOTH,
                  .gap_cpu_ns = (int64_t)(computes * 1e9));
            plant_mark(r, MARK_ITERATION, "round", rank, rank, i, t, each);
        }
}

/* The queue is empty in each sample, though the host sends all that it may. */
static void what_holds_up_groups_is_named_with_a_bound(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    queue_now.mean_mb_s = 0.95 * SET_MB_S;
    queue_now.backlog = 0;
    queue_now.overlimits_s = 60;
    plant_exchanges(&r, COMPUTE_S);
    judge(&r, &j);
    expect(&j, "net-egress", "path-limited", 1);
    assert_false(j.candidates.items[0].gain.replayed);
    assert_true(fabs(j.candidates.items[0].gain.estimate - 0.5) < 0.02);
    struct whatif_answer a = ask(&j.model, without_limit);
    assert_true(!a.replayed && a.refused.code);
    assert_true(fabs(a.gain_max - 0.5) < 0.02);
    release(&r, &j);
}

/* Throttled a few times, or far below the allowed rate: no link limits, and a faster one changes
 * nothing.
 */
static void a_link_with_room_left_does_not_hold_up_groups(void **state) {
    static const struct { double mean, overlimits; } quiet[] = {{0.95, 2}, {0.7, 60}};
    (void)state;
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++) {
        struct recording r;
        struct judged j;
        queue_now.mean_mb_s = quiet[i].mean * SET_MB_S;
        queue_now.backlog = 0;
        queue_now.overlimits_s = quiet[i].overlimits;
        plant_exchanges(&r, COMPUTE_S);
        judge(&r, &j);
        assert_true(blames_nobody(&j.verdict));
        for (size_t k = 0; k < j.candidates.n; k++) /* refused both ways: not known, and not 0 */
            assert_true(j.candidates.items[k].fallback ||
                        isnan(j.candidates.items[k].gain.estimate));
        struct whatif_answer a = ask(&j.model, without_limit);
        assert_true(a.replayed && fabs(a.gain) < 0.01);
        release(&r, &j);
    }
}

/* Small packets wait one by one, and samples seldom see one: the count of throttled packets shows
 * it.
 */
static void a_link_that_holds_up_packet_after_packet_is_told_without_a_queue(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    queue_now.mean_mb_s = 0.7 * SET_MB_S;
    queue_now.backlog = 0;
    queue_now.overlimits_s = 0.8 * SET_MB_S * 1e6 / 1500;
    plant_exchanges(&r, COMPUTE_S);
    judge(&r, &j);
    assert_string_equal(resource_name(j.verdict.resource), "net-egress");
    release(&r, &j);
}

/* ---- traffic of others ---- */

static double own_connection(size_t column, double t_s) {
    (void)t_s;
    return column == CONNECTION_PID             ? 1000
           : column == CONNECTION_BUSY          ? 0.4e9
           : column == CONNECTION_SEND_BYTES    ? queue_now.mean_mb_s / 5 * 1e6
           : column == CONNECTION_RTT           ? 5e5
           : column == CONNECTION_MIN_RTT       ? 1e5
           : column == CONNECTION_DELIVERY_RATE ? 6e9
                                                : 0;
}

/* Four fifths of a full link's traffic belong to other programs: the job's messages move far below
 * the set rate, and would move faster without a limit.
 */
static void a_link_full_of_others_is_the_limit_of_what_they_leave(void **state) {
    struct recording r;
    double t = 0.1, way = 0.02, each = COMPUTE_S + way;
    (void)state;
    queue_now.mean_mb_s = 0.95 * SET_MB_S;
    queue_now.backlog = 8e3;
    queue_now.overlimits_s = 400;
    plant_shaped(&r, each * MESSAGES + 0.2, COMPUTE_S / each);
    plant(&r, RECORDING_CONNECTION, 0, "10.0.0.1:5000>10.0.0.2:6000", 0.1, 0x61u | 1u << 7,
          own_connection);
    plant(&r, RECORDING_CONNECTION, 1, "10.0.0.2:6000>10.0.0.1:5000", 0.1, 0x61u | 1u << 7,
          own_connection);
    int64_t bytes = (int64_t)(0.25 * SET_MB_S * 1e6 * way);
    for (int i = 0; i < MESSAGES; i++, t += each) {
        int64_t go = (int64_t)((t + COMPUTE_S) * 1e9), there = (int64_t)((t + each) * 1e9);
        PLANT(&r.calls, 1, 1, "MPI_Send", 0, 1, bytes, go, there, BOTH,
              .gap_cpu_ns = (int64_t)(COMPUTE_S * 1e9));
        PLANT(&r.calls, 0, 0, "MPI_Recv", 1, 1, bytes, go, there, BOTH,
              .gap_cpu_ns = (int64_t)(COMPUTE_S * 1e9));
        PLANT(&r.calls, 0, 0, "MPI_Send", 1, 2, 8, there, there);
        PLANT(&r.calls, 1, 1, "MPI_Recv", 0, 2, 8, there, there, BOTH);
        for (int rank = 0; rank < 2; rank++)
            plant_mark(&r, MARK_ITERATION, "round", rank, rank, i, t, each);
    }
    struct judged j;
    judge(&r, &j);
    struct whatif_answer a = ask(&j.model, without_limit);
    if (!a.replayed || fabs(a.gain - 0.5) > 0.03)
        fail_msg("%s: it gains %.3g", a.replayed ? "replayed" : "refused", a.gain);
    release(&r, &j);
}

/* ---- rates of the start-up ---- */

static struct { double busy, mb_s, app_limited; } way_now;

static double way(size_t column, double t_s) {
    (void)t_s;
    return column == CONNECTION_PID             ? 1000
           : column == CONNECTION_BUSY          ? way_now.busy * 1e9
           : column == CONNECTION_SEND_BYTES    ? way_now.mb_s * 1e6
           : column == CONNECTION_RTT           ? 5e6
           : column == CONNECTION_MIN_RTT       ? 1e4
           : column == CONNECTION_DELIVERY_RATE ? 6e9
           : column == CONNECTION_APP_LIMITED   ? way_now.app_limited
                                                : 0;
}

static void plant_way(struct recording *r, int from, double busy, double mb_s, double app_limited) {
    way_now.busy = busy;
    way_now.mb_s = mb_s;
    way_now.app_limited = app_limited;
    plant(r, RECORDING_CONNECTION, from,
          from ? "10.0.0.2:6000>10.0.0.1:5000" : "10.0.0.1:5000>10.0.0.2:6000", 0.1,
          1u << CONNECTION_PID | 1u << CONNECTION_RTT | 1u << CONNECTION_MIN_RTT |
              1u << CONNECTION_DELIVERY_RATE | 1u << CONNECTION_APP_LIMITED,
          way);
}

static double measured_mb_s; /* what host 1 was measured to receive; 0: it was not */

/* Half of the time rank 0 waits for what rank 1 sends. The way from host 0 to host 1 is under way
 * for `busy` of the time, the way back for half as long.
 */
static void judge_ways(double busy, double app_limited, struct recording *r, struct judged *j) {
    double takes = play_answers(NULL, 20e6, FREELY);
    plant_hosts(r, 2, takes + 0.1);
    for (int h = 0; h < 2; h++) {
        plant_process(r, h, "train", (struct plant_process){h, 0.5, 0, 0});
        PLANT(&r->calls, h, h, "MPI_Init", -1, -1, 0, 0, 0);
    }
    plant_way(r, 0, busy, 5, app_limited);
    plant_way(r, 1, busy / 2, 5, app_limited);
    if (measured_mb_s > 0)
        assert_int_equal(recording_add_ceiling(r, 1, METRIC_NET_RECV, measured_mb_s), 0);
    play_answers(r, 20e6, FREELY);
    judge(r, j);
}

/* The kernel says that its rate is the program's, or says nothing and the rate
 * is a thousand times that of the bytes that moved. Data that come back are late since their
 * answers queue on the full way.
 */
static void a_rate_of_the_start_up_hides_no_full_link(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    for (int told = 0; told < 2; told++) {
        judge_ways(0.8, told ? 1 : (double)VALUE_ABSENT, &r, &j);
        expect(&j, "net-ingress", "path-limited", 1);
        release(&r, &j);
    }
}

/* ---- before the calls come ---- */

static int rank_now;

/* Ranks are inside MPI for six tenths of the time, and spin there. */
static double spins_inside(size_t column, double t_s) {
    (void)t_s;
    return column == MPI_PID                                                     ? 1000 + rank_now
           : column == MPI_RANK                                                  ? rank_now
           : column == MPI_INSIDE || column == MPI_MEASURED || column == MPI_CPU ? 0.6e9
                                                                                 : 0;
}

static void plant_spinning(struct recording *r) {
    plant_hosts(r, 2, 30);
    for (rank_now = 0; rank_now < 2; rank_now++) {
        plant_process(r, rank_now, "train", (struct plant_process){rank_now, 0.98, 0, 0});
        plant(r, RECORDING_MPI, rank_now, rank_now ? "1" : "0", 0.1, 1u << MPI_PID | 1u << MPI_RANK,
              spins_inside);
    }
}

/* As long as a run goes on its calls are not there, but the time inside MPI is: data are under way
 * for longer than ranks can wait for them.
 */
static void a_full_link_is_told_before_the_calls_come(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_spinning(&r);
    plant_way(&r, 0, 0.8, 5, 1);
    plant_way(&r, 1, 0.4, 5, 1);
    judge(&r, &j);
    expect(&j, "net-ingress", "path-limited", 1);
    if (fabs(j.verdict.candidate->blocked - 0.6) > 0.02)
        fail_msg("it is waited for %.3g of the time", j.verdict.candidate->blocked);
    release(&r, &j);
}

static void ranks_that_spin_inside_mpi_do_not_compute(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_spinning(&r);
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_INSUFFICIENT);
    assert_int_equal(j.verdict.summary.items[0].code, REMARK_TIME_UNSPLIT);
    release(&r, &j);
}

/* ---- with a calibration and without ---- */

static void a_measured_link_is_worth_what_the_calls_show_of_it(void **state) {
    double low[2], high[2];
    (void)state;
    for (int measured = 0; measured < 2; measured++) {
        struct recording r;
        struct judged j;
        measured_mb_s = measured * 6.25; /* 5 MB/s for 0.8 of the time */
        judge_ways(0.8, 1, &r, &j);
        expect(&j, "net-ingress", "path-limited", 1);
        low[measured] = j.verdict.gain_low;
        high[measured] = j.verdict.gain_high;
        release(&r, &j);
    }
    measured_mb_s = 0;
    if (!(low[0] <= high[1] && low[1] <= high[0]))
        fail_msg("%.3g to %.3g without, %.3g to %.3g with", low[0], high[0], low[1], high[1]);
}

static int64_t room_now;

static double narrow(size_t column, double t_s) {
    (void)t_s;
    return column == CONNECTION_PID            ? 1000
           : column == CONNECTION_BUSY         ? 0.5e9
           : column == CONNECTION_SEND_BYTES   ? 5e6
           : column == CONNECTION_RECEIVE_ROOM ? (double)room_now
                                               : 0;
}

/* Rank 1 waits half of the time for what rank 0 sends. Neither clock of the connection shows it,
 * and no data queue.
 */
static void a_receive_buffer_of_a_page_holds_up_what_arrives(void **state) {
    double takes = play_answers(NULL, FREELY, 20e6);
    (void)state;
    for (int small = 0; small < 2; small++) {
        struct recording r;
        struct judged j;
        plant_hosts(&r, 2, takes + 0.1);
        for (int h = 0; h < 2; h++) {
            plant_process(&r, h, "train", (struct plant_process){h, 0.5, 0, 0});
            PLANT(&r.calls, h, h, "MPI_Init", -1, -1, 0, 0, 0);
            room_now = h && small ? 4096 : 2000000;
            plant(&r, RECORDING_CONNECTION, h,
                  h ? "10.0.0.2:6000>10.0.0.1:5000" : "10.0.0.1:5000>10.0.0.2:6000", 0.1,
                  1u << CONNECTION_PID | 1u << CONNECTION_RECEIVE_ROOM, narrow);
        }
        play_answers(&r, FREELY, 20e6);
        judge(&r, &j);
        if (small)
            expect(&j, "application", "receiver", 1);
        else
            assert_false(j.verdict.resource == RESOURCE_APPLICATION);
        release(&r, &j);
    }
}

static void a_rate_of_the_path_is_believed(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    judge_ways(0.8, 0, &r, &j);
    assert_int_equal(j.candidates.flows.n_limited, 0);
    release(&r, &j);
}

/* ---- three hosts ---- */

static double rate_mb_s; /* of the route below */

static double route(size_t column, double t_s) {
    (void)t_s;
    return column == CONNECTION_PID             ? 1000
           : column == CONNECTION_BUSY          ? 0.5e9
           : column == CONNECTION_SEND_BYTES    ? 10e6
           : column == CONNECTION_RTT           ? 2e6
           : column == CONNECTION_MIN_RTT       ? 1e5
           : column == CONNECTION_DELIVERY_RATE ? rate_mb_s * 1e6
                                                : 0;
}

/* The second host's link throttles its routes to the first. The first one's route to the third is
 * also throttled a little: half of the first host's routes, and all of the second's.
 */
static void plant_routes(struct recording *r) {
    static const struct {
        int from, to;
        double mb_s;
    } routes[] = {{0, 1, 20}, {1, 0, 20}, {0, 2, 47.6}, {2, 0, 1000}};
    plant_init(r, 3, 10);
    r->clock_bound_ns = calloc(3, sizeof *r->clock_bound_ns);
    for (int h = 0; h < 3; h++) {
        plant(r, RECORDING_CPU, h, "cpu0", 0.1, 0, quiet_cpu);
        plant_process(r, h, "train", (struct plant_process){h, 0.5, 0, 0});
        for (int64_t t = 0; t < 10000 * MS; t += 100 * MS)
            PLANT(&r->calls, h, h, "MPI_Barrier", -1, -1, 0, t + 50 * MS, t + 100 * MS, BOTH,
                  .gap_cpu_ns = 50 * MS);
    }
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        char name[64];
        rate_mb_s = routes[i].mb_s;
        snprintf(name, sizeof name, "10.0.0.%d:5%d>10.0.0.%d:5%d", routes[i].from, routes[i].to,
                 routes[i].to, routes[i].from);
        plant(r, RECORDING_CONNECTION, routes[i].from, name, 0.1, 0x61u | 1u << 7, route);
    }
}

static void a_link_is_not_held_where_another_explains_its_routes_better(void **state) {
    struct recording r;
    struct run_model model;
    struct replay *p;
    (void)state;
    plant_routes(&r);
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    assert_int_equal(replay_new(&model, &p), 0);
    assert_true(p->net.held[1] && p->net.held[3 + 1]);
    assert_false(p->net.held[0] || p->net.held[3]);
    replay_free(p);
    model_release(&model);
    recording_release(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_that_pass_in_part_as_bursts_are_held_back_all_the_same),
        cmocka_unit_test(what_one_way_takes_freely_the_other_takes_without_its_limit),
        cmocka_unit_test(ways_that_are_as_slow_do_not_tell_what_they_take_without_a_limit),
        cmocka_unit_test(a_way_as_fast_as_its_link_does_not_tell),
        cmocka_unit_test(what_passes_at_once_after_a_pause_is_what_it_takes_without_a_limit),
        cmocka_unit_test(a_bucket_that_is_used_up_does_not_tell),
        cmocka_unit_test(what_holds_up_groups_is_named_with_a_bound),
        cmocka_unit_test(a_link_with_room_left_does_not_hold_up_groups),
        cmocka_unit_test(a_link_that_holds_up_packet_after_packet_is_told_without_a_queue),
        cmocka_unit_test(a_link_full_of_others_is_the_limit_of_what_they_leave),
        cmocka_unit_test(a_rate_of_the_start_up_hides_no_full_link),
        cmocka_unit_test(a_rate_of_the_path_is_believed),
        cmocka_unit_test(a_full_link_is_told_before_the_calls_come),
        cmocka_unit_test(ranks_that_spin_inside_mpi_do_not_compute),
        cmocka_unit_test(a_measured_link_is_worth_what_the_calls_show_of_it),
        cmocka_unit_test(a_receive_buffer_of_a_page_holds_up_what_arrives),
        cmocka_unit_test(a_link_is_not_held_where_another_explains_its_routes_better),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
