/* SPDX-License-Identifier: MIT */
/*
 * Launchers of MPI programs, one a file: their names, and their options that take arguments or
 * matter. Other differences between launchers are decided by their kind.
 */
#ifndef CHOKEPOINT_CLI_LAUNCHER_H
#define CHOKEPOINT_CLI_LAUNCHER_H

#include "cli/launch/command_words.h"

#include <stdbool.h>

enum option_role {
    ROLE_NONE,
    ROLE_HOSTFILE,
    ROLE_LIST,
    ROLE_REACH,           /* decides how hosts are reached */
    ROLE_HIDES_HOSTS,     /* names hosts in a way that is not read here */
    ROLE_HIDES_VARIABLES, /* ranks get a part of the environment */
    ROLE_JOB,             /* asks a batch system for hosts */
    ROLE_NODES,           /* asks for a number of hosts */
    ROLE_JOB_ID,          /* names an existing allocation */
    ROLE_EXPORT,          /* passes variables to the ranks: all, or a part */
    ROLE_NO_JOB,          /* nothing is started */
};

#define OPTION_ATTACHED (-1) /* one letter: its argument may follow within the word */

/* An option by its name without dashes. Options without arguments need no line, unless they matter
 * or all are listed. */
struct launcher_option {
    const char *name;
    int n_arguments;
    enum option_role role;
};

struct launcher {
    enum command_kind kind;
    const char *const *names;              /* the last is NULL */
    const struct launcher_option *options; /* the last has no name */
    bool lists_all_options;                /* an option that is not listed may name hosts */
    bool joins_letters;                    /* "-nVALUE" is "-n VALUE" */
};

extern const struct launcher launcher_openmpi, launcher_hydra, launcher_slurm;

#endif
