/* SPDX-License-Identifier: MIT */
#include "workloads/data/options.h"

#include <string.h>

#include "common/error.h"

static const char usage[] =
    "usage: chokepoint-data generate digits|textures --out DIR [--train N] [--test N] [--seed N]\n"
    "           [--quiet]\n"
    "       chokepoint-data fetch mnist|cifar10|URL [--out DIR] [--from URL] [--sha256 SUM] "
    "[--quiet]\n"
    "       chokepoint-data check DIR\n"
    "\n"
    "Images to train with: drawn by program, or fetched; and what of them a directory holds.\n"
    "\n";

/* The verbs that take an option, in the order of the table. */
#define G (1u << DATA_GENERATE)
#define F (1u << DATA_FETCH)
static const unsigned takes[] = {G | F, G, G, G, F, F, G | F};

static int take_sum(const struct option_word *word, void *to) {
    size_t n = strspn(word->text, "0123456789abcdefABCDEF");
    if (n != 64 || word->text[n])
        return option_expects(word, "64 hexadecimal digits");
    *(const char **)to = word->text;
    return 0;
}

static int check(struct data_options *o, struct words_error *error) {
    bool known = strcmp(o->what, "mnist") == 0 || strcmp(o->what, "cifar10") == 0;
    if (o->verb == DATA_GENERATE && !o->out)
        return words_missing("out", error);
    if (o->verb == DATA_GENERATE && strcmp(o->what, "digits") != 0 && !o->generate.textures)
        return words_refuse(error, "generate expects digits or textures, not \"%.100s\"", o->what);
    if (o->verb == DATA_FETCH && !known && !strstr(o->what, "://"))
        return words_refuse(error, "fetch expects mnist, cifar10 or a URL, not \"%.100s\"",
                            o->what);
    if (o->verb == DATA_FETCH && known && o->sha256)
        return words_refuse(error, "--sha256 is known of %.100s", o->what);
    if (o->verb == DATA_FETCH && !known && o->from)
        return words_refuse(error, "--from is for mnist and cifar10, not for %.100s", o->what);
    return 0;
}

/* The rows that the verb takes. */
static size_t choose_rows(enum data_verb verb, const struct option_row *rows, size_t n,
                          struct option_row *to) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (takes[i] & 1u << verb)
            to[kept++] = rows[i];
    return kept;
}

static int read_verb(int argc, char **argv, struct data_options *o, struct words_error *error) {
    const struct option_row rows[] = {
        {"--out DIR", "where to (fetch: chokepoint/NAME in the user's cache directory)",
         .text = &o->out},
        {"--train N", "training images (60000; textures: 50000)", .count32 = &o->generate.n_train,
         .low = 1, .high = 10000000},
        {"--test N", "test images (10000)", .count32 = &o->generate.n_test, .high = 10000000},
        {"--seed N", "of the images (1); the same one gives the same bytes",
         .count = &o->generate.seed},
        {"--from URL", "another place that has the files of mnist or cifar10", .text = &o->from},
        {"--sha256 SUM", "checksum of what URL has; of mnist and cifar10 it is known",
         .take = take_sum, .to = &o->sha256},
        {"--quiet", "no progress", .flag = &o->quiet},
    };
    struct option_row chosen[ARRAY_SIZE(rows)];
    _Static_assert(ARRAY_SIZE(rows) == ARRAY_SIZE(takes), "a word of takes for each option");
    const struct option_table all = {usage, rows, ARRAY_SIZE(rows), NULL, 2, 16, false};
    struct option_table table = all;
    table.rows = chosen;
    table.n = choose_rows(o->verb, rows, ARRAY_SIZE(rows), chosen);
    int r = words_read(&table, argc, argv, error);
    if (r == OPTIONS_HELP)
        options_print_help(&all, stdout);
    return r;
}

int data_options_read(int argc, char **argv, struct data_options *o, struct words_error *error) {
    static const char *const verbs[] = {"--help", "generate", "check", "fetch"};
    int verb = 0;
    *o = (struct data_options){.generate = {.n_test = 10000, .seed = 1}};
    while (argc > 1 && verb < 4 && strcmp(argv[1], verbs[verb]) != 0)
        verb++;
    if (argc < 2 || verb == 4)
        return words_refuse(error, "expected generate, check or fetch; see --help");
    bool has_what = argc > 2 && argv[2][0] != '-';
    bool is_help = verb == DATA_HELP;
    o->verb = (enum data_verb)verb;
    o->what = has_what ? argv[2] : "";
    o->generate.textures = strcmp(o->what, "textures") == 0;
    o->generate.n_train = o->generate.textures ? 50000 : 60000;
    int skipped = is_help ? 0 : 1 + has_what;
    int r = read_verb(argc - skipped, argv + skipped, o, error);
    if (r == 0 && !has_what)
        r = words_refuse(error, "%.20s what? See --help", verbs[verb]);
    if (r == 0)
        r = check(o, error);
    o->generate.directory = o->out;
    return r;
}
