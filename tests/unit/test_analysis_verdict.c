/* SPDX-License-Identifier: MIT */
/* Runs with a planted truth, judged as a whole. Five hosts, rank i on host i. */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/verdict/resample.h"
#include "tests/unit/judged.h"

#define HOSTS 5

/* Values that the functions below plant for the current host. */
static struct {
    double cpu_busy; /* of one of two cores */
    double steal;    /* of both cores */
    double psi_cpu, psi_memory, psi_io;
    double disk_busy;
    double send_mb_s, receive_mb_s; /* while sending or receiving */
    double refault_mb_s, available;
} host_now;

/* An iteration of 4 s: sends for 1.8 s, receives for 1.6 s, computes for the rest. */
static bool sending(double t_s) {
    return fmod(t_s + 400, 4) < 1.8;
}
static bool receiving(double t_s) {
    double at = fmod(t_s + 400, 4);
    return at >= 1.8 && at < 3.4;
}

static double cpu(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER    ? host_now.cpu_busy * 1e9
           : column == CPU_STEAL ? host_now.steal * 1e9
           : column == CPU_IDLE  ? (1 - host_now.cpu_busy - host_now.steal) * 1e9
                                 : 0;
}
static double idle_core(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_IDLE    ? (1 - host_now.steal) * 1e9
           : column == CPU_STEAL ? host_now.steal * 1e9
                                 : 0;
}
static double net(size_t column, double t_s) {
    if (column == NET_SEND_BYTES)
        return sending(t_s) ? host_now.send_mb_s * 1e6 : 1e3;
    return receiving(t_s) ? host_now.receive_mb_s * 1e6 : 1e3;
}
static double steady_net(size_t column, double t_s) {
    (void)t_s;
    return column == NET_SEND_BYTES ? host_now.send_mb_s * 1e6 : host_now.receive_mb_s * 1e6;
}
static double memory(size_t column, double t_s) {
    (void)t_s;
    return column == MEMORY_TOTAL ? 8e9 : column == MEMORY_AVAILABLE ? host_now.available * 8e9 : 0;
}
static double vmstat(size_t column, double t_s) {
    (void)t_s;
    return column == VMSTAT_REFAULT ? host_now.refault_mb_s * 1e6 : 0;
}
static double disk(size_t column, double t_s) {
    (void)t_s;
    return column == DISK_BUSY ? host_now.disk_busy * 1e9 : 1e6;
}
static double psi_cpu(size_t column, double t_s) {
    (void)t_s;
    return column == PSI_SOME ? host_now.psi_cpu * 1e9 : 0;
}
static double psi_memory(size_t column, double t_s) {
    (void)t_s;
    return column == PSI_SOME ? host_now.psi_memory * 1e9 : 0;
}
static double psi_io(size_t column, double t_s) {
    (void)t_s;
    return column == PSI_SOME ? host_now.psi_io * 1e9 : 0;
}

static void plant_host(struct recording *r, int h, plant_value *network) {
    plant(r, RECORDING_CPU, h, "cpu0", 0.1, 0, cpu);
    plant(r, RECORDING_CPU, h, "cpu1", 0.1, 0, idle_core);
    plant(r, RECORDING_NET, h, "eth0", 0.1, 0, network);
    plant(r, RECORDING_MEMORY, h, "memory", 0.1, MEMORY_LEVELS, memory);
    plant(r, RECORDING_VMSTAT, h, "vm", 0.1, 0, vmstat);
    plant(r, RECORDING_DISK, h, "sda", 0.1, 0, disk);
    plant(r, RECORDING_PSI, h, "cpu", 0.1, 0, psi_cpu);
    plant(r, RECORDING_PSI, h, "memory", 0.1, 0, psi_memory);
    plant(r, RECORDING_PSI, h, "io", 0.1, 0, psi_io);
}

static void reset_host(void) {
    memset(&host_now, 0, sizeof host_now);
    host_now.available = 0.8;
    host_now.cpu_busy = 0.1;
}

