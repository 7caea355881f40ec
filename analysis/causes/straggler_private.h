/* SPDX-License-Identifier: MIT */
/* Shared by the files on stragglers: own times of every rank over the same steps. */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_STRAGGLER_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_CAUSES_STRAGGLER_PRIVATE_H

#include "analysis/causes/straggler.h"

enum rank_matrix_basis {
    MATRIX_TIMES,  /* free-running ranks: duration of their iterations */
    MATRIX_USE,    /* ranks in step without calls: processor and disk time within a step */
    MATRIX_BUDGET, /* the iteration less its waits for others, from the calls of MPI */
};

struct rank_matrix {
    const struct run_model *model;
    enum rank_matrix_basis basis;
    size_t ranks, steps;
    double *own;            /* own[rank * steps + step], s; share of the step for MATRIX_USE; NAN */
    struct window *windows; /* windows[rank * steps + step]; empty where own is NAN */
    const struct rank_budget **budgets; /* by rank; NULL: none */

    size_t *firsts;  /* MATRIX_BUDGET: step of the rank's first iteration */
    double *traffic; /* bytes of the rank's host: without calls, a rank with many more is no peer */
    int *roles;      /* from their calls of MPI; 0: there are none */
};

/* -ENOMEM. */
int rank_matrix_make(const struct run_model *model, struct rank_matrix *ret_matrix);
void rank_matrix_release(struct rank_matrix *matrix);

bool rank_matrix_are_peers(const struct rank_matrix *matrix, size_t a, size_t b);

static inline double rank_matrix_own(const struct rank_matrix *matrix, size_t rank, size_t step) {
    return matrix->own[rank * matrix->steps + step];
}

/* Budget of a rank's iteration at a step; NULL: there is none (or no MATRIX_BUDGET). */
const struct budget *rank_matrix_budget(const struct rank_matrix *matrix, size_t rank, size_t step);

/* A slow rank, and the part of its excess in one term. */
struct slowed {
    const struct rank_matrix *matrix;
    size_t rank;
    struct windows at;      /* when it was slow */
    double own_s, excess_s; /* of that term in a step: its time, and its excess over peers */
    double *room;           /* for one number per rank */
};

/* Finds the reason: fills cause, cause_kind, culprit, explained and adds evidence. slow[0..n_slow):
 * the steps in which it was slow; excess_s: its excess over its peers in such a step. -ENOMEM. */
int straggler_explain(const struct rank_matrix *matrix, size_t rank, const size_t *slow,
                      size_t n_slow, double own_s, double excess_s, struct straggler *straggler);

#endif
