/* SPDX-License-Identifier: MIT */
/*
 * GPUs through NVML, played by a library of ours (gpu/nvml_player.c). A process keeps the library
 * that it has loaded, so the program runs itself once for each: the player, the player as an older
 * driver, and none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "agent/probes/gpu/gpu_private.h"
#include "tests/probe_harness.h"
#include "tests/unit/files.h"

#define S NS_PER_S
#define PLAYS TEST_SOURCE_DIR "/gpu/plays/"

static struct gpus *begin(const char *play, int frame) {
    char path[600], at[16];
    struct gpus *gpus = calloc(1, sizeof *gpus);
    snprintf(path, sizeof path, "%s%s", *play == '/' ? "" : PLAYS, play);
    snprintf(at, sizeof at, "%d", frame);
    setenv("CHOKEPOINT_NVML_PLAY", path, 1);
    setenv("CHOKEPOINT_NVML_AT", at, 1);
    strcpy(gpus->sys, "/nowhere");
    gpus_find(gpus);
    return gpus;
}

static void end(struct gpus *gpus) {
    gpus_release(gpus);
    free(gpus);
}

/* A function of the player itself. */
static void tell_player(const char *name, int value) {
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW), *symbol = dlsym(library, name);
    void (*function)(int);
    memcpy(&function, &symbol, sizeof function);
    function(value);
    dlclose(library);
}

/* Two frames a second apart. */
static void read_twice(struct gpus *gpus) {
    for (int64_t at = 1; at <= 2; at++) {
        gpus_read_fast(gpus, at * S);
        gpus_read_slow(gpus, at * S);
    }
}

static int64_t value(const struct gpus *gpus, size_t part, int column) {
    assert_true(part < gpus->n_parts);
    return gpus->parts[part].values[column];
}

#define ABSENT(gpus, part, column) assert_int_equal(value(gpus, part, column), VALUE_ABSENT)
#define IS(gpus, part, column, wanted) assert_int_equal(value(gpus, part, column), wanted)

/* The growth of two shares over the same time is as their percentages are. */
static void expect_ratio(const struct gpus *gpus, int column, double percent, int to,
                         double of_percent) {
    double a = (double)value(gpus, 0, column), b = (double)value(gpus, 0, to);
    assert_true(b > 0);
    assert_true(fabs(a * of_percent - b * percent) <= 3 * (percent + of_percent)); /* 3 ns */
}

/* ---- a driver of today ---- */

static void figures_of_a_recording_come_back(void **state) {
    struct gpus *gpus = begin("h200.play", 11); /* products of 16-bit matrices at the power cap */
    (void)state;
    read_twice(gpus);
    assert_int_equal(gpus->n_parts, 1);
    assert_string_equal(gpus->parts[0].name, "gpu0");
    IS(gpus, 0, GPU_BUSY, 990000000);
    IS(gpus, 0, GPU_SM_CLOCK, 1485000000);
    IS(gpus, 0, GPU_MEMORY_CLOCK, 3201000000);
    IS(gpus, 0, GPU_CLOCK_REASONS, 4);
    IS(gpus, 0, GPU_LOST, 0);
    IS(gpus, 0, GPU_XIDS, 0);
    IS(gpus, 0, GPU_JOULES, 0); /* since the agent began */
    assert_in_range(value(gpus, 0, GPU_WATTS), 600000000000, 720000000000);
    assert_in_range(value(gpus, 0, GPU_MEMORY_USED), 1000000000, 3000000000);
    assert_true(value(gpus, 0, GPU_POWER_CAP) > 0);
    expect_ratio(gpus, GPU_TENSOR, 92.85, GPU_SM, 95.73);
    assert_int_equal(gpus->nvml.told[NVML_PCIE_THROUGHPUT_CALL].n, 0); /* it takes 20 ms */
    end(gpus);
}

static void a_link_that_is_not_there_is_absent(void **state) {
    struct gpus *gpus = begin("h200.play", 10);
    (void)state;
    read_twice(gpus);
    assert_true(value(gpus, 0, GPU_PCIE_SEND) > 0);
    ABSENT(gpus, 0, GPU_NVLINK_SEND);
    ABSENT(gpus, 0, GPU_NVLINK_RECEIVE);
    end(gpus);
}

