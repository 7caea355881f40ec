/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/options.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define MAX_BATCH 10000000

const char options_help[] =
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
    "\n"
    "  --model binary|softmax   two classes of libsvm records (the default), or images of ten\n"
    "  --mode sync|async        all ranks together, or none ever waits for another\n"
    "  --mode single            one rank, which exchanges nothing\n"
    "  --transfer dense|sparse|dense-down\n"
    "                           the whole model to every worker and the whole gradient back, or\n"
    "                           only the features that a batch touches, or the whole model down\n"
    "                           and only those features back (softmax: dense)\n"
    "  --exchange server|allreduce\n"
    "                           sync: through rank 0 (server), or every rank holds the model and "
    "they\n"
    "                           add up their gradients by collectives\n"
    "  --server shared|apart    rank 0 works on data as well (shared), or only serves\n"
    "  --prefetch               async dense: a worker pulls its next model while it pushes its\n"
    "                           gradient, which that model may then lack\n"
    "  --backup K               sync: the slowest K workers of an iteration are not waited for\n"
    "                           (0); what they send late is dropped\n"
    "  --features N             length of the model (R1: 33762578)\n"
    "  --data PATH              libsvm file, or directory of such files, which ranks share out;\n"
    "                           files may be packed by gzip;\n"
    "                           softmax: images as chokepoint-data makes or fetches them\n"
    "  --batch N                examples a rank and iteration (1000; softmax 200)\n"
    "  --iterations N           iterations of each rank (100); async: N times the ranks updates\n"
    "  --examples N             as many iterations as N examples make, of all ranks together\n"
    "  --epochs N               softmax: how often all images are seen, by all ranks (50)\n"
    "  --test-every N           test accuracy every N iterations (0: at the end)\n"
    "  --test-data PATH         held-out file (default: test.libsvm beside the training files)\n"
    "  --rate R                 learning rate (0.5)\n"
    "  --decay D                which becomes R / (1 + D i) in iteration i (0: constant)\n"
    "  --seed N                 with which of its files a rank begins, or order of the images "
    "(0);\n"
    "                           generate: of the data (1)\n"
    "  --time-limit S           stop after S seconds\n"
    "  --json FILE              write the summary as JSON\n"
    "  --weights FILE           write the trained model as 32-bit floats\n"
    "  --checkpoint DIR         write the state of the training there at its end\n"
    "  --checkpoint-every N     ... and every N iterations\n"
    "  --resume                 go on from the checkpoint in DIR\n"
    "  --spin                   wait in blocking MPI calls, which use a core each\n"
    "  --direct                 read training data past the page cache (O_DIRECT)\n"
    "  --preload                read the training data once, before training, and keep them\n"
    "  --plant CAUSE            slow itself down, to try a profiler: skew:RANK:FACTOR,\n"
    "                           sleep:RANK:MS, apply:MS, memory:RANK:MB, spin:RANK:MS, each with\n"
    "                           an optional @FROM-TO (shares of the iterations); may repeat\n"
    "  --quiet                  no progress\n";

const char *const sgd_mode_names[] = {
    [SGD_SYNC] = "sync", [SGD_ASYNC] = "async", [SGD_SINGLE] = "single", NULL};

static const char *const transfer_names[] = {"sparse", "dense-down", "dense", NULL};

const char *sgd_transfer_name(const struct sgd_options *o) {
    return transfer_names[o->dense_weights + o->dense_gradients];
}

enum {
    OPT_MODEL = WORDS_FIRST,
    OPT_MODE,
    OPT_TRANSFER,
    OPT_EXCHANGE,
    OPT_SERVER,
    OPT_PREFETCH,
    OPT_BACKUP,
    OPT_FEATURES,
    OPT_BATCH,
    OPT_ITERATIONS,
    OPT_EXAMPLES,
    OPT_EPOCHS,
    OPT_DATA,
    OPT_TEST_EVERY,
    OPT_TEST_DATA,
    OPT_RATE,
    OPT_DECAY,
    OPT_WEIGHTS,
    OPT_CHECKPOINT,
    OPT_CHECKPOINT_EVERY,
    OPT_RESUME,
    OPT_DIRECT,
    OPT_PRELOAD,
    OPT_FILES,
    OPT_OUT,
    OPT_TEST_EXAMPLES,
    OPT_END,
};

