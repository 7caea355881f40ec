/* SPDX-License-Identifier: MIT */
/* A GPU on the first of three hosts, with the figures that it tells all the time, and what is on
 * it. Include it after cmocka.h.
 */
#ifndef CHOKEPOINT_TESTS_GPU_ROWS_H
#define CHOKEPOINT_TESTS_GPU_ROWS_H

#include "tests/unit/awaited_plant.h"

#define GPU_LEVELS                                                                                 \
    (1u << GPU_MEMORY_USED | 1u << GPU_SM_CLOCK | 1u << GPU_WATTS | 1u << GPU_CLOCK_REASONS |      \
     1u << GPU_LAST_XID | 1u << GPU_LOST)
#define GPU_PCIE_5_X16 63e9 /* bytes a second, each way */

struct card {
    double busy, sm, tensor, fp32, dram; /* shares of time */
    double to, from;                     /* bytes a second over PCIe */
    double clock, power_cap, heat_cap;   /* of its highest; shares of time */
    double watts, memory;                /* of 700 W; of 100 GB */
    double lost_s, xid;                  /* from then on; 0: never */
    double before_s;                     /* until then it does nothing */
    bool has_no_units;                   /* it tells busy alone */
    bool reads_seldom;                   /* units are read at each fifth sample */
};
static struct card card_now;
static int64_t user_now;

/* Growth of counters of units, since they were read. */
static inline double read_at(double t_s) {
    return !card_now.reads_seldom ? 1 : lround((t_s + .55) * 10) % 5 == 0 ? 5 : 0;
}

static inline double card_row(size_t column, double t_s) {
    const struct card *c = &card_now;
    double at_work = (t_s >= c->before_s) * read_at(t_s), told = c->has_no_units ? NAN : at_work;
    switch (column) {
    case GPU_BUSY:
        return at_work * c->busy * 1e9;
    case GPU_SM:
        return told * c->sm * 1e9;
    case GPU_TENSOR:
        return told * c->tensor * 1e9;
    case GPU_FP32:
        return told * c->fp32 * 1e9;
    case GPU_DRAM:
        return told * c->dram * 1e9;
    case GPU_PCIE_RECEIVE:
        return told * (c->to + 2e6);
    case GPU_PCIE_SEND:
        return told * c->from;
    case GPU_MEMORY_USED:
        return c->memory * 100e9;
    case GPU_SM_CLOCK:
        return (c->clock > 0 ? c->clock : 1) * 2e9;
    case GPU_WATTS:
        return (c->watts > 0 ? c->watts : .5) * 700e9;
    case GPU_POWER_CAP:
        return c->power_cap * 1e9;
    case GPU_HEAT_CAP:
        return c->heat_cap * 1e9;
    case GPU_LAST_XID:
        return c->xid > 0 ? c->xid : NAN;
    case GPU_LOST:
        return c->lost_s > 0 && t_s >= c->lost_s;
    case GPU_CLOCK_REASONS:
        return 0;
    default:
        return column < GPU_FP16 || column == GPU_XIDS ? 0 : NAN;
    }
}

static inline double device_row(size_t column, double t_s) {
    (void)t_s;
    switch (column) {
    case GPU_DEVICE_MEMORY:
        return 100e9;
    case GPU_DEVICE_WATTS_LIMIT:
        return 700e9;
    case GPU_DEVICE_SM_CLOCK:
        return 2e9;
    case GPU_DEVICE_PCIE_GENERATION:
        return 5;
    case GPU_DEVICE_PCIE_LANES:
        return 16;
    default:
        return NAN;
    }
}

static inline double user_row(size_t column, double t_s) {
    (void)t_s;
    return column == GPU_PROCESS_PID ? (double)user_now : column == GPU_PROCESS_JOB;
}

/* The process is on the GPU. */
static inline void add_user(int64_t pid) {
    char name[32];
    snprintf(name, sizeof name, "gpu0 p[%d]", (int)pid);
    user_now = pid;
    plant(&recording, RECORDING_GPU_PROCESS, 0, name, 0.1, ~0u, user_row);
}

static inline void add_card(struct card card) {
    card_now = card;
    plant(&recording, RECORDING_GPU, 0, "gpu0", 0.1, GPU_LEVELS, card_row);
    plant(&recording, RECORDING_GPU_DEVICE, 0, "gpu0 a card", 1, ~0u, device_row);
}

/* Four cores, one of them busy. */
static inline double one_of_four(size_t column, double t_s) {
    (void)t_s;
    return column == CPU_USER ? .25e9 : column == CPU_IDLE ? .75e9 : 0;
}

/* A process of the job, pid 1, with the card. */
static inline void begin_with_card(struct process p, struct card card) {
    p.pid = 1;
    begin();
    add_process(&recording, p);
    for (int host = 0; host < 3; host++)
        for (int core = 0; core < 4; core++) {
            char name[] = "cpu0";
            name[3] = (char)('0' + core);
            plant(&recording, RECORDING_CPU, host, name, 0.1, 0, one_of_four);
        }
    add_user(1);
    add_card(card);
}

static inline void judge_with_card(struct process p, struct card card) {
    begin_with_card(p, card);
    judge();
}

#endif
