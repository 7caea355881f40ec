/* SPDX-License-Identifier: MIT */
/*
 * How libchokepoint-mpi.so gets into the ranks of a command that we do not change. mpirun takes
 * variables for its ranks, on every host, from a parameter of its own that goes together with the
 * user's -x (unlike the documented mca_base_env_list, which refuses -x); a user's -x of the same
 * name wins. A script that calls mpirun passes it on.
 *
 * LD_PRELOAD itself would get into everything that the command starts, also into programs of
 * another C library and into containers, which end or complain. So srun and Hydra alone get it,
 * whose ranks have their environment, and a program that is linked with MPI, which is a rank by
 * itself. No rank gets it that our loader does not start.
 */
#ifndef CHOKEPOINT_CLI_PRELOAD_H
#define CHOKEPOINT_CLI_PRELOAD_H

#include <limits.h>

#include "cli/launch/command_words.h"

#define PRELOAD_NONE 1 /* nothing can be preloaded; why says the reason */
#define PRELOAD_SIZE (4 * PATH_MAX)

/* Values of variables for the command. */
struct preload {
    char ranks[PRELOAD_SIZE]; /* of PRELOAD_RANKS_VARIABLE */
    char library[PATH_MAX];   /* the shim */
    char here[PRELOAD_SIZE];  /* LD_PRELOAD: ours, then the user's own; "": as it is */
};

#define PRELOAD_RANKS_VARIABLE "OMPI_MCA_mca_base_env_list_internal"

/*
 * program: the path of chokepoint itself, beside or near which the library lies; command: the words
 * to run, and what they are about. 0, or PRELOAD_NONE with one line in why.
 */
int preload_make(struct preload *to, const char *program, char *const *command,
                 const struct command_words *words, char *why, size_t why_size);

/* The same with the shim at another place. */
int preload_move(struct preload *preload, const char *library);

#endif
