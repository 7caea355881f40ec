/* SPDX-License-Identifier: MIT */
/*
 * The rows of GPUs: figures that the thread of gpu_watch.c has read. A driver that hangs, as it
 * does when a card falls off the bus, costs its rows and nothing else.
 */
#include <stdio.h>
#include <string.h>

#include "agent/probes/gpu/gpu_private.h"
#include "agent/probes/probes.h"
#include "common/clock.h"

#define SILENCE_NS (10 * NS_PER_S)

struct gpu_probe {
    struct gpu_watch *watch;
};

static int gpu_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    struct gpu_probe *probe = state;
    if (!env->gpus)
        return PROBE_ABSENT;
    probe->watch = env->gpus;
    return gpus_start(&env->gpus->gpus, env, why, why_size);
}

/* Tells of a driver that hangs. The first snapshot may take long: cards wake up. */
static void tell_silence(const struct gpu_snapshot *last, const struct probe_env *env) {
    if (env->note && last->taken_ns && env->mono_ns - last->taken_ns > SILENCE_NS)
        env->note(env->note_ctx, NOTE_WARNING, "gpu",
                  "the driver has not answered for ten seconds");
}

/* Figures that nobody has renewed are of no frame: the next ones count for this time, too. */
static int gpu_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct gpus *gpus = ((struct gpu_probe *)state)->watch->gpus;
    gpus_frame(gpus, env);
    bool fresh = gpus_take(gpus);
    const struct gpu_snapshot *snapshot = gpus_taken(gpus);
    if (!fresh)
        tell_silence(snapshot, env);
    for (size_t i = 0; fresh && i < snapshot->n_parts; i++) {
        const char *name = gpus->parts[i].name;
        struct row *row = rows_append(rows, name, strlen(name));
        if (row)
            memcpy(row->values, snapshot->values[i], sizeof snapshot->values[i]);
    }
    return 0;
}

/* Cards that are found late count as well. */
static size_t gpu_max_rows(const void *state, const struct probe_env *env) {
    struct gpus *gpus = ((const struct gpu_probe *)state)->watch->gpus;
    (void)env;
    return atomic_load(&gpus->is_open) ? gpus->n_parts : GPU_PARTS_MAX;
}

static int64_t gpu_thread_cpu_ns(const void *state) {
    return atomic_load(&((const struct gpu_probe *)state)->watch->gpus->cpu_ns);
}

static void gpu_close(void *state) {
    struct gpu_probe *probe = state;
    if (!probe->watch)
        return;
    gpus_stop(probe->watch->gpus);
    probe->watch->gpus = NULL;
}

const struct probe probe_gpu = {
    .table = &all_tables[TABLE_GPU],
    .pace = PACE_SYSTEM,
    .state_size = sizeof(struct gpu_probe),
    .max_rows = gpu_max_rows,
    .open = gpu_open,
    .sample = gpu_sample,
    .thread_cpu_ns = gpu_thread_cpu_ns,
    .close = gpu_close,
};
