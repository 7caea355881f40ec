/* SPDX-License-Identifier: MIT */
/* Shared by the files of the verdict. */
#ifndef CHOKEPOINT_ANALYSIS_VERDICT_VERDICT_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_VERDICT_VERDICT_PRIVATE_H

#include "analysis/causes/candidate.h"
#include "analysis/evidence/queues.h"
#include "analysis/run_model.h"
#include "analysis/verdict/resample.h"
#include "analysis/verdict/verdict.h"

/* Seconds of the run. */
double verdict_run_s(const struct run_model *model);
/* The host with the fewest samples, and how many are needed. */
size_t verdict_host_least_seen(const struct run_model *model);
size_t verdict_samples_needed(const struct run_model *model);
/* The iterations of the rank that stands for all, if every call of it is known; else 0. */
size_t verdict_iterations_told(const struct run_model *model);
/* The moments of the program that were seen, between 0 (as few as are needed) and 1. */
double verdict_seen(const struct run_model *model);
/* Samples within the run of the host with the fewest. */
size_t verdict_least_samples(const struct run_model *model);
/* Share of the run that samples of the host with the fewest cover. */
double verdict_coverage(const struct run_model *model);
/* The share of the ranks' budgets in the main phase that closes, among those that should; 1 without
 * any. */
double verdict_closing(const struct run_model *model);
/* Some process of the job is a rank of MPI. */
bool verdict_has_ranks(const struct run_model *model);
/* Common part of all confidences: less for a short run; the table; the cap where nothing saw
 * inside MPI; how much of the evidence is there (samples, budgets that close, ranks that came to
 * their end). At most CONFIDENCE_MAX. ret_asked: what the table was asked. */
double verdict_confidence(const struct run_model *model, double computed, double *ret_asked);
/* The same without the table, of what is a share of answers that were right. */
double verdict_confidence_counted(const struct run_model *model, double share);

/* A subject that is on one host. */
bool verdict_is_of_host(enum subject subject);

/* The least gain of the run, as it is known. */
double verdict_gain_low(const struct candidate *c, const struct resampled *r);
enum verdict_state verdict_state_of(const struct run_model *model, const struct candidate *c,
                                    double gain_low);

/* The first candidate is the verdict; its remarks move over. -ENOMEM. */
int verdict_of_candidate(const struct run_model *model, struct candidates *candidates,
                         struct verdict *v);
/* Adds the advice (verdict_next.c). */
void verdict_next_for(const struct run_model *model, const struct candidate *c, struct verdict *v);
/* None stands out. -ENOMEM. */
int verdict_of_none(const struct run_model *model, const struct candidates *candidates,
                    struct verdict *v);
/* The verdict if the command failed; after the others. Returns whether it says so instead of
 * all that was found. */
bool verdict_of_failed(const struct run_model *model, struct verdict *v);
/* "Not known" where computing is to blame and a process of the job uses a GPU; before
 * verdict_of_failed. */
void verdict_of_gpu(const struct run_model *model, struct verdict *v);
/* Each phase for itself. -ENOMEM. */
int verdict_of_phases(const struct run_model *model, const struct candidates *candidates,
                      struct verdict *v);

#endif
