/* SPDX-License-Identifier: MIT */
/* Programs whose critical path is known by construction. Rank i runs on host i. */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/evidence/flows.h"
#include "analysis/facts/series/stats.h"
#include "analysis/run_model.h"
#include "analysis/time/critical_private.h"
#include "tests/unit/mpi_plant.h"

#define SECONDS 10
#define BOTH (MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU)
#define NEAR(a, b)                                                                                 \
    do {                                                                                           \
        double is_ = (a), should_ = (b);                                                           \
        if (!(fabs(is_ - should_) <= 1e-6))                                                        \
            fail_msg("%s is %.9g, not %.9g", #a, is_, should_);                                    \
    } while (0)

/* Ranks that have only begun. */
static void begin(struct recording *r, int ranks) {
    plant_init(r, (size_t)ranks, SECONDS);
    r->clock_bound_ns = calloc((size_t)ranks, sizeof *r->clock_bound_ns);
    for (int rank = 0; rank < ranks; rank++) {
        plant_process(r, rank, "train", (struct plant_process){rank, 1, 0, 0});
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 0);
    }
}

/* A call of a rank that computed until then. */
#define CALL(r, rank, name, peer, bytes, from_ms, to_ms)                                           \
    PLANT(&(r)->calls, rank, rank, name, peer, 1, bytes, (from_ms)*MS, (to_ms)*MS, BOTH,           \
          .cpu_ns = ((to_ms) - (from_ms)) * MS, .gap_cpu_ns = 10 * S)

static const struct critical_part *build(struct recording *r, struct run_model *model) {
    assert_int_equal(mpi_log_finish(&r->calls), 0);
    assert_int_equal(model_build(r, model), 0);
    const struct critical_part *part = &model->critical.groups[0];
    NEAR(part->length_s, SECONDS);
    double sum = 0, by_rank = 0, moved = 0, transfer = 0;
    for (size_t i = 0; i < model->n_hosts * BUDGET_TERMS; i++)
        sum += part->seconds[i];
    for (size_t i = 0; i < model->budgets.n * BUDGET_TERMS; i++)
        by_rank += part->rank_seconds[i];
    for (size_t i = 0; i < (model->n_hosts + 1) * (model->n_hosts + 1); i++)
        moved += part->transfers[i];
    for (size_t h = 0; h < model->n_hosts; h++)
        transfer += critical_seconds(part, (int)h, BUDGET_TRANSFER);
    NEAR(sum, part->total_s);
    NEAR(by_rank, part->total_s);
    assert_true(moved <= transfer + 1e-6);
    return part;
}

static void release(struct recording *r, struct run_model *model) {
    model_release(model);
    recording_release(r);
}

/* Each second rank 1 computes for 0.9 s and sends, rank 0 computes for 0.1 s and receives. */
static void the_path_goes_through_the_rank_that_is_waited_for(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    begin(&r, 2);
    for (int s = 0; s < SECONDS; s++) {
        CALL(&r, 0, "MPI_Recv", 1, 8, 1000 * s + 100, 1000 * (s + 1));
        CALL(&r, 1, "MPI_Send", 0, 8, 1000 * s + 900, 1000 * (s + 1));
    }
    const struct critical_part *part = build(&r, &model);
    assert_int_equal(model.critical.source, CRITICAL_FROM_EVENTS);
    NEAR(part->total_s, SECONDS);
    NEAR(critical_seconds(part, 1, BUDGET_CPU), 9);
    NEAR(critical_seconds(part, 0, BUDGET_CPU), 0);
    NEAR(critical_seconds(part, 0, BUDGET_PEER_WAIT), 0);
    NEAR(critical_seconds(part, 0, BUDGET_TRANSFER) + critical_seconds(part, 1, BUDGET_TRANSFER),
         1);
    NEAR(part->transfers[1 * 3 + 0], 1); /* from host 1 to host 0 */
    release(&r, &model);
}

/* Rank 1 comes last to each call. Only if one rank alone sends is it known whether sending or
 * receiving takes so long.
 */
static double from_host_0(const char *name, int root) {
    struct recording r;
    struct run_model model;
    begin(&r, 2);
    for (int s = 0; s < SECONDS; s++)
        for (int rank = 0; rank < 2; rank++)
            CALL(&r, rank, name, root, 1000, 1000 * s + (rank ? 900 : 100),
                 1000 * (s + 1) - (rank ? 0 : 50));
    build(&r, &model);
    double part = flows_critical_part(&model, 0, &(struct flows){0}, 0, FLOW_SEND);
    release(&r, &model);
    return part;
}

