/* SPDX-License-Identifier: MIT */
/*
 * The ranks of a program: our number among them, one voice on standard error, and agreeing before
 * going on, so that a rank that cannot begin leaves nobody waiting. rank_group_run() is what the
 * main() of every workload does once its command line is read.
 */
#ifndef CHOKEPOINT_WORKLOADS_RANK_GROUP_H
#define CHOKEPOINT_WORKLOADS_RANK_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/common/plant.h"
#include "workloads/common/wait.h"

#define RANK_GROUP_BAD_INPUT 2 /* exit status: wrong words, or data that cannot be used */

struct rank_group {
    const char *program;
    int rank, n_ranks;
    char host[256];
    struct waiter waiter;
};

/*
 * A program, step by step. The steps return 0, or negative and said on standard error; ranks agree
 * after each, and when one has failed none goes on.
 */
struct rank_group_job {
    const char *program; /* its name, as it begins its lines */
    bool spin;
    const struct plants *plants;                       /* said at the beginning; NULL: none */
    int (*begin)(void *ctx, struct rank_group *group); /* each rank for itself: reads, allocates */
    int (*run)(void *ctx);                             /* all together */
    const void *account;                               /* of this rank, as run() leaves it */
    size_t account_size;
    int (*finish)(void *ctx, const void *accounts); /* rank 0, with those of all, by rank */
    void (*release)(void *ctx);                     /* in any case, once begin() was called */
    void *ctx;
};

/* From MPI_Init() to MPI_Finalize(). Returns the exit status, the same at every rank:
 * RANK_GROUP_BAD_INPUT when a rank could not begin. */
int rank_group_run(int *argc, char ***argv, const struct rank_group_job *job);

/* After MPI_Init(). */
void rank_group_join(struct rank_group *ret_group, const char *program, bool spin);

/* One line on standard error: "PROGRAM: rank 3 on vm-4: TEXT". */
void rank_group_say(const struct rank_group *group, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says that path cannot be written when r is negative. Returns r. */
int rank_group_wrote(const struct rank_group *group, const char *path, int r);

/* 32-bit floats as they lie in memory. Returns 0 or a negative errno, said. */
int rank_group_write_floats(const struct rank_group *group, const char *path, const float *values,
                            size_t n);

/* Before MPI_Init(): one line however many ranks there are. Returns the exit status, 2. */
int rank_group_usage_error(const char *program, const char *text);

/* Collective: whether r is 0 or positive on every rank. */
bool rank_group_is_well(struct rank_group *group, int r);

/* Collective. Everybody's `size` bytes in the order of ranks, at rank 0; NULL elsewhere, and
 * everywhere without memory, which ends the program. The caller frees. */
void *rank_group_gather(struct rank_group *group, const void *mine, size_t size);

/* Collective; the sum at every rank. */
void rank_group_sum(struct rank_group *group, double *values, int n);

/* Broadcasts rank 0's value. */
void rank_group_tell(struct rank_group *group, int *value);

double median(double *values, size_t n); /* sorts; 0 for none */

#endif
