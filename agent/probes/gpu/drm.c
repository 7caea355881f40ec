/* SPDX-License-Identifier: MIT */
/*
 * Cards of AMD (amdgpu) and Intel (i915, xe), by the files of their drivers in /sys: a table of
 * files and of what they mean. Other drivers of DRM (screens of virtual machines, NVIDIA's own)
 * tell nothing here. Card N is class/drm/cardN.
 */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/counter.h"
#include "agent/base/dirents.h"
#include "agent/base/source.h"
#include "agent/probes/gpu/gpu_private.h"
#include "common/error.h"

#define HZ_PER_MHZ INT64_C(1000000)
#define TEXT_MAX 2048

enum drm_kind {
    DRM_NUMBER,  /* times scale */
    DRM_DIVIDED, /* by scale */
    DRM_BUSY,    /* percent, for part->busy */
    DRM_MEMORY_BUSY,
    DRM_STARRED, /* "1: 1200Mhz *": the line with the star */
    DRM_LAST,    /* the number of the last line of such a list */
};

/* "hwmon/" stands for the directory of the card's sensors. If several files are for one column,
 * the first that can be read counts. */
struct drm_file {
    const char *driver;
    int column;
    const char *path;
    enum drm_kind kind;
    int64_t scale;
};

static const struct drm_file level_files[] = {
    {"amdgpu", GPU_BUSY, "device/gpu_busy_percent", DRM_BUSY, 1},
    {"amdgpu", GPU_MEMORY_BUSY, "device/mem_busy_percent", DRM_MEMORY_BUSY, 1},
    {"amdgpu", GPU_MEMORY_USED, "device/mem_info_vram_used", DRM_NUMBER, 1},
    {"amdgpu", GPU_WATTS, "hwmon/power1_average", DRM_NUMBER, 1000}, /* from uW */
    {"amdgpu", GPU_WATTS, "hwmon/power1_input", DRM_NUMBER, 1000},
    {"amdgpu", GPU_CELSIUS, "hwmon/temp1_input", DRM_DIVIDED, 1000},
    {"amdgpu", GPU_SM_CLOCK, "device/pp_dpm_sclk", DRM_STARRED, HZ_PER_MHZ},
    {"amdgpu", GPU_MEMORY_CLOCK, "device/pp_dpm_mclk", DRM_STARRED, HZ_PER_MHZ},
    {"amdgpu", GPU_PCIE_REPLAYS, "device/pcie_replay_count", DRM_NUMBER, 1},
    {"i915", GPU_SM_CLOCK, "gt/gt0/rps_act_freq_mhz", DRM_NUMBER, HZ_PER_MHZ},
    {"i915", GPU_SM_CLOCK, "gt_act_freq_mhz", DRM_NUMBER, HZ_PER_MHZ},
    {"i915", GPU_JOULES, "hwmon/energy1_input", DRM_NUMBER, 1000}, /* from uJ */
    {"xe", GPU_SM_CLOCK, "device/tile0/gt0/freq0/act_freq", DRM_NUMBER, HZ_PER_MHZ},
    {"xe", GPU_JOULES, "hwmon/energy1_input", DRM_NUMBER, 1000},
};

static const struct drm_file fact_files[] = {
    {"amdgpu", GPU_DEVICE_MEMORY, "device/mem_info_vram_total", DRM_NUMBER, 1},
    {"amdgpu", GPU_DEVICE_WATTS_LIMIT, "hwmon/power1_cap", DRM_NUMBER, 1000},
    {"amdgpu", GPU_DEVICE_WATTS_DEFAULT, "hwmon/power1_cap_default", DRM_NUMBER, 1000},
    {"amdgpu", GPU_DEVICE_SM_CLOCK, "device/pp_dpm_sclk", DRM_LAST, HZ_PER_MHZ},
    {"amdgpu", GPU_DEVICE_MEMORY_CLOCK, "device/pp_dpm_mclk", DRM_LAST, HZ_PER_MHZ},
    {"amdgpu", GPU_DEVICE_PCIE_LANES, "device/current_link_width", DRM_NUMBER, 1},
    {"amdgpu", GPU_DEVICE_PCIE_LANES_MAX, "device/max_link_width", DRM_NUMBER, 1},
    {"i915", GPU_DEVICE_SM_CLOCK, "gt/gt0/rps_RP0_freq_mhz", DRM_NUMBER, HZ_PER_MHZ},
    {"i915", GPU_DEVICE_SM_CLOCK, "gt_RP0_freq_mhz", DRM_NUMBER, HZ_PER_MHZ},
    {"i915", GPU_DEVICE_WATTS_LIMIT, "hwmon/power1_max", DRM_NUMBER, 1000},
    {"xe", GPU_DEVICE_SM_CLOCK, "device/tile0/gt0/freq0/rp0_freq", DRM_NUMBER, HZ_PER_MHZ},
    {"xe", GPU_DEVICE_WATTS_LIMIT, "hwmon/power1_max", DRM_NUMBER, 1000},
};

