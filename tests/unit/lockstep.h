/* SPDX-License-Identifier: MIT */
/*
 * Lockstep programs whose calls are known: every rank computes, then all meet in a collective,
 * where they spin. And a recording judged as a whole.
 */
#ifndef CHOKEPOINT_TESTS_LOCKSTEP_H
#define CHOKEPOINT_TESTS_LOCKSTEP_H

#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "tests/unit/judged.h"
#include "tests/unit/mpi_plant.h"

#define BOTH (MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU)
static inline void judge(struct recording *r, struct judged *j) {
    assert_int_equal(mpi_log_finish(&r->calls), 0);
    assert_int_equal(model_build(r, &j->model), 0);
    judge_model(&j->model, j);
    assert_true(j->verdict.confidence >= 0 && j->verdict.confidence <= 1);
}

static inline void release(struct recording *r, struct judged *j) {
    judged_release(j);
    model_release(&j->model);
    recording_release(r);
}

static inline bool any_says(const struct text_list *list, const char *words) {
    for (size_t i = 0; i < list->n; i++)
        if (strstr(list->items[i], words))
            return true;
    return false;
}

/* ---- hosts ---- */

static inline double quiet_cpu(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER || column == CPU_IDLE ? 0.5e9 : 0;
}
static inline double little_net(size_t column, double t_s) {
    (void)column;
    (void)t_s;
    return 1e6;
}

static inline void plant_hosts(struct recording *r, size_t n, double duration_s) {
    plant_init(r, n, duration_s);
    r->clock_bound_ns = calloc(n, sizeof *r->clock_bound_ns);
    for (size_t h = 0; h < n; h++) {
        plant(r, RECORDING_CPU, (int)h, "cpu0", 0.1, 0, quiet_cpu);
        plant(r, RECORDING_NET, (int)h, "eth0", 0.1, 0, little_net);
    }
}

/* ---- a program in lockstep ---- */

#define ROUNDS 200
#define WORK_S 0.05

/* A fault of rank 1 in the rounds [from, to). */
struct trouble {
    double work;    /* factor on its work */
    double asleep;  /* seconds in each round */
    double queue;   /* seconds in each round without a core */
    bool throttled; /* caused by a quota */
    int from, to;
    bool all;                 /* the other ranks have it, too */
    const double (*works)[2]; /* factors for each rank, in odd and even rounds, instead of `work`;
                                 NULL: none */
};

static struct trouble trouble_now;

static inline bool is_troubled(const struct trouble *t, int rank, int round) {
    return (rank == 1 || t->all) && round >= t->from && round < t->to;
}

static inline double gap_of(const struct trouble *t, int rank, int round, double *ret_cpu) {
    bool troubled = is_troubled(t, rank, round);
    *ret_cpu = WORK_S * (t->works                  ? t->works[rank][round % 2]
                         : troubled && t->work > 0 ? t->work
                                                   : 1);
    return *ret_cpu + (troubled ? t->asleep + t->queue : 0);
}

static inline double round_s(const struct trouble *t, int ranks, int round) {
    double longest = 0, cpu;
    for (int rank = 0; rank < ranks; rank++)
        longest = fmax(longest, gap_of(t, rank, round, &cpu));
    return longest + 0.001;
}

static inline double length_of(const struct trouble *t, int ranks) {
    double sum = 0.1;
    for (int i = 0; i < ROUNDS; i++)
        sum += round_s(t, ranks, i);
    return sum;
}

static inline void play(struct recording *r, const struct trouble *t, int ranks) {
    double at = 0.1;
    for (int rank = 0; rank < ranks; rank++)
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, (int64_t)(at * 1e9));
    for (int i = 0; i < ROUNDS; i++) {
        double end = at + round_s(t, ranks, i), cpu;
        for (int rank = 0; rank < ranks; rank++) {
            double enter = at + gap_of(t, rank, i, &cpu);
            PLANT(&r->calls, rank, rank, "MPI_Allreduce", -1, -1, 8, (int64_t)(enter * 1e9),
                  (int64_t)(end * 1e9), BOTH, .gap_cpu_ns = (int64_t)(cpu * 1e9),
                  .cpu_ns = (int64_t)((end - enter) * 1e9));
            plant_mark(r, MARK_ITERATION, "round", rank, rank, i, at, end - at);
        }
        at = end;
    }
}

/* The round at a time; all rounds of one stretch take equally long. */
static inline int round_at(const struct trouble *t, int ranks, double t_s) {
    double at = 0.1;
    int round = 0;
    while (round < ROUNDS && at + round_s(t, ranks, round) <= t_s)
        at += round_s(t, ranks, round++);
    return round;
}

static int process_rank, process_ranks;

/* Values of a rank's process: it is on its core except for its sleep and its waits for a core, and
 * it spins while it waits for others.
 */
static inline double process_value(size_t column, double t_s) {
    const struct trouble *t = &trouble_now;
    int round = round_at(t, process_ranks, t_s);
    bool troubled = t_s > 0.1 && is_troubled(t, process_rank, round);
    double off = troubled ? (t->asleep + t->queue) / round_s(t, process_ranks, round) : 0;
    double queue = troubled ? t->queue / round_s(t, process_ranks, round) : 0;
    switch (column) {
    case PROCESS_PID:
        return 1000 + process_rank;
    case PROCESS_RANK:
        return process_rank;
    case PROCESS_JOB:
        return 1;
    case PROCESS_RSS:
        return 1e8;
    case PROCESS_USER:
        return (1 - off) * 1e9;
    case PROCESS_RUN_QUEUE:
        return queue * 1e9;
    default:
        return 0;
    }
}

static inline double throttled_value(size_t column, double t_s) {
    const struct trouble *t = &trouble_now;
    switch (column) {
    case CGROUP_THROTTLED:
        return t->queue / round_s(t, process_ranks, round_at(t, process_ranks, t_s)) * 1e9;
    case CGROUP_QUOTA:
        return 50e6;
    case CGROUP_PERIOD:
        return 100e6;
    default:
        return 0;
    }
}

static inline void plant_lockstep(struct recording *r, int ranks, struct trouble t) {
    t.to = t.to ? t.to : ROUNDS;
    trouble_now = t;
    process_ranks = ranks;
    plant_hosts(r, (size_t)ranks, length_of(&t, ranks));
    for (process_rank = 0; process_rank < ranks; process_rank++)
        plant(r, RECORDING_PROCESS, process_rank, "train", 0.1, PROCESS_LEVELS, process_value);
    if (t.throttled)
        plant(r, RECORDING_CGROUP, 1, "/job", 0.1, 1u << CGROUP_QUOTA | 1u << CGROUP_PERIOD,
              throttled_value);
    play(r, &t, ranks);
}

static inline void expect_state(const struct judged *j, enum verdict_state state,
                                const char *resource, const char *kind, int host) {
    const struct verdict *v = &j->verdict;
    if (v->state != state || strcmp(resource_name(v->resource), resource) != 0 || !v->kind ||
        strcmp(cause_name(v->kind), kind) != 0 || v->host != host)
        fail_msg("%s: %s", verdict_state_name(v->state), j->words.summary);
}

static inline void expect(const struct judged *j, const char *resource, const char *kind,
                          int host) {
    /* "saturated" must not rest on a gain that no scenario answers */
    bool answered = !j->candidates.n || j->candidates.items[0].answered;
    expect_state(j, answered ? VERDICT_SATURATED : VERDICT_SUSPECTED, resource, kind, host);
}

#endif
