/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/causes/causes.h"
#include "analysis/facts/series/stats.h"
#include "tests/unit/judged.h"
#include "tests/unit/mpi_plant.h"
#include "tests/unit/own_remark.h"

#define N 100

/* +-5 %, the same in every run. */
static double jitter(uint64_t *random) {
    return 0.95 + 0.1 * (double)stats_random_below(random, 1000) / 1000;
}

static struct straggler_judgement judge(double factor, size_t from, size_t every) {
    double own[N], reference[N], medians[3] = {1, 1.01, 0.99};
    uint64_t random = 7;
    for (size_t i = 0; i < N; i++) {
        bool slow = i >= from && (i % 10) < every;
        own[i] = jitter(&random) * (slow ? factor : 1);
        reference[i] = 1;
    }
    return straggler_judge(NULL, own, reference, N, medians, 3);
}

static void jitter_is_not_straggling(void **state) {
    (void)state;
    assert_null(judge(1, 0, 10).kind);
    assert_null(judge(1.05, 0, 10).kind);
}

static void a_rank_a_fifth_slower_is_a_persistent_straggler(void **state) {
    struct straggler_judgement j = judge(1.2, 0, 10);
    (void)state;
    assert_string_equal(j.kind, "persistent");
    assert_true(j.ratio > 1.15 && j.ratio < 1.25);
}

static void slow_in_seven_of_ten_is_intermittent(void **state) {
    (void)state;
    assert_string_equal(judge(1.5, 0, 7).kind, "intermittent");
}

static void slow_from_a_point_on_is_an_onset(void **state) {
    (void)state;
    assert_string_equal(judge(1.5, 30, 10).kind, "onset");
}

static void an_onset_is_found_where_it_was(void **state) {
    (void)state;
    for (size_t from = 8; from <= 85; from += 7) {
        struct straggler_judgement j = judge(1.4, from, 10);
        assert_string_equal(j.kind, "onset");
        assert_int_equal(j.from, from);
    }
}

static void slow_now_and_then_is_none(void **state) {
    (void)state;
    assert_null(judge(2, 0, 3).kind);
}