static void facts_are_told_once(void **state) {
    struct gpus *gpus = begin("h200.play", 10);
    const struct gpu_part *part = &gpus->parts[0];
    (void)state;
    assert_string_equal(part->fact, "gpu0 NVIDIA H200 GPU-00000000-0000-0000-0000-000000000000 "
                                    "driver 580.159.04");
    assert_int_equal(part->facts[GPU_DEVICE_MEMORY], 150754820096);
    assert_int_equal(part->facts[GPU_DEVICE_WATTS_LIMIT], 700000000000);
    assert_int_equal(part->facts[GPU_DEVICE_SM_CLOCK], 1980000000);
    assert_int_equal(part->facts[GPU_DEVICE_PCIE_LANES], 16);
    assert_int_equal(part->facts[GPU_DEVICE_CAPABILITY], 90);
    assert_int_equal(part->facts[GPU_DEVICE_MIG], 0);
    assert_int_equal(part->facts[GPU_DEVICE_GPM], 1);
    assert_int_equal(part->facts[GPU_DEVICE_NVLINKS], VALUE_ABSENT);
    end(gpus);
}

static const char *write_play(char path[64], const char *text) {
    strcpy(path, "/tmp/chokepoint-play-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    return path;
}

/* The next mean counts for the time in which there was none. */
static void a_figure_that_is_missing_once_loses_nothing(void **state) {
    char path[64];
    struct gpus *gpus = begin(
        write_play(path, "set * gpm 1\nset * sm 40\nframe 0 dram=20\nframe 100 dram=nan\n"), 0);
    (void)state;
    gpus_read_fast(gpus, S);
    gpus_read_fast(gpus, 2 * S);
    tell_player("nvml_player_at", 1);
    gpus_read_fast(gpus, 3 * S);
    gpus_read_fast(gpus, 4 * S);
    tell_player("nvml_player_at", 0);
    gpus_read_fast(gpus, 5 * S);
    expect_ratio(gpus, GPU_DRAM, 20, GPU_SM, 40);
    unlink(path);
    end(gpus);
}

static void impossible_figures_are_no_figures(void **state) {
    char path[64];
    struct gpus *gpus =
        begin(write_play(
                  path, "set * gpm 1\nset * sm -3\nset * dram inf\nset * tensor 130\n"
                        "set * pcie_send 1e12\nset * fp32 50\nset * util 250\nset * memory_util 3\n"
                        "set * millijoules 1e19\nset * used 10\nset * total 5\n"),
              0);
    (void)state;
    read_twice(gpus);
    ABSENT(gpus, 0, GPU_SM);
    ABSENT(gpus, 0, GPU_DRAM);
    ABSENT(gpus, 0, GPU_PCIE_SEND);
    ABSENT(gpus, 0, GPU_JOULES);
    expect_ratio(gpus, GPU_TENSOR, 100, GPU_FP32, 50);
    IS(gpus, 0, GPU_BUSY, 1000000000);
    unlink(path);
    end(gpus);
}

static const struct gpu_user *user(const struct gpus *gpus, size_t part, int32_t pid) {
    for (size_t i = 0; i < gpus->n_users; i++)
        if (gpus->users[i].part == part && gpus->users[i].pid == pid)
            return &gpus->users[i];
    return NULL;
}

static void eight_cards_are_eight(void **state) {
    struct gpus *gpus = begin("eight.play", 0);
    (void)state;
    read_twice(gpus);
    assert_int_equal(gpus->n_parts, 8);
    assert_string_equal(gpus->parts[7].name, "gpu7");
    IS(gpus, 3, GPU_SM_CLOCK, 1200000000);
    IS(gpus, 4, GPU_SM_CLOCK, 1755000000);
    IS(gpus, 3, GPU_CLOCK_REASONS, 32);
    IS(gpus, 5, GPU_XIDS, 1);
    IS(gpus, 5, GPU_LAST_XID, 94);
    IS(gpus, 4, GPU_XIDS, 0);
    ABSENT(gpus, 4, GPU_LAST_XID);
    /* 20000 MiB/s and 90 %, over the same time */
    assert_true(fabs(value(gpus, 0, GPU_NVLINK_SEND) * .9 - value(gpus, 0, GPU_SM) * 20.97152) <
                70);
    assert_true(value(gpus, 0, GPU_NVLINK_SEND) > value(gpus, 0, GPU_NVLINK_RECEIVE));
    assert_true(value(gpus, 0, GPU_NVLINK_RECEIVE) > value(gpus, 0, GPU_PCIE_RECEIVE));
    end(gpus);
}

/* Two processes that had 60 % each by the driver's samples had all of the card together. */
static void processes_share_no_more_than_the_card(void **state) {
    struct gpus *gpus = begin("eight.play", 0);
    int32_t own = (int32_t)getpid();
    (void)state;
    read_twice(gpus);
    assert_non_null(user(gpus, 0, own));
    assert_int_equal(user(gpus, 0, own)->busy.sum, 500000000);
    assert_int_equal(user(gpus, 0, 1)->busy.sum, 500000000);
    assert_int_equal(user(gpus, 0, 1)->memory, 3000000000);
    assert_int_equal(user(gpus, 1, own)->busy.sum, 1000000000);
    assert_null(user(gpus, 2, own));
    end(gpus);
}

static void an_instance_of_a_divided_card_is_a_gpu_of_its_own(void **state) {
    struct gpus *gpus = begin("mig.play", 0);
    (void)state;
    read_twice(gpus);
    assert_int_equal(gpus->n_parts, 3);
    assert_string_equal(gpus->parts[2].name, "gpu0/mig1");
    IS(gpus, 0, GPU_WATTS, 200000000000);
    ABSENT(gpus, 0, GPU_BUSY);
    ABSENT(gpus, 0, GPU_SM);
    ABSENT(gpus, 1, GPU_BUSY);
    ABSENT(gpus, 1, GPU_WATTS);
    assert_true(value(gpus, 1, GPU_SM) > 0);
    assert_non_null(user(gpus, 2, (int32_t)getpid()));
    assert_int_equal(gpus->n_users, 1);
    assert_int_equal(gpus->parts[0].facts[GPU_DEVICE_MIG], 1);
    end(gpus);
}

static void what_a_driver_refuses_is_absent(void **state) {
    struct gpus *gpus = begin("virtual.play", 0);
    (void)state;
    read_twice(gpus);
    IS(gpus, 0, GPU_BUSY, 300000000);
    static const int columns[] = {GPU_SM,        GPU_PCIE_SEND, GPU_NVLINK_SEND,
                                  GPU_WATTS,     GPU_JOULES,    GPU_CELSIUS,
                                  GPU_POWER_CAP, GPU_XIDS,      GPU_ECC_CORRECTED};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        ABSENT(gpus, 0, columns[i]);
    assert_int_equal(gpus->nvml.told[NVML_FIELDS_CALL].answer, NVML_NO_PERMISSION);
    assert_int_equal(gpus->nvml.told[NVML_FIELDS_CALL].n, 1); /* it is not asked again */
    assert_int_equal(gpus->nvml.told[NVML_VIOLATION_CALL].n, 2);
    end(gpus);
}

/* The pause of a call whose CPU time demands one; at most fifty times the usual one. */
static void a_dear_call_is_made_seldom(void **state) {
    struct gpus *gpus = begin("eight.play", 0);
    const struct nvml_told *energy = &gpus->nvml.told[NVML_ENERGY_CALL];
    (void)state;
    gpus->slow_cpu_most = 1e-12; /* every call demands hours */
    for (int64_t at = 1; at <= 50; at++)
        gpus_read_slow(gpus, at * S);
    assert_int_equal(energy->n, 8);
    gpus_read_slow(gpus, 51 * S);
    assert_int_equal(energy->n, 16);
    assert_true(gpus->turns[0].pause_ns > 3600 * S);
    gpus->turns[1].pause_ns = 0;
    gpus_read_slow(gpus, 52 * S);
    assert_int_equal(energy->n, 24);
    end(gpus);
}

/* The figures of units are asked at each fifth reading, and less often where that costs much. */
static void units_are_asked_more_seldom_than_levels(void **state) {
    struct gpus *gpus = begin("h200.play", 0);
    const struct nvml_told *told = gpus->nvml.told;
    (void)state;
    gpus->units_every = 5;
    for (int64_t at = 1; at <= 11; at++)
        gpus_read_fast(gpus, at * S);
    assert_int_equal(told[NVML_POWER_CALL].n, 11);
    assert_int_equal(told[NVML_GPM_SAMPLE_CALL].n, 3);
    assert_int_equal(told[NVML_GPM_METRICS_CALL].n, 2);
    assert_int_equal(told[NVML_UTILIZATION_CALL].n, 3);
    gpus->units.pause_ns = 20 * S;
    for (int64_t at = 12; at <= 31; at++)
        gpus_read_fast(gpus, at * S);
    assert_int_equal(told[NVML_GPM_METRICS_CALL].n, 3);
    gpus->units_cpu_most = 1e-12;
    for (int64_t at = 50; at <= 60; at++)
        gpus_read_fast(gpus, at * S);
    assert_int_equal(told[NVML_GPM_METRICS_CALL].n, 4);
    assert_true(gpus->units.pause_ns > 3600 * S);
    end(gpus);
}

/* The rows after a seldom answer share what it tells: no row has it all. */
static void seldom_answers_are_spread_over_rows(void **state) {
    struct gpus *gpus = begin("h200.play", 11);
    int64_t before = 0, most = 0, steps = 0;
    (void)state;
    gpus->units_every = 5;
    for (int64_t at = 1; at <= 41; at++) {
        gpus_read_fast(gpus, at * S);
        int64_t now = value(gpus, 0, GPU_BUSY), step = at > 1 ? now - before : 0;
        assert_true(step >= 0);
        most = step > most ? step : most;
        steps += step > 0;
        before = now;
    }
    assert_true(most <= S + S / 100); /* a share of 1 at most */
    assert_true(steps >= 30);
    end(gpus);
}

/* Energy and shares of processes come each second at most, by one answer: rows between have their
 * part of it.
 */
static void slow_answers_are_spread_over_rows(void **state) {
    struct gpus *gpus = begin("h200.play", 11);
    int64_t joules = 0, busy = 0, most = 0, most_busy = 0;
    size_t steps = 0, busy_steps = 0;
    (void)state;
    for (int64_t at = 1; at <= 60; at++) {
        const struct gpu_user *own = user(gpus, 0, (int32_t)getpid());
        tell_player("nvml_player_at", (int)(11 + at / 10));
        gpus_read_fast(gpus, at * S / 10);
        int64_t now = value(gpus, 0, GPU_JOULES), share = own ? own->busy_ns : VALUE_ABSENT;
        int64_t step = now == VALUE_ABSENT ? 0 : now - joules;
        int64_t busy_step = share == VALUE_ABSENT ? 0 : share - busy;
        assert_true(step >= 0 && busy_step >= 0);
        joules += step;
        busy += busy_step;
        steps += step > 0;
        busy_steps += busy_step > 0;
        most = step > most ? step : most;
        most_busy = busy_step > most_busy ? busy_step : most_busy;
        gpus_read_slow(gpus, at * S / 10);
    }
    assert_true(busy_steps >= 30 && most_busy <= S / 10 + S / 1000); /* a share of 1 at most */
    assert_true(steps >= 30 && most <= joules / 20);
    end(gpus);
}

static void a_lost_card_has_no_figures(void **state) {
    struct gpus *gpus = begin("eight.play", 0);
    (void)state;
    read_twice(gpus);
    tell_player("nvml_player_lose", 2);
    gpus_read_fast(gpus, 3 * S);
    uint64_t asked = gpus->nvml.told[NVML_UTILIZATION_CALL].n;
    gpus_read_fast(gpus, 3 * S);
    gpus_read_slow(gpus, 3 * S);
    assert_int_equal(gpus->nvml.told[NVML_UTILIZATION_CALL].n, asked + 7); /* never again */
    IS(gpus, 2, GPU_LOST, 1);
    ABSENT(gpus, 2, GPU_BUSY);
    ABSENT(gpus, 2, GPU_SM);
    ABSENT(gpus, 2, GPU_WATTS);
    IS(gpus, 1, GPU_LOST, 0);
    IS(gpus, 1, GPU_BUSY, 2000000000);
    end(gpus);
}

static void a_card_that_is_lost_from_the_start_is_told(void **state) {
    char path[64];
    struct gpus *gpus = begin(write_play(path, "cards 2\nset * util 10\nset * memory_util 1\n"
                                               "lost 0\n"),
                              0);
    (void)state;
    read_twice(gpus);
    IS(gpus, 0, GPU_LOST, 1);
    IS(gpus, 1, GPU_BUSY, 100000000);
    unlink(path);
    end(gpus);
}

static void a_library_that_refuses_to_start_is_named(void **state) {
    char path[64];
    struct gpus *gpus = begin(write_play(path, "answer nvmlInit_v2 18\n"), 0);
    (void)state;
    assert_int_equal(gpus->n_parts, 0);
    assert_non_null(strstr(gpus->why, "library and driver differ in version"));
    unlink(path);
    end(gpus);
}

/* ---- the thread and the rows ---- */

static void open_probe(struct harness *h, struct gpu_watch *watch, const char *play) {
    char path[600];
    snprintf(path, sizeof path, PLAYS "%s", play);
    setenv("CHOKEPOINT_NVML_PLAY", path, 1);
    setenv("CHOKEPOINT_NVML_AT", "0", 1);
    assert_int_equal(harness_init(h, "", SCOPE_HOST), 0);
    h->env.sys = "/nowhere";
    h->env.gpus = watch;
    assert_int_equal(harness_open(h, &probe_gpu), 0);
    do
        sched_yield();
    while (harness_sample(h) == 0 && !h->rows.n);
}

static void rows_come_from_a_thread(void **state) {
    struct harness h;
    struct gpu_watch watch = {0};
    (void)state;
    open_probe(&h, &watch, "eight.play");
    assert_int_equal(h.rows.n, 8);
    assert_int_equal(harness_value(&h, "gpu3", "sm_clock_hz"), 1200000000);
    int64_t before = harness_value(&h, "gpu3", "busy_ns");
    do
        sched_yield();
    while (harness_sample(&h) == 0 &&
           (!h.rows.n || harness_value(&h, "gpu3", "busy_ns") == before));
    assert_true(probe_gpu.thread_cpu_ns(h.state) > 0);
    harness_close(&h);
    assert_null(watch.gpus);
}

static void count_note(void *ctx, enum note_level level, const char *subject, const char *text) {
    assert_int_equal(level, NOTE_WARNING);
    assert_string_equal(subject, "gpu");
    assert_non_null(strstr(text, "has not answered"));
    ++*(int *)ctx;
}

/* A sample that waited for the driver would never return. Figures are told once, not again. */
static void a_driver_that_hangs_holds_no_sample(void **state) {
    struct harness h;
    struct gpu_watch watch = {0};
    int notes = 0;
    (void)state;
    open_probe(&h, &watch, "eight.play");
    h.env.note = count_note;
    h.env.note_ctx = &notes;
    tell_player("nvml_player_hold", 1);
    harness_sample(&h); /* it may be the last one before */
    assert_int_equal(harness_sample(&h), 0);
    assert_int_equal(h.rows.n, 0);
    assert_int_equal(notes, 0);
    assert_int_equal(harness_sample_at(&h, clock_monotonic_ns() + 11 * S), 0);
    assert_int_equal(notes, 1);
    tell_player("nvml_player_hold", 0);
    harness_close(&h);
}

static void processes_have_names(void **state) {
    struct harness gpu, h;
    struct gpu_watch watch = {0};
    char name[INSTANCE_MAX + 1], comm[32], job_name[] = "train.py[1]";
    (void)state;
    open_probe(&gpu, &watch, "eight.play");
    assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
    h.env.gpus = &watch;
    h.env.sys = "/nowhere";
    struct job_process member = {.pid = 1, .rank = -1};
    strcpy(member.name, job_name);
    job_set(&h.job, 0, &member);
    job_end(&h.job, 1);
    assert_int_equal(harness_open(&h, &probe_gpu_process), 0);
    do
        harness_sample(&gpu);
    while (harness_sample(&h) == 0 && h.rows.n < 3);
    file_read_line("/proc/self/comm", comm, sizeof comm);
    snprintf(name, sizeof name, "gpu0 %s[%d]", comm, (int)getpid());
    assert_int_equal(harness_value(&h, name, "job"), 0);
    assert_int_equal(harness_value(&h, name, "memory_bytes"), 1000000000);
    assert_int_equal(harness_value(&h, "gpu0 train.py[1]", "job"), 1);
    harness_close(&h);
    assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
    h.env.gpus = &watch;
    assert_int_equal(harness_open(&h, &probe_gpu_device), 0);
    harness_sample(&h);
    assert_int_equal(h.rows.n, 8);
    harness_sample(&h);
    assert_int_equal(h.rows.n, 0);
    harness_close(&h);
    harness_close(&gpu);
}

static void all_that_is_seen_can_be_told(void **state) {
    struct gpu_report report;
    (void)state;
    setenv("CHOKEPOINT_NVML_PLAY", PLAYS "virtual.play", 1);
    assert_int_equal(gpu_examine("/nowhere", &report), 0);
    assert_int_equal(report.n, 1);
    assert_non_null(strstr(report.lines, "gpu0 GRID T4-8C"));
    assert_non_null(strstr(report.lines, " seen: busy_ns"));
    assert_null(strstr(report.lines, "watts_nano"));
    assert_non_null(strstr(report.calls, "nvmlGpmSampleGet 4 (no permission) 5x"));
    assert_non_null(strstr(report.calls, "nvmlShutdown -1 (not asked) 0x"));
    gpu_report_release(&report);
}

/* ---- an older driver ---- */

static void an_older_driver_is_asked_by_older_functions(void **state) {
    struct gpus *gpus = begin("old.play", 0);
    (void)state;
    read_twice(gpus);
    IS(gpus, 0, GPU_BUSY, 500000000);
    IS(gpus, 0, GPU_MEMORY_USED, 4071734784);
    IS(gpus, 0, GPU_CLOCK_REASONS, 0);
    IS(gpus, 0, GPU_POWER_CAP, 700);
    IS(gpus, 0, GPU_HEAT_CAP, 800);
    ABSENT(gpus, 0, GPU_SM);
    ABSENT(gpus, 0, GPU_NVLINK_SEND);
    ABSENT(gpus, 0, GPU_ECC_CORRECTED);
    assert_int_equal(gpus->parts[0].facts[GPU_DEVICE_GPM], 0);
    const struct gpu_user *own = user(gpus, 0, (int32_t)getpid());
    assert_non_null(own);
    assert_int_equal(own->memory, 2000000000);
    assert_int_equal(own->busy.sum, 400000000);
    assert_int_equal(gpus->nvml.told[NVML_PROCESSES_CALL].answer, NVML_FUNCTION_NOT_FOUND);
    end(gpus);
}

/* Throughput of PCIe, which costs 20 ms, is asked each ten seconds. */
static void a_card_without_gpm_tells_its_bytes_seldom(void **state) {
    struct gpus *gpus = begin("old.play", 0);
    (void)state;
    for (int64_t at = 1; at <= 11; at++)
        gpus_read_slow(gpus, at * S);
    assert_int_equal(gpus->nvml.told[NVML_PCIE_THROUGHPUT_CALL].n, 4);
    IS(gpus, 0, GPU_PCIE_SEND, 10000000000);
    IS(gpus, 0, GPU_PCIE_RECEIVE, 20000000000);
    end(gpus);
}

/* ---- no driver ---- */

static void a_host_without_a_driver_says_nothing(void **state) {
    struct harness h;
    struct gpu_watch watch = {0};
    void *real = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    (void)state;
    if (real)
        skip();
    assert_int_equal(harness_init(&h, "", SCOPE_HOST), 0);
    h.env.sys = "/nowhere";
    h.env.gpus = &watch;
    assert_int_equal(harness_open(&h, &probe_gpu), PROBE_ABSENT);
    assert_string_equal(h.why, "");
    harness_close(&h);
    assert_int_equal(harness_open(&h, &probe_gpu_process), PROBE_ABSENT);
    harness_close(&h);
}

static void root_loads_no_library_that_others_can_change(void **state) {
    char directory[] = "/tmp/chokepoint-gpu-XXXXXX", path[128], why[160] = "";
    struct nvml nvml = {0};
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/libnvidia-ml.so.1", directory);
    file_write_text(path, "", 0);
    setenv("LD_LIBRARY_PATH", directory, 1);
    chmod(directory, 0777);
    assert_int_equal(nvml_library_open(&nvml, why, sizeof why), -EPERM);
    assert_non_null(strstr(why, directory));
    chmod(directory, 0755);
    assert_int_not_equal(nvml_library_open(&nvml, why, sizeof why), -EPERM);
    chmod(path, 0666);
    assert_int_equal(nvml_library_open(&nvml, why, sizeof why), -EPERM);
    assert_int_equal(chdir(directory), 0);
    setenv("LD_LIBRARY_PATH", ":/nowhere", 1); /* the first is this directory */
    assert_int_equal(nvml_library_open(&nvml, why, sizeof why), -EPERM);
    chmod(path, 0644);
    assert_int_not_equal(nvml_library_open(&nvml, why, sizeof why), -EPERM);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(folder_remove(directory), 0);
}

/* ---- */

static int run_again(const char *which, const char *libraries) {
    char name[] = "test_agent_gpu_nvml", copy[16], *arguments[] = {name, copy, NULL};
    strcpy(copy, which);
    pid_t pid;
    int status;
    setenv("LD_LIBRARY_PATH", libraries, 1);
    if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ) != 0 ||
        waitpid(pid, &status, 0) != pid)
        return 1;
    return status != 0;
}

