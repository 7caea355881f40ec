/* SPDX-License-Identifier: MIT */
/* The processes of a run: their budgets, how busy ranks are, and who else runs on a host. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_PROCESSES_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_PROCESSES_H

#include "analysis/run_model.h"

/* Another program that is to blame. */
struct culprit {
    const char *process; /* the model's name of it, "sh[4711]"; NULL: none */
    int64_t pid;
};

/* The budget of a process of the model in a group, if it can be trusted; else NULL. */
const struct budget *saturation_budget(const struct run_model *model,
                                       const struct model_process *process, size_t group);

/* The same of a process of the job, ranked or not, of which counters alone tell. */
const struct budget *saturation_counted(const struct run_model *model,
                                        const struct model_process *process, size_t group);

/* It is what a rank of the job runs, and no wrapper that carries the rank's number. */
bool model_is_rank(const struct run_model *model, const struct model_process *process);

/* Median over the job's ranks of the share of the group that they ran or wanted to (not counting
 * time inside MPI, where that is known: there they spin); over hosts, if
 * no process has a rank; NAN if nothing of the job was seen. */
double ranks_busy(const struct run_model *model, size_t group);

/* Most of the job's CPU time in the group was that of processes which came and went between two
 * looks, as under make or in a shell script: what is known of single ones is not what the run does.
 */
bool processes_come_and_go(const struct run_model *model, size_t group);

/* More processes than cores compute, and use nearly all of each core of their hosts: they queue
 * behind each other, and fewer of them would compute no more. Never of ranks, which may spin. */
bool processes_fill_their_cores(const struct run_model *model, size_t group);

/* Outside the job, the one on a host that used most CPU, or wrote and read most. NULL: none. */
const struct model_process *busiest_foreign(const struct run_model *model, size_t group, int host,
                                            double *ret_cores);

const struct model_process *writing_foreign(const struct run_model *model, size_t group, int host,
                                            double *ret_bytes_s);

struct culprit culprit_of(const struct run_model *model, const struct model_process *process);

/* The term of that rank on the host where it is largest, as a share of the time of the longest
 * lived rank; or of all ranks of the host together, as a share of their times, if that is more.
 * NAN: no rank has it. *ret_rank (may be NULL): its index. */
double model_worst_rank(const struct run_model *model, size_t group, int host,
                        enum budget_term term, size_t *ret_rank);

/* "python3[4711]": the name of the program. */
bool is_same_program(const char *a, const char *b);

#endif
