/* SPDX-License-Identifier: MIT */
#include "reports/plot/drawing.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "common/text.h"

static void put_character(FILE *out, const char *text, size_t size, uint32_t code) {
    if (code == '&')
        fputs("&amp;", out);
    else if (code == '<')
        fputs("&lt;", out);
    else if (code == '>')
        fputs("&gt;", out);
    else if (code)
        fwrite(text, 1, size, out);
    else
        fputc('?', out);
}

static size_t count_characters(const char *text, size_t most) {
    uint32_t code;
    size_t n = 0;
    for (; *text && n < most; n++)
        text += text_char(text, strnlen(text, 4), &code);
    return n;
}

void drawing_put_short(FILE *out, const char *text, size_t characters) {
    bool longer = count_characters(text, characters + 1) > characters;
    uint32_t code;
    for (size_t n = 0, size; *text && n < characters - longer; n++, text += size) {
        size = text_char(text, strnlen(text, 4), &code);
        put_character(out, text, size, code);
    }
    if (longer)
        fputs("\u2026", out);
}

double drawing_step(double end, double most) {
    double power = pow(10, floor(log10(end / most))), step = end / most / power;
    return power * (step <= 1 ? 1 : step <= 2 ? 2 : step <= 5 ? 5 : 10);
}

void drawing_put_text(FILE *out, double x, double y, const char *anchor, const char *class,
                      const char *text, size_t characters) {
    fprintf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", class, x, y,
            anchor);
    drawing_put_short(out, text, characters);
    fputs("</text>", out);
}
