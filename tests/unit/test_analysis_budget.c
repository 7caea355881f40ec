/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/facts/series/stats.h"
#include "analysis/time/budget.h"
#include "common/table.h"
#include "tests/unit/mpi_plant.h"

#include <math.h>

#define MS INT64_C(1000000)
#define NEAR(a, b)                                                                                 \
    do {                                                                                           \
        double is_ = (a), should_ = (b);                                                           \
        if (!(fabs(is_ - should_) <= 1e-9))                                                        \
            fail_msg("%s is %.12g, not %.12g", #a, is_, should_);                                  \
    } while (0)
#define HAS_CPU MPI_FLAG_HAS_CPU
#define HAS_GAP MPI_FLAG_HAS_GAP_CPU
#define FROM_START MPI_FLAG_REQUEST

/* Counters of a process that only ran. */
static struct budget_interval interval(int64_t begin, int64_t end, double cpu_ms) {
    return (struct budget_interval){.begin_ns = begin,
                                    .end_ns = end,
                                    .cpu = cpu_ms * 1e6,
                                    .mpi = NAN,
                                    .mpi_cpu = NAN,
                                    .sending = NAN};
}

struct plan {
    struct mpi_log log;
    struct budget_interval intervals[4];
    size_t n_intervals;
    int64_t end_ns;
    const struct call_clock *clock;
    double awaited[16];
};

static void budgets_of(struct plan *p, size_t rank, const struct windows *windows, size_t n,
                       struct budget *ret_budgets) {
    struct call_matches m = {0};
    assert_int_equal(mpi_log_finish(&p->log), 0);
    assert_int_equal(call_match(&p->log, p->clock, &m), 0);
    struct budget_subject s = {.end_ns = p->end_ns,
                               .intervals = p->intervals,
                               .n_intervals = p->n_intervals,
                               .log = p->log.n ? &p->log : NULL,
                               .matches = &m,
                               .log_rank = rank,
                               .clock = p->clock};
    memset(p->awaited, 0, sizeof p->awaited);
    assert_int_equal(budget_make(&s, windows, n, ret_budgets, p->awaited), 0);
    call_matches_release(&m);
}

/* The budget of one rank over [0, end). */
static struct budget budget_of(struct plan *p, size_t rank) {
    struct window all = {0, p->end_ns};
    struct windows windows = {&all, 1};
    struct budget b;
    budgets_of(p, rank, &windows, 1, &b);
    return b;
}

static void release(struct plan *p) {
    mpi_log_release(&p->log);
}

/* Every rank begins with a call at 0, so that no time is dark. */
static void begin(struct plan *p, int ranks) {
    for (int r = 0; r < ranks; r++)
        PLANT(&p->log, r, r, "MPI_Init", -1, -1, 0, 0, 1 * MS, HAS_CPU, .cpu_ns = 1 * MS);
}

static double sum(const struct budget *b) {
    double all = 0;
    for (int t = 0; t < BUDGET_TERMS; t++)
        all += isnan(b->term_s[t]) ? 0 : b->term_s[t];
    return all;
}

/* ---- inside ---- */

static void a_receive_waits_until_its_sender_came_and_then_transfers(void **state) {
    struct plan p = {.end_ns = 161 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Recv", 1, 1, 8, 101 * MS, 161 * MS, HAS_CPU | HAS_GAP,
          .cpu_ns = 60 * MS, .gap_cpu_ns = 100 * MS);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 141 * MS, 160 * MS, HAS_GAP, .gap_cpu_ns = 140 * MS);
    p.intervals[0] = interval(0, 161 * MS, 161);
    struct budget b = budget_of(&p, 0);
    NEAR(b.wall_s, 0.161);
    NEAR(b.term_s[BUDGET_CPU], 0.100);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.040);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.020);
    NEAR(b.term_s[BUDGET_OVERHEAD], 0.001); /* MPI_Init */
    NEAR(b.closure_pct, 100);
    NEAR(p.awaited[1], 40e6);
    assert_int_equal(b.source, BUDGET_FROM_EVENTS);
    release(&p);
}

static void a_collective_waits_for_the_last_to_arrive(void **state) {
    struct plan p = {.end_ns = 50 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 3);
    for (int r = 0; r < 3; r++)
        PLANT(&p.log, r, r, "MPI_Allreduce", -1, -1, 8, (10 + 10 * r) * MS, 50 * MS,
              HAS_CPU | HAS_GAP, .cpu_ns = (40 - 10 * r) * MS, .gap_cpu_ns = (9 + 10 * r) * MS);
    p.intervals[0] = interval(0, 50 * MS, 50);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.020);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.020);
    b = budget_of(&p, 2);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.020);
    release(&p);
}

static void a_blocked_send_waits_for_its_receiver_and_a_buffered_one_does_not(void **state) {
    struct plan p = {.end_ns = 100 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Send", 1, 1, 8, 1 * MS, 31 * MS, HAS_CPU, .cpu_ns = 30 * MS);
    PLANT(&p.log, 0, 0, "MPI_Send", 1, 2, 8, 31 * MS, 41 * MS, HAS_CPU, .cpu_ns = 10 * MS);
    PLANT(&p.log, 1, 1, "MPI_Recv", 0, 1, 8, 11 * MS, 32 * MS, HAS_CPU | HAS_GAP,
          .gap_cpu_ns = 10 * MS);
    PLANT(&p.log, 1, 1, "MPI_Recv", 0, 2, 8, 60 * MS, 61 * MS, HAS_CPU | HAS_GAP,
          .gap_cpu_ns = 1 * MS);
    p.intervals[0] = interval(0, 100 * MS, 41);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.010);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.030);
    NEAR(b.term_s[BUDGET_IDLE], 0.059); /* after the last call, without CPU time */
    release(&p);
}

static void a_wait_ends_with_the_latest_of_its_requests(void **state) {
    struct plan p = {.end_ns = 60 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 3);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 1 * MS + 500, MPI_FLAG_AT_MOST);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 2, 1, 8, 1 * MS + 600, 1 * MS + 900, MPI_FLAG_AT_MOST);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 60 * MS, FROM_START);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 2, 1, 8, 1 * MS + 600, 60 * MS, FROM_START);
    PLANT(&p.log, 0, 0, "MPI_Waitall", -1, -1, 16, 20 * MS, 60 * MS, HAS_CPU | HAS_GAP,
          .cpu_ns = 40 * MS, .gap_cpu_ns = 19 * MS - 900);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 30 * MS, 31 * MS);
    PLANT(&p.log, 2, 2, "MPI_Send", 0, 1, 8, 45 * MS, 46 * MS);
    p.intervals[0] = interval(0, 60 * MS, 60);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.025);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.015);
    NEAR(p.awaited[2], 25e6);
    NEAR(b.closure_pct, 100);
    release(&p);
}

static void a_wait_shorter_than_the_clocks_can_tell_is_none(void **state) {
    struct plan p = {.end_ns = 100 * MS, .n_intervals = 1};
    const int64_t bounds[] = {2 * MS, 3 * MS};
    const struct call_clock clock = {bounds, 2};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Recv", 1, 1, 8, 1 * MS, 11 * MS, HAS_CPU, .cpu_ns = 10 * MS);
    PLANT(&p.log, 0, 0, "MPI_Recv", 1, 1, 8, 11 * MS, 21 * MS, HAS_CPU, .cpu_ns = 10 * MS);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 6 * MS - 1, 7 * MS);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 16 * MS, 17 * MS);
    p.intervals[0] = interval(0, 100 * MS, 21);
    p.clock = &clock;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.005);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.015);
    p.clock = NULL;
    b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.010 - 1e-9);
    release(&p);
}

static void an_unknown_clock_shows_no_wait(void **state) {
    struct plan p = {.end_ns = 11 * MS, .n_intervals = 1};
    const int64_t bounds[] = {2 * MS, -1};
    const struct call_clock clock = {bounds, 2};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Recv", 1, 1, 8, 1 * MS, 11 * MS, HAS_CPU, .cpu_ns = 10 * MS);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 9 * MS, 10 * MS);
    p.intervals[0] = interval(0, 11 * MS, 11);
    p.clock = &clock;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.010);
    release(&p);
}

static void what_has_no_partner_is_inside_but_unsplit(void **state) {
    struct plan p = {.end_ns = 20 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Recv", 1, 1, 8, 1 * MS, 11 * MS, HAS_CPU, .cpu_ns = 10 * MS);
    PLANT(&p.log, 0, 0, "MPI_Win_lock", 1, 1, 8, 11 * MS, 15 * MS, HAS_CPU, .cpu_ns = 4 * MS);
    PLANT(&p.log, 0, 0, "MPI_Recv", 1, 1, 8, 15 * MS, 15 * MS + 9000);
    p.intervals[0] = interval(0, 20 * MS, 15.009);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_UNSPLIT], 0.014);
    NEAR(b.term_s[BUDGET_OVERHEAD], 0.001009); /* Init, and a call too short for a wait */
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0);
    NEAR(b.closure_pct, 100);
    release(&p);
}

