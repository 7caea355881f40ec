/* SPDX-License-Identifier: MIT */
#include "workloads/sgd/options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char options_help[] =
    "usage: [mpirun ...] chokepoint-sgd --mode sync|async --transfer dense|sparse --features N\n"
    "           --data PATH [--batch N] [--iterations N] [--test-every N] [--test-data PATH]\n"
    "           [--rate R] [--seed N] [--time-limit S] [--json FILE] [--weights FILE] [--quiet]\n"
    "           [--direct] [--plant CAUSE]...\n"
    "       chokepoint-sgd generate --features N --examples N --files K --out DIR\n"
    "           [--test-examples N] [--seed N]\n"
    "\n"
    "Sparse logistic regression over MPI: rank 0 holds the model and works on data as well.\n"
    "\n"
    "  --mode sync|async        all ranks together, or none ever waits for another\n"
    "  --transfer dense|sparse  the whole model to every worker and the whole gradient back, or "
    "only\n"
    "                           the features that a batch touches\n"
    "  --features N             length of the model (R1: 33762578)\n"
    "  --data PATH              libsvm file, or directory with train-*.libsvm; ranks share them "
    "out\n"
    "  --batch N                examples a rank and iteration (1000)\n"
    "  --iterations N           iterations of each rank (100); async: N times the ranks updates\n"
    "  --test-every N           test accuracy every N iterations (0: at the end)\n"
    "  --test-data PATH         held-out file (default: test.libsvm beside the training files)\n"
    "  --rate R                 learning rate (0.5)\n"
    "  --seed N                 with which of its files a rank begins (0); generate: of the data "
    "(1)\n"
    "  --time-limit S           stop after S seconds\n"
    "  --json FILE              write the summary as JSON\n"
    "  --weights FILE           write the trained model as 32-bit floats\n"
    "  --spin                   wait in blocking MPI calls, which use a core each\n"
    "  --direct                 read training data past the page cache (O_DIRECT)\n"
    "  --plant CAUSE            slow itself down, to try a profiler: skew:RANK:FACTOR,\n"
    "                           sleep:RANK:MS, apply:MS, memory:RANK:MB, spin:RANK:MS, each with\n"
    "                           an optional @FROM-TO (shares of the iterations); may repeat\n"
    "  --quiet                  no progress\n";

enum {
    OPT_MODE = 256,
    OPT_TRANSFER,
    OPT_FEATURES,
    OPT_BATCH,
    OPT_ITERATIONS,
    OPT_DATA,
    OPT_TEST_EVERY,
    OPT_TEST_DATA,
    OPT_RATE,
    OPT_SEED,
    OPT_TIME_LIMIT,
    OPT_JSON,
    OPT_WEIGHTS,
    OPT_SPIN,
    OPT_DIRECT,
    OPT_PLANT,
    OPT_QUIET,
    OPT_HELP,
    OPT_EXAMPLES,
    OPT_FILES,
    OPT_OUT,
    OPT_TEST_EXAMPLES,
};

static const struct option train_options[] = {
    {"mode", required_argument, NULL, OPT_MODE},
    {"transfer", required_argument, NULL, OPT_TRANSFER},
    {"features", required_argument, NULL, OPT_FEATURES},
    {"batch", required_argument, NULL, OPT_BATCH},
    {"iterations", required_argument, NULL, OPT_ITERATIONS},
    {"data", required_argument, NULL, OPT_DATA},
    {"test-every", required_argument, NULL, OPT_TEST_EVERY},
    {"test-data", required_argument, NULL, OPT_TEST_DATA},
    {"rate", required_argument, NULL, OPT_RATE},
    {"seed", required_argument, NULL, OPT_SEED},
    {"time-limit", required_argument, NULL, OPT_TIME_LIMIT},
    {"json", required_argument, NULL, OPT_JSON},
    {"weights", required_argument, NULL, OPT_WEIGHTS},
    {"spin", no_argument, NULL, OPT_SPIN},
    {"direct", no_argument, NULL, OPT_DIRECT},
    {"plant", required_argument, NULL, OPT_PLANT},
    {"quiet", no_argument, NULL, OPT_QUIET},
    {"help", no_argument, NULL, OPT_HELP},
    {0},
};

