/* SPDX-License-Identifier: MIT */
/*
 * Programs whose ranks run freely, with a truth that arithmetic gives: a server (rank 0), and
 * workers that compute, send, and wait for its answer, first come, first served. Rank i runs on
 * host i, and the run ends for all of them at once.
 */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/causes/causes_private.h"
#include "analysis/facts/calls/parameter_server.h"
#include "analysis/facts/series/stats.h"
#include "analysis/gain/throughput.h"
#include "analysis/time/critical_private.h"
#include "analysis/time/free_running.h"
#include "analysis/time/serving.h"
#include "tests/unit/judged.h"
#include "tests/unit/mpi_plant.h"
#include "tests/unit/warm.h"

#define WORKERS_MAX 4
#define SECONDS 10
#define BOTH (MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU)
#define NEAR(a, b, by)                                                                             \
    do {                                                                                           \
        double is_ = (a), should_ = (b);                                                           \
        if (!(fabs(is_ - should_) <= (by)))                                                        \
            fail_msg("%s is %.9g, not %.9g", #a, is_, should_);                                    \
    } while (0)

/* ---- closed form ---- */

static void the_closed_form_is_that_of_the_book(void **state) {
    double cycle_s[] = {0.02, 0.03, 0.02};
    struct parameter_server p = {cycle_s, 3, 0, INFINITY, 0};
    (void)state;
    NEAR(parameter_server_async_per_s(&p), 50 + 1 / 0.03 + 50, 1e-9);
    p.bytes = 1e6;
    NEAR(parameter_server_async_per_s(&p), 50 + 1 / 0.03 + 50, 1e-9);
    p.server_bytes_s = 5e7;
    NEAR(parameter_server_async_per_s(&p), 50, 1e-9);
    p.apply_s = 0.025;
    NEAR(parameter_server_async_per_s(&p), 40, 1e-9);
}

static void missing_updates_over_those_that_would_have_been(void **state) {
    double per_s[] = {50, 25}, freed[] = {0, 0.5}, none[] = {0, 0};
    (void)state;
    NEAR(parameter_server_gain(per_s, freed, 2, INFINITY), 0.25, 1e-12);
    NEAR(parameter_server_gain(per_s, none, 2, INFINITY), 0, 1e-12);
    NEAR(parameter_server_gain(per_s, freed, 2, 80), 1 - 75 / 80.0, 1e-12);
    NEAR(parameter_server_gain(per_s, freed, 2, 10), 0, 1e-12); /* it did more than that already */
    NEAR(parameter_server_gain(per_s, freed, 0, INFINITY), 0, 1e-12);
    freed[1] = 5; /* impossible input stays within bounds */
    double gain = parameter_server_gain(per_s, freed, 2, INFINITY);
    assert_true(gain > 0.9 && gain < 1);
}

/* ---- a small world ---- */

struct world {
    int workers;
    double compute_ms[WORKERS_MAX + 1], asleep_ms[WORKERS_MAX + 1], transfer_ms[WORKERS_MAX + 1];
    double send_ms[WORKERS_MAX + 1];
    double serve_ms, jitter; /* jitter: relative range of the computing time */
    int share;               /* iterations of each worker; 0: until the end */
    enum {
        NO_CONNECTIONS,
        IDLE_PATH,
        BUSY_PATH,
        SLOW_READER,
        SMALL_SEND,
        SMALL_RECEIVE
    } connections;
    double link_mb_s; /* the measured capacity of the server's link, which sends 100 MB/s; 0: not
                         measured */
    bool slow_core;   /* for the last worker: sampling costs 1.2 times as much there */
    double
        at_times;  /* the last worker computes this many times as long in two of three iterations */
    bool hogged;   /* the workers wait for a core rather than sleep */
    double from_s; /* when training begins */
};

struct worker {
    double ready_ms, began_ms, slept_ms;
    int done;
};

#define NS(ms) ((int64_t)llround((ms)*1e6))

static double work(const struct world *w, int k, uint64_t *random) {
    double u = (double)stats_random_below(random, 2001) / 1000 - 1;
    bool now = k == w->workers && w->at_times > 0 && stats_random_below(random, 3);
    return w->compute_ms[k] * (now ? w->at_times : 1 + w->jitter * u) + w->asleep_ms[k] +
           w->send_ms[k];
}

static int first_ready(const struct world *w, const struct worker *workers) {
    int first = 0;
    for (int k = 1; k <= w->workers; k++)
        if ((!w->share || workers[k].done < w->share) &&
            (!first || workers[k].ready_ms < workers[first].ready_ms))
            first = k;
    return first;
}

/* Worker k is served: it sends; the server receives, works and answers. */
static double serve(struct recording *r, const struct world *w, int k, struct worker *worker,
                    double free_ms) {
    double came = worker->ready_ms + 0.02, sent = worker->ready_ms - w->send_ms[k];
    double got = fmax(free_ms, came), answer = got + w->serve_ms;
    double back = answer + 0.02 + w->transfer_ms[k];
    int64_t computed = NS(sent - worker->began_ms - w->asleep_ms[k]);
    PLANT(&r->calls, k, k, "MPI_Send", 0, 1, 8, NS(sent), NS(came), BOTH, .cpu_ns = NS(0.02),
          .gap_cpu_ns = computed);
    PLANT(&r->calls, k, k, "MPI_Recv", 0, 2, 100000, NS(came), NS(back), BOTH,
          .cpu_ns = NS(back) - NS(came));
    PLANT(&r->calls, 0, 0, "MPI_Recv", k, 1, 8, NS(free_ms), NS(got), BOTH,
          .cpu_ns = NS(got) - NS(free_ms));
    PLANT(&r->calls, 0, 0, "MPI_Send", k, 2, 100000, NS(answer), NS(answer + 0.02), BOTH,
          .cpu_ns = NS(0.02), .gap_cpu_ns = NS(w->serve_ms));
    plant_mark(r, MARK_ITERATION, "", k, k, ++worker->done, worker->began_ms / 1e3,
               (back - worker->began_ms) / 1e3);
    worker->slept_ms += w->asleep_ms[k];
    worker->began_ms = back;
    return answer + 0.02;
}

static double sends_100(size_t column, double t_s) {
    (void)t_s;
    return column == NET_SEND_BYTES ? 100e6 : 0;
}

static double half_busy(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER || column == CPU_IDLE ? 0.5e9 : 0;
}

/* 10 MB/s each way; the last worker's links have data in flight for half of the time. */
static struct {
    bool slow; /* at both ends */
    bool own;  /* as seen by the slow worker */
    int kind;
} connection_now;

static double connection_value(size_t column, double t_s) {
    bool last = connection_now.slow;
    (void)t_s;
    return column == CONNECTION_BUSY ? (last ? 0.5e9 : 0.05e9)
           : column == CONNECTION_RWND_LIMITED
               ? (last && connection_now.kind == SLOW_READER) * 0.3e9
           : column == CONNECTION_SEND_BYTES ? 10e6
           : column == CONNECTION_RTT        ? 5e5
           : column == CONNECTION_MIN_RTT    ? 1e4
           : column == CONNECTION_DELIVERY_RATE
               ? (last && connection_now.kind == BUSY_PATH ? 40e6 : 1e9)
           : column == CONNECTION_SEND_ROOM
               ? (connection_now.own && connection_now.kind == SMALL_SEND ? 6e3 : 4e6)
           : column == CONNECTION_RECEIVE_ROOM
               ? (connection_now.own && connection_now.kind == SMALL_RECEIVE ? 3e3 : 5e6)
               : 0;
}

static void plant_connections(struct recording *r, const struct world *w) {
    const unsigned levels = 1u << CONNECTION_RTT | 1u << CONNECTION_MIN_RTT |
                            1u << CONNECTION_DELIVERY_RATE | 1u << CONNECTION_SEND_ROOM |
                            1u << CONNECTION_RECEIVE_ROOM;
    char name[64];
    connection_now.kind = w->connections;
    for (int k = 1; w->connections != NO_CONNECTIONS && k <= w->workers; k++) {
        connection_now.slow = k == w->workers;
        connection_now.own = false;
        snprintf(name, sizeof name, "10.0.0.1:50>10.0.0.%d:60", k + 1);
        plant(r, RECORDING_CONNECTION, 0, name, 0.1, levels, connection_value);
        connection_now.own = connection_now.slow;
        snprintf(name, sizeof name, "10.0.0.%d:60>10.0.0.1:50", k + 1);
        plant(r, RECORDING_CONNECTION, k, name, 0.1, levels, connection_value);
    }
}

static double sampling_us;

static double sampling(size_t column, double t_s) {
    (void)t_s;
    return column == SELF_CPU ? sampling_us * 1e3 * 10 : column == SELF_SAMPLES ? 10 : 0;
}

static void plant_sampling(struct recording *r, const struct world *w) {
    static const char *const probes[] = {"cpu", "memory", "psi", "vmstat", "disk", "net"};
    for (int i = 0; w->slow_core && i <= w->workers; i++) {
        sampling_us = i == w->workers ? 800 * 1.2 : 800;
        plant(r, RECORDING_SELF, i, "agent", 1, 1u << SELF_RSS, sampling);
        sampling_us = i == w->workers ? 25 * 1.1 : 25;
        for (size_t k = 0; k < sizeof probes / sizeof *probes; k++)
            plant(r, RECORDING_SELF, i, probes[k], 1, 1u << SELF_RSS, sampling);
    }
}

static void plant_world(struct recording *r, const struct world *w) {
    struct worker workers[WORKERS_MAX + 1] = {{0}};
    uint64_t random = 7;
    double free_ms = 1;
    int k;
    plant_init(r, (size_t)w->workers + 1, SECONDS);
    r->clock_bound_ns = calloc((size_t)w->workers + 1, sizeof *r->clock_bound_ns);
    plant_mark(r, MARK_PHASE, "training", 0, 0, 0, w->from_s, SECONDS - w->from_s);
    plant_connections(r, w);
    plant_sampling(r, w);
    if (w->link_mb_s > 0) {
        plant(r, RECORDING_NET, 0, "eth0", 0.1, 0, sends_100);
        assert_int_equal(recording_add_ceiling(r, 0, METRIC_NET_SEND, w->link_mb_s), 0);
    }
    for (int i = 0; i <= w->workers; i++) {
        PLANT(&r->calls, i, i, "MPI_Init", -1, -1, 0, 0, 0);
        workers[i].ready_ms = work(w, i, &random) + i;
        plant(r, RECORDING_CPU, i, "cpu0", 0.1, 0, half_busy);
    }
    while ((k = first_ready(w, workers)) && workers[k].ready_ms < 1000 * SECONDS - 100) {
        free_ms = serve(r, w, k, &workers[k], free_ms);
        workers[k].ready_ms = workers[k].began_ms + work(w, k, &random);
    }
    for (int i = 0; i <= w->workers; i++) {
        PLANT(&r->calls, i, i, "MPI_Finalize", -1, -1, 0, NS(1000.0 * SECONDS - 1),
              NS(1000.0 * SECONDS), BOTH, .cpu_ns = NS(1), .gap_cpu_ns = 10 * S);
        double slept = workers[i].slept_ms / 1e3 / SECONDS;
        plant_process(r, i, "train",
                      (struct plant_process){i, 1 - slept, w->hogged ? slept : 0, 0});
    }
}

static void judge(const struct world *w, struct judged *j) {
    *j = (struct judged){.model = {0}};
    plant_world(&j->recording, w);
    assert_int_equal(mpi_log_finish(&j->recording.calls), 0);
    assert_int_equal(model_build(&j->recording, &j->model), 0);
    judge_model(&j->model, j);
}

static void release(struct judged *j) {
    judged_release(j);
    model_release(&j->model);
    recording_release(&j->recording);
}

static void expect(const struct judged *j, const char *resource, const char *kind, int host,
                   double gain) {
    const struct verdict *v = &j->verdict;
    if (v->state != VERDICT_SATURATED || strcmp(resource_name(v->resource), resource) != 0 ||
        !v->kind || strcmp(cause_name(v->kind), kind) != 0 || v->host != host)
        fail_msg("%s %s %s at %d, not %s %s at %d: %s", verdict_state_name(v->state),
                 resource_name(v->resource), v->kind ? cause_name(v->kind) : "", v->host, resource,
                 kind, host, j->words.summary);
    NEAR(v->gain, gain_warm(gain, 1), 0.015);
    assert_true(v->gain_low <= v->gain && v->gain <= v->gain_high);
}

static void expect_balanced(const struct judged *j) {
    if (!blames_nobody(&j->verdict))
        fail_msg("%s", j->words.summary);
}

/* ---- slow workers ---- */

/* Two workers, of which one takes rho times as long: the missing updates follow. */
static void a_slow_worker_costs_its_missing_updates(void **state) {
    const double rhos[] = {1.35, 1.5, 2};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct world w = {.workers = 2, .compute_ms = {0, 20, 20 * rhos[i]}, .serve_ms = 0.05};
        struct judged j;
        judge(&w, &j);
        assert_true(throughput_counts(&j.model, j.model.main_group));
        expect(&j, "imbalance", "skew", 2, 1 - (1 + 1 / rhos[i]) / 2);
        assert_int_equal(j.verdict.rank, 2);
        release(&j);
    }
}