static void the_last_of_a_call_of_all_may_wait_for_what_others_send(void **state) {
    (void)state;
    NEAR(from_host_0("MPI_Alltoall", -1), 1);
    NEAR(from_host_0("MPI_Bcast", 1), 0);
}

/* 0 -> 1 -> 2 -> 3, each works for a second after it received something. */
static void a_chain_of_four_is_charged_to_each_for_its_turn(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    begin(&r, 4);
    for (int rank = 0; rank < 4; rank++) {
        if (rank > 0)
            CALL(&r, rank, "MPI_Recv", rank - 1, 8, 0, 2000 * rank);
        if (rank < 3)
            CALL(&r, rank, "MPI_Send", rank + 1, 8, 2000 * (rank + 1), 2000 * (rank + 1));
    }
    CALL(&r, 3, "MPI_Comm_rank", -1, 0, 10000, 10000);
    const struct critical_part *part = build(&r, &model);
    NEAR(part->total_s, SECONDS);
    for (int host = 0; host < 3; host++)
        NEAR(critical_seconds(part, host, BUDGET_CPU), 2);
    NEAR(critical_seconds(part, 3, BUDGET_CPU), 4);
    release(&r, &model);
}

/* Ranks come last to a collective in turn. */
static void a_collective_leads_to_its_last_member(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    begin(&r, 3);
    for (int s = 0; s < SECONDS; s++)
        for (int rank = 0; rank < 3; rank++)
            CALL(&r, rank, "MPI_Allreduce", -1, 8, 1000 * s + (rank == s % 3 ? 800 : 300),
                 1000 * (s + 1));
    const struct critical_part *part = build(&r, &model);
    NEAR(part->total_s, SECONDS);
    NEAR(critical_seconds(part, 0, BUDGET_CPU), 4 * 0.8);
    NEAR(critical_seconds(part, 1, BUDGET_CPU), 3 * 0.8);
    NEAR(critical_seconds(part, 2, BUDGET_CPU), 3 * 0.8);
    for (int host = 0; host < 3; host++)
        NEAR(critical_seconds(part, host, BUDGET_PEER_WAIT), 0);
    release(&r, &model);
}

static void a_wait_leads_to_the_sender_of_its_latest_message(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    begin(&r, 3);
    for (int peer = 1; peer < 3; peer++) {
        PLANT(&r.calls, 0, 0, "MPI_Irecv", peer, 1, 8, 1000 * MS, 1000 * MS,
              MPI_FLAG_AT_MOST | BOTH, .gap_cpu_ns = S);
        PLANT(&r.calls, 0, 0, "MPI_Irecv", peer, 1, 8, 1000 * MS, 10000 * MS, MPI_FLAG_REQUEST);
    }
    CALL(&r, 0, "MPI_Waitall", -1, 0, 1000, 10000);
    CALL(&r, 1, "MPI_Send", 0, 8, 4000, 4000);
    CALL(&r, 2, "MPI_Send", 0, 8, 9000, 9000);
    const struct critical_part *part = build(&r, &model);
    NEAR(part->total_s, SECONDS);
    NEAR(critical_seconds(part, 2, BUDGET_CPU), 9);
    NEAR(critical_seconds(part, 1, BUDGET_CPU), 0);
    NEAR(part->transfers[2 * 4 + 0], 1);
    release(&r, &model);
}

/* Rank 0 tests and sleeps until a message of rank 1 is there. */
static void polling_is_followed_like_waiting(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    begin(&r, 2);
    PLANT(&r.calls, 0, 0, "MPI_Irecv", 1, 1, 8, 0, 0, MPI_FLAG_AT_MOST | BOTH);
    PLANT(&r.calls, 0, 0, "MPI_Irecv", 1, 1, 8, 0, 9001 * MS, MPI_FLAG_REQUEST);
    for (int i = 1; i <= 9; i++)
        PLANT(&r.calls, 0, 0, "MPI_Test", -1, -1, 0, 1000 * i * MS, (1000 * i + 1) * MS, BOTH,
              .cpu_ns = MS);
    CALL(&r, 1, "MPI_Send", 0, 8, 8999, 8999);
    CALL(&r, 0, "MPI_Comm_rank", -1, 0, 10000, 10000);
    const struct critical_part *part = build(&r, &model);
    NEAR(part->total_s, SECONDS);
    assert_true(critical_seconds(part, 1, BUDGET_CPU) > 8.9);
    assert_true(critical_seconds(part, 0, BUDGET_IDLE) < 0.1);
    release(&r, &model);
}

