/* SPDX-License-Identifier: MIT */
#include "workloads/matmul/product.h"

static void count(struct product *p, MPI_Request **next) {
    ++*next;
    p->n_requests++;
}

/* Sends a block to all ranks that need it, or receives it from its owner. */
static void move_block(struct product *p, char *own, char *come, size_t n_elements, int i,
                       int owner, int tag) {
    MPI_Datatype type = p->options->wide ? MPI_DOUBLE : MPI_FLOAT;
    MPI_Request *next = &p->requests[p->n_requests];
    size_t bytes = n_elements * p->element_bytes;
    if (owner != p->group->rank) {
        if (!grid_needs(&p->grid, p->group->rank, i))
            return;
        MPI_Irecv(come, (int)n_elements, type, owner, tag, MPI_COMM_WORLD, next);
        p->account.received_bytes += bytes;
        count(p, &next);
        return;
    }
    for (int to = 1; to < p->group->n_ranks; to++) {
        int peer = (p->group->rank + to) % p->group->n_ranks; /* senders begin at different ranks */
        if (!grid_needs(&p->grid, peer, i))
            continue;
        MPI_Isend(own, (int)n_elements, type, peer, tag, MPI_COMM_WORLD, next);
        p->account.sent_bytes += bytes;
        count(p, &next);
    }
}

void product_exchange(struct product *p, int k) {
    const struct grid *g = &p->grid;
    p->n_requests = 0;
    if (g->n_ranks == 1)
        return; /* all blocks are here */
    for (int i = 0; i < g->blocks; i++) {
        int owner = grid_owner(g, i, k);
        bool own = owner == p->group->rank;
        size_t n = (size_t)grid_length(g, i) * grid_length(g, k);
        move_block(p, own ? product_block(p, p->a, i, k) : NULL,
                   p->column + (size_t)i * p->block_bytes, n, i, owner, i);
        move_block(p, own ? product_block(p, p->b, k, i) : NULL,
                   p->row + (size_t)i * p->block_bytes, n, i, owner, g->blocks + i);
    }
    wait_all(&p->group->waiter, p->n_requests, p->requests);
}