static void too_few_iterations_name_nobody(void **state) {
    const double own[] = {2, 2, 2, 2, 2, 2, 2, 2, 2}, reference[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    const double medians[] = {1, 1};
    (void)state;
    assert_null(straggler_judge(NULL, own, reference, 9, medians, 2).kind);
}

/* Peers that differ as much among themselves hide it. */
static void a_wide_spread_of_peers_excuses(void **state) {
    double own[20], reference[20];
    const double wide[] = {0.7, 0.9, 1, 1.1, 1.3}, narrow[] = {0.99, 1, 1, 1, 1.01};
    (void)state;
    for (int i = 0; i < 20; i++) {
        own[i] = 1.3;
        reference[i] = 1;
    }
    assert_null(straggler_judge(NULL, own, reference, 20, wide, 5).kind);
    assert_non_null(straggler_judge(NULL, own, reference, 20, narrow, 5).kind);
}

/* ---- whole scenes ---- */

static double no_traffic(size_t column, double t_s) {
    (void)column;
    (void)t_s;
    return 1e6;
}

static void find(struct recording *r, struct stragglers *found) {
    struct run_model model;
    for (size_t h = 0; h < r->n_hosts; h++)
        plant(r, RECORDING_NET, (int)h, "eth0", 0.1, 0, no_traffic);
    assert_int_equal(model_build(r, &model), 0);
    find_stragglers(&model, found);
    model_release(&model);
    recording_release(r);
}

static void mark_rank(struct recording *r, int rank, double iteration_s) {
    int n = (int)((double)r->duration_ns / 1e9 / iteration_s);
    for (int i = 0; i < n; i++)
        plant_mark(r, MARK_ITERATION, "", rank, rank, i, i * iteration_s, iteration_s);
}

static void free_ranks_are_judged_by_their_own_times(void **state) {
    struct recording r;
    struct stragglers found;
    (void)state;
    plant_init(&r, 3, 60);
    for (int rank = 0; rank < 3; rank++) {
        mark_rank(&r, rank, rank == 2 ? 1.5 : 1);
        plant_process(&r, rank, "p", (struct plant_process){rank, 0.5, rank == 2 ? 0.3 : 0, 0});
    }
    find(&r, &found);
    assert_int_equal(found.n, 1);
    assert_int_equal(found.items[0].rank, 2);
    assert_true(fabs(found.items[0].slowdown - 1.5) < 0.01);
    assert_ptr_equal(found.items[0].cause.kind, remark_named("WAITS_FOR_CORE"));
    stragglers_release(&found);
}

/* All take 3 s an iteration; rank 1 computes for 2.7 of them, the others for 1.2, and wait. */
static void in_step_the_one_that_works_longest_is_found(void **state) {
    struct recording r;
    struct stragglers found;
    (void)state;
    plant_init(&r, 4, 60);
    for (int rank = 0; rank < 4; rank++) {
        mark_rank(&r, rank, 3);
        plant_process(&r, rank, "p", (struct plant_process){rank, rank == 1 ? 0.9 : 0.4, 0, 0});
    }
    find(&r, &found);
    assert_int_equal(found.n, 1);
    assert_int_equal(found.items[0].rank, 1);
    assert_ptr_equal(found.items[0].cause.kind, remark_named("MORE_INSTRUCTIONS"));
    stragglers_release(&found);
}

/* Its excess over its peers is in seconds, for any length of iteration: all of it is in one term.
 */
static void in_step_an_excess_is_in_seconds(void **state) {
    static const double iterations_s[] = {0.5, 1.5, 3};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct recording r;
        struct stragglers found;
        plant_init(&r, 4, 60);
        for (int rank = 0; rank < 4; rank++) {
            mark_rank(&r, rank, iterations_s[i]);
            plant_process(&r, rank, "p", (struct plant_process){rank, rank == 1 ? 0.9 : 0.4, 0, 0});
        }
        find(&r, &found);
        assert_int_equal(found.n, 1);
        const struct straggler *s = &found.items[0];
        assert_true(fabs(s->explained - 1) < 0.03);
        assert_true(s->evidence.n >= 2);
        const struct remark *term = &s->evidence.items[1];
        assert_ptr_equal(term->kind, &remark_TERM_DIFFERS);
        assert_true(fabs(term->numbers[1] - 0.9 * iterations_s[i]) < 0.03 * iterations_s[i]);
        assert_true(fabs(term->numbers[2] - 0.4 * iterations_s[i]) < 0.03 * iterations_s[i]);
        stragglers_release(&found);
    }
}

/* Whichever rank it is. */
static void the_slowest_comes_first(void **state) {
    static const double factors[][5] = {{1, 1.4, 1, 2, 1}, {1, 2, 1, 1.4, 1}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct recording r;
        struct stragglers found;
        plant_init(&r, 5, 60);
        for (int rank = 0; rank < 5; rank++) {
            mark_rank(&r, rank, factors[i][rank]);
            plant_process(&r, rank, "p", (struct plant_process){rank, 0.5, 0, 0});
        }
        find(&r, &found);
        assert_int_equal(found.n, 2);
        assert_int_equal(found.items[0].rank, i ? 1 : 3);
        assert_int_equal(found.items[1].rank, i ? 3 : 1);
        assert_true(fabs(found.items[0].slowdown - 2) < 0.02);
        assert_true(fabs(found.items[1].slowdown - 1.4) < 0.02);
        stragglers_release(&found);
    }
}

static void in_step_equal_work_names_nobody(void **state) {
    struct recording r;
    struct stragglers found;
    (void)state;
    plant_init(&r, 4, 60);
    for (int rank = 0; rank < 4; rank++) {
        mark_rank(&r, rank, 3);
        plant_process(&r, rank, "p", (struct plant_process){rank, 0.4, 0, 0});
    }
    find(&r, &found);
    assert_int_equal(found.n, 0);
    stragglers_release(&found);
}

