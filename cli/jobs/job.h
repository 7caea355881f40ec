/* SPDX-License-Identifier: MIT */
/* The summary of a job of Slurm that its epilog stored. */
#ifndef CHOKEPOINT_CLI_JOB_H
#define CHOKEPOINT_CLI_JOB_H

/* The AdminComment of a job of Slurm; owned. NULL: Slurm is not here, or does not know the job, or
 * it has none. id: checked by the caller, since it becomes a word of a command. */
char *job_comment(const char *id);

/* Prints a summary (chokepoint.job/1) as lines; text from outside. -EINVAL: it is no summary. */
int job_print(const char *id, const char *summary);

#endif