static void mark_iterations(struct recording *r, int ranks, double iteration_s) {
    int n = (int)((double)r->duration_ns / 1e9 / iteration_s);
    plant_mark(r, MARK_PHASE, "training", 0, 0, 0, 0, (double)r->duration_ns / 1e9);
    for (int rank = 0; rank < ranks; rank++)
        for (int i = 0; i < n; i++)
            plant_mark(r, MARK_ITERATION, "", rank, rank, i, i * iteration_s, iteration_s);
}

static void judge_iterations(struct recording *r, enum iteration_source source, struct judged *j) {
    struct run_model model;
    assert_int_equal(model_build(r, &model), 0);
    if (source != ITERATION_NONE)
        model.iterations.source = source;
    judge_model(&model, j);
    assert_true(j->verdict.confidence >= 0 && j->verdict.confidence <= number_CONFIDENCE_CAP.usual);
    assert_true(j->words.next.n > 0 || j->verdict.too_short);
    model_release(&model);
    recording_release(r);
}

static void judge(struct recording *r, struct judged *j) {
    judge_iterations(r, ITERATION_NONE, j); /* unchanged */
}

/* Rank i on host i uses this much of a core. */
static void plant_ranks(struct recording *r, struct plant_process like) {
    for (int h = 0; h < HOSTS; h++) {
        like.rank = h;
        plant_process(r, h, "train", like);
    }
}

static void plant_server_limited(struct recording *r, double duration_s) {
    plant_init(r, HOSTS, duration_s);
    for (int h = 0; h < HOSTS; h++) {
        reset_host();
        host_now.send_mb_s = h ? 55 : 220;
        host_now.receive_mb_s = h ? 55 : 220;
        plant_host(r, h, net);
    }
    mark_iterations(r, HOSTS, 4);
}

static void measure_links(struct recording *r, double mb_s) {
    for (int h = 0; h < HOSTS; h++) {
        assert_int_equal(recording_add_ceiling(r, h, METRIC_NET_SEND, mb_s), 0);
        assert_int_equal(recording_add_ceiling(r, h, METRIC_NET_RECV, mb_s), 0);
    }
}

/* The highest rate that was seen is a floor of what a link can carry, and no ceiling. */
static void a_rate_that_was_only_seen_fills_no_link(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_server_limited(&r, 80);
    plant_ranks(&r, (struct plant_process){0, 0.15, 0, 0});
    judge(&r, &j);
    assert_int_equal(j.candidates.n, 0);
    judged_release(&j);
}

static double own_rate(size_t column, double t_s) {
    (void)t_s;
    return column == CONNECTION_PID ? 1000 : column == CONNECTION_SEND_BYTES ? 220e6 : 0;
}

static double no_rows(size_t column, double t_s) {
    (void)column;
    (void)t_s;
    return 1;
}

/* The agent looked for connections of the job: it has one that leaves the host, one to itself, or
 * none. Then what the full link carries is of others, and the job waits for no link.
 */
static void a_job_without_a_connection_waits_for_no_link(void **state) {
    static const char *const connections[] = {"10.0.0.1:5000>10.9.9.9:443",
                                              "127.0.0.1:5000>127.0.0.1:443", NULL};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct recording r;
        struct judged j;
        plant_server_limited(&r, 80);
        plant_ranks(&r, (struct plant_process){0, 0.15, 0, 0});
        measure_links(&r, 227);
        plant(&r, RECORDING_SELF, 0, "connection", 0.1, 0, no_rows);
        if (connections[i])
            plant(&r, RECORDING_CONNECTION, 0, connections[i], 0.1, 1u << CONNECTION_PID, own_rate);
        judge(&r, &j);
        assert_int_equal(j.candidates.n > 0, i == 0);
        judged_release(&j);
    }
}

static double out_then_in(size_t column, double t_s) {
    return (column == NET_SEND_BYTES) == (t_s < 40) ? host_now.send_mb_s * 1e6 : 1e3;
}

