/* SPDX-License-Identifier: MIT */
/* A pass overwrites the result of the previous one: processes come in the order of /proc. */
#include "agent/base/job.h"

static bool is_same(const struct job_process *a, const struct job_process *b) {
    return a->pid == b->pid && a->rank == b->rank && a->born == b->born;
}

bool job_set(struct job *job, size_t at, const struct job_process *process) {
    if (at >= JOB_PROCESSES_MAX)
        return false;
    job->differs |= at >= job->n || !is_same(&job->processes[at], process);
    job->processes[at] = *process;
    return true;
}

void job_end(struct job *job, size_t n) {
    n = n < JOB_PROCESSES_MAX ? n : JOB_PROCESSES_MAX;
    job->changes += job->differs || n != job->n;
    job->differs = false;
    job->passes++;
    job->n = n;
}
