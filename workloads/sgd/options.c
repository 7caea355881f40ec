/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/options.h"

#include <string.h>

#include "common/error.h"

#define MAX_BATCH 10000000
#define MAX_EXAMPLES (UINT64_MAX / MAX_BATCH)

static const char usage[] =
    "usage: [mpirun ...] chokepoint-sgd --mode sync|async|single --transfer "
    "dense|sparse|dense-down\n"
    "           --features N --data PATH [--batch N] [--iterations N | --examples N]\n"
    "           [--exchange server|allreduce] [--server shared|apart] [--prefetch] [--backup K]\n"
    "           [--rate R] [--decay D] [--test-every N] [--test-data PATH] [--seed N]\n"
    "           [--time-limit S] [--json FILE] [--weights FILE] [--quiet] [--direct]\n"
    "           [--preload] [--checkpoint DIR [--checkpoint-every N] [--resume]]\n"
    "           [--plant CAUSE]...\n"
    "       [mpirun ...] chokepoint-sgd --model softmax --mode sync|async|single --data DIR\n"
    "           [--epochs N] [the same options]\n"
    "       chokepoint-sgd generate --features N --examples N --files K --out DIR\n"
    "           [--test-examples N] [--seed N]\n"
    "\n"
    "Sparse logistic regression or softmax regression over MPI: rank 0 holds the model and works\n"
    "on data as well.\n"
    "\n";

const char *const sgd_mode_names[] = {
    [SGD_SYNC] = "sync", [SGD_ASYNC] = "async", [SGD_SINGLE] = "single", NULL};

static const char *const transfer_names[] = {"sparse", "dense-down", "dense", NULL};

const char *sgd_transfer_name(const struct sgd_options *o) {
    return transfer_names[o->dense_weights + o->dense_gradients];
}

/* The options being read, and what tells that some were given. */
struct reading {
    struct sgd_options *o;
    bool mode, transfer, features, seed;
};

struct wanted {
    const char *name;
    bool given;
};

/* Options without a sensible default must be given. */
static int check_given(const struct wanted *wanted, size_t n, struct words_error *error) {
    for (size_t i = 0; i < n; i++)
        if (!wanted[i].given)
            return words_missing(wanted[i].name, error);
    return 0;
}

/* The first pair of options that exclude each other, if any. */
static int check_together(const struct reading *r, struct words_error *error) {
    const struct sgd_options *o = r->o;
    bool dense = o->dense_gradients || (o->softmax && !r->transfer);
    int limits = (o->iterations > 0) + (o->examples > 0) + (o->epochs > 0);
    const char *wrong =
        limits > 1 ? "only one of --iterations, --examples and --epochs can be given"
        : o->softmax && r->features  ? "--features is for --model binary: images say it"
        : o->softmax && o->test_data ? "--test-data is for --model binary: images come with theirs"
        : o->softmax && (o->direct || o->preload)
            ? "--direct and --preload are for --model binary: images are kept in memory"
        : !o->softmax && o->epochs ? "--epochs is for --model softmax"
        : o->allreduce && o->dense_weights && !o->dense_gradients
            ? "--transfer dense-down is for --exchange server"
        : o->allreduce && o->mode != SGD_SYNC ? "--exchange allreduce is for --mode sync"
        : o->apart && o->mode == SGD_SINGLE   ? "--server apart is not for --mode single"
        : (o->checkpoint_every || o->resume) && !o->checkpoint
            ? "--checkpoint-every and --resume need --checkpoint DIR"
        : o->apart && o->allreduce ? "--server apart is for --exchange server"
        : o->prefetch && (o->mode != SGD_ASYNC || !dense)
            ? "--prefetch is for --mode async --transfer dense"
        : o->backup && (o->mode != SGD_SYNC || o->allreduce)
            ? "--backup is for --mode sync --exchange server"
        : o->backup && o->checkpoint ? "--backup and --checkpoint do not go together"
                                     : NULL;
    return wrong ? words_refuse(error, "%s; see --help", wrong) : 0;
}

static int check_training(const struct reading *r, struct words_error *error) {
    const struct sgd_options *o = r->o;
    bool single = o->mode == SGD_SINGLE && !o->softmax;
    const struct wanted wanted[] = {{"mode", r->mode},
                                    {"transfer", r->transfer || o->softmax || single},
                                    {"features", r->features || o->softmax},
                                    {"data", o->data}};
    int bad = check_given(wanted, ARRAY_SIZE(wanted), error);
    return bad ? bad : check_together(r, error);
}

static void fill_defaults(const struct reading *r) {
    struct sgd_options *o = r->o;
    if (!o->batch)
        o->batch = o->softmax ? 200 : 1000;
    if (!o->iterations && !o->examples && !o->epochs)
        *(o->softmax ? &o->epochs : &o->iterations) = o->softmax ? 50 : 100;
    if (o->softmax && !r->transfer)
        o->dense_weights = o->dense_gradients = true;
}

static int check_generating(const struct generate_options *o, struct words_error *error) {
    const struct wanted wanted[] = {{"features", o->n_features},
                                    {"examples", o->n_examples},
                                    {"files", o->n_files},
                                    {"out", o->directory}};
    return check_given(wanted, ARRAY_SIZE(wanted), error);
}

