/* SPDX-License-Identifier: MIT */
/*
 * How libchokepoint-mpi.so gets into the ranks of an unchanged command. mpirun takes variables for
 * its ranks, on every host, from a parameter that can be combined with the user's -x (the
 * documented mca_base_env_list refuses -x); a user's -x of the same name wins. A script that calls
 * mpirun passes it on.
 *
 * LD_PRELOAD itself would get into everything that the command starts, also into programs of
 * another C library and into containers, which end or complain. So it is set only for srun and
 * Hydra, whose ranks inherit their environment, and for a program that is linked with MPI, which is
 * a rank itself. Ranks with another dynamic loader never get it.
 *
 * NCCL loads the same library as its plug-in, if it finds its path in the environment. This
 * variable goes into whatever a command starts here: only NCCL reads it.
 */
#ifndef CHOKEPOINT_CLI_PRELOAD_H
#define CHOKEPOINT_CLI_PRELOAD_H

#include <limits.h>
#include <stdbool.h>

#include "cli/launch/command_words.h"

#define PRELOAD_NONE 1 /* nothing can be preloaded; `why` has the reason */
#define PRELOAD_SIZE (4 * PATH_MAX)

/* Values of variables for the command. */
struct preload {
    char ranks[PRELOAD_SIZE]; /* value of PRELOAD_RANKS_VARIABLE */
    char library[PATH_MAX];   /* path of the shim */
    char here[PRELOAD_SIZE];  /* LD_PRELOAD: the shim, then the user's own; "": unchanged */
    char plugin[PATH_MAX]; /* NCCL_PROFILER_PLUGIN of the command itself: the shim; "": unchanged */
};

#define PRELOAD_RANKS_VARIABLE "OMPI_MCA_mca_base_env_list_internal"
#define PRELOAD_LIST_SIZE (PRELOAD_SIZE + 4 * PATH_MAX)

/* Variables of NCCL: the plug-in, and the user's own, to which ours hands on. A user who says
 * "none" gets none. */
#define NCCL_PLUGIN_VARIABLE "NCCL_PROFILER_PLUGIN"
#define NCCL_NEXT_VARIABLE "CHOKEPOINT_NCCL_NEXT"
bool preload_may_name_plugin(void);

/* The library that CUDA's driver loads: the shim, if kernels were asked for. */
#define KERNELS_VARIABLE "CUDA_INJECTION64_PATH"

/* PRELOAD_RANKS_VARIABLE with the plug-in for NCCL and the library for CUDA, or without, if they
 * have no room. */
void preload_list(const struct preload *preload, bool kernels, char ret_list[PRELOAD_LIST_SIZE]);

/*
 * program: the path of chokepoint itself, near which the library lies; command: the words to run,
 * and their meaning. 0, or PRELOAD_NONE with one line in why.
 */
int preload_make(struct preload *to, const char *program, char *const *command,
                 const struct command_words *words, char *why, size_t why_size);

/* As preload_find, with the shim at another path. */
int preload_move(struct preload *preload, const char *library);

#endif
