/* SPDX-License-Identifier: MIT */
/*
 * The ranks of a program: the own number, one voice on standard error, and agreement before going
 * on, so that no rank waits for one that could not begin. rank_group_run() is what main() of every
 * workload calls after it has read the command line.
 */
#ifndef CHOKEPOINT_WORKLOADS_RANK_GROUP_H
#define CHOKEPOINT_WORKLOADS_RANK_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/common/plant.h"
#include "workloads/common/wait.h"

#define RANK_GROUP_BAD_INPUT 2 /* exit status: wrong arguments or unusable data */

struct rank_group {
    const char *program;
    int rank, n_ranks;
    char host[256];
    struct waiter waiter;
};

/*
 * The steps of a program. Each returns 0, or negative after it has reported the error on standard
 * error. Ranks agree after each step, and none goes on if one has failed.
 */
struct rank_group_job {
    const char *program; /* the prefix of its messages */
    bool spin;
    const struct plants *plants;                       /* announced at the beginning; NULL: none */
    int (*begin)(void *ctx, struct rank_group *group); /* each rank by itself: reads, allocates */
    int (*run)(void *ctx);                             /* all ranks together */
    const void *account;                               /* of this rank, filled in by run() */
    size_t account_size;
    int (*finish)(void *ctx, const void *accounts); /* on rank 0, with all accounts by rank */
    void (*release)(void *ctx);                     /* called whenever begin() was */
    void *ctx;
};

/* From MPI_Init() to MPI_Finalize(). Returns the exit status, the same at every rank:
 * RANK_GROUP_BAD_INPUT if a rank could not begin. */
int rank_group_run(int *argc, char ***argv, const struct rank_group_job *job);

/* Call it after MPI_Init(). */
void rank_group_join(struct rank_group *ret_group, const char *program, bool spin);

/* Prints one line on standard error: "PROGRAM: rank 3 on vm-4: TEXT". */
void rank_group_say(const struct rank_group *group, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reports that path cannot be written if r is negative. Returns r. */
int rank_group_wrote(const struct rank_group *group, const char *path, int r);

/* Writes 32-bit floats in memory order. Returns 0, or a negative errno after reporting it. */
int rank_group_write_floats(const struct rank_group *group, const char *path, const float *values,
                            size_t n);

/* Call it before MPI_Init(): prints one line, however many ranks there are. Returns the exit
 * status, 2. */
int rank_group_usage_error(const char *program, const char *text);

/* Collective: whether r is not negative on every rank. */
bool rank_group_is_well(struct rank_group *group, int r);

/* Collective: gathers `size` bytes of every rank at rank 0, in the order of ranks; NULL elsewhere.
 * Without memory it is NULL at every rank, and the program ends. The caller frees. */
void *rank_group_gather(struct rank_group *group, const void *mine, size_t size);

/* Collective: the sum, at every rank. */
void rank_group_sum(struct rank_group *group, double *values, int n);

/* Broadcasts rank 0's value. */
void rank_group_tell(struct rank_group *group, int *value);

double median(double *values, size_t n); /* sorts the values; 0 for none */

#endif
