/* SPDX-License-Identifier: MIT */
/*
 * Pictures as SVG in the page itself, so that its style applies and their words can be found and
 * copied. gnuplot's output is cut down: no ids, which would clash with those of other pictures, no
 * empty titles, no white background, no empty groups. Colours become short, so that the style can
 * name the neutral ones and invert them in the dark. The definitions that all plots use come once,
 * before the first plot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/html_private.h"

/* Attributes with default values, or with values that the style sets. */
static const char *const needless[] = {" stroke-linecap=\"butt\"", " stroke-linejoin=\"miter\"",
                                       " stroke-width=\"1.00\"", " font-family=\"DejaVu Sans\"",
                                       " standalone=\"no\""};

static size_t starts_with(const char *text, const char *with) {
    size_t n = strlen(with);
    return strncmp(text, with, n) == 0 ? n : 0;
}

/* The text behind the next `what`, or the end. */
static const char *behind(const char *text, const char *what) {
    const char *found = strstr(text, what);
    return found ? found + strlen(what) : text + strlen(text);
}

/* The text behind an element that is left out; NULL: the element stays. */
static const char *left_out(const char *at) {
    if (starts_with(at, "<title>"))
        return behind(at, "</title>");
    if (starts_with(at, "<desc>"))
        return behind(at, "</desc>");
    if (starts_with(at, "<defs>"))
        return behind(at, "</defs>");
    if (starts_with(at, "<rect x=\"0\" y=\"0\"")) {
        const char *end = behind(at, "/>"), *white = strstr(at, "fill=\"#ffffff\"");
        return white && white < end ? end : NULL;
    }
    if (starts_with(at, "<g ")) {
        const char *inner = behind(at, ">");
        inner += strspn(inner, " \t\n");
        return starts_with(inner, "</g>") ? inner + 4 : NULL;
    }
    return NULL;
}

/* The text behind an attribute that is left out; NULL: the attribute stays. */
static const char *without_attribute(const char *at) {
    for (size_t i = 0; i < sizeof needless / sizeof *needless; i++)
        if (starts_with(at, needless[i]))
            return at + strlen(needless[i]);
    if (starts_with(at, " id=\"gnuplot"))
        return behind(at + 5, "\"");
    return NULL;
}

/* Writes "rgb( 61, 133, 198)" as "#3d85c6"; returns what follows it, or NULL if it is no such
 * colour.
 */
static const char *put_colour(FILE *out, const char *at) {
    unsigned red, green, blue;
    int n = 0;
    if (!starts_with(at, "rgb(") ||
        sscanf(at, "rgb( %u , %u , %u )%n", &red, &green, &blue, &n) < 3 || n == 0)
        return NULL;
    fprintf(out, "#%02x%02x%02x", red & 0xff, green & 0xff, blue & 0xff);
    return at + n;
}

/* Blanks between elements are dropped; elsewhere one suffices. */
static const char *put_blank(FILE *out, const char *at, char before) {
    const char *next = at + strspn(at, " \t\n");
    if (before != '>' || *next != '<')
        fputc(' ', out);
    return next;
}

/* Writes attributes with shortened colours. */
static void put_look(FILE *out, const char *look, size_t n) {
    for (const char *at = look, *next; at < look + n; at = next) {
        next = put_colour(out, at);
        if (!next) {
            if (strncmp(at, " = ", 3) == 0)
                fputc('=', out);
            else
                fputc(*at, out);
            next = at + (strncmp(at, " = ", 3) == 0 ? 3 : 1);
        }
    }
}

/* Shortens areas and lines; returns what follows them, or NULL if there are none. */
static const char *put_shape(FILE *out, const char *at) {
    char *data = NULL;
    size_t size, n;
    const char *look = NULL, *end = NULL;
    FILE *copy = *at == '<' || *at == 'd' ? open_memstream(&data, &size) : NULL;
    if (!copy)
        return NULL;
    if (*at == '<')
        end = html_put_areas(copy, at, &look, &n);
    else
        end = html_put_line(copy, at);
    if (fclose(copy) != 0)
        end = NULL;
    if (end && look) {
        fputs("<path ", out);
        put_look(out, look, n);
        fprintf(out, " d='%s'/>", data);
    } else if (end) {
        fprintf(out, "d='%s", data);
    }
    free(data);
    return end;
}

static bool may_be_shape(const char *at, bool in_tag) {
    return in_tag ? starts_with(at, "d='M") : starts_with(at, "<polygon ");
}