/* The same link is chosen, whichever half of the run is drawn more often. */
static void two_ways_of_one_link_are_no_rivals(void **state) {
    struct recording r;
    struct judged j;
    struct resampled drawn;
    struct run_model model;
    (void)state;
    plant_init(&r, HOSTS, 80);
    for (int h = 0; h < HOSTS; h++) {
        reset_host();
        host_now.send_mb_s = h ? 55 : 220;
        plant_host(&r, h, out_then_in);
    }
    mark_iterations(&r, HOSTS, 4);
    plant_ranks(&r, (struct plant_process){0, 0.15, 0, 0});
    measure_links(&r, 227);
    assert_int_equal(model_build(&r, &model), 0);
    judge_model(&model, &j);
    assert_int_equal(j.verdict.host, 0);
    assert_int_equal(resample_candidates(&model, &j.candidates, &drawn), 0);
    assert_true(drawn.first > 0.95);
    assert_int_equal(j.verdict.state, VERDICT_SATURATED);
    judged_release(&j);
    model_release(&model);
    recording_release(&r);
}

/* P1: 220 MB/s for 1.8 s of 4 s is 396 MB an iteration, which at 220 MB/s takes 1.8 s: 45 %. */
static void the_arithmetic_comes_out(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_server_limited(&r, 80);
    plant_ranks(&r, (struct plant_process){0, 0.15, 0, 0});
    judge(&r, &j);
    const struct arithmetic *a =
        arithmetic_find(j.candidates.arithmetic, j.candidates.n_arithmetic, 0, METRIC_NET_SEND, 1);
    assert_non_null(a);
    assert_true(fabs(a->bytes_per_iteration - 396e6) < 4e6);
    assert_true(fabs(a->bandwidth_mb_s - 220) < 1);
    assert_true(fabs(a->iteration_s - 4) < 0.01);
    assert_true(fabs(a->share - 0.45) < 0.01);
    judged_release(&j);
}

static double queue_set_mb_s;

static double queue_value(size_t column, double t_s) {
    (void)t_s;
    return column == QDISC_RATE ? queue_set_mb_s * 1e6 : column == QDISC_SEND_BYTES ? 220e6 : 0;
}

static struct arithmetic arithmetic_of_queue(double set_mb_s, double measured_mb_s) {
    struct recording r;
    struct judged j;
    queue_set_mb_s = set_mb_s;
    plant_server_limited(&r, 80);
    plant_ranks(&r, (struct plant_process){0, 0.15, 0, 0});
    plant(&r, RECORDING_QDISC, 0, "eth0 tbf 1:", 0.1, 1u << QDISC_RATE, queue_value);
    if (!isnan(measured_mb_s))
        assert_int_equal(recording_add_ceiling(&r, 0, METRIC_NET_SEND, measured_mb_s), 0);
    judge(&r, &j);
    struct arithmetic a =
        *arithmetic_find(j.candidates.arithmetic, j.candidates.n_arithmetic, 0, METRIC_NET_SEND, 1);
    judged_release(&j);
    return a;
}

/* It carries 220 MB/s. The set rate is its limit, unless a lower one was measured, or it sent more.
 */
static void arithmetic_knows_what_an_interface_is_set_to(void **state) {
    (void)state;
    struct arithmetic a = arithmetic_of_queue(240, NAN);
    assert_true(a.known == ARITHMETIC_SET && a.bandwidth_mb_s == 240);
    a = arithmetic_of_queue(240, 227);
    assert_true(a.known == ARITHMETIC_MEASURED && a.bandwidth_mb_s == 227);
    a = arithmetic_of_queue(240, 1250);
    assert_true(a.known == ARITHMETIC_SET && a.bandwidth_mb_s == 240);
    a = arithmetic_of_queue(100, NAN);
    assert_true(a.known == ARITHMETIC_SEEN && fabs(a.bandwidth_mb_s - 220) < 1);
}

/* Until there are ten, a run of some seconds is judged by time. */
static void few_marked_iterations_are_no_reason_to_be_silent(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_server_limited(&r, 36);
    plant_ranks(&r, (struct plant_process){0, 0.15, 0, 0});
    measure_links(&r, 227);
    judge(&r, &j);
    assert_int_not_equal(j.verdict.state, VERDICT_INSUFFICIENT);
    assert_int_equal(j.verdict.host, 0);
    judged_release(&j);
}

