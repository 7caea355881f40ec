/* SPDX-License-Identifier: MIT */
/* Building a report: read, analyse, fill. */
#include "reports/model/model.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/model/model_private.h"

static const char *state_name(enum run_state state) {
    static const char *const names[] = {"unfinished", "done",        "failed",
                                        "killed",     "interrupted", "not-started"};
    return names[state];
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
    return fill_hosts(report, input);
}

/* ---- reading, judging ---- */

void report_let_go(struct report *report) {
    struct reported *run = report->run;
    judgement_release(&run->judgement);
    model_release(&run->model);
    recording_release(&run->input.recording);
}

/* The parts of a report that are computed. */
struct depth {
    enum report_calls calls;
    bool judged;
};

static int judge(struct reported *run, struct depth depth) {
    int result = model_build(&run->input.recording, &run->model);
    return result < 0 || !depth.judged ? result : judgement_make(&run->model, &run->judgement);
}

static int reported_read(struct store *store, const char *which, struct depth depth,
                         struct reported **ret_run) {
    struct reported *run = calloc(1, sizeof *run);
    int result = run ? report_load(store, which, depth.calls, &run->input) : -ENOMEM;
    if (result < 0) {
        free(run);
        return result;
    }
    result = judge(run, depth);
    if (result < 0)
        reported_free(run);
    else
        *ret_run = run;
    return result;
}

static const struct depth whole = {REPORT_CALLS, true};

int report_read_again(struct store *store, struct report *report) {
    struct reported *run;
    char which[32];
    snprintf(which, sizeof which, "%lld", (long long)report->run_id);
    int result = reported_read(store, which, whole, &run);
    if (result < 0)
        return result;
    reported_free(report->run);
    report->run = run;
    return 0;
}

/* ---- filling ---- */

static int fill_roles(struct report *report, const struct run_model *model) {
    struct process_traffic traffic;
    int result = process_traffic_make(model->recording, &traffic);
    if (result < 0)
        return result;
    result = report_fill_roles(report, model, &traffic);
    process_traffic_release(&traffic);
    return result;
}

static int fill_report(struct report *report, const struct reported *run) {
    const struct run_model *model = &run->model;
    int result = report_fill_ceilings(report, &run->input);
    if (result == 0)
        result = report_fill_measures(report, model);
    if (result == 0)
        result = report_fill_plots(report, model);
    if (result == 0)
        result = report_fill_allowances(report, model);
    if (result == 0)
        result = report_fill_routes(report, model);
    if (result == 0)
        result = report_fill_operators(report, model);
    if (result == 0)
        result = fill_roles(report, model);
    if (result == 0)
        result = report_fill_budget(report, model);
    if (result == 0)
        result = report_fill_efficiency(report, &run->judgement);
    if (result == 0)
        result = report_fill_findings(report, &run->judgement);
    return result < 0 ? result : report_fill_quality(report, &run->input, &run->judgement);
}

/* Fills the measured parts and leaves out the judged ones. */
static int fill_measured(struct report *report, const struct reported *run) {
    int result = report_fill_measures(report, &run->model);
    return result < 0 ? result : report_fill_plots(report, &run->model);
}

/* Fills the head only: the alert log is made of the run model when it is written. */
static int fill_nothing(struct report *report, const struct reported *run) {
    (void)report, (void)run;
    return 0;
}

static const struct caller nobody; /* for reports without commands */

typedef int fill_parts(struct report *report, const struct reported *run);

static int build(struct store *store, const char *which, struct depth depth, fill_parts *parts,
                 const struct caller *caller, struct report **ret_report) {
    struct report *report = calloc(1, sizeof *report);
    int result = report ? reported_read(store, which, depth, &report->run) : -ENOMEM;
    if (result == 0)
        result = report_fill_head(report, &report->run->input);
    if (result == 0)
        report->caller = (struct caller){caller->program, caller->database, report->run_id};
    if (result == 0)
        result = parts(report, report->run);
    if (result < 0)
        report_free(report);
    else
        *ret_report = report;
    return result;
}

int report_build(struct store *store, const char *which, const struct caller *caller,
                 struct report **ret_report) {
    return build(store, which, whole, fill_report, caller, ret_report);
}

#define EARLY_WHOLE_NS (INT64_C(120) * 1000000000) /* a longer run is read in steps of a second */

int report_build_early(struct store *store, const char *which, const struct caller *caller,
                       struct report **ret_report) {
    struct store_run run;
    int result = store_find_run(store, which, &run);
    if (result < 0)
        return result;
    bool at_once = run.duration_ns <= EARLY_WHOLE_NS;
    store_run_release(&run);
    return build(store, which, (struct depth){at_once ? REPORT_NO_CALLS : REPORT_SECONDS, true},
                 fill_report, caller, ret_report);
}

int report_build_measured(struct store *store, const char *which, struct report **ret_report) {
    return build(store, which, (struct depth){REPORT_CALLS_UNMARKED, false}, fill_measured, &nobody,
                 ret_report);
}

int report_build_alerts(struct store *store, const char *which, struct report **ret_report) {
    return build(store, which, (struct depth){REPORT_NO_CALLS, false}, fill_nothing, &nobody,
                 ret_report);
}
