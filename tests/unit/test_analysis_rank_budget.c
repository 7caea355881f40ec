/* SPDX-License-Identifier: MIT */
/* Whole recordings: which process is a rank, its part of a host's counters, and the verdict. Two
 * hosts, rank i on host i; rank 0 computes for 10 % and waits for rank 1.
 */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/evidence/computed.h"
#include "analysis/evidence/frozen.h"
#include "analysis/gain/whatif.h"
#include "analysis/time/rank_budget_private.h"
#include "tests/unit/judged.h"
#include "tests/unit/mpi_plant.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) <= 1e-6)
#define SECONDS 20

static double idle_host(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_IDLE ? 1e9 : 0;
}

static double throttled_ns;
static double throttled(size_t column, double t_s) {
    (void)column;
    (void)t_s;
    return throttled_ns;
}

static int64_t message_bytes = 100000;

/* Each second rank 1 computes, and sends for the remaining `moving_ms`; rank 0 computes for 0.1 s
 * and receives. Rank 1 uses a core for at most 0.5 s of its computing.
 */
static void plant_calls(struct recording *r, int64_t moving_ms) {
    int64_t gap = 1000 - moving_ms, used = gap < 500 ? gap : 500;
    for (int rank = 0; rank < 2; rank++)
        PLANT(&r->calls, rank, rank, "MPI_Init", -1, -1, 0, 0, 0);
    for (int s = 0; s < SECONDS; s++) {
        PLANT(&r->calls, 0, 0, "MPI_Recv", 1, 1, message_bytes, s * S + 100 * MS, (s + 1) * S,
              MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU, .cpu_ns = 500 * MS, .gap_cpu_ns = 100 * MS);
        PLANT(&r->calls, 1, 1, "MPI_Send", 0, 1, message_bytes, s * S + gap * MS, (s + 1) * S,
              MPI_FLAG_HAS_CPU | MPI_FLAG_HAS_GAP_CPU, .cpu_ns = (600 - used) * MS,
              .gap_cpu_ns = used * MS);
    }
    assert_int_equal(mpi_log_finish(&r->calls), 0);
}

/* Both use 60 % of a core and queue for 40 %: rank 0 while it spins, rank 1 while it computes. */
static void plant_recording(struct recording *r, bool calls) {
    plant_init(r, 2, SECONDS);
    r->clock_bound_ns = calloc(2, sizeof *r->clock_bound_ns);
    for (int h = 0; h < 2; h++) {
        plant(r, RECORDING_CPU, h, "cpu0", 0.1, 0, idle_host);
        plant(r, RECORDING_CGROUP, h, "job", 0.1, 0, throttled);
        plant_process(r, h, "train", (struct plant_process){h, 0.6, 0.4, 0});
    }
    plant_process(r, 0, "sh", (struct plant_process){0, 0.01, 0, 0}); /* a wrapper */
    struct series_set *set = &r->tables[RECORDING_PROCESS];
    struct series *wrapper = &set->items[set->n - 1];
    for (size_t i = 0; i < wrapper->n; i++)
        wrapper->values[i * set->n_columns + PROCESS_PID] = 77;
    if (calls)
        plant_calls(r, 100);
}

static void counters_are_divided_between_what_ranks_did(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    throttled_ns = 0;
    plant_recording(&r, true);
    assert_int_equal(model_build(&r, &model), 0);
    const struct rank_budgets *b = &model.budgets;
    assert_int_equal(b->n, 2); /* without the wrapper */
    const struct budget *first = &b->items[0].groups[0], *second = &b->items[1].groups[0];
    NEAR(first->term_s[BUDGET_CPU], 2);
    NEAR(first->term_s[BUDGET_PEER_WAIT], 16);
    NEAR(first->term_s[BUDGET_TRANSFER], 2);
    NEAR(first->term_s[BUDGET_RUN_QUEUE], 0); /* it lost its core while it waited */
    NEAR(second->term_s[BUDGET_CPU], 10);
    NEAR(second->term_s[BUDGET_RUN_QUEUE], 8);
    NEAR(second->term_s[BUDGET_TRANSFER], 2);
    assert_true(budget_closes(first) && budget_closes(second));
    assert_int_equal(b->items[0].awaited_rank, 1);
    NEAR(b->items[0].awaited_s, 16);
    assert_ptr_equal(rank_budgets_awaited(b), &b->items[1]);
    NEAR(rank_budgets_share(b, 0, BUDGET_PEER_WAIT), 0.4);
    model_release(&model);
    recording_release(&r);
}

