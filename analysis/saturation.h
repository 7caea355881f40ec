/* SPDX-License-Identifier: MIT */
/*
 * Candidates for the verdict: (host, resource, phase) with the share of time that something waited
 * for it, and whether there is evidence that the supply ran out. Utilisation alone makes no
 * candidate: a full CPU on which nobody waits is a CPU well used (or an MPI that spins).
 */
#ifndef CHOKEPOINT_ANALYSIS_SATURATION_H
#define CHOKEPOINT_ANALYSIS_SATURATION_H

#include "analysis/arithmetic.h"
#include "analysis/finding.h"
#include "analysis/scene.h"

/* Thresholds; to be tuned on recordings with planted faults. Shares of time. */
#define BLOCKED_MIN 0.05      /* of the run: less is not worth naming */
#define CONTENTION_MIN 0.10   /* run-queue delay over CPU time */
#define PSI_CPU_MIN 0.10      /* PSI cpu some */
#define STEAL_MIN 0.03        /* steal */
#define PSI_IO_MIN 0.10       /* PSI io some */
#define DISK_BUSY_MIN 0.70    /* of the device; below it a slow disk is a throttled or remote one */
#define PSI_MEMORY_MIN 0.03   /* PSI memory some */
#define REFAULT_MIN_MB_S 20.0 /* pages read again soon after they were thrown out */
#define SWAP_MIN_MB_S 1.0     /* swapping in or out */
#define HEADROOM_MIN 0.15     /* of memory available: more is no shortage */
#define PLATEAU_BAND 0.10     /* a rate so close below its ceiling is at it */
#define PLATEAU_AMOUNT_MIN 0.40  /* of the bytes moved there; of random rates a fifth would be */
#define NETWORK_BLOCKED_MIN 0.20 /* a busy link is no proof that anybody waits for it */
#define NETWORK_FULL 0.80        /* of a measured ceiling on average: no plateau needs to be seen */
#define NETWORK_MIN_MB_S 5.0     /* a ceiling lower than this is no link we know */
#define PEER_CEILING_MIN 0.70    /* of the highest ceiling: below, the host's link is not the one */
#define BUSY_RANK 0.85           /* CPU and run queue of a rank: it computes, or it spins */

struct candidate {
    int host;
    size_t group;         /* of the scene: the phase */
    const char *resource; /* as in the JSON contract */
    char *cause;          /* words */
    double blocked;       /* share of the phase's time */
    double run_share;     /* of the run's */
    bool supply;          /* somebody demonstrably waited for it */
    int signals;          /* independent observations that agree */
    struct text_list evidence, against;
    /* Where `blocked` comes from, so that it can be asked again for any window: */
    const struct rate *signal;
    double factor;  /* blocked = factor x mean */
    double ceiling; /* of a link; else 0 */
    double reached; /* share of a ceiling that was measured, again and again; 0: as far as seen */
};

#define UNSUPPLIED_WEIGHT 0.75 /* of a share without such evidence, in the order of candidates */

struct candidates {
    struct candidate *items; /* the greatest share of the run first, weighted by its evidence */
    size_t n, capacity;
    struct text_list ruled_out; /* resources that were looked at and are not it */
    struct arithmetic *arithmetic;
    size_t n_arithmetic;
};

/* -ENOMEM. */
int saturation_find(const struct scene *scene, struct candidates *ret_candidates);
void candidates_release(struct candidates *candidates);

/* Blocked share within other windows than the phase's: between 0 and 1, NAN without data. */
double candidate_blocked(const struct candidate *candidate, struct windows windows);

/* The budget of a process of the scene in a group, if it can be trusted; else NULL. */
const struct budget *saturation_budget(const struct scene *scene,
                                       const struct scene_process *process, size_t group);

/* Median over the job's ranks of the share of the group that they ran or wanted to (not counting
 * time inside MPI, where that is known: there they spin); over hosts, if
 * no process has a rank; NAN if nothing of the job was seen. */
double ranks_busy(const struct scene *scene, size_t group);

/* ---- one for each resource: they add what they find ---- */

struct candidate *candidates_add(struct candidates *candidates, const struct candidate *candidate);

int saturation_cpu(const struct scene *scene, size_t group, struct candidates *candidates);
int saturation_steal(const struct scene *scene, size_t group, struct candidates *candidates);
int saturation_disk(const struct scene *scene, size_t group, struct candidates *candidates);
int saturation_memory(const struct scene *scene, size_t group, struct candidates *candidates);
int saturation_network(const struct scene *scene, size_t group, struct candidates *candidates);

#endif
