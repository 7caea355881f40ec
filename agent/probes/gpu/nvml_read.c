/* SPDX-License-Identifier: MIT */
/*
 * Reads a card of NVIDIA: at each frame by calls that take some 0.2 ms together, and more seldom by
 * slower ones.
 */
#include <math.h>
#include <string.h>

#include "agent/base/counter.h"
#include "agent/probes/gpu/gpu_private.h"
#include "common/error.h"

#define HZ_PER_MHZ INT64_C(1000000)
#define NANO_PER_MILLI INT64_C(1000000)
#define XIDS_AT_ONCE 64

bool nvml_good(struct gpu_part *part, int answer) {
    if (answer == NVML_GPU_IS_LOST || answer == NVML_RESET_REQUIRED)
        part->lost = true;
    return answer == NVML_SUCCESS;
}

static int64_t level(struct gpu_part *part, int answer, uint64_t number, int64_t scale) {
    return nvml_good(part, answer) ? counter_value(number, scale) : VALUE_ABSENT;
}

/* ---- at each frame ---- */

static double share(bool good, unsigned percent) {
    return !good ? NAN : percent > 100 ? 1 : percent / 100.0;
}

static void read_utilization(struct nvml *nvml, struct gpu_part *part, int64_t now_ns) {
    struct nvml_utilization of = {0};
    bool good = nvml_good(part, NVML(nvml, UTILIZATION, part->handle, &of));
    gpu_flow_add(&part->busy, share(good, of.gpu), now_ns);
    gpu_flow_add(&part->memory_busy, share(good, of.memory), now_ns);
}

static void show_units(const struct gpus *gpus, struct gpu_part *part, int64_t now_ns) {
    part->values[GPU_BUSY] = gpu_units_value(gpus, &part->busy, now_ns);
    part->values[GPU_MEMORY_BUSY] = gpu_units_value(gpus, &part->memory_busy, now_ns);
    if (part->has_gpm)
        nvml_gpm_show(gpus, part, now_ns);
}

/* All that is not free: the second version counts apart what the driver keeps, the first does
 * not. */
static void read_memory(struct nvml *nvml, struct gpu_part *part) {
    struct nvml_memory_v2 memory = {.version = NVML_MEMORY_VERSION};
    struct nvml_memory older = {0};
    int answer = NVML(nvml, MEMORY, part->handle, &memory);
    if (answer != NVML_SUCCESS) {
        answer = NVML(nvml, MEMORY_V1, part->handle, &older);
        memory.total = older.total;
        memory.free = older.free;
    }
    part->values[GPU_MEMORY_USED] =
        level(part, answer, memory.total > memory.free ? memory.total - memory.free : 0, 1);
}

/* Levels that change slowly. */
static void read_slow_levels(struct nvml *nvml, struct gpu_part *part) {
    unsigned memory = 0, celsius = 0;
    int answer = NVML(nvml, CLOCK, part->handle, NVML_CLOCK_MEMORY, &memory);
    part->values[GPU_MEMORY_CLOCK] = level(part, answer, memory, HZ_PER_MHZ);
    answer = NVML(nvml, TEMPERATURE, part->handle, NVML_TEMPERATURE_GPU, &celsius);
    part->values[GPU_CELSIUS] = level(part, answer, celsius, 1);
}

static void read_levels(struct nvml *nvml, struct gpu_part *part) {
    unsigned sm = 0, milliwatts = 0;
    unsigned long long reasons = 0;
    int64_t *values = part->values;
    int answer = NVML(nvml, CLOCK, part->handle, NVML_CLOCK_SM, &sm);
    values[GPU_SM_CLOCK] = level(part, answer, sm, HZ_PER_MHZ);
    answer = NVML(nvml, POWER, part->handle, &milliwatts);
    values[GPU_WATTS] = level(part, answer, milliwatts, NANO_PER_MILLI);
    answer = NVML(nvml, REASONS, part->handle, &reasons);
    values[GPU_CLOCK_REASONS] = level(part, answer, reasons, 1);
}

/* Numbers of before would be taken for numbers of now. */
static void leave_lost(struct gpu_part *part) {
    for (size_t i = 0; i < GPU_COLUMNS; i++)
        if (i != GPU_XIDS && i != GPU_LAST_XID)
            part->values[i] = VALUE_ABSENT;
    part->values[GPU_LOST] = 1;
}

