/* SPDX-License-Identifier: MIT */
/* Texts of a page. Names come from outside: they are escaped here, and nowhere else. */
#include <string.h>

#include "reports/formats/html_private.h"
#include "reports/formats/stand_in.h"

/* Writes the first n bytes of a text. */
static void put_bytes(FILE *out, const char *text, size_t n) {
    const char *end = text + n;
    uint32_t code;
    for (size_t size; text < end && *text; text += size) {
        size_t left = (size_t)(end - text);
        size = text_char(text, strnlen(text, left < 4 ? left : 4), &code);
        const char *entity = code == '&'    ? "&amp;"
                             : code == '<'  ? "&lt;"
                             : code == '>'  ? "&gt;"
                             : code == '"'  ? "&quot;"
                             : code == '\'' ? "&#39;"
                             : !code        ? stand_in(text)
                                            : NULL;
        if (entity)
            fputs(entity, out);
        else
            fwrite(text, 1, size, out);
    }
}

void html_put(FILE *out, const char *text) {
    put_bytes(out, text, strlen(text));
}

void html_put_words(FILE *out, const char *text) {
    const char *open, *close;
    while ((open = strchr(text, '`')) && (close = strchr(open + 1, '`'))) {
        put_bytes(out, text, (size_t)(open - text));
        fputs("<code>", out);
        put_bytes(out, open + 1, (size_t)(close - open - 1));
        fputs("</code>", out);
        text = close + 1;
    }
    html_put(out, text);
}

static void put_tag(FILE *out, const char *tag, const char *class) {
    fprintf(out, class ? "<%s class=\"%s\">" : "<%s>", tag, class);
}

void html_put_element(FILE *out, const char *tag, const char *class, const char *text) {
    put_tag(out, tag, class);
    html_put(out, text);
    fprintf(out, "</%s>\n", tag);
}

void html_put_sentence(FILE *out, const char *tag, const char *class, const char *text) {
    put_tag(out, tag, class);
    html_put_words(out, text);
    fprintf(out, "</%s>\n", tag);
}

void html_put_items(FILE *out, char *const *items, size_t n) {
    fputs("<ul>\n", out);
    for (size_t i = 0; i < n; i++)
        html_put_sentence(out, "li", NULL, items[i]);
    fputs("</ul>\n", out);
}