int main(int argc, char **argv) {
    const struct CMUnitTest player[] = {
        cmocka_unit_test(figures_of_a_recording_come_back),
        cmocka_unit_test(a_link_that_is_not_there_is_absent),
        cmocka_unit_test(facts_are_told_once),
        cmocka_unit_test(a_figure_that_is_missing_once_loses_nothing),
        cmocka_unit_test(impossible_figures_are_no_figures),
        cmocka_unit_test(eight_cards_are_eight),
        cmocka_unit_test(processes_share_no_more_than_the_card),
        cmocka_unit_test(an_instance_of_a_divided_card_is_a_gpu_of_its_own),
        cmocka_unit_test(what_a_driver_refuses_is_absent),
        cmocka_unit_test(a_dear_call_is_made_seldom),
        cmocka_unit_test(units_are_asked_more_seldom_than_levels),
        cmocka_unit_test(seldom_answers_are_spread_over_rows),
        cmocka_unit_test(slow_answers_are_spread_over_rows),
        cmocka_unit_test(a_lost_card_has_no_figures),
        cmocka_unit_test(a_card_that_is_lost_from_the_start_is_told),
        cmocka_unit_test(a_library_that_refuses_to_start_is_named),
        cmocka_unit_test(rows_come_from_a_thread),
        cmocka_unit_test(a_driver_that_hangs_holds_no_sample),
        cmocka_unit_test(processes_have_names),
        cmocka_unit_test(all_that_is_seen_can_be_told),
    };
    const struct CMUnitTest old[] = {
        cmocka_unit_test(an_older_driver_is_asked_by_older_functions),
        cmocka_unit_test(a_card_without_gpm_tells_its_bytes_seldom),
    };
    const struct CMUnitTest none[] = {
        cmocka_unit_test(a_host_without_a_driver_says_nothing),
        cmocka_unit_test(root_loads_no_library_that_others_can_change),
    };
    if (argc < 2)
        return run_again("player", NVML_PLAYER) | run_again("old", NVML_OLD) |
               run_again("none", "");
    return strcmp(argv[1], "player") == 0 ? cmocka_run_group_tests(player, NULL, NULL)
           : strcmp(argv[1], "old") == 0  ? cmocka_run_group_tests(old, NULL, NULL)
                                          : cmocka_run_group_tests(none, NULL, NULL);
}