void nvml_read_fast(struct gpus *gpus, struct gpu_part *part, int64_t now_ns) {
    struct nvml *nvml = &gpus->nvml;
    if (!part->handle || part->lost) {
        leave_lost(part);
        return;
    }
    part->values[GPU_LOST] = 0;
    read_memory(nvml, part);
    if (part->instance < 0) /* the others are the card's */
        read_levels(nvml, part);
    if (gpus->reads_units && part->instance < 0)
        read_slow_levels(nvml, part);
    if (gpus->reads_units || !part->has_gpm)
        read_utilization(nvml, part, now_ns);
    if (gpus->reads_units && part->has_gpm)
        nvml_gpm_read(gpus, part);
    show_units(gpus, part, now_ns);
    if (part->lost)
        leave_lost(part);
}

/* ---- slow calls ---- */

/* Whether asking again is of no use. */
static bool is_refusal(int answer) {
    return answer == NVML_NOT_SUPPORTED || answer == NVML_FUNCTION_NOT_FOUND ||
           answer == NVML_NO_PERMISSION;
}

enum counter_by { BY_FIELD, BY_CALL, BY_NOTHING };

static int ask_violation(struct nvml *nvml, nvml_handle handle, int policy,
                         unsigned long long *ret_ns) {
    struct nvml_violation violation = {0};
    int answer = NVML(nvml, VIOLATION, handle, policy, &violation);
    *ret_ns = violation.violation_ns;
    return answer;
}

static int ask_power_cap(struct nvml *nvml, nvml_handle handle, unsigned long long *ret) {
    return ask_violation(nvml, handle, NVML_POLICY_POWER, ret);
}

static int ask_heat_cap(struct nvml *nvml, nvml_handle handle, unsigned long long *ret) {
    return ask_violation(nvml, handle, NVML_POLICY_THERMAL, ret);
}

static int ask_corrected(struct nvml *nvml, nvml_handle handle, unsigned long long *ret) {
    return NVML(nvml, ECC, handle, 0, 0, ret);
}

static int ask_uncorrected(struct nvml *nvml, nvml_handle handle, unsigned long long *ret) {
    return NVML(nvml, ECC, handle, 1, 0, ret);
}

static int ask_replays(struct nvml *nvml, nvml_handle handle, unsigned long long *ret) {
    unsigned n = 0;
    int answer = NVML(nvml, REPLAYS, handle, &n);
    *ret = n;
    return answer;
}

/* All fields come by one call. A driver that lacks one is asked by the call of its own. */
static const struct counter {
    int column;
    unsigned field;
    int (*ask)(struct nvml *nvml, nvml_handle handle, unsigned long long *ret);
} counters[] = {
    {GPU_POWER_CAP, NVML_FIELD_POWER_CAP, ask_power_cap},
    {GPU_HEAT_CAP, NVML_FIELD_HEAT_CAP, ask_heat_cap},
    {GPU_ECC_CORRECTED, NVML_FIELD_ECC_CORRECTED, ask_corrected},
    {GPU_ECC_UNCORRECTED, NVML_FIELD_ECC_UNCORRECTED, ask_uncorrected},
    {GPU_PCIE_REPLAYS, NVML_FIELD_PCIE_REPLAYS, ask_replays},
};
static_assert(ARRAY_SIZE(counters) == GPU_SLOW_COUNTERS, "each part knows how each is asked");

static bool field_number(const struct nvml_field *field, unsigned long long *ret) {
    if (field->answer != NVML_SUCCESS)
        return false;
    if (field->type == NVML_SMALL)
        *ret = field->value.small;
    else if (field->type == NVML_WIDE)
        *ret = field->value.wide;
    else if (field->type == NVML_WIDEST)
        *ret = field->value.widest;
    return field->type >= NVML_SMALL && field->type <= NVML_WIDEST;
}

static void read_fields(struct nvml *nvml, struct gpu_part *part) {
    struct nvml_field fields[GPU_SLOW_COUNTERS] = {0};
    size_t from[GPU_SLOW_COUNTERS], n = 0;
    unsigned long long number;
    for (size_t i = 0; i < GPU_SLOW_COUNTERS; i++)
        if (part->counter_by[i] == BY_FIELD) {
            fields[n] = (struct nvml_field){.id = counters[i].field, .answer = NVML_NEVER_ASKED};
            from[n++] = i;
        }
    int answer = n ? NVML(nvml, FIELDS, part->handle, (int)n, fields) : NVML_SUCCESS;
    if (!nvml_good(part, answer) && part->lost)
        return;
    for (size_t i = 0; i < n; i++)
        if (answer == NVML_SUCCESS && field_number(&fields[i], &number))
            part->values[counters[from[i]].column] = counter_value(number, 1);
        else
            part->counter_by[from[i]] = BY_CALL;
}

