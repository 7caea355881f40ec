/* SPDX-License-Identifier: MIT */
/*
 * Load averages, uptime, and tasks by state, as in uptime(1) and the head of top(1). They describe
 * the whole kernel (tasks: the agent's process namespace), whatever the agent's scope. The kernel
 * updates its load averages every five seconds. Tasks are counted by looking at each, as often as
 * that, and less often on a host with many: a row then repeats the last count.
 */
#include <stdio.h>
#include <string.h>

#include "agent/base/load_reader.h"
#include "agent/probes/probes.h"
#include "common/clock.h"
#include "common/error.h"

#define EVERY_NS (5 * NS_PER_S)
#define TASKS_AT_ONCE 100 /* one row per so many tasks repeats the last count */

struct load {
    struct load_reader *reader;
    int64_t read_ns; /* 0: never */
    int64_t tasks[TASK_STATES];
    int64_t rows_left; /* until tasks are counted again */
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
    row->values[LOAD_UPTIME] = uptime_ns;
    memcpy(&row->values[LOAD_RUNNING], load->tasks, sizeof load->tasks);
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

const struct probe probe_load = {
    .table = &all_tables[TABLE_LOAD],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct load),
    .max_rows = load_max_rows,
    .open = load_open,
    .sample = load_sample,
    .close = load_close,
};