/* ---- files ---- */

static int read_text(const struct gpus *gpus, const struct gpu_part *part, const char *path,
                     char text[TEXT_MAX]) {
    static const char sensors[] = "hwmon/";
    char name[PATH_MAX + 128];
    bool of_sensors = strncmp(path, sensors, strlen(sensors)) == 0;
    if (of_sensors && !part->drm.hwmon[0])
        return -ENOENT;
    snprintf(name, sizeof name, "%s/class/drm/%s/%s%s%s", gpus->sys, part->name,
             of_sensors ? part->drm.hwmon : "", of_sensors ? "/" : "",
             path + (of_sensors ? strlen(sensors) : 0));
    return file_read_small(AT_FDCWD, name, text, TEXT_MAX);
}

/* The number after the colon in "1: 1200Mhz *", of the line with a star or of the last one. */
static bool parse_list(const char *text, size_t size, bool starred, uint64_t *ret_number) {
    const char *p = text, *end = text + size;
    bool found = false;
    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        stop = stop ? stop : end;
        const char *colon = memchr(p, ':', (size_t)(stop - p)), *q = colon ? colon + 1 : stop;
        uint64_t number;
        if ((!starred || memchr(p, '*', (size_t)(stop - p))) && text_u64(&q, stop, &number)) {
            *ret_number = number;
            found = true;
        }
        p = stop + 1;
    }
    return found;
}

static bool read_number(const struct gpus *gpus, const struct gpu_part *part,
                        const struct drm_file *file, uint64_t *ret_number) {
    char text[TEXT_MAX];
    int n = read_text(gpus, part, file->path, text);
    const char *p = text;
    if (n <= 0)
        return false;
    if (file->kind == DRM_STARRED || file->kind == DRM_LAST)
        return parse_list(text, (size_t)n, file->kind == DRM_STARRED, ret_number);
    return text_u64(&p, text + n, ret_number);
}

static int64_t value_of(const struct drm_file *file, uint64_t number) {
    return file->kind == DRM_DIVIDED ? counter_value(number / (uint64_t)file->scale, 1)
                                     : counter_value(number, file->scale);
}

static void read_facts(const struct gpus *gpus, struct gpu_part *part) {
    uint64_t number;
    for (size_t i = 0; i < ARRAY_SIZE(fact_files); i++) {
        const struct drm_file *file = &fact_files[i];
        if (strcmp(file->driver, part->drm.driver) == 0 &&
            part->facts[file->column] == VALUE_ABSENT && read_number(gpus, part, file, &number))
            part->facts[file->column] = value_of(file, number);
    }
}

/* ---- at each frame ---- */

static void take_level(struct gpu_part *part, const struct drm_file *file, bool good,
                       uint64_t number, int64_t now_ns) {
    if (file->kind == DRM_BUSY || file->kind == DRM_MEMORY_BUSY) {
        struct gpu_flow *flow = file->kind == DRM_BUSY ? &part->busy : &part->memory_busy;
        double percent = number > 100 ? 100 : (double)number;
        gpu_flow_add(flow, good ? percent / 100 : NAN, now_ns);
        part->values[file->column] = gpu_flow_sum(flow);
    } else {
        part->values[file->column] = good ? value_of(file, number) : VALUE_ABSENT;
    }
}

