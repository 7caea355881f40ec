/* SPDX-License-Identifier: MIT */
#include "reports/says/remark_words.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/says/term_words.h"

/* "%.3g": digits is 3, style 'g'. */
static bool is_decimal(const char *from) {
    return from[1] == '.' && from[2] >= '0' && from[2] <= '9' && (from[3] == 'f' || from[3] == 'g');
}

/* The place after the brace that closes the "%{" at `from`; NULL: there is none. */
static const char *end_of_command(const char *from) {
    int open = 0;
    for (const char *at = from + 1; *at; at++) {
        open += (*at == '{') - (*at == '}');
        if (!open)
            return at + 1;
    }
    return NULL;
}

enum remark_takes remark_conversion(const char *from, const char **ret_end) {
    if (from[1] == '{') {
        const char *end = end_of_command(from);
        *ret_end = end ? end : from + 1;
        return end ? REMARK_TAKES_NOTHING : REMARK_TAKES_BAD;
    }
    const char *bar = from[1] == '[' ? strchr(from, '|') : NULL,
               *close = bar ? strchr(bar, ']') : NULL;
    *ret_end = from + 2;
    if (from[1] == '%')
        return REMARK_TAKES_NOTHING;
    if (from[1] == 's')
        return REMARK_TAKES_NAME;
    if (from[1] == 'w')
        return REMARK_TAKES_BOTH;
    if (from[1] == 'd' || from[1] == 't' || from[1] == 'S')
        return REMARK_TAKES_NUMBER;
    *ret_end = close ? close + 1 : from + 4;
    if (close || is_decimal(from))
        return REMARK_TAKES_NUMBER;
    *ret_end = from + 1;
    return REMARK_TAKES_BAD;
}

/* Writes the alternative of that number, from 1 on; if there is none, the last alternative. */
static void put_choice(const char *from, double number, FILE *out) {
    const char *word = from + 2, *end = word + strcspn(word, "|]");
    for (double at = 1; *end == '|' && at != number; at++) {
        word = end + 1;
        end = word + strcspn(word, "|]");
    }
    fwrite(word, 1, (size_t)(end - word), out);
}

/* Writes "48010", not "4.801e+04": `digits` digits, then zeros. */
static void put_digits(double number, int digits, FILE *out) {
    double size = fabs(number);
    int more = isfinite(size) && size >= 1 ? (int)floor(log10(size)) + 1 - digits : 0;
    double unit = more > 0 && more < 15 ? pow(10, more) : 1;
    if (unit > 1)
        fprintf(out, "%.0f", round(number / unit) * unit);
    else
        fprintf(out, "%.*g", digits, number);
}

/* "SIGSEGV (segmentation fault)", "signal 36" */
static void put_signal(int number, FILE *out) {
    const char *name = sigabbrev_np(number), *words = sigdescr_np(number);
    if (name && words)
        fprintf(out, "SIG%s (%c%s)", name, tolower((unsigned char)words[0]), words + 1);
    else
        fprintf(out, "signal %d", number);
}

static void put_number(const char *from, double number, FILE *out) {
    if (from[1] == '[')
        put_choice(from, number, out);
    else if (from[1] == 't')
        fputs(budget_term_words((enum budget_term)number), out);
    else if (from[1] == 'S')
        put_signal((int)number, out);
    else if (from[1] == 'd')
        fprintf(out, "%.0f", number);
    else if (from[3] == 'f')
        fprintf(out, "%.*f", from[2] - '0', number);
    else
        put_digits(number, from[2] - '0', out);
}

static void put_who(double rank, const char *process, FILE *out) {
    if (rank >= 0)
        fprintf(out, "rank %.0f", rank);
    else
        fputs(process, out);
}

const char *remark_sentence(const struct remark_kind *kind) {
    if (!kind)
        return NULL;
    return kind->sentence ? kind->sentence : verdict_template(kind->code);
}

/* Writes "%{VERB WORDS}", which ends at `end`, or a percent sign. */
static void put_itself(const char *from, const char *end, const struct caller *caller, FILE *out) {
    if (from[1] != '{') {
        fputc('%', out);
        return;
    }
    char *words = command_words_of(caller, from + 2, (size_t)(end - from) - 3);
    fprintf(out, "`%s`", words ? words : "");
    free(words);
}

static void put(const char *at, const double *number, const char *const *name,
                const struct caller *caller, FILE *out) {
    const char *end;
    for (; at && *at; at = end) {
        end = at + strcspn(at, "%");
        fwrite(at, 1, (size_t)(end - at), out);
        if (*end != '%')
            continue;
        at = end;
        switch (remark_conversion(at, &end)) {
        case REMARK_TAKES_NUMBER:
            put_number(at, *number++, out);
            break;
        case REMARK_TAKES_NAME:
            fputs(*name++, out);
            break;
        case REMARK_TAKES_BOTH:
            put_who(*number++, *name++, out);
            break;
        default:
            put_itself(at, end, caller, out);
        }
    }
}

char *template_words(const char *template, const double *numbers, const char *const *names,
                     const struct caller *caller) {
    char *words = NULL;
    size_t size;
    FILE *out = open_memstream(&words, &size);
    if (!out)
        return NULL;
    put(template, numbers, names, caller, out);
    if (fclose(out) == 0)
        return words;
    free(words);
    return NULL;
}

char *remark_words(const struct remark *remark) {
    return remark_words_by(remark, &(struct caller){.program = NULL});
}

char *remark_words_by(const struct remark *remark, const struct caller *caller) {
    return template_words(remark_sentence(remark->kind), remark->numbers,
                          (const char *const *)remark->names, caller);
}

void remarks_say(const struct remarks *remarks, struct text_list *to) {
    for (size_t i = 0; i < remarks->n; i++) {
        char *words = remark_words(&remarks->items[i]);
        if (words)
            text_list_add(to, "%s", words);
        else
            to->error = -ENOMEM;
        free(words);
    }
    if (remarks->error)
        to->error = remarks->error;
}
