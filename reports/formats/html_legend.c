/* SPDX-License-Identifier: MIT */
/*
 * Legends in words, beside a swatch of each colour. gnuplot names each line of a picture in a title
 * of its group and then gives its colour: the legend is read from there.
 */
#include <stdlib.h>
#include <string.h>

#include "reports/formats/html_private.h"

#define KEYS_MAX 32
#define TITLE "<title>"

struct legend_key {
    const char *words;
    size_t n;
    unsigned red, green, blue;
};

void html_open_legend(FILE *out, const char *class) {
    fprintf(out, "<ul class=\"%s\">", class);
}

void html_put_key(FILE *out, const char *colour, const char *words) {
    fprintf(out, "<li><i style=\"background:%s\"></i>", colour);
    html_put(out, words);
    fputs("</li>", out);
}

static bool is_known(const struct legend_key *keys, size_t n, const struct legend_key *key) {
    for (size_t i = 0; i < n; i++)
        if (keys[i].n == key->n && strncmp(keys[i].words, key->words, key->n) == 0)
            return true;
    return false;
}

/* Reads the key whose title is at `at`; false: it has none of its own, or no colour. */
static bool read_key(const char *at, struct legend_key *ret_key) {
    const char *words = at + strlen(TITLE), *end = strstr(words, "</title>");
    const char *next = strstr(words, TITLE), *colour = strstr(words, "rgb(");
    struct legend_key key = {.words = words, .n = end ? (size_t)(end - words) : 0};
    if (!key.n || strncmp(words, "gnuplot", 7) == 0 || strncmp(words, "Gnuplot", 7) == 0 ||
        !colour || (next && next < colour) ||
        sscanf(colour, "rgb( %u , %u , %u", &key.red, &key.green, &key.blue) < 3)
        return false;
    *ret_key = key;
    return true;
}

/* The words are escaped already. */
static void put_keys(FILE *out, const struct legend_key *keys, size_t n) {
    html_open_legend(out, "legend narrow");
    for (size_t i = 0; i < n; i++)
        fprintf(out, "<li><i style=\"background:#%02x%02x%02x\"></i>%.*s</li>", keys[i].red & 0xff,
                keys[i].green & 0xff, keys[i].blue & 0xff, (int)keys[i].n, keys[i].words);
    fputs("</ul>", out);
}

void html_put_legend(FILE *out, const char *svg) {
    struct legend_key keys[KEYS_MAX], key;
    size_t n = 0;
    for (const char *at = svg; n < KEYS_MAX && (at = strstr(at, TITLE)); at += strlen(TITLE))
        if (read_key(at, &key) && !is_known(keys, n, &key))
            keys[n++] = key;
    if (n > 1)
        put_keys(out, keys, n);
}
