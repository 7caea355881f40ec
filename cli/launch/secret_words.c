/* SPDX-License-Identifier: MIT */
/*
 * A secret is recognized by the name before it (--password=x, TOKEN=x, "X-Api-Key: x"), by the
 * program that takes it (mysql -px), by its place in a URL, or by a shape that issuers give it. A
 * word that holds a script (sh -c '...') is looked through piece by piece.
 */
#include "cli/launch/secret_words.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"

#define MASK "***"
#define NAME_MAX_BYTES 64

/* The kind of the next word, decided by this one. */
enum following { PLAIN, SECRET, AFTER_COLON };

struct state {
    const char *program; /* the last word that is a program of `letters` below, or NULL */
    enum following next;
    bool script; /* the word before is a shell's -c */
};

/* ---- names ---- */

/* The name in lower case, parts joined by '_': "X-Api-Key", "apiKey", "api.key" -> "api_key". */
static bool normalize(const char *name, size_t size, char to[NAME_MAX_BYTES]) {
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)name[i];
        bool upper_follows = i && isupper(c) && islower((unsigned char)name[i - 1]);
        if (n + 3 > NAME_MAX_BYTES || !(isalnum(c) || strchr("-_.", c)))
            return false;
        if (upper_follows)
            to[n++] = '_';
        to[n++] = isalnum(c) ? (char)tolower(c) : '_';
    }
    to[n] = '\0';
    return n > 0;
}

static bool ends_with_part(const char *name, const char *part) {
    size_t n = strlen(name), m = strlen(part);
    return n >= m && strcmp(name + n - m, part) == 0 && (n == m || name[n - m - 1] == '_');
}

static bool ends_with_any(const char *name, const char *const *parts, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (ends_with_part(name, parts[i]))
            return true;
    return false;
}

