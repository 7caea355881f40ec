/* SPDX-License-Identifier: MIT */
/*
 * The ranks of a program: who we are among them, one voice on standard error, and agreeing before
 * going on, so that a rank that cannot begin leaves nobody waiting. crew_run() is what the main()
 * of every workload does once its command line is read.
 */
#ifndef CHOKEPOINT_WORKLOADS_CREW_H
#define CHOKEPOINT_WORKLOADS_CREW_H

#include <stddef.h>
#include <stdint.h>

#include "workloads/common/plant.h"
#include "workloads/common/wait.h"

#define CREW_BAD_INPUT 2 /* exit status: wrong words, or data that cannot be used */

struct crew {
    const char *program;
    int rank, n_ranks;
    char host[256];
    struct waiter waiter;
};

/*
 * A program, step by step. The steps return 0, or negative and said on standard error; ranks agree
 * after each, and when one has failed none goes on.
 */
struct crew_job {
    const char *program; /* its name, as it begins its lines */
    bool spin;
    const struct plants *plants;                /* said at the beginning; NULL: none */
    int (*begin)(void *ctx, struct crew *crew); /* each rank for itself: reads, allocates */
    int (*run)(void *ctx);                      /* all together */
    const void *account;                        /* of this rank, as run() leaves it */
    size_t account_size;
    int (*finish)(void *ctx, const void *accounts); /* rank 0, with those of all, by rank */
    void (*release)(void *ctx);                     /* in any case, once begin() was called */
    void *ctx;
};

/* From MPI_Init() to MPI_Finalize(). Returns the exit status, the same at every rank:
 * CREW_BAD_INPUT when a rank could not begin. */
int crew_run(int *argc, char ***argv, const struct crew_job *job);

/* After MPI_Init(). */
void crew_join(struct crew *ret_crew, const char *program, bool spin);

/* One line on standard error: "PROGRAM: rank 3 on vm-4: TEXT". */
void crew_say(const struct crew *crew, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says that path cannot be written when r is negative. Returns r. */
int crew_wrote(const struct crew *crew, const char *path, int r);

/* 32-bit floats as they lie in memory. Returns 0 or a negative errno, said. */
int crew_write_floats(const struct crew *crew, const char *path, const float *values, size_t n);

/* Before MPI_Init(): one line however many ranks there are. Returns the exit status, 2. */
int crew_usage_error(const char *program, const char *text);

/* Collective: whether r is 0 or positive on every rank. */
bool crew_is_well(struct crew *crew, int r);

/* Collective. Everybody's `size` bytes in the order of ranks, at rank 0; NULL elsewhere, and
 * everywhere without memory, which ends the program. The caller frees. */
void *crew_gather(struct crew *crew, const void *mine, size_t size);

/* Collective; the sum at every rank. */
void crew_sum(struct crew *crew, double *values, int n);

/* What rank 0 says, to everybody. */
void crew_tell(struct crew *crew, int *value);

double median(double *values, size_t n); /* sorts; 0 for none */

#endif
