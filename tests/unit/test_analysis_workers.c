/* SPDX-License-Identifier: MIT */
/* More or fewer workers of a parameter server that does a batch of its own as well. */
#include <errno.h>
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

#define ROUNDS 30
#define BYTES 500000
#define RATE 50e6 /* bytes/s of the server's link: 10 ms a message */
#define BATCH_S 0.05
#define APPLY_S 0.004
#define WORKERS_MAX 8

static bool unlimited; /* the server's link is known to carry far more */

static void call(struct recording *r, int rank, const char *name, int peer, double enter_s,
                 double exit_s, double own_s) {
    if (r)
        PLANT(&r->calls, rank, rank, name, peer, 3, BYTES, (int64_t)(enter_s * 1e9),
              (int64_t)(exit_s * 1e9), MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU,
              .gap_cpu_ns = (int64_t)(own_s * 1e9), .cpu_ns = (int64_t)((exit_s - enter_s) * 1e9));
}

/* The server, rank 0, sends its model to each worker, does its batch, and takes each gradient in.
 * Without a recording only the time counts.
 */
static double play(struct recording *r, int workers, double batch_s) {
    double t = 0.1, since[WORKERS_MAX + 1];
    for (int w = 0; w <= workers; w++)
        since[w] = t;
    for (int i = 0; i < ROUNDS; i++) {
        double own = i ? APPLY_S : 0, ready[WORKERS_MAX + 1];
        for (int w = 1; w <= workers; w++) {
            double sent = t + BYTES / RATE;
            call(r, 0, "MPI_Send", w, t, sent, w == 1 ? own : 0);
            call(r, w, "MPI_Recv", 0, since[w], sent, 0);
            ready[w] = sent + BATCH_S;
            t = sent;
        }
        t += batch_s;
        for (int w = 1; w <= workers; w++) {
            double taken = fmax(t, ready[w]) + BYTES / RATE;
            call(r, 0, "MPI_Recv", w, t, taken, w == 1 ? batch_s : APPLY_S);
            call(r, w, "MPI_Send", 0, ready[w], taken, BATCH_S);
            since[w] = taken;
            t = taken + APPLY_S;
        }
    }
    return t;
}

static struct whatif_answer ask(int workers, double batch_s, int more, int *ret_result) {
    struct recording r;
    struct run_model model;
    struct whatif *w;
    struct whatif_answer a = {.predicted_s = NAN};
    struct whatif_scenario s = {WHATIF_WORKERS, .host = -1, .rank = -1, .workers = more};
    plant_init(&r, (size_t)workers + 1, play(NULL, workers, batch_s));
    r.clock_bound_ns = calloc((size_t)workers + 1, sizeof *r.clock_bound_ns);
    for (int rank = 0; rank <= workers; rank++) {
        plant_process(&r, rank, "train", (struct plant_process){rank, 1, 0, 0});
        PLANT(&r.calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 100 * MS);
    }
    play(&r, workers, batch_s);
    for (int rank = 0; unlimited && rank <= workers; rank++)
        for (int way = 0; way < 2; way++)
            assert_int_equal(
                recording_add_ceiling(&r, rank, way ? METRIC_NET_SEND : METRIC_NET_RECV, 10000), 0);
    assert_int_equal(mpi_log_finish(&r.calls), 0);
    assert_int_equal(model_build(&r, &model), 0);
    assert_int_equal(whatif_new(&model, &w), 0);
    *ret_result = whatif_ask(w, &s, 1, &a);
    whatif_free(w);
    model_release(&model);
    recording_release(&r);
    return a;
}

/* The replay has the same ranks with slower messages, so the first of them comes a little late. */
#define NEAR_ENOUGH 0.06

static void expect(int workers, double batch_s, int more) {
    int result;
    struct whatif_answer a = ask(workers, batch_s, more, &result);
    double should_s = warm_s(play(NULL, workers + more, batch_s), a.measured_s);
    assert_int_equal(result, 0);
    if (!a.replayed || !(fabs(a.predicted_s / should_s - 1) < NEAR_ENOUGH))
        fail_msg("%.4g s become %.4g s, not %.4g s", a.measured_s, a.predicted_s, should_s);
}

static void a_server_with_a_batch_of_its_own_serves_more_and_computes_the_same(void **state) {
    (void)state;
    expect(3, BATCH_S, 1);
    expect(3, BATCH_S, 3);
    expect(3, BATCH_S, -1);
}

static void a_server_that_only_serves_does_so_for_each_worker(void **state) {
    (void)state;
    expect(3, 0, 2);
    expect(3, 0, -1);
}

static void messages_that_the_servers_link_never_limited_are_refused(void **state) {
    struct whatif_answer a;
    int result;
    (void)state;
    unlimited = true;
    a = ask(3, BATCH_S, 1, &result);
    unlimited = false;
    assert_int_equal(result, 0);
    assert_int_equal(a.refused.code, REFUSAL_SERVER_UNKNOWN);
    assert_true(isnan(a.predicted_s));
}

static void of_two_ranks_neither_is_the_server(void **state) {
    int result;
    (void)state;
    ask(1, BATCH_S, 1, &result);
    assert_int_equal(result, -EINVAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_with_a_batch_of_its_own_serves_more_and_computes_the_same),
        cmocka_unit_test(a_server_that_only_serves_does_so_for_each_worker),
        cmocka_unit_test(messages_that_the_servers_link_never_limited_are_refused),
        cmocka_unit_test(of_two_ranks_neither_is_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