static const struct option generate_options[] = {
    {"features", required_argument, NULL, OPT_FEATURES},
    {"examples", required_argument, NULL, OPT_EXAMPLES},
    {"files", required_argument, NULL, OPT_FILES},
    {"out", required_argument, NULL, OPT_OUT},
    {"seed", required_argument, NULL, OPT_SEED},
    {"test-examples", required_argument, NULL, OPT_TEST_EXAMPLES},
    {"help", no_argument, NULL, OPT_HELP},
    {0},
};

/* Reads the value of one option; what is wrong with it goes into the error. */
struct value {
    const char *name, *text;
    struct options_error *error;
};

static int refuse(const struct value *v, const char *expected) {
    snprintf(v->error->text, sizeof v->error->text, "--%s expects %s, not \"%.100s\"", v->name,
             expected, v->text);
    return -EINVAL;
}

static int take_count(const struct value *v, uint64_t least, uint64_t most, uint64_t *ret) {
    char *end, expected[80];
    errno = 0;
    unsigned long long n = isdigit((unsigned char)*v->text) ? strtoull(v->text, &end, 10) : 0;
    if (!isdigit((unsigned char)*v->text) || *end || errno || n < least || n > most) {
        snprintf(expected, sizeof expected, "a whole number from %llu to %llu",
                 (unsigned long long)least, (unsigned long long)most);
        return refuse(v, expected);
    }
    *ret = n;
    return 0;
}

static int take_positive(const struct value *v, double *ret) {
    char *end;
    double x = strtod(v->text, &end);
    if (end == v->text || *end || !isfinite(x) || x <= 0)
        return refuse(v, "a positive number");
    *ret = x;
    return 0;
}

/* One of two words; true for the first. */
static int take_choice(const struct value *v, const char *yes, const char *no, bool *ret) {
    char expected[64];
    snprintf(expected, sizeof expected, "%s or %s", yes, no);
    if (strcmp(v->text, yes) != 0 && strcmp(v->text, no) != 0)
        return refuse(v, expected);
    *ret = strcmp(v->text, yes) == 0;
    return 0;
}

static int take_features(const struct value *v, struct sgd_options *o) {
    uint64_t n;
    int r = take_count(v, 1, UINT32_MAX - 1, &n);
    if (r == 0)
        o->n_features = o->generate.n_features = (uint32_t)n;
    return r;
}

static int take_text(const char *text, const char **ret) {
    *ret = text;
    return 0;
}

static int take_flag(bool *ret) {
    *ret = true;
    return 0;
}

static int take_files(const struct value *v, int *ret) {
    uint64_t n = 0;
    int r = take_count(v, 1, 10000, &n);
    *ret = (int)n;
    return r;
}

static int take_seed(const struct value *v, struct sgd_options *o) {
    int r = take_count(v, 0, UINT64_MAX, &o->seed);
    o->generate.seed = o->seed;
    return r;
}

static int take_plant(const struct value *v, struct plants *ret) {
    int r = plants_add(ret, v->text);
    if (r == -E2BIG)
        return refuse(v, "to be given at most 8 times");
    return r < 0 ? refuse(v, plant_help) : 0;
}

