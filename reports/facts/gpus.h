/* SPDX-License-Identifier: MIT */
/* The use of each GPU of a run, on average. */
#ifndef CHOKEPOINT_REPORTS_FACTS_GPUS_H
#define CHOKEPOINT_REPORTS_FACTS_GPUS_H

#include "analysis/run_model.h"

#define GPU_MODEL_MAX 48

/* NAN: this GPU or its driver does not tell. */
struct report_gpu {
    int host;
    const char *name;          /* "gpu0", "gpu0/mig1"; the recording's */
    char model[GPU_MODEL_MAX]; /* "NVIDIA H200"; "": not told */
    double busy_pct, sm_pct;   /* any work on it; multiprocessors at work */
    double tensor_pct, dram_pct;
    double to_mb_s, from_mb_s; /* over PCIe */
    double memory_gb, peak_gb; /* what it has, and the most that was used */
    double watts, watts_limit;
    double joules; /* by its power at each sample: its own counter is read seldom */
    double power_cap_pct, heat_cap_pct; /* of the time */
    int xids;                           /* errors that its driver reported; -1: not told */
};

struct gpus {
    struct report_gpu *items; /* by host and name; for the caller to free */
    size_t n;
};

/* Summarizes the whole run. -ENOMEM. */
int gpus_summarize(const struct run_model *model, struct gpus *ret_gpus);

/* The model's name in the name of a row of table gpu_device, such as "gpu0 NVIDIA H200 GPU-1a2b
 * driver 580.1" or "card1 xe 8086:56a0". */
void gpu_model_name(const char *row, char model[GPU_MODEL_MAX]);

#endif