static void a_host_that_throttles_its_group_explains_the_queue_of_its_ranks(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    throttled_ns = 0.3e9; /* per second */
    plant_recording(&r, true);
    assert_int_equal(model_build(&r, &model), 0);
    const struct budget *second = &model.budgets.items[1].groups[0];
    NEAR(second->term_s[BUDGET_QUOTA], 6);
    NEAR(second->term_s[BUDGET_RUN_QUEUE], 2);
    model_release(&model);
    recording_release(&r);
}

/* Sets a column of rank 1's process, ns a second. */
static void set_of_rank_1(struct recording *r, size_t column, int64_t ns) {
    struct series_set *set = &r->tables[RECORDING_PROCESS];
    for (size_t s = 0; s < set->n; s++)
        for (size_t i = 0; set->items[s].host == 1 && i < set->items[s].n; i++)
            set->items[s].values[i * set->n_columns + column] = ns;
}

/* The share of rank 1's waiting that is its quota, where two threads of it run for 1.2 s of each
 * second in sum and wait for 0.8 s, and its group is throttled for 0.3 s.
 */
static void throttling_holds_back_each_thread_that_is_ready_in_full(void **state) {
    struct recording r;
    struct run_model model;
    struct budget_interval *intervals;
    size_t n;
    (void)state;
    throttled_ns = 0.3e9;
    plant_recording(&r, true);
    set_of_rank_1(&r, PROCESS_USER, 1200 * MS);
    set_of_rank_1(&r, PROCESS_SYSTEM, 0);
    set_of_rank_1(&r, PROCESS_RUN_QUEUE, 800 * MS);
    assert_int_equal(model_build(&r, &model), 0);
    const struct model_process *process = &model.processes[1];
    assert_int_equal(process->host, 1);
    assert_int_equal(budget_intervals(&model, process, 1001, &intervals, &n), 0);
    NEAR(intervals[n / 2].run_queue, 800 * MS);
    NEAR(intervals[n / 2].quota, 2 * 300 * MS);
    free(intervals);
    model_release(&model);
    recording_release(&r);
}

static void a_rank_that_was_seen_stopped_is_not_idle(void **state) {
    struct recording r;
    struct run_model model;
    (void)state;
    throttled_ns = 0;
    plant_recording(&r, true);
    set_of_rank_1(&r, PROCESS_RUN_QUEUE, 0);
    set_of_rank_1(&r, PROCESS_STOPPED, 300 * MS);
    assert_int_equal(model_build(&r, &model), 0);
    const struct budget *second = &model.budgets.items[1].groups[0];
    NEAR(second->term_s[BUDGET_CPU], 10);
    NEAR(second->term_s[BUDGET_STOPPED], 6);
    NEAR(second->term_s[BUDGET_IDLE], 2);
    assert_true(budget_closes(second));
    model_release(&model);
    recording_release(&r);
}

/* Rank 1 sleeps for 0.5 s of each second by its counters, and was found stopped in `found` of ten
 * scans.
 */
static bool sleeps_after_stops(size_t found) {
    struct recording r;
    struct judged j;
    throttled_ns = 0;
    plant_recording(&r, true);
    set_of_rank_1(&r, PROCESS_RUN_QUEUE, 0);
    struct series_set *set = &r.tables[RECORDING_PROCESS];
    for (size_t s = 0; s < set->n; s++)
        for (size_t i = 0; set->items[s].host == 1 && i < set->items[s].n; i++)
            set->items[s].values[i * set->n_columns + PROCESS_STOPPED] = i % 10 < found ? S : 0;
    assert_int_equal(model_build(&r, &j.model), 0);
    judge_model(&j.model, &j);
    bool sleeps = false, stopped = false;
    for (size_t i = 0; i < j.candidates.n; i++) {
        sleeps |= j.candidates.items[i].kind == CAUSE_SLEEP;
        stopped |= j.candidates.items[i].kind == CAUSE_STOPPED;
    }
    assert_true(sleeps || stopped);
    judged_release(&j);
    model_release(&j.model);
    recording_release(&r);
    return sleeps;
}