static void too_few_iterations_of_a_short_run_are_insufficient(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_server_limited(&r, 4.5);
    plant_ranks(&r, (struct plant_process){0, 0.15, 0, 0});
    measure_links(&r, 227);
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_INSUFFICIENT);
    assert_non_null(strstr(j.words.summary, "1 iterations"));
    assert_non_null(strstr(j.words.summary, "vm1")); /* the appearance so far */
    assert_int_equal(j.verdict.host, -1);            /* which blames no host */
    assert_int_equal(j.verdict.resource, RESOURCE_NONE);
    assert_true(j.verdict.confidence == 0);
    judged_release(&j);
}

static void few_iterations_that_nobody_marked_are_no_reason_to_be_silent(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_server_limited(&r, 36);
    plant_ranks(&r, (struct plant_process){0, 0.15, 0, 0});
    measure_links(&r, 227);
    judge_iterations(&r, ITERATION_CALLS, &j);
    assert_int_not_equal(j.verdict.state, VERDICT_INSUFFICIENT);
    assert_int_equal(j.verdict.host, 0);
    judged_release(&j);
}

static void too_few_samples_are_insufficient(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_init(&r, 1, 1.5);
    reset_host();
    plant_host(&r, 0, steady_net);
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_INSUFFICIENT);
    judged_release(&j);
}

static void no_host_at_all_is_insufficient(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_init(&r, 0, 10);
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_INSUFFICIENT);
    judged_release(&j);
}

static void plant_quiet(struct recording *r) {
    plant_init(r, HOSTS, 60);
    for (int h = 0; h < HOSTS; h++) {
        reset_host();
        plant_host(r, h, steady_net);
    }
    mark_iterations(r, HOSTS, 1);
}

static void a_job_that_sleeps_blames_nobody(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_quiet(&r);
    plant_ranks(&r, (struct plant_process){0, 0.02, 0, 0});
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_INSUFFICIENT);
    assert_int_equal(j.verdict.host, -1);
    assert_string_equal(resource_name(j.verdict.resource), "none");
    judged_release(&j);
}

/* Full cores without a queue: the work fits. */
static void computing_without_waiting_is_balanced(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_init(&r, HOSTS, 60);
    for (int h = 0; h < HOSTS; h++) {
        reset_host();
        host_now.cpu_busy = 1;
        plant_host(&r, h, steady_net);
    }
    mark_iterations(&r, HOSTS, 1);
    plant_ranks(&r, (struct plant_process){0, 0.98, 0, 0});
    judge(&r, &j);
    assert_true(blames_nobody(&j.verdict));
    assert_int_equal(j.verdict.host, -1);
    judged_release(&j);
}

/* Evidence from a failed run without iterations does not count; an interruption is no failure. With
 * iterations the evidence stays.
 */
static void a_command_that_failed_before_its_loop_is_insufficient(void **state) {
    static const struct {
        int status;
        bool loops;
        enum verdict_state expect;
        int seconds; /* so few samples that there is too little to judge by */
    } ends[] = {{1, false, VERDICT_INSUFFICIENT, 60}, {139, false, VERDICT_INSUFFICIENT, 60},
                {1, false, VERDICT_INSUFFICIENT, 1},  {0, false, VERDICT_BALANCED, 60},
                {-1, false, VERDICT_BALANCED, 60},    {128 + 2, false, VERDICT_BALANCED, 60},
                {1, true, VERDICT_BALANCED, 60}};
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct recording r;
        struct judged j;
        plant_init(&r, HOSTS, ends[i].seconds);
        for (int h = 0; h < HOSTS; h++) {
            reset_host();
            host_now.cpu_busy = 1;
            plant_host(&r, h, steady_net);
        }
        if (ends[i].loops)
            mark_iterations(&r, HOSTS, 1);
        plant_ranks(&r, (struct plant_process){0, 0.98, 0, 0});
        r.exit_status = ends[i].status;
        judge(&r, &j);
        assert_int_equal(j.verdict.state, ends[i].expect);
        assert_int_equal(j.verdict.ended.code != 0, ends[i].status > 0);
        assert_int_equal(!!strstr(j.words.limit, "Until then: "),
                         ends[i].status > 0 && ends[i].expect != VERDICT_INSUFFICIENT);
        judged_release(&j);
    }
}

