/* SPDX-License-Identifier: MIT */
#include "workloads/matmul/options.h"

#include "common/error.h"
#include "workloads/matmul/element.h"
#include "workloads/matmul/grid.h"

#define MAX_BLOCK 8192 /* a block is one message, and MPI counts its length in an int */

static const char usage[] =
    "usage: [mpirun ...] chokepoint-matmul --size N [--block N] [--product full|trace]\n"
    "           [--precision single|double] [--repeat N] [--threads N] [--seed N] [--check]\n"
    "           [--time-limit S] [--json FILE] [--plant CAUSE]... [--spin] [--quiet]\n"
    "\n"
    "C = A B of N x N matrices in blocks over MPI; block (i, j) of each lives at rank\n"
    "(i + j) mod ranks, blocks that a rank lacks are sent to it, the trace of C is summed.\n"
    "\n";

/* No server here applies anything, and no product can be left out. */
static int take_plant(const struct option_word *word, void *to) {
    const struct plants *plants = to;
    int r = word_take_plant(word, to);
    const struct plant *p = r < 0 ? NULL : &plants->plant[plants->n - 1];
    if (!p || (p->kind != PLANT_APPLY && !(p->kind == PLANT_SKEW && p->amount < 1)))
        return r;
    return option_refuse(word, "--plant %.80s: here only skew by 1 or more, sleep, memory and spin",
                         word->text);
}

static int check(const struct matmul_options *o, struct words_error *error) {
    if (!o->size)
        return words_missing("size", error);
    if (!o->wide && o->size > ELEMENT_MAX_SIZE_FLOAT)
        return words_refuse(error,
                            "--size %u needs --precision double: 32-bit sums are exact up to %d",
                            o->size, ELEMENT_MAX_SIZE_FLOAT);
    if (grid_make(o->size, o->block, 1).blocks > GRID_MAX_BLOCKS)
        return words_refuse(error, "--size %u needs a --block of at least %u", o->size,
                            (o->size - 1) / GRID_MAX_BLOCKS + 1);
    if (o->check && o->trace_only)
        return words_refuse(error, "--check needs --product full");
    return 0;
}

int matmul_options_read(int argc, char **argv, struct matmul_options *o,
                        struct words_error *error) {
    static const char *const products[] = {"full", "trace", NULL};
    static const char *const precisions[] = {"single", "double", NULL};
    const struct option_row rows[] = {
        {"--size N", "rows and columns of each matrix", .count32 = &o->size, .low = 1,
         .high = ELEMENT_MAX_SIZE_DOUBLE},
        {"--block N",
         "rows and columns of a block (512, or what gives all ranks as\n"
         "many blocks)",
         .count32 = &o->block, .low = 1, .high = MAX_BLOCK, .given = &o->block_is_given},
        {"--product full|trace",
         "all of C, or only what its trace needs: the products of blocks\n"
         "that live together, without a transfer (full)",
         .choices = products, .second = &o->trace_only},
        {"--precision single|double", "32 or 64 bits (single)", .choices = precisions,
         .second = &o->wide},
        {"--repeat N", "the whole product N times (1)", .count = &o->repeat, .low = 1,
         .high = 1000000},
        {"--threads N", "of OpenBLAS, in each rank (1)", .small = &o->threads, .low = 1,
         .high = 1024},
        {"--seed N", "of the matrices (1)", .count = &o->seed},
        {"--check", "hold all of C against A and B at the end, not its trace alone",
         .flag = &o->check},
        {"--time-limit S", "stop after S seconds, between two rounds", .number = &o->time_limit_s},
        {"--json FILE", "write the summary as JSON", .text = &o->json},
        {"--plant CAUSE",
         "slow itself down, to try a profiler: skew:RANK:FACTOR,\n"
         "sleep:RANK:MS, memory:RANK:MB, spin:RANK:MS, each with an\n"
         "optional @FROM-TO (shares of the rounds); may repeat",
         .take = take_plant, .to = &o->plants},
        {"--spin", "wait in blocking MPI calls, which use a core each", .flag = &o->spin},
        {"--quiet", "no progress", .flag = &o->quiet},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 29, false};
    *o = (struct matmul_options){.block = 512, .threads = 1, .repeat = 1, .seed = 1};
    int r = words_read(&table, argc, argv, error);
    if (r == OPTIONS_HELP)
        options_print_help(&table, stdout);
    return r ? r : check(o, error);
}
