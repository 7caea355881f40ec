/* SPDX-License-Identifier: MIT */
/* Building a report: read, analyse, fill. Afterwards nothing of the database is held. */
#include "reports/model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/model_private.h"

static const char *state_name(enum run_state state) {
    static const char *const names[] = {"unfinished", "done",        "failed",
                                        "killed",     "interrupted", "not-started"};
    return names[state];
}

static int fill_comments(struct report *report, const struct report_input *input) {
    report->comments = calloc(input->n_comments + 1, sizeof *report->comments);
    if (!report->comments)
        return -ENOMEM;
    for (size_t i = 0; i < input->n_comments; i++) {
        report->comments[i] = strdup(input->comments[i].text);
        if (!report->comments[i])
            return -ENOMEM;
        report->n_comments++;
    }
    return 0;
}

static int fill_hosts(struct report *report, const struct report_input *input) {
    report->hosts = calloc(input->n_hosts + 1, sizeof *report->hosts);
    if (!report->hosts)
        return -ENOMEM;
    for (size_t i = 0; i < input->n_hosts; i++) {
        report->hosts[i].name = strdup(input->hosts[i].name);
        if (!report->hosts[i].name)
            return -ENOMEM;
        report->n_hosts++;
    }
    return 0;
}

int report_fill_head(struct report *report, const struct report_input *input) {
    report->run_id = input->run.id;
    report->run_name = strdup(input->run.name ? input->run.name : "");
    report->command = strdup(input->run.command ? input->run.command : "");
    report->state = strdup(state_name(input->run.state));
    report->exit_status = input->run.exit_status;
    report->started_wall_ns = input->run.started_wall_ns;
    report->duration_s = (double)input->run.duration_ns / 1e9;
    report->period_s = (double)input->run.period_ns / 1e9;
    if (!report->run_name || !report->command || !report->state)
        return -ENOMEM;
    int result = fill_comments(report, input);
    return result ? result : fill_hosts(report, input);
}

static int judge(struct report *report, const struct report_input *input,
                 const struct run_model *model) {
    struct judgement judgement;
    int result = judgement_make(model, &judgement);
    if (result < 0)
        return result;
    result = report_fill_efficiency(report, &judgement);
    if (result == 0)
        result = report_fill_alerts(report, model);
    if (result == 0)
        result = report_fill_findings(report, &judgement);
    if (result == 0)
        result = report_fill_quality(report, input, &judgement);
    judgement_release(&judgement);
    return result;
}

/* Processes and ranks: one source of their bytes. */
static int fill_users(struct report *report, const struct run_model *model) {
    struct process_traffic traffic;
    int result = process_traffic_make(model->recording, &traffic);
    if (result < 0)
        return result;
    result = report_fill_processes(report, model, &traffic);
    if (result == 0)
        result = report_fill_roles(report, model, &traffic);
    process_traffic_release(&traffic);
    return result;
}

static int fill(struct report *report, struct report_input *input, struct run_model *model) {
    int result = report_fill_ceilings(report, input);
    if (result == 0)
        result = report_fill_measures(report, model);
    if (result == 0)
        result = report_fill_plots(report, model);
    if (result == 0)
        result = report_fill_allowances(report, model);
    if (result == 0)
        result = report_fill_routes(report, model);
    if (result == 0)
        result = report_fill_connections(report, model);
    if (result == 0)
        result = report_fill_operators(report, model);
    if (result == 0)
        result = fill_users(report, model);
    if (result == 0)
        result = report_fill_storage(report, model);
    if (result == 0)
        result = report_fill_budget(report, model);
    if (result == 0)
        result = report_fill_critical(report, model);
    if (result == 0)
        result = report_fill_waits(report, model);
    if (result == 0)
        result = judge(report, input, model);
    return result;
}

/* The parts that are measured, none that is judged. */
static int fill_measured(struct report *report, struct report_input *input,
                         struct run_model *model) {
    (void)input;
    int result = report_fill_measures(report, model);
    return result < 0 ? result : report_fill_plots(report, model);
}

static int fill_alerts(struct report *report, struct report_input *input, struct run_model *model) {
    (void)input;
    return report_fill_alerts(report, model);
}

typedef int fill_parts(struct report *report, struct report_input *input, struct run_model *model);

static int fill_from(struct report *report, struct report_input *input, fill_parts *parts) {
    struct run_model model;
    int result = report_fill_head(report, input);
    if (result == 0)
        result = model_build(&input->recording, &model);
    if (result < 0)
        return result;
    result = parts(report, input, &model);
    model_release(&model);
    return result;
}

static int finish(struct report_input *input, fill_parts *parts, struct report **ret_report) {
    struct report *report = calloc(1, sizeof *report);
    int result = report ? fill_from(report, input, parts) : -ENOMEM;
    report_input_release(input);
    if (result < 0) {
        report_free(report);
        return result;
    }
    *ret_report = report;
    return 0;
}

int report_build(struct store *store, const char *which, struct report **ret_report) {
    struct report_input input;
    int result = report_load(store, which, REPORT_CALLS, &input);
    return result < 0 ? result : finish(&input, fill, ret_report);
}

int report_build_measured(struct store *store, const char *which, struct report **ret_report) {
    struct report_input input;
    int result = report_load(store, which, REPORT_CALLS_UNMARKED, &input);
    return result < 0 ? result : finish(&input, fill_measured, ret_report);
}

int report_build_alerts(struct store *store, const char *which, struct report **ret_report) {
    struct report_input input;
    int result = report_load(store, which, REPORT_NO_CALLS, &input);
    return result < 0 ? result : finish(&input, fill_alerts, ret_report);
}