/* A hog on host 3: its rank waits for a core for 45 % of the time; no rank spins. */
static void a_rank_that_queues_for_its_core_is_saturated(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_init(&r, HOSTS, 60);
    for (int h = 0; h < HOSTS; h++) {
        reset_host();
        host_now.psi_cpu = h == 3 ? 0.45 : 0.01;
        host_now.cpu_busy = h == 3 ? 1 : 0.4;
        plant_host(&r, h, steady_net);
        plant_process(&r, h, "train[7]", (struct plant_process){h, 0.4, h == 3 ? 0.45 : 0.001, 0});
    }
    plant_process(&r, 3, "hog[9]", (struct plant_process){-1, 0.55, 0.4, 0});
    mark_iterations(&r, HOSTS, 1);
    judge(&r, &j);
    assert_true(verdict_blames(j.verdict.state));
    assert_int_equal(j.verdict.host, 3);
    assert_string_equal(resource_name(j.verdict.resource), "cpu");
    assert_non_null(strstr(j.words.cause, "hog[9]"));
    judged_release(&j);
}

/* The same queueing, while every rank keeps its core busy, may be harmless spinning. */
static void queueing_among_spinning_ranks_is_never_saturated(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_init(&r, HOSTS, 60);
    for (int h = 0; h < HOSTS; h++) {
        reset_host();
        host_now.psi_cpu = 0.5;
        host_now.cpu_busy = 1;
        plant_host(&r, h, steady_net);
        plant_process(&r, h, "train[7]", (struct plant_process){h, 0.55, 0.42, 0});
    }
    mark_iterations(&r, HOSTS, 1);
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_SUSPECTED);
    assert_true(j.words.against.n > 0);
    judged_release(&j);
}

static void one_that_computes_while_the_others_wait_is_serial(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_quiet(&r);
    for (int h = 0; h < HOSTS; h++)
        plant_process(&r, h, "train[7]", (struct plant_process){h, h ? 0.1 : 0.97, 0, 0});
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_SUSPECTED);
    assert_int_equal(j.verdict.host, 0);
    assert_string_equal(resource_name(j.verdict.resource), "cpu");
    assert_non_null(strstr(j.words.cause, "serial"));
    judged_release(&j);
}

static void plant_one_bad_host(struct recording *r, int bad, void (*make_bad)(void)) {
    plant_init(r, HOSTS, 60);
    for (int h = 0; h < HOSTS; h++) {
        reset_host();
        if (h == bad)
            make_bad();
        plant_host(r, h, steady_net);
    }
    mark_iterations(r, HOSTS, 1);
}

static void bad_disk(void) {
    host_now.psi_io = 0.6;
    host_now.disk_busy = 0.95;
}
static void throttled_disk(void) {
    host_now.psi_io = 0.6;
    host_now.disk_busy = 0.02;
}
static void short_memory(void) {
    host_now.psi_memory = 0.3;
    host_now.refault_mb_s = 120;
    host_now.available = 0.02;
}
static void reclaiming_with_headroom(void) {
    host_now.psi_memory = 0.3;
    host_now.available = 0.7;
}
static void stolen(void) {
    host_now.steal = 0.2;
}

static void judge_one_bad_host(void (*make_bad)(void), double block_io, struct judged *j) {
    struct recording r;
    plant_one_bad_host(&r, 2, make_bad);
    for (int h = 0; h < HOSTS; h++)
        plant_process(&r, h, "train[7]", (struct plant_process){h, 0.2, 0, h == 2 ? block_io : 0});
    judge(&r, j);
}

static void a_busy_disk_the_job_waits_for_is_saturated(void **state) {
    struct judged j;
    (void)state;
    judge_one_bad_host(bad_disk, 0.5, &j);
    assert_true(verdict_blames(j.verdict.state));
    assert_int_equal(j.verdict.host, 2);
    assert_string_equal(resource_name(j.verdict.resource), "disk");
    judged_release(&j);
}

/* The kernel counts no block-I/O delay: whether the job waited is not known. */
static void a_disk_that_the_job_uses_is_suspected(void **state) {
    struct judged j;
    (void)state;
    plant_process_read = 1e7;
    judge_one_bad_host(bad_disk, 0, &j);
    plant_process_read = 0;
    assert_int_equal(j.verdict.state, VERDICT_SUSPECTED);
    assert_string_equal(resource_name(j.verdict.resource), "disk");
    judged_release(&j);
}

