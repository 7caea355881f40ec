/* SPDX-License-Identifier: MIT */
#include "workloads/common/words.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int words_parse(int argc, char **argv, const struct option *options,
                int (*take)(int option, const struct word *word, void *into), void *into,
                struct words_error *error) {
    optind = 1;
    opterr = 0;
    for (int c, which = 0; (c = getopt_long(argc, argv, ":", options, &which)) != -1;) {
        if (c == '?' || c == ':') {
            snprintf(error->text, sizeof error->text, "%s %.100s; see --help",
                     c == '?' ? "unknown option" : "no value after", argv[optind - 1]);
            return -EINVAL;
        }
        int r = take(c, &(struct word){options[which].name, optarg, error}, into);
        if (r != 0)
            return r;
    }
    if (optind == argc)
        return 0;
    snprintf(error->text, sizeof error->text, "unexpected argument %.100s; see --help",
             argv[optind]);
    return -EINVAL;
}

static int refuse(const struct word *w, const char *expected) {
    snprintf(w->error->text, sizeof w->error->text, "--%s expects %.120s, not \"%.80s\"", w->name,
             expected, w->text);
    return -EINVAL;
}

int word_count(const struct word *w, uint64_t least, uint64_t most, uint64_t *ret) {
    char *end, expected[80];
    errno = 0;
    unsigned long long n = isdigit((unsigned char)*w->text) ? strtoull(w->text, &end, 10) : 0;
    if (!isdigit((unsigned char)*w->text) || *end || errno || n < least || n > most) {
        snprintf(expected, sizeof expected, "a whole number from %llu to %llu",
                 (unsigned long long)least, (unsigned long long)most);
        return refuse(w, expected);
    }
    *ret = n;
    return 0;
}

int word_small(const struct word *w, int most, int *ret) {
    uint64_t n;
    int r = word_count(w, 1, (uint64_t)most, &n);
    if (r == 0)
        *ret = (int)n;
    return r;
}

int word_number(const struct word *w, double least, double most, double *ret) {
    char *end, expected[80];
    double x = strtod(w->text, &end);
    if (end == w->text || *end || !(x >= least && x <= most)) {
        snprintf(expected, sizeof expected, "a number from %g to %g", least, most);
        return refuse(w, expected);
    }
    *ret = x;
    return 0;
}

int word_positive(const struct word *w, double *ret) {
    char *end;
    double x = strtod(w->text, &end);
    if (end == w->text || *end || !isfinite(x) || x <= 0)
        return refuse(w, "a positive number");
    *ret = x;
    return 0;
}

int word_choice(const struct word *w, const char *const *choices, int *ret) {
    char expected[128] = "";
    size_t n = 0;
    for (int i = 0; choices[i]; i++) {
        if (strcmp(w->text, choices[i]) == 0) {
            *ret = i;
            return 0;
        }
        n += (size_t)snprintf(expected + n, n < sizeof expected ? sizeof expected - n : 0, "%s%s",
                              i == 0           ? ""
                              : choices[i + 1] ? ", "
                                               : " or ",
                              choices[i]);
        n = n < sizeof expected ? n : sizeof expected - 1;
    }
    return refuse(w, expected);
}

int word_text(const struct word *w, const char **ret) {
    *ret = w->text;
    return 0;
}

int word_flag(bool *ret) {
    *ret = true;
    return 0;
}

int word_plant(const struct word *w, struct plants *plants) {
    int r = plants_add(plants, w->text);
    if (r == -E2BIG)
        return refuse(w, "to be given at most 8 times");
    if (r < 0) /* not through refuse(): the list is longer than its other texts */
        snprintf(w->error->text, sizeof w->error->text, "--%s expects %s, not \"%.40s\"", w->name,
                 plant_help, w->text);
    return r;
}

int words_missing(const char *name, struct words_error *error) {
    snprintf(error->text, sizeof error->text, "--%s is missing; see --help", name);
    return -EINVAL;
}
