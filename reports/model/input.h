/* SPDX-License-Identifier: MIT */
/* A run as read from the store: the input of reports and exports. */
#ifndef CHOKEPOINT_REPORTS_MODEL_INPUT_H
#define CHOKEPOINT_REPORTS_MODEL_INPUT_H

#include "analysis/facts/recording/recording.h"
#include "collector/store_budget_read.h"
#include "collector/store_edit.h"
#include "collector/store_read.h"

/* Everything a report is made from. */
struct report_input {
    struct store_run run;
    struct store_host *hosts;
    size_t n_hosts;
    struct store_note *notes;
    size_t n_notes;
    struct store_comment *comments;
    size_t n_comments;
    struct recording recording; /* host i is hosts[i] */
    struct store_ceiling *ceilings;
    size_t n_ceilings;
    int64_t command_cpu_ns; /* CPU time of the command and all it waited for; VALUE_ABSENT */
    struct store_budget_sum *budgets; /* as they were stored; read with the calls */
    size_t n_budgets;
    char *unknown; /* owned: names columns that this version does not know; NULL: there are none */
};

/* The index of a host by its id in the store; -1: there is none. */
int report_host_index(const struct report_input *input, int64_t id);
/* The index of a host by its name, which may be NULL; -1: there is none. */
int report_host_named(const struct report_input *input, const char *name);
/* Finds columns of the run that this version does not know. */
int report_load_unknown(struct store *store, struct report_input *input);
int report_load_calls(struct store *store, struct report_input *input);
/* Reads ceilings of the run's hosts from the store into the input and its recording. */
int report_load_ceilings(struct store *store, struct report_input *input);

/* Which single MPI calls are read, since there may be too many to hold without need. Only
 * REPORT_SECONDS changes how other tables are read. */
enum report_calls {
    REPORT_CALLS,
    REPORT_CALLS_UNMARKED, /* if no iterations are marked: they are then found in calls, so that
                            * measured figures are the same with and without a verdict */
    REPORT_NO_CALLS,
    REPORT_SECONDS, /* no calls, and other rows joined to seconds: takes a fraction of the time */
};
/* Sets the judge of all runs that this process loads from now on, for ablations; borrowed. NULL,
 * and the default: the usual judge. */
void report_judge_by(const struct judge *judge);
const struct judge *report_judge(void);
int report_load(struct store *store, const char *which, enum report_calls calls,
                struct report_input *ret_input);
void report_input_release(struct report_input *input);

#endif
