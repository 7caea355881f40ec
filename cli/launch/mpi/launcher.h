/* SPDX-License-Identifier: MIT */
/*
 * Launchers of MPI programs, one a file: their names, and those of their options that take
 * arguments or matter. All else that differs from launcher to launcher asks for its kind.
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
    ROLE_JOB,             /* a batch system is asked for hosts by it */
    ROLE_NODES,           /* so, too: how many hosts */
    ROLE_JOB_ID,          /* names an allocation that is there */
    ROLE_EXPORT,          /* variables for the ranks: all, or a part */
    ROLE_NO_JOB,          /* nothing is started */
};

#define OPTION_ATTACHED (-1) /* of one letter: an argument may follow within the word */

/* An option by its name without dashes; those without arguments need no line, unless they matter
 * or all are listed. */
struct launcher_option {
    const char *name;
    int n_arguments;
    enum option_role role;
};

struct launcher {
    enum command_kind kind;
    const char *const *names;              /* up to a NULL */
    const struct launcher_option *options; /* up to one without a name */
    bool lists_all_options;                /* an option that is not listed may name hosts */
    bool joins_letters;                    /* "-nVALUE" is "-n VALUE" */
};

extern const struct launcher launcher_openmpi, launcher_hydra, launcher_slurm;

#endif