/* It waits for a message whose sender was not recorded, and yields its core to another process. The
 * stop is known whatever it waited for.
 */
static void a_call_without_a_partner_demands_no_core(void **state) {
    struct plan p = {.end_ns = 21 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 1);
    PLANT(&p.log, 0, 0, "MPI_Recv", -1, 1, 8, 1 * MS, 21 * MS, HAS_CPU, .cpu_ns = 2 * MS);
    p.intervals[0] = interval(0, 21 * MS, 3);
    p.intervals[0].run_queue = 18e6;
    p.intervals[0].stopped = 0;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0);
    NEAR(b.term_s[BUDGET_UNSPLIT], 0.020);
    p.intervals[0].run_queue = 0;
    p.intervals[0].stopped = 18e6;
    b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_STOPPED], 0.018);
    release(&p);
}

/* ---- polling ---- */

static void tests_and_the_backoffs_between_them_wait_for_what_they_complete(void **state) {
    struct plan p = {.end_ns = 11 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 1 * MS + 1000, MPI_FLAG_AT_MOST);
    /* ten tests, a millisecond apart, of which the last completes; the message is sent at 7.5 ms */
    for (int i = 0; i < 9; i++)
        PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, (i + 2) * MS, (i + 2) * MS + 1000,
              HAS_GAP | (i ? 0 : 0), .gap_cpu_ns = 20 * US);
    PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, 8, 11 * MS - 1000, 11 * MS, HAS_GAP,
          .gap_cpu_ns = 20 * US);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 11 * MS, FROM_START);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 7 * MS + 500 * US, 8 * MS);
    p.intervals[0] = interval(0, 11 * MS, 1.211);
    struct budget b = budget_of(&p, 0);
    /* from the first test at 2 ms, less the CPU time in 5.5 back-offs */
    double backoffs = 5 + 499.0 / 999;
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.0055 - backoffs * 20e-6);
    assert_true(b.term_s[BUDGET_TRANSFER] > 0.0033 && b.term_s[BUDGET_TRANSFER] < 0.0035);
    NEAR(b.term_s[BUDGET_IDLE], 0.000979); /* before the first test it slept of its own accord */
    NEAR(b.closure_pct, 100);
    release(&p);
}

static void what_follows_the_peer_within_the_last_backoff_is_the_delay_of_polling(void **state) {
    struct plan p = {.end_ns = 11 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 1 * MS, MPI_FLAG_AT_MOST);
    PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, 1 * MS, 1 * MS);
    PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, 8, 11 * MS, 11 * MS, HAS_GAP);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 11 * MS, FROM_START);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 7 * MS, 8 * MS);
    p.intervals[0] = interval(0, 11 * MS, 1);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.006);
    NEAR(b.term_s[BUDGET_OVERHEAD], 0.005); /* Init: 1 ms */
    NEAR(b.term_s[BUDGET_TRANSFER], 0);
    release(&p);
}

/* Polls for a message of rank 1 that is sent at 30.5 ms; back-offs of a millisecond, then a `pause`
 * in back-off 40.
 */
static struct budget polls_and_pauses(struct budget_interval during) {
    struct plan p = {.end_ns = 50 * MS, .n_intervals = 2};
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 1 * MS, MPI_FLAG_AT_MOST);
    for (int i = 1; i <= 10; i++)
        PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, i * MS, i * MS, HAS_GAP);
    PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, 8, 50 * MS, 50 * MS, HAS_GAP, .gap_cpu_ns = 2 * MS);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 50 * MS, FROM_START);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 30 * MS + 500 * US, 31 * MS);
    p.intervals[0] = interval(0, 10 * MS, 1);
    p.intervals[1] = during;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.009); /* the back-offs */
    NEAR(b.term_s[BUDGET_CPU], 0.002);
    NEAR(b.term_s[BUDGET_TRANSFER], 0);
    NEAR(b.term_s[BUDGET_OVERHEAD], 0.001); /* Init */
    NEAR(b.closure_pct, 100);
    release(&p);
    return b;
}

static void a_pause_far_longer_than_its_backoffs_is_the_ranks_own(void **state) {
    struct budget_interval during = interval(10 * MS, 50 * MS, 2);
    (void)state;
    struct budget b = polls_and_pauses(during);
    NEAR(b.term_s[BUDGET_IDLE], 0.038);
    during.disk = 30e6;
    b = polls_and_pauses(during);
    NEAR(b.term_s[BUDGET_DISK], 0.030);
    NEAR(b.term_s[BUDGET_IDLE], 0.008);
    during.disk = 0;
    during.run_queue = 38e6;
    b = polls_and_pauses(during);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.038);
}

/* It sleeps 9 ms and computes 2 ms each time, and never backs off, so its usual pause is no
 * back-off.
 */
static void who_computed_between_two_polls_slept_of_its_own_accord(void **state) {
    struct plan p = {.end_ns = 45 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 1 * MS, MPI_FLAG_AT_MOST);
    for (int64_t t = 1; t < 45; t += 11)
        PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, t * MS, t * MS, HAS_GAP,
              .gap_cpu_ns = t > 1 ? 2 * MS : 0);
    PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, 8, 45 * MS, 45 * MS, HAS_GAP, .gap_cpu_ns = 2 * MS);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 45 * MS, FROM_START);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 20 * MS, 21 * MS);
    p.intervals[0] = interval(0, 45 * MS, 9);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_CPU], 0.008);
    NEAR(b.term_s[BUDGET_IDLE], 0.036);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0);
    release(&p);
}

/* It computes 5 ms, polls, sleeps 20 ms, polls, and so on, and never backs off: no two of its
 * sleeps are adjacent.
 */
static void a_pause_that_has_none_like_it_beside_it_is_no_usual_backoff(void **state) {
    struct plan p = {.end_ns = 101 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 1 * MS, MPI_FLAG_AT_MOST);
    for (int64_t t = 1; t < 101; t += 25) {
        PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, (t + 5) * MS, (t + 5) * MS, HAS_GAP,
              .gap_cpu_ns = 5 * MS);
        if (t < 76)
            PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, (t + 25) * MS, (t + 25) * MS, HAS_GAP);
    }
    PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, 8, 101 * MS, 101 * MS, HAS_GAP);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 101 * MS, FROM_START);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 90 * MS, 91 * MS);
    p.intervals[0] = interval(0, 101 * MS, 21);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_CPU], 0.020);
    NEAR(b.term_s[BUDGET_IDLE], 0.080);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0);
    release(&p);
}

/* It computes .2 ms, polls and goes on. In a poll at 10.2 ms it loses its core for 4 ms; the
 * message is sent then, and found by the next poll, which loses the core, too.
 */
static void poll_in_passing(uint16_t flags) {
    struct plan p = {.end_ns = 20 * MS, .n_intervals = 1};
    int64_t t = 10 * MS;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 10 * MS, 10 * MS, MPI_FLAG_AT_MOST | HAS_GAP,
          .gap_cpu_ns = 10 * MS);
    PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, t + 200 * US, t + 4200 * US, HAS_GAP | flags,
          .gap_cpu_ns = 200 * US, .inside_ns = 4 * MS);
    PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, 8, t + 4400 * US, t + 8400 * US,
          HAS_GAP | MPI_FLAG_HAS_CPU, .gap_cpu_ns = 200 * US);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 10 * MS, t + 8400 * US, FROM_START);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, t + 5 * MS, t + 5 * MS);
    p.intervals[0] = interval(0, 20 * MS, 12);
    p.intervals[0].run_queue = 8 * MS;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.008);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0);
    NEAR(b.term_s[BUDGET_TRANSFER], 0);
    NEAR(b.closure_pct, 100);
    release(&p);
}

static void polls_in_passing_lack_a_core(void **state) {
    (void)state;
    poll_in_passing(MPI_FLAG_HAS_CPU);
    poll_in_passing(MPI_FLAG_FOLDED);
}

/* Equal back-offs of 4 ms; a message that came at 2 ms is found at 13 ms. */
static struct budget backoffs_alike(int64_t bytes, double queue_ns) {
    struct plan p = {.end_ns = 13 * MS, .n_intervals = 1};
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, bytes, 1 * MS, 1 * MS, MPI_FLAG_AT_MOST);
    for (int i = 1; i <= 9; i += 4)
        PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, i * MS, i * MS, HAS_GAP);
    PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, bytes, 13 * MS, 13 * MS, HAS_GAP);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, bytes, 1 * MS, 13 * MS, FROM_START);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, bytes, 2 * MS, 2 * MS);
    p.intervals[0] = interval(0, 13 * MS, 1);
    p.intervals[0].run_queue = queue_ns;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.001);
    NEAR(b.closure_pct, 100);
    release(&p);
    return b;
}

