/* SPDX-License-Identifier: MIT */
/*
 * Known limits that a workload plants in itself on request, to test a profiler: a rank with more
 * work, a rank that sleeps, a slow server, a working set, spinning.
 *
 * Planted computation is measured in CPU time of its thread: on a shared or throttled core it takes
 * longer, like the program's own work. The working set is a mapped file and not anonymous memory:
 * under a memory limit its pages are dropped and slowly read again from disk, while anonymous
 * memory without swap would get the rank killed.
 */
#ifndef CHOKEPOINT_WORKLOADS_PLANT_H
#define CHOKEPOINT_WORKLOADS_PLANT_H

#include <stdbool.h>
#include <stddef.h>

#define PLANTS_MAX 8

enum plant_kind { PLANT_SKEW, PLANT_SLEEP, PLANT_APPLY, PLANT_MEMORY, PLANT_SPIN };

struct plant {
    enum plant_kind kind;
    int rank;        /* the rank; APPLY: 0 */
    double amount;   /* SKEW: factor; SLEEP, APPLY, SPIN: ms an iteration; MEMORY: MB */
    double from, to; /* shares of the iterations, 0 to 1 */
};

/* Zeroed memory is an empty list. */
struct plants {
    size_t n;
    struct plant plant[PLANTS_MAX];
    unsigned char *set[PLANTS_MAX]; /* MEMORY: mapped on first use */
};

/* The syntax of --plant, for a program's help. */
extern const char plant_help[];

/* Adds "skew:RANK:FACTOR", "sleep:RANK:MS", "apply:MS", "memory:RANK:MB" or "spin:RANK:MS", each
 * with an optional "@FROM-TO". Returns 0, -EINVAL, or -E2BIG beyond PLANTS_MAX. */
int plants_add(struct plants *plants, const char *text);

/* Prints a line for each plant on standard error. Rank 0 of n_ranks calls it. */
void plants_say(const struct plants *plants, const char *program);
/* Whether all named ranks are below n_ranks; if not, *ret_rank is not. */
bool plants_fit(const struct plants *plants, int n_ranks, int *ret_rank);

/* The amount of work of this rank in an iteration: 1, or its factor. done: share of the iterations
 * that are finished. */
double plants_work(const struct plants *plants, int rank, double done);

/* Call it once an iteration where the rank computes: sleeps, spins, touches memory. Returns 0 or
 * negative errno (no memory for the working set). */
int plants_compute(struct plants *plants, int rank, double done);

/* Call it where the server applies a gradient (async) or all gradients of an iteration (sync). */
void plants_apply(const struct plants *plants, double done);

void plants_release(struct plants *plants);

#endif