static void a_straggler_is_as_severe_as_what_it_lacks(void **state) {
    struct world w = {.workers = 3, .compute_ms = {0, 20, 20, 40}, .serve_ms = 0.05};
    struct judged j;
    (void)state;
    judge(&w, &j);
    assert_int_equal(j.stragglers.n, 1);
    assert_int_equal(j.stragglers.items[0].rank, 3);
    NEAR(j.stragglers.items[0].slowdown, 2, 0.05);
    NEAR(j.stragglers.items[0].severity, 3 / 2.5, 0.02);
    NEAR(throughput_severity(&j.model, 3, 1003, 2), 3 / 2.5, 0.02);
    assert_true(isnan(throughput_severity(&j.model, 3, 999, 2))); /* no such rank */
    assert_true(isnan(throughput_severity(&j.model, 3, 1003, NAN)));
    release(&j);
}

static void of_four_workers_a_slow_one_costs_a_quarter_as_much(void **state) {
    struct world w = {.workers = 4, .compute_ms = {0, 20, 20, 40, 20}, .serve_ms = 0.05};
    struct judged j;
    (void)state;
    judge(&w, &j);
    expect(&j, "imbalance", "skew", 3, 0.125);
    release(&j);
}

static void a_worker_that_sleeps_is_not_one_that_has_more_to_do(void **state) {
    struct world w = {
        .workers = 2, .compute_ms = {0, 20, 20}, .asleep_ms = {0, 0, 15}, .serve_ms = 0.05};
    struct judged j;
    (void)state;
    judge(&w, &j);
    expect(&j, "application", "sleep", 2, 1 - (1 / 20.0 + 1 / 35.0) / (2 / 20.0));
    release(&j);
}

