/* SPDX-License-Identifier: MIT */
/*
 * A secret is recognized by the name before it (--password=x, TOKEN=x, "X-Api-Key: x"), by the
 * program that takes it (mysql -px), by its place in a URL, or by the shape of issued tokens: the
 * tables of secret_names.c, secret_programs.c and secret_text.c.
 *
 * This file goes through words. A word with blanks is a script (sh -c '...') and is split as a
 * shell would do it: quoted parts are words again, and so on. A document ({"password": "x"}) and a
 * header are no scripts and stay whole.
 */
#include "cli/launch/secret_words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/launch/secret_private.h"
#include "common/error.h"

#define BLANKS " \t\n"
#define BETWEEN BLANKS ";&|()<>`"
#define SLASHES_MAX 16 /* backslashes before a quote */
#define DEPTH_MAX 8    /* depth of quotes in quotes; deeper scripts are masked whole */

static const char *const schemes[] = {"Bearer", "Basic", "Token", "Digest", "Negotiate", "ApiKey"};

struct state {
    struct secret_program program;
    enum secret_value next;
    const char *signs; /* for VALUE_BEHIND */
    bool script;       /* the previous word is a shell's -c */
    bool named;        /* the previous word is a secret name by itself, in a script */
    bool fed, echoes;  /* the output of echo in this script is secret; an echo continues */
    bool opens;        /* the previous word is auth= */
    bool listed;       /* inside a list whose name is secret: auth=("me", "x") */
    int depth;
};

/* ---- values ---- */

static bool is_scheme(const char *word, const char *const *list, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(word, list[i]) == 0)
            return true;
    return false;
}

static void put_behind(FILE *out, const char *text, const char *signs) {
    const char *sign = strpbrk(text, signs);
    if (sign && sign[1])
        fprintf(out, "%.*s" SECRET_MASK, (int)(sign + 1 - text), text);
    else
        fputs(text, out);
}

/* The word that the previous one announced; false: it is not the value. */
static bool put_value(FILE *out, const char *word, struct state *state, enum secret_value is) {
    if (is == VALUE_NONE || !*word || (is == VALUE_WHOLE && word[0] == '-' && word[1]))
        return false;
    if (is == VALUE_BEHIND)
        put_behind(out, word, state->signs);
    else if (is == VALUE_CREDENTIALS && is_scheme(word, schemes, ARRAY_SIZE(schemes))) {
        state->next = VALUE_WHOLE;
        fputs(word, out);
    } else
        fputs(SECRET_MASK, out);
    return true;
}

static bool put_option(FILE *out, const char *word, struct state *state) {
    size_t n;
    const struct secret_option *option = secret_program_option(&state->program, word, &n);
    if (!option)
        return false;
    fprintf(out, "%.*s", (int)n, word);
    if (!word[n]) {
        state->next = option->value;
        state->signs = option->signs;
    } else if (option->value == VALUE_BEHIND)
        put_behind(out, word + n, option->signs);
    else
        fputs(SECRET_MASK, out);
    return true;
}

/* ---- the words of a script ---- */

/* Size of the quote at text, with the backslashes before it; 0: none that is closed. */
static size_t quote_at(const char *text, size_t *ret_inside) {
    size_t slashes = 0;
    while (slashes < SLASHES_MAX && text[slashes] == '\\')
        slashes++;
    char quote = text[slashes];
    if (quote != '"' && quote != '\'')
        return 0;
    const char *begin = text + slashes + 1;
    for (const char *p = begin; (p = strchr(p, quote)); p++) {
        size_t n = 0;
        while (p - n > begin && p[-1 - (long)n] == '\\')
            n++;
        if (n == slashes || (quote == '\'' && !slashes)) {
            *ret_inside = (size_t)(p - begin) - slashes;
            return slashes + 1;
        }
    }
    return 0;
}

/* Size of the word at text, with quoted parts. */
static size_t word_size(const char *text) {
    size_t n = 0, inside;
    while (text[n] && !strchr(BETWEEN, text[n])) {
        size_t quote = quote_at(text + n, &inside);
        n += quote ? 2 * quote + inside : 1;
        n += !quote && text[n - 1] == '\\' && text[n];
    }
    return n;
}

/* ---- words ---- */

static void put_script(FILE *out, const char *script, const struct state *outer);

/* "Name: value", also behind --header=: it stays whole, whatever its value contains. */
static bool is_header(const char *word) {
    size_t dashes = strspn(word, "-"), n = dashes + strcspn(word + dashes, "=:" BLANKS);
    if (word[n] == '=') {
        word += n + 1;
        dashes = 0;
        n = strcspn(word, "=:" BLANKS);
    }
    return word[n] == ':' && word[n + 1] == ' ' &&
           secret_option_name(word + dashes, n - dashes, dashes == 1);
}

/* NAME=two words; in a script the value ends with the blank. */
static bool is_assignment(const char *word) {
    size_t dashes = strspn(word, "-"), n = dashes + strcspn(word + dashes, "=:" BLANKS);
    return word[n] == '=' && word[n + 1] &&
           secret_option_name(word + dashes, n - dashes, dashes == 1);
}

static bool is_document(const char *word) {
    return word[0] == '{' || word[0] == '[' || strncmp(word, "-----BEGIN", 10) == 0;
}

