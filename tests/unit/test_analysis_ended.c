/* SPDX-License-Identifier: MIT */
/* The end of a command is said first, from the source that knows it. Two hosts, a process on one.
 */
#include <setjmp.h>
#include <stdbool.h>

#include "tests/unit/plant.h"

#include <cmocka.h>

#include "analysis/evidence/ended.h"
#include "tests/unit/judged.h"

#define LIMIT_BYTES 524288000.0

/* Values that the functions below plant. */
static struct {
    double group_kills, host_kills; /* counted in the last second */
    double free_bytes;              /* of memory at the end */
    double room_bytes;              /* at the end, in the file system */
    double write_bytes_s;           /* of the process */
    bool kills_counted;
} now;

static double group(size_t column, double t_s) {
    return column == CGROUP_MEMORY         ? 50e6 * t_s
           : column == CGROUP_MEMORY_LIMIT ? LIMIT_BYTES
           : column == CGROUP_LIMIT_HITS   ? 47
           : column == CGROUP_OOM_KILLS    ? (t_s > 10 ? now.group_kills * 10 : 0)
                                           : NAN;
}
static double vmstat(size_t column, double t_s) {
    return column != VMSTAT_OOM ? 0 : !now.kills_counted ? NAN : t_s > 10 ? now.host_kills * 10 : 0;
}
static double memory(size_t column, double t_s) {
    return column == MEMORY_TOTAL       ? 8e9
           : column == MEMORY_AVAILABLE ? (t_s > 9 ? now.free_bytes : 5e9)
                                        : 0;
}
static double filesystem(size_t column, double t_s) {
    return column == FILESYSTEM_SIZE ? 1e9 : t_s > 5 ? now.room_bytes : 400e6;
}
static double cpu(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER ? 0.1e9 : column == CPU_IDLE ? 0.9e9 : 0;
}
static double process(size_t column, double t_s) {
    (void)t_s;
    return column == PROCESS_PID     ? 41
           : column == PROCESS_RANK  ? NAN
           : column == PROCESS_JOB   ? 1
           : column == PROCESS_RSS   ? 519e6
           : column == PROCESS_USER  ? 0.1e9
           : column == PROCESS_WRITE ? now.write_bytes_s
                                     : 0;
}

#define PLANTED_PROCESS_LEVELS                                                                     \
    (1u << PROCESS_PID | 1u << PROCESS_RANK | 1u << PROCESS_JOB | 1u << PROCESS_RSS)

/* Ten seconds, ended with the status. */
static void plant_all(struct recording *r, int status) {
    plant_init(r, 2, 10);
    r->exit_status = status;
    for (int h = 0; h < 2; h++) {
        plant(r, RECORDING_CPU, h, "cpu0", 0.1, 0, cpu);
        plant(r, RECORDING_VMSTAT, h, "vm", 0.1, 0, vmstat);
        plant(r, RECORDING_MEMORY, h, "memory", 0.1, 0xf, memory);
    }
    plant(r, RECORDING_CGROUP, 1, "/job", 0.1, 1u << CGROUP_MEMORY | 1u << CGROUP_MEMORY_LIMIT,
          group);
    plant(r, RECORDING_FILESYSTEM, 1, "/data", 1, 0x7, filesystem);
    plant(r, RECORDING_PROCESS, 1, "work[41]", 0.1, PLANTED_PROCESS_LEVELS, process);
}

static void judge(int status, struct judged *j) {
    struct recording r;
    plant_all(&r, status);
    assert_int_equal(model_build(&r, &j->model), 0);
    judge_model(&j->model, j);
    model_release(&j->model);
    recording_release(&r);
}

static void reset(void) {
    memset(&now, 0, sizeof now);
    now.room_bytes = 300e6;
    now.free_bytes = 0.25e9;
    now.kills_counted = true;
}

static void expect_first(int status, const char *words, const char *advice) {
    struct judged j = {0};
    judge(status, &j);
    if (strncmp(j.words.limit, words, strlen(words)) != 0)
        fail_msg("%d: %s", status, j.words.limit);
    const char *end = strstr(words, ". Until then");
    assert_int_equal(strncmp(j.words.summary, "Ended: ", 7), 0);
    assert_int_equal(
        strncmp(j.words.summary + 7, words, end ? (size_t)(end - words) : strlen(words)), 0);
    if (advice && (!j.words.next.n || !strstr(j.words.next.items[0], advice)))
        fail_msg("%d: advice %s", status, j.words.next.n ? j.words.next.items[0] : "none");
    judged_release(&j);
}

