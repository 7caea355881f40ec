/* SPDX-License-Identifier: MIT */
/*
 * The measurements in their order. Every rank computes the same plan, without messages.
 * Measurements do not overlap: hosts that are one machine (the same boot) take turns, and so do
 * pairs of hosts, since they may share links. Number and time are limited.
 */
#ifndef CHOKEPOINT_WORKLOADS_CALIBRATE_PLAN_H
#define CHOKEPOINT_WORKLOADS_CALIBRATE_PLAN_H

#include <stdbool.h>
#include <stddef.h>

enum step_kind {
    STEP_CPU,
    STEP_MEMORY,
    STEP_DISK, /* the hosts whose turn it is */
    STEP_RTT,  /* between a and b */
    STEP_PAIR, /* from a to b */
    STEP_TO_ALL,
    STEP_FROM_ALL, /* a and up to PLAN_FAN_MAX others */
    STEP_MPI,      /* between a and b */
};

enum { PART_CPU = 1, PART_MEMORY = 2, PART_DISK = 4, PART_NET = 8, PART_MPI = 16, PART_ALL = 31 };

struct step {
    enum step_kind kind;
    int a, b;       /* ranks; in the first three kinds a is the turn */
    double seconds; /* duration of the measurement */
};

#define PLAN_PAIRS_MAX 20 /* pairs of hosts; each is measured both ways */
#define PLAN_HOSTS_MAX 64 /* hosts that are measured with all others */
#define PLAN_FAN_MAX 64   /* other hosts at once */

struct plan {
    struct step *steps; /* owned */
    size_t n;
    size_t n_pairs, n_pairs_left_out; /* pairs of hosts */
};

/* n hosts, of which at most `turns` are one machine. parts: PART_*. -ENOMEM. */
int plan_make(struct plan *ret_plan, int n, int turns, unsigned parts, bool quick);
void plan_release(struct plan *plan);

/* Seconds that the steps from `from` on take, with the pauses between them. */
double plan_seconds(const struct plan *plan, size_t from);

/* The i-th other rank that takes part with a; i is from 0 to plan_fan(n) - 1. */
int plan_other(int n, int a, int i);
int plan_fan(int n);
/* Whether this rank takes part. */
bool plan_takes_part(int n, int a, int rank);

#endif