static void put_slim(FILE *out, const char *at) {
    const char *next;
    bool in_tag = false;
    char before = '>';
    while (*at) {
        if (!in_tag && *at == '<' && (next = left_out(at))) {
            at = next;
        } else if (may_be_shape(at, in_tag) && (next = put_shape(out, at))) {
            before = '>';
            at = next;
        } else if (in_tag && ((next = without_attribute(at)) || (next = put_colour(out, at)))) {
            at = next;
        } else if (*at == '\n' || *at == '\t') {
            at = put_blank(out, at, before);
        } else {
            in_tag = *at == '<' || (in_tag && *at != '>');
            before = *at;
            fputc(*at++, out);
        }
    }
}

/* Writes the attribute of the root element, if it has it. */
static void put_root_attribute(FILE *out, const char *svg, const char *name) {
    const char *end = strchr(svg, '>'), *at = strstr(svg, name);
    if (at && end && at < end)
        fprintf(out, " %.*s", (int)(behind(at + strlen(name) + 2, "\"") - at), at);
}

/* The names of rows again, for screens on which the picture scrolls below them. */
static void put_held(FILE *out, const char *root, int held, size_t id) {
    const char *box = strstr(root, "viewBox=\"");
    double width, height;
    if (!held || !box || sscanf(box, "viewBox=\"0 0 %lf %lf", &width, &height) < 2)
        return;
    fprintf(out,
            "<svg class=\"held\" aria-hidden=\"true\" viewBox=\"0 0 %d %.0f\" style=\"--held:%d\">"
            "<use href=\"#p%zu\"/></svg>",
            held, height, held, id);
}

static void put_svg(struct page *page, const struct page_picture *picture) {
    static const char *const attributes[] = {"viewBox", "class", "data-map"};
    const char *root = strstr(picture->svg, "<svg");
    struct html *h = page->state;
    FILE *out = page->out;
    if (!root)
        return;
    put_held(out, root, picture->held, ++h->n_pictures);
    fputs("<svg role=\"img\" aria-label=\"", out);
    html_put(out, picture->caption);
    fputc('"', out);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        put_root_attribute(out, root, attributes[i]);
    const char *inner = behind(root, ">"), *end = strstr(inner, "</svg>");
    char *content = strndup(inner, end ? (size_t)(end - inner) : strlen(inner));
    if (!content)
        page->error = page->error ? page->error : -ENOMEM;
    fprintf(out, "><g id=\"p%zu\"", h->n_pictures);
    put_root_attribute(out, root, "class"); /* the names again have its style only so */
    fputc('>', out);
    put_slim(out, content ? content : "");
    fputs("</g></svg>\n", out);
    free(content);
}

/* gnuplot's marks are the same in all its pictures. */
static void put_marks(struct html *h, FILE *out, const char *svg) {
    const char *from = strstr(svg, "<defs>"), *to = from ? strstr(from, "</defs>") : NULL;
    char *marks = to && !h->defined && strstr(from, "gpDot")
                      ? strndup(from + strlen("<defs>"), (size_t)(to - from) - strlen("<defs>"))
                      : NULL;
    if (!marks)
        return;
    fputs("<svg class=\"marks\" aria-hidden=\"true\" width=\"0\" height=\"0\"><defs>", out);
    put_slim(out, marks);
    fputs("</defs></svg>\n", out);
    h->defined = true;
    free(marks);
}

static char last_of(const char *text) {
    return text[strlen(text) - 1];
}

static void put_caption(FILE *out, const struct page_picture *picture) {
    fputs("<figcaption><strong>", out);
    html_put(out, picture->caption);
    if (picture->why && !picture->svg)
        fputs(picture->why == ENOENT ? ": no picture, since gnuplot is not installed here (package "
                                       "gnuplot-nox)"
                                     : ": gnuplot failed to draw it",
              out);
    if (picture->finding && *picture->caption && !strchr(".?!", last_of(picture->caption)))
        fputc('.', out);
    fputs("</strong>", out);
    if (picture->finding) {
        fputs(" ", out);
        html_put_words(out, picture->finding);
    }
    fputs("</figcaption>", out);
}

void html_open_figure(FILE *out, const struct page_picture *picture) {
    if (picture->name)
        fprintf(out, "<figure data-plot=\"%s\">", picture->name);
    else
        fputs("<figure>", out);
    put_caption(out, picture);
}

void html_picture(struct page *page, const struct page_picture *picture) {
    if (picture->svg)
        put_marks(page->state, page->out, picture->svg);
    html_open_figure(page->out, picture);
    if (picture->svg) {
        html_put_legend(page->out, picture->svg);
        html_open_scroll(page, "picture", picture->caption);
        put_svg(page, picture);
        fputs("</div>", page->out);
    }
    fputs("</figure>\n", page->out);
}
