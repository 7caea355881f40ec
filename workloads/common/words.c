/* SPDX-License-Identifier: MIT */
#include "workloads/common/words.h"

#include <errno.h>
#include <stdarg.h>

#include "workloads/common/plant.h"

int words_refuse(struct words_error *error, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(error->text, sizeof error->text, format, values);
    va_end(values);
    return -EINVAL;
}

static int refuse_option(const struct option_trouble *t, struct words_error *error) {
    static const char *const wrong[] = {[OPTION_UNKNOWN] = "unknown option",
                                        [OPTION_NO_VALUE] = "no value after",
                                        [OPTION_TAKES_NONE] = "this option takes no value:"};
    if (t->wrong == OPTION_WRONG_IN_ALL)
        return words_refuse(error, "%s", t->text);
    if (t->wrong == OPTION_BAD_VALUE)
        return words_refuse(error, "--%s expects %s, not \"%.80s\"", t->name, t->text, t->word);
    if (t->nearest[0])
        return words_refuse(error, "%s %s; did you mean --%s? See --help", wrong[t->wrong], t->word,
                            t->nearest);
    return words_refuse(error, "%s %s; see --help", wrong[t->wrong], t->word);
}

int words_read(const struct option_table *table, int argc, char **argv, struct words_error *error) {
    struct option_trouble trouble;
    char **rest;
    int r = options_read(table, argc, argv, &rest, &trouble);
    if (r < 0)
        return refuse_option(&trouble, error);
    if (r == 0 && *rest)
        return words_refuse(error, "unexpected argument %.100s; see --help", *rest);
    return r;
}

int word_take_plant(const struct option_word *word, void *to) {
    int r = plants_add(to, word->text);
    if (r == -E2BIG)
        return option_expects(word, "to be given at most 8 times");
    return r < 0 ? option_expects(word, "%s", plant_help) : r;
}

int words_missing(const char *name, struct words_error *error) {
    return words_refuse(error, "--%s is missing; see --help", name);
}