/* The straggler has half a core, and the others spin: each uses or wants its core all the time. */
static void spinning_ranks_are_not_judged(void **state) {
    struct recording r;
    struct stragglers found;
    (void)state;
    plant_init(&r, 4, 60);
    for (int rank = 0; rank < 4; rank++) {
        mark_rank(&r, rank, 3);
        plant_process(&r, rank, "p",
                      (struct plant_process){rank, rank ? 0.95 : 0.5, rank ? 0 : 0.5, 0});
    }
    find(&r, &found);
    assert_int_equal(found.n, 0);
    assert_ptr_equal(found.note.kind, &remark_HIDDEN_BY_SPINNING);
    stragglers_release(&found);
}

/* A little more of a long iteration: 10 % of the iteration against 5 %. */
static void twice_of_next_to_nothing_is_no_straggler(void **state) {
    struct recording r;
    struct stragglers found;
    (void)state;
    plant_init(&r, 4, 60);
    for (int rank = 0; rank < 4; rank++) {
        mark_rank(&r, rank, 3);
        plant_process(&r, rank, "p", (struct plant_process){rank, rank == 1 ? 0.06 : 0.03, 0, 0});
    }
    find(&r, &found);
    assert_int_equal(found.n, 0);
    stragglers_release(&found);
}

/* The server computes more than any worker, but is no worker. */
static void a_server_is_not_a_slow_worker(void **state) {
    struct recording r;
    struct stragglers found;
    (void)state;
    plant_init(&r, 4, 60);
    plant_mark(&r, MARK_OPERATOR, "apply", 0, 0, 0, 1, 1);
    for (int rank = 0; rank < 4; rank++) {
        mark_rank(&r, rank, 3);
        plant_process(&r, rank, "p", (struct plant_process){rank, rank ? 0.4 : 0.8, 0, 0});
    }
    find(&r, &found);
    assert_int_equal(found.n, 0);
    stragglers_release(&found);
}

/* ---- by their calls of MPI ---- */

enum planted {
    PLANT_NOTHING,
    PLANT_CPU,
    PLANT_QUEUE,
    PLANT_QUOTA,
    PLANT_STEAL,
    PLANT_DISK,
    PLANT_IDLE,
    PLANT_LINK
};

/* Each rank of a host computes for base_ms in an iteration, receives what a server sent long
 * before, and all meet. One of them takes `extra` longer from iteration `from` on; rate_s seconds a
 * second go into the counters of its host.
 */
struct rank_group {
    int ranks, slow;
    enum planted what;
    double base_ms, extra, jitter;
    size_t iterations, from;
    bool hog, server, marked; /* marked: by the program; marks do not show roles */
    uint64_t random;
};

static double jittered(struct rank_group *group, double ms) {
    double shift =
        group->jitter * (2 * (double)stats_random_below(&group->random, 1000) / 1000 - 1);
    return ms * (1 + shift);
}

#define TRANSFER_MS 2.0