static void looks_at_stops_speak_for_those_between_them(void **state) {
    (void)state;
    assert_true(sleeps_after_stops(0));
    assert_true(sleeps_after_stops(1));
    assert_false(sleeps_after_stops(4));
}

/* Host 1's agent pauses from 5 to 8 s; meanwhile its core is idle, or other programs have it. */
static double busy_ns;
static double a_core(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER ? busy_ns : column == CPU_IDLE ? 1e9 - busy_ns : 0;
}

static double frozen_s(double busy) {
    struct recording r;
    struct run_model model = {.recording = &r, .n_hosts = 2};
    struct window all = {0, SECONDS * S};
    plant_init(&r, 2, SECONDS);
    busy_ns = busy * 1e9;
    plant_part(&r, RECORDING_CPU, 0, 900, "cpu0", 0.1, 0, 19.9, 0, a_core);
    plant_part(&r, RECORDING_CPU, 0, 900, "cpu0", 0.01, 19.9, 19.91, 0, a_core); /* the last one */
    plant_part(&r, RECORDING_CPU, 1, 900, "cpu0", 0.1, 0, 5, 0, a_core);
    plant_part(&r, RECORDING_CPU, 1, 900, "cpu0", 3, 5, 8, 0, a_core);
    plant_part(&r, RECORDING_CPU, 1, 900, "cpu0", 0.1, 8, 20, 0, a_core);
    NEAR(host_frozen_s(&model, 0, (struct windows){&all, 1}), 0);
    double frozen = host_frozen_s(&model, 1, (struct windows){&all, 1});
    recording_release(&r);
    return frozen;
}

static void a_host_stood_still_if_neither_its_agent_nor_anything_else_ran(void **state) {
    (void)state;
    NEAR(frozen_s(0), 2.9);
    NEAR(frozen_s(0.9), 0);
}

/* Rank 1 waits for disks 0.3 s a second, for 3 MB; so many of them the host had read before. */
static double read_again_bytes;
static double read_again(size_t column, double t_s) {
    (void)t_s;
    return column == VMSTAT_REFAULT ? read_again_bytes : 0;
}

static int64_t system_ns;  /* of rank 1, per second */
static double pressure_ns; /* memory pressure of its host, per second, while it reads pages back */

static double pressed(size_t column, double t_s) {
    (void)t_s;
    return column == PSI_SOME ? pressure_ns : 0;
}

static double inside_mpi(size_t column, double t_s) {
    (void)t_s;
    return column == MPI_PID ? 1001 : column == MPI_INSIDE || column == MPI_MEASURED ? 0.1e9 : 0;
}

static void plant_reading(struct recording *r, bool others) {
    plant_recording(r, true);
    plant(r, RECORDING_VMSTAT, 1, "", 0.1, 0, read_again);
    if (others)
        plant_process(r, 1, "backup", (struct plant_process){-1, 0.1, 0, 0});
    struct series_set *set = &r->tables[RECORDING_PROCESS];
    for (size_t s = 0; s < set->n; s++)
        for (size_t i = 0; set->items[s].host == 1 && i < set->items[s].n; i++) {
            int64_t *values = &set->items[s].values[i * set->n_columns];
            values[PROCESS_RUN_QUEUE] = 0;
            values[PROCESS_BLOCK_IO] = 300 * MS;
            values[PROCESS_READ] = 3000000;
            bool own = values[PROCESS_RANK] == 1 && values[PROCESS_USER] != VALUE_ABSENT;
            values[PROCESS_USER] -= own ? system_ns : 0;
            values[PROCESS_SYSTEM] += own ? system_ns : 0;
            values[PROCESS_MAJOR_FAULTS] = pressure_ns > 0 && i % 2; /* asleep, it has no faults */
        }
    if (pressure_ns > 0) {
        plant(r, RECORDING_PSI, 1, "memory", 0.1, 0, pressed);
        plant(r, RECORDING_MPI, 1, "MPI_Send", 0.1, 1u << MPI_PID, inside_mpi);
    }
}

