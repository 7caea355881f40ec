/* SPDX-License-Identifier: MIT */
/*
 * A text is scanned once. A token may begin with a name that a value follows, or be a secret by its
 * shape; a user and a password may follow "://".
 *
 * A quoted value ends with its quotes. Without quotes it ends with the text if its name began the
 * text (--password=two words), and otherwise where the next value of a list could begin.
 */
#include "cli/launch/secret_private.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "common/error.h"

#define LIST_ENDS "&;, \t\n'\"`)}]|<>"

/* ---- shapes ---- */

static const struct shape {
    const char *prefix;
    size_t least; /* characters behind it */
    bool dotted;  /* and a dot among them */
} shapes[] = {
    {"AKIA", 16, false},     {"ASIA", 16, false},        {"ghp_", 30, false},
    {"gho_", 30, false},     {"ghu_", 30, false},        {"ghs_", 30, false},
    {"ghr_", 30, false},     {"github_pat_", 30, false}, {"hf_", 30, false},
    {"glpat-", 20, false},   {"glsa_", 30, false},       {"gldt-", 20, false},
    {"sk-", 32, false},      {"sk_live_", 20, false},    {"sk_test_", 20, false},
    {"rk_live_", 20, false}, {"whsec_", 20, false},      {"xoxb-", 20, false},
    {"xoxp-", 20, false},    {"xoxa-", 20, false},       {"xoxr-", 20, false},
    {"xoxs-", 20, false},    {"xoxe-", 20, false},       {"xapp-", 20, false},
    {"AIza", 35, false},     {"ya29.", 30, false},       {"GOCSPX-", 20, false},
    {"npm_", 36, false},     {"pypi-", 50, false},       {"dckr_pat_", 20, false},
    {"dop_v1_", 40, false},  {"hvs.", 20, false},        {"shpat_", 30, false},
    {"SG.", 40, true},       {"tskey-", 20, false},      {"AGE-SECRET-KEY-", 40, false},
    {"NRAK-", 20, false},    {"lin_api_", 30, false},    {"PMAK-", 30, false},
    {"ATATT3", 40, false},   {"eyJ", 40, true},
};

/* Size of a secret at text that is recognized by its shape; 0: none. */
static size_t shaped(const char *text) {
    size_t n = 0;
    while (secret_token_char(text[n]))
        n++;
    for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
        size_t prefix = strlen(shapes[i].prefix);
        if (strncmp(text, shapes[i].prefix, prefix) == 0 && n >= prefix + shapes[i].least &&
            (!shapes[i].dotted || memchr(text + prefix, '.', n - prefix)))
            return n;
    }
    return strncmp(text, "-----BEGIN", 10) == 0 && strstr(text, "PRIVATE KEY") ? strlen(text) : 0;
}

/* ---- places ---- */

/* The text behind one of these is secret up to the end of the word. */
static const char *const places[] = {"pass:", "hooks.slack.com/services/",
                                     "discord.com/api/webhooks/", "api.telegram.org/bot"};

static size_t placed(const char *text, size_t *ret_size) {
    for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
        size_t n = strlen(places[i]);
        if (strncmp(text, places[i], n) == 0 && text[n] != ' ') {
            *ret_size = strcspn(text + n, LIST_ENDS "?");
            return *ret_size ? n : 0;
        }
    }
    return 0;
}

static bool looks_drawn(const char *text, size_t size) {
    bool digit = false, letter = false;
    for (size_t i = 0; i < size; i++) {
        digit |= isdigit((unsigned char)text[i]) != 0;
        letter |= isalpha((unsigned char)text[i]) != 0;
    }
    return size >= 20 && digit && letter;
}

/* For user:secret@host behind "://": bytes before the secret, and its size in *ret_size; 0: none. A
 * user that looks like a token is the secret itself. */
