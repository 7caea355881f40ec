/* SPDX-License-Identifier: MIT */
/*
 * Causes that a workload plants in itself on request, so that a profiler can be tried on runs whose
 * truth is known: one rank with more work, one that sleeps, a slow server, a working set, spinning.
 *
 * Planted arithmetic is measured in CPU time of its thread, not in wall time: a core that is shared
 * or throttled makes it longer, as it does the work of the program. The working set is a mapped
 * file, not anonymous memory: under a memory limit its pages are dropped and read again from disk,
 * which is slow, where anonymous memory without swap would have the rank killed.
 */
#ifndef CHOKEPOINT_WORKLOADS_PLANT_H
#define CHOKEPOINT_WORKLOADS_PLANT_H

#include <stdbool.h>
#include <stddef.h>

#define PLANTS_MAX 8

enum plant_kind { PLANT_SKEW, PLANT_SLEEP, PLANT_APPLY, PLANT_MEMORY, PLANT_SPIN };

struct plant {
    enum plant_kind kind;
    int rank;        /* APPLY: 0 */
    double amount;   /* SKEW: factor; SLEEP, APPLY, SPIN: ms an iteration; MEMORY: MB */
    double from, to; /* shares of the iterations, 0 to 1 */
};

/* Zeroed memory holds none. */
struct plants {
    size_t n;
    struct plant plant[PLANTS_MAX];
    unsigned char *set[PLANTS_MAX]; /* MEMORY: mapped at its first use */
};

/* The form of --plant, for the help of a program. */
extern const char plant_help[];

/* Adds "skew:RANK:FACTOR", "sleep:RANK:MS", "apply:MS", "memory:RANK:MB" or "spin:RANK:MS", each
 * with an optional "@FROM-TO". Returns 0, -EINVAL, or -E2BIG beyond PLANTS_MAX. */
int plants_add(struct plants *plants, const char *text);

/* One line for each: what is planted, on standard error. For rank 0 of n_ranks to call. */
void plants_say(const struct plants *plants, const char *program);
/* Whether all ranks named are below n_ranks; else false, and the rank that is not. */
bool plants_fit(const struct plants *plants, int n_ranks, int *ret_rank);

/* How much work this rank has in an iteration: 1, or its factor. done: share of the iterations
 * behind it. */
double plants_work(const struct plants *plants, int rank, double done);

/* Once an iteration, where the rank computes: sleeps, spins, touches. Returns 0 or negative errno
 * (no working set to be had). */
int plants_compute(struct plants *plants, int rank, double done);

/* Where the server applies a gradient (async) or all gradients of an iteration (sync). */
void plants_apply(const struct plants *plants, double done);

void plants_release(struct plants *plants);

#endif