/* ---- nobody ---- */

static void like_workers_and_jitter_are_balanced(void **state) {
    const double jitters[] = {0, 0.1, 0.5};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct world w = {
            .workers = 3, .compute_ms = {0, 20, 20, 20}, .serve_ms = 0.05, .jitter = jitters[i]};
        struct judged j;
        judge(&w, &j);
        expect_balanced(&j);
        release(&j);
    }
}

static void a_little_slower_is_balanced(void **state) {
    struct world w = {.workers = 2, .compute_ms = {0, 20, 21.6}, .serve_ms = 0.05, .jitter = 0.1};
    struct judged j;
    (void)state;
    judge(&w, &j);
    expect_balanced(&j);
    release(&j);
}

/* Its fastest iterations take no longer. If sampling shows a slower core, that makes the others
 * long, not more work. If it does not, only more work is left.
 */
static void what_comes_and_goes_is_the_core_where_that_is_slower(void **state) {
    struct world w = {.workers = 3,
                      .compute_ms = {0, 20, 20, 20},
                      .serve_ms = 0.05,
                      .at_times = 3,
                      .slow_core = true};
    struct judged j;
    (void)state;
    judge(&w, &j);
    expect_balanced(&j);
    release(&j);
    w.slow_core = false;
    judge(&w, &j);
    assert_int_equal(j.verdict.state, VERDICT_SATURATED);
    assert_string_equal(cause_name(j.verdict.kind), "skew");
    release(&j);
}

