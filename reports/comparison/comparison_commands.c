/* SPDX-License-Identifier: MIT */
/*
 * Which words of a group's command differ from the baseline's: the words of neither that are in
 * their longest common subsequence. A value stands with its option.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/error.h"
#include "common/text.h"
#include "reports/comparison/comparison_private.h"

#define WORDS_MAX 400 /* of a command; of longer ones it is only said that they differ */
#define SHOWN_MAX 3   /* differences */
#define BYTES_MAX 120 /* of the words on one side of a difference */

struct split_command {
    struct span words[WORDS_MAX];
    size_t n;
    bool whole; /* all words are there */
};

/* The end of a shell's word: quotes and backslashes keep blanks in it. */
static const char *word_end(const char *p) {
    char quote = '\0';
    for (; *p && (quote || (*p != ' ' && *p != '\t')); p++) {
        if (*p == '\\' && quote != '\'' && p[1])
            p++;
        else if (quote ? *p == quote : *p == '\'' || *p == '"')
            quote = quote ? '\0' : *p;
    }
    return p;
}

static void split(struct split_command *command, const char *text) {
    command->n = 0;
    for (text += strspn(text, " \t"); *text && command->n < WORDS_MAX;
         text += strspn(text, " \t")) {
        const char *end = word_end(text);
        command->words[command->n++] = (struct span){text, (size_t)(end - text)};
        text = end;
    }
    command->whole = !*text;
}

static bool same_word(const struct span *a, const struct span *b) {
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

/* common[i * (b->n + 1) + j]: words that a from word i on and b from word j on have in common. */
static uint16_t *count_common(const struct split_command *a, const struct split_command *b) {
    size_t width = b->n + 1;
    uint16_t *common = calloc((a->n + 1) * width, sizeof *common);
    for (size_t i = a->n; common && i-- > 0;)
        for (size_t j = b->n; j-- > 0;) {
            uint16_t right = common[i * width + j + 1], down = common[(i + 1) * width + j];
            common[i * width + j] = same_word(&a->words[i], &b->words[j])
                                        ? (uint16_t)(common[(i + 1) * width + j + 1] + 1)
                                    : right > down ? right
                                                   : down;
        }
    return common;
}

/* Words [a, a_end) of the baseline and [b, b_end) of the group in their place. */
struct difference {
    size_t a, a_end, b, b_end;
};

/* The next difference from words a and b on; false: none. */
static bool next_difference(const struct split_command *x, const struct split_command *y,
                            const uint16_t *common, struct difference *d) {
    size_t width = y->n + 1;
    while (d->a < x->n && d->b < y->n && same_word(&x->words[d->a], &y->words[d->b])) {
        d->a++;
        d->b++;
    }
    d->a_end = d->a;
    d->b_end = d->b;
    while (d->a_end < x->n || d->b_end < y->n) {
        bool a_left = d->a_end < x->n, b_left = d->b_end < y->n;
        if (a_left && b_left && same_word(&x->words[d->a_end], &y->words[d->b_end]))
            break;
        if (a_left && (!b_left || common[(d->a_end + 1) * width + d->b_end] >=
                                      common[d->a_end * width + d->b_end + 1]))
            d->a_end++;
        else
            d->b_end++;
    }
    return d->a_end > d->a || d->b_end > d->b;
}

/* "`--mode sync`"; "7 words" if they are too long. Owned; NULL: no memory. */
static char *quoted(const struct split_command *command, size_t begin, size_t end) {
    const struct span *first = &command->words[begin], *last = &command->words[end - 1];
    size_t bytes = (size_t)(last->data + last->size - first->data);
    if (bytes > BYTES_MAX)
        return text_format("%zu other word%s", end - begin, end - begin == 1 ? "" : "s");
    return text_format("`%.*s`", (int)bytes, first->data);
}

static bool is_option(const struct split_command *command, size_t word) {
    return word < command->n && command->words[word].size && *command->words[word].data == '-';
}

static char *say_difference(const struct split_command *x, const struct split_command *y,
                            struct difference d) {
    bool values = !is_option(x, d.a) && !is_option(y, d.b) && d.a > 1;
    if (d.a < d.a_end && d.b < d.b_end && values && is_option(x, d.a - 1)) {
        d.a--;
        d.b--;
    }
    AUTO(text_free) char *was = d.a < d.a_end ? quoted(x, d.a, d.a_end) : strdup("");
    AUTO(text_free) char *is = d.b < d.b_end ? quoted(y, d.b, d.b_end) : strdup("");
    if (!was || !is)
        return NULL;
    return !*was  ? text_format("%s added", is)
           : !*is ? text_format("%s left out", was)
                  : text_format("%s instead of %s", is, was);
}

/* Adds `item` to the owned text, which it takes over. */
static char *joined(char *text, char *item, const char *between) {
    char *both = text && item ? text_format("%s%s%s", text, *text ? between : "", item) : NULL;
    free(text);
    free(item);
    return both;
}

static char *say_all(const struct split_command *x, const struct split_command *y,
                     const uint16_t *common) {
    struct difference d = {0};
    size_t n = 0;
    char *text = strdup("");
    for (; text && next_difference(x, y, common, &d); n++) {
        if (n < SHOWN_MAX)
            text = joined(text, say_difference(x, y, d), "; ");
        d = (struct difference){.a = d.a_end, .b = d.b_end};
    }
    if (text && n > SHOWN_MAX)
        text = joined(text, text_format("%zu more differences", n - SHOWN_MAX), "; ");
    return text;
}

char *comparison_say_command(const char *base, const char *is) {
    struct split_command *commands = calloc(2, sizeof *commands);
    uint16_t *common = NULL;
    char *text = NULL;
    if (!commands)
        return NULL;
    split(&commands[0], base);
    split(&commands[1], is);
    bool whole = commands[0].whole && commands[1].whole;
    if (whole)
        common = count_common(&commands[0], &commands[1]);
    bool named =
        whole && common && (common[0] || (strlen(base) <= BYTES_MAX && strlen(is) <= BYTES_MAX));
    if (named)
        text = say_all(&commands[0], &commands[1], common);
    else if (!whole || common)
        text = strdup("another command");
    free(common);
    free(commands);
    return text;
}

int comparison_fill_commands(struct comparison *c) {
    const char *base = c->runs[c->groups[c->baseline_group].runs[0]]->command;
    for (size_t g = 0; g < c->n_groups; g++) {
        const char *is = c->runs[c->groups[g].runs[0]]->command;
        if (strcmp(base, is) != 0 && !(c->groups[g].changed = comparison_say_command(base, is)))
            return -ENOMEM;
    }
    return 0;
}