void drm_read(const struct gpus *gpus, struct gpu_part *part, int64_t now_ns) {
    uint64_t told = 0; /* bits: columns */
    static_assert(GPU_COLUMNS <= 64, "a bit for each");
    for (size_t i = 0; i < ARRAY_SIZE(level_files); i++) {
        const struct drm_file *file = &level_files[i];
        uint64_t number = 0;
        if (strcmp(file->driver, part->drm.driver) != 0 || told >> file->column & 1)
            continue;
        bool good = read_number(gpus, part, file, &number);
        told |= (uint64_t)good << file->column;
        take_level(part, file, good, number, now_ns);
    }
}

/* ---- finding ---- */

/* The last part of what a link of the card names. */
static bool read_link(const struct gpus *gpus, const char *card, const char *link, char *to,
                      size_t size) {
    char path[PATH_MAX + 64], target[PATH_MAX];
    snprintf(path, sizeof path, "%s/class/drm/%s/%s", gpus->sys, card, link);
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return false;
    target[n] = '\0';
    const char *slash = strrchr(target, '/');
    snprintf(to, size, "%.*s", (int)size - 1, slash ? slash + 1 : target);
    return true;
}

static bool is_known(const char *driver) {
    return strcmp(driver, "amdgpu") == 0 || strcmp(driver, "i915") == 0 ||
           strcmp(driver, "xe") == 0;
}

static void find_sensors(const struct gpus *gpus, struct gpu_part *part) {
    _Alignas(struct dirents_entry) char buffer[2048];
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/class/drm/%s/device/hwmon", gpus->sys, part->name);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct dirents list = {.fd = fd, .buffer = buffer, .capacity = sizeof buffer};
    for (const struct dirents_entry *entry; fd >= 0 && (entry = dirents_next(&list));)
        if (strncmp(entry->name, "hwmon", 5) == 0 && strlen(entry->name) < 20)
            snprintf(part->drm.hwmon, sizeof part->drm.hwmon, "device/hwmon/%.19s", entry->name);
    if (fd >= 0)
        close(fd);
}

static void add_drm_card(struct gpus *gpus, const char *card) {
    char driver[32], vendor[16] = "?", device[16] = "?", text[TEXT_MAX];
    if (!read_link(gpus, card, "device/driver", driver, sizeof driver) || !is_known(driver))
        return;
    struct gpu_part *part = gpus_add(gpus);
    if (!part)
        return;
    snprintf(part->name, sizeof part->name, "%.20s", card);
    snprintf(part->drm.driver, sizeof part->drm.driver, "%.7s", driver);
    read_link(gpus, card, "device", part->address, sizeof part->address);
    find_sensors(gpus, part);
    if (read_text(gpus, part, "device/vendor", text) > 0)
        snprintf(vendor, sizeof vendor, "%.15s", text);
    if (read_text(gpus, part, "device/device", text) > 0)
        snprintf(device, sizeof device, "%.15s", text);
    snprintf(part->fact, sizeof part->fact, "%.23s %.8s %.15s:%.15s %.23s", part->name, driver,
             vendor, device, part->address);
    part->facts[GPU_DEVICE_GPM] = 0;
    read_facts(gpus, part);
}

/* "card0", not "card0-HDMI-A-1". */
static bool is_card(const char *name) {
    size_t n = strspn(name + (strncmp(name, "card", 4) == 0 ? 4 : 0), "0123456789");
    return strncmp(name, "card", 4) == 0 && n > 0 && n < 4 && name[4 + n] == '\0';
}

void drm_find(struct gpus *gpus) {
    _Alignas(struct dirents_entry) char buffer[4096];
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/class/drm", gpus->sys);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct dirents list = {.fd = fd, .buffer = buffer, .capacity = sizeof buffer};
    for (const struct dirents_entry *entry; fd >= 0 && (entry = dirents_next(&list));)
        if (is_card(entry->name))
            add_drm_card(gpus, entry->name);
    if (fd >= 0)
        close(fd);
}