static void without_calls_the_busiest_process_is_the_path(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    plant_init(&r, 2, SECONDS);
    plant_process(&r, 0, "a", (struct plant_process){0, 0.3, 0, 0});
    plant_process(&r, 1, "b", (struct plant_process){1, 0.6, 0.3, 0});
    const struct critical_part *part = build(&r, &model);
    assert_int_equal(model.critical.source, CRITICAL_PER_PROCESS);
    assert_int_equal(model.critical.n_blocks, 0);
    NEAR(part->total_s, SECONDS);
    NEAR(critical_seconds(part, 1, BUDGET_CPU), 6);
    NEAR(critical_seconds(part, 1, BUDGET_RUN_QUEUE), 3);
    NEAR(critical_seconds(part, 0, BUDGET_CPU), 0);
    release(&r, &model);
}

static void nothing_recorded_is_an_empty_path(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    plant_init(&r, 1, SECONDS);
    const struct critical_part *part = build(&r, &model);
    assert_int_equal(model.critical.source, CRITICAL_NONE);
    NEAR(part->total_s, 0);
    NEAR(critical_share(part, 0, BUDGET_CPU), 0);
    release(&r, &model);
}

/* Without clock bounds, waits between hosts cannot be told, and the path stays. */
static void without_clocks_the_path_stays_on_its_host(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    begin(&r, 2);
    r.clock_bound_ns[1] = -1;
    CALL(&r, 0, "MPI_Recv", 1, 8, 1000, 10000);
    CALL(&r, 1, "MPI_Send", 0, 8, 9000, 9500);
    const struct critical_part *part = build(&r, &model);
    NEAR(part->total_s, SECONDS);
    NEAR(critical_seconds(part, 1, BUDGET_CPU), 0);
    release(&r, &model);
}

static void after_lost_events_the_path_still_adds_up(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    begin(&r, 2);
    for (int s = 0; s < SECONDS; s++) {
        CALL(&r, 0, "MPI_Recv", 1, 8, 1000 * s + 100, 1000 * (s + 1));
        if (s != 5)
            CALL(&r, 1, "MPI_Send", 0, 8, 1000 * s + 900, 1000 * (s + 1));
    }
    struct mpi_rank *sender = &r.calls.ranks[1];
    for (size_t i = 0; i < sender->n; i++)
        sender->sequences[i] = (uint32_t)(i + 1 + (i > 5));
    const struct critical_part *part = build(&r, &model);
    NEAR(part->total_s, SECONDS);
    assert_true(model.critical.unmatched > 0);
    release(&r, &model);
}

/* ---- the walk, whatever the calls say ---- */

/* Plants n calls of each rank, up to `most` ns long and apart: with 1 all are at one instant. */
static void plant_anything(struct mpi_log *log, uint64_t *random, int ranks, int n, size_t most) {
    static const char *const names[] = {"MPI_Send", "MPI_Recv", "MPI_Allreduce", "MPI_Bcast"};
    for (int rank = 0; rank < ranks; rank++) {
        int64_t t = 0;
        for (int i = 0; i < n; i++) {
            int64_t begin = t + (int64_t)stats_random_below(random, most);
            t = begin + (int64_t)stats_random_below(random, most);
            size_t which = stats_random_below(random, 4);
            int peer = which == 3 ? 0 : (int)stats_random_below(random, (size_t)ranks);
            PLANT(log, rank, rank % 3, names[which], which == 2 ? -1 : peer, 1, 8, begin, t);
        }
    }
    assert_int_equal(mpi_log_finish(log), 0);
}

static int by_begin(const void *a, const void *b) {
    const struct window *x = a, *y = b;
    return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static void whatever_calls_say_the_path_is_one_line_through_all_time(void **state) {
    uint64_t random = 7;
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct mpi_log log = {0};
        struct call_matches matches;
        struct critical_walk walk;
        int ranks = 1 + (int)stats_random_below(&random, 6);
        plant_anything(&log, &random, ranks, round % 7 ? 40 : 1, round % 5 ? 1000 : 1);
        int64_t bounds[3] = {0, round % 2 ? 0 : 700, round % 3 ? 0 : 100};
        struct call_clock clock = {bounds, 3};
        assert_int_equal(call_match(&log, &clock, &matches), 0);
        struct critical_walker *walker;
        assert_int_equal(critical_walker_new(&log, &matches, &clock, NULL, &walker), 0);
        assert_int_equal(critical_walk_make(walker, &walk), 0);
        critical_walker_free(walker);
        size_t n = 0;
        struct window *all = NULL;
        for (size_t r = 0; r < walk.n_ranks; r++) {
            all = realloc(all, (n + walk.n[r] + 1) * sizeof *all);
            for (size_t i = 0; i < walk.n[r]; i++)
                all[n + i] = walk.stretches[r][i];
            n += walk.n[r];
        }
        qsort(all, n, sizeof *all, by_begin);
        assert_true(all[0].begin_ns == -TIME_SANE_NS && all[n - 1].end_ns == TIME_SANE_NS);
        for (size_t i = 1; i < n; i++)
            assert_int_equal(all[i].begin_ns, all[i - 1].end_ns);
        free(all);
        critical_walk_release(&walk);
        call_matches_release(&matches);
        mpi_log_release(&log);
    }
}