static struct budget budget_of_reading(double again_bytes_a_second, bool others) {
    struct recording r;
    struct run_model model;
    throttled_ns = 0;
    read_again_bytes = again_bytes_a_second;
    plant_reading(&r, others);
    assert_int_equal(model_build(&r, &model), 0);
    struct budget budget = model.budgets.items[1].groups[0];
    model_release(&model);
    recording_release(&r);
    return budget;
}

static void waiting_for_what_had_been_in_memory_is_short_memory(void **state) {
    (void)state;
    struct budget b = budget_of_reading(2e6, false);
    NEAR(b.term_s[BUDGET_MEMORY], 4);
    NEAR(b.term_s[BUDGET_DISK], 2);
    b = budget_of_reading(0, false);
    NEAR(b.term_s[BUDGET_MEMORY], 0);
    NEAR(b.term_s[BUDGET_DISK], 6);
    b = budget_of_reading(2e6, true); /* another process reads as much */
    NEAR(b.term_s[BUDGET_MEMORY], 2);
    NEAR(b.term_s[BUDGET_DISK], 4);
    b = budget_of_reading(9e6, false); /* the kernel read again, too */
    NEAR(b.term_s[BUDGET_MEMORY], 6);
}

/* At most as long as memory was short, or as reading back takes. */
static void making_room_in_memory_is_short_memory_too(void **state) {
    (void)state;
    struct budget without = budget_of_reading(2e6, false), b;
    system_ns = 100 * MS;
    b = budget_of_reading(2e6, false);
    NEAR(b.term_s[BUDGET_MEMORY], without.term_s[BUDGET_MEMORY] + 2);
    NEAR(b.term_s[BUDGET_CPU], without.term_s[BUDGET_CPU] - 2);
    system_ns = 400 * MS;
    b = budget_of_reading(2e6, false);
    NEAR(b.term_s[BUDGET_MEMORY], without.term_s[BUDGET_MEMORY] + 4);
    b = budget_of_reading(350e6, false);
    NEAR(b.term_s[BUDGET_MEMORY], 6 + 7);
    b = budget_of_reading(0, false);
    NEAR(b.term_s[BUDGET_MEMORY], 0);
    system_ns = 0;
}

/* Blocked for 0.3 s and asleep for 0.1 s of a second: it is not known how much of the pressure was
 * on the CPU, and not all kernel work to read pages back is pressure.
 */
static void sleeping_while_memory_is_short_is_short_memory(void **state) {
    (void)state;
    system_ns = 100 * MS;
    pressure_ns = 0.45e9;
    struct budget b = budget_of_reading(3e6, false);
    NEAR(b.term_s[BUDGET_MEMORY], 6 + 2 + 2);
    NEAR(b.term_s[BUDGET_IDLE], 0);
    pressure_ns = 0.35e9;
    b = budget_of_reading(3e6, false);
    NEAR(b.term_s[BUDGET_MEMORY], 6 + 2 + 1);
    NEAR(b.term_s[BUDGET_IDLE], 1);
    system_ns = 0;
    pressure_ns = 0;
}

/* ---- waits that are counted when they end ---- */

#define INTERVAL(cpu_ms, queue_ms, disk_ms, quota_ms, memory_ms)                                   \
    {                                                                                              \
        .cpu = (cpu_ms)*MS, .run_queue = (queue_ms)*MS, .disk = (disk_ms)*MS,                      \
        .quota = (quota_ms)*MS, .memory = (memory_ms)*MS                                           \
    }

static void place(struct budget_interval *items, size_t n) {
    for (size_t i = 0; i < n; i++) {
        items[i].begin_ns = (int64_t)i * 100 * MS;
        items[i].end_ns = (int64_t)(i + 1) * 100 * MS;
    }
}

static void a_wait_is_where_it_was_not_where_it_was_counted(void **state) {
    /* cpu until 130 ms, the disk until 340 ms, cpu until 360 ms, a queue until 450 ms */
    struct budget_interval i[] = {INTERVAL(100, 0, 0, 0, 0), INTERVAL(30, 0, 0, 0, 0),
                                  INTERVAL(0, 0, 0, 0, 0), INTERVAL(20, 0, 210, 0, 105),
                                  INTERVAL(50, 90, 0, 45, 0)};
    (void)state;
    place(i, 5);
    budget_settle_waits(i, 5);
    NEAR(i[0].disk, 0);
    NEAR(i[1].disk, 70 * MS);
    NEAR(i[2].disk, 100 * MS);
    NEAR(i[3].disk, 40 * MS);
    NEAR(i[2].memory, 50 * MS);
    NEAR(i[1].memory + i[2].memory + i[3].memory, 105 * MS);
    NEAR(i[3].run_queue, 40 * MS);
    NEAR(i[4].run_queue, 50 * MS);
    NEAR(i[3].quota, 20 * MS);
    NEAR(i[4].quota, 25 * MS);
}