/* The quarter of the run before the training counts as well: a host without a core delays all. */
static void who_has_no_core_loses_that_before_the_training_too(void **state) {
    struct world w = {.workers = 2,
                      .compute_ms = {0, 20, 20},
                      .asleep_ms = {0, 0, 20},
                      .serve_ms = 0.05,
                      .hogged = true,
                      .from_s = SECONDS / 4.0};
    struct judged j;
    struct gain training;
    struct candidates all = {0};
    (void)state;
    judge(&w, &j);
    struct candidate c = candidate_of(2, j.model.main_group, RESOURCE_CPU, CAUSE_CONTENTION);
    c.path.terms = 1u << BUDGET_RUN_QUEUE;
    struct loss loss = candidate_loss(&c);
    assert_int_equal(throughput_gain(&j.model, &loss, 1, INFINITY, &training), 0);
    assert_true(training.estimate > 0.1);
    assert_true(candidates_add(&all, &c));
    assert_int_equal(candidates_estimate(&j.model, j.whatif, 0, &all), 0);
    NEAR(all.items[0].gain.estimate, training.estimate + 0.5 / 4, 0.02);
    candidates_release(&all);
    release(&j);
}

/* ---- the server ---- */

/* It is busy nearly all the time, and the workers take different times for their own work. */
static void a_server_that_works_for_all_is_what_they_wait_for(void **state) {
    struct world w = {.workers = 3, .compute_ms = {0, 14, 20, 28}, .serve_ms = 9, .jitter = 0.3};
    struct judged j;
    (void)state;
    judge(&w, &j);
    assert_string_equal(resource_name(j.verdict.resource), "cpu");
    assert_string_equal(cause_name(j.verdict.kind), "serial");
    assert_int_equal(j.verdict.host, 0);
    if (!(j.verdict.gain > 0.2 && j.verdict.gain < 0.6))
        fail_msg("%s", j.words.summary);
    release(&j);
}

static void what_the_server_does_is_found_between_message_and_answer(void **state) {
    struct world w = {.workers = 2, .compute_ms = {0, 20, 40}, .serve_ms = 2};
    struct judged j;
    (void)state;
    judge(&w, &j);
    const struct critical_path *path = &j.model.critical;
    double served = 0;
    for (int k = 1; k <= 2; k++)
        served += (double)free_running_iterations(&j.model, (size_t)k)->n * 2e-3;
    assert_int_equal(path->server_rank, 0);
    NEAR(path->served_s[j.model.main_group], served, 0.02);
    release(&j);
}

/* It served two others for 10 ns on average, and its own iterations end at 55 and 105. */
static void what_the_server_does_for_itself_holds_up_others_as_well(void **state) {
    struct window items[] = {{0, 10}, {100, 110}}, all[] = {{0, 200}};
    struct serving served = {.server_rank = 0, .items = items, .n = 2, .computing = 1}, both;
    struct iteration ends[] = {{.end_ns = 55}, {.end_ns = 105}};
    struct rank_iterations own = {.items = ends, .n = 2};
    (void)state;
    assert_int_equal(serving_with_own(&served, &own, 2, &both), 0);
    assert_int_equal(both.n, 3);
    assert_int_equal(both.items[1].begin_ns, 45);
    assert_int_equal(both.items[2].begin_ns, 95);
    assert_int_equal(both.items[2].end_ns, 110);
    NEAR(serving_within(&both, (struct windows){all, 1}, (struct windows){all, 1}), 35e-9, 1e-15);
    serving_release(&both);
    assert_int_equal(serving_with_own(&served, NULL, 2, &both), 0);
    assert_int_equal(both.n, 2);
    serving_release(&both);
}