static void read_by_call(struct nvml *nvml, struct gpu_part *part, size_t i) {
    unsigned long long number = 0;
    int answer = counters[i].ask(nvml, part->handle, &number);
    if (nvml_good(part, answer)) {
        part->values[counters[i].column] = counter_value(number, 1);
        return;
    }
    part->values[counters[i].column] = VALUE_ABSENT;
    if (is_refusal(answer))
        part->counter_by[i] = BY_NOTHING;
}

void nvml_try_calls(struct gpus *gpus, struct gpu_part *part) {
    unsigned long long number;
    for (size_t i = 0; i < GPU_SLOW_COUNTERS && part->is_nvml && part->handle; i++)
        counters[i].ask(&gpus->nvml, part->handle, &number);
}

void nvml_read_counters(struct gpus *gpus, size_t at, int64_t now_ns) {
    struct gpu_part *part = &gpus->parts[at];
    (void)now_ns;
    if (part->instance >= 0)
        return;
    read_fields(&gpus->nvml, part);
    for (size_t i = 0; i < GPU_SLOW_COUNTERS; i++)
        if (part->counter_by[i] == BY_CALL)
            read_by_call(&gpus->nvml, part, i);
}

/* Takes 3 ms, as the field of the same name does. Joules since the driver was loaded do not fit for
 * a year in units of 1e-9: they begin with the agent. */
void nvml_read_energy(struct gpus *gpus, size_t at, int64_t now_ns) {
    struct gpu_part *part = &gpus->parts[at];
    unsigned long long number = 0;
    if (part->instance >= 0 || part->no_energy)
        return;
    int answer = NVML(&gpus->nvml, ENERGY, part->handle, &number);
    int64_t millijoules = level(part, answer, number, 1);
    part->no_energy = is_refusal(answer);
    part->values[GPU_JOULES] = VALUE_ABSENT;
    if (millijoules == VALUE_ABSENT) {
        part->energy.known = false;
        return;
    }
    if (part->first_energy == VALUE_ABSENT || millijoules < part->first_energy) {
        part->first_energy = millijoules;
        part->energy = (struct gpu_flow){.known = true, .since_ns = now_ns};
    }
    int64_t joules = counter_value((uint64_t)(millijoules - part->first_energy), NANO_PER_MILLI);
    if (now_ns > part->energy.since_ns && joules >= part->energy.sum)
        gpu_flow_grow(&part->energy, joules - part->energy.sum, now_ns);
    part->energy.known = true;
    part->values[GPU_JOULES] = gpu_flow_spread(&part->energy, now_ns);
}

/* Without GPM; seldom, since it takes 20 ms a direction. */
void nvml_read_throughput(struct gpus *gpus, size_t at, int64_t now_ns) {
    static const int columns[] = {
        [NVML_PCIE_SEND] = GPU_PCIE_SEND, [NVML_PCIE_RECEIVE] = GPU_PCIE_RECEIVE};
    struct gpu_part *part = &gpus->parts[at];
    if (part->has_gpm || part->instance >= 0)
        return;
    for (int direction = 0; direction < 2; direction++) {
        unsigned kb_s = 0;
        int answer = NVML(&gpus->nvml, PCIE_THROUGHPUT, part->handle, direction, &kb_s);
        double rate = nvml_good(part, answer) ? kb_s * 1e3 / NS_PER_S : NAN;
        gpu_flow_add(&part->pcie[direction], rate, now_ns);
        part->values[columns[direction]] = gpu_flow_sum(&part->pcie[direction]);
    }
}

/* ---- errors ---- */

static void note_xid(struct gpus *gpus, const struct nvml_event *event) {
    for (size_t i = 0; i < gpus->n_parts; i++) {
        struct gpu_part *part = &gpus->parts[i];
        if (part->handle != event->handle || part->instance >= 0)
            continue;
        part->values[GPU_XIDS] =
            part->values[GPU_XIDS] == VALUE_ABSENT ? 1 : part->values[GPU_XIDS] + 1;
        part->values[GPU_LAST_XID] = counter_value(event->data, 1);
    }
}

void nvml_read_events(struct gpus *gpus) {
    for (int i = 0; gpus->has_events && i < XIDS_AT_ONCE; i++) {
        struct nvml_event event = {0};
        if (NVML(&gpus->nvml, EVENT_WAIT, gpus->events, &event, 0) != NVML_SUCCESS)
            return;
        if (event.type & NVML_EVENT_XID)
            note_xid(gpus, &event);
    }
}
