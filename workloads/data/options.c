/* SPDX-License-Identifier: MIT */
#include "workloads/data/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char data_help[] =
    "usage: chokepoint-data generate digits|textures --out DIR [--train N] [--test N] [--seed N]\n"
    "           [--quiet]\n"
    "       chokepoint-data fetch mnist|cifar10|URL [--out DIR] [--from URL] [--sha256 SUM] "
    "[--quiet]\n"
    "       chokepoint-data check DIR\n"
    "\n"
    "Images to train with: drawn by program, or fetched; and what of them a directory holds.\n"
    "\n"
    "  --out DIR     where to (fetch: chokepoint/NAME in the user's cache directory)\n"
    "  --train N     training images (60000; textures: 50000)\n"
    "  --test N      test images (10000)\n"
    "  --seed N      of the images (1); the same one gives the same bytes\n"
    "  --from URL    another place that has the files of mnist or cifar10\n"
    "  --sha256 SUM  checksum of what URL has; of mnist and cifar10 it is known\n"
    "  --quiet       no progress\n";

enum {
    OPT_OUT = WORDS_FIRST,
    OPT_TRAIN,
    OPT_TEST,
    OPT_SEED,
    OPT_FROM,
    OPT_SHA256,
    OPT_QUIET,
    OPT_HELP
};

#define QUIET                                                                                      \
    { "quiet", no_argument, NULL, OPT_QUIET }
#define HELP                                                                                       \
    { "help", no_argument, NULL, OPT_HELP }
#define OUT                                                                                        \
    { "out", required_argument, NULL, OPT_OUT }

static const struct option words_of[][8] = {
    [DATA_HELP] = {HELP, {0}},
    [DATA_GENERATE] = {OUT,
                       {"train", required_argument, NULL, OPT_TRAIN},
                       {"test", required_argument, NULL, OPT_TEST},
                       {"seed", required_argument, NULL, OPT_SEED},
                       QUIET,
                       HELP,
                       {0}},
    [DATA_CHECK] = {HELP, {0}},
    [DATA_FETCH] = {OUT,
                    {"from", required_argument, NULL, OPT_FROM},
                    {"sha256", required_argument, NULL, OPT_SHA256},
                    QUIET,
                    HELP,
                    {0}},
};

static int take_images(const struct word *word, uint64_t least, uint32_t *ret) {
    uint64_t n;
    int r = word_count(word, least, 10000000, &n);
    if (r == 0)
        *ret = (uint32_t)n;
    return r;
}

static int take_sum(const struct word *word, const char **ret) {
    size_t n = 0;
    while (isxdigit((unsigned char)word->text[n]))
        n++;
    *ret = word->text;
    if (n == 64 && !word->text[n])
        return 0;
    snprintf(word->error->text, sizeof word->error->text,
             "--sha256 expects 64 hexadecimal digits, not \"%.100s\"", word->text);
    return -EINVAL;
}

static int take(int option, const struct word *word, void *into) {
    struct data_options *o = into;
    switch (option) {
    case OPT_OUT:
        o->out = word->text;
        return 0;
    case OPT_TRAIN:
        return take_images(word, 1, &o->generate.n_train);
    case OPT_TEST:
        return take_images(word, 0, &o->generate.n_test);
    case OPT_SEED:
        return word_count(word, 0, UINT64_MAX, &o->generate.seed);
    case OPT_FROM:
        o->from = word->text;
        return 0;
    case OPT_SHA256:
        return take_sum(word, &o->sha256);
    case OPT_QUIET:
        o->quiet = true;
        return 0;
    default:
        o->verb = DATA_HELP;
        return 1;
    }
}

static int wrong(struct words_error *error, const char *format, const char *text) {
    snprintf(error->text, sizeof error->text, format, text);
    return -EINVAL;
}

static int check(struct data_options *o, struct words_error *error) {
    bool known = strcmp(o->what, "mnist") == 0 || strcmp(o->what, "cifar10") == 0;
    if (o->verb == DATA_GENERATE && !o->out)
        return words_missing("out", error);
    if (o->verb == DATA_GENERATE && strcmp(o->what, "digits") != 0 && !o->generate.textures)
        return wrong(error, "generate expects digits or textures, not \"%.100s\"", o->what);
    if (o->verb == DATA_FETCH && !known && !strstr(o->what, "://"))
        return wrong(error, "fetch expects mnist, cifar10 or a URL, not \"%.100s\"", o->what);
    if (o->verb == DATA_FETCH && known && o->sha256)
        return wrong(error, "--sha256 is known of %.100s", o->what);
    if (o->verb == DATA_FETCH && !known && o->from)
        return wrong(error, "--from is for mnist and cifar10, not for %.100s", o->what);
    return 0;
}

int data_options_parse(int argc, char **argv, struct data_options *ret, struct words_error *error) {
    static const char *const verbs[] = {"--help", "generate", "check", "fetch"};
    struct data_options o = {.verb = DATA_HELP, .generate = {.n_test = 10000, .seed = 1}};
    int r = 0, verb = 0;
    while (argc > 1 && verb < 4 && strcmp(argv[1], verbs[verb]) != 0)
        verb++;
    if (argc < 2 || verb == 4)
        return wrong(error, "expected generate, check or fetch%.0s; see --help", "");
    bool has_what = argc > 2 && argv[2][0] != '-';
    o.verb = (enum data_verb)verb;
    o.what = has_what ? argv[2] : "";
    o.generate.textures = strcmp(o.what, "textures") == 0;
    o.generate.n_train = o.generate.textures ? 50000 : 60000;
    r = words_parse(argc - 1 - has_what, argv + 1 + has_what, words_of[verb], take, &o, error);
    if (r == 0 && o.verb != DATA_HELP && !has_what)
        return wrong(error, "%.20s what? See --help", verbs[verb]);
    if (r == 0 && o.verb != DATA_HELP)
        r = check(&o, error);
    o.generate.directory = o.out;
    if (r >= 0)
        *ret = o;
    return r < 0 ? r : 0;
}
