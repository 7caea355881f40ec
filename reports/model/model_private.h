/* SPDX-License-Identifier: MIT */
/* The steps in which report_build makes a report; each fills its own part. All return -ENOMEM. */
#ifndef CHOKEPOINT_REPORTS_MODEL_PRIVATE_H
#define CHOKEPOINT_REPORTS_MODEL_PRIVATE_H

#include "analysis/evidence/run_model.h"
#include "analysis/facts/recording/recording.h"
#include "analysis/rules/rules.h"
#include "analysis/verdict/straggler.h"
#include "collector/store_read.h"
#include "reports/model/model.h"

/* Everything a report is made from. */
struct report_input {
    struct store_run run;
    struct store_host *hosts;
    size_t n_hosts;
    struct store_note *notes;
    size_t n_notes;
    struct recording recording; /* host i is hosts[i] */
    struct store_ceiling *ceilings;
    size_t n_ceilings;
};

/* The index of a host by its id in the store, -1 if there is none. */
int report_host_index(const struct report_input *input, int64_t id);
int report_load_calls(struct store *store, struct report_input *input);
/* Ceilings of the hosts of the run, from the store into the input and its recording. */
int report_load_ceilings(struct store *store, struct report_input *input);

/* Which single MPI calls are read: there may be too many to be held for nothing. */
enum report_calls {
    REPORT_CALLS,
    REPORT_CALLS_UNMARKED, /* where the program marked no iterations, which are then found in the
                            * calls: so that what is measured is the same whether a run is judged as
                            * well or not */
    REPORT_NO_CALLS,
};
int report_load(struct store *store, const char *which, enum report_calls calls,
                struct report_input *ret_input);
void report_input_release(struct report_input *input);

int report_fill_head(struct report *report, const struct report_input *input);
/* Takes the input's ceilings over. */
int report_fill_ceilings(struct report *report, struct report_input *input);
int report_fill_measures(struct report *report, const struct run_model *model);
int report_fill_plots(struct report *report, const struct run_model *model);
int report_fill_routes(struct report *report, const struct run_model *model);
int report_fill_alerts(struct report *report, const struct run_model *model);
int report_fill_operators(struct report *report, const struct run_model *model); /* after plots */
int report_fill_processes(struct report *report, const struct run_model *model);
int report_fill_budget(struct report *report, const struct run_model *model);
int report_fill_critical(struct report *report, const struct run_model *model);
int report_fill_efficiency(struct report *report, const struct run_model *model);
int report_fill_findings(struct report *report, const struct run_model *model,
                         struct candidates *candidates, const struct stragglers *stragglers);
/* Last: looks at all the others. */
int report_fill_quality(struct report *report, const struct report_input *input,
                        const struct run_model *model, const struct stragglers *stragglers);

/* A note of a run that did not end well; part of the quality. */
int report_note_end(struct report *report);

/* Appends a note of quality. */
int report_add_note(struct report *report, char *owned_text);

#endif