int sgd_options_read(int argc, char **argv, struct sgd_options *o, struct words_error *error) {
    static const char *const models[] = {"binary", "softmax", NULL};
    static const char *const exchanges[] = {"server", "allreduce", NULL};
    static const char *const servers[] = {"shared", "apart", NULL};
    struct reading g = {.o = o};
    int mode = 0, transfer = 0;
    const struct option_row rows[] = {
        {"--model binary|softmax", "two classes of libsvm records (the default), or images of ten",
         .choices = models, .second = &o->softmax},
        {"--mode sync|async", "all ranks together, or none ever waits for another",
         .choices = sgd_mode_names, .choice = &mode, .given = &g.mode},
        {.help = "  --mode single            one rank, which exchanges nothing\n"},
        {"--transfer dense|sparse|dense-down",
         "the whole model to every worker and the whole gradient back, or\n"
         "only the features that a batch touches, or the whole model down\n"
         "and only those features back (softmax: dense)",
         .choices = transfer_names, .choice = &transfer, .given = &g.transfer},
        {"--exchange server|allreduce",
         "sync: through rank 0 (server), or every rank holds the model and they\n"
         "add up their gradients by collectives",
         .choices = exchanges, .second = &o->allreduce},
        {"--server shared|apart", "rank 0 works on data as well (shared), or only serves",
         .choices = servers, .second = &o->apart},
        {"--prefetch",
         "async dense: a worker pulls its next model while it pushes its\n"
         "gradient, which that model may then lack",
         .flag = &o->prefetch},
        {"--backup K",
         "sync: the slowest K workers of an iteration are not waited for\n"
         "(0); what they send late is dropped",
         .count = &o->backup, .high = 1000000},
        {"--features N", "length of the model (R1: 33762578)", .count32 = &o->n_features, .low = 1,
         .high = UINT32_MAX - 1, .given = &g.features},
        {"--data PATH",
         "libsvm file, or directory of such files, which ranks share out;\n"
         "files may be packed by gzip;\n"
         "softmax: images as chokepoint-data makes or fetches them",
         .text = &o->data},
        {"--batch N", "examples a rank and iteration (1000; softmax 200)", .count = &o->batch,
         .low = 1, .high = MAX_BATCH},
        {"--iterations N", "iterations of each rank (100); async: N times the ranks updates",
         .count = &o->iterations, .low = 1, .high = UINT32_MAX},
        {"--examples N", "as many iterations as N examples make, of all ranks together",
         .count = &o->examples, .low = 1, .high = MAX_EXAMPLES},
        {"--epochs N", "softmax: how often all images are seen, by all ranks (50)",
         .count = &o->epochs, .low = 1, .high = 1000000},
        {"--test-every N", "test accuracy every N iterations (0: at the end)",
         .count = &o->test_every, .high = UINT32_MAX},
        {"--test-data PATH", "held-out file (default: test.libsvm beside the training files)",
         .text = &o->test_data},
        {"--rate R", "learning rate (0.5)", .number = &o->rate},
        {"--decay D", "which becomes R / (1 + D i) in iteration i (0: constant)",
         .number = &o->decay, .high = 1e9},
        {"--seed N",
         "with which of its files a rank begins, or order of the images (0);\n"
         "generate: of the data (1)",
         .count = &o->seed, .given = &g.seed},
        {"--time-limit S", "stop after S seconds", .number = &o->time_limit_s},
        {"--json FILE", "write the summary as JSON", .text = &o->json},
        {"--weights FILE", "write the trained model as 32-bit floats", .text = &o->weights},
        {"--checkpoint DIR", "write the state of the training there at its end",
         .text = &o->checkpoint},
        {"--checkpoint-every N", "... and every N iterations", .count = &o->checkpoint_every,
         .low = 1, .high = UINT32_MAX},
        {"--resume", "go on from the checkpoint in DIR", .flag = &o->resume},
        {"--spin", "wait in blocking MPI calls, which use a core each", .flag = &o->spin},
        {"--direct", "read training data past the page cache (O_DIRECT)", .flag = &o->direct},
        {"--preload", "read the training data once, before training, and keep them",
         .flag = &o->preload},
        {"--plant CAUSE",
         "slow itself down, to try a profiler: skew:RANK:FACTOR,\n"
         "sleep:RANK:MS, apply:MS, memory:RANK:MB, spin:RANK:MS, each with\n"
         "an optional @FROM-TO (shares of the iterations); may repeat",
         .take = word_take_plant, .to = &o->plants},
        {"--quiet", "no progress", .flag = &o->quiet},
    };
    const struct option_row generate_rows[] = {
        {"--features N", NULL, .count32 = &o->n_features, .low = 1, .high = UINT32_MAX - 1},
        {"--examples N", NULL, .count = &o->examples, .low = 1, .high = MAX_EXAMPLES},
        {"--files K", NULL, .small = &o->generate.n_files, .low = 1, .high = 10000},
        {"--out DIR", NULL, .text = &o->generate.directory},
        {"--test-examples N", NULL, .count = &o->generate.n_test},
        {"--seed N", NULL, .count = &o->seed, .given = &g.seed},
    };
    const struct option_table table = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 27, false};
    const struct option_table generate_table = {.rows = generate_rows,
                                                .n = ARRAY_SIZE(generate_rows)};
    bool generates = argc > 1 && strcmp(argv[1], "generate") == 0;
    *o = (struct sgd_options){.rate = .5, .verb = generates ? SGD_GENERATE : SGD_TRAIN};
    int r =
        words_read(generates ? &generate_table : &table, argc - generates, argv + generates, error);
    if (r == OPTIONS_HELP)
        options_print_help(&table, stdout);
    o->mode = (enum sgd_mode)mode;
    o->dense_weights = transfer >= 1;
    o->dense_gradients = transfer == 2;
    o->generate.seed = g.seed ? o->seed : 1;
    o->generate.n_features = o->n_features;
    o->generate.n_examples = o->examples;
    if (r == 0)
        r = generates ? check_generating(&o->generate, error) : check_training(&g, error);
    fill_defaults(&g);
    return r;
}
