/* SPDX-License-Identifier: MIT */
/* Reads all GPUs of a host, whichever driver they have. */
#include <math.h>
#include <string.h>

#include "agent/probes/gpu/gpu_private.h"
#include "common/clock.h"

#define SLOW_EVERY_NS NS_PER_S
#define RARE_EVERY_NS (10 * NS_PER_S)
#define EARLY_NS (NS_PER_S / 10) /* a turn may come a little early rather than a frame too late */

void gpu_flow_add(struct gpu_flow *flow, double rate, int64_t now_ns) {
    if (!(rate >= 0) || isinf(rate)) {
        flow->since_ns = flow->since_ns ? flow->since_ns : now_ns;
        return;
    }
    if (flow->since_ns && now_ns > flow->since_ns)
        flow->sum += (int64_t)(rate * (double)(now_ns - flow->since_ns) + .5);
    flow->since_ns = now_ns;
    flow->known = true;
}

struct gpu_part *gpus_add(struct gpus *gpus) {
    if (gpus->n_parts == GPU_PARTS_MAX)
        return NULL;
    struct gpu_part *part = &gpus->parts[gpus->n_parts++];
    *part = (struct gpu_part){.instance = -1, .first_energy = VALUE_ABSENT};
    for (size_t i = 0; i < GPU_COLUMNS; i++)
        part->values[i] = VALUE_ABSENT;
    for (size_t i = 0; i < GPU_DEVICE_COLUMNS; i++)
        part->facts[i] = VALUE_ABSENT;
    return part;
}

struct gpu_user *gpus_user(struct gpus *gpus, size_t part, int32_t pid) {
    for (size_t i = 0; i < gpus->n_users; i++)
        if (gpus->users[i].part == part && gpus->users[i].pid == pid)
            return &gpus->users[i];
    if (gpus->n_users == GPU_USERS_MAX)
        return NULL;
    struct gpu_user *user = &gpus->users[gpus->n_users++];
    *user = (struct gpu_user){
        .part = (uint16_t)part, .pid = pid, .memory = VALUE_ABSENT, .busy_ns = VALUE_ABSENT};
    return user;
}

static void forget_users(struct gpus *gpus) {
    size_t n = 0;
    for (size_t i = 0; i < gpus->n_users; i++)
        if (gpus->users[i].listed)
            gpus->users[n++] = gpus->users[i];
    gpus->n_users = n;
}

size_t gpus_find(struct gpus *gpus) {
    nvml_find(gpus);
    drm_find(gpus);
    return gpus->n_parts;
}

void gpus_read_fast(struct gpus *gpus, int64_t now_ns) {
    for (size_t i = 0; i < gpus->n_parts; i++) {
        struct gpu_part *part = &gpus->parts[i];
        if (part->is_nvml)
            nvml_read_fast(gpus, part, now_ns);
        else
            drm_read(gpus, part, now_ns);
    }
}

static bool is_due(int64_t *last_ns, int64_t every_ns, int64_t now_ns) {
    if (*last_ns && now_ns - *last_ns < every_ns - EARLY_NS)
        return false;
    *last_ns = now_ns;
    return true;
}

static int64_t slow_every(const struct gpus *gpus) {
    int64_t pause = gpus->slow_pause_ns;
    return pause < SLOW_EVERY_NS ? SLOW_EVERY_NS : pause > RARE_EVERY_NS ? RARE_EVERY_NS : pause;
}

bool gpus_read_slow(struct gpus *gpus, int64_t now_ns) {
    if (!gpus->has_nvml || !is_due(&gpus->slow_ns, slow_every(gpus), now_ns))
        return false;
    bool rare = is_due(&gpus->rare_ns, RARE_EVERY_NS, now_ns);
    for (size_t i = 0; i < gpus->n_users; i++)
        gpus->users[i].listed = false;
    for (size_t i = 0; i < gpus->n_parts; i++) {
        struct gpu_part *part = &gpus->parts[i];
        if (!part->is_nvml)
            continue;
        nvml_read_slow(gpus, part, now_ns);
        nvml_processes_read(gpus, i, now_ns);
        if (rare)
            nvml_read_rare(gpus, part, now_ns);
    }
    nvml_read_events(gpus);
    forget_users(gpus);
    return true;
}

void gpus_release(struct gpus *gpus) {
    nvml_release(gpus);
}