static void of_backoffs_that_all_end_late_the_last_lacks_a_core(void **state) {
    (void)state;
    struct budget b = backoffs_alike(8, 12e6);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.004);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.007); /* the polls at 5 and 9 ms found nothing */
    b = backoffs_alike(8, 6e6);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.002);
    b = backoffs_alike(8, 0);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.011);
}

/* Each poll moves the message on, and each was late. */
static void a_long_message_comes_late_with_every_late_poll(void **state) {
    (void)state;
    struct budget b = backoffs_alike(CALL_LONG_BYTES, 12e6);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.011);
    NEAR(b.term_s[BUDGET_TRANSFER], 0);
    b = backoffs_alike(CALL_LONG_BYTES, 6e6);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.0055);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.0055);
    b = backoffs_alike(CALL_LONG_BYTES, 0);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.011);
}

/* 2 of 8 ms of polls were on a core; the message that they wait for came after 2 ms. */
static void polls_in_a_row_lack_a_core_for_what_they_did_not_spin(void **state) {
    struct plan p = {.end_ns = 9 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 1 * MS, MPI_FLAG_AT_MOST);
    PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, 1 * MS, 9 * MS, MPI_FLAG_FOLDED,
          .inside_ns = 8 * MS);
    PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, 8, 9 * MS, 9 * MS);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 9 * MS, FROM_START);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 3 * MS, 3 * MS);
    p.intervals[0] = interval(0, 9 * MS, 3);
    p.intervals[0].run_queue = 6e6;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.002);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.0045);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.0015);
    release(&p);
}

/* Back-offs of a millisecond, the last of which ends 2 ms late, since another process had the core;
 * the message is sent at sent_us.
 */
static struct budget backoffs_too_long(int64_t sent_us, double queue_ns) {
    struct plan p = {.end_ns = 13 * MS, .n_intervals = 1};
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 1 * MS, MPI_FLAG_AT_MOST);
    for (int i = 1; i <= 10; i++)
        PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, i * MS, i * MS, HAS_GAP);
    PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, 8, 13 * MS, 13 * MS, HAS_GAP);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 13 * MS, FROM_START);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, sent_us * US, sent_us * US);
    p.intervals[0] = interval(0, 13 * MS, 1);
    p.intervals[0].run_queue = queue_ns;
    struct budget b = budget_of(&p, 0);
    NEAR(b.closure_pct, 100);
    release(&p);
    return b;
}

static void a_backoff_that_ends_late_for_want_of_a_core_waits_for_a_core(void **state) {
    (void)state;
    struct budget b = backoffs_too_long(10200, 2e6);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.0092);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.002);
    NEAR(b.term_s[BUDGET_OVERHEAD], 0.0018); /* Init, and the back-off's own delay */
    b = backoffs_too_long(9500, 2e6);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.002);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.0015);
    b = backoffs_too_long(12500, 2e6); /* the message did not come sooner */
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.0115);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.0005);
    b = backoffs_too_long(9500, 0); /* it kept sleeping, and had its core */
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.0035);
}

/* Each is twice as long as the one before, as in many loops that wait. */
static void backoffs_that_grow_are_backoffs(void **state) {
    struct plan p = {.end_ns = 64 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 1 * MS, MPI_FLAG_AT_MOST);
    for (int64_t t = 1; t <= 32; t *= 2)
        PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, t * MS, t * MS, HAS_GAP);
    PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, 8, 64 * MS, 64 * MS, HAS_GAP);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 64 * MS, FROM_START);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 60 * MS, 61 * MS);
    p.intervals[0] = interval(0, 64 * MS, 1);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.059);
    NEAR(b.term_s[BUDGET_OVERHEAD], 0.005);
    NEAR(b.term_s[BUDGET_IDLE], 0);
    release(&p);
}

static void who_computes_between_two_tests_does_not_wait(void **state) {
    struct plan p = {.end_ns = 11 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 1 * MS, MPI_FLAG_AT_MOST);
    PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, 1 * MS, 1 * MS);
    PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, 8, 11 * MS, 11 * MS, HAS_GAP, .gap_cpu_ns = 4 * MS);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 11 * MS, FROM_START);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 7 * MS, 8 * MS);
    p.intervals[0] = interval(0, 11 * MS, 5);
    p.intervals[0].run_queue = 2e6;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0);
    NEAR(b.term_s[BUDGET_CPU], 0.004);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.002);
    NEAR(b.term_s[BUDGET_IDLE], 0.004);
    release(&p);
}

/* Folded tests do not show whether the thread ran between them: the process's CPU time does. */
static void folded_tests_wait_unless_the_process_computed(void **state) {
    (void)state;
    for (int computes = 0; computes < 2; computes++) {
        struct plan p = {.end_ns = 21 * MS, .n_intervals = 1};
        begin(&p, 2);
        PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 1 * MS, MPI_FLAG_AT_MOST);
        PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, 1 * MS, 21 * MS, MPI_FLAG_FOLDED,
              .inside_ns = 2 * MS);
        PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, 8, 21 * MS, 21 * MS);
        PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 21 * MS, FROM_START);
        PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 16 * MS, 17 * MS);
        p.intervals[0] = interval(0, 21 * MS, computes ? 21 : 3);
        struct budget b = budget_of(&p, 0);
        NEAR(b.term_s[BUDGET_CPU], computes ? 0.018 : 0);
        NEAR(b.term_s[BUDGET_PEER_WAIT], computes ? 0.0015 : 0.015);
        NEAR(b.term_s[BUDGET_TRANSFER], computes ? 0.0005 : 0.005);
        NEAR(p.awaited[1], 15e6); /* an upper bound: computing in between is not subtracted */
        NEAR(b.closure_pct, 100);
        release(&p);
    }
}

/* A loop of tests only: half of its time is outside them, 50 ns a turn, and all of it waits. */
static void a_loop_of_tests_alone_computes_nothing(void **state) {
    (void)state;
    for (int works = 0; works < 2; works++) {
        struct plan p = {.end_ns = 21 * MS, .n_intervals = 1};
        begin(&p, 2);
        PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 1 * MS, MPI_FLAG_AT_MOST);
        PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, 1 * MS, 21 * MS, MPI_FLAG_FOLDED,
              .inside_ns = 10 * MS, .calls = works ? 20000 : 200000);
        PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, 8, 21 * MS, 21 * MS);
        PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 21 * MS, FROM_START);
        PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 21 * MS, 21 * MS);
        p.intervals[0] = interval(0, 21 * MS, 21);
        struct budget b = budget_of(&p, 0);
        NEAR(b.term_s[BUDGET_PEER_WAIT], works ? 0.010 : 0.020);
        NEAR(b.term_s[BUDGET_CPU], works ? 0.010 : 0);
        NEAR(b.closure_pct, 100);
        release(&p);
    }
}

/* A thread that spins in tests loses its core: no contradiction, and no demand for a core. */
static void folded_tests_that_were_preempted_still_close(void **state) {
    struct plan p = {.end_ns = 21 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 1 * MS, MPI_FLAG_AT_MOST);
    PLANT(&p.log, 0, 0, "MPI_Test", -1, -1, 0, 1 * MS, 21 * MS, MPI_FLAG_FOLDED,
          .inside_ns = 20 * MS);
    PLANT(&p.log, 0, 0, "MPI_Test", 1, 1, 8, 21 * MS, 21 * MS);
    PLANT(&p.log, 0, 0, "MPI_Irecv", 1, 1, 8, 1 * MS, 21 * MS, FROM_START);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 21 * MS, 21 * MS);
    p.intervals[0] = interval(0, 21 * MS, 11);
    p.intervals[0].run_queue = 10e6;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.020);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0);
    NEAR(b.closure_pct, 100);
    release(&p);
}

/* The duration of a call in the row shows whether it moved data; between calls the rank computed.
 */
static void accesses_in_a_row_move_data_if_one_of_them_took_long_enough(void **state) {
    (void)state;
    for (int far = 0; far < 2; far++) {
        struct plan p = {.end_ns = 21 * MS, .n_intervals = 1};
        begin(&p, 2);
        PLANT(&p.log, 0, 0, "MPI_Accumulate", 1, -1, 800, 1 * MS, 5 * MS, MPI_FLAG_FOLDED,
              .inside_ns = 1 * MS, .calls = 2000);
        PLANT(&p.log, 0, 0, "MPI_Win_flush_all", -1, -1, 0, 5 * MS, 21 * MS, MPI_FLAG_FOLDED,
              .inside_ns = 8 * MS, .calls = far ? 400 : 4000);
        PLANT(&p.log, 1, 1, "MPI_Recv", -1, -1, 0, 2 * MS, 20 * MS);
        p.intervals[0] = interval(0, 21 * MS, 21);
        struct budget b = budget_of(&p, 0);
        NEAR(b.term_s[BUDGET_CPU], 0.011);
        NEAR(b.term_s[BUDGET_TRANSFER], far ? 0.008 : 0);
        NEAR(b.term_s[BUDGET_OVERHEAD], far ? 0.002 : 0.010); /* Init: 1 ms */
        NEAR(b.term_s[BUDGET_PEER_WAIT], 0);
        NEAR(b.closure_pct, 100);
        release(&p);
    }
}

