/* SPDX-License-Identifier: MIT */
/*
 * The allocation that an srun runs in. Agents are steps of it beside the command's own, so it must
 * be there before they are: an srun that would ask for one gets it from us, by salloc(1) with the
 * options that are about the allocation, and `run` goes on inside. salloc gives the allocation back
 * however we end.
 */
#ifndef CHOKEPOINT_CLI_SLURM_JOB_H
#define CHOKEPOINT_CLI_SLURM_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/launch/command_words.h"

/* Whether this process is in an allocation, as its environment says. */
bool slurm_in_job(void);

/*
 * Enters the allocation that the command wants. 0: this process is in it (of --jobid: its
 * environment says so now), or the command wants none. Else it becomes `salloc ... program argv...`
 * (argv: NULL-terminated, from the verb on) and does not return. Negative errno with one line in
 * why.
 */
int slurm_enter_job(const struct command_words *words, const char *program, char *const *argv,
                    char *why, size_t why_size);

/* The words of that salloc, without program and argv: at most `capacity`. Those made of the
 * environment, which srun takes options from, are in text. -E2BIG. */
#define SLURM_TEXT_SIZE 4096
int slurm_salloc_words(const struct command_words *words, const char **to, size_t capacity,
                       char text[SLURM_TEXT_SIZE], size_t *ret_n);

/* "Slurm job 7 of partition all: vm[1-3]"; false outside a job. */
bool slurm_describe_job(char *to, size_t size);

/* The value that lets a command's srun hand variables of ours to its tasks, where SLURM_EXPORT_ENV
 * would keep them from it; NULL: it needs none. In `to`. */
const char *slurm_export_list(char *to, size_t size);

/* Variables that srun takes options from, which are not meant for the step of an agent. Ends with
 * NULL. */
extern const char *const slurm_option_variables[];
#define SLURM_OPTION_VARIABLES_MAX 64

#endif
