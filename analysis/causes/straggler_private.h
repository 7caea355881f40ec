/* SPDX-License-Identifier: MIT */
/* Shared by the files of the stragglers: own times of every rank over the same steps. */
#ifndef CHOKEPOINT_ANALYSIS_CAUSES_STRAGGLER_PRIVATE_H
#define CHOKEPOINT_ANALYSIS_CAUSES_STRAGGLER_PRIVATE_H

#include "analysis/causes/straggler.h"

enum rank_matrix_basis {
    MATRIX_TIMES,  /* free-running ranks: how long their iterations took */
    MATRIX_USE,    /* ranks in step, seen by counters: processor and disk time within a step */
    MATRIX_BUDGET, /* the iteration less the time it waited for others, from the calls of MPI */
};

struct rank_matrix {
    const struct run_model *model;
    enum rank_matrix_basis basis;
    size_t ranks, steps;
    double *own;            /* own[rank * steps + step], s; share of the step for MATRIX_USE; NAN */
    struct window *windows; /* windows[rank * steps + step]; empty where own is NAN */
    const struct rank_budget **budgets; /* by rank; NULL: none */

    size_t *firsts;  /* MATRIX_BUDGET: which step is the first iteration of the rank */
    double *traffic; /* bytes of the rank's host: without calls, who moves many more is no peer */
    int *roles;      /* by their calls of MPI; 0 where there are none */
};

/* -ENOMEM. */
int rank_matrix_make(const struct run_model *model, struct rank_matrix *ret_matrix);
void rank_matrix_release(struct rank_matrix *matrix);

bool rank_matrix_are_peers(const struct rank_matrix *matrix, size_t a, size_t b);

static inline double rank_matrix_own(const struct rank_matrix *matrix, size_t rank, size_t step) {
    return matrix->own[rank * matrix->steps + step];
}

/* Budget of a rank's iteration at a step, NULL if there is none (or no MATRIX_BUDGET). */
const struct budget *rank_matrix_budget(const struct rank_matrix *matrix, size_t rank, size_t step);

/* A rank that was slow, and how much of it is in one term. */
struct slowed {
    const struct rank_matrix *matrix;
    size_t rank;
    struct windows at;      /* when it was slow */
    double own_s, excess_s; /* of that term in a step, and beyond its peers */
    double *room;           /* for a number of each rank */
};

/* Why: fills cause, cause_kind, culprit, explained and adds evidence. slow[0..n_slow): the steps in
 * which it was slow; excess_s: what it took longer than its peers in one of them. -ENOMEM. */
int straggler_explain(const struct rank_matrix *matrix, size_t rank, const size_t *slow,
                      size_t n_slow, double own_s, double excess_s, struct straggler *straggler);

#endif