/* ---- outside ---- */

/* One gap of 100 ms with 40 ms of CPU, and counters for the rest. */
static struct budget gap_with(struct budget_interval i) {
    struct plan p = {.end_ns = 101 * MS, .n_intervals = 1};
    begin(&p, 1);
    PLANT(&p.log, 0, 0, "MPI_Finalize", -1, -1, 0, 101 * MS, 101 * MS, HAS_GAP,
          .gap_cpu_ns = 40 * MS);
    i.end_ns = 101 * MS;
    i.cpu = 41e6;
    p.intervals[0] = i;
    struct budget b = budget_of(&p, 0);
    release(&p);
    return b;
}

static void each_cause_of_not_running_is_its_own_term(void **state) {
    struct budget b;
    (void)state;
    b = gap_with((struct budget_interval){.mpi = NAN, .sending = NAN});
    NEAR(b.term_s[BUDGET_CPU], 0.040);
    NEAR(b.term_s[BUDGET_IDLE], 0.060);
    b = gap_with((struct budget_interval){.run_queue = 25e6, .mpi = NAN});
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.025);
    NEAR(b.term_s[BUDGET_IDLE], 0.035);
    b = gap_with((struct budget_interval){.run_queue = 25e6, .quota = 20e6, .mpi = NAN});
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.005);
    NEAR(b.term_s[BUDGET_QUOTA], 0.020);
    b = gap_with((struct budget_interval){.disk = 30e6, .mpi = NAN});
    NEAR(b.term_s[BUDGET_DISK], 0.030);
    NEAR(b.term_s[BUDGET_MEMORY], 0);
    b = gap_with((struct budget_interval){.disk = 30e6, .memory = 20e6, .mpi = NAN});
    NEAR(b.term_s[BUDGET_DISK], 0.010);
    NEAR(b.term_s[BUDGET_MEMORY], 0.020);
    b = gap_with((struct budget_interval){.memory_cpu = 15e6, .mpi = NAN});
    NEAR(b.term_s[BUDGET_MEMORY], 0.015);
    NEAR(b.term_s[BUDGET_CPU], 0.025);
    b = gap_with((struct budget_interval){.memory_cpu = 15e6, .memory_asleep = 20e6});
    NEAR(b.term_s[BUDGET_MEMORY], 0.035);
    NEAR(b.term_s[BUDGET_IDLE], 0.040);
    b = gap_with((struct budget_interval){.disk = 50e6, .memory_asleep = 20e6});
    NEAR(b.term_s[BUDGET_DISK], 0.050);
    NEAR(b.term_s[BUDGET_MEMORY], 0.010);
    b = gap_with((struct budget_interval){.memory_asleep = 20e6, .mpi = NAN});
    NEAR(b.term_s[BUDGET_MEMORY], 0);
    b = gap_with((struct budget_interval){.disk = NAN, .memory = 20e6, .memory_asleep = 20e6});
    NEAR(b.term_s[BUDGET_MEMORY], 0.020); /* from the same pressure */
    NEAR(b.term_s[BUDGET_IDLE], 0.040);
    b = gap_with((struct budget_interval){.disk = 15e6, .memory = 15e6, .memory_asleep = 20e6});
    NEAR(b.term_s[BUDGET_MEMORY], 0.020);
    NEAR(b.term_s[BUDGET_DISK], 0);
    NEAR(b.term_s[BUDGET_IDLE], 0.040);
    b = gap_with((struct budget_interval){.steal = 10e6, .mpi = NAN});
    NEAR(b.term_s[BUDGET_STEAL], 0.010);
    NEAR(b.closure_pct, 100);
    b = gap_with((struct budget_interval){.run_queue = 90e6, .disk = 90e6, .steal = 90e6});
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.060); /* at most the time off the CPU */
    NEAR(sum(&b), 0.101);
}

/* 100 ms of computing, 100 ms of disk wait, and 100 ms of both, between two calls. */
static void a_long_time_outside_is_divided_as_the_counters_saw_it(void **state) {
    struct plan p = {.end_ns = 301 * MS, .n_intervals = 4};
    (void)state;
    begin(&p, 1);
    PLANT(&p.log, 0, 0, "MPI_Barrier", -1, -1, 0, 301 * MS, 301 * MS, HAS_CPU | HAS_GAP,
          .gap_cpu_ns = 150 * MS);
    p.intervals[0] = interval(0, 1 * MS, 1);
    p.intervals[1] = interval(1 * MS, 101 * MS, 100);
    p.intervals[2] = interval(101 * MS, 201 * MS, 0);
    p.intervals[3] = interval(201 * MS, 301 * MS, 50);
    p.intervals[2].disk = 100e6;
    p.intervals[3].disk = 50e6;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_CPU], 0.150);
    NEAR(b.term_s[BUDGET_DISK], 0.150);
    NEAR(b.term_s[BUDGET_IDLE], 0);
    NEAR(b.closure_pct, 100);
    p.intervals[2].cpu = NAN; /* not observed: spread evenly, where possible */
    b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_CPU] + b.term_s[BUDGET_DISK] + b.term_s[BUDGET_IDLE] + b.unknown_s, 0.3);
    release(&p);
}

static void what_counters_cannot_see_is_not_a_number(void **state) {
    (void)state;
    struct budget b = gap_with((struct budget_interval){.disk = NAN,
                                                        .quota = NAN,
                                                        .steal = NAN,
                                                        .memory = NAN,
                                                        .stopped = NAN,
                                                        .mpi = NAN,
                                                        .sending = NAN});
    assert_true(isnan(b.term_s[BUDGET_DISK]) && isnan(b.term_s[BUDGET_QUOTA]));
    assert_true(isnan(b.term_s[BUDGET_STOPPED]));
    assert_true(isnan(b.term_s[BUDGET_STEAL]) && isnan(b.term_s[BUDGET_MEMORY]));
    NEAR(b.term_s[BUDGET_IDLE], 0.060);
    b = gap_with((struct budget_interval){.run_queue = NAN});
    NEAR(b.unknown_s, 0.060);
    assert_false(budget_closes(&b));
}

/* Off the CPU inside MPI: a wait for a peer covers it; otherwise it was the run queue. */
static void a_core_taken_away_inside_mpi_counts_as_waiting_for_a_core(void **state) {
    struct plan p = {.end_ns = 101 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Recv", 1, 1, 8, 1 * MS, 101 * MS, HAS_CPU, .cpu_ns = 20 * MS);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 51 * MS, 52 * MS);
    p.intervals[0] = interval(0, 101 * MS, 21);
    p.intervals[0].run_queue = 80e6;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.050);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.030); /* 80 off the CPU, of which the wait explains 50 */
    NEAR(b.term_s[BUDGET_TRANSFER], 0.020);
    p.intervals[0].run_queue = 0; /* it slept in the kernel: no queue */
    b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.050);
    release(&p);
}

/* The run queue's time goes to those times off the CPU in which the process wanted a core. */
static void a_queue_is_where_the_process_wanted_to_run(void **state) {
    static const struct {
        int64_t inside_ms, queue_ms;
        double outside;
    } cases[] = {{39, 60, 0.030},          /* as much inside MPI as outside */
                 {0, 60, 0.060 * 40 / 41}, /* it slept until its peer came */
                 {39, 150, 0.060},         /* at most the time off the CPU, */
                 {99, 5, 0.004}};          /* nor more inside than there was */
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan p = {.end_ns = 201 * MS, .n_intervals = 1};
        begin(&p, 2);
        PLANT(&p.log, 0, 0, "MPI_Recv", 1, 1, 8, 101 * MS, 201 * MS, HAS_CPU | HAS_GAP,
              .cpu_ns = cases[i].inside_ms * MS, .gap_cpu_ns = 40 * MS);
        PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 201 * MS, 201 * MS);
        p.intervals[0] = interval(0, 201 * MS, 41 + (double)cases[i].inside_ms);
        p.intervals[0].run_queue = (double)cases[i].queue_ms * 1e6;
        struct budget b = budget_of(&p, 0);
        NEAR(b.term_s[BUDGET_RUN_QUEUE], cases[i].outside);
        NEAR(b.term_s[BUDGET_IDLE], 0.060 - cases[i].outside);
        NEAR(b.term_s[BUDGET_PEER_WAIT], 0.100);
        release(&p);
    }
}