static void plant_iteration(struct recording *r, struct rank_group *group, size_t k, int64_t *now) {
    const unsigned known = MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU;
    int64_t enter[16], leave[16], last = 0;
    for (int rank = 0; rank < group->ranks; rank++) {
        double cpu = jittered(group, group->base_ms), off = 0, transfer = TRANSFER_MS;
        bool slow = rank == group->slow && k >= group->from;
        double more = slow ? group->extra * group->base_ms : 0;
        bool serves = group->server && rank == 0;
        if (serves)
            cpu *= 0.1;
        if (group->what == PLANT_CPU)
            cpu += more;
        else if (group->what == PLANT_LINK)
            transfer += more;
        else
            off = more;
        int64_t gap_end = *now + (int64_t)((cpu + off) * MS);
        leave[rank] = gap_end + (int64_t)(transfer * MS);
        enter[rank] = gap_end;
        for (int to = 1; serves && to < group->ranks; to++)
            PLANT(&r->calls, 0, 0, "MPI_Isend", to, 1, 1 << 20, *now + to * 1000,
                  *now + to * 1000 + 500, 0);
        if (!serves)
            PLANT(&r->calls, rank, rank, group->server ? "MPI_Recv" : "MPI_Bcast", 0, 1, 1 << 20,
                  enter[rank], leave[rank], known, .gap_cpu_ns = (int64_t)(cpu * MS));
        last = leave[rank] > last ? leave[rank] : last;
    }
    for (int rank = 0; rank < group->ranks; rank++)
        PLANT(&r->calls, rank, rank, "MPI_Allreduce", -1, -1, 8, leave[rank] + 1000, last + MS / 10,
              known, .cpu_ns = 0, .gap_cpu_ns = 0);
    for (int rank = 0; group->marked && rank < group->ranks; rank++)
        plant_mark(r, MARK_ITERATION, "", rank, rank, (int)k, (double)*now / 1e9,
                   (double)(last + MS / 10 + 2000 - *now) / 1e9);
    *now = last + MS / 10 + 2000;
}

static double planted_rate; /* seconds a second that the slow rank loses */

static double host_of_group(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_IDLE ? 1e9 : 0;
}

static double planted_cpu;

static double stolen_from_group(size_t column, double t_s) {
    (void)t_s;
    return 1e9 * (column == CPU_STEAL  ? planted_rate
                  : column == CPU_USER ? planted_cpu
                  : column == CPU_IDLE ? 1 - planted_rate - planted_cpu
                                       : 0);
}

static double throttled_of_group(size_t column, double t_s) {
    (void)column;
    (void)t_s;
    return planted_rate * 1e9;
}

/* Seconds per second, before and after the onset, of one rank's process. */
static struct {
    double onset_s;
    struct plant_process before, after;
} planted_use;

static double use_in_row(size_t column, double t_s) {
    double after = fmin(fmax(t_s + 0.5 - planted_use.onset_s, 0), 1);
    plant_process_now = planted_use.before;
    double a = plant_process_value(column, t_s);
    plant_process_now = planted_use.after;
    return (1 - after) * a + after * plant_process_value(column, t_s);
}

static void plant_use(struct recording *r, const struct rank_group *group, int rank) {
    struct plant_process p = {rank, planted_cpu, 0, 0};
    planted_use.before = planted_use.after = p;
    if (rank == group->slow) {
        double pace = planted_cpu / (planted_cpu + planted_rate);
        planted_use.before.cpu = group->from ? 0.95 : p.cpu;
        planted_use.after.cpu = group->from ? 0.95 * pace : p.cpu;
        planted_use.after.cpu += group->what == PLANT_CPU ? planted_rate : 0;
        planted_use.after.run_queue =
            group->what == PLANT_QUEUE || group->what == PLANT_QUOTA ? planted_rate : 0;
        planted_use.after.block_io = group->what == PLANT_DISK ? planted_rate : 0;
    }
    plant(r, RECORDING_PROCESS, rank, "train", 1, PROCESS_LEVELS, use_in_row);
}

static void plant_group(struct recording *r, struct rank_group *group) {
    int64_t now = 0, onset = 0;
    plant_init(r, (size_t)group->ranks % 100, 1);
    r->clock_bound_ns = calloc((size_t)group->ranks + 1, sizeof *r->clock_bound_ns);
    for (int rank = 0; rank < group->ranks; rank++)
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 0, 0);
    for (size_t k = 0; k < group->iterations; k++) {
        onset = k == group->from ? now : onset;
        plant_iteration(r, group, k, &now);
    }
    r->duration_ns = now;
    planted_use.onset_s = (double)onset / 1e9;
    assert_int_equal(mpi_log_finish(&r->calls), 0);
    planted_rate = group->extra * group->base_ms * 1e6 * (double)group->iterations / (double)now;
    planted_cpu = group->base_ms * 1e6 * (double)group->iterations / (double)now;
    for (int rank = 0; rank < group->ranks; rank++) {
        bool slow = rank == group->slow;
        plant_use(r, group, rank);
        plant(r, RECORDING_CPU, rank, "cpu0", 0.1, 0,
              slow && group->what == PLANT_STEAL ? stolen_from_group : host_of_group);
        if (slow && group->what == PLANT_QUOTA)
            plant(r, RECORDING_CGROUP, rank, "job", 0.1, 0, throttled_of_group);
    }
    if (group->hog)
        plant_process(r, group->slow, "hog[4711]", (struct plant_process){-1, 0.5, 0.4, 0});
}

