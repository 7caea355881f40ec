/* SPDX-License-Identifier: MIT */
/*
 * Hosts named by the words of a command (mpi/ has the launchers): `mpirun --hostfile F -np 4 ./a`,
 * also behind simple wrappers (`env X=1 nice mpirun ...`). The reader knows which options of
 * launchers take arguments, so that it stops at the program and never takes the program's options
 * for the launcher's.
 */
#ifndef CHOKEPOINT_CLI_COMMAND_WORDS_H
#define CHOKEPOINT_CLI_COMMAND_WORDS_H

#include <stdbool.h>
#include <stddef.h>

enum command_kind {
    COMMAND_PLAIN,  /* starts nothing elsewhere, as far as known */
    COMMAND_MPIRUN, /* OpenMPI's mpirun, mpiexec, orterun */
    COMMAND_HYDRA,  /* mpirun of MPICH's family */
    COMMAND_SRUN,
};

#define COMMAND_LISTS_MAX 64

/* All pointers are borrowed from the words. */
struct command_words {
    enum command_kind kind;
    const char *launcher; /* the word that is mpirun or srun */
    const char *program;  /* the (first) program of the job; NULL when there is none */
    const char *hostfiles[COMMAND_LISTS_MAX];
    size_t n_hostfiles;
    const char *lists[COMMAND_LISTS_MAX]; /* text of --host; of srun's --nodelist */
    size_t n_lists;
    /* Options of mpirun for reaching the hosts, with their arguments: `--mca plm_... x`. */
    const char *reach[COMMAND_LISTS_MAX];
    size_t n_reach;
    /* A word that may name hosts which are not read here: an option, or an unknown launcher. */
    const char *hides_hosts;
    const char *hides_variables; /* an option that keeps variables from the ranks */
    /* srun alone: the words that choose the allocation, and those that describe an existing one. */
    const char *allocation[COMMAND_LISTS_MAX];
    size_t n_allocation;
    const char *n_nodes; /* "2", "1-3" */
    const char *job_id;
    const char *starts_nothing; /* --help, --test-only */
};

/* words: NULL-terminated. -E2BIG when there are too many options of a kind; the output is then
 * untouched. */
int command_words_read(char *const *words, struct command_words *ret_words);

/* Whether a list with commas has that word. */
bool command_list_has(const char *list, const char *word);

#endif
