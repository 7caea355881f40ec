/* SPDX-License-Identifier: MIT */
/* Finds NVIDIA's cards and the instances that MIG made of them, and what each can at most. */
#include <stdio.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/probes/gpu/gpu_private.h"
#include "common/clock.h"

#define HZ_PER_MHZ INT64_C(1000000)
#define NANO_PER_MILLI INT64_C(1000000)

/* A number of the card; VALUE_ABSENT if the driver refuses. */
#define ASK(nvml, ID, scale, ...)                                                                  \
    __extension__({                                                                                \
        unsigned number_ = 0;                                                                      \
        NVML(nvml, ID, __VA_ARGS__, &number_) == NVML_SUCCESS ? counter_value(number_, scale)      \
                                                              : VALUE_ABSENT;                      \
    })

/* Bytes of a library may be anything. */
static void copy_text(char *to, size_t size, const char *text) {
    text_sanitize(to, size, text, strnlen(text, size - 1));
}

static void name_fact(struct gpus *gpus, struct gpu_part *part) {
    char name[NVML_NAME_SIZE] = "", id[NVML_NAME_SIZE] = "", clean[48], clean_id[48];
    NVML(&gpus->nvml, NAME, part->handle, name, sizeof name);
    NVML(&gpus->nvml, UUID, part->handle, id, sizeof id);
    name[sizeof name - 1] = id[sizeof id - 1] = '\0';
    copy_text(clean, sizeof clean, *name ? name : "GPU");
    copy_text(clean_id, sizeof clean_id, id);
    snprintf(part->fact, sizeof part->fact, "%.12s %.22s %.40s%sdriver %.11s", part->name, clean,
             clean_id, *clean_id ? " " : "", gpus->driver);
}

static int64_t count_nvlinks(struct nvml *nvml, nvml_handle handle) {
    int64_t n = VALUE_ABSENT;
    for (unsigned i = 0; i < NVML_NVLINKS_MAX; i++) {
        unsigned is_up = 0;
        if (NVML(nvml, NVLINK_STATE, handle, i, &is_up) != NVML_SUCCESS)
            break;
        n = (n == VALUE_ABSENT ? 0 : n) + (is_up == 1);
    }
    return n;
}

static int64_t total_memory(struct nvml *nvml, nvml_handle handle) {
    struct nvml_memory memory = {0};
    return NVML(nvml, MEMORY_V1, handle, &memory) == NVML_SUCCESS ? counter_value(memory.total, 1)
                                                                  : VALUE_ABSENT;
}

static void ask_facts(struct nvml *nvml, struct gpu_part *part) {
    nvml_handle card = part->card;
    int major = 0, minor = 0;
    int64_t *facts = part->facts;
    facts[GPU_DEVICE_MEMORY] = total_memory(nvml, part->handle);
    facts[GPU_DEVICE_WATTS_LIMIT] = ASK(nvml, POWER_LIMIT, NANO_PER_MILLI, card);
    facts[GPU_DEVICE_WATTS_DEFAULT] = ASK(nvml, POWER_DEFAULT, NANO_PER_MILLI, card);
    facts[GPU_DEVICE_SM_CLOCK] = ASK(nvml, MAX_CLOCK, HZ_PER_MHZ, card, NVML_CLOCK_SM);
    facts[GPU_DEVICE_MEMORY_CLOCK] = ASK(nvml, MAX_CLOCK, HZ_PER_MHZ, card, NVML_CLOCK_MEMORY);
    facts[GPU_DEVICE_PCIE_GENERATION] = ASK(nvml, PCIE_GENERATION, 1, card);
    facts[GPU_DEVICE_PCIE_GENERATION_MAX] = ASK(nvml, PCIE_GENERATION_MAX, 1, card);
    facts[GPU_DEVICE_PCIE_LANES] = ASK(nvml, PCIE_LANES, 1, card);
    facts[GPU_DEVICE_PCIE_LANES_MAX] = ASK(nvml, PCIE_LANES_MAX, 1, card);
    facts[GPU_DEVICE_NVLINKS] = count_nvlinks(nvml, card);
    if (NVML(nvml, CAPABILITY, card, &major, &minor) == NVML_SUCCESS)
        facts[GPU_DEVICE_CAPABILITY] = 10 * (int64_t)major + minor;
}

static void settle_part(struct gpus *gpus, struct gpu_part *part) {
    part->is_nvml = true;
    ask_facts(&gpus->nvml, part);
    part->has_nvlink = part->facts[GPU_DEVICE_NVLINKS] > 0;
    nvml_gpm_open(gpus, part);
    part->facts[GPU_DEVICE_GPM] = part->has_gpm;
    name_fact(gpus, part);
}

