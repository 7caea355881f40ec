/* SPDX-License-Identifier: MIT */
/* The run as a whole in a few numbers (T3, and the head of T5): sums over hosts, over ranks. */
#ifndef CHOKEPOINT_REPORTS_SUMMARY_H
#define CHOKEPOINT_REPORTS_SUMMARY_H

#include "reports/model/model.h"

struct report_summary {
    double duration_s;
    double job_cpu_pct; /* 100 is one core; may exceed it */
    /* GPUs: means over hosts that have some, sums of both directions and of all GPUs */
    double gpu_busy_pct, gpu_sm_pct, gpu_tensor_pct, gpu_dram_pct, gpu_pcie_mb_s, gpu_watts;
    double gpu_joules_per_example; /* their power over the rate of examples */
    double net_recv_mb_s, net_send_mb_s, disk_read_mb_s, disk_write_mb_s;
    /* Ranks in step count once, other ranks one by one: then a second has as many iterations as
     * updates. */
    size_t iterations;
    double iteration_median_s, iteration_p95_s; /* over all ranks */
    double iterations_per_s;                    /* from the first beginning to the last end */
    double updates_per_s, examples_per_s; /* growth of the marked values from first to last mark */
    double staleness;                     /* mean of the program's marks */
    double parallel_pct, load_balance_pct, communication_pct; /* of the main phase */
};

/* Unknown figures are NAN. */
struct report_summary report_summarize(const struct report *report);

/* Mean over the hosts that know it; NAN if none does. */
double report_mean(const struct report *report, enum metric metric);

/* Sum over hosts of the mean of a metric over the whole run; NAN if it is unknown on all hosts. */
double report_sum(const struct report *report, enum metric metric);

/* The last value of the curve of that name, for its lowest rank; NAN. */
double report_last_value(const struct report *report, const char *name);

#endif