/* The counter moves in the first sample after the end. */
static void the_limit_of_a_group_that_killed_is_said_first(void **state) {
    struct judged j = {0};
    (void)state;
    reset();
    now.group_kills = now.host_kills = 1;
    expect_first(137,
                 "killed for want of memory: its control group had used 524.3 of 524.3 MB on vm2 (",
                 "524.3 MB: on vm2, memory.max of the control group /job");
    expect_first(1, "a process was killed for want of memory: its control group had used 524.3 of",
                 "524.3 MB");
    judge(137, &j);
    for (size_t i = 0; i < j.words.ruled_out.n; i++)
        assert_null(strstr(j.words.ruled_out.items[i], "memory:"));
    assert_non_null(strstr(j.words.next.items[1], "work[41] on vm2, 519 MB"));
    judged_release(&j);
    judge(0, &j); /* the command went on without it, and ended well */
    assert_int_equal(j.verdict.ended.code, REMARK_NONE);
    judged_release(&j);
}

static void memory_of_a_host_that_ran_out_is_said_first(void **state) {
    (void)state;
    reset();
    now.host_kills = 1;
    expect_first(137, "killed for want of memory on vm", "run less at a time on vm");
    expect_first(137, "killed for want of memory on vm1 (0.25 of its 8 GB were free", NULL);
    now.free_bytes = 5e9; /* then a group's limit was reached */
    expect_first(137,
                 "killed for want of memory on vm1, at a limit of a control group that was not",
                 "raise the memory limit of the control group on vm1");
}

static void a_signal_is_said_by_its_name(void **state) {
    (void)state;
    reset();
    expect_first(139, "ended by SIGSEGV (segmentation fault) after 10 s", "core file");
    expect_first(134, "ended by SIGABRT (aborted) after 10 s", "core file");
    expect_first(137, "killed by SIGKILL after 10 s; memory was not short", "who sent SIGKILL");
    expect_first(152, "it used up its limit of CPU time", "ulimit -t");
    expect_first(153, "a file reached the size limit", "ulimit -f");
    expect_first(141, "nobody read what it wrote into a pipe any more", NULL);
    expect_first(143, "ended by SIGTERM (terminated) after 10 s. Until then: ", NULL);
    expect_first(128 + 36, "ended by signal 36 after 10 s", NULL);
    now.kills_counted = false;
    expect_first(137, "killed by SIGKILL after 10 s", "who sent SIGKILL");
}

static void a_status_that_shells_give_is_read_as_they_mean_it(void **state) {
    (void)state;
    reset();
    expect_first(127, "a program was not found", "its output");
    expect_first(126, "a program could not be executed", "its output");
    expect_first(124, "ended by `timeout` (exit status 124) after 10 s. Until then: ", NULL);
    expect_first(255, "exit status 255 after 10 s", "its output");
    expect_first(1, "exit status 1 after 10 s", "its output");
}

/* Only one that filled up while the job wrote there. */
static void a_disk_that_filled_up_is_said_first(void **state) {
    (void)state;
    reset();
    now.write_bytes_s = 40e6;
    now.room_bytes = 0.9e6; /* ext4 holds that back */
    expect_first(
        1, "the disk was full: /data on vm2 had 400 MB free at the start and 0.9 MB at the end",
        "make room on /data of vm2");
    now.write_bytes_s = 0;
    expect_first(1, "exit status 1 after 10 s", NULL);
    now.write_bytes_s = 40e6;
    now.room_bytes = 30e6;
    expect_first(1, "exit status 1 after 10 s", NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_limit_of_a_group_that_killed_is_said_first),
        cmocka_unit_test(memory_of_a_host_that_ran_out_is_said_first),
        cmocka_unit_test(a_signal_is_said_by_its_name),
        cmocka_unit_test(a_status_that_shells_give_is_read_as_they_mean_it),
        cmocka_unit_test(a_disk_that_filled_up_is_said_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
