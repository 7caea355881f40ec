/* SPDX-License-Identifier: MIT */
/* Reads the judge of an ablation from a list of words. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/causes.h"

static bool is_word(const char *word, size_t length, const char *name) {
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

static int leave_out_source(struct judge *judge, const char *word, size_t length) {
    for (int s = 0; s < SOURCE_COUNT_; s++)
        if (is_word(word, length, observed_source_name((enum observed_source)s))) {
            judge->sources_off |= 1u << s;
            return 0;
        }
    return -EINVAL;
}

static int leave_out_cause(struct judge *judge, const char *word, size_t length) {
    size_t n;
    const struct cause *const *causes = causes_all(&n);
    for (size_t i = 0; i < n; i++)
        if (is_word(word, length, causes[i]->name)) {
            judge->causes_off |= 1ull << i;
            return 0;
        }
    return -EINVAL;
}

static const struct number *find_in(const struct number *const *numbers, const char *word,
                                    size_t length) {
    for (; numbers && *numbers; numbers++)
        if (is_word(word, length, (*numbers)->name))
            return *numbers;
    return NULL;
}

static const struct number *find_number(const char *word, size_t length) {
    size_t n;
    const struct cause *const *causes = causes_all(&n);
    const struct number *found = find_in(numbers_shared, word, length);
    for (size_t i = 0; !found && i < n; i++)
        found = find_in(causes[i]->numbers, word, length);
    return found;
}

static int set(struct judge *judge, const struct number *number, double value) {
    struct judge_number *more = reallocarray(judge->set, judge->n_set + 1, sizeof *more);
    if (!more)
        return -ENOMEM;
    judge->set = more;
    judge->set[judge->n_set++] = (struct judge_number){number, value};
    return 0;
}

/* "NAME=VALUE", "NAME*FACTOR" */
static int set_number(struct judge *judge, const char *word, size_t length) {
    size_t name = strcspn(word, "=*;");
    const struct number *number = find_number(word, name);
    char *end;
    if (!number || name >= length)
        return -EINVAL;
    double value = strtod(word + name + 1, &end);
    if (name + 1 == length || end != word + length || !isfinite(value))
        return -EINVAL;
    return set(judge, number, word[name] == '=' ? value : number->usual * value);
}

static int read_word(struct judge *judge, const char *word, size_t length) {
    static const char source[] = "-source:";
    size_t skip = strlen(source);
    if (length == 0)
        return 0;
    if (strncmp(word, source, skip) == 0)
        return leave_out_source(judge, word + skip, length - skip);
    return *word == '-' ? leave_out_cause(judge, word + 1, length - 1)
                        : set_number(judge, word, length);
}

int judge_read(const char *text, struct judge *ret_judge, const char **ret_bad) {
    struct judge judge = {0};
    for (const char *word = text; *word;) {
        size_t length = strcspn(word, ";");
        int result = read_word(&judge, word, length);
        if (result < 0) {
            judge_release(&judge);
            *ret_bad = word;
            return result;
        }
        word += length + (word[length] == ';');
    }
    *ret_judge = judge;
    return 0;
}

void judge_release(struct judge *judge) {
    free(judge->set);
    *judge = (struct judge){0};
}
