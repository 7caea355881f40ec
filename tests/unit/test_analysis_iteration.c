/* SPDX-License-Identifier: MIT */
/* Iterations without marks: programs with a known loop are observed through their MPI calls, or
 * through the bytes of their hosts, with everything that surrounds a loop in practice.
 */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/facts/iteration/iteration.h"
#include "analysis/facts/series/spectrum.h"
#include "analysis/facts/series/stats.h"
#include "common/error.h"
#include "tests/unit/mpi_plant.h"

/* A rank that writes its own calls: each takes a short time, with computing in between. */
struct writer {
    struct recording *recording;
    int rank;
    int64_t t_ns;
    uint64_t random;
};

static double uniform(uint64_t *random) {
    return (double)stats_random_below(random, 1000000) / 1e6;
}

static void compute(struct writer *w, double ms) {
    w->t_ns += (int64_t)(ms * 1e6 * (0.95 + 0.1 * uniform(&w->random)));
}

static int64_t call_ns = 20 * US;

static void call_from(struct writer *w, const char *name, int peer, int64_t bytes, unsigned flags,
                      uint32_t site) {
    int error;
    struct mpi_log *log = &w->recording->calls;
    struct mpi_rank *r = mpi_log_rank(log, w->rank, w->rank, 1000 + w->rank, &error);
    int function = mpi_log_function(log, name);
    assert_non_null(r);
    struct mpi_event event = {.function = (uint16_t)function,
                              .flags = (uint16_t)flags,
                              .peer = peer,
                              .site = site,
                              .bytes = bytes,
                              .calls = flags & MPI_FLAG_FOLDED ? 2 : 1,
                              .enter_ns = w->t_ns,
                              .exit_ns = w->t_ns + call_ns,
                              .inside_ns = call_ns};
    assert_int_equal(mpi_log_add(log, r, &event, 0), 0);
    w->t_ns += call_ns + US;
}

static void call(struct writer *w, const char *name, int peer, int64_t bytes, uint32_t site) {
    call_from(w, name, peer, bytes, 0, site);
}

static void call_for(struct writer *w, const char *name, int peer, int64_t bytes, uint32_t site,
                     int64_t ms) {
    call_ns = ms * MS;
    call(w, name, peer, bytes, site);
    call_ns = 20 * US;
}

static void begin(struct recording *r, struct writer *w, int rank) {
    *w = (struct writer){r, rank, 0, (uint64_t)rank + 1};
    call(w, "MPI_Init", MPI_NO_PEER, 0, 1);
    for (int i = 0; i < 37; i++) { /* reads its input and distributes it */
        call(w, "MPI_Bcast", 0, 8 << (i * 7 % 5), 100 + (uint32_t)(i % 11));
        compute(w, 3);
    }
}

static void end(struct writer *w) {
    for (int i = 0; i < 9; i++)
        call(w, "MPI_Gather", 0, 64 << i, 200 + (uint32_t)i);
    call(w, "MPI_Finalize", MPI_NO_PEER, 0, 2);
}

static void find(struct recording *r, struct iterations *found) {
    assert_int_equal(mpi_log_finish(&r->calls), 0);
    for (size_t i = 0; i < r->calls.n; i++) {
        const struct mpi_rank *rank = &r->calls.ranks[i];
        if (rank->n && rank->events[rank->n - 1].exit_ns > r->duration_ns)
            r->duration_ns = rank->events[rank->n - 1].exit_ns;
    }
    assert_int_equal(iterations_find(r, found), 0);
}

static double median_ms(const struct rank_iterations *rank) {
    struct window all = {0, INT64_MAX};
    return 1e3 * iteration_median(rank, (struct windows){&all, 1});
}

static void assert_near(double value, double truth, double share) {
    if (!(fabs(value - truth) <= share * truth))
        fail_msg("%g instead of %g", value, truth);
}

static void forget(struct recording *r, struct iterations *found) {
    iterations_release(found);
    recording_release(r);
}

/* ---- calls ---- */

