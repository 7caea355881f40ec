/* SPDX-License-Identifier: MIT */
#include "cli/sweep/parameters.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/error.h"
#include "common/text.h"

#define SCAN_SLACK 1e-9 /* part of a step: 0.1 + 0.1 + 0.1 still reaches 0.3 */

__attribute__((format(printf, 2, 3))) static int refuse(char *why, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(why, PARAMETERS_WHY, format, values);
    va_end(values);
    return -EINVAL;
}

/* ---- names and parts ---- */

static bool is_name_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static size_t name_length(const char *text) {
    size_t n = 0;
    while (is_name_byte(text[n]))
        n++;
    return n;
}

static size_t count_parts(const char *text) {
    size_t n = 1;
    for (; *text; text++)
        n += *text == ':';
    return n;
}

/* The k-th part of "a:b:c"; the whole of a text without parts. */
static struct span part(const char *text, size_t k, bool divided) {
    if (!divided)
        return (struct span){text, strlen(text)};
    while (k-- && strchr(text, ':'))
        text = strchr(text, ':') + 1;
    return (struct span){text, strcspn(text, ":")};
}

/* The parameter that a name stands for, and which part of it. */
static bool find_name(const struct sweep_parameters *parameters, struct span name, size_t *ret_item,
                      size_t *ret_part) {
    for (size_t i = 0; i < parameters->n; i++) {
        const char *text = parameters->items[i].name;
        for (size_t k = 0; k < count_parts(text); k++) {
            struct span known = part(text, k, true);
            if (known.size == name.size && memcmp(known.data, name.data, name.size) == 0)
                return *ret_item = i, *ret_part = k, true;
        }
    }
    return false;
}

static int check_name(const struct sweep_parameters *to, const char *name, char *why) {
    size_t item, k;
    if (to->n == SWEEP_PARAMETERS_MAX)
        return refuse(why, "at most %d parameters", SWEEP_PARAMETERS_MAX);
    if (strlen(name) >= SWEEP_TEXT_MAX)
        return refuse(why, "the name of a parameter is longer than %d bytes", SWEEP_TEXT_MAX - 1);
    for (size_t p = 0; p < count_parts(name); p++) {
        struct span one = part(name, p, true);
        if (!one.size || name_length(one.data) != one.size)
            return refuse(why, "'%.100s' is no name of a parameter; letters, digits, _ and - are",
                          name);
        for (size_t q = 0; q < p; q++) {
            struct span other = part(name, q, true);
            if (one.size == other.size && memcmp(one.data, other.data, one.size) == 0)
                return refuse(why, "the parameter '%.100s' names a part twice", name);
        }
        if (find_name(to, one, &item, &k))
            return refuse(why, "the parameter '%.*s' is given twice", (int)one.size, one.data);
    }
    return 0;
}

/* ---- values ---- */

/* Makes the printable form for storing and showing, by which values are distinguished. */
static void clean(const char *value, char to[SWEEP_TEXT_MAX]) {
    text_sanitize(to, SWEEP_TEXT_MAX, value, strlen(value));
}

static int check_value(const struct sweep_parameter *item, const char *value, char *why) {
    char mine[SWEEP_TEXT_MAX], other[SWEEP_TEXT_MAX];
    if (!*value)
        return refuse(why, "a value of '%.100s' is empty", item->name);
    if (strlen(value) >= SWEEP_TEXT_MAX)
        return refuse(why, "a value of '%.100s' is longer than %d bytes", item->name,
                      SWEEP_TEXT_MAX - 1);
    if (strchr(item->name, ':') && count_parts(value) != count_parts(item->name))
        return refuse(why, "the value '%.100s' of '%.100s' has not %zu parts", value, item->name,
                      count_parts(item->name));
    if (item->n_values == SWEEP_VALUES_MAX)
        return refuse(why, "more than %d values of '%.100s'", SWEEP_VALUES_MAX, item->name);
    clean(value, mine);
    for (size_t i = 0; i < item->n_values; i++) {
        clean(item->values[i], other);
        if (strcmp(mine, other) == 0)
            return refuse(why, "the value '%.100s' of '%.100s' is given twice", value, item->name);
    }
    return 0;
}

static int add_value(struct sweep_parameter *item, const char *value, char *why) {
    int r = check_value(item, value, why);
    if (r < 0)
        return r;
    char **grown = realloc(item->values, (item->n_values + 1) * sizeof *grown);
    char *copy = strdup(value);
    if (grown)
        item->values = grown;
    if (!grown || !copy) {
        free(copy);
        return refuse(why, "out of memory"), -ENOMEM;
    }
    item->values[item->n_values++] = copy;
    return 0;
}

static int begin_parameter(struct sweep_parameters *to, const char *name,
                           struct sweep_parameter **ret_item, char *why) {
    int r = check_name(to, name, why);
    if (r < 0)
        return r;
    struct sweep_parameter *item = &to->items[to->n];
    *item = (struct sweep_parameter){.name = strdup(name)};
    if (!item->name)
        return refuse(why, "out of memory"), -ENOMEM;
    to->n++;
    *ret_item = item;
    return 0;
}

/* Takes the next value off the list; \, is a comma in a value. */
static void next_value(const char **list, char *to) {
    const char *p = *list;
    for (; *p && *p != ','; p++) {
        p += *p == '\\' && p[1] == ',';
        *to++ = *p;
    }
    *to = '\0';
    *list = *p ? p + 1 : NULL;
}