static size_t url_secret(const char *text, size_t *ret_size) {
    *ret_size = 0;
    if (strncmp(text, "://", 3) != 0)
        return 0;
    size_t end = strcspn(text + 3, "/?# \t\n'\"") + 3;
    const char *at = memrchr(text, '@', end);
    const char *colon = at ? memchr(text + 3, ':', (size_t)(at - text) - 3) : NULL;
    const char *from = colon ? colon + 1 : text + 3;
    *ret_size = at ? (size_t)(at - from) : 0;
    if (!colon && !looks_drawn(from, *ret_size))
        *ret_size = 0;
    return *ret_size ? (size_t)(from - text) : 0;
}

/* ---- names with values ---- */

/* Size of a quote: \" has two bytes. */
static size_t quote_size(const char *text) {
    size_t n = strspn(text, "\\");
    return text[n] == '"' || text[n] == '\'' ? n + 1 : 0;
}

/* A quoted value, and the text that follows a header, end with the quote. */
static size_t quoted_size(const char *text, size_t quote) {
    const char *begin = text + quote;
    for (const char *p = begin; (p = strchr(p, text[quote - 1])); p++) {
        size_t slashes = 0;
        while (p - slashes > begin && p[-1 - (long)slashes] == '\\')
            slashes++;
        if (slashes == quote - 1)
            return (size_t)(p - begin) - slashes;
    }
    return strlen(begin);
}

/* Bytes between a name and its value: for =x ="x" :"x" ": "x" : x ; 0: no value follows. */
static size_t to_value(const char *text, bool option, bool *ret_quoted, bool *ret_header) {
    size_t quote = quote_size(text), n = quote + strspn(text + quote, " \t");
    char sign = text[n];
    bool apart = n > quote;
    if (sign != '=' && sign != ':')
        return 0;
    n += 1 + (sign == '=' && text[n + 1] == '>');
    bool escaped = sign == ':' && text[n] == '\\' && text[n + 1] == ' ';
    size_t blanks = escaped ? 2 : strspn(text + n, " \t"), behind = quote_size(text + n + blanks);
    *ret_quoted = behind > 0;
    *ret_header = sign == ':' && !quote && !behind;
    if (sign == ':' && !quote && !behind && !blanks && !option)
        return 0; /* an image's tag, a port: image:latest */
    return n + (sign == ':' || behind || apart ? blanks : 0) + behind;
}

static size_t value_size(const char *value, bool quoted, bool to_end) {
    if (quoted) {
        size_t quote = 1;
        while (value[-1 - (long)quote] == '\\')
            quote++;
        return quoted_size(value - quote, quote);
    }
    return to_end ? strlen(value) : strcspn(value, LIST_ENDS);
}

static bool is_secret(const char *name, size_t size, char before, bool option) {
    return before == '?' || before == '&' ? secret_query_name(name, size)
                                          : secret_option_name(name, size, option);
}

/* At text, which begins a token behind `before`: bytes before the value of a secret name, and the
 * value's size in *ret_size; 0: none. */
static size_t named(const char *text, char before, size_t *ret_size) {
    bool quoted = false, header = false;
    size_t dashes = before ? 0 : strspn(text, "-"), end = dashes;
    while (secret_token_char(text[end]))
        end++;
    size_t n = to_value(text + end, dashes > 0, &quoted, &header);
    if (!n || !is_secret(text + dashes, end - dashes, before, dashes == 1))
        return 0;
    *ret_size = value_size(text + end + n, quoted, !before || before == '=' || header);
    return *ret_size ? end + n : 0;
}

static size_t secret_at(const char *text, char before, size_t *ret_size) {
    bool within = before && secret_token_char(before);
    size_t shown = url_secret(text, ret_size);
    if (!*ret_size && !within)
        shown = placed(text, ret_size);
    if (!*ret_size && !within)
        shown = named(text, before, ret_size);
    if (!*ret_size && !within)
        *ret_size = shaped(text);
    return shown;
}

void secret_put_text(FILE *out, const char *text) {
    for (char before = '\0'; *text;) {
        size_t size = 0, shown = secret_at(text, before, &size);
        if (size) {
            fprintf(out, "%.*s" SECRET_MASK, (int)shown, text);
            text += shown + size;
            before = text[-1];
        } else {
            before = *text;
            fputc(*text++, out);
        }
    }
}
