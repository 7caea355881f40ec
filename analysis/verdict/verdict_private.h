/* SPDX-License-Identifier: MIT */
/* Shared by the files of the verdict. */
#ifndef CHOKEPOINT_ANALYSIS_VERDICT_VERDICT_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_VERDICT_VERDICT_PRIVATE_H

#include "analysis/causes/candidate.h"
#include "analysis/evidence/queues.h"
#include "analysis/run_model.h"
#include "analysis/verdict/resample.h"
#include "analysis/verdict/verdict.h"

/* Length of the run in seconds. */
double verdict_run_s(const struct run_model *model);
/* The host with the fewest samples, and the number that is needed. */
size_t verdict_host_least_seen(const struct run_model *model);
size_t verdict_samples_needed(const struct run_model *model);
/* The iterations of the rank that represents all, if all its calls are known; else 0. */
size_t verdict_iterations_told(const struct run_model *model);
/* How many of the program's moments were observed, from 0 (just enough) to 1. */
double verdict_seen(const struct run_model *model);
/* Samples within the run, of the host with the fewest. */
size_t verdict_least_samples(const struct run_model *model);
/* Share of the run covered by samples of the host with the fewest. */
double verdict_coverage(const struct run_model *model);
/* Share of the ranks' budgets in the main phase that close, among those that should; 1 if there are
 * none. */
double verdict_closing(const struct run_model *model);
/* Whether the job has a rank of MPI. */
static inline bool verdict_has_ranks(const struct run_model *model) {
    return model_has_ranks(model);
}
/* Common part of all confidences: reduced for a short run, by the table, by the cap without
 * observation inside MPI, and by missing evidence (samples, budgets that do not close, ranks that
 * did not reach their end). At most CONFIDENCE_MAX. ret_asked: input of the table. */
double verdict_confidence(const struct run_model *model, double computed, double *ret_asked);
/* As verdict_confidence without the table, from a share of right answers. */
double verdict_confidence_counted(const struct run_model *model, double share);

/* Whether the subject is on one host. */
bool verdict_is_of_host(enum subject subject);

/* The lowest known gain of the run. */
double verdict_gain_low(const struct candidate *c, const struct resampled *r);
enum verdict_sureness verdict_sureness(const struct run_model *model, double confidence);
enum verdict_state verdict_state_of(const struct run_model *model, const struct candidate *c,
                                    double gain_low);

/* Makes the first candidate the verdict; its remarks move over. -ENOMEM. */
int verdict_of_candidate(const struct run_model *model, struct candidates *candidates,
                         struct verdict *v);
/* Adds the advice (verdict_next.c). */
void verdict_next_for(const struct run_model *model, const struct candidate *c, struct verdict *v);
/* Makes the verdict if no candidate stands out. -ENOMEM. */
int verdict_of_none(const struct run_model *model, const struct candidates *candidates,
                    struct verdict *v);
/* Makes the verdict if the job sleeps and asks nothing of its hosts; else returns false. */
bool verdict_of_idle(const struct run_model *model, struct verdict *v);
/* Changes the verdict if the command failed; called after the others. Returns whether that replaces
 * all findings. */
bool verdict_of_failed(const struct run_model *model, struct verdict *v);
/* Says what ended the command if its exit status is not 0, and puts advice about that first. */
void verdict_tell_end(const struct run_model *model, struct verdict *v);
#define STATUS_TIME_OVER 124 /* of timeout(1), if it ended the command */
/* The signal that an exit status tells of, as a shell gives it; 0: none. */
int verdict_end_signal(int exit_status);
/* Caps the confidence of a verdict on a time about which sources disagree, and names them. */
void verdict_of_disputed(const struct run_model *model, struct verdict *v);
/* Caps the confidence in a cause that one source alone tells, and says so. */
void verdict_of_one_source(const struct run_model *model, struct verdict *v);
/* The same while a larger lack is not explained. */
void verdict_of_unexplained(const struct run_model *model, const struct candidates *candidates,
                            struct verdict *v);
/* Makes it "not known" if computing is to blame and a process of the job uses a GPU; called before
 * verdict_of_failed. */
void verdict_of_gpu(const struct run_model *model, struct verdict *v);
/* Makes the verdicts on phases. -ENOMEM. */
int verdict_of_phases(const struct run_model *model, const struct candidates *candidates,
                      struct verdict *v);

#endif
