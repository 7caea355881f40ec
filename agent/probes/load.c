/* SPDX-License-Identifier: MIT */
/*
 * Load averages, uptime, tasks by state, as in uptime(1) and the head of top(1). They are of the
 * whole kernel (tasks: of the agent's process namespace), whatever the agent's scope. The kernel
 * makes its load averages anew every five seconds; tasks, each of which is looked at, are counted
 * as often, and on a host with many less often: a row then repeats what was counted last.
 */
#include <stdio.h>
#include <string.h>

#include "agent/base/load_reader.h"
#include "agent/probes/probes.h"
#include "common/clock.h"
#include "common/error.h"

enum {
    LOAD_1,
    LOAD_5,
    LOAD_15,
    UPTIME,
    TASKS, /* as enum task_state */
    N_COLUMNS = TASKS + TASK_STATES
};

#define EVERY_NS (5 * NS_PER_S)
#define TASKS_AT_ONCE 100 /* for each so many tasks one row more before they are counted again */

struct load {
    struct load_reader *reader;
    int64_t read_ns; /* 0: never */
    int64_t tasks[TASK_STATES];
    int64_t rows_left; /* until they are counted again */
};

static int count_tasks(struct load *load) {
    int64_t sum = 0;
    if (load->rows_left-- > 0)
        return 0;
    int r = load_reader_tasks(load->reader, load->tasks);
    for (size_t i = 0; r >= 0 && i < TASK_STATES; i++)
        sum += load->tasks[i];
    load->rows_left = sum / TASKS_AT_ONCE;
    return r;
}

static int load_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct load *load = state;
    int64_t averages[3], uptime_ns;
    if (load->read_ns && env->mono_ns - load->read_ns < EVERY_NS)
        return 0;
    load->read_ns = env->mono_ns;
    int r = load_reader_averages(load->reader, averages, &uptime_ns);
    if (r >= 0)
        r = count_tasks(load);
    struct row *row = r >= 0 ? rows_append(rows, "host", strlen("host")) : NULL;
    if (!row)
        return r < 0 ? r : 0;
    memcpy(&row->values[LOAD_1], averages, sizeof averages);
    row->values[UPTIME] = uptime_ns;
    memcpy(&row->values[TASKS], load->tasks, sizeof load->tasks);
    return 0;
}

static int load_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    int r = load_reader_open(env->proc, &((struct load *)state)->reader);
    if (r < 0)
        snprintf(why, why_size, "%s has no load average and uptime: %s", env->proc, strerror(-r));
    return r == -ENOENT ? PROBE_ABSENT : r;
}

static size_t load_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    (void)env;
    return 1;
}

static void load_close(void *state) {
    load_reader_close(((struct load *)state)->reader);
}

static const struct column load_columns[N_COLUMNS] = {
    [LOAD_1] = {"load_1_nano", UNIT_NANO, COLUMN_LEVEL,
                "load average of 1 minute: tasks that run, are ready to, or wait for a disk"},
    [LOAD_5] = {"load_5_nano", UNIT_NANO, COLUMN_LEVEL, "load average of 5 minutes"},
    [LOAD_15] = {"load_15_nano", UNIT_NANO, COLUMN_LEVEL, "load average of 15 minutes"},
    [UPTIME] = {"uptime_ns", UNIT_NS, COLUMN_LEVEL, "time since the host started"},
    [TASKS + TASK_RUNNING] = {"running", UNIT_EVENTS, COLUMN_LEVEL,
                              "processes that run or are ready to (R)"},
    [TASKS + TASK_SLEEPING] = {"sleeping", UNIT_EVENTS, COLUMN_LEVEL, "processes asleep (S)"},
    [TASKS + TASK_WAITING] = {"waiting", UNIT_EVENTS, COLUMN_LEVEL,
                              "processes that nothing interrupts, mostly waiting for a disk or a "
                              "server (D)"},
    [TASKS + TASK_STOPPED] = {"stopped", UNIT_EVENTS, COLUMN_LEVEL,
                              "processes stopped by a signal or a debugger (T, t)"},
    [TASKS + TASK_ZOMBIE] = {"zombie", UNIT_EVENTS, COLUMN_LEVEL,
                             "processes that ended and whose parent has not asked (Z)"},
    [TASKS + TASK_OTHER] = {"other", UNIT_EVENTS, COLUMN_LEVEL, "idle threads of the kernel (I)"},
};

const struct probe probe_load = {
    .table = {.name = "load",
              .instance = "scope",
              .help = "load averages, uptime, and tasks by state, every five seconds",
              .kind = TABLE_SAMPLES,
              .columns = load_columns,
              .n_columns = N_COLUMNS},
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct load),
    .max_rows = load_max_rows,
    .open = load_open,
    .sample = load_sample,
    .close = load_close,
};
