/* SPDX-License-Identifier: MIT */
/*
 * The measurements in their order, the same on every rank, so that no rank has to be told. One
 * thing at a time: hosts that are one machine in truth (the same boot) take turns, and so do pairs
 * of hosts, since the links that they share are not known. Both count and time are bounded.
 */
#ifndef CHOKEPOINT_WORKLOADS_CALIBRATE_PLAN_H
#define CHOKEPOINT_WORKLOADS_CALIBRATE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

enum step_kind {
    STEP_CPU,
    STEP_MEMORY,
    STEP_DISK, /* those whose turn it is */
    STEP_RTT,  /* a with b */
    STEP_PAIR, /* a to b */
    STEP_TO_ALL,
    STEP_FROM_ALL, /* a and up to PLAN_FAN_MAX others */
    STEP_MPI,      /* a with b */
};

enum { PART_CPU = 1, PART_MEMORY = 2, PART_DISK = 4, PART_NET = 8, PART_MPI = 16, PART_ALL = 31 };

struct step {
    enum step_kind kind;
    int a, b;       /* ranks; of the first three kinds a is the turn */
    double seconds; /* of measuring */
};

#define PLAN_PAIRS_MAX 20 /* of hosts; each is measured both ways */
#define PLAN_HOSTS_MAX 64 /* that are measured with all others */
#define PLAN_FAN_MAX 64   /* others at once */

struct plan {
    struct step *steps; /* owned */
    size_t n;
    size_t n_pairs, n_pairs_left_out; /* of hosts */
};

/* n hosts, of which at most `turns` are one machine. parts: PART_*. -ENOMEM. */
int plan_make(struct plan *ret_plan, int n, int turns, unsigned parts, bool quick);
void plan_release(struct plan *plan);

/* Seconds of steps from `from` on, with what lies between them. */
double plan_seconds(const struct plan *plan, size_t from);

/* The i-th of the others that take part with a; i from 0 to plan_fan(n) - 1. */
int plan_other(int n, int a, int i);
int plan_fan(int n);
/* Whether rank is one of them. */
bool plan_takes_part(int n, int a, int rank);

#endif