/* ---- a link ---- */

static struct loss link_to(const struct judged *j, int host) {
    return (struct loss){.host = host,
                         .rank = -1,
                         .group = j->model.main_group,
                         .terms = 1u << BUDGET_TRANSFER,
                         .part = 1,
                         .all_hosts = true,
                         .link = true,
                         .change = {.kind = WHATIF_LINK,
                                    .host = host,
                                    .rank = -1,
                                    .direction = WHATIF_RECEIVE,
                                    .factor = 1000}};
}

static void a_slow_link_costs_what_its_worker_lacks(void **state) {
    struct world w = {
        .workers = 2, .compute_ms = {0, 20, 20}, .transfer_ms = {0, 0, 20}, .serve_ms = 0.05};
    struct gain gone, half;
    struct judged j;
    (void)state;
    judge(&w, &j);
    struct loss slow = link_to(&j, 2), other = link_to(&j, 1);
    NEAR(throughput_cost(&j.model, &slow), 0.25, 0.01);
    NEAR(throughput_cost(&j.model, &other), 0, 0.01);
    assert_int_equal(throughput_gain(&j.model, &slow, 1, INFINITY, &gone), 0);
    assert_int_equal(throughput_gain(&j.model, &slow, 0.5, INFINITY, &half), 0);
    NEAR(gone.estimate, 0.25, 0.01);
    NEAR(half.estimate, 1 - (1 / 20.0 + 1 / 40.0) / (1 / 20.0 + 1 / 30.0), 0.01);
    assert_int_equal(throughput_gain(&j.model, &slow, 1, 80, &gone), 0);
    NEAR(gone.estimate, 1 - 75 / 80.0, 0.02);
    release(&j);
}

/* Its messages, and the answers in the other direction, go through the link: without it the worker
 * would be as fast as its peer. If both are slow alike, only the traffic of that direction is
 * known.
 */
static void a_slow_link_costs_the_exchange_that_peers_do_not_need(void **state) {
    struct world w = {.workers = 2,
                      .compute_ms = {0, 20, 20},
                      .transfer_ms = {0, 0, 10},
                      .send_ms = {0, 0, 10},
                      .serve_ms = 0.05};
    struct gain gone;
    struct judged j;
    (void)state;
    judge(&w, &j);
    struct loss slow = link_to(&j, 2), other = link_to(&j, 1);
    NEAR(throughput_cost(&j.model, &slow), 0.25, 0.01);
    NEAR(throughput_cost(&j.model, &other), 0, 0.01);
    assert_int_equal(throughput_gain(&j.model, &slow, 1, INFINITY, &gone), 0);
    NEAR(gone.estimate, 0.25, 0.01);
    assert_true(gone.low > 0.2 && gone.high < 0.3);
    release(&j);
    w.transfer_ms[1] = w.send_ms[1] = 10;
    w.compute_ms[2] = 24; /* otherwise they are in step */
    judge(&w, &j);
    slow = link_to(&j, 2);
    NEAR(throughput_cost(&j.model, &slow), 1 - (1 / 40.0 + 1 / 44.0) / (1 / 40.0 + 1 / 34.0), 0.01);
    release(&j);
}

/* Nothing was seen to be full, and no connection was recorded: a suspicion. */
static void transfers_that_take_longer_than_its_peers_are_suspect(void **state) {
    struct world slow = {.workers = 3,
                         .compute_ms = {0, 20, 20.1, 20.2},
                         .transfer_ms = {0, 1, 1, 60},
                         .serve_ms = 0.05};
    struct judged j;
    (void)state;
    judge(&slow, &j);
    assert_int_equal(j.verdict.state, VERDICT_SUSPECTED);
    assert_int_equal(j.verdict.host, 3);
    assert_int_equal(strncmp(resource_name(j.verdict.resource), "net-", 4), 0);
    release(&j);
}

/* Connections show whether the path can be the reason. It was idle while the transfers lasted, so
 * the reason is the program's end, or a late receiver, which is another finding.
 */
static void an_idle_path_clears_the_link(void **state) {
    static const char *const resources[] = {
        [NO_CONNECTIONS] = "net-ingress", [IDLE_PATH] = "application", [BUSY_PATH] = "net-ingress"};
    (void)state;
    for (int kind = NO_CONNECTIONS; kind <= SLOW_READER; kind++) {
        struct world w = {.workers = 3,
                          .compute_ms = {0, 20, 20.1, 20.2},
                          .transfer_ms = {0, 1, 1, 60},
                          .serve_ms = 0.05,
                          .connections = kind};
        struct judged j;
        judge(&w, &j);
        assert_int_equal(j.verdict.host, 3);
        if (kind == SLOW_READER) {
            assert_string_equal(cause_name(j.verdict.kind), "receiver");
            for (size_t i = 0; i < j.candidates.n; i++)
                assert_int_not_equal(
                    strncmp(resource_name(j.candidates.items[i].resource), "net-", 4), 0);
        } else {
            assert_int_equal(j.verdict.state, VERDICT_SUSPECTED);
            assert_string_equal(resource_name(j.verdict.resource), resources[kind]);
            NEAR(j.verdict.gain, 1 - (2 / 21.0 + 1 / 80.0) / (3 / 21.0), 0.02);
        }
        release(&j);
    }
}