static void add_instances(struct gpus *gpus, nvml_handle card, unsigned index) {
    unsigned n = 0, instance = 0;
    NVML(&gpus->nvml, MIG_COUNT, card, &n);
    for (unsigned i = 0; i < n && i < GPU_PARTS_MAX; i++) {
        nvml_handle handle = NULL;
        if (NVML(&gpus->nvml, MIG_HANDLE, card, i, &handle) != NVML_SUCCESS || !handle)
            continue;
        struct gpu_part *part = gpus_add(gpus);
        if (!part)
            return;
        snprintf(part->name, sizeof part->name, "gpu%u/mig%u", index, i);
        part->handle = handle;
        part->card = card;
        if (NVML(&gpus->nvml, MIG_INSTANCE, handle, &instance) == NVML_SUCCESS)
            part->instance = (int)(instance & INT_MAX);
        part->facts[GPU_DEVICE_MIG] = 1;
        settle_part(gpus, part);
    }
}

static void add_card(struct gpus *gpus, unsigned index) {
    nvml_handle handle = NULL;
    unsigned divided = 0, pending = 0;
    int answer = NVML(&gpus->nvml, HANDLE, index, &handle);
    struct gpu_part *part = gpus_add(gpus);
    if (!part)
        return;
    snprintf(part->name, sizeof part->name, "gpu%u", index);
    part->handle = part->card = handle;
    part->is_nvml = true;
    if (answer != NVML_SUCCESS || !handle) {
        part->lost = true;
        part->handle = NULL;
        snprintf(part->fact, sizeof part->fact, "%s %s", part->name, nvml_answer_words(answer));
        return;
    }
    bool knows = NVML(&gpus->nvml, MIG_MODE, handle, &divided, &pending) == NVML_SUCCESS;
    part->facts[GPU_DEVICE_MIG] = knows && divided == 1;
    settle_part(gpus, part);
    if (knows && divided == 1)
        add_instances(gpus, handle, index);
}

/* Errors of all cards come by one set of events. */
static void open_events(struct gpus *gpus) {
    struct nvml *nvml = &gpus->nvml;
    if (NVML(nvml, EVENT_SET, &gpus->events) != NVML_SUCCESS)
        return;
    gpus->has_events = true;
    for (size_t i = 0; i < gpus->n_parts; i++) {
        struct gpu_part *part = &gpus->parts[i];
        if (part->handle && part->instance < 0 &&
            NVML(nvml, EVENT_REGISTER, part->handle, NVML_EVENT_XID, gpus->events) == NVML_SUCCESS)
            part->values[GPU_XIDS] = 0;
    }
}

static bool start_library(struct gpus *gpus, unsigned *ret_n) {
    struct nvml *nvml = &gpus->nvml;
    int answer = NVML(nvml, INIT);
    gpus->has_nvml = answer == NVML_SUCCESS;
    if (gpus->has_nvml)
        answer = NVML(nvml, COUNT, ret_n);
    if (answer != NVML_SUCCESS && answer != NVML_DRIVER_NOT_LOADED)
        snprintf(gpus->why, sizeof gpus->why, "NVIDIA's library NVML refuses to start: %s",
                 nvml_answer_words(answer));
    return answer == NVML_SUCCESS;
}

void nvml_find(struct gpus *gpus) {
    char driver[NVML_NAME_SIZE] = "";
    unsigned n = 0;
    if (nvml_library_open(&gpus->nvml, gpus->why, sizeof gpus->why) != 0)
        return;
    if (!start_library(gpus, &n)) {
        nvml_release(gpus);
        return;
    }
    NVML(&gpus->nvml, DRIVER_VERSION, driver, sizeof driver);
    driver[sizeof driver - 1] = '\0';
    copy_text(gpus->driver, sizeof gpus->driver, *driver ? driver : "unknown");
    for (unsigned i = 0; i < n && i < GPU_PARTS_MAX; i++)
        add_card(gpus, i);
    open_events(gpus);
}

void nvml_release(struct gpus *gpus) {
    struct nvml *nvml = &gpus->nvml;
    for (size_t i = 0; i < gpus->n_parts; i++) {
        struct gpu_part *part = &gpus->parts[i];
        if (part->before)
            NVML(nvml, GPM_FREE, part->before);
        if (part->now)
            NVML(nvml, GPM_FREE, part->now);
        part->before = part->now = NULL;
    }
    if (gpus->has_events)
        NVML(nvml, EVENT_FREE, gpus->events);
    if (gpus->has_nvml)
        NVML(nvml, SHUTDOWN);
    gpus->has_events = gpus->has_nvml = false;
    nvml_library_close(nvml);
}
