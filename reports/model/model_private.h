/* SPDX-License-Identifier: MIT */
/* The steps by which report_build makes a report; each fills its own part. All return -ENOMEM. */
#ifndef CHOKEPOINT_REPORTS_MODEL_PRIVATE_H
#define CHOKEPOINT_REPORTS_MODEL_PRIVATE_H

#include "analysis/causes/candidate.h"
#include "analysis/evidence/process_traffic.h"
#include "analysis/facts/recording/recording.h"
#include "analysis/run_model.h"
#include "analysis/verdict/judgement.h"
#include "reports/model/input.h"
#include "reports/model/model.h"
#include "reports/model/reported.h"
#include "reports/says/text_list.h"

int report_fill_head(struct report *report, const struct report_input *input);
int report_fill_ceilings(struct report *report, const struct report_input *input);
int report_fill_measures(struct report *report, const struct run_model *model);
int report_fill_plots(struct report *report, const struct run_model *model);
int report_fill_allowances(struct report *report, const struct run_model *model); /* after plots */
int report_fill_routes(struct report *report, const struct run_model *model);
int report_fill_operators(struct report *report, const struct run_model *model); /* after plots */
int report_fill_roles(struct report *report, const struct run_model *model,
                      const struct process_traffic *traffic); /* after plots */
int report_fill_budget(struct report *report, const struct run_model *model);
int report_fill_efficiency(struct report *report, const struct judgement *judgement);
/* Merges notes that several hosts share. -ENOMEM. */
int report_merge_notes(struct report *report);
/* The host that a note begins with, "HOST: "; -1: none. */
int report_note_host(const struct report *report, const char *note);
int report_fill_findings(struct report *report, const struct judgement *judgement);
/* The last step: it looks at all other parts. */
int report_fill_quality(struct report *report, const struct report_input *input,
                        const struct judgement *judgement);

/* "server" or "worker" if the marks tell, else "". role: of struct rank_iterations, or
 * ROLE_WITHOUT_ITERATIONS for ranks that mark no iterations. */
#define ROLE_WITHOUT_ITERATIONS (-1)
const char *report_role_name(const struct run_model *model, int role);

/* Adds a note if the run did not end well; part of the quality. limit_says_it: only for ends that
 * the limit names, or only for others. */
int report_note_end(struct report *report, bool limit_says_it);

/* Appends a note of quality. */
int report_add_note(struct report *report, char *owned_text);

#endif
