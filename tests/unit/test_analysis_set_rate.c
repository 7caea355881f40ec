/* SPDX-License-Identifier: MIT */
/* Links with a rate set by their host: when they are full, and the worth of a replay that does not
 * see the rate.
 */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/causes/link_private.h"
#include "analysis/gain/whatif.h"
#include "analysis/run_model.h"
#include "tests/unit/mpi_plant.h"

#define BOTH (MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU)
#define SET_MB_S 100.0
#define SECONDS 20

/* Sends `much` in some of ten tenths of a second, and little in the others. */
static struct {
    double mb_s, overlimits_s;
    int tenths;
} sends;

static double through_queue(size_t column, double t_s) {
    bool now = (int)(10 * t_s + 0.5) % 10 < sends.tenths;
    return column == QDISC_RATE         ? SET_MB_S * 1e6
           : column == QDISC_OVERLIMITS ? sends.overlimits_s
           : column == QDISC_SEND_BYTES ? (now ? sends.mb_s : 1) * 1e6
                                        : 0;
}

static void plant_queue(struct recording *r) {
    plant(r, RECORDING_QDISC, 1, "eth0 tbf 1:", 0.1, 1u << QDISC_BACKLOG | 1u << QDISC_RATE,
          through_queue);
}

static bool is_full(double mb_s, int tenths, double overlimits_s) {
    struct recording r;
    struct run_model model;
    plant_init(&r, 2, SECONDS);
    for (int rank = 0; rank < 2; rank++)
        plant_process(&r, rank, "train", (struct plant_process){rank, 1, 0, 0});
    sends.mb_s = mb_s;
    sends.tenths = tenths;
    sends.overlimits_s = overlimits_s;
    plant_queue(&r);
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    struct queues queues = link_queues(&model, 0, 1);
    bool full = link_is_full(&model, &queues);
    model_release(&model);
    recording_release(&r);
    return full;
}

/* Half of the rate on average: all of it for half of the time, or half of it all the time. */
static void tenths_of_a_second_at_the_set_rate_fill_a_link(void **state) {
    (void)state;
    assert_true(is_full(95, 5, 1000));
    assert_true(is_full(95, 4, 1000));
    assert_false(is_full(95, 2, 1000));
    assert_false(is_full(48, 10, 1000));
    assert_false(is_full(95, 5, 1)); /* nothing was throttled */
    assert_true(is_full(85, 10, 1000));
}

/* ---- a replay that sees nothing of it ---- */

#define ROUNDS 100
#define OWN_NS (5 * MS)

/* Rank 1 computes, and sends a megabyte, which takes 5, 10, 20 or 40 ms: no link explains these
 * times.
 */
static double send_rounds(struct recording *r) {
    int64_t t = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t sent = t + OWN_NS, there = sent + (int64_t)(5 * MS << i % 4), end = there + US;
        if (r) {
            PLANT(&r->calls, 1, 1, "MPI_Send", 0, 1, 1000000, sent, there, BOTH,
                  .gap_cpu_ns = OWN_NS, .cpu_ns = there - sent);
            PLANT(&r->calls, 0, 0, "MPI_Recv", 1, 1, 1000000, t, there, BOTH, .cpu_ns = there - t);
            for (int rank = 0; rank < 2; rank++)
                PLANT(&r->calls, rank, rank, "MPI_Barrier", -1, -1, 0, there, end);
        }
        t = end;
    }
    return (double)t / 1e9;
}

static struct whatif_answer ask(double overlimits_s, struct whatif_scenario s) {
    struct recording r;
    struct run_model model;
    struct whatif *w;
    struct whatif_answer a;
    plant_init(&r, 2, send_rounds(NULL));
    r.clock_bound_ns = calloc(2, sizeof *r.clock_bound_ns);
    for (int rank = 0; rank < 2; rank++) {
        plant_process(&r, rank, "train", (struct plant_process){rank, 1, 0, 0});
        PLANT(&r.calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 0);
    }
    send_rounds(&r);
    sends.mb_s = 40;
    sends.tenths = 10;
    sends.overlimits_s = overlimits_s;
    plant_queue(&r);
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    assert_int_equal(whatif_new(&model, &w), 0);
    assert_int_equal(whatif_ask(w, &s, 1, &a), 0);
    whatif_free(w);
    model_release(&model);
    recording_release(&r);
    return a;
}

static void a_link_that_holds_back_is_not_harmless_because_a_replay_says_so(void **state) {
    struct whatif_scenario s = {.kind = WHATIF_LINK, .host = 1, .rank = -1, .factor = 100};
    (void)state;
    struct whatif_answer a = ask(0, s);
    assert_true(a.replayed);
    assert_true(a.gain < 0.1);
    assert_true(ask(1000, s).replayed); /* a few packets */
    a = ask(8000, s);
    assert_false(a.replayed);
    assert_true(a.refused.code);
    assert_true(isnan(a.predicted_s) && isnan(a.gain));
    assert_true(a.bound_s < 0.5 * a.measured_s);
    s.host = -1; /* all of them */
    assert_false(ask(8000, s).replayed);
    s.host = 0; /* another host, which throttles nothing */
    assert_true(ask(8000, s).replayed);
    s.host = 1;
    s.rate_bytes_s = 10e6; /* an explicit limit */
    assert_true(ask(8000, s).replayed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tenths_of_a_second_at_the_set_rate_fill_a_link),
        cmocka_unit_test(a_link_that_holds_back_is_not_harmless_because_a_replay_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