static const struct option train_words[] = {
    {"model", required_argument, NULL, OPT_MODEL},
    {"mode", required_argument, NULL, OPT_MODE},
    {"transfer", required_argument, NULL, OPT_TRANSFER},
    {"exchange", required_argument, NULL, OPT_EXCHANGE},
    {"server", required_argument, NULL, OPT_SERVER},
    {"prefetch", no_argument, NULL, OPT_PREFETCH},
    {"backup", required_argument, NULL, OPT_BACKUP},
    {"features", required_argument, NULL, OPT_FEATURES},
    {"batch", required_argument, NULL, OPT_BATCH},
    {"iterations", required_argument, NULL, OPT_ITERATIONS},
    {"examples", required_argument, NULL, OPT_EXAMPLES},
    {"epochs", required_argument, NULL, OPT_EPOCHS},
    {"data", required_argument, NULL, OPT_DATA},
    {"test-every", required_argument, NULL, OPT_TEST_EVERY},
    {"test-data", required_argument, NULL, OPT_TEST_DATA},
    {"rate", required_argument, NULL, OPT_RATE},
    {"decay", required_argument, NULL, OPT_DECAY},
    {"weights", required_argument, NULL, OPT_WEIGHTS},
    {"checkpoint", required_argument, NULL, OPT_CHECKPOINT},
    {"checkpoint-every", required_argument, NULL, OPT_CHECKPOINT_EVERY},
    {"resume", no_argument, NULL, OPT_RESUME},
    {"direct", no_argument, NULL, OPT_DIRECT},
    {"preload", no_argument, NULL, OPT_PRELOAD},
    WORDS_SHARED,
    {0},
};

static const struct option generate_words[] = {
    {"features", required_argument, NULL, OPT_FEATURES},
    {"examples", required_argument, NULL, OPT_EXAMPLES},
    {"files", required_argument, NULL, OPT_FILES},
    {"out", required_argument, NULL, OPT_OUT},
    {"seed", required_argument, NULL, WORD_SEED},
    {"test-examples", required_argument, NULL, OPT_TEST_EXAMPLES},
    {"help", no_argument, NULL, WORD_HELP},
    {0},
};

/* The options so far, and a set of those that were given. */
struct reading {
    struct sgd_options *o;
    bool given[OPT_END - WORDS_BEGIN];
};

static bool given(const struct reading *r, int option) {
    return r->given[option - WORDS_BEGIN];
}

/* Accepts one of two words; true for the second. */
static int take_either(const struct word *word, const char *no, const char *yes, bool *ret) {
    int which;
    int r = word_choice(word, (const char *const[]){no, yes, NULL}, &which);
    if (r == 0)
        *ret = which == 1;
    return r;
}

static int take_mode(const struct word *word, enum sgd_mode *ret) {
    int which;
    int r = word_choice(word, sgd_mode_names, &which);
    if (r == 0)
        *ret = (enum sgd_mode)which;
    return r;
}

static int take_transfer(const struct word *word, struct sgd_options *o) {
    int which;
    int r = word_choice(word, transfer_names, &which);
    if (r == 0) {
        o->dense_weights = which >= 1;
        o->dense_gradients = which == 2;
    }
    return r;
}

static int take_features(const struct word *word, struct sgd_options *o) {
    uint64_t n;
    int r = word_count(word, 1, UINT32_MAX - 1, &n);
    if (r == 0)
        o->n_features = o->generate.n_features = (uint32_t)n;
    return r;
}

static int take_examples(const struct word *word, struct sgd_options *o) {
    int r = word_count(word, 1, UINT64_MAX / MAX_BATCH, &o->examples);
    o->generate.n_examples = o->examples;
    return r;
}

static int take_seed(const struct word *word, struct sgd_options *o) {
    int r = word_count(word, 0, UINT64_MAX, &o->seed);
    o->generate.seed = o->seed;
    return r;
}

static int take_training(int option, const struct word *word, struct sgd_options *o) {
    switch (option) {
    case OPT_MODEL:
        return take_either(word, "binary", "softmax", &o->softmax);
    case OPT_MODE:
        return take_mode(word, &o->mode);
    case OPT_TRANSFER:
        return take_transfer(word, o);
    case OPT_EXCHANGE:
        return take_either(word, "server", "allreduce", &o->allreduce);
    case OPT_SERVER:
        return take_either(word, "shared", "apart", &o->apart);
    case OPT_PREFETCH:
        return word_flag(&o->prefetch);
    case OPT_BACKUP:
        return word_count(word, 0, 1000000, &o->backup);
    case OPT_BATCH:
        return word_count(word, 1, MAX_BATCH, &o->batch);
    case OPT_ITERATIONS:
        return word_count(word, 1, UINT32_MAX, &o->iterations);
    case OPT_EPOCHS:
        return word_count(word, 1, 1000000, &o->epochs);
    case OPT_DATA:
        return word_text(word, &o->data);
    case OPT_TEST_EVERY:
        return word_count(word, 0, UINT32_MAX, &o->test_every);
    case OPT_TEST_DATA:
        return word_text(word, &o->test_data);
    case OPT_RATE:
        return word_positive(word, &o->rate);
    case OPT_DECAY:
        return word_number(word, 0, 1e9, &o->decay);
    case WORD_TIME_LIMIT:
        return word_positive(word, &o->time_limit_s);
    case WORD_JSON:
        return word_text(word, &o->json);
    case OPT_WEIGHTS:
        return word_text(word, &o->weights);
    case WORD_SPIN:
        return word_flag(&o->spin);
    case OPT_CHECKPOINT:
        return word_text(word, &o->checkpoint);
    case OPT_CHECKPOINT_EVERY:
        return word_count(word, 1, UINT32_MAX, &o->checkpoint_every);
    case OPT_RESUME:
        return word_flag(&o->resume);
    case OPT_DIRECT:
        return word_flag(&o->direct);
    case OPT_PRELOAD:
        return word_flag(&o->preload);
    case WORD_PLANT:
        return word_plant(word, &o->plants);
    case WORD_QUIET:
        return word_flag(&o->quiet);
    default:
        o->verb = OPTIONS_HELP;
        return 1;
    }
}