static void pressure_on_a_host_alone_accuses_no_disk(void **state) {
    struct judged j;
    (void)state;
    judge_one_bad_host(bad_disk, 0, &j);
    assert_false(verdict_blames(j.verdict.state));
    assert_int_equal(j.candidates.n, 0);
    judged_release(&j);
}

static void waiting_for_an_idle_disk_is_a_throttle(void **state) {
    struct judged j;
    (void)state;
    judge_one_bad_host(throttled_disk, 0.5, &j);
    assert_string_equal(resource_name(j.verdict.resource), "disk-throttle");
    judged_release(&j);
}

static void memory_that_is_read_again_and_again_is_saturated(void **state) {
    struct judged j;
    (void)state;
    judge_one_bad_host(short_memory, 0, &j);
    assert_true(verdict_blames(j.verdict.state));
    assert_int_equal(j.verdict.host, 2);
    assert_string_equal(resource_name(j.verdict.resource), "memory");
    judged_release(&j);
}

static void memory_pressure_with_headroom_is_only_suspected(void **state) {
    struct judged j;
    (void)state;
    judge_one_bad_host(reclaiming_with_headroom, 0, &j);
    assert_int_equal(j.verdict.state, VERDICT_SUSPECTED);
    judged_release(&j);
}

static void stolen_time_is_said(void **state) {
    struct judged j;
    (void)state;
    judge_one_bad_host(stolen, 0, &j);
    assert_true(verdict_blames(j.verdict.state));
    assert_string_equal(resource_name(j.verdict.resource), "steal");
    assert_int_equal(j.verdict.host, 2);
    judged_release(&j);
}

/* Uneven traffic that sometimes reaches the same rate is no plateau. */
static double uneven(size_t column, double t_s) {
    (void)column;
    return (60 + 40 * sin(37 * t_s)) * 1e6;
}

static void uneven_traffic_is_no_full_link(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_init(&r, HOSTS, 60);
    for (int h = 0; h < HOSTS; h++) {
        reset_host();
        plant_host(&r, h, uneven);
    }
    mark_iterations(&r, HOSTS, 1);
    plant_ranks(&r, (struct plant_process){0, 0.3, 0, 0});
    judge(&r, &j);
    assert_int_equal(j.candidates.n, 0);
    judged_release(&j);
}

/* ---- ceilings that were measured ---- */

static bool any_says(const struct text_list *list, const char *words) {
    for (size_t i = 0; i < list->n; i++)
        if (strstr(list->items[i], words))
            return true;
    return false;
}

/* 220 of 227 MB/s. */
static void a_link_at_its_measured_ceiling_is_saturated(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_server_limited(&r, 80);
    plant_ranks(&r, (struct plant_process){0, 0.15, 0, 0});
    measure_links(&r, 227);
    judge(&r, &j);
    assert_int_equal(j.verdict.state, VERDICT_SATURATED);
    assert_int_equal(j.verdict.host, 0);
    assert_string_equal(resource_name(j.verdict.resource), "net-egress");
    assert_non_null(strstr(j.words.summary, "97 % of the 227.0 MB/s this link was measured"));
    assert_true(any_says(&j.words.evidence, "measured to carry"));
    assert_int_equal(j.candidates.n, 2); /* the other way of the same link */
    assert_string_equal(resource_name(j.candidates.items[1].resource), "net-ingress");
    assert_int_equal(j.candidates.items[1].host, 0);
    assert_false(any_says(&j.words.next, "calibrate"));
    assert_true(any_says(&j.words.next, "faster link than the 1816 Mbit/s"));
    const struct arithmetic *a =
        arithmetic_find(j.candidates.arithmetic, j.candidates.n_arithmetic, 0, METRIC_NET_SEND, 1);
    assert_true(a->known == ARITHMETIC_MEASURED && a->bandwidth_mb_s == 227);
    assert_true(fabs(a->bound_s - 396.0 / 227) < 0.02);
    judged_release(&j);
}

static void a_link_far_below_its_measured_ceiling_is_not_the_one(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_server_limited(&r, 80);
    plant_ranks(&r, (struct plant_process){0, 0.15, 0, 0});
    measure_links(&r, 1250);
    judge(&r, &j);
    assert_int_equal(j.candidates.n, 0);
    assert_true(any_says(&j.words.ruled_out, "the fullest, vm1 sending, carried 8 %"));
    judged_release(&j);
}