/* 40 ms of each 100 ms, counted when the group may run again: before the sample or after it. */
static void throttling_counted_beside_its_interval_explains_the_wait_all_the_same(void **state) {
    struct budget_interval i[] = {INTERVAL(60, 40, 0, 0, 0),  INTERVAL(60, 40, 0, 80, 0),
                                  INTERVAL(60, 40, 0, 40, 0), INTERVAL(60, 40, 0, 80, 0),
                                  INTERVAL(60, 40, 0, 0, 0),  INTERVAL(100, 0, 0, 0, 0),
                                  INTERVAL(100, 0, 0, 40, 0), INTERVAL(60, 40, 0, 0, 0)};
    (void)state;
    place(i, 8);
    i[7].begin_ns += 50 * MS; /* after a gap */
    budget_settle_waits(i, 8);
    for (size_t k = 0; k < 5; k++)
        NEAR(i[k].quota, 40 * MS);
    NEAR(i[6].quota, 0); /* no process of the job waited */
    NEAR(i[7].quota, 0);
}

static void waits_are_handed_back_no_further_than_counters_reach(void **state) {
    struct budget_interval i[] = {INTERVAL(0, 0, 0, 0, 0), INTERVAL(0, 0, 0, 0, 0),
                                  INTERVAL(0, 250, 150, 0, 0)};
    (void)state;
    place(i, 3);
    i[1].run_queue = i[1].disk = NAN;
    budget_settle_waits(i, 3);
    NEAR(i[2].run_queue, 250 * MS);
    NEAR(i[0].run_queue + i[0].disk, 0);
    i[1].run_queue = i[1].disk = 0;
    i[0].end_ns -= 10 * MS; /* a gap */
    budget_settle_waits(i, 3);
    NEAR(i[2].run_queue, 150 * MS);
    NEAR(i[1].run_queue, 100 * MS);
    NEAR(i[0].run_queue + i[0].disk, 0);
    NEAR(i[2].disk, 150 * MS);
}

/* It computes until 160 ms, is stopped until 455 ms, computes until 530 ms and is stopped until its
 * end.
 */
static void a_stop_goes_on_until_the_interval_after_its_last_sample(void **state) {
    struct budget_interval i[] = {INTERVAL(100, 0, 0, 0, 0), INTERVAL(50, 10, 0, 0, 0),
                                  INTERVAL(0, 0, 0, 0, 0),   INTERVAL(0, 0, 0, 0, 0),
                                  INTERVAL(45, 0, 0, 0, 0),  INTERVAL(30, 0, 0, 0, 0)};
    (void)state;
    place(i, 6);
    i[1].stopped = i[2].stopped = i[3].stopped = i[5].stopped = 100 * MS;
    budget_settle_waits(i, 6);
    NEAR(i[0].stopped, 0);
    NEAR(i[1].stopped, 40 * MS);
    NEAR(i[2].stopped, 100 * MS);
    NEAR(i[3].stopped, 100 * MS);
    NEAR(i[4].stopped, 55 * MS);
    NEAR(i[5].stopped, 70 * MS); /* no interval follows */
    i[4].begin_ns += 10 * MS;    /* after a gap */
    i[3].stopped = 130 * MS;
    i[4].stopped = 0;
    budget_settle_waits(i, 6);
    NEAR(i[4].stopped, 0);
}

/* Judges; *ret_host is the host blamed for its CPU, or -1. */
static void judge(bool calls, int *ret_host, double *ret_blocked) {
    struct recording r;
    struct run_model model;
    struct judged judged;
    throttled_ns = 0;
    plant_recording(&r, calls);
    assert_int_equal(model_build(&r, &model), 0);
    judge_model(&model, &judged);
    const struct candidates candidates = judged.candidates;
    *ret_host = -1;
    for (size_t i = candidates.n; i-- > 0;)
        if (strcmp(resource_name(candidates.items[i].resource), "cpu") == 0) {
            *ret_host = candidates.items[i].host;
            *ret_blocked = candidates.items[i].blocked;
        }
    for (size_t i = 0; calls && i < candidates.n; i++)
        assert_int_not_equal(candidates.items[i].host, 0);
    judged_release(&judged);
    model_release(&model);
    recording_release(&r);
}