/* Messages with two neighbours, a reduction, and every 25 iterations a test. */
static void step(struct writer *w, int i, int ranks) {
    compute(w, 30);
    call(w, "MPI_Isend", (w->rank + 1) % ranks, 40000, 10);
    call(w, "MPI_Irecv", (w->rank + ranks - 1) % ranks, 40000, 11);
    call(w, "MPI_Waitall", MPI_NO_PEER, 0, 12);
    call(w, "MPI_Allreduce", MPI_NO_PEER, 8, 13);
    if (i % 25 == 24) {
        call(w, "MPI_Reduce", 0, 80, 14);
        call(w, "MPI_Bcast", 0, 80, 15);
    }
}

static void a_loop_is_found_between_preparation_and_end(void **state) {
    struct recording r;
    struct iterations found;
    (void)state;
    plant_init(&r, 4, 1);
    for (int rank = 0; rank < 4; rank++) {
        struct writer w;
        begin(&r, &w, rank);
        for (int i = 0; i < 200; i++)
            step(&w, i, 4);
        end(&w);
    }
    find(&r, &found);
    assert_int_equal(found.source, ITERATION_CALLS);
    assert_int_equal(found.n, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(found.ranks[i].role, found.ranks[0].role);
        assert_near(median_ms(&found.ranks[i]), 30.08, 0.02);
        assert_true(found.ranks[i].n >= 197 && found.ranks[i].n <= 201);
    }
    forget(&r, &found);
}

/* 2 to 40 rounds of a solver in each step: no lag fits until each round is one call. */
static void inner_loops_of_any_length_are_no_iterations(void **state) {
    struct recording r;
    struct iterations found;
    double truth = 0;
    (void)state;
    plant_init(&r, 2, 1);
    for (int rank = 0; rank < 2; rank++) {
        struct writer w;
        uint64_t random = 5; /* both ranks with the same number of rounds */
        begin(&r, &w, rank);
        int64_t start = w.t_ns;
        for (int i = 0; i < 120; i++) {
            int rounds = 2 + (int)stats_random_below(&random, 39);
            for (int k = 0; k < rounds; k++) {
                compute(&w, 1);
                call(&w, "MPI_Sendrecv", 1 - rank, 4096, 20);
                call(&w, "MPI_Allreduce", MPI_NO_PEER, 8, 21);
            }
            compute(&w, 25);
            call(&w, "MPI_Allreduce", MPI_NO_PEER, 64, 22);
        }
        truth = (double)(w.t_ns - start) / 120 / 1e6;
        end(&w);
    }
    find(&r, &found);
    assert_int_equal(found.n, 2);
    const struct rank_iterations *rank = &found.ranks[0];
    assert_true(rank->n >= 115 && rank->n <= 121);
    double mean = (double)(rank->items[rank->n - 1].end_ns - rank->items[0].end_ns) /
                  (double)(rank->n - 1) / 1e6;
    assert_near(mean, truth, 0.02);
    forget(&r, &found);
}

/* Any number of tests before a message arrives from an unknown sender. */
static void polling_and_any_source_do_not_hide_the_loop(void **state) {
    struct recording r;
    struct iterations found;
    (void)state;
    plant_init(&r, 3, 1);
    for (int rank = 0; rank < 3; rank++) {
        struct writer w;
        begin(&r, &w, rank);
        for (int i = 0; i < 100; i++) {
            for (int m = 0; rank == 0 && m < 2; m++) {
                int from = 1 + (int)stats_random_below(&w.random, 2);
                for (size_t k = stats_random_below(&w.random, 5); k > 0; k--)
                    call_from(&w, "MPI_Iprobe", MPI_NO_PEER, 0, MPI_FLAG_FOLDED, 29);
                call_from(&w, "MPI_Recv", from, 1 << 20, MPI_FLAG_WILDCARD, 30);
                compute(&w, 12);
                call(&w, "MPI_Send", from, 1 << 20, 31);
            }
            if (rank == 0)
                continue;
            compute(&w, 24);
            call(&w, "MPI_Isend", 0, 1 << 20, 32);
            call(&w, "MPI_Irecv", 0, 1 << 20, 33);
            for (size_t k = stats_random_below(&w.random, 9); k > 0; k--)
                call_from(&w, "MPI_Test", MPI_NO_PEER, 0, k % 3 ? MPI_FLAG_FOLDED : 0, 34);
        }
        end(&w);
    }
    find(&r, &found);
    assert_int_equal(found.n, 3);
    assert_int_not_equal(found.ranks[0].role, found.ranks[1].role);
    assert_int_equal(found.ranks[1].role, found.ranks[2].role);
    assert_near(median_ms(&found.ranks[1]), 24.1, 0.03);
    assert_near(median_ms(&found.ranks[2]), 24.1, 0.03);
    forget(&r, &found);
}

