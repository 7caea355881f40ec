/* SPDX-License-Identifier: MIT */
/* Ranks on GPUs of three hosts, in step by a collective of NCCL: one of them calls late, or its
 * card is slower at equal work.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/judged.h"
#include "tests/unit/mpi_plant.h"
#include "tests/unit/plant.h"

#define STEPS 200
#define STEP_MS 50
#define RANKS 3

struct rank_on_gpu {
    int host_ms;           /* before it calls; then its host waits for the GPU */
    double clock, cap;     /* of the highest clock; share of the time at the power limit */
    bool has_no_clocks;    /* its waits are not clocked */
    bool overlaps;         /* its host computes while the GPU works */
    const char *card_name; /* NULL: "gpu0 H200" */
};

static struct rank_on_gpu now;
static int rank_now;
static struct recording recording;
static struct judged judged;

static double host_part(void) {
    return (double)now.host_ms / STEP_MS;
}

static double wait_row(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case WAIT_PID:
        return 1000 + rank_now;
    case WAIT_PROCESS_GPU:
    case WAIT_NS_GPU:
        return (1 - host_part()) * (now.overlaps ? .2 : 1) * 1e9;
    case WAIT_PROCESS_RUN:
    case WAIT_NS_RUN:
        return host_part() * 1e9;
    default:
        return 0;
    }
}

static double card_row(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case GPU_BUSY:
        return 1e9;
    case GPU_SM:
        return .9e9;
    case GPU_SM_CLOCK:
        return now.clock * 2e9;
    case GPU_WATTS:
        return 600e9;
    case GPU_POWER_CAP:
        return now.cap * 1e9;
    case GPU_CLOCK_REASONS:
    case GPU_LOST:
        return 0;
    default:
        return NAN;
    }
}

static double device_row(size_t column, double t_s) {
    (void)t_s;
    return column == GPU_DEVICE_SM_CLOCK ? 2e9 : column == GPU_DEVICE_WATTS_LIMIT ? 700e9 : NAN;
}

static double user_row(size_t column, double t_s) {
    (void)t_s;
    return column == GPU_PROCESS_PID ? 1000 + rank_now : column == GPU_PROCESS_JOB;
}

static double idle_core(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER ? .5e9 : column == CPU_IDLE ? .5e9 : 0;
}

/* A polling host is on its core all the time. */
static void plant_rank(struct rank_on_gpu rank) {
    char name[32];
    now = rank;
    snprintf(name, sizeof name, "train[%d]", 1000 + rank_now);
    plant_process(&recording, rank_now, name, (struct plant_process){rank_now, 1, 0, 0});
    if (!rank.has_no_clocks)
        plant(&recording, RECORDING_WAIT, rank_now, name, .1, 1u << WAIT_PID, wait_row);
    plant(&recording, RECORDING_GPU, rank_now, "gpu0", .1,
          1u << GPU_SM_CLOCK | 1u << GPU_WATTS | 1u << GPU_CLOCK_REASONS | 1u << GPU_LOST,
          card_row);
    char device[64];
    snprintf(device, sizeof device, "%s GPU-%d driver 1",
             rank.card_name ? rank.card_name : "gpu0 H200", rank_now);
    plant(&recording, RECORDING_GPU_DEVICE, rank_now, device, 1, ~0u, device_row);
    snprintf(name, sizeof name, "gpu0 train[%d]", 1000 + rank_now);
    plant(&recording, RECORDING_GPU_PROCESS, rank_now, name, .1, ~0u, user_row);
    for (int core = 0; core < 4; core++) {
        snprintf(name, sizeof name, "cpu%d", core);
        plant(&recording, RECORDING_CPU, rank_now, name, .1, 0, idle_core);
    }
}

static void plant_ranks(const struct rank_on_gpu ranks[RANKS]) {
    plant_init(&recording, RANKS, STEPS * STEP_MS / 1e3);
    recording.clock_bound_ns = calloc(RANKS + 1, sizeof *recording.clock_bound_ns);
    for (rank_now = 0; rank_now < RANKS; rank_now++)
        plant_rank(ranks[rank_now]);
    for (int rank = 0; rank < RANKS; rank++)
        for (int i = 0; i < STEPS; i++) {
            int64_t at = (STEP_MS * i + ranks[rank].host_ms) * MS;
            PLANT(&recording.calls, rank, rank, "ncclAllReduce", -1, i, 1 << 22, at, at + 10 * US,
                  .comm = 77, .sequence = i + 1);
        }
    assert_int_equal(mpi_log_finish(&recording.calls), 0);
    assert_int_equal(recording_settle_gpu_calls(&recording), 0);
}

static void judge_ranks(const struct rank_on_gpu ranks[RANKS]) {
    plant_ranks(ranks);
    assert_int_equal(model_build(&recording, &judged.model), 0);
    judge_model(&judged.model, &judged);
}

static void release(void) {
    judged_release(&judged);
    model_release(&judged.model);
    recording_release(&recording);
}

static const struct candidate *found(enum cause_kind kind) {
    for (size_t i = 0; i < judged.candidates.n; i++)
        if (judged.candidates.items[i].kind == kind)
            return &judged.candidates.items[i];
    return NULL;
}

static double inside_ms(size_t rank) {
    const struct mpi_event *e = &recording.calls.ranks[rank].events[STEPS / 2];
    return (double)(e->exit_ns - e->enter_ns) / 1e6;
}