static void files_written_through_mpi_are_disk_as_far_as_the_kernel_blocked(void **state) {
    struct plan p = {.end_ns = 101 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 1);
    PLANT(&p.log, 0, 0, "MPI_File_write_at", -1, -1, 8, 1 * MS, 101 * MS, HAS_CPU,
          .cpu_ns = 10 * MS);
    p.intervals[0] = interval(0, 101 * MS, 11);
    p.intervals[0].disk = 70e6;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_DISK], 0.070);
    NEAR(b.term_s[BUDGET_FILE], 0.030);
    NEAR(b.term_s[BUDGET_OVERHEAD], 0.001); /* Init */
    p.intervals[0].disk = NAN;              /* its host waited for a disk, and so did it in that
                                               call */
    p.intervals[0].io_pressure = 60e6;
    b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_DISK], 0.060);
    NEAR(b.term_s[BUDGET_FILE], 0.040);
    p.intervals[0].io_pressure = 0;
    b = budget_of(&p, 0);
    assert_true(isnan(b.term_s[BUDGET_DISK]));
    NEAR(b.term_s[BUDGET_FILE], 0.100);
    NEAR(b.closure_pct, 100);
    release(&p);
}

static void pressure_of_the_host_outside_of_files_is_no_wait_for_a_disk(void **state) {
    (void)state;
    struct budget b = gap_with(
        (struct budget_interval){.disk = NAN, .io_pressure = 60e6, .mpi = NAN, .sending = NAN});
    assert_true(isnan(b.term_s[BUDGET_DISK]));
    NEAR(b.term_s[BUDGET_IDLE], 0.060);
}

static void who_writes_with_all_waits_for_the_last_to_come_and_then_writes(void **state) {
    struct plan p = {.end_ns = 101 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_File_write_at_all", -1, -1, 8, 1 * MS, 101 * MS, HAS_CPU,
          .cpu_ns = 100 * MS, .comm = 9);
    PLANT(&p.log, 1, 1, "MPI_File_write_at_all", -1, -1, 8, 31 * MS, 101 * MS, HAS_CPU | HAS_GAP,
          .cpu_ns = 70 * MS, .gap_cpu_ns = 30 * MS, .comm = 9);
    p.intervals[0] = interval(0, 101 * MS, 101);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.030);
    NEAR(b.term_s[BUDGET_FILE], 0.070);
    NEAR(p.awaited[1], 30e6);
    b = budget_of(&p, 1);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0);
    NEAR(b.term_s[BUDGET_FILE], 0.070);
    release(&p);
}

/* Some libraries let each rank write its own part: a rank that finished before others came waited
 * for none.
 */
static void who_has_written_before_others_came_did_not_wait_for_them(void **state) {
    struct plan p = {.end_ns = 101 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_File_write_all", -1, -1, 8, 1 * MS, 51 * MS, 0, .comm = 9);
    PLANT(&p.log, 1, 1, "MPI_File_write_all", -1, -1, 8, 61 * MS, 101 * MS, 0, .comm = 9);
    p.intervals[0] = interval(0, 101 * MS, 51);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0);
    NEAR(b.term_s[BUDGET_FILE], 0.050);
    release(&p);
}

static void a_wait_for_a_file_is_no_transfer(void **state) {
    struct plan p = {.end_ns = 101 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_File_iwrite_at", -1, -1, 8, 1 * MS, 2 * MS, HAS_CPU, .cpu_ns = 1 * MS);
    PLANT(&p.log, 0, 0, "MPI_File_iwrite_at", -1, -1, 8, 1 * MS, 101 * MS, FROM_START);
    PLANT(&p.log, 0, 0, "MPI_Wait", -1, -1, 0, 2 * MS, 101 * MS, HAS_CPU, .cpu_ns = 99 * MS);
    p.intervals[0] = interval(0, 101 * MS, 101);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_FILE], 0.100);
    NEAR(b.term_s[BUDGET_TRANSFER], 0);
    release(&p);
}

/* ---- threads ---- */

/* The thread that calls MPI sleeps 80 of 100 ms; other threads of its process run and queue. */
static struct budget joined_with(double cpu_ms, double queue_ms, double longest_ms,
                                 double foreign_ms) {
    struct plan p = {.end_ns = 101 * MS, .n_intervals = 1};
    begin(&p, 1);
    PLANT(&p.log, 0, 0, "MPI_Barrier", -1, -1, 0, 101 * MS, 101 * MS, HAS_GAP,
          .gap_cpu_ns = 20 * MS);
    p.intervals[0] = interval(0, 101 * MS, 21 + cpu_ms);
    p.intervals[0].run_queue = queue_ms * 1e6;
    p.intervals[0].longest = longest_ms * 1e6;
    p.intervals[0].foreign = foreign_ms * 1e6;
    struct budget b = budget_of(&p, 0);
    NEAR(b.closure_pct, 100);
    release(&p);
    return b;
}

static void a_rank_computes_while_its_other_threads_do(void **state) {
    (void)state;
    struct budget b = joined_with(60, 0, 60, NAN);
    NEAR(b.term_s[BUDGET_CPU], 0.080);
    NEAR(b.term_s[BUDGET_IDLE], 0.020);
    NEAR(b.other_cpu_s, 0);
    b = joined_with(240, 0, 80, NAN); /* three of them at once, all the time */
    NEAR(b.term_s[BUDGET_CPU], 0.100);
    NEAR(b.other_cpu_s, 0.160);
    b = joined_with(60, 0, 20, NAN); /* three of them at once, for 20 ms */
    NEAR(b.term_s[BUDGET_CPU], 0.040);
    NEAR(b.term_s[BUDGET_IDLE], 0.060);
}

static void threads_without_a_core_want_one(void **state) {
    (void)state;
    struct budget b = joined_with(50, 30, 50, NAN);
    NEAR(b.term_s[BUDGET_CPU], 0.070);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.030);
    b = joined_with(160, 160, 0, 500); /* four threads, each on a core that another process has for
                                          half of the time */
    NEAR(b.term_s[BUDGET_CPU], 0.060);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.040);
}

static void threads_that_queue_behind_their_own_siblings_want_no_core(void **state) {
    (void)state;
    struct budget b =
        joined_with(80, 240, 0, 0); /* four on one core, which no other process wants */
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0);
    NEAR(b.term_s[BUDGET_CPU], 0.100);
    b = joined_with(80, 240, 0, 10); /* except for 10 ms */
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.010);
    NEAR(b.term_s[BUDGET_CPU], 0.090);
}

/* CPU time that the kernel counts a tick late is the thread's own time. */
static void cpu_time_that_is_counted_late_is_no_other_thread(void **state) {
    struct plan p = {.end_ns = 201 * MS, .n_intervals = 2};
    (void)state;
    begin(&p, 1);
    PLANT(&p.log, 0, 0, "MPI_Barrier", -1, -1, 0, 101 * MS, 101 * MS, HAS_CPU | HAS_GAP,
          .gap_cpu_ns = 100 * MS);
    PLANT(&p.log, 0, 0, "MPI_Barrier", -1, -1, 0, 201 * MS, 201 * MS, HAS_CPU | HAS_GAP,
          .gap_cpu_ns = 50 * MS);
    p.intervals[0] = interval(0, 101 * MS, 95);
    p.intervals[1] = interval(101 * MS, 201 * MS, 56);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_CPU], 0.150);
    NEAR(b.term_s[BUDGET_IDLE], 0.050);
    release(&p);
}

/* The counted thread calls more often, but sleeps while another one receives. */
static void a_rank_waits_for_a_peer_while_another_of_its_threads_does(void **state) {
    struct plan p = {.end_ns = 101 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Recv", 1, 1, 8, 11 * MS, 81 * MS, 0, .thread = 1);
    PLANT(&p.log, 0, 0, "MPI_Barrier", -1, -1, 0, 101 * MS, 101 * MS, HAS_GAP,
          .gap_cpu_ns = 20 * MS);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 61 * MS, 80 * MS);
    PLANT(&p.log, 1, 1, "MPI_Barrier", -1, -1, 0, 101 * MS, 101 * MS, 0);
    p.intervals[0] = interval(0, 101 * MS, 21);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_CPU], 0.020);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.050);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.020);
    NEAR(b.term_s[BUDGET_IDLE], 0.010);
    NEAR(b.closure_pct, 100);
    p.intervals[0].cpu = 71e6; /* computing of a third thread goes first */
    b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_CPU], 0.070);
    NEAR(b.term_s[BUDGET_PEER_WAIT] + b.term_s[BUDGET_TRANSFER], 0.030);
    release(&p);
}

/* ---- stopped ---- */