/* A server and its workers, which all send in pieces through one shared routine. */
static void a_server_plays_another_role_than_its_workers(void **state) {
    struct recording r;
    struct iterations found;
    (void)state;
    plant_init(&r, 3, 1);
    for (int rank = 0; rank < 3; rank++) {
        struct writer w;
        begin(&r, &w, rank);
        for (int i = 0; i < 60; i++) {
            compute(&w, 40);
            for (int peer = 1; peer < 3 && rank == 0; peer++) {
                call(&w, "MPI_Recv", peer, 16, 40);
                call(&w, "MPI_Send", peer, 16, 41);
                for (int k = 0; k < 5; k++)
                    call(&w, "MPI_Isend", peer, 1 << 20, 42);
            }
            if (rank) {
                call(&w, "MPI_Send", 0, 16, 43);
                call(&w, "MPI_Recv", 0, 16, 44);
                for (int k = 0; k < 5; k++)
                    call(&w, "MPI_Isend", 0, 1 << 20, 42);
            }
        }
        end(&w);
    }
    find(&r, &found);
    assert_int_equal(found.n, 3);
    assert_int_not_equal(found.ranks[0].role, found.ranks[1].role);
    assert_int_equal(found.ranks[1].role, found.ranks[2].role);
    for (size_t i = 0; i < 3; i++)
        assert_near(median_ms(&found.ranks[i]), 40.2, 0.03);
    forget(&r, &found);
}

/* n ranks that need not wait for each other, each with its own ms of computing in a round. */
static void plant_paces(struct recording *r, struct iterations *found, const double *ms, int n) {
    plant_init(r, (size_t)n, 1);
    for (int rank = 0; rank < n; rank++) {
        struct writer w;
        begin(r, &w, rank);
        for (int i = 0; i < 100; i++) {
            compute(&w, ms[rank]);
            call(&w, "MPI_Put", 0, 1 << 20, 50);
            call(&w, "MPI_Get", 0, 1 << 20, 51);
        }
        end(&w);
    }
    find(r, found);
    assert_int_equal(found->n, n);
    assert_false(found->lockstep);
    for (int rank = 0; rank < n; rank++)
        assert_near(median_ms(&found->ranks[rank]), ms[rank] + 0.04, 0.02);
}

static void a_slow_rank_keeps_its_own_pace(void **state) {
    struct recording r;
    struct iterations found;
    (void)state;
    plant_paces(&r, &found, (double[]){22, 22, 33}, 3);
    forget(&r, &found);
}

/* Between the periods of two ranks there would be a period that neither has. */
static void a_rank_many_times_as_slow_goes_round_as_its_peers(void **state) {
    const struct {
        double ms[3];
        int n;
    } paces[] = {{{22, 110}, 2}, {{400, 21}, 2}, {{22, 22, 440}, 3}, {{110, 110, 22}, 3}};
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(paces); i++) {
        struct recording r;
        struct iterations found;
        plant_paces(&r, &found, paces[i].ms, paces[i].n);
        forget(&r, &found);
    }
}

/* Accesses that are recorded one by one now and then, and a call that is never recorded in rows. */
static void an_odd_row_does_not_hide_a_loop(void **state) {
    struct recording r;
    struct iterations found;
    (void)state;
    plant_init(&r, 2, 1);
    for (int rank = 0; rank < 2; rank++) {
        struct writer w;
        begin(&r, &w, rank);
        call_from(&w, "MPI_Allreduce", MPI_NO_PEER, 8, MPI_FLAG_FOLDED, 60);
        for (int i = 0; i < 100; i++) {
            compute(&w, 22);
            call_from(&w, "MPI_Put", 0, 1 << 20, i == 40 ? MPI_FLAG_FOLDED : 0, 50);
            call(&w, "MPI_Get", 0, 1 << 20, 51);
        }
        end(&w);
    }
    assert_int_equal(r.calls.refused, 2);
    find(&r, &found);
    assert_int_equal(found.n, 2);
    assert_near(median_ms(&found.ranks[0]), 22.04, 0.02);
    forget(&r, &found);
}

