/* SPDX-License-Identifier: MIT */
/*
 * The product at one rank: its blocks, the rounds, the account. In round k every rank adds
 * A(i,k) B(k,j) to each C(i,j) it holds; for that it needs column k of A and row k of B, whose
 * blocks their owners send it at the beginning of the round, straight from rank to rank. With
 * --product trace round k is what of A(k,i) B(i,k) lives here, and nothing is sent.
 */
#ifndef CHOKEPOINT_WORKLOADS_MATMUL_PRODUCT_H
#define CHOKEPOINT_WORKLOADS_MATMUL_PRODUCT_H

#include <mpi.h>

#include "workloads/common/progress.h"
#include "workloads/common/rank_group.h"
#include "workloads/matmul/grid.h"
#include "workloads/matmul/options.h"

/* One rank's account; goes over MPI as it is. */
struct matmul_account {
    uint64_t rounds, products; /* of blocks */
    uint64_t sent_bytes, received_bytes, memory_bytes;
    double flop;
    double compute_s, exchange_s; /* waiting included */
    double round_s;               /* median */
};

struct outcome {
    double duration_s; /* of the rounds */
    double trace, expected_trace;
    bool out_of_time;
    bool whole;   /* the last product has been finished: it has a trace */
    bool checked; /* all of it */
};

struct product {
    struct matmul_options *options;
    struct rank_group *group;
    struct grid grid;
    size_t *row_start, element_bytes, block_bytes;
    char *a, *b, *c;       /* the blocks of this rank, block_bytes apart */
    char *column, *row;    /* what came this round of A(.,k) and B(k,.); NULL on one rank */
    char *scratch;         /* two blocks: for a trace, for planted work */
    MPI_Request *requests; /* of a round */
    int n_requests;
    double *durations_s; /* of the rounds */
    struct progress progress;
    struct matmul_account account;
    struct outcome outcome;
};

/* Allocates and fills the matrices. Says what is wrong on standard error. Returns 0 or negative;
 * product_release() in any case. */
int product_init(struct product *ret_product, struct matmul_options *options,
                 struct rank_group *group);
void product_release(struct product *product);

/* Collective. Fills outcome and account. */
void product_run(struct product *product);

/* Where block (i, j) of a matrix of this rank is. */
char *product_block(const struct product *product, char *matrix, int i, int j);

/* exchange.c: sends and receives what round k needs; returns when all is there. */
void product_exchange(struct product *product, int k);

/* check.c: sums the traces; holds C against A and B. Collective; the same answer at every rank: 0,
 * or -EBADMSG when the product is wrong, said by rank 0. */
int product_check(struct product *product);

#endif
