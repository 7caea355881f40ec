/* SPDX-License-Identifier: MIT */
#include "workloads/matmul/product.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/mark/chokepoint.h"
#include "workloads/matmul/blas.h"
#include "workloads/matmul/element.h"

#ifndef MADV_NOHUGEPAGE /* some C libraries lack it */
#define MADV_NOHUGEPAGE 15
#endif
#ifndef MADV_POPULATE_WRITE /* older headers lack it */
#define MADV_POPULATE_WRITE 23
#endif

#define DURATIONS (1 << 20) /* the median is over the first ones */

/* ---- memory ---- */

static size_t ranks_here(const struct rank_group *group) {
    MPI_Comm here;
    int n = 1;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, group->rank, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &n);
    MPI_Comm_free(&here);
    return (size_t)n;
}

/* The kernel promises more memory than it has, and kills a program that uses it all: so the need of
 * a host's ranks is compared with the host's memory. */
static int refuse_too_much(struct product *p) {
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    size_t here = ranks_here(p->group);
    double need = (double)p->account.memory_bytes * (double)here;
    if (need <= have)
        return 0;
    rank_group_say(p->group,
                   "%.1f GB of matrices for the %zu rank%s of this host, which has %.1f GB: use "
                   "more hosts or a smaller --size",
                   need * 1e-9, here, here == 1 ? "" : "s", have * 1e-9);
    return -ENOMEM;
}

/* Refuses huge pages, which many kernels give by default: a virtual machine returns free ones to
 * its host, and finding 2 MB at a time again takes seven times as long as with small pages. Without
 * support for them there is nothing to refuse. */
static char *allocate_pages(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    char *memory = aligned_alloc(page, whole);
    if (memory)
        madvise(memory, whole, MADV_NOHUGEPAGE);
    return memory;
}

/* Allocates all pages at once, a third cheaper than one by one. Kernels before 5.14 refuse, which
 * does no harm. */
static void fault_in(char *memory, size_t bytes) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)memory % page;
    madvise(memory - before, bytes + before, MADV_POPULATE_WRITE);
}

static int allocate(struct product *p) {
    size_t matrix = (grid_count(&p->grid, p->group->rank) + 1) * p->block_bytes;
    bool full = !p->options->trace_only, comes = full && p->group->n_ranks > 1;
    size_t panel = comes ? (size_t)p->grid.blocks * p->block_bytes : 0;
    char **const parts[] = {&p->a, &p->b, &p->c, &p->column, &p->row, &p->scratch};
    size_t sizes[] = {matrix, matrix, full ? matrix : 0, panel, panel, 2 * p->block_bytes};
    for (int i = 0; i < 6; i++)
        p->account.memory_bytes += sizes[i];
    int r = refuse_too_much(p);
    for (int i = 0; r == 0 && i < 6; i++)
        if (sizes[i] && !(*parts[i] = allocate_pages(sizes[i])))
            r = -errno;
    return r;
}

/* A round sends each block of a panel that is here to all others and receives all blocks that are
 * not. */
static int allocate_small(struct product *p) {
    size_t blocks = (size_t)p->grid.blocks, ranks = (size_t)p->group->n_ranks;
    size_t most = 2 * blocks + 2 * (blocks / ranks + 1) * ranks;
    p->row_start = calloc(blocks, sizeof *p->row_start);
    p->requests = calloc(most, sizeof *p->requests);
    p->durations_s = calloc(DURATIONS, sizeof *p->durations_s);
    return p->row_start && p->requests && p->durations_s ? 0 : -ENOMEM;
}

/* Draws a block while the zeroed pages are still in a cache. */
static void fill_block(struct product *p, int matrix, int i, int j) {
    const struct grid *g = &p->grid;
    char *block = product_block(p, matrix ? p->b : p->a, i, j);
    fault_in(block, p->block_bytes);
    element_fill(block, p->options->wide, p->options->seed, matrix, grid_begin(g, i),
                 grid_begin(g, j), grid_length(g, i), grid_length(g, j));
}

static void draw_matrices(struct product *p) {
    const struct grid *g = &p->grid;
    if (p->c)
        fault_in(p->c, grid_count(g, p->group->rank) * p->block_bytes);
    for (int matrix = 0; matrix < 2; matrix++)
        for (int i = 0; i < g->blocks; i++)
            for (int j = grid_first(g, p->group->rank, i); j < g->blocks; j += g->n_ranks)
                fill_block(p, matrix, i, j);
}

int product_init(struct product *ret, struct matmul_options *options, struct rank_group *group) {
    if (!options->block_is_given)
        options->block = grid_even_block(options->size, options->block, group->n_ranks);
    *ret = (struct product){.options = options,
                            .group = group,
                            .grid = grid_make(options->size, options->block, group->n_ranks),
                            .element_bytes = options->wide ? sizeof(double) : sizeof(float)};
    uint32_t side = options->block < options->size ? options->block : options->size;
    ret->block_bytes = (size_t)side * side * ret->element_bytes;
    int r = allocate_small(ret);
    bool whole = r == 0;
    if (whole)
        r = allocate(ret);
    if (r < 0 && (!whole || ret->account.memory_bytes == 0))
        rank_group_say(group, "not enough memory for %d x %d blocks", ret->grid.blocks,
                       ret->grid.blocks);
    if (r < 0)
        return r;
    grid_row_starts(&ret->grid, group->rank, ret->row_start);
    draw_matrices(ret);
    return 0;
}

