/* SPDX-License-Identifier: MIT */
/* A run read from the store: what reports and exports are made from. */
#ifndef CHOKEPOINT_REPORTS_MODEL_INPUT_H
#define CHOKEPOINT_REPORTS_MODEL_INPUT_H

#include "analysis/facts/recording/recording.h"
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
    char *unknown; /* owned: says which columns this version does not know; NULL: it knows all */
};

/* The index of a host by its id in the store, -1 if there is none. */
int report_host_index(const struct report_input *input, int64_t id);
/* The same by its name, which may be NULL. */
int report_host_named(const struct report_input *input, const char *name);
/* Notes which columns of the run this version does not know. */
int report_load_unknown(struct store *store, struct report_input *input);
int report_load_calls(struct store *store, struct report_input *input);
/* Ceilings of the hosts of the run, from the store into the input and its recording. */
int report_load_ceilings(struct store *store, struct report_input *input);

/* Which single MPI calls are read: there may be too many to be held for nothing. Only the last one
 * reads other tables differently. */
enum report_calls {
    REPORT_CALLS,
    REPORT_CALLS_UNMARKED, /* where the program marked no iterations, which are then found in the
                            * calls: so that what is measured is the same whether a run is judged as
                            * well or not */
    REPORT_NO_CALLS,
    REPORT_SECONDS, /* no calls, and of rows those joined to a second: in a fraction of the time */
};
/* The judge of all runs that are loaded from now on, for the whole process, as an ablation wants
 * it; borrowed. NULL, as without a call: the usual one. */
void report_judge_by(const struct judge *judge);
int report_load(struct store *store, const char *which, enum report_calls calls,
                struct report_input *ret_input);
void report_input_release(struct report_input *input);

#endif