/* n iterations of two ranks, each written by `body`. */
static void plant_loop(struct recording *r, struct iterations *found, size_t n,
                       void (*body)(struct writer *w, size_t i)) {
    plant_init(r, 2, 1);
    for (int rank = 0; rank < 2; rank++) {
        struct writer w;
        begin(r, &w, rank);
        for (size_t i = 0; i < n; i++)
            body(&w, i);
        end(&w);
    }
    find(r, found);
    assert_int_equal(found->source, ITERATION_CALLS);
    assert_int_equal(found->n, 2);
}

/* Messages to the neighbours are below 4 KiB in the first half, and about 4 KiB in the second. */
static void neighbours(struct writer *w, size_t i) {
    int64_t bytes = i < 90 ? 4000 : 4000 + (int64_t)stats_random_below(&w->random, 200);
    compute(w, 30);
    call(w, "MPI_Send", 1 - w->rank, bytes, 40);
    call(w, "MPI_Recv", 1 - w->rank, bytes, 41);
}

static void sizes_about_a_power_of_two_do_not_end_the_loop(void **state) {
    struct recording r;
    struct iterations found;
    (void)state;
    plant_loop(&r, &found, 200, neighbours);
    for (size_t i = 0; i < 2; i++) {
        assert_near(median_ms(&found.ranks[i]), 30.04, 0.02);
        assert_true(found.ranks[i].n >= 197 && found.ranks[i].n <= 201);
    }
    forget(&r, &found);
}

/* Pieces sent from one place, of which only the last has another size; each takes long. */
static void pieces(struct writer *w, size_t i) {
    (void)i;
    compute(w, 50);
    for (int piece = 0; piece < 10; piece++) {
        compute(w, 5);
        call(w, "MPI_Send", 1 - w->rank, piece < 9 ? 1 << 18 : 1000, 42);
    }
}

static void the_size_of_the_last_piece_ends_an_iteration(void **state) {
    struct recording r;
    struct iterations found;
    (void)state;
    plant_loop(&r, &found, 100, pieces);
    for (size_t i = 0; i < 2; i++) {
        assert_near(median_ms(&found.ranks[i]), 100.2, 0.02);
        assert_true(found.ranks[i].n >= 97 && found.ranks[i].n <= 101);
    }
    forget(&r, &found);
}

/* Steps of 8 ms; every 20 of them the neighbours are determined again. */
static void short_step(struct writer *w, size_t i) {
    compute(w, 8);
    for (uint32_t k = 0; k < 12; k++)
        call(w, k % 2 ? "MPI_Recv" : "MPI_Send", 1 - w->rank, 4000, 70 + k);
    for (uint32_t k = 0; i % 20 == 19 && k < 10; k++)
        call(w, "MPI_Sendrecv", 1 - w->rank, 4000, 90 + k);
}

/* 40 pieces of 6 ms, each requested, without computing; then the computing. */
static void asked_for(struct writer *w, size_t i) {
    (void)i;
    for (int piece = 0; piece < 40; piece++) {
        call(w, "MPI_Send", 1 - w->rank, 8, 71);
        call_for(w, "MPI_Recv", 1 - w->rank, 1 << 18, 72, 6);
    }
    compute(w, 20);
    call(w, "MPI_Allreduce", MPI_NO_PEER, 8, 73);
}

static void a_short_round_is_a_step_only_if_it_computes(void **state) {
    struct recording r;
    struct iterations found;
    (void)state;
    plant_loop(&r, &found, 400, short_step);
    assert_near(median_ms(&found.ranks[0]), 8.25, 0.02);
    assert_true(found.ranks[0].n >= 396 && found.ranks[0].n <= 401);
    forget(&r, &found);
    plant_loop(&r, &found, 60, asked_for);
    assert_near(median_ms(&found.ranks[0]), 261.7, 0.02);
    forget(&r, &found);
}

/* In the first 8 of 200 steps the last call comes from another place. */
static void late_habit(struct writer *w, size_t i) {
    compute(w, 25);
    call(w, "MPI_Send", 1 - w->rank, 4000, 44);
    call(w, "MPI_Recv", 1 - w->rank, 4000, 45);
    call(w, "MPI_Allreduce", MPI_NO_PEER, 8, i < 8 ? 46 : 47);
}

