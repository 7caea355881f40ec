/* SPDX-License-Identifier: MIT */
#include "workloads/matmul/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "workloads/matmul/element.h"
#include "workloads/matmul/grid.h"

#define MAX_BLOCK 8192 /* a block is one message, and MPI counts its length in an int */

const char matmul_help[] =
    "usage: [mpirun ...] chokepoint-matmul --size N [--block N] [--product full|trace]\n"
    "           [--precision single|double] [--repeat N] [--threads N] [--seed N] [--check]\n"
    "           [--time-limit S] [--json FILE] [--plant CAUSE]... [--spin] [--quiet]\n"
    "\n"
    "C = A B of N x N matrices in blocks over MPI; block (i, j) of each lives at rank\n"
    "(i + j) mod ranks, blocks that a rank lacks are sent to it, the trace of C is summed.\n"
    "\n"
    "  --size N                   rows and columns of each matrix\n"
    "  --block N                  rows and columns of a block (512, or what gives all ranks as\n"
    "                             many blocks)\n"
    "  --product full|trace       all of C, or only what its trace needs: the products of blocks\n"
    "                             that live together, without a transfer (full)\n"
    "  --precision single|double  32 or 64 bits (single)\n"
    "  --repeat N                 the whole product N times (1)\n"
    "  --threads N                of OpenBLAS, in each rank (1)\n"
    "  --seed N                   of the matrices (1)\n"
    "  --check                    hold all of C against A and B at the end, not its trace alone\n"
    "  --time-limit S             stop after S seconds, between two rounds\n"
    "  --json FILE                write the summary as JSON\n"
    "  --plant CAUSE              slow itself down, to try a profiler: skew:RANK:FACTOR,\n"
    "                             sleep:RANK:MS, memory:RANK:MB, spin:RANK:MS, each with an\n"
    "                             optional @FROM-TO (shares of the rounds); may repeat\n"
    "  --spin                     wait in blocking MPI calls, which use a core each\n"
    "  --quiet                    no progress\n";

enum {
    OPT_SIZE = WORDS_FIRST,
    OPT_BLOCK,
    OPT_PRODUCT,
    OPT_PRECISION,
    OPT_REPEAT,
    OPT_THREADS,
    OPT_CHECK,
};

static const struct option matmul_words[] = {
    {"size", required_argument, NULL, OPT_SIZE},
    {"block", required_argument, NULL, OPT_BLOCK},
    {"product", required_argument, NULL, OPT_PRODUCT},
    {"precision", required_argument, NULL, OPT_PRECISION},
    {"repeat", required_argument, NULL, OPT_REPEAT},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"check", no_argument, NULL, OPT_CHECK},
    WORDS_SHARED,
    {0},
};

static int take_small(const struct word *word, uint64_t most, uint32_t *ret) {
    uint64_t n;
    int r = word_count(word, 1, most, &n);
    if (r == 0)
        *ret = (uint32_t)n;
    return r;
}

static int take_choice(const struct word *word, const char *no, const char *yes, bool *ret) {
    int which;
    int r = word_choice(word, (const char *const[]){no, yes, NULL}, &which);
    if (r == 0)
        *ret = which == 1;
    return r;
}

/* No server here applies anything, and no product can be left out. */
static int take_plant(const struct word *word, struct plants *plants) {
    int r = word_plant(word, plants);
    const struct plant *p = r < 0 ? NULL : &plants->plant[plants->n - 1];
    if (!p || (p->kind != PLANT_APPLY && !(p->kind == PLANT_SKEW && p->amount < 1)))
        return r;
    snprintf(word->error->text, sizeof word->error->text,
             "--plant %.80s: here only skew by 1 or more, sleep, memory and spin", word->text);
    return -EINVAL;
}

static int take(int option, const struct word *word, void *into) {
    struct matmul_options *o = into;
    switch (option) {
    case OPT_SIZE:
        return take_small(word, ELEMENT_MAX_SIZE_DOUBLE, &o->size);
    case OPT_BLOCK:
        o->block_is_given = true;
        return take_small(word, MAX_BLOCK, &o->block);
    case OPT_PRODUCT:
        return take_choice(word, "full", "trace", &o->trace_only);
    case OPT_PRECISION:
        return take_choice(word, "single", "double", &o->wide);
    case OPT_REPEAT:
        return word_count(word, 1, 1000000, &o->repeat);
    case OPT_THREADS:
        return word_small(word, 1024, &o->threads);
    case WORD_SEED:
        return word_count(word, 0, UINT64_MAX, &o->seed);
    case OPT_CHECK:
        return word_flag(&o->check);
    case WORD_TIME_LIMIT:
        return word_positive(word, &o->time_limit_s);
    case WORD_JSON:
        return word_text(word, &o->json);
    case WORD_PLANT:
        return take_plant(word, &o->plants);
    case WORD_SPIN:
        return word_flag(&o->spin);
    case WORD_QUIET:
        return word_flag(&o->quiet);
    default:
        o->help = true;
        return 1;
    }
}

static int check(const struct matmul_options *o, struct words_error *error) {
    if (!o->size)
        return words_missing("size", error);
    if (!o->wide && o->size > ELEMENT_MAX_SIZE_FLOAT)
        snprintf(error->text, sizeof error->text,
                 "--size %u needs --precision double: 32-bit sums are exact up to %d", o->size,
                 ELEMENT_MAX_SIZE_FLOAT);
    else if (grid_make(o->size, o->block, 1).blocks > GRID_MAX_BLOCKS)
        snprintf(error->text, sizeof error->text, "--size %u needs a --block of at least %u",
                 o->size, (o->size - 1) / GRID_MAX_BLOCKS + 1);
    else if (o->check && o->trace_only)
        snprintf(error->text, sizeof error->text, "--check needs --product full");
    else
        return 0;
    return -EINVAL;
}

int matmul_options_parse(int argc, char **argv, struct matmul_options *ret,
                         struct words_error *error) {
    struct matmul_options o = {.block = 512, .threads = 1, .repeat = 1, .seed = 1};
    int r = words_parse(argc, argv, matmul_words, take, &o, error);
    if (r == 0)
        r = check(&o, error);
    if (r >= 0)
        *ret = o;
    return r < 0 ? r : 0;
}
