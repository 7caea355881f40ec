/* SPDX-License-Identifier: MIT */
/* Describes each GPU once, when its first figures are there. */
#include <string.h>

#include "agent/probes/gpu/gpu_private.h"
#include "agent/probes/probes.h"

struct gpu_device {
    bool told;
};

static int device_open(void *state, const struct probe_env *env, char *why, size_t why_size) {
    (void)state;
    (void)why;
    (void)why_size;
    return env->gpus && env->gpus->gpus ? 0 : PROBE_ABSENT;
}

static int device_sample(void *state, const struct probe_env *env, struct rows *rows) {
    struct gpu_device *device = state;
    struct gpus *gpus = env->gpus->gpus;
    if (device->told || !atomic_load(&gpus->is_open))
        return 0;
    device->told = true;
    for (size_t i = 0; i < gpus->n_parts; i++) {
        const struct gpu_part *part = &gpus->parts[i];
        struct row *row = rows_append(rows, part->fact, strlen(part->fact));
        if (row)
            memcpy(row->values, part->facts, sizeof part->facts);
    }
    return 0;
}

static size_t device_max_rows(const void *state, const struct probe_env *env) {
    (void)state;
    return atomic_load(&env->gpus->gpus->is_open) ? env->gpus->gpus->n_parts : GPU_PARTS_MAX;
}

const struct probe probe_gpu_device = {
    .table = &all_tables[TABLE_GPU_DEVICE],
    .pace = PACE_PROCESS,
    .state_size = sizeof(struct gpu_device),
    .max_rows = device_max_rows,
    .open = device_open,
    .sample = device_sample,
};