static void rounds_are_counted_from_the_first(void **state) {
    struct recording r;
    struct iterations found;
    (void)state;
    plant_loop(&r, &found, 200, late_habit);
    assert_true(found.ranks[0].n >= 198);
    forget(&r, &found);
}

static void calls_in_no_order_have_no_iterations(void **state) {
    struct recording r;
    struct iterations found;
    (void)state;
    plant_init(&r, 2, 1);
    for (int rank = 0; rank < 2; rank++) {
        struct writer w;
        begin(&r, &w, rank);
        for (int i = 0; i < 3000; i++) {
            compute(&w, 2);
            call(&w, "MPI_Send", 1 - rank, 1 << stats_random_below(&w.random, 12),
                 60 + (uint32_t)stats_random_below(&w.random, 8));
        }
        end(&w);
    }
    find(&r, &found);
    assert_int_equal(found.source, ITERATION_NONE);
    assert_int_equal(found.n, 0);
    forget(&r, &found);
}

static void marks_win(void **state) {
    struct recording r;
    struct iterations found;
    (void)state;
    plant_init(&r, 2, 10);
    for (int rank = 0; rank < 2; rank++) {
        struct writer w;
        begin(&r, &w, rank);
        for (int i = 0; i < 100; i++)
            step(&w, i, 2);
        for (int i = 0; i < 20; i++)
            plant_mark(&r, MARK_ITERATION, "", rank, rank, i, i * 0.1, 0.1);
    }
    find(&r, &found);
    assert_int_equal(found.source, ITERATION_MARKER);
    assert_near(median_ms(&found.ranks[0]), 100, 1e-9);
    forget(&r, &found);
}

/* Random calls with repeated inner loops: the period is found within 2 %, and so are the rounds. */
static void loops_of_any_shape_are_found(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct recording r;
        struct iterations found;
        uint64_t random = seed;
        size_t n = 1 + stats_random_below(&random, 30),
               rounds = 40 + stats_random_below(&random, 60);
        size_t extra = 22 + stats_random_below(&random, 40);
        uint32_t sites[30], inner[30];
        for (size_t k = 0; k < n; k++) {
            sites[k] = 500 + (uint32_t)stats_random_below(&random, 12);
            inner[k] =
                stats_random_below(&random, 6) ? 1 : 1 + (uint32_t)stats_random_below(&random, 20);
        }
        sites[0] = 499; /* otherwise the calls might contain a shorter loop by chance */
        inner[0] = 1;
        plant_init(&r, 1, 1);
        struct writer w;
        begin(&r, &w, 0);
        int64_t start = w.t_ns;
        for (size_t i = 0; i < rounds; i++) {
            compute(&w, 25);
            for (size_t k = 0; k < n; k++)
                for (uint32_t m = 0; m < inner[k]; m++)
                    call(&w, "MPI_Sendrecv", 0, 1024, sites[k]);
            if (i % extra == extra - 1)
                call(&w, "MPI_Allreduce", MPI_NO_PEER, 8, 600);
        }
        double truth = (double)(w.t_ns - start) / (double)rounds / 1e6;
        end(&w);
        find(&r, &found);
        if (found.n != 1)
            fail_msg("seed %u: no loop", (unsigned)seed);
        assert_near(median_ms(&found.ranks[0]), truth, 0.02);
        /* the stretch after the last extra call may be too short to count */
        if (4 * found.ranks[0].n < 3 * rounds || found.ranks[0].n > rounds + 1)
            fail_msg("seed %u: %zu of %zu rounds", (unsigned)seed, found.ranks[0].n, rounds);
        forget(&r, &found);
    }
}

/* ---- counters ---- */

static double period_s, duty;

/* Seconds of bursts up to t. */
static double burst_time(double t_s) {
    double whole = floor(t_s / period_s);
    return whole * duty * period_s + fmax(0, t_s - whole * period_s - (1 - duty) * period_s);
}

/* Growth of a counter in 0.1 s about t. */
static double bursts(size_t column, double t_s) {
    double share = (burst_time(t_s + 0.05) - burst_time(t_s - 0.05)) / 0.1;
    return column == NET_SEND_BYTES ? 1e6 + 100e6 * share : 0;
}