/* The path of one rank alone covers its windows and nothing else, for any calls. */
static void a_rank_s_own_path_covers_the_windows_once(void **state) {
    uint64_t random = 5;
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct mpi_log log = {0};
        struct call_matches matches;
        struct critical_walker *walker;
        struct critical_walk walk;
        struct call_clock clock = {0};
        int ranks = 1 + (int)stats_random_below(&random, 6);
        plant_anything(&log, &random, ranks, round % 7 ? 40 : 1, round % 5 ? 1000 : 1);
        struct window windows[] = {{-50, 300}, {400, 100000}};
        assert_int_equal(call_match(&log, &clock, &matches), 0);
        assert_int_equal(critical_walker_new(&log, &matches, &clock, NULL, &walker), 0);
        for (size_t r = 0; r < log.n; r++) {
            assert_int_equal(critical_walk_own(walker, r, (struct windows){windows, 2}, &walk), 0);
            int64_t length = 0;
            for (size_t k = 0; k < walk.n_ranks; k++)
                for (size_t i = 0; i < walk.n[k]; i++) {
                    assert_true(walk.stretches[k][i].end_ns > walk.stretches[k][i].begin_ns);
                    assert_true(!i ||
                                walk.stretches[k][i].begin_ns >= walk.stretches[k][i - 1].end_ns);
                    length += walk.stretches[k][i].end_ns - walk.stretches[k][i].begin_ns;
                }
            assert_int_equal(length, 350 + 99600);
            critical_walk_release(&walk);
        }
        critical_walker_free(walker);
        call_matches_release(&matches);
        mpi_log_release(&log);
    }
}

static void two_programs_one_after_the_other_are_one_path(void **state) {
    struct mpi_log log = {0};
    struct call_matches matches;
    struct critical_walk walk;
    struct call_clock clock = {0};
    (void)state;
    PLANT(&log, 0, 0, "MPI_Barrier", -1, -1, 0, 10, 40);
    PLANT(&log, 1, 0, "MPI_Barrier", -1, -1, 0, 30, 40);
    PLANT(&log, 7, 0, "MPI_Init", -1, -1, 0, 60, 90);
    assert_int_equal(mpi_log_finish(&log), 0);
    assert_int_equal(call_match(&log, &clock, &matches), 0);
    struct critical_walker *walker;
    assert_int_equal(critical_walker_new(&log, &matches, &clock, NULL, &walker), 0);
    assert_int_equal(critical_walk_make(walker, &walk), 0);
    critical_walker_free(walker);
    assert_int_equal(walk.n[2], 1);
    assert_int_equal(walk.stretches[2][0].begin_ns, 40);
    assert_int_equal(walk.n[0] + walk.n[1], 2);
    critical_walk_release(&walk);
    call_matches_release(&matches);
    mpi_log_release(&log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_path_goes_through_the_rank_that_is_waited_for),
        cmocka_unit_test(the_last_of_a_call_of_all_may_wait_for_what_others_send),
        cmocka_unit_test(a_chain_of_four_is_charged_to_each_for_its_turn),
        cmocka_unit_test(a_collective_leads_to_its_last_member),
        cmocka_unit_test(a_wait_leads_to_the_sender_of_its_latest_message),
        cmocka_unit_test(polling_is_followed_like_waiting),
        cmocka_unit_test(without_calls_the_busiest_process_is_the_path),
        cmocka_unit_test(nothing_recorded_is_an_empty_path),
        cmocka_unit_test(without_clocks_the_path_stays_on_its_host),
        cmocka_unit_test(after_lost_events_the_path_still_adds_up),
        cmocka_unit_test(whatever_calls_say_the_path_is_one_line_through_all_time),
        cmocka_unit_test(a_rank_s_own_path_covers_the_windows_once),
        cmocka_unit_test(two_programs_one_after_the_other_are_one_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