static bool is_all_quoted(const char *word) {
    size_t inside = 0, quote = quote_at(word, &inside);
    return quote && 2 * quote + inside == strlen(word);
}

/* A word whose blanks are escaped or partly quoted in a script is no script itself. */
static bool is_script(const char *word, bool after_c) {
    return strpbrk(word, BLANKS) && !is_document(word) &&
           (is_all_quoted(word) || word_size(word) < strlen(word)) &&
           (after_c || !(is_header(word) || is_assignment(word)));
}

/* A name with a value in the next word: --token x, and Bearer x. */
static enum secret_value announced(const char *word) {
    const char *sign = strrchr(word, '='), *last = sign ? sign + 1 : word;
    size_t dashes = strspn(word, "-"), n = strlen(word), size = strlen(last);
    if (size > 1 && last[size - 1] == ':' && secret_name(last, size - 1))
        return VALUE_CREDENTIALS;
    bool is = (dashes && secret_name(word + dashes, n - dashes)) || is_scheme(last, schemes, 1);
    return is ? VALUE_WHOLE : VALUE_NONE;
}

static void put_plain(FILE *out, const char *word, struct state *state) {
    struct secret_program found;
    const struct secret_place *place = NULL;
    state->next = announced(word);
    if (secret_program_find(word, &found))
        state->program = found;
    else
        place = secret_program_count(&state->program, word);
    if (!place)
        secret_put_text(out, word);
    else if (place->signs[0])
        put_behind(out, word, place->signs);
    else
        fputs(*word ? SECRET_MASK : "", out);
}

static void put_word(FILE *out, const char *word, struct state *state) {
    enum secret_value is = state->next;
    bool script = is_script(word, state->script);
    state->next = VALUE_NONE;
    state->script = word[0] == '-' && word[1] != '-' && word[strlen(word) - 1] == 'c';
    if (put_value(out, word, state, is))
        return;
    if (script)
        put_script(out, word, state);
    else if (!put_option(out, word, state))
        put_plain(out, word, state);
}

/* ---- scripts ---- */

/* The characters between two words; anything but blanks and redirections begins a new command. */
static size_t put_gap(FILE *out, const char *text, struct state *state) {
    size_t n = strspn(text, BETWEEN);
    fprintf(out, "%.*s", (int)n, text);
    if (strcspn(text, "\n;&|()`") < n) {
        state->program = (struct secret_program){0};
        state->next = VALUE_NONE;
        state->echoes = false;
    }
    state->listed = (state->listed || (state->opens && text[0] == '(')) && !memchr(text, ')', n);
    state->echoes |= state->fed && n >= 3 && memmem(text, n, "<<<", 3);
    return n;
}

static bool is_sign(const char *word) {
    return strcmp(word, "=") == 0 || strcmp(word, ":") == 0 || strcmp(word, ":=") == 0 ||
           strcmp(word, "=>") == 0;
}

static void put_piece(FILE *out, const char *word, struct state *state) {
    size_t n = strlen(word);
    bool echo = strcmp(word, "echo") == 0 || strcmp(word, "printf") == 0;
    if (state->named && is_sign(word)) {
        state->next = VALUE_WHOLE;
        fputs(word, out);
    } else if (state->listed || (state->echoes && word[0] != '-'))
        fputs(*word ? SECRET_MASK : "", out);
    else
        put_word(out, word, state);
    state->echoes |= echo && state->fed;
    state->opens = n > 1 && word[n - 1] == '=' && secret_name(word, n - 1);
    word += word[0] == ':';
    state->named = secret_name(word, strlen(word));
}

/* A word that is quoted whole is one word inside its quotes. */
static void put_quoted(FILE *out, const char *word, struct state *state) {
    size_t inside = 0, quote = quote_at(word, &inside);
    bool whole = is_all_quoted(word);
    char *piece = whole ? strndup(word + quote, inside) : NULL;
    fprintf(out, "%.*s", whole ? (int)quote : 0, word);
    if (piece || !whole)
        put_piece(out, piece ? piece : word, state);
    else
        fputs(SECRET_MASK, out);
    fputs(whole ? word + quote + inside : "", out);
    free(piece);
}

static void put_script(FILE *out, const char *script, const struct state *outer) {
    struct state inner = {.program = outer->program,
                          .fed = outer->fed || secret_script_is_fed(script),
                          .depth = outer->depth + 1};
    if (inner.depth > DEPTH_MAX) {
        fputs(SECRET_MASK, out);
        return;
    }
    while (*script) {
        script += put_gap(out, script, &inner);
        size_t n = word_size(script);
        char *word = strndup(script, n);
        if (n)
            put_quoted(out, word ? word : SECRET_MASK, &inner);
        free(word);
        script += n;
    }
}

/* ---- commands ---- */

static char *mask(const char *word, struct state *state) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    put_word(out, word, state);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char **secret_words_mask(char *const *words) {
    struct state state = {0};
    size_t n = 0;
    while (words[n])
        n++;
    char **masked = calloc(n + 1, sizeof *masked);
    for (size_t i = 0; masked && i < n; i++)
        if (!(masked[i] = mask(words[i], &state))) {
            secret_words_free(masked);
            return NULL;
        }
    return masked;
}

void secret_words_free(char **words) {
    for (size_t i = 0; words && words[i]; i++)
        free(words[i]);
    free(words);
}