/* Their hosts wait 40 ms a step, 30 of them for the late one. */
static const struct rank_on_gpu late_one[RANKS] = {
    {.host_ms = 10, .clock = 1}, {.host_ms = 40, .clock = 1}, {.host_ms = 10, .clock = 1}};

static void hosts_wait_in_a_collective_for_the_last_to_call(void **state) {
    (void)state;
    plant_ranks(late_one);
    assert_true(fabs(inside_ms(0) - 30) < .5);
    assert_true(fabs(inside_ms(2) - 30) < .5);
    assert_true(inside_ms(1) < .1);
    recording_release(&recording);
}

static void without_clocks_nobody_is_said_to_wait(void **state) {
    struct rank_on_gpu ranks[RANKS] = {late_one[0], late_one[1], late_one[2]};
    (void)state;
    ranks[0].has_no_clocks = true;
    plant_ranks(ranks);
    assert_true(inside_ms(0) < .1);
    assert_true(fabs(inside_ms(2) - 30) < .5);
    recording_release(&recording);
}

static void a_host_that_computes_meanwhile_is_not_said_to_wait(void **state) {
    struct rank_on_gpu ranks[RANKS] = {late_one[0], late_one[1], late_one[2]};
    (void)state;
    ranks[0].overlaps = true;
    plant_ranks(ranks);
    assert_true(inside_ms(0) < .1);
    assert_true(fabs(inside_ms(2) - 30) < .5);
    recording_release(&recording);
}

static void clocks_of_hosts_that_are_far_apart_tell_less(void **state) {
    (void)state;
    plant_ranks(late_one);
    recording_release(&recording);
    plant_init(&recording, 2, 1);
    recording.clock_bound_ns = calloc(3, sizeof *recording.clock_bound_ns);
    recording.clock_bound_ns[0] = 4 * MS;
    recording.clock_bound_ns[1] = 6 * MS;
    for (int i = 0; i < 10; i++)
        for (int rank = 0; rank < 2; rank++)
            PLANT(&recording.calls, rank, rank, "ncclAllReduce", -1, i, 8,
                  (100 * i + 40 * rank) * MS, (100 * i + 40 * rank) * MS + 1, .comm = 7);
    now = (struct rank_on_gpu){.host_ms = 0};
    rank_now = 0;
    plant(&recording, RECORDING_WAIT, 0, "p[1000]", .1, 1u << WAIT_PID, wait_row);
    assert_int_equal(mpi_log_finish(&recording.calls), 0);
    assert_int_equal(recording_settle_gpu_calls(&recording), 0);
    const struct mpi_event *e = &recording.calls.ranks[0].events[5];
    assert_int_equal(e->exit_ns - e->enter_ns, 30 * MS);
    recording_release(&recording);
}

static void a_rank_that_calls_late_is_the_straggler(void **state) {
    (void)state;
    judge_ranks(late_one);
    assert_int_equal(judged.stragglers.n, 1);
    assert_int_equal(judged.stragglers.items[0].rank, 1);
    assert_true(judged.stragglers.items[0].slowdown > 2);
    assert_null(found(CAUSE_GPU_PEER));
    const struct budget *early = &judged.model.budgets.items[0].groups[judged.model.main_group];
    assert_true(fabs(early->term_s[BUDGET_PEER_WAIT] / early->wall_s - .6) < .03);
    assert_true(fabs(early->term_s[BUDGET_GPU] / early->wall_s - .2) < .03);
    assert_true(fabs(early->term_s[BUDGET_CPU] / early->wall_s - .2) < .03);
    release();
}

static const struct rank_on_gpu capped_one[RANKS] = {{.host_ms = 3, .clock = .95},
                                                     {.host_ms = 3, .clock = .6, .cap = 1},
                                                     {.host_ms = 3, .clock = .95}};

static void a_card_that_is_slower_at_equal_work_holds_up_all(void **state) {
    (void)state;
    judge_ranks(capped_one);
    const struct candidate *c = found(CAUSE_GPU_PEER);
    assert_non_null(c);
    assert_int_equal(c->rank, 1);
    assert_int_equal(c->host, 1);
    assert_true(fabs(c->blocked - .94 * (1 - .6 / .95)) < .03);
    assert_null(found(CAUSE_GPU_POWER));
    assert_int_equal(judged.verdict.kind, CAUSE_GPU_PEER);
    assert_int_equal(judged.stragglers.n, 0); /* all call at once */
    release();
}

static void another_model_of_card_is_no_peer(void **state) {
    struct rank_on_gpu ranks[RANKS] = {capped_one[0], capped_one[1], capped_one[2]};
    (void)state;
    ranks[1].card_name = "gpu0 A2";
    judge_ranks(ranks);
    assert_null(found(CAUSE_GPU_PEER));
    release();
}

static void cards_that_are_alike_are_none(void **state) {
    struct rank_on_gpu ranks[RANKS] = {capped_one[1], capped_one[1], capped_one[1]};
    (void)state;
    judge_ranks(ranks);
    assert_null(found(CAUSE_GPU_PEER));
    release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_wait_in_a_collective_for_the_last_to_call),
        cmocka_unit_test(without_clocks_nobody_is_said_to_wait),
        cmocka_unit_test(a_host_that_computes_meanwhile_is_not_said_to_wait),
        cmocka_unit_test(clocks_of_hosts_that_are_far_apart_tell_less),
        cmocka_unit_test(a_rank_that_calls_late_is_the_straggler),
        cmocka_unit_test(a_card_that_is_slower_at_equal_work_holds_up_all),
        cmocka_unit_test(another_model_of_card_is_no_peer),
        cmocka_unit_test(cards_that_are_alike_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