void product_release(struct product *p) {
    char *const parts[] = {p->a, p->b, p->c, p->column, p->row, p->scratch};
    for (int i = 0; i < 6; i++)
        free(parts[i]);
    free(p->row_start);
    free(p->requests);
    free(p->durations_s);
    plants_release(&p->options->plants);
}

/* ---- rounds ---- */

static void multiply(struct product *p, uint32_t m, uint32_t n, uint32_t k, const char *a,
                     const char *b, bool add, char *c, double work) {
    int64_t start = chokepoint_now_ns();
    blas_multiply(p->options->wide, m, n, k, a, b, add, c);
    /* planted work: the same product again, discarded; a part of it is a part of the rows */
    for (double more = work - 1; more > 1e-9; more -= 1) {
        uint32_t rows = more >= 1 ? m : (uint32_t)(more * m);
        blas_multiply(p->options->wide, rows, n, k, a, b, false, p->scratch + p->block_bytes);
    }
    p->account.products++;
    p->account.flop += 2.0 * m * n * k;
    chokepoint_operator("block product", (int64_t)((size_t)m * n * p->element_bytes), start,
                        chokepoint_now_ns() - start);
}

/* C(i,j) += A(i,k) B(k,j) for all blocks of this rank. */
static void multiply_panels(struct product *p, int k, double work) {
    const struct grid *g = &p->grid;
    int rank = p->group->rank;
    for (int i = 0; i < g->blocks; i++) {
        const char *a = grid_owner(g, i, k) == rank ? product_block(p, p->a, i, k)
                                                    : p->column + (size_t)i * p->block_bytes;
        for (int j = grid_first(g, rank, i); j < g->blocks; j += g->n_ranks) {
            const char *b = grid_owner(g, k, j) == rank ? product_block(p, p->b, k, j)
                                                        : p->row + (size_t)j * p->block_bytes;
            multiply(p, grid_length(g, i), grid_length(g, j), grid_length(g, k), a, b, k > 0,
                     product_block(p, p->c, i, j), work);
        }
    }
}

/* The traces of A(k,i) B(i,k) at this rank. */
static void multiply_diagonal(struct product *p, int k, double work) {
    const struct grid *g = &p->grid;
    if (k == 0)
        p->outcome.trace = 0;
    for (int i = grid_first(g, p->group->rank, k); i < g->blocks; i += g->n_ranks) {
        uint32_t rows = grid_length(g, k);
        multiply(p, rows, rows, grid_length(g, i), product_block(p, p->a, k, i),
                 product_block(p, p->b, i, k), false, p->scratch, work);
        p->outcome.trace += element_trace(p->scratch, p->options->wide, rows);
    }
}

static double seconds_since(int64_t start_ns) {
    return (double)(chokepoint_now_ns() - start_ns) * 1e-9;
}

static void run_round(struct product *p, int k, double done) {
    int64_t start = chokepoint_now_ns();
    uint64_t received = p->account.received_bytes;
    double work = plants_work(&p->options->plants, p->group->rank, done);
    if (!p->options->trace_only) {
        product_exchange(p, k);
        chokepoint_operator("exchange", (int64_t)(p->account.received_bytes - received), start,
                            chokepoint_now_ns() - start);
    }
    int64_t computing = chokepoint_now_ns();
    int r = plants_compute(&p->options->plants, p->group->rank, done);
    if (p->options->trace_only)
        multiply_diagonal(p, k, work);
    else
        multiply_panels(p, k, work);
    p->account.exchange_s += (double)(computing - start) * 1e-9;
    p->account.compute_s += seconds_since(computing);
    if (p->account.rounds < DURATIONS)
        p->durations_s[p->account.rounds] = seconds_since(start);
    p->account.rounds++;
    if (r == 0)
        return;
    rank_group_say(p->group, "--plant: no working set to be had: %s", strerror(-r));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE); /* the others wait for blocks */
}

/* Whether to go on, the same at every rank; rank 0's clock decides. */
static bool there_is_time(struct product *p, int64_t started_ns) {
    double limit = p->options->time_limit_s;
    int stop = limit > 0 && seconds_since(started_ns) >= limit;
    if (limit > 0)
        rank_group_tell(p->group, &stop);
    p->outcome.out_of_time = stop;
    return !stop;
}

static void show(struct product *p, int64_t started_ns, uint64_t rounds) {
    char text[64];
    snprintf(text, sizeof text, "%.1f GFLOP/s at rank 0",
             p->account.flop * 1e-9 / seconds_since(started_ns));
    if (p->group->rank == 0)
        progress_show(&p->progress, p->options->trace_only ? "trace" : "product",
                      (double)p->account.rounds, (double)rounds, text, false);
}

void product_run(struct product *p) {
    uint64_t blocks = (uint64_t)p->grid.blocks, rounds = p->options->repeat * blocks;
    int64_t started_ns = chokepoint_now_ns();
    progress_start(&p->progress, p->options->quiet, p->options->time_limit_s);
    chokepoint_phase("multiplying");
    chokepoint_iteration_begin();
    for (uint64_t n = 0; n < rounds && there_is_time(p, started_ns); n++) {
        run_round(p, (int)(n % blocks), (double)n / (double)rounds);
        chokepoint_iteration((int64_t)n + 1);
        show(p, started_ns, rounds);
    }
    chokepoint_phase(NULL);
    if (p->group->rank == 0)
        progress_end(&p->progress);
    p->outcome.duration_s = seconds_since(started_ns);
    p->account.round_s =
        median(p->durations_s, p->account.rounds < DURATIONS ? p->account.rounds : DURATIONS);
    p->outcome.whole = p->account.rounds && p->account.rounds % blocks == 0;
}