static int take(int option, const struct value *v, struct sgd_options *o) {
    switch (option) {
    case OPT_MODE:
        return take_choice(v, "async", "sync", &o->async);
    case OPT_TRANSFER:
        return take_choice(v, "dense", "sparse", &o->dense);
    case OPT_FEATURES:
        return take_features(v, o);
    case OPT_BATCH:
        return take_count(v, 1, 10000000, &o->batch);
    case OPT_ITERATIONS:
        return take_count(v, 1, UINT32_MAX, &o->iterations);
    case OPT_DATA:
        return take_text(v->text, &o->data);
    case OPT_TEST_EVERY:
        return take_count(v, 0, UINT32_MAX, &o->test_every);
    case OPT_TEST_DATA:
        return take_text(v->text, &o->test_data);
    case OPT_RATE:
        return take_positive(v, &o->rate);
    case OPT_SEED:
        return take_seed(v, o);
    case OPT_TIME_LIMIT:
        return take_positive(v, &o->time_limit_s);
    case OPT_JSON:
        return take_text(v->text, &o->json);
    case OPT_WEIGHTS:
        return take_text(v->text, &o->weights);
    case OPT_SPIN:
        return take_flag(&o->spin);
    case OPT_DIRECT:
        return take_flag(&o->direct);
    case OPT_PLANT:
        return take_plant(v, &o->plants);
    case OPT_QUIET:
        return take_flag(&o->quiet);
    case OPT_EXAMPLES:
        return take_count(v, 1, UINT64_MAX, &o->generate.n_examples);
    case OPT_FILES:
        return take_files(v, &o->generate.n_files);
    case OPT_OUT:
        return take_text(v->text, &o->generate.directory);
    case OPT_TEST_EXAMPLES:
        return take_count(v, 0, UINT64_MAX, &o->generate.n_test);
    default:
        o->verb = OPTIONS_HELP;
        return 0;
    }
}

static int missing(const char *name, struct options_error *error) {
    snprintf(error->text, sizeof error->text, "--%s is missing; see --help", name);
    return -EINVAL;
}

/* What has no sensible default must have been said. */
static int check_given(const struct sgd_options *o, const bool *given,
                       struct options_error *error) {
    static const int train[] = {OPT_MODE, OPT_TRANSFER, OPT_FEATURES, OPT_DATA, 0};
    static const int generate[] = {OPT_FEATURES, OPT_EXAMPLES, OPT_FILES, OPT_OUT, 0};
    const struct option *options = o->verb == OPTIONS_TRAIN ? train_options : generate_options;
    for (const int *want = o->verb == OPTIONS_TRAIN ? train : generate; *want; want++)
        for (const struct option *option = options; option->name; option++)
            if (option->val == *want && !given[*want - OPT_MODE])
                return missing(option->name, error);
    return 0;
}

int options_parse(int argc, char **argv, struct sgd_options *ret_options,
                  struct options_error *error) {
    struct sgd_options o = {.batch = 1000, .iterations = 100, .rate = .5};
    bool given[OPT_TEST_EXAMPLES - OPT_MODE + 1] = {false};
    o.generate.seed = 1;
    if (argc > 1 && strcmp(argv[1], "generate") == 0) {
        o.verb = OPTIONS_GENERATE;
        argc--;
        argv++;
    }
    const struct option *options = o.verb == OPTIONS_TRAIN ? train_options : generate_options;
    optind = 1;
    opterr = 0;
    for (int c, which = 0; (c = getopt_long(argc, argv, ":", options, &which)) != -1;) {
        if (c == '?' || c == ':') {
            snprintf(error->text, sizeof error->text, "%s %.100s; see --help",
                     c == '?' ? "unknown option" : "no value after", argv[optind - 1]);
            return -EINVAL;
        }
        int r = take(c, &(struct value){options[which].name, optarg, error}, &o);
        if (r < 0)
            return r;
        given[c - OPT_MODE] = true;
    }
    if (o.verb != OPTIONS_HELP && optind < argc) {
        snprintf(error->text, sizeof error->text, "unexpected argument %.100s; see --help",
                 argv[optind]);
        return -EINVAL;
    }
    int r = o.verb == OPTIONS_HELP ? 0 : check_given(&o, given, error);
    if (r == 0)
        *ret_options = o;
    return r;
}
