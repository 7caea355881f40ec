/* SPDX-License-Identifier: MIT */
/* Reads all GPUs of a host, whichever driver they have. */
#include <math.h>
#include <string.h>

#include "agent/probes/gpu/gpu_private.h"
#include "common/clock.h"
#include "common/error.h"

#define UNITS_USUAL_NS                                                                             \
    3.6e6          /* of a card: a dearer reading, as while a program starts, is no rule */
#define SEVERAL 50 /* a dear call is made this much more seldom at most */
#define EARLY_NS (NS_PER_S / 10) /* a turn may come a little early rather than a frame too late */

void gpu_flow_add(struct gpu_flow *flow, double rate, int64_t now_ns) {
    if (!(rate >= 0) || isinf(rate)) {
        flow->since_ns = flow->since_ns ? flow->since_ns : now_ns;
        return;
    }
    flow->before_ns = flow->since_ns;
    flow->before_sum = flow->sum;
    if (flow->since_ns && now_ns > flow->since_ns)
        flow->sum += (int64_t)(rate * (double)(now_ns - flow->since_ns) + .5);
    flow->since_ns = now_ns;
    flow->known = true;
}

void gpu_flow_grow(struct gpu_flow *flow, int64_t amount, int64_t now_ns) {
    flow->before_ns = flow->since_ns;
    flow->before_sum = flow->sum;
    flow->sum += amount;
    flow->since_ns = now_ns;
    flow->known = true;
}

int64_t gpu_flow_spread(const struct gpu_flow *flow, int64_t now_ns) {
    int64_t told = flow->since_ns - flow->before_ns, passed = now_ns - flow->since_ns;
    if (!flow->known || !flow->before_ns || passed >= told)
        return gpu_flow_sum(flow);
    double part = passed > 0 ? (double)passed / (double)told : 0;
    return flow->before_sum + (int64_t)(part * (double)(flow->sum - flow->before_sum));
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

size_t gpus_find(struct gpus *gpus) {
    nvml_find(gpus);
    drm_find(gpus);
    return gpus->n_parts;
}

/* Its calls take most of the CPU time: 3 ms on one card, all others of a reading .13 ms. They tell
 * means of the time between two, so that nothing is lost by asking more seldom.
 */
static bool wants_units(const struct gpus *gpus, int64_t now_ns) {
    return !gpus->units.last_ns || (gpus->units_skipped + 1 >= gpus->units_every &&
                                    now_ns - gpus->units.last_ns >= gpus->units.pause_ns);
}

/* Slow calls answer more seldom than rows are made. */
static void show_slow(struct gpus *gpus, int64_t now_ns) {
    for (size_t i = 0; i < gpus->n_parts; i++) {
        struct gpu_part *part = &gpus->parts[i];
        if (part->energy.known && !part->lost)
            part->values[GPU_JOULES] = gpu_flow_spread(&part->energy, now_ns);
    }
    for (size_t i = 0; i < gpus->n_users; i++)
        gpus->users[i].busy_ns = gpu_flow_spread(&gpus->users[i].busy, now_ns);
}

static void read_fast(struct gpus *gpus, int64_t now_ns) {
    for (size_t i = 0; i < gpus->n_parts; i++) {
        struct gpu_part *part = &gpus->parts[i];
        if (part->is_nvml)
            nvml_read_fast(gpus, part, now_ns);
        else
            drm_read(gpus, part, now_ns);
    }
}

void gpus_read_fast(struct gpus *gpus, int64_t now_ns) {
    int64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    gpus->reads_units = wants_units(gpus, now_ns);
    read_fast(gpus, now_ns);
    show_slow(gpus, now_ns);
    gpus->units_skipped = gpus->reads_units ? 0 : gpus->units_skipped + 1;
    if (!gpus->reads_units)
        return;
    gpus->units.last_ns = now_ns;
    double cpu_ns = (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns);
    double each_ns = fmin(cpu_ns / (double)gpus->n_parts, UNITS_USUAL_NS);
    if (gpus->units_cpu_most > 0)
        gpus->units.pause_ns = (int64_t)(each_ns / gpus->units_cpu_most);
}

/* ---- slow calls ---- */

/* Calls that have a pace of their own; for each card. */
static const struct slow_kind {
    int64_t every_ns;
    void (*begin)(struct gpus *gpus); /* before those for all cards; NULL: nothing */
    void (*read)(struct gpus *gpus, size_t at, int64_t now_ns);
    void (*end)(struct gpus *gpus);
} slow_kinds[] = {
    {NS_PER_S, NULL, nvml_read_counters, nvml_read_events},
    {NS_PER_S, NULL, nvml_read_energy, NULL},
    {NS_PER_S, nvml_list_begin, nvml_list_read, nvml_list_end},
    {NS_PER_S, nvml_shares_begin, nvml_shares_read, NULL},
    {10 * NS_PER_S, NULL, nvml_read_throughput, NULL},
};
static_assert(ARRAY_SIZE(slow_kinds) == GPU_SLOW_KINDS, "each has its turns");

static bool is_due(const struct gpu_turn *turn, int64_t every_ns, int64_t now_ns) {
    int64_t most = SEVERAL * every_ns;
    int64_t pause = turn->pause_ns < every_ns ? every_ns : turn->pause_ns;
    pause = pause > most ? most : pause;
    return !turn->last_ns || now_ns - turn->last_ns >= pause - EARLY_NS;
}

static void read_kind(struct gpus *gpus, const struct slow_kind *kind, int64_t now_ns) {
    if (kind->begin)
        kind->begin(gpus);
    for (size_t i = 0; i < gpus->n_parts; i++)
        if (gpus->parts[i].is_nvml && gpus->parts[i].handle && !gpus->parts[i].lost)
            kind->read(gpus, i, now_ns);
    if (kind->end)
        kind->end(gpus);
}

void gpus_read_slow(struct gpus *gpus, int64_t now_ns) {
    for (size_t i = 0; gpus->has_nvml && i < GPU_SLOW_KINDS; i++) {
        struct gpu_turn *turn = &gpus->turns[i];
        if (!is_due(turn, slow_kinds[i].every_ns, now_ns))
            continue;
        int64_t before_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        read_kind(gpus, &slow_kinds[i], now_ns);
        int64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
        turn->last_ns = now_ns;
        if (gpus->slow_cpu_most > 0)
            turn->pause_ns =
                (int64_t)((double)cpu_ns / (gpus->slow_cpu_most * (double)gpus->n_parts));
    }
}

void gpus_release(struct gpus *gpus) {
    nvml_release(gpus);
}