/* The stragglers found in a group; the caller releases both. */
static void find_group(struct rank_group *group, struct recording *r, struct run_model *model,
                       struct stragglers *found) {
    plant_group(r, group);
    for (size_t h = 0; h < r->n_hosts; h++)
        plant(r, RECORDING_NET, (int)h, "eth0", 0.1, 0, no_traffic);
    assert_int_equal(model_build(r, model), 0);
    assert_int_equal(model->iterations.source, group->marked ? ITERATION_MARKER : ITERATION_CALLS);
    find_stragglers(model, found);
}

static void forget_group(struct recording *r, struct run_model *model, struct stragglers *found) {
    stragglers_release(found);
    model_release(model);
    recording_release(r);
}

static void assert_found(struct rank_group group, const char *kind, double slowdown,
                         const char *cause_kind, const char *culprit) {
    struct recording r;
    struct run_model model;
    struct stragglers found;
    find_group(&group, &r, &model, &found);
    if (found.n != 1)
        fail_msg("%zu stragglers: %s", found.n, found.note);
    const struct straggler *s = &found.items[0];
    assert_int_equal(s->rank, group.slow);
    assert_int_equal(s->host, group.slow);
    assert_string_equal(s->kind, kind);
    assert_string_equal(cause_name(s->cause_kind), cause_kind);
    if (fabs(s->slowdown - slowdown) > 0.06 * slowdown)
        fail_msg("slowdown %.3f instead of %.3f", s->slowdown, slowdown);
    assert_true(s->explained > 0.8);
    if (culprit)
        assert_string_equal(s->culprit, culprit);
    else
        assert_null(s->culprit);
    forget_group(&r, &model, &found);
}

#define RANK_GROUP(n_ranks, slow_rank, cause, ...)                                                 \
    (struct rank_group) {                                                                          \
        .ranks = (n_ranks), .slow = (slow_rank), .what = (cause), .base_ms = 40, .extra = 0.5,     \
        .jitter = 0.02, .iterations = 100, .random = 9, __VA_ARGS__                                \
    }
#define SLOW_HALF ((40 * 1.5 + TRANSFER_MS) / (40 + TRANSFER_MS))

static void every_cause_is_told_from_its_term(void **state) {
    (void)state;
    assert_found(RANK_GROUP(5, 2, PLANT_CPU, .from = 0), "persistent", SLOW_HALF, "skew", NULL);
    assert_found(RANK_GROUP(5, 2, PLANT_QUEUE, .from = 0), "persistent", SLOW_HALF, "contention",
                 NULL);
    assert_found(RANK_GROUP(5, 2, PLANT_QUOTA, .from = 0), "persistent", SLOW_HALF, "quota", NULL);
    assert_found(RANK_GROUP(5, 2, PLANT_STEAL, .from = 0), "persistent", SLOW_HALF, "steal", NULL);
    assert_found(RANK_GROUP(5, 2, PLANT_DISK, .from = 0), "persistent", SLOW_HALF, "throttle",
                 NULL);
    assert_found(RANK_GROUP(5, 2, PLANT_IDLE, .from = 0), "persistent", SLOW_HALF, "sleep", NULL);
    assert_found(RANK_GROUP(5, 2, PLANT_LINK, .server = true), "persistent", SLOW_HALF,
                 "path-limited", NULL);
}

