/* SPDX-License-Identifier: MIT */
/*
 * Processes on a card, with their memory and the share of its time that they had. The driver
 * samples shares: of several processes it often tells the one that it met, with all of the time.
 * So what it tells at once is shares of the card's time, at most all of it together.
 */
#include <string.h>

#include "agent/base/counter.h"
#include "agent/probes/gpu/gpu_private.h"

#define LIST_MAX 256
#define UNTOUCHED 0xa5

/* Whether some of the bytes were written. */
static bool is_touched(const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != UNTOUCHED)
            return true;
    return false;
}

static size_t stride_of(const unsigned char *bytes, size_t n) {
    size_t written = n * sizeof(struct nvml_process);
    return is_touched(bytes + written, n * (NVML_PROCESS_SIZE_535 - sizeof(struct nvml_process)))
               ? NVML_PROCESS_SIZE_535
               : sizeof(struct nvml_process);
}

/* A part of a divided card lists what runs on it; the card itself lists them all. */
static void list_user(struct gpus *gpus, size_t at, const struct nvml_process *process) {
    const struct gpu_part *part = &gpus->parts[at];
    if (part->instance >= 0 && process->gpu_instance != (unsigned)part->instance)
        return;
    struct gpu_user *user =
        process->pid <= INT32_MAX ? gpus_user(gpus, at, (int32_t)process->pid) : NULL;
    if (!user)
        return;
    user->listed = true;
    user->memory =
        process->memory == NVML_MEMORY_UNKNOWN ? VALUE_ABSENT : counter_value(process->memory, 1);
}

static int list_now(struct gpus *gpus, size_t at) {
    _Alignas(8) unsigned char bytes[LIST_MAX * NVML_PROCESS_SIZE_535];
    unsigned n = LIST_MAX;
    memset(bytes, UNTOUCHED, sizeof bytes);
    int answer = NVML(&gpus->nvml, PROCESSES, gpus->parts[at].card, &n, bytes);
    if (answer != NVML_SUCCESS || n > LIST_MAX)
        return answer;
    size_t stride = stride_of(bytes, n);
    for (unsigned i = 0; i < n; i++) {
        struct nvml_process process;
        memcpy(&process, bytes + i * stride, sizeof process);
        list_user(gpus, at, &process);
    }
    return answer;
}

static int list_as_before(struct gpus *gpus, size_t at) {
    struct nvml_process_v1 all[LIST_MAX] = {0};
    unsigned n = LIST_MAX;
    int answer = NVML(&gpus->nvml, PROCESSES_V1, gpus->parts[at].card, &n, all);
    for (unsigned i = 0; answer == NVML_SUCCESS && i < n && i < LIST_MAX; i++)
        list_user(gpus, at, &(struct nvml_process){all[i].pid, all[i].memory, UINT_MAX, UINT_MAX});
    return answer;
}

/* The time of the answer before is that of the process's first share as well. */
static void grow_share(struct gpu_user *user, int64_t amount_ns, int64_t passed_ns,
                       int64_t now_ns) {
    if (!user->busy.known)
        user->busy = (struct gpu_flow){.known = true, .since_ns = now_ns - passed_ns};
    if (user->busy.since_ns < now_ns)
        gpu_flow_grow(&user->busy, amount_ns, now_ns);
    else
        user->busy.sum += amount_ns; /* two samples of one process */
}

static void share_time(struct gpus *gpus, size_t at, const struct nvml_process_sample *samples,
                       unsigned n, int64_t passed_ns, int64_t now_ns) {
    double sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += samples[i].sm > 100 ? 100 : samples[i].sm;
    double scale = (double)passed_ns / (sum > 100 ? sum : 100);
    for (unsigned i = 0; i < n; i++) {
        double percent = samples[i].sm > 100 ? 100 : samples[i].sm;
        struct gpu_user *user =
            samples[i].pid <= INT32_MAX ? gpus_user(gpus, at, (int32_t)samples[i].pid) : NULL;
        if (!user)
            continue;
        user->shared = percent > 0;
        grow_share(user, (int64_t)(percent * scale + .5), passed_ns, now_ns);
    }
}

/* Known processes of which the driver tells no share had none. */
static void rest_shares(struct gpus *gpus, size_t at, int64_t now_ns) {
    for (size_t i = 0; i < gpus->n_users; i++)
        if (gpus->users[i].part == at && gpus->users[i].busy.since_ns < now_ns)
            grow_share(&gpus->users[i], 0, 0, now_ns);
}

void nvml_shares_begin(struct gpus *gpus) {
    for (size_t i = 0; i < gpus->n_users; i++)
        gpus->users[i].shared = false;
}

/* The first answer is of times before this agent. */
void nvml_shares_read(struct gpus *gpus, size_t at, int64_t now_ns) {
    struct nvml_process_sample samples[LIST_MAX];
    struct gpu_part *part = &gpus->parts[at];
    unsigned n = LIST_MAX;
    if (part->instance >= 0 || part->facts[GPU_DEVICE_MIG] == 1)
        return;
    int answer =
        NVML(&gpus->nvml, PROCESS_UTILIZATION, part->handle, samples, &n, part->process_since_us);
    int64_t passed_ns = part->process_since_ns ? now_ns - part->process_since_ns : 0;
    part->process_since_ns = now_ns;
    if (answer == NVML_SUCCESS && n <= LIST_MAX) {
        for (unsigned i = 0; i < n; i++)
            if (samples[i].timestamp_us > part->process_since_us)
                part->process_since_us = samples[i].timestamp_us;
        if (passed_ns)
            share_time(gpus, at, samples, n, passed_ns, now_ns);
    }
    if (nvml_good(part, answer) || answer == NVML_NOT_FOUND)
        rest_shares(gpus, at, now_ns);
}

void nvml_list_begin(struct gpus *gpus) {
    for (size_t i = 0; i < gpus->n_users; i++)
        gpus->users[i].listed = false;
}

void nvml_list_read(struct gpus *gpus, size_t at, int64_t now_ns) {
    struct gpu_part *part = &gpus->parts[at];
    (void)now_ns;
    if (part->instance < 0 && part->facts[GPU_DEVICE_MIG] == 1)
        return;
    int answer = list_now(gpus, at);
    if (answer == NVML_FUNCTION_NOT_FOUND)
        answer = list_as_before(gpus, at);
    nvml_good(part, answer);
}

/* A process that draws may have a share and be in no list. */
void nvml_list_end(struct gpus *gpus) {
    size_t n = 0;
    for (size_t i = 0; i < gpus->n_users; i++)
        if (gpus->users[i].listed || gpus->users[i].shared)
            gpus->users[n++] = gpus->users[i];
    gpus->n_users = n;
}