static void a_process_that_was_stopped_did_not_sleep(void **state) {
    (void)state;
    struct budget b = gap_with((struct budget_interval){.stopped = 45e6, .mpi = NAN});
    NEAR(b.term_s[BUDGET_STOPPED], 0.045);
    NEAR(b.term_s[BUDGET_IDLE], 0.015);
    b = gap_with((struct budget_interval){.stopped = 100e6, .run_queue = 20e6, .mpi = NAN});
    NEAR(b.term_s[BUDGET_STOPPED], 0.040); /* at most the time off the CPU */
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.020);
    NEAR(b.closure_pct, 100);
}

/* A stop during a transfer, but not during the wait before it. */
static void a_stop_inside_mpi_is_no_transfer(void **state) {
    struct plan p = {.end_ns = 101 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Recv", 1, 1, 8, 1 * MS, 101 * MS, HAS_CPU, .cpu_ns = 5 * MS);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 51 * MS, 52 * MS);
    p.intervals[0] = interval(0, 101 * MS, 6);
    p.intervals[0].stopped = 30e6;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.050);
    NEAR(b.term_s[BUDGET_STOPPED], 0.030);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.020);
    release(&p);
}

/* ---- classes ---- */

static void every_term_is_of_one_class(void **state) {
    (void)state;
    unsigned all = 0;
    for (int class = BUDGET_CLASS_OWN; class <= BUDGET_CLASS_MPI; class ++) {
        unsigned bits = budget_class_terms((enum budget_class) class);
        assert_int_equal(all & bits, 0);
        all |= bits;
    }
    assert_int_equal(all, (1u << BUDGET_TERMS) - 1);
    assert_int_equal(budget_outside_terms() & budget_class_terms(BUDGET_CLASS_MPI), 0);
    assert_int_equal(budget_term_class(BUDGET_FILE), BUDGET_CLASS_MPI);
    assert_int_equal(budget_term_class(BUDGET_STOPPED), BUDGET_CLASS_ASLEEP);
    assert_int_equal(budget_term_class(BUDGET_DISK), BUDGET_CLASS_LACKING);
}

/* ---- where little is known ---- */

static void totals_alone_leave_the_inside_unsplit(void **state) {
    struct plan p = {.end_ns = 100 * MS, .n_intervals = 1};
    (void)state;
    p.intervals[0] = interval(0, 100 * MS, 70);
    p.intervals[0].mpi = 50e6;
    p.intervals[0].mpi_cpu = 40e6;
    p.intervals[0].run_queue = 15e6;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_UNSPLIT], 0.050);
    NEAR(b.term_s[BUDGET_CPU], 0.030);
    NEAR(b.term_s[BUDGET_RUN_QUEUE], 0.015 * 30 / 70); /* as the CPU time */
    NEAR(b.term_s[BUDGET_IDLE], 0.020 - 0.015 * 30 / 70);
    assert_true(isnan(b.term_s[BUDGET_PEER_WAIT]) && isnan(b.term_s[BUDGET_TRANSFER]));
    NEAR(b.closure_pct, 100);
    assert_int_equal(b.source, BUDGET_FROM_TOTALS);
}

static void without_mpi_what_connections_had_to_send_is_transfer(void **state) {
    struct plan p = {.end_ns = 100 * MS, .n_intervals = 1};
    (void)state;
    p.intervals[0] = interval(0, 100 * MS, 30);
    p.intervals[0].sending = 25e6;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_CPU], 0.030);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.025);
    NEAR(b.term_s[BUDGET_IDLE], 0.045);
    assert_true(isnan(b.term_s[BUDGET_PEER_WAIT]) && isnan(b.term_s[BUDGET_UNSPLIT]));
    assert_int_equal(b.source, BUDGET_FROM_COUNTERS);
    p.intervals[0].sending = NAN;
    b = budget_of(&p, 0);
    assert_true(isnan(b.term_s[BUDGET_TRANSFER]));
}

static void from_lost_events_on_the_totals_speak(void **state) {
    struct plan p = {.end_ns = 200 * MS, .n_intervals = 2};
    int error;
    (void)state;
    begin(&p, 2);
    for (int i = 0; i < 2; i++) {
        PLANT(&p.log, 0, 0, "MPI_Recv", 1, 1, 8, (100 * i + 60) * MS, (100 * i + 100) * MS,
              HAS_CPU | HAS_GAP, .cpu_ns = 40 * MS, .gap_cpu_ns = (i ? 60 : 59) * MS);
        PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, (100 * i + 80) * MS, (100 * i + 81) * MS);
        p.intervals[i] = interval(100 * i * MS, 100 * (i + 1) * MS, 100);
        p.intervals[i].mpi = 41e6;
        p.intervals[i].mpi_cpu = 41e6;
    }
    mpi_log_rank(&p.log, 0, 0, 1000, &error)->lost_ns = 100 * MS;
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_UNSPLIT], 0.041 + 0.020 + 0.020); /* its last message is uncertain, too */
    NEAR(b.closure_pct, 100);
    assert_int_equal(b.source, BUDGET_FROM_TOTALS);
    p.log.ranks[0].lost_ns = 101 * MS;
    b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.020);
    release(&p);
}

/* Each half of an interval gets its part of the whole count. */
static void what_was_counted_is_charged_once_where_events_end(void **state) {
    struct plan p = {.end_ns = 202 * MS, .n_intervals = 1};
    int error;
    (void)state;
    begin(&p, 1);
    PLANT(&p.log, 0, 0, "MPI_Barrier", -1, -1, 0, 101 * MS, 101 * MS, HAS_GAP,
          .gap_cpu_ns = 40 * MS);
    p.intervals[0] = interval(0, 202 * MS, 81);
    p.intervals[0].mpi = p.intervals[0].mpi_cpu = 2e6;
    p.intervals[0].disk = NAN;
    p.intervals[0].memory = 20e6;
    p.intervals[0].memory_asleep = 30e6;
    p.intervals[0].steal = 20e6;
    mpi_log_rank(&p.log, 0, 0, 1000, &error)->lost_ns = 101 * MS;
    struct budget b = budget_of(&p, 0);
    assert_int_equal(b.source, BUDGET_FROM_TOTALS);
    NEAR(b.term_s[BUDGET_MEMORY], 0.030);
    NEAR(b.term_s[BUDGET_STEAL], 0.020);
    release(&p);
}

static void behind_lost_events_they_speak_again(void **state) {
    struct plan p = {.end_ns = 400 * MS, .n_intervals = 4};
    (void)state;
    begin(&p, 2);
    for (int i = 0; i < 4; i++) {
        if (i != 1)
            PLANT(&p.log, 0, 0, "MPI_Recv", 1, 1, 8, (100 * i + 60) * MS, (100 * i + 100) * MS,
                  HAS_CPU | HAS_GAP, .cpu_ns = 40 * MS, .gap_cpu_ns = (i ? 60 : 59) * MS,
                  .sequence = i + 1);
        PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, (100 * i + 80) * MS, (100 * i + 81) * MS);
        p.intervals[i] = interval(100 * i * MS, 100 * (i + 1) * MS, 100);
        p.intervals[i].mpi = p.intervals[i].mpi_cpu = i ? 40e6 : 41e6;
    }
    for (int r = 0; r < 2; r++)
        PLANT(&p.log, r, r, "MPI_Finalize", -1, -1, 0, 400 * MS, 400 * MS, .sequence = r ? 0 : 5);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_UNSPLIT], 0.120); /* calls that touch the hole are uncertain */
    NEAR(b.term_s[BUDGET_PEER_WAIT], 0.020);
    NEAR(b.term_s[BUDGET_TRANSFER], 0.020);
    NEAR(b.term_s[BUDGET_CPU], 0.239);
    NEAR(b.closure_pct, 100);
    assert_int_equal(b.source, BUDGET_FROM_TOTALS);
    release(&p);
}

static void other_threads_are_told_apart(void **state) {
    struct plan p = {.end_ns = 101 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 1);
    PLANT(&p.log, 0, 0, "MPI_Barrier", -1, -1, 0, 50 * MS, 90 * MS, HAS_CPU | HAS_GAP,
          .cpu_ns = 40 * MS, .gap_cpu_ns = 40 * MS, .thread = 3);
    PLANT(&p.log, 0, 0, "MPI_Finalize", -1, -1, 0, 101 * MS, 101 * MS, HAS_GAP,
          .gap_cpu_ns = 100 * MS);
    p.intervals[0] = interval(0, 101 * MS, 101 + 80);
    struct budget b = budget_of(&p, 0);
    NEAR(b.term_s[BUDGET_CPU], 0.100);
    NEAR(b.other_cpu_s, 0.080);
    NEAR(b.closure_pct, 100);
    release(&p);
}