/* The run's time over its time if that rank were like its peers; then each of the five has a fifth
 * of its excess.
 */
static void severity_is_how_many_times_as_long_the_run_took(void **state) {
    static const double extras[] = {0.25, 0.5, 1};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct recording r;
        struct run_model model;
        struct stragglers found;
        struct rank_group group = RANK_GROUP(5, 2, PLANT_CPU, .from = 0);
        group.extra = extras[i];
        group.jitter = 0;
        find_group(&group, &r, &model, &found);
        assert_int_equal(found.n, 1);
        double run_s = (double)r.duration_ns / 1e9, excess_s = 0.04 * extras[i] * 100;
        double least = run_s / (run_s - 0.8 * excess_s), most = run_s / (run_s - excess_s);
        const struct straggler *s = &found.items[0];
        if (!(s->severity >= least && s->severity <= most && s->severity_max >= most))
            fail_msg("%g, at most %g: %g to %g was planted", s->severity, s->severity_max, least,
                     most);
        forget_group(&r, &model, &found);
    }
}

static void the_program_that_takes_its_core_is_named(void **state) {
    (void)state;
    assert_found(RANK_GROUP(5, 2, PLANT_QUEUE, .hog = true), "persistent", SLOW_HALF, "contention",
                 "hog[4711]");
}

static void of_two_workers_the_slower_is_the_straggler(void **state) {
    (void)state;
    assert_found(RANK_GROUP(2, 1, PLANT_CPU, .from = 0), "persistent", SLOW_HALF, "skew", NULL);
    assert_found(RANK_GROUP(2, 0, PLANT_IDLE, .from = 0), "persistent", SLOW_HALF, "sleep", NULL);
}

static void in_step_an_onset_has_its_time(void **state) {
    struct recording r;
    struct run_model model;
    struct stragglers found;
    struct rank_group group = RANK_GROUP(5, 2, PLANT_IDLE, .from = 70);
    (void)state;
    find_group(&group, &r, &model, &found);
    if (found.n != 1)
        fail_msg("%zu stragglers: %s", found.n, found.note);
    assert_string_equal(found.items[0].kind, "onset");
    /* 70 iterations of 42 ms, the first of which may be outside the loop */
    assert_true(fabs(found.items[0].begin_s - 70 * 0.0425) < 0.15);
    forget_group(&r, &model, &found);
}

/* Marks do not show roles, calls do. */
static void a_server_that_marks_iterations_is_no_peer(void **state) {
    struct recording r;
    struct run_model model;
    struct stragglers found;
    struct rank_group group = RANK_GROUP(3, -1, PLANT_NOTHING, .server = true, .marked = true);
    (void)state;
    find_group(&group, &r, &model, &found);
    assert_int_equal(found.n, 0);
    forget_group(&r, &model, &found);
}

/* The server computes for a tenth; its workers are not compared with it. */
static void a_server_seen_by_its_calls_is_no_peer(void **state) {
    struct recording r;
    struct run_model model;
    struct stragglers found;
    struct rank_group group = RANK_GROUP(3, -1, PLANT_NOTHING, .server = true);
    (void)state;
    find_group(&group, &r, &model, &found);
    assert_int_equal(found.n, 0);
    forget_group(&r, &model, &found);
}

/* Random groups: the planted straggler is found and no other; none if nothing, or too little, is
 * planted.
 */
