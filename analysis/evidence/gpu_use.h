/* SPDX-License-Identifier: MIT */
/*
 * A GPU while the process of the job that gives it work waited for it, or computed. Both figures
 * come from counters of the same intervals: a mean over the whole run would mix the two.
 */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_GPU_USE_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_GPU_USE_H

#include "analysis/run_model.h"

enum gpu_figure {
    GPU_FIGURE_BUSY, /* shares of time, 0..1 */
    GPU_FIGURE_SM,
    GPU_FIGURE_TENSOR,
    GPU_FIGURE_FP16,
    GPU_FIGURE_FP32,
    GPU_FIGURE_FP64,
    GPU_FIGURE_DRAM,
    GPU_FIGURE_POWER_CAP,
    GPU_FIGURE_HEAT_CAP,
    GPU_FIGURE_PCIE_TO, /* bytes a second */
    GPU_FIGURE_PCIE_FROM,
    GPU_FIGURE_NVLINK_TO,
    GPU_FIGURE_NVLINK_FROM,
    GPU_FIGURE_CLOCK, /* Hz */
    GPU_FIGURE_WATTS,
    GPU_FIGURES
};

/* Means of the figures, weighted by the time that the process spent in some state; NAN: not told.
 */
struct gpu_while {
    double seconds; /* in that state */
    double mean[GPU_FIGURES];
};

struct gpu_use {
    size_t who;                  /* index of the budgets: the process that uses it most */
    const struct series *gpu;    /* of table gpu */
    const struct series *device; /* of table gpu_device; NULL: not told */
    struct window span;          /* from its first use in the group to its last */
    double span_part;            /* of the process's CPU time in the group: what lies in the span */
    double system_part;          /* of its CPU time in the span: what the kernel did for it */
    double memory;               /* bytes, the most that was in use in the span; NAN: not told */
    struct gpu_while all, computing, waiting, copying; /* of the span */
};

/* The process of the job on the host that uses a GPU most, with its GPU. False: none is known, or
 * the GPU did nothing.
 */
bool gpu_use_find(const struct run_model *model, size_t group, int host, struct gpu_use *ret_use);

/* Means by time of a GPU, which is a series of table gpu, for all its users. */
struct gpu_while gpu_means(const struct run_model *model, const struct series *gpu,
                           struct window span);

/* Its row of table gpu_device; NULL: not told. */
const struct series *gpu_device_of(const struct run_model *model, const struct series *gpu);

/* As gpu_use_find(), for the process with that budget. */
bool gpu_use_by(const struct run_model *model, size_t group, size_t who, struct gpu_use *ret_use);

/* A fact of the GPU (a column of table gpu_device); NAN: not told. */
double gpu_fact(const struct run_model *model, const struct gpu_use *use, size_t column);

/* Its link over PCIe, and its NVLinks: the most that each can carry one way, bytes a second; NAN:
 * not told. */
double gpu_pcie_ceiling(const struct run_model *model, const struct gpu_use *use);
double gpu_nvlink_ceiling(const struct run_model *model, const struct gpu_use *use);

/* The unit of which most was in use, GPU_FIGURE_TENSOR to GPU_FIGURE_DRAM; GPU_FIGURES: none is
 * told.
 */
enum gpu_figure gpu_fullest_unit(const struct gpu_while *during);

/* Whether the budget is of a process that a driver lists on a GPU, or that waited for one. */
bool gpu_is_used_by(const struct run_model *model, size_t group, size_t who);

/* The busiest process outside the job on that GPU, and the cores that it used; NULL: none. */
const struct model_process *gpu_other_user(const struct run_model *model, const struct gpu_use *use,
                                           double *ret_cores);

#endif
