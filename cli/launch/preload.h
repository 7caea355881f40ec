/* SPDX-License-Identifier: MIT */
/*
 * How libchokepoint-mpi.so gets into the ranks of a command that we do not change. mpirun takes
 * variables for its ranks, on every host, from a parameter of its own that goes together with the
 * user's -x (unlike the documented mca_base_env_list, which refuses -x); a user's -x of the same
 * name wins. Other commands, and whatever they start here, get LD_PRELOAD itself.
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
    char here[PRELOAD_SIZE];  /* LD_PRELOAD: ours, then the user's own */
    /* A program built with AddressSanitizer refuses to start behind a preloaded library, unless
     * told that it may. */
    char sanitizer[PATH_MAX]; /* ASAN_OPTIONS: the user's own, then ours */
};

#define PRELOAD_RANKS_VARIABLE "OMPI_MCA_mca_base_env_list_internal"

/*
 * program: the path of chokepoint itself, beside or near which the library lies; command: the words
 * to run. 0, or PRELOAD_NONE with one line in why.
 */
int preload_make(struct preload *to, const char *program, char *const *command, char *why,
                 size_t why_size);

#endif