/* Small buffers that a program sets are its own limit, not a link's. */
static void a_buffer_far_smaller_than_its_peers_is_to_blame(void **state) {
    (void)state;
    for (int kind = SMALL_SEND; kind <= SMALL_RECEIVE; kind++) {
        struct world w = {.workers = 3,
                          .compute_ms = {0, 20, 20.1, 20.2},
                          .transfer_ms = {0, 1, 1, 60},
                          .serve_ms = 0.05,
                          .connections = kind};
        struct judged j;
        judge(&w, &j);
        expect(&j, "application", kind == SMALL_SEND ? "sndbuf" : "receiver", 3,
               1 - (2 / 21.0 + 1 / 80.0) / (3 / 21.0));
        release(&j);
    }
}

/* Enough room, an idle path, and a factor that a busy core also causes: nothing is suspected. */
static void slower_transfers_within_what_cores_differ_by_blame_nobody(void **state) {
    static const double transfer_ms[] = {6, 20};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct world w = {.workers = 3,
                          .compute_ms = {0, 20, 20.1, 20.2},
                          .transfer_ms = {0, 1, 1, transfer_ms[i]},
                          .serve_ms = 0.05,
                          .connections = IDLE_PATH};
        struct judged j;
        judge(&w, &j);
        assert_int_equal(j.verdict.state, VERDICT_SUSPECTED);
        assert_int_equal(blames_nobody(&j.verdict), i == 0);
        release(&j);
    }
}

static struct whatif_answer answer_to(const struct world *w, struct whatif_scenario scenario) {
    const struct whatif *whatif;
    struct whatif_answer answer;
    struct judged j;
    judge(w, &j);
    whatif = j.whatif;
    assert_int_equal(whatif_ask(whatif, &scenario, 1, &answer), 0);
    assert_false(answer.replayed);
    assert_true(answer.refused.code);
    release(&j);
    return answer;
}

/* A replay would find no gain; iterations tell. */
static void a_replay_is_refused_and_iterations_answer(void **state) {
    struct world w = {
        .workers = 2, .compute_ms = {0, 20, 20}, .asleep_ms = {0, 0, 20}, .serve_ms = 0.05};
    struct whatif_scenario awake = {
        .kind = WHATIF_WITHOUT, .host = 2, .rank = -1, .term = BUDGET_IDLE};
    (void)state;
    struct whatif_answer a = answer_to(&w, awake);
    assert_true(a.counted && a.iterations);
    NEAR(a.predicted_s, 0.75 * SECONDS, 0.1);
    assert_true(a.bound_s <= a.low_s && a.low_s <= a.predicted_s && a.predicted_s <= a.high_s);
    assert_true(a.low_s > 0.7 * SECONDS && a.high_s < 0.8 * SECONDS);
}

static void of_a_link_iterations_answer_only_what_they_know(void **state) {
    struct world w = {
        .workers = 2, .compute_ms = {0, 20, 20}, .transfer_ms = {0, 0, 20}, .serve_ms = 0.05};
    struct whatif_scenario link = {
        .kind = WHATIF_LINK, .host = 2, .rank = -1, .direction = WHATIF_RECEIVE, .factor = 100};
    (void)state;
    NEAR(answer_to(&w, link).predicted_s, 0.75 * SECONDS, 0.1);
    link.factor = 10; /* 2 of its 20 ms are left */
    NEAR(answer_to(&w, link).predicted_s, (0.05 + 0.025) / (0.05 + 1 / 22.0) * SECONDS, 0.1);
    link.factor = 2;
    NEAR(answer_to(&w, link).predicted_s, (0.05 + 0.025) / (0.05 + 1 / 30.0) * SECONDS, 0.1);
    link.factor = 0.5; /* 40 of 20 ms: two thirds of the iterations */
    NEAR(answer_to(&w, link).predicted_s, (0.05 + 0.025) / (0.05 + 1 / 60.0) * SECONDS, 0.1);
    link.rate_bytes_s = 1e6; /* the present rate is not known */
    assert_true(isnan(answer_to(&w, link).predicted_s));
}

/* One of three needs twice as long; the server does no iterations. */
static void for_a_straggler_like_its_peers_iterations_answer(void **state) {
    struct world w = {.workers = 3, .compute_ms = {0, 20, 20, 40}, .serve_ms = 0.05};
    struct whatif_scenario like = {.kind = WHATIF_LIKE_PEERS, .host = -1, .rank = 3, .factor = 1};
    (void)state;
    struct whatif_answer a = answer_to(&w, like);
    assert_true(a.counted && a.iterations);
    NEAR(a.predicted_s, 2.5 / 3 * SECONDS, 0.1);
    assert_true(a.bound_s <= a.low_s && a.low_s <= a.predicted_s && a.predicted_s <= a.high_s);
    like.rank = 1;
    NEAR(answer_to(&w, like).predicted_s, SECONDS, 0.1);
    like.rank = 0;
    assert_true(isnan(answer_to(&w, like).predicted_s));
}