static int take(int option, const struct word *word, void *into) {
    struct reading *reading = into;
    struct sgd_options *o = reading->o;
    reading->given[option - WORDS_BEGIN] = true;
    switch (option) {
    case OPT_FEATURES:
        return take_features(word, o);
    case OPT_EXAMPLES:
        return take_examples(word, o);
    case WORD_SEED:
        return take_seed(word, o);
    case OPT_FILES:
        return word_small(word, 10000, &o->generate.n_files);
    case OPT_OUT:
        return word_text(word, &o->generate.directory);
    case OPT_TEST_EXAMPLES:
        return word_count(word, 0, UINT64_MAX, &o->generate.n_test);
    default:
        return take_training(option, word, o);
    }
}

/* Options without a sensible default are mandatory; wanted ends with 0. */
static int check_given(const struct reading *reading, const struct option *words, const int *wanted,
                       struct words_error *error) {
    for (; *wanted; wanted++)
        for (const struct option *word = words; word->name; word++)
            if (word->val == *wanted && !given(reading, *wanted))
                return words_missing(word->name, error);
    return 0;
}

/* The first pair of options that exclude each other, if any. */
static int check_together(const struct reading *r, struct words_error *error) {
    const struct sgd_options *o = r->o;
    bool dense = o->dense_gradients || (o->softmax && !given(r, OPT_TRANSFER));
    int limits = given(r, OPT_ITERATIONS) + given(r, OPT_EXAMPLES) + given(r, OPT_EPOCHS);
    const char *wrong =
        limits > 1 ? "only one of --iterations, --examples and --epochs can be given"
        : o->softmax && given(r, OPT_FEATURES) ? "--features is for --model binary: images say it"
        : o->softmax && given(r, OPT_TEST_DATA)
            ? "--test-data is for --model binary: images come with theirs"
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
    if (wrong)
        snprintf(error->text, sizeof error->text, "%s; see --help", wrong);
    return wrong ? -EINVAL : 0;
}

static int check_training(const struct reading *r, struct words_error *error) {
    static const int binary[] = {OPT_MODE, OPT_TRANSFER, OPT_FEATURES, OPT_DATA, 0};
    static const int single[] = {OPT_FEATURES, OPT_DATA, 0};
    static const int softmax[] = {OPT_MODE, OPT_DATA, 0};
    const int *wanted = r->o->softmax ? softmax : r->o->mode == SGD_SINGLE ? single : binary;
    int bad = check_given(r, train_words, wanted, error);
    return bad ? bad : check_together(r, error);
}

static void fill_defaults(const struct reading *r) {
    struct sgd_options *o = r->o;
    if (!o->batch)
        o->batch = o->softmax ? 200 : 1000;
    if (!o->iterations && !o->examples && !o->epochs)
        *(o->softmax ? &o->epochs : &o->iterations) = o->softmax ? 50 : 100;
    if (o->softmax && !given(r, OPT_TRANSFER))
        o->dense_weights = o->dense_gradients = true;
}

int options_parse(int argc, char **argv, struct sgd_options *ret, struct words_error *error) {
    static const int generate[] = {OPT_FEATURES, OPT_EXAMPLES, OPT_FILES, OPT_OUT, 0};
    struct sgd_options o = {.rate = .5, .generate.seed = 1};
    struct reading reading = {.o = &o};
    bool generates = argc > 1 && strcmp(argv[1], "generate") == 0;
    o.verb = generates ? OPTIONS_GENERATE : OPTIONS_TRAIN;
    int r = words_parse(argc - generates, argv + generates,
                        generates ? generate_words : train_words, take, &reading, error);
    if (r == 0)
        r = generates ? check_given(&reading, generate_words, generate, error)
                      : check_training(&reading, error);
    if (r >= 0) {
        fill_defaults(&reading);
        *ret = o;
    }
    return r < 0 ? r : 0;
}
