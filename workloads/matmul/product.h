/* SPDX-License-Identifier: MIT */
/*
 * The product at one rank: its blocks, the rounds, the account. In round k every rank adds A(i,k)
 * B(k,j) to each of its C(i,j). It needs column k of A and row k of B, which their owners send at
 * the beginning of the round, directly from rank to rank. With --product trace a round adds the
 * traces of A(k,i) B(i,k) at this rank, and nothing is sent.
 */
#ifndef CHOKEPOINT_WORKLOADS_MATMUL_PRODUCT_H
#define CHOKEPOINT_WORKLOADS_MATMUL_PRODUCT_H

#include <mpi.h>

#include "workloads/common/progress.h"
#include "workloads/common/rank_group.h"
#include "workloads/matmul/grid.h"
#include "workloads/matmul/options.h"

/* One rank's account; MPI sends it as plain bytes. */
struct matmul_account {
    uint64_t rounds, products; /* products: of blocks */
    uint64_t sent_bytes, received_bytes, memory_bytes;
    double flop;
    double compute_s, exchange_s; /* exchange_s includes waiting */
    double round_s;               /* median */
};

struct outcome {
    double duration_s; /* of all rounds */
    double trace, expected_trace;
    bool out_of_time;
    bool whole;   /* the last product is complete, so it has a trace */
    bool checked; /* all of C was checked */
};

struct product {
    struct matmul_options *options;
    struct rank_group *group;
    struct grid grid;
    size_t *row_start, element_bytes, block_bytes;
    char *a, *b, *c;       /* the blocks of this rank, block_bytes apart */
    char *column, *row;    /* blocks of A(.,k), B(k,.) received in this round; NULL on one rank */
    char *scratch;         /* two blocks: for a trace or planted work */
    MPI_Request *requests; /* requests of a round */
    int n_requests;
    double *durations_s; /* durations of the rounds */
    struct progress progress;
    struct matmul_account account;
    struct outcome outcome;
};

/* Allocates and fills the matrices. Reports errors on standard error. Returns 0 or negative; call
 * product_release() in any case. */
int product_init(struct product *ret_product, struct matmul_options *options,
                 struct rank_group *group);
void product_release(struct product *product);

/* Collective. Fills outcome and account. */
void product_run(struct product *product);

/* Address of block (i, j) in a matrix of this rank. */
static inline char *product_block(const struct product *p, char *matrix, int i, int j) {
    return matrix + grid_place(&p->grid, p->row_start, p->group->rank, i, j) * p->block_bytes;
}

/* exchange.c: sends and receives the blocks of round k; returns when all are there. */
void product_exchange(struct product *product, int k);

/* check.c: sums the traces; compares C with A and B. Collective, the same result at every rank: 0,
 * or -EBADMSG if the product is wrong, which rank 0 reports. */
int product_check(struct product *product);

#endif