int parameters_add_list(struct sweep_parameters *to, const char *name, const char *values,
                        char *why) {
    struct sweep_parameter *item;
    char *value = malloc(strlen(values) + 1);
    int r = value ? begin_parameter(to, name, &item, why) : (refuse(why, "out of memory"), -ENOMEM);
    for (const char *rest = values; rest && r == 0;) {
        next_value(&rest, value);
        r = add_value(item, value, why);
    }
    free(value);
    return r;
}

int parameters_add_scan(struct sweep_parameters *to, const char *name, const char *from,
                        const char *until, const char *step, char *why) {
    struct sweep_parameter *item;
    double low, high, by;
    int r = begin_parameter(to, name, &item, why);
    if (r < 0)
        return r;
    if (text_parse_double(from, &low) < 0 || text_parse_double(until, &high) < 0 ||
        text_parse_double(step, &by) < 0 || !(by > 0) || high < low)
        return refuse(why, "no numbers to scan: %.80s to %.80s by %.80s", from, until, step);
    if (floor((high - low) / by + SCAN_SLACK) >= SWEEP_VALUES_MAX)
        return refuse(why, "more than %d values of '%.100s'", SWEEP_VALUES_MAX, name);
    for (size_t i = 0; r == 0 && low + (double)i * by <= high + by * SCAN_SLACK; i++) {
        char value[40];
        snprintf(value, sizeof value, "%.12g", low + (double)i * by);
        r = add_value(item, value, why);
    }
    return r;
}

void parameters_release(struct sweep_parameters *parameters) {
    for (size_t i = 0; i < parameters->n; i++) {
        for (size_t k = 0; k < parameters->items[i].n_values; k++)
            free(parameters->items[i].values[k]);
        free(parameters->items[i].values);
        free(parameters->items[i].name);
    }
    *parameters = (struct sweep_parameters){0};
}

/* ---- cells ---- */

size_t parameters_cells(const struct sweep_parameters *parameters) {
    size_t n = 1;
    for (size_t i = 0; i < parameters->n && n; i++)
        n = n * parameters->items[i].n_values > SWEEP_CELLS_MAX ? 0
                                                                : n * parameters->items[i].n_values;
    return n;
}

void parameters_cell(const struct sweep_parameters *parameters, size_t cell,
                     size_t ret_value[SWEEP_PARAMETERS_MAX]) {
    for (size_t i = parameters->n; i-- > 0;) {
        ret_value[i] = cell % parameters->items[i].n_values;
        cell /= parameters->items[i].n_values;
    }
}

void parameters_describe(const struct sweep_parameters *parameters, const size_t *value,
                         const char *separator, char *text, size_t size) {
    size_t at = 0;
    *text = '\0';
    for (size_t i = 0; i < parameters->n && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s=%s", i ? separator : "",
                               parameters->items[i].name, parameters->items[i].values[value[i]]);
}

/* ---- the command ---- */

/* The placeholder at text: its name without braces; false if there is none. */
static bool placeholder(const char *text, struct span *ret_name) {
    size_t n = *text == '{' ? name_length(text + 1) : 0;
    *ret_name = (struct span){text + 1, n};
    return n && text[n + 1] == '}';
}

static int check_word(const struct sweep_parameters *parameters, const char *word,
                      bool used[SWEEP_PARAMETERS_MAX], char *why) {
    for (; *word; word++) {
        struct span name;
        size_t item, k;
        if (!placeholder(word, &name))
            continue;
        if (!find_name(parameters, name, &item, &k))
            return refuse(why, "no parameter is called '%.*s', which the command has in braces",
                          name.size > 100 ? 100 : (int)name.size, name.data);
        used[item] = true;
    }
    return 0;
}

int parameters_check(const struct sweep_parameters *parameters, char *const *command, char *why) {
    bool used[SWEEP_PARAMETERS_MAX] = {false};
    int r = 0;
    for (size_t i = 0; command[i] && r == 0; i++)
        r = check_word(parameters, command[i], used, why);
    for (size_t i = 0; i < parameters->n && r == 0; i++)
        if (!used[i])
            r = refuse(why, "the command does not say {%.*s}",
                       (int)part(parameters->items[i].name, 0, true).size,
                       parameters->items[i].name);
    return r;
}

static char *expand_word(const struct sweep_parameters *parameters, const size_t *value,
                         const char *word) {
    struct buffer out;
    buffer_init(&out);
    while (*word) {
        struct span name, with = {word, 1};
        size_t item, k;
        if (placeholder(word, &name) && find_name(parameters, name, &item, &k)) {
            const struct sweep_parameter *p = &parameters->items[item];
            with = part(p->values[value[item]], k, strchr(p->name, ':') != NULL);
            word += name.size + 1;
        }
        buffer_put(&out, with.data, with.size);
        word++;
    }
    buffer_put(&out, "", 1);
    if (out.error) {
        buffer_release(&out);
        return NULL;
    }
    return (char *)out.data;
}

char **parameters_expand(const struct sweep_parameters *parameters, const size_t *value,
                         char *const *command) {
    size_t n = 0;
    while (command[n])
        n++;
    char **words = calloc(n + 1, sizeof *words);
    for (size_t i = 0; words && i < n; i++)
        if (!(words[i] = expand_word(parameters, value, command[i]))) {
            parameters_free_words(words);
            return NULL;
        }
    return words;
}

void parameters_free_words(char **words) {
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}
