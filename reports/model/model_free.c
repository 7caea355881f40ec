/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "reports/model/model.h"
#include "reports/model/reported.h"

static void texts_free(char **texts, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
}

static void series_release(struct report_series *series) {
    free(series->label);
    free(series->t_s);
    free(series->value);
}

static void host_series_release(struct report_host_series *host) {
    for (size_t m = 0; m < METRIC_COUNT_; m++)
        series_release(&host->metrics[m]);
    for (size_t a = 0; a < ALLOWANCES; a++)
        series_release(&host->allowances[a]);
    for (size_t c = 0; c < host->n_cores; c++)
        series_release(&host->cores[c]);
    free(host->cores);
    for (size_t g = 0; g < host->n_gpus; g++)
        series_release(&host->gpus[g]);
    free(host->gpus);
}

static void verdict_free(struct report_verdict *verdict) {
    free(verdict->resource);
    free(verdict->cause);
    free(verdict->culprit);
    free(verdict->summary);
    free(verdict->limit);
    free(verdict->worth);
    free(verdict->cost);
    texts_free(verdict->evidence, verdict->n_evidence);
    texts_free(verdict->against, verdict->n_against);
    texts_free(verdict->ruled_out, verdict->n_ruled_out);
    texts_free(verdict->next, verdict->n_next);
}

/* Frees an owned text of each of n items, then the items. */
#define FREE_ITEMS(items, n, member)                                                               \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < (n); i_++)                                                        \
            free((items)[i_].member);                                                              \
        free(items);                                                                               \
    } while (0)

static void measures_free(struct report *report) {
    for (size_t h = 0; report->series && h < report->n_hosts; h++)
        host_series_release(&report->series[h]);
    free(report->series);
    for (size_t i = 0; i < report->n_routes; i++)
        series_release(&report->routes[i].series);
    free(report->routes);
    for (size_t i = 0; i < report->n_resources; i++)
        free(report->resources[i].phase);
    FREE_ITEMS(report->resources, report->n_resources, values);
    for (size_t i = 0; i < report->n_ranks; i++) {
        free(report->ranks[i].role);
        free(report->ranks[i].end_s);
    }
    FREE_ITEMS(report->ranks, report->n_ranks, duration_s);
    FREE_ITEMS(report->roles, report->n_roles, role);
    for (size_t i = 0; i < report->n_curves; i++) {
        free(report->curves[i].name);
        free(report->curves[i].t_s);
        free(report->curves[i].iteration);
    }
    FREE_ITEMS(report->curves, report->n_curves, value);
    for (size_t i = 0; i < report->n_operators; i++)
        free(report->operators[i].role);
    FREE_ITEMS(report->operators, report->n_operators, name);
    FREE_ITEMS(report->timeline.bars, report->timeline.n_bars, name);
}

static void findings_free(struct report *report) {
    verdict_free(&report->verdict);
    FREE_ITEMS(report->budget, report->n_budget, phase);
    FREE_ITEMS(report->efficiency, report->n_efficiency, phase);
    free(report->path_s);
    free(report->metric_ceilings);
}

void reported_free(struct reported *run) {
    if (!run)
        return;
    judgement_release(&run->judgement);
    model_release(&run->model);
    report_input_release(&run->input);
    free(run);
}

void report_free(struct report *report) {
    if (!report)
        return;
    reported_free(report->run);
    free(report->run_name);
    free(report->command);
    free(report->state);
    measures_free(report);
    findings_free(report);
    FREE_ITEMS(report->phases, report->n_phases, name);
    FREE_ITEMS(report->hosts, report->n_hosts, name);
    texts_free(report->quality.notes, report->quality.n_notes);
    free(report);
}