/* It takes 40 ms rather than 20; a third of that is due to its core, as in the verdict, and stays.
 */
static void a_straggler_like_its_peers_keeps_its_slower_core(void **state) {
    struct world w = {
        .workers = 3, .compute_ms = {0, 20, 20, 40}, .serve_ms = 0.05, .slow_core = true};
    struct whatif_scenario like = {.kind = WHATIF_LIKE_PEERS, .host = -1, .rank = 3, .factor = 1};
    double slower = pow(1.2, 1.6), rate = 2 / 20.0;
    (void)state;
    struct whatif_answer a = answer_to(&w, like);
    NEAR(a.predicted_s, (rate + 1 / 40.0) / (rate + 1 / (60 - 40 / slower)) * SECONDS, 0.15);
    w.compute_ms[3] = 20 * slower;
    NEAR(answer_to(&w, like).predicted_s, SECONDS, 0.15);
}

static double bound_of(const struct judged *j, enum whatif_kind kind, int rank) {
    struct whatif_scenario s = {.kind = kind, .host = -1, .rank = rank, .factor = 1};
    const struct whatif *whatif;
    struct whatif_answer answer;
    whatif = j->whatif;
    assert_int_equal(whatif_ask(whatif, &s, 1, &answer), 0);
    return answer.gain_max;
}

/* One of three needs twice as long; with its peers' pace they would do a sixth more. Only
 * iterations show that it is slow, since all are busy all the time.
 */
static void a_straggler_like_its_peers_has_a_bound(void **state) {
    struct world w = {.workers = 3, .compute_ms = {0, 20, 20, 40}, .serve_ms = 0.05};
    struct judged j;
    (void)state;
    judge(&w, &j);
    double most = gain_warm(1 - 2.5 / 3, 2);
    NEAR(bound_of(&j, WHATIF_LIKE_PEERS, 3), most, 0.01);
    NEAR(bound_of(&j, WHATIF_LIKE_PEERS, 1), 0, 0.01);
    NEAR(bound_of(&j, WHATIF_BALANCED, -1), 1 - 2.5 / 3, 0.01);
    assert_true(isnan(bound_of(&j, WHATIF_LIKE_PEERS, 0))); /* the server does no iterations */
    release(&j);
}

static double gain_of_workers(const struct world *w, int more) {
    struct whatif_scenario s = {.kind = WHATIF_WORKERS, .host = -1, .rank = -1, .workers = more};
    const struct whatif *whatif;
    struct whatif_answer answer;
    struct judged j;
    judge(w, &j);
    whatif = j.whatif;
    assert_int_equal(whatif_ask(whatif, &s, 1, &answer), 0);
    release(&j);
    return answer.gain_max;
}

static void another_worker_helps_until_the_server_or_its_link_is_busy(void **state) {
    struct world idle = {.workers = 3, .compute_ms = {0, 20, 20.1, 20.2}, .serve_ms = 0.05};
    struct world busy = {.workers = 3, .compute_ms = {0, 2, 2.1, 30}, .serve_ms = 8};
    (void)state;
    NEAR(gain_of_workers(&idle, 1), 0.25, 0.01);
    NEAR(gain_of_workers(&idle, -1), -0.5, 0.02);
    assert_true(isnan(gain_of_workers(&idle, -3)));
    NEAR(gain_of_workers(&busy, 1), 0, 0.05);
    idle.link_mb_s = 110;
    NEAR(gain_of_workers(&idle, 1), 1 - 100 / 110.0, 0.01);
    idle.link_mb_s = 1000;
    NEAR(gain_of_workers(&idle, 1), 0.25, 0.01);
}

/* Two of three workers need not queue for the link as three do. */
static void fewer_workers_may_wait_for_nothing(void **state) {
    struct world w = {.workers = 3,
                      .compute_ms = {0, 10, 10.1, 10.2},
                      .transfer_ms = {0, 10, 10, 10},
                      .serve_ms = 0.05};
    (void)state;
    NEAR(gain_of_workers(&w, -1), 1 - 3 * (1 / 20.1) / (2 / 10.1), 0.02);
}

/* ---- who runs freely ---- */

/* Each has a fixed share of the work: the run waits for the last one, and elapsed time counts. */
static void ranks_with_shares_of_their_own_do_not_run_freely(void **state) {
    struct world w = {.workers = 2, .compute_ms = {0, 20, 30}, .serve_ms = 0.05, .share = 200};
    struct judged j;
    (void)state;
    judge(&w, &j);
    assert_int_equal(free_running(&j.model, NULL), 0);
    assert_false(throughput_counts(&j.model, j.model.main_group));
    release(&j);
}