static void a_rank_put_aside_while_it_spins_is_no_demand_for_cpu(void **state) {
    int host;
    double blocked = 0;
    (void)state;
    judge(true, &host, &blocked);
    assert_int_equal(host, 1);
    NEAR(blocked, 0.4);
    judge(false, &host, &blocked); /* without the calls both hosts look alike */
    assert_int_equal(host, 0);
}

static void queue_no_more(struct recording *r, int host) {
    struct series_set *set = &r->tables[RECORDING_PROCESS];
    for (size_t s = 0; s < set->n; s++)
        for (size_t i = 0; set->items[s].host == host && i < set->items[s].n; i++)
            set->items[s].values[i * set->n_columns + PROCESS_RUN_QUEUE] = 0;
}

struct moving {
    struct verdict verdict;
    struct verdict_words words;
};

static void moving_release(struct moving *moving) {
    verdict_release(&moving->verdict);
    verdict_words_release(&moving->words);
}

/* Rank 0 queues for 0.4 of each second while it receives; rank 1, if sender_queues, while it
 * computes; data move for `moving_ms`.
 */
static void judge_moving(int64_t moving_ms, bool sender_queues, struct moving *ret_moving) {
    struct recording r;
    struct run_model model;
    struct judged judged;
    throttled_ns = 0;
    plant_recording(&r, false);
    plant_calls(&r, moving_ms);
    if (!sender_queues)
        queue_no_more(&r, 1);
    assert_int_equal(model_build(&r, &model), 0);
    judge_model(&model, &judged);
    *ret_moving = (struct moving){judged.verdict, judged.words};
    judged.verdict = (struct verdict){0};
    judged.words = (struct verdict_words){0};
    judged_release(&judged);
    model_release(&model);
    recording_release(&r);
}

/* The receiver queues as long in both cases. The run waits for a core only if its data arrive late
 * for want of one, and else for the data.
 */
static void a_cpu_is_not_saturated_where_more_time_goes_into_moving_data(void **state) {
    struct moving m;
    (void)state;
    judge_moving(100, true, &m);
    assert_string_equal(resource_name(m.verdict.resource), "cpu");
    assert_int_equal(m.verdict.host, 1);
    assert_int_equal(m.verdict.state, VERDICT_SATURATED);
    moving_release(&m);
    judge_moving(550, false, &m);
    assert_string_not_equal(resource_name(m.verdict.resource), "cpu");
    assert_string_equal(resource_name(m.verdict.resource), "net-egress");
    assert_int_equal(m.verdict.state, VERDICT_SUSPECTED); /* no source shows a full link */
    moving_release(&m);
}

/* Rank 1 queues or sends for half of each second: that stays, however fast it computes. */
static void no_answer_is_shorter_than_what_stays_of_the_path(void **state) {
    struct recording r;
    struct run_model model;
    struct whatif *whatif;
    struct whatif_answer a;
    const struct whatif_scenario at_once = {WHATIF_CPU, .host = 1, .rank = -1, .factor = 1e9},
                                 half = {WHATIF_LATENCY, .host = -1, .rank = -1, .factor = 0.5},
                                 none = {WHATIF_LATENCY, .host = -1, .rank = -1, .factor = 1e-3};
    double least;
    (void)state;
    throttled_ns = 0;
    plant_recording(&r, false);
    plant_calls(&r, 100);
    assert_int_equal(model_build(&r, &model), 0);
    assert_int_equal(whatif_new(&model, &whatif), 0);
    assert_int_equal(whatif_ask(whatif, &at_once, 1, &a), 0);
    assert_true(a.replayed && a.calls_s >= 0.5 * SECONDS * (1 - 1e-6));
    assert_true(a.bound_s <= a.predicted_s && a.gain <= a.gain_max);
    assert_int_equal(whatif_ask(whatif, &none, 1, &a), 0);
    least = a.gain_max;
    assert_true(least > 0);
    assert_int_equal(whatif_ask(whatif, &half, 1, &a), 0);
    assert_true(a.gain_max > 0.4 * least && a.gain_max < 0.6 * least);
    whatif_free(whatif);
    model_release(&model);
    recording_release(&r);
}