static void events_that_claim_more_cpu_than_the_kernel_counted_do_not_close(void **state) {
    struct plan p = {.end_ns = 101 * MS, .n_intervals = 1};
    (void)state;
    begin(&p, 1);
    PLANT(&p.log, 0, 0, "MPI_Finalize", -1, -1, 0, 101 * MS, 101 * MS, HAS_GAP,
          .gap_cpu_ns = 100 * MS);
    p.intervals[0] = interval(0, 101 * MS, 81); /* 10 ms of it may be counted later */
    struct budget b = budget_of(&p, 0);
    NEAR(b.closure_pct, 100 * 91.0 / 101);
    assert_false(budget_closes(&b));
    p.intervals[0] = interval(0, 101 * MS, 100);
    b = budget_of(&p, 0);
    assert_true(budget_closes(&b));
    release(&p);
}

static void cpu_time_that_the_kernel_counts_a_tick_later_still_closes(void **state) {
    struct plan p = {.end_ns = 200 * MS, .n_intervals = 2};
    struct window halves[] = {{0, 100 * MS}, {100 * MS, 200 * MS}};
    struct windows windows[] = {{&halves[0], 1}, {&halves[1], 1}};
    struct budget b[2];
    (void)state;
    begin(&p, 1);
    PLANT(&p.log, 0, 0, "MPI_Finalize", -1, -1, 0, 200 * MS, 200 * MS, HAS_GAP,
          .gap_cpu_ns = 200 * MS);
    p.intervals[0] = interval(0, 100 * MS, 94);
    p.intervals[1] = interval(100 * MS, 200 * MS, 106);
    budgets_of(&p, 0, windows, 2, b);
    NEAR(b[0].closure_pct, 100);
    NEAR(b[1].closure_pct, 100);
    NEAR(b[1].other_cpu_s, 0);
    p.intervals[1] = interval(100 * MS, 200 * MS, 90); /* not compensated later */
    budgets_of(&p, 0, windows, 2, b);
    NEAR(b[0].closure_pct, 100);
    NEAR(b[1].closure_pct, 94);
    release(&p);
}

static void windows_share_what_happened_at_their_seams(void **state) {
    struct plan p = {.end_ns = 100 * MS, .n_intervals = 1};
    struct call_matches m = {0};
    const struct window parts[] = {{0, 30 * MS}, {30 * MS, 70 * MS}, {70 * MS, 500 * MS}};
    const struct windows windows[] = {{parts, 1}, {parts + 1, 1}, {parts + 2, 1}, {parts, 3}};
    struct budget b[4];
    (void)state;
    begin(&p, 2);
    PLANT(&p.log, 0, 0, "MPI_Recv", 1, 1, 8, 20 * MS, 80 * MS, HAS_CPU | HAS_GAP, .cpu_ns = 60 * MS,
          .gap_cpu_ns = 19 * MS);
    PLANT(&p.log, 0, 0, "MPI_Finalize", -1, -1, 0, 100 * MS, 100 * MS, HAS_GAP,
          .gap_cpu_ns = 20 * MS);
    PLANT(&p.log, 1, 1, "MPI_Send", 0, 1, 8, 60 * MS, 61 * MS);
    p.intervals[0] = interval(0, 100 * MS, 100);
    assert_int_equal(mpi_log_finish(&p.log), 0);
    assert_int_equal(call_match(&p.log, NULL, &m), 0);
    struct budget_subject s = {.end_ns = 100 * MS,
                               .intervals = p.intervals,
                               .n_intervals = 1,
                               .log = &p.log,
                               .matches = &m};
    assert_int_equal(budget_make(&s, windows, 4, b, NULL), 0);
    NEAR(b[0].term_s[BUDGET_PEER_WAIT], 0.010);
    NEAR(b[1].term_s[BUDGET_PEER_WAIT], 0.030);
    NEAR(b[1].term_s[BUDGET_TRANSFER], 0.010);
    NEAR(b[2].term_s[BUDGET_TRANSFER], 0.010);
    NEAR(b[2].wall_s, 0.030); /* the process ended */
    for (int t = 0; t < BUDGET_TERMS; t++)
        if (t == BUDGET_GPU || t == BUDGET_GPU_COPY)
            assert_true(isnan(b[3].term_s[t])); /* only wait clocks tell */
        else
            NEAR(b[0].term_s[t] + b[1].term_s[t] + b[2].term_s[t], b[3].term_s[t]);
    call_matches_release(&m);
    release(&p);
}

/* ---- programs made at random, with a planted truth ---- */

enum { RANKS = 5, STEPS = 400 };

struct truth {
    double cpu, queue, disk, idle, wait, transfer, overhead;
    double off; /* planted in the counters */
};

struct simulation {
    struct plan p;
    int64_t now[RANKS], offset[RANKS];
    struct truth truth[RANKS];
    double cpu[RANKS]; /* of the process: ms in ns */
    int64_t gap_cpu[RANKS];
    uint64_t seed;
};

static int64_t below(struct simulation *s, int64_t n) {
    return (int64_t)stats_random_below(&s->seed, (size_t)n);
}

/* The time between two calls. */
static void outside(struct simulation *s, int r) {
    int64_t cpu = 200 * US + below(s, 20 * MS), queue = below(s, 2) ? below(s, 3 * MS) : 0;
    int64_t disk = below(s, 3) ? 0 : below(s, 5 * MS), idle = below(s, 3) ? 0 : below(s, 5 * MS);
    s->now[r] += cpu + queue + disk + idle;
    s->gap_cpu[r] = cpu;
    s->truth[r].cpu += (double)cpu;
    s->truth[r].queue += (double)queue;
    s->truth[r].disk += (double)disk;
    s->truth[r].idle += (double)idle;
    s->cpu[r] += (double)cpu;
}

/* One call, which spins from now to end. */
static void inside(struct simulation *s, int r, const char *name, int peer, int tag, int64_t bytes,
                   int64_t waited, int64_t end) {
    PLANT(&s->p.log, r, r, name, peer, tag, bytes, s->now[r] + s->offset[r], end + s->offset[r],
          HAS_CPU | HAS_GAP, .cpu_ns = end - s->now[r], .gap_cpu_ns = s->gap_cpu[r]);
    s->truth[r].wait += (double)waited;
    s->truth[r].transfer += (double)(end - s->now[r] - waited);
    s->cpu[r] += (double)(end - s->now[r]);
    s->now[r] = end;
}

static int64_t latest(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static void message(struct simulation *s, int from, int to, bool buffered) {
    int tag = (int)below(s, 3);
    int64_t bytes = below(s, 1000), latency = 20 * US + below(s, MS), sent = s->now[from];
    int64_t posted = s->now[to], moves = buffered ? sent : latest(sent, posted);
    int64_t came = latest(moves, posted) + latency;
    inside(s, from, "MPI_Send", to, tag, bytes, buffered ? 0 : latest(posted - sent, 0),
           buffered ? sent + 10 * US : moves + latency);
    /* a buffered send ends before its receiver comes, or it has nothing to wait for */
    inside(s, to, "MPI_Recv", from, tag, bytes, latest(sent - posted, 0), came);
}

static void collective(struct simulation *s) {
    int64_t last = 0, began[RANKS];
    for (int r = 0; r < RANKS; r++) {
        began[r] = s->now[r];
        last = latest(last, began[r]);
    }
    for (int r = 0; r < RANKS; r++)
        inside(s, r, "MPI_Allreduce", -1, -1, 8, last - began[r],
               last + 20 * US + below(s, 500 * US));
}

static void simulate(struct simulation *s) {
    begin(&s->p, RANKS);
    for (int r = 0; r < RANKS; r++) {
        s->now[r] = 1 * MS;
        s->truth[r].overhead = s->cpu[r] = 1e6;
    }
    for (int step = 0; step < STEPS; step++) {
        int a = (int)below(s, RANKS), b = (int)below(s, RANKS);
        for (int r = 0; r < RANKS; r++)
            if (step % 10 == 9 || r == a || r == b)
                outside(s, r);
        if (step % 10 == 9)
            collective(s);
        else if (a != b)
            message(s, a, b, below(s, 2) && s->now[b] > s->now[a] + 20 * US);
        else
            inside(s, a, "MPI_Wtick", -1, -1, 0, 0, s->now[a]); /* ends the gap, moves no data */
    }
    for (int r = 0; r < RANKS; r++) {
        outside(s, r);
        inside(s, r, "MPI_Wtick", -1, -1, 0, 0, s->now[r]);
    }
}

static struct budget budget_of_simulated(struct simulation *s, int r) {
    s->p.end_ns = s->now[r] + s->offset[r];
    s->p.n_intervals = 1;
    s->p.intervals[0] = interval(0, s->p.end_ns, s->cpu[r] / 1e6);
    s->p.intervals[0].run_queue = s->truth[r].queue;
    s->p.intervals[0].disk = s->truth[r].disk;
    return budget_of(&s->p, (size_t)r);
}

static void planted_programs_get_exactly_their_budget(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct simulation s = {.seed = seed};
        simulate(&s);
        for (int r = 0; r < RANKS; r++) {
            struct budget b = budget_of_simulated(&s, r);
            NEAR(b.term_s[BUDGET_CPU], s.truth[r].cpu / 1e9);
            NEAR(b.term_s[BUDGET_RUN_QUEUE], s.truth[r].queue / 1e9);
            NEAR(b.term_s[BUDGET_DISK], s.truth[r].disk / 1e9);
            NEAR(b.term_s[BUDGET_IDLE], s.truth[r].idle / 1e9);
            NEAR(b.term_s[BUDGET_PEER_WAIT], s.truth[r].wait / 1e9);
            NEAR(b.term_s[BUDGET_TRANSFER], s.truth[r].transfer / 1e9);
            NEAR(b.term_s[BUDGET_OVERHEAD], s.truth[r].overhead / 1e9);
            assert_true(fabs(b.closure_pct - 100) < 1e-6);
        }
        release(&s.p);
    }
}