/* Without partners for most messages nothing tells that nobody waits for another. */
static void ranks_whose_messages_have_no_partner_are_not_known_to_run_freely(void **state) {
    struct world w = {.workers = 2, .compute_ms = {0, 20, 30}, .serve_ms = 0.05};
    struct judged j;
    (void)state;
    judge(&w, &j);
    assert_true(free_running(&j.model, NULL) > 0);
    j.model.matches.unmatched_receives = 2 * j.model.matches.messages;
    assert_true(free_running(&j.model, NULL) > 0);
    j.model.matches.unmatched_sends = 1;
    assert_int_equal(free_running(&j.model, NULL), 0);
    release(&j);
}

static void paths_of_all_ranks_add_up_to_the_phase(void **state) {
    struct world w = {.workers = 3,
                      .compute_ms = {0, 20, 30, 25},
                      .asleep_ms = {0, 0, 5, 0},
                      .serve_ms = 3,
                      .jitter = 0.4};
    struct judged j;
    (void)state;
    judge(&w, &j);
    const struct critical_path *path = &j.model.critical;
    assert_int_equal(path->n_own, 3);
    for (size_t i = 0; i < path->n_own; i++)
        NEAR(path->own[i].path.groups[j.model.main_group].total_s, SECONDS, 0.01);
    const struct critical_part *all = &path->groups[j.model.main_group];
    double sum = 0, blocks = 0;
    for (size_t i = 0; i < j.model.n_hosts * BUDGET_TERMS; i++)
        sum += all->seconds[i];
    for (size_t b = 0; b < path->n_blocks; b++)
        blocks += path->blocks[b].total_s;
    NEAR(sum, all->total_s, 1e-6);
    NEAR(all->total_s, SECONDS, 0.01);
    NEAR(blocks, SECONDS, 0.01);
    release(&j);
}

static void iterations_count_for_their_part_inside(void **state) {
    struct iteration items[] = {
        {1, 2 * S, 2 * S}, {2, 4 * S, 2 * S}, {3, 4 * S, 0}, {4, 3 * S, -S}};
    struct rank_iterations its = {.n = 4, .items = items};
    struct window windows[] = {{S, 3 * S}, {3 * S + S / 2, 9 * S}};
    (void)state;
    NEAR(free_running_done(&its, (struct windows){windows, 2}), 0.5 + 0.5 + 0.25, 1e-9);
    NEAR(free_running_done(&its, (struct windows){NULL, 0}), 0, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_closed_form_is_that_of_the_book),
        cmocka_unit_test(missing_updates_over_those_that_would_have_been),
        cmocka_unit_test(a_slow_worker_costs_its_missing_updates),
        cmocka_unit_test(a_straggler_is_as_severe_as_what_it_lacks),
        cmocka_unit_test(of_four_workers_a_slow_one_costs_a_quarter_as_much),
        cmocka_unit_test(a_worker_that_sleeps_is_not_one_that_has_more_to_do),
        cmocka_unit_test(like_workers_and_jitter_are_balanced),
        cmocka_unit_test(a_little_slower_is_balanced),
        cmocka_unit_test(what_comes_and_goes_is_the_core_where_that_is_slower),
        cmocka_unit_test(who_has_no_core_loses_that_before_the_training_too),
        cmocka_unit_test(a_server_that_works_for_all_is_what_they_wait_for),
        cmocka_unit_test(what_the_server_does_is_found_between_message_and_answer),
        cmocka_unit_test(what_the_server_does_for_itself_holds_up_others_as_well),
        cmocka_unit_test(a_slow_link_costs_what_its_worker_lacks),
        cmocka_unit_test(a_slow_link_costs_the_exchange_that_peers_do_not_need),
        cmocka_unit_test(transfers_that_take_longer_than_its_peers_are_suspect),
        cmocka_unit_test(an_idle_path_clears_the_link),
        cmocka_unit_test(a_buffer_far_smaller_than_its_peers_is_to_blame),
        cmocka_unit_test(slower_transfers_within_what_cores_differ_by_blame_nobody),
        cmocka_unit_test(a_replay_is_refused_and_iterations_answer),
        cmocka_unit_test(of_a_link_iterations_answer_only_what_they_know),
        cmocka_unit_test(for_a_straggler_like_its_peers_iterations_answer),
        cmocka_unit_test(a_straggler_like_its_peers_keeps_its_slower_core),
        cmocka_unit_test(a_straggler_like_its_peers_has_a_bound),
        cmocka_unit_test(another_worker_helps_until_the_server_or_its_link_is_busy),
        cmocka_unit_test(fewer_workers_may_wait_for_nothing),
        cmocka_unit_test(ranks_with_shares_of_their_own_do_not_run_freely),
        cmocka_unit_test(ranks_whose_messages_have_no_partner_are_not_known_to_run_freely),
        cmocka_unit_test(paths_of_all_ranks_add_up_to_the_phase),
        cmocka_unit_test(iterations_count_for_their_part_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
