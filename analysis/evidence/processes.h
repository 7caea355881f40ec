/* SPDX-License-Identifier: MIT */
/* The processes of a run: their budgets, how busy ranks are, and what else runs on a host. */
#ifndef CHOKEPOINT_ANALYSIS_EVIDENCE_PROCESSES_H
#define CHOKEPOINT_ANALYSIS_EVIDENCE_PROCESSES_H

#include "analysis/run_model.h"

/* A program outside the job that takes the resource. */
struct culprit {
    const char *process; /* its name in the model, "sh[4711]"; NULL: none */
    int64_t pid;
};

/* The budget of a process of the model in a group, or NULL if it cannot be trusted. */
const struct budget *saturation_budget(const struct run_model *model,
                                       const struct model_process *process, size_t group);

/* The budget of a process of the job, ranked or not, for which only counters tell; NULL if it
 * cannot be trusted.
 */
const struct budget *saturation_counted(const struct run_model *model,
                                        const struct model_process *process, size_t group);

/* Whether it is a rank's program, and no wrapper that carries the rank's number. */
bool model_is_rank(const struct run_model *model, const struct model_process *process);

/* The median over the job's ranks of the share of the group in which they ran or were ready to
 * (excluding time inside MPI, if that is known, since ranks spin there). Over hosts, if no process
 * has a rank; NAN if no process of the job was seen.
 */
double ranks_busy(const struct run_model *model, size_t group);

/* Whether most of the job's CPU time in the group was that of processes that came and went between
 * two samples, as under make or in a shell script: then single processes do not show what the run
 * does.
 */
bool processes_come_and_go(const struct run_model *model, size_t group);

/* Whether more processes than cores compute, and use nearly all of each core of their hosts: they
 * queue behind each other, and fewer of them would compute as much. Never true for ranks, which may
 * spin.
 */
bool processes_fill_their_cores(const struct run_model *model, size_t group);

/* The process outside the job on a host that used most CPU, or wrote and read most; NULL if there
 * is none.
 */
const struct model_process *busiest_foreign(const struct run_model *model, size_t group, int host,
                                            double *ret_cores);

const struct model_process *writing_foreign(const struct run_model *model, size_t group, int host,
                                            double *ret_bytes_s);

struct culprit culprit_of(const struct run_model *model, const struct model_process *process);

/* The term of the rank on the host for which it is largest, as a share of the time of the
 * longest-lived rank; or of all ranks of the host together, as a share of their times, if that is
 * more. NAN if no rank has it. *ret_rank (may be NULL): its index.
 */
double model_worst_rank(const struct run_model *model, size_t group, int host,
                        enum budget_term term, size_t *ret_rank);

#endif
