/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/causes/causes.h"
#include "analysis/threshold.h"

static unsigned long long rules_off; /* bits of the table; the same for all of a process */

bool cause_is_off(const struct cause *cause) {
    size_t n, i = 0;
    const struct cause *const *all = causes_all(&n);
    while (i < n && all[i] != cause)
        i++;
    return rules_off >> i & 1;
}

static bool is_word(const char *word, size_t length, const char *name) {
    return strlen(name) == length && strncmp(word, name, length) == 0;
}

static bool leave_out_source(const char *word, size_t length, unsigned *sources) {
    for (int s = 0; s < SOURCE_COUNT_; s++)
        if (is_word(word, length, observed_source_name((enum observed_source)s))) {
            *sources |= 1u << s;
            return true;
        }
    return false;
}

static bool leave_out_rule(const char *word, size_t length) {
    size_t n;
    const struct cause *const *all = causes_all(&n);
    for (size_t r = 0; r < n; r++)
        if (is_word(word, length, all[r]->name)) {
            rules_off |= 1ull << r;
            return true;
        }
    return false;
}

/* "NAME=VALUE", "NAME*FACTOR" */
static bool set_threshold(const char *word, size_t length) {
    size_t name = strcspn(word, "=*;");
    const struct threshold *t = threshold_find(word, name);
    char *end;
    if (!t || name >= length)
        return false;
    double number = strtod(word + name + 1, &end);
    if (name + 1 == length || end != word + length || !isfinite(number))
        return false;
    *t->value = word[name] == '=' ? number : t->usual * number;
    return true;
}

int rules_configure(const char *text, const char **ret_bad) {
    static const char source[] = "-source:";
    unsigned sources = 0;
    rules_off = 0;
    for (const char *word = text; *word;) {
        size_t length = strcspn(word, ";"), skip = strlen(source);
        bool good = length == 0 ? true
                    : strncmp(word, source, skip) == 0
                        ? leave_out_source(word + skip, length - skip, &sources)
                    : *word == '-' ? leave_out_rule(word + 1, length - 1)
                                   : set_threshold(word, length);
        if (!good) {
            *ret_bad = word;
            return -EINVAL;
        }
        word += length + (word[length] == ';');
    }
    model_leave_out(sources);
    return 0;
}
