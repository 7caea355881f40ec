/* SPDX-License-Identifier: MIT */
/*
 * The allocation for an srun. Agents are steps beside the command's own, so the allocation must
 * exist before they start. For an srun that would request one, this program requests it by
 * salloc(1) with the options for allocations, and `run` continues inside. salloc returns the
 * allocation, however the run ends.
 */
#ifndef CHOKEPOINT_CLI_SLURM_JOB_H
#define CHOKEPOINT_CLI_SLURM_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/launch/command_words.h"

/* Whether this process is in an allocation, by its environment. */
bool slurm_in_job(void);

/*
 * Enters the allocation that the command wants. 0: this process is in it (for --jobid: its
 * environment names it now), or the command wants none. Otherwise it becomes `salloc ... program
 * argv...` (argv: NULL-terminated, from the verb on) and does not return. Negative errno with one
 * line in why.
 */
int slurm_enter_job(const struct command_words *words, const char *program, char *const *argv,
                    char *why, size_t why_size);

/* The words of that salloc, without program and argv: at most `capacity`. `text` has those made
 * from the environment, which srun takes options from. -E2BIG. */
#define SLURM_TEXT_SIZE 4096
int slurm_salloc_words(const struct command_words *words, const char **to, size_t capacity,
                       char text[SLURM_TEXT_SIZE], size_t *ret_n);

/* "Slurm job 7 of partition all: vm[1-3]"; false outside a job. */
bool slurm_describe_job(char *to, size_t size);

/* The value with which a command's srun passes the variables of `run` to its tasks, if
 * SLURM_EXPORT_ENV would prevent it; NULL: not needed. In `to`. */
const char *slurm_export_list(char *to, size_t size);

/* Variables that srun takes options from, and that must not affect an agent's step. Ends with
 * NULL. */
extern const char *const slurm_option_variables[];
#define SLURM_OPTION_VARIABLES_MAX 64

#endif