static void planted_stragglers_are_found_and_no_others(void **state) {
    static const enum planted causes[] = {PLANT_CPU, PLANT_QUEUE, PLANT_IDLE, PLANT_LINK};
    static const char *const kinds[] = {"skew", "contention", "sleep", "path-limited"};
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct recording r;
        struct run_model model;
        struct stragglers found;
        uint64_t random = seed;
        size_t cause = stats_random_below(&random, 4);
        bool slow = stats_random_below(&random, 3) > 0;
        struct rank_group group = {.ranks = 3 + (int)stats_random_below(&random, 6),
                                   .what = causes[cause],
                                   .base_ms = 25 + (double)stats_random_below(&random, 60),
                                   .jitter = 0.04,
                                   .iterations = 40 + stats_random_below(&random, 60),
                                   .server = causes[cause] == PLANT_LINK,
                                   .random = seed};
        group.slow = 1 + (int)stats_random_below(&random, (size_t)group.ranks - 1);
        group.extra = slow ? 0.3 + (double)stats_random_below(&random, 100) / 100
                           : (double)stats_random_below(&random, 5) / 100;
        find_group(&group, &r, &model, &found);
        if (found.n != (size_t)slow)
            fail_msg("seed %u: %zu found: %s", (unsigned)seed, found.n, found.note);
        if (slow) {
            assert_int_equal(found.items[0].rank, group.slow);
            assert_string_equal(cause_name(found.items[0].cause_kind), kinds[cause]);
        }
        forget_group(&r, &model, &found);
    }
}

/* The slow link takes 22 of 62 ms of an iteration: the peers show the rest. */
static void what_a_suspected_link_costs_is_replayed(void **state) {
    struct recording r;
    struct run_model model;
    struct stragglers found;
    struct candidates candidates;
    struct rank_group group = RANK_GROUP(5, 2, PLANT_LINK, .server = true);
    double left = 40 + TRANSFER_MS, gain = NAN;
    (void)state;
    find_group(&group, &r, &model, &found);
    struct whatif *whatif;
    assert_int_equal(whatif_new(&model, &whatif), 0);
    assert_int_equal(causes_find(&model, whatif, &found, &candidates), 0);
    whatif_free(whatif);
    for (size_t i = 0; i < candidates.n; i++)
        if (candidates.items[i].rank == 2 && candidates.items[i].gain.replayed &&
            strcmp(cause_name(candidates.items[i].kind), "path-limited") == 0)
            gain = candidates.items[i].gain.estimate;
    assert_true(fabs(gain - (1 - left / (left + 20))) < 0.02);
    candidates_release(&candidates);
    forget_group(&r, &model, &found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jitter_is_not_straggling),
        cmocka_unit_test(a_rank_a_fifth_slower_is_a_persistent_straggler),
        cmocka_unit_test(slow_in_seven_of_ten_is_intermittent),
        cmocka_unit_test(slow_from_a_point_on_is_an_onset),
        cmocka_unit_test(an_onset_is_found_where_it_was),
        cmocka_unit_test(slow_now_and_then_is_none),
        cmocka_unit_test(too_few_iterations_name_nobody),
        cmocka_unit_test(a_wide_spread_of_peers_excuses),
        cmocka_unit_test(free_ranks_are_judged_by_their_own_times),
        cmocka_unit_test(in_step_the_one_that_works_longest_is_found),
        cmocka_unit_test(in_step_an_excess_is_in_seconds),
        cmocka_unit_test(the_slowest_comes_first),
        cmocka_unit_test(severity_is_how_many_times_as_long_the_run_took),
        cmocka_unit_test(in_step_equal_work_names_nobody),
        cmocka_unit_test(spinning_ranks_are_not_judged),
        cmocka_unit_test(twice_of_next_to_nothing_is_no_straggler),
        cmocka_unit_test(a_server_is_not_a_slow_worker),
        cmocka_unit_test(every_cause_is_told_from_its_term),
        cmocka_unit_test(the_program_that_takes_its_core_is_named),
        cmocka_unit_test(of_two_workers_the_slower_is_the_straggler),
        cmocka_unit_test(in_step_an_onset_has_its_time),
        cmocka_unit_test(a_server_seen_by_its_calls_is_no_peer),
        cmocka_unit_test(a_server_that_marks_iterations_is_no_peer),
        cmocka_unit_test(planted_stragglers_are_found_and_no_others),
        cmocka_unit_test(what_a_suspected_link_costs_is_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
