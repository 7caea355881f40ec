/* SPDX-License-Identifier: MIT */
#include "reports/model/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/facts/series/stats.h"

/* *ret_n: of how many hosts. */
static double sum_over_hosts(const struct report *report, enum metric metric, size_t *ret_n) {
    double sum = NAN;
    *ret_n = 0;
    for (size_t h = 0; report->n_resources && h < report->n_hosts; h++) {
        double mean = report->resources[0].values[h * METRIC_COUNT_ + (size_t)metric].mean;
        if (isnan(mean))
            continue;
        sum = isnan(sum) ? mean : sum + mean;
        ++*ret_n;
    }
    return sum;
}

double report_sum(const struct report *report, enum metric metric) {
    size_t n;
    return sum_over_hosts(report, metric, &n);
}

double report_mean(const struct report *report, enum metric metric) {
    size_t n;
    double sum = sum_over_hosts(report, metric, &n);
    return sum / (double)n;
}

double report_last_value(const struct report *report, const char *name) {
    for (size_t i = 0; i < report->n_curves; i++)
        if (strcmp(report->curves[i].name, name) == 0 && report->curves[i].n)
            return report->curves[i].value[report->curves[i].n - 1];
    return NAN;
}

/* Growth per second of a counted value, summed over the ranks that mark it; NAN if no rank marked
 * it twice. */
static double growth_per_s(const struct report *report, const char *name) {
    double sum = NAN;
    for (size_t i = 0; i < report->n_curves; i++) {
        const struct report_curve *c = &report->curves[i];
        double time = c->n > 1 ? c->t_s[c->n - 1] - c->t_s[0] : 0;
        if (strcmp(c->name, name) != 0 || !(time > 0))
            continue;
        double rate = (c->value[c->n - 1] - c->value[0]) / time;
        sum = isnan(sum) ? rate : sum + rate;
    }
    return sum;
}

static double mean_value(const struct report *report, const char *name) {
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < report->n_curves; i++)
        for (size_t k = 0; strcmp(report->curves[i].name, name) == 0 && k < report->curves[i].n;
             k++)
            if (!isnan(report->curves[i].value[k])) {
                sum += report->curves[i].value[k];
                n++;
            }
    return n ? sum / (double)n : NAN;
}

static void summarize_efficiency(const struct report *report, struct report_summary *summary) {
    const char *main = report->n_resources ? report->resources[report->main_phase].phase : "";
    summary->parallel_pct = summary->load_balance_pct = summary->communication_pct = NAN;
    for (size_t i = 0; i < report->n_efficiency; i++)
        if (strcmp(report->efficiency[i].phase, main) == 0) {
            summary->parallel_pct = report->efficiency[i].parallel_pct;
            summary->load_balance_pct = report->efficiency[i].load_balance_pct;
            summary->communication_pct = report->efficiency[i].communication_pct;
        }
}

static void summarize_iterations(const struct report *report, struct report_summary *summary) {
    size_t n = 0;
    double begin = INFINITY, end = -INFINITY;
    for (size_t r = 0; r < report->n_ranks; r++)
        n += report->ranks[r].n;
    double *all = malloc((n + 1) * sizeof *all);
    n = 0;
    for (size_t r = 0; all && r < report->n_ranks; r++) {
        const struct report_rank *rank = &report->ranks[r];
        memcpy(all + n, rank->duration_s, rank->n * sizeof *all);
        n += rank->n;
        if (rank->n) {
            begin = fmin(begin, rank->end_s[0] - rank->duration_s[0]);
            end = fmax(end, rank->end_s[rank->n - 1]);
        }
    }
    summary->iterations = report->ranks_in_step && report->n_ranks ? report->ranks[0].n : n;
    summary->iteration_median_s = stats_median(all, n);
    summary->iteration_p95_s = stats_quantile(all, n, 0.95);
    summary->iterations_per_s =
        n && end > begin ? (double)summary->iterations / (end - begin) : NAN;
    free(all);
}

static void summarize_gpus(const struct report *report, struct report_summary *summary) {
    summary->gpu_busy_pct = report_mean(report, METRIC_GPU_BUSY);
    summary->gpu_sm_pct = report_mean(report, METRIC_GPU_SM);
    summary->gpu_tensor_pct = report_mean(report, METRIC_GPU_TENSOR);
    summary->gpu_dram_pct = report_mean(report, METRIC_GPU_DRAM);
    summary->gpu_pcie_mb_s =
        report_sum(report, METRIC_GPU_TO) + report_sum(report, METRIC_GPU_FROM);
    summary->gpu_watts = report_sum(report, METRIC_GPU_WATTS);
    summary->gpu_joules_per_example =
        summary->examples_per_s > 0 ? summary->gpu_watts / summary->examples_per_s : NAN;
}

struct report_summary report_summarize(const struct report *report) {
    double trained = growth_per_s(report, "examples trained");
    struct report_summary summary = {
        .duration_s = report->duration_s,
        .updates_per_s = growth_per_s(report, "updates"),
        .examples_per_s = isnan(trained) ? growth_per_s(report, "examples") : trained,
        .staleness = mean_value(report, "staleness"),
        .job_cpu_pct = report_sum(report, METRIC_JOB_CPU),
        .net_recv_mb_s = report_sum(report, METRIC_NET_RECV),
        .net_send_mb_s = report_sum(report, METRIC_NET_SEND),
        .disk_read_mb_s = report_sum(report, METRIC_DISK_READ),
        .disk_write_mb_s = report_sum(report, METRIC_DISK_WRITE),
    };
    summarize_gpus(report, &summary);
    summarize_iterations(report, &summary);
    summarize_efficiency(report, &summary);
    return summary;
}