static double noise(size_t column, double t_s) {
    uint64_t state = (uint64_t)(t_s * 1000) * 77 + column;
    return 1e8 * uniform(&state);
}

static double steady(size_t column, double t_s) {
    (void)column;
    (void)t_s;
    return 50e6;
}

static void look_at(struct recording *r, plant_value *value, struct iterations *found) {
    plant_init(r, 2, 90);
    for (int h = 0; h < 2; h++) {
        plant(r, RECORDING_NET, h, "eth0", 0.1, 0, value);
        plant_process(r, h, "train", (struct plant_process){h, 0.9, 0, 0});
    }
    assert_int_equal(iterations_find(r, found), 0);
}

static void bursts_on_the_network_tell_the_pace(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct recording r;
        struct iterations found;
        uint64_t random = seed;
        period_s = 0.45 + 4 * uniform(&random);
        duty = 0.15 + 0.7 * uniform(&random);
        look_at(&r, bursts, &found);
        assert_int_equal(found.source, ITERATION_COUNTERS);
        assert_int_equal(found.n, 2);
        assert_int_equal(found.ranks[1].rank, 1);
        assert_int_equal(found.ranks[1].pid, 1001);
        assert_near(median_ms(&found.ranks[0]), 1e3 * period_s, 0.02);
        forget(&r, &found);
    }
}

static void noise_and_a_steady_stream_have_no_pace(void **state) {
    struct recording r;
    struct iterations found;
    (void)state;
    look_at(&r, noise, &found);
    assert_int_equal(found.source, ITERATION_NONE);
    forget(&r, &found);
    look_at(&r, steady, &found);
    assert_int_equal(found.source, ITERATION_NONE);
    forget(&r, &found);
}

/* The highest peak of noise is no period, however few the samples; one in a thousand may pass. */
static void the_highest_of_noise_is_no_peak(void **state) {
    size_t found = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        double values[48];
        uint64_t random = seed;
        struct spectrum_period period;
        for (size_t i = 0; i < 48; i++)
            values[i] = uniform(&random);
        assert_int_equal(spectrum_find_period(values, 48, &period), 0);
        found += !isnan(period.samples);
    }
    assert_true(found <= 2);
}

/* ---- the transform ---- */

static void a_transform_and_its_inverse_give_the_same(void **state) {
    double re[64], im[64], was[64];
    uint64_t random = 3;
    (void)state;
    for (int i = 0; i < 64; i++) {
        was[i] = re[i] = uniform(&random);
        im[i] = 0;
    }
    spectrum_transform(re, im, 64, 0);
    double energy = 0, own = 0;
    for (int i = 0; i < 64; i++) {
        energy += (re[i] * re[i] + im[i] * im[i]) / 64;
        own += was[i] * was[i];
    }
    assert_near(energy, own, 1e-12);
    spectrum_transform(re, im, 64, 1);
    for (int i = 0; i < 64; i++)
        assert_near(re[i] / 64, was[i], 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_is_found_between_preparation_and_end),
        cmocka_unit_test(inner_loops_of_any_length_are_no_iterations),
        cmocka_unit_test(polling_and_any_source_do_not_hide_the_loop),
        cmocka_unit_test(a_server_plays_another_role_than_its_workers),
        cmocka_unit_test(an_odd_row_does_not_hide_a_loop),
        cmocka_unit_test(a_slow_rank_keeps_its_own_pace),
        cmocka_unit_test(a_rank_many_times_as_slow_goes_round_as_its_peers),
        cmocka_unit_test(sizes_about_a_power_of_two_do_not_end_the_loop),
        cmocka_unit_test(the_size_of_the_last_piece_ends_an_iteration),
        cmocka_unit_test(a_short_round_is_a_step_only_if_it_computes),
        cmocka_unit_test(rounds_are_counted_from_the_first),
        cmocka_unit_test(calls_in_no_order_have_no_iterations),
        cmocka_unit_test(marks_win),
        cmocka_unit_test(loops_of_any_shape_are_found),
        cmocka_unit_test(bursts_on_the_network_tell_the_pace),
        cmocka_unit_test(noise_and_a_steady_stream_have_no_pace),
        cmocka_unit_test(the_highest_of_noise_is_no_peak),
        cmocka_unit_test(a_transform_and_its_inverse_give_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