/* PGPASSWORD, dbpasswd */
static bool ends_in_password(const char *name) {
    static const char *const ends[] = {"password", "passwd", "passphrase"};
    size_t n = strlen(name);
    for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
        if (n > strlen(ends[i]) && strcmp(name + n - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

/* The last part of a name says what it is of: a password_file holds a path, an eos_token a word of
 * a language model. */
static bool is_secret_name(const char *text, size_t size) {
    static const char *const secret[] = {
        "password", "passwd",      "passphrase",    "pass",      "pwd",           "secret",
        "token",    "credential",  "api_key",       "apikey",    "key_id",        "access_key",
        "auth_key", "private_key", "secret_key",    "accesskey", "secretkey",     "credentials",
        "pat",      "auth",        "authorization", "cookie",    "encryption_key"};
    static const char *const harmless[] = {"eos_token",  "bos_token",  "pad_token",  "unk_token",
                                           "sep_token",  "cls_token",  "mask_token", "stop_token",
                                           "next_token", "image_token"};
    char name[NAME_MAX_BYTES];
    return normalize(text, size, name) &&
           (ends_with_any(name, secret, ARRAY_SIZE(secret)) || ends_in_password(name)) &&
           !ends_with_any(name, harmless, ARRAY_SIZE(harmless));
}

/* ---- options that only their program makes secret ---- */

static const struct letter {
    const char *program, *option;
    bool joined;         /* the value may follow in the same word */
    enum following gets; /* what it is in the next word; PLAIN: never there */
} letters[] = {
    {"mysql", "-p", true, PLAIN},
    {"mysqldump", "-p", true, PLAIN},
    {"mysqladmin", "-p", true, PLAIN},
    {"mysqlimport", "-p", true, PLAIN},
    {"mariadb", "-p", true, PLAIN},
    {"mariadb-dump", "-p", true, PLAIN},
    {"sshpass", "-p", true, SECRET},
    {"redis-cli", "-a", false, SECRET},
    {"curl", "-u", true, AFTER_COLON},
    {"curl", "--user", false, AFTER_COLON},
    {"curl", "--proxy-user", false, AFTER_COLON},
    {"ldapsearch", "-w", true, SECRET},
    {"smbclient", "-U", true, AFTER_COLON},
    {"mongosh", "-p", true, SECRET},
};

static const char *base_name(const char *word) {
    const char *slash = strrchr(word, '/');
    return slash ? slash + 1 : word;
}

static const char *known_program(const char *word) {
    for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
        if (strcmp(base_name(word), letters[i].program) == 0)
            return letters[i].program;
    return NULL;
}

static void put_after_colon(FILE *out, const char *text) {
    const char *colon = strpbrk(text, ":%");
    fprintf(out, "%.*s%s", (int)(colon ? colon + 1 - text : (long)strlen(text)), text,
            colon ? MASK : "");
}

/* True if the word is such an option and was written. */
static bool put_letter(FILE *out, const char *word, struct state *state) {
    for (size_t i = 0; state->program && i < ARRAY_SIZE(letters); i++) {
        const struct letter *letter = &letters[i];
        size_t n = strlen(letter->option);
        bool whole = strcmp(word, letter->option) == 0;
        if (strcmp(letter->program, state->program) != 0 || strncmp(word, letter->option, n) != 0 ||
            (!whole && !letter->joined))
            continue;
        if (whole)
            state->next = letter->gets;
        fputs(letter->option, out);
        if (!whole && letter->gets == AFTER_COLON)
            put_after_colon(out, word + n);
        else if (!whole)
            fputs(MASK, out);
        return true;
    }
    return false;
}

/* ---- what tells itself ---- */

static const struct shape {
    const char *prefix;
    size_t least; /* characters behind it */
} shapes[] = {
    {"AKIA", 16},  {"ASIA", 16},  {"ghp_", 30},   {"gho_", 30},        {"ghu_", 30},  {"ghs_", 30},
    {"ghr_", 30},  {"hf_", 30},   {"glpat-", 20}, {"github_pat_", 30}, {"sk-", 32},   {"xoxb-", 20},
    {"xoxp-", 20}, {"xoxa-", 20}, {"AIza", 35},   {"npm_", 36},        {"pypi-", 50}, {"eyJ", 40},
};

static bool is_token_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* Bytes of a secret at text that is one by its shape; 0: none. */
static size_t shaped(const char *text) {
    size_t n = 0;
    while (is_token_char(text[n]))
        n++;
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        size_t prefix = strlen(shapes[i].prefix);
        bool is_jwt = shapes[i].prefix[0] == 'e';
        if (strncmp(text, shapes[i].prefix, prefix) == 0 && n >= prefix + shapes[i].least &&
            (!is_jwt || memchr(text, '.', n)))
            return n;
    }
    return 0;
}

/* Behind "://" the bytes to the secret of user:secret@host, and of it in *ret_size; 0: none. */
static size_t url_secret(const char *text, size_t *ret_size) {
    size_t end = strcspn(text, "/?# \t\n'\"");
    const char *at = memrchr(text, '@', end);
    const char *colon = at ? memchr(text, ':', (size_t)(at - text)) : NULL;
    *ret_size = colon ? (size_t)(at - colon - 1) : 0;
    return *ret_size ? (size_t)(colon + 1 - text) : 0;
}

/* A shape begins where a token could: not in the middle of another word. */
static void put_shown(FILE *out, const char *text) {
    for (bool within = false; *text;) {
        size_t size = 0, shown = strncmp(text, "://", 3) == 0 ? url_secret(text + 3, &size) : 0;
        size_t n = shown ? 3 + shown + size : within ? 0 : shaped(text);
        if (n) {
            fprintf(out, "%.*s" MASK, shown ? (int)(3 + shown) : 0, text);
            text += n;
        } else {
            within = is_token_char(*text);
            fputc(*text++, out);
        }
    }
}

/* ---- words ---- */

/* NAME=secret, --name=secret, "Name: secret": bytes up to the secret, 0: none. */
static size_t named_secret(const char *word) {
    size_t dashes = strspn(word, "-"), n = dashes + strcspn(word + dashes, "=: \t");
    if (!word[n] || strchr(" \t", word[n]) || !is_secret_name(word + dashes, n - dashes))
        return 0;
    if (word[n] == ':')
        return word[n + 1] == ' ' && word[n + 2] ? n + 2 : 0;
    return word[n + 1] ? n + 1 : 0;
}

static void put_pieces(FILE *out, const char *word, struct state *state);

/* "Bearer", and --header=Bearer. */
static bool is_scheme(const char *word) {
    size_t n = strlen(word);
    return n >= 6 && strcasecmp(word + n - 6, "Bearer") == 0 &&
           (n == 6 || !isalnum((unsigned char)word[n - 7]));
}

static void put_word(FILE *out, const char *word, struct state *state) {
    enum following is = state->next;
    const char *program = known_program(word);
    bool has_blanks = strpbrk(word, " \t\n") != NULL, script = state->script && has_blanks;
    size_t shown = script ? 0 : named_secret(word), dashes = strspn(word, "-");
    state->next = PLAIN;
    state->script = dashes == 1 && word[strlen(word) - 1] == 'c';
    if (is == SECRET && word[0] != '-')
        fputs(MASK, out);
    else if (is == AFTER_COLON)
        put_after_colon(out, word);
    else if (shown)
        fprintf(out, "%.*s" MASK, (int)shown, word);
    else if (has_blanks)
        put_pieces(out, word, state);
    else if (!put_letter(out, word, state)) {
        bool announces = dashes && is_secret_name(word + dashes, strlen(word + dashes));
        state->next = announces || is_scheme(word) ? SECRET : PLAIN;
        state->program = program ? program : state->program;
        put_shown(out, word);
    }
}

/* A script, or a header: blanks, quotes and separators part its words. */
static void put_pieces(FILE *out, const char *word, struct state *state) {
    static const char between[] = " \t\n'\"`;&|()<>";
    struct state inner = {.program = state->program};
    while (*word) {
        size_t gap = strspn(word, between), n = strcspn(word + gap, between);
        char *piece = strndup(word + gap, n);
        fprintf(out, "%.*s", (int)gap, word);
        bool secret_header = n && piece && piece[n - 1] == ':' && is_secret_name(piece, n - 1);
        if (n && piece)
            put_word(out, piece, &inner);
        if (secret_header)
            inner.next = SECRET;
        free(piece);
        word += gap + n;
    }
}

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