/* Others carry ten times as much: without its own ceiling it would look idle. */
static void a_slow_link_is_found_by_its_own_ceiling(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_init(&r, HOSTS, 80);
    for (int h = 0; h < HOSTS; h++) {
        reset_host();
        host_now.send_mb_s = h == 2 ? 20 : 200;
        host_now.receive_mb_s = 50;
        plant_host(&r, h, net);
    }
    mark_iterations(&r, HOSTS, 4);
    plant_ranks(&r, (struct plant_process){0, 0.15, 0, 0});
    measure_links(&r, 1000);
    r.ceilings[2 * METRIC_COUNT_ + METRIC_NET_SEND] = 20.4;
    judge(&r, &j);
    assert_int_equal(j.verdict.host, 2);
    assert_string_equal(resource_name(j.verdict.resource), "net-egress");
    assert_int_equal(j.candidates.n, 1);
    judged_release(&j);
}

static void a_ceiling_that_was_exceeded_is_none(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_server_limited(&r, 80);
    plant_ranks(&r, (struct plant_process){0, 0.15, 0, 0});
    measure_links(&r, 150);
    judge(&r, &j);
    assert_int_equal(j.candidates.n, 0);
    judged_release(&j);
}

/* A full link of ranks that never leave their cores: they may be computing. */
static void a_full_link_of_busy_ranks_is_never_saturated(void **state) {
    struct recording r;
    struct judged j;
    (void)state;
    plant_server_limited(&r, 80);
    plant_ranks(&r, (struct plant_process){0, 0.99, 0, 0});
    measure_links(&r, 227);
    judge(&r, &j);
    assert_int_not_equal(j.verdict.state, VERDICT_SATURATED);
    judged_release(&j);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_that_was_only_seen_fills_no_link),
        cmocka_unit_test(a_job_without_a_connection_waits_for_no_link),
        cmocka_unit_test(two_ways_of_one_link_are_no_rivals),
        cmocka_unit_test(the_arithmetic_comes_out),
        cmocka_unit_test(arithmetic_knows_what_an_interface_is_set_to),
        cmocka_unit_test(a_link_at_its_measured_ceiling_is_saturated),
        cmocka_unit_test(a_link_far_below_its_measured_ceiling_is_not_the_one),
        cmocka_unit_test(a_slow_link_is_found_by_its_own_ceiling),
        cmocka_unit_test(a_ceiling_that_was_exceeded_is_none),
        cmocka_unit_test(a_full_link_of_busy_ranks_is_never_saturated),
        cmocka_unit_test(few_marked_iterations_are_no_reason_to_be_silent),
        cmocka_unit_test(too_few_iterations_of_a_short_run_are_insufficient),
        cmocka_unit_test(few_iterations_that_nobody_marked_are_no_reason_to_be_silent),
        cmocka_unit_test(too_few_samples_are_insufficient),
        cmocka_unit_test(no_host_at_all_is_insufficient),
        cmocka_unit_test(a_job_that_sleeps_blames_nobody),
        cmocka_unit_test(computing_without_waiting_is_balanced),
        cmocka_unit_test(a_command_that_failed_before_its_loop_is_insufficient),
        cmocka_unit_test(a_rank_that_queues_for_its_core_is_saturated),
        cmocka_unit_test(queueing_among_spinning_ranks_is_never_saturated),
        cmocka_unit_test(one_that_computes_while_the_others_wait_is_serial),
        cmocka_unit_test(a_busy_disk_the_job_waits_for_is_saturated),
        cmocka_unit_test(a_disk_that_the_job_uses_is_suspected),
        cmocka_unit_test(pressure_on_a_host_alone_accuses_no_disk),
        cmocka_unit_test(waiting_for_an_idle_disk_is_a_throttle),
        cmocka_unit_test(memory_that_is_read_again_and_again_is_saturated),
        cmocka_unit_test(memory_pressure_with_headroom_is_only_suspected),
        cmocka_unit_test(stolen_time_is_said),
        cmocka_unit_test(uneven_traffic_is_no_full_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