/* Clocks with an error within their bound change a term by at most the bound for each message, and
 * never the time outside MPI.
 */
static void clocks_off_within_their_bound_mislead_by_no_more_than_it(void **state) {
    int64_t bounds[RANKS];
    const struct call_clock clock = {bounds, RANKS};
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct simulation s = {.seed = seed, .p = {.clock = &clock}};
        for (int r = 0; r < RANKS; r++) {
            bounds[r] = 300 * US;
            s.offset[r] = below(&s, 2 * bounds[r] + 1);
        }
        simulate(&s);
        for (int r = 0; r < RANKS; r++) {
            struct budget b = budget_of_simulated(&s, r);
            double off = fabs(b.term_s[BUDGET_PEER_WAIT] - s.truth[r].wait / 1e9);
            /* a wait of up to twice the bound may count as one below it */
            assert_true(off <= (double)s.p.log.ranks[r].n * 1200e-6);
            NEAR(b.term_s[BUDGET_CPU], s.truth[r].cpu / 1e9);
            NEAR(b.term_s[BUDGET_PEER_WAIT] + b.term_s[BUDGET_TRANSFER] + b.term_s[BUDGET_OVERHEAD],
                 (s.truth[r].wait + s.truth[r].transfer + s.truth[r].overhead) / 1e9);
        }
        release(&s.p);
    }
}

/* ---- hostile ---- */

static void
whatever_events_and_counters_say_terms_are_finite_and_no_more_than_the_wall(void **state) {
    static const char *const names[] = {
        "MPI_Send",    "MPI_Recv",   "MPI_Isend",  "MPI_Irecv",      "MPI_Waitall", "MPI_Test",
        "MPI_Barrier", "MPI_Reduce", "MPI_Iprobe", "MPI_File_write", "MPI_Put",     "MPI_Sendrecv"};
    uint64_t seed = 3;
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct plan p = {.end_ns = 900, .n_intervals = 4};
        for (int i = 0; i < 150; i++) {
            int64_t enter = (int64_t)stats_random_below(&seed, 1000);
            PLANT(&p.log, (int)stats_random_below(&seed, 3), (int)stats_random_below(&seed, 3),
                  names[stats_random_below(&seed, 12)], (int)stats_random_below(&seed, 4) - 1, 1,
                  (int64_t)stats_random_below(&seed, 2), enter,
                  enter + (int64_t)stats_random_below(&seed, 100),
                  (unsigned)stats_random_below(&seed, 1024),
                  .cpu_ns = (int64_t)stats_random_below(&seed, 300),
                  .gap_cpu_ns = (int64_t)stats_random_below(&seed, 300),
                  .inside_ns = (int64_t)stats_random_below(&seed, 300));
        }
        for (int i = 0; i < 4; i++) {
            double *v = &p.intervals[i].cpu;
            p.intervals[i] = interval(250 * i, 250 * i + 200, 0);
            for (int k = 0; k < 9; k++)
                v[k] = stats_random_below(&seed, 4) ? (double)stats_random_below(&seed, 400) - 50
                                                    : NAN;
        }
        for (size_t r = 0; r < p.log.n; r++) {
            struct budget b = budget_of(&p, r);
            for (int t = 0; t < BUDGET_TERMS; t++)
                assert_true(isnan(b.term_s[t]) || b.term_s[t] >= -1e-15);
            NEAR(sum(&b) + b.unknown_s, b.wall_s);
            assert_true(isfinite(b.closure_pct));
        }
        release(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receive_waits_until_its_sender_came_and_then_transfers),
        cmocka_unit_test(a_collective_waits_for_the_last_to_arrive),
        cmocka_unit_test(a_blocked_send_waits_for_its_receiver_and_a_buffered_one_does_not),
        cmocka_unit_test(a_wait_ends_with_the_latest_of_its_requests),
        cmocka_unit_test(a_wait_shorter_than_the_clocks_can_tell_is_none),
        cmocka_unit_test(an_unknown_clock_shows_no_wait),
        cmocka_unit_test(what_has_no_partner_is_inside_but_unsplit),
        cmocka_unit_test(a_call_without_a_partner_demands_no_core),
        cmocka_unit_test(tests_and_the_backoffs_between_them_wait_for_what_they_complete),
        cmocka_unit_test(what_follows_the_peer_within_the_last_backoff_is_the_delay_of_polling),
        cmocka_unit_test(a_pause_far_longer_than_its_backoffs_is_the_ranks_own),
        cmocka_unit_test(who_computed_between_two_polls_slept_of_its_own_accord),
        cmocka_unit_test(a_pause_that_has_none_like_it_beside_it_is_no_usual_backoff),
        cmocka_unit_test(polls_in_passing_lack_a_core),
        cmocka_unit_test(of_backoffs_that_all_end_late_the_last_lacks_a_core),
        cmocka_unit_test(a_long_message_comes_late_with_every_late_poll),
        cmocka_unit_test(polls_in_a_row_lack_a_core_for_what_they_did_not_spin),
        cmocka_unit_test(a_backoff_that_ends_late_for_want_of_a_core_waits_for_a_core),
        cmocka_unit_test(backoffs_that_grow_are_backoffs),
        cmocka_unit_test(who_computes_between_two_tests_does_not_wait),
        cmocka_unit_test(folded_tests_wait_unless_the_process_computed),
        cmocka_unit_test(a_loop_of_tests_alone_computes_nothing),
        cmocka_unit_test(folded_tests_that_were_preempted_still_close),
        cmocka_unit_test(accesses_in_a_row_move_data_if_one_of_them_took_long_enough),
        cmocka_unit_test(each_cause_of_not_running_is_its_own_term),
        cmocka_unit_test(a_long_time_outside_is_divided_as_the_counters_saw_it),
        cmocka_unit_test(what_counters_cannot_see_is_not_a_number),
        cmocka_unit_test(a_core_taken_away_inside_mpi_counts_as_waiting_for_a_core),
        cmocka_unit_test(a_queue_is_where_the_process_wanted_to_run),
        cmocka_unit_test(files_written_through_mpi_are_disk_as_far_as_the_kernel_blocked),
        cmocka_unit_test(pressure_of_the_host_outside_of_files_is_no_wait_for_a_disk),
        cmocka_unit_test(who_writes_with_all_waits_for_the_last_to_come_and_then_writes),
        cmocka_unit_test(who_has_written_before_others_came_did_not_wait_for_them),
        cmocka_unit_test(a_wait_for_a_file_is_no_transfer),
        cmocka_unit_test(a_rank_computes_while_its_other_threads_do),
        cmocka_unit_test(threads_without_a_core_want_one),
        cmocka_unit_test(threads_that_queue_behind_their_own_siblings_want_no_core),
        cmocka_unit_test(cpu_time_that_is_counted_late_is_no_other_thread),
        cmocka_unit_test(a_rank_waits_for_a_peer_while_another_of_its_threads_does),
        cmocka_unit_test(a_process_that_was_stopped_did_not_sleep),
        cmocka_unit_test(a_stop_inside_mpi_is_no_transfer),
        cmocka_unit_test(every_term_is_of_one_class),
        cmocka_unit_test(totals_alone_leave_the_inside_unsplit),
        cmocka_unit_test(without_mpi_what_connections_had_to_send_is_transfer),
        cmocka_unit_test(from_lost_events_on_the_totals_speak),
        cmocka_unit_test(what_was_counted_is_charged_once_where_events_end),
        cmocka_unit_test(behind_lost_events_they_speak_again),
        cmocka_unit_test(other_threads_are_told_apart),
        cmocka_unit_test(events_that_claim_more_cpu_than_the_kernel_counted_do_not_close),
        cmocka_unit_test(cpu_time_that_the_kernel_counts_a_tick_later_still_closes),
        cmocka_unit_test(windows_share_what_happened_at_their_seams),
        cmocka_unit_test(planted_programs_get_exactly_their_budget),
        cmocka_unit_test(clocks_off_within_their_bound_mislead_by_no_more_than_it),
        cmocka_unit_test(
            whatever_events_and_counters_say_terms_are_finite_and_no_more_than_the_wall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