/* Messages of a few bytes, for which no link is too slow. */
static void small_messages_that_take_long_are_limited_by_latency(void **state) {
    struct moving m;
    (void)state;
    message_bytes = 8;
    judge_moving(550, false, &m);
    message_bytes = 100000;
    assert_string_equal(cause_name(m.verdict.kind), "latency");
    assert_int_equal(m.verdict.subject, SUBJECT_MESSAGES);
    moving_release(&m);
}

/* Rank 1 has its core, and no other rank does its work: rank 0 waits for it most of the time. */
static void who_computes_alone_while_the_other_waits_is_what_the_run_waits_for(void **state) {
    struct moving m;
    (void)state;
    judge_moving(100, false, &m);
    assert_true(verdict_blames(m.verdict.state));
    assert_string_equal(cause_name(m.verdict.kind), "serial");
    assert_int_equal(m.verdict.host, 1);
    moving_release(&m);
}

/* Another rank's calls were not recorded: it may compute meanwhile. */
static void who_computes_alone_is_not_known_beside_a_rank_without_calls(void **state) {
    (void)state;
    for (int beside = 0; beside < 2; beside++) {
        struct recording r;
        struct run_model model;
        throttled_ns = 0;
        plant_recording(&r, false);
        for (int i = 0; i < SECONDS; i++) {
            PLANT(&r.calls, 0, 0, "MPI_Recv", 1, 1, 8, i * S + 20 * MS, (i + 1) * S,
                  MPI_FLAG_HAS_GAP_CPU, .gap_cpu_ns = 20 * MS);
            PLANT(&r.calls, 1, 1, "MPI_Send", 0, 1, 8, i * S + 900 * MS, (i + 1) * S,
                  MPI_FLAG_HAS_GAP_CPU, .gap_cpu_ns = 900 * MS);
        }
        assert_int_equal(mpi_log_finish(&r.calls), 0);
        if (beside)
            plant_process(&r, 0, "train", (struct plant_process){2, 0.6, 0, 0});
        assert_int_equal(model_build(&r, &model), 0);
        assert_true(beside ? alone_share(&model, 0, 1) == 0 : alone_share(&model, 0, 1) > 0.4);
        model_release(&model);
        recording_release(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_are_divided_between_what_ranks_did),
        cmocka_unit_test(a_host_that_throttles_its_group_explains_the_queue_of_its_ranks),
        cmocka_unit_test(throttling_holds_back_each_thread_that_is_ready_in_full),
        cmocka_unit_test(a_rank_that_was_seen_stopped_is_not_idle),
        cmocka_unit_test(looks_at_stops_speak_for_those_between_them),
        cmocka_unit_test(a_host_stood_still_if_neither_its_agent_nor_anything_else_ran),
        cmocka_unit_test(waiting_for_what_had_been_in_memory_is_short_memory),
        cmocka_unit_test(making_room_in_memory_is_short_memory_too),
        cmocka_unit_test(sleeping_while_memory_is_short_is_short_memory),
        cmocka_unit_test(a_wait_is_where_it_was_not_where_it_was_counted),
        cmocka_unit_test(throttling_counted_beside_its_interval_explains_the_wait_all_the_same),
        cmocka_unit_test(waits_are_handed_back_no_further_than_counters_reach),
        cmocka_unit_test(a_stop_goes_on_until_the_interval_after_its_last_sample),
        cmocka_unit_test(a_rank_put_aside_while_it_spins_is_no_demand_for_cpu),
        cmocka_unit_test(a_cpu_is_not_saturated_where_more_time_goes_into_moving_data),
        cmocka_unit_test(no_answer_is_shorter_than_what_stays_of_the_path),
        cmocka_unit_test(small_messages_that_take_long_are_limited_by_latency),
        cmocka_unit_test(who_computes_alone_while_the_other_waits_is_what_the_run_waits_for),
        cmocka_unit_test(who_computes_alone_is_not_known_beside_a_rank_without_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
