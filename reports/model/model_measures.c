/* SPDX-License-Identifier: MIT */
/* Phases and the resource tables: means, 95th percentiles and peaks by host, phase, metric. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/model_private.h"

static int fill_phases(struct report *report, const struct run_model *model) {
    report->phases = calloc(model->n_phases + 1, sizeof *report->phases);
    if (!report->phases)
        return -ENOMEM;
    for (size_t i = 0; i < model->n_phases; i++) {
        const struct phase *phase = &model->phases[i];
        report->phases[i] =
            (struct report_phase){.name = strdup(phase->name),
                                  .start_s = (double)phase->begin_ns / 1e9,
                                  .end_s = (double)phase->end_ns / 1e9,
                                  .source = model->phases_detected ? "detected" : "marker"};
        report->n_phases++;
        if (!report->phases[i].name)
            return -ENOMEM;
    }
    return 0;
}

/* At least half of the host's known time: a mean of less would speak for unknown time. */
static bool covers(const struct model_host *host, const struct rate *rate, struct windows windows) {
    return 2 * rate_covered(rate, windows) >=
           rate_covered(&host->metrics[METRIC_CPU_IDLE], windows);
}

/* Use by processes is read a little after the time of its sample, and later if the agent waits for
 * a core: so a single sample may exceed the host's cores. */
static double most_possible(const struct model_host *host, enum metric metric) {
    if (metric_is_of_gpu(metric) && strcmp(metric_unit(metric), "%") == 0)
        return 100;
    return (metric == METRIC_JOB_CPU || metric == METRIC_CPU_CORE_MAX) && host->n_cpus
               ? 100.0 * (metric == METRIC_JOB_CPU ? host->n_cpus : 1)
               : INFINITY;
}

static struct report_value measure(const struct model_host *host, enum metric metric,
                                   struct windows windows) {
    const struct rate *rate = &host->metrics[metric];
    double most = most_possible(host, metric);
    if (!covers(host, rate, windows))
        return (struct report_value){NAN, NAN, NAN};
    double p95 = rate_quantile(rate, windows, 0.95), peak = rate_peak(rate, windows);
    return (struct report_value){.mean = rate_mean(rate, windows),
                                 .p95 = p95 > most ? most : p95,
                                 .peak = peak > most ? most : peak};
}

/* A group without a length (a run of no duration) has no values. */
static int fill_group_resources(struct report_resources *resources, const struct run_model *model,
                                const struct phase_group *group, const char *name) {
    struct windows windows = phase_windows(group);
    resources->phase = strdup(name);
    resources->duration_s = (double)windows_length(windows) / 1e9;
    resources->values = calloc(model->n_hosts * METRIC_COUNT_ + 1, sizeof *resources->values);
    if (!resources->phase || !resources->values)
        return -ENOMEM;
    for (size_t h = 0; h < model->n_hosts; h++)
        for (int m = 0; m < METRIC_COUNT_; m++)
            resources->values[h * METRIC_COUNT_ + (size_t)m] =
                measure(&model->hosts[h], m, windows);
    return 0;
}

int report_fill_measures(struct report *report, const struct run_model *model) {
    int result = fill_phases(report, model);
    if (result < 0)
        return result;
    report->resources = calloc(model->n_groups, sizeof *report->resources);
    if (!report->resources)
        return -ENOMEM;
    for (size_t g = 0; result == 0 && g < model->n_groups; g++) {
        const char *name = model->groups[g].name;
        /* a program's own phase "all" must not pass for the whole run */
        bool confusing = g > 0 && strcmp(name, "all") == 0;
        report->n_resources++;
        result = fill_group_resources(&report->resources[g], model, &model->groups[g],
                                      confusing ? "all (phase)" : name);
    }
    return result;
}
