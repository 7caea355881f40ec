/* SPDX-License-Identifier: MIT */
/*
 * One page that works offline and prints well: style inline, pictures as data URIs, no script,
 * nothing to load. What stands under one heading is a card. A picture is an image of its own, so
 * that it can neither run script nor disturb the ids of another.
 */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/formats.h"
#include "reports/formats/stand_in.h"

static const char style[] =
    "body{font:15px/1.5 system-ui,'DejaVu Sans',sans-serif;color:#222;background:#f5f6f8;margin:0}"
    "main{max-width:1180px;margin:0 auto;padding:24px 20px 60px}"
    "h1{font-size:25px;margin:6px 0 2px}h2{font-size:19px;margin:34px 0 8px}"
    "h3{font-size:15px;margin:16px 0 4px;color:#555}"
    "section{background:#fff;border:1px solid #dfe2e7;border-radius:8px;padding:14px 18px;"
    "margin:12px 0;overflow-x:auto}"
    "code{font:13px/1.4 'DejaVu Sans Mono',monospace;background:#eef0f3;padding:1px 5px;"
    "border-radius:4px;overflow-wrap:anywhere}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:6px 0}"
    "th,td{padding:3px 9px;text-align:right;border-bottom:1px solid #eceef1;white-space:nowrap}"
    "th{font-weight:600;color:#555;white-space:normal;vertical-align:bottom}th:first-child,td:"
    "first-child,td.t,th.t{text-align:left}"
    "tr.group td{background:#f1f3f6;font-weight:600;text-align:left}"
    "td.wrap{white-space:normal;text-align:left;min-width:240px}"
    ".muted{color:#6a7078}.note{color:#6a7078;font-size:13px}td.established{font-weight:600}"
    ".badge{display:inline-block;padding:2px 10px;border-radius:12px;color:#fff;font-size:13px;"
    "font-weight:600;margin-right:8px}"
    ".saturated{background:#b3261e}.suspected{background:#b26a00}.balanced{background:#2e7d32}"
    ".insufficient{background:#5f6670}.CRITICAL{color:#b3261e;font-weight:600}"
    ".WARNING{color:#b26a00;font-weight:600}"
    ".verdict{font-size:18px;margin:8px 0}td{vertical-align:top}"
    "ul{margin:4px 0 8px;padding-left:22px}"
    "figure{margin:10px 0}figure img{width:100%;height:auto;display:block}"
    "figcaption{font-size:14px;font-weight:600;color:#444}"
    "details "
    "section{border:0;padding:0;margin:0}details>summary{cursor:pointer;font-weight:600;padding:"
    "6px 0}"
    "@media print{body{background:#fff}section{break-inside:avoid;border:0}}";

/* Text from outside: escaped for element content and for quoted attributes. */
static void put(FILE *out, const char *text) {
    uint32_t code;
    for (size_t n; *text; text += n) {
        n = text_char(text, strnlen(text, 4), &code);
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
            fwrite(text, 1, n, out);
    }
}

/* class may be NULL. */
static void put_element(FILE *out, const char *tag, const char *class, const char *text) {
    fprintf(out, class ? "<%s class=\"%s\">" : "<%s>", tag, class);
    put(out, text);
    fprintf(out, "</%s>\n", tag);
}

static void begin(struct page *page, const char *title, const char *schema) {
    (void)schema;
    fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; img-src data:\"><title>",
          page->out);
    put(page->out, title);
    fprintf(page->out, "</title><style>%s</style></head>\n<body><main>\n", style);
}

/* ---- cards ---- */

static void close_card(struct page *page) {
    if (page->open)
        fputs("</section>\n", page->out);
    page->open = false;
}

/* What stands above the first heading of level 2 is on no card. */
static void open_card(struct page *page) {
    if (!page->open && page->depth)
        fputs("<section>\n", page->out);
    page->open = page->depth > 0;
}

static void end(struct page *page) {
    close_card(page);
    fputs("<p class=\"note\">Written by chokepoint " CHOKEPOINT_VERSION
          ". Rates are decimal: 1 MB/s is 1,000,000 bytes a second.</p>\n</main></body></html>\n",
          page->out);
}

static void put_heading(struct page *page, int level, const char *text) {
    char tag[8];
    snprintf(tag, sizeof tag, "h%d", level);
    if (level > 2)
        open_card(page);
    else
        close_card(page);
    page->depth = level > 1;
    if (*text)
        put_element(page->out, tag, NULL, text);
}

static void put_paragraph(struct page *page, enum style of, const char *text) {
    static const char *const classes[] = {NULL, "verdict", "note"};
    open_card(page);
    put_element(page->out, "p", classes[of], text);
}

static void put_command(struct page *page, const char *command) {
    open_card(page);
    fputs("<p>", page->out);
    put_element(page->out, "code", NULL, command);
    fputs("</p>\n", page->out);
}

static void put_statement(struct page *page, const char *state, double confidence,
                          const char *sentence) {
    open_card(page);
    fprintf(page->out, "<span class=\"badge %s\">%s</span>", state, state);
    if (confidence > 0)
        fprintf(page->out, "<span class=\"muted\">confidence %.0f %%</span>", 100 * confidence);
    put_element(page->out, "p", "verdict", sentence);
}

static void put_items(FILE *out, char *const *items, size_t n) {
    fputs("<ul>\n", out);
    for (size_t i = 0; i < n; i++)
        put_element(out, "li", NULL, items[i]);
    fputs("</ul>\n", out);
}

static void put_list(struct page *page, const char *label, char *const *items, size_t n) {
    open_card(page);
    if (label) {
        fprintf(page->out, "<h3>%c", toupper((unsigned char)*label));
        put(page->out, label + 1);
        fputs("</h3>\n", page->out);
    }
    put_items(page->out, items, n);
}

static void put_fold(struct page *page, const char *title) {
    open_card(page);
    fputs("<details>", page->out);
    put_element(page->out, "summary", NULL, title);
    page->open = false;
}

static void put_unfold(struct page *page) {
    close_card(page);
    fputs("</details>\n", page->out);
    page->open = true;
}

/* ---- tables ---- */

static void put_cell(FILE *out, const struct report_table *table, size_t row, size_t column) {
    const struct report_cell *cell = &table->cells[row * table->n_columns + column];
    const struct report_column *of = &table->columns[column];
    char text[CELL_TEXT_SIZE];
    const char *shown = cell_text(table, row, column, text);
    fprintf(out, "<td class=\"%s%s%s\"",
            of->kind == KIND_PROSE || of->kind == KIND_LIST ? "wrap"
            : column_is_of_words(of)                        ? "t"
                                                            : "n",
            cell->mark ? " " : "", cell->mark ? cell->mark : "");
    if (cell->hint) {
        fputs(" title=\"", out);
        put(out, cell->hint);
        fputc('"', out);
    }
    fputc('>', out);
    if (of->kind == KIND_LIST && cell->n)
        put_items(out, cell->items, cell->n);
    else if (of->kind == KIND_STATE)
        fprintf(out, "<span class=\"badge %s\">%s</span>", shown, shown);
    else if (of->kind == KIND_DRAWN && *shown)
        put_element(out, "code", NULL, shown);
    else
        put(out, shown);
    fputs("</td>", out);
}

static void put_row(FILE *out, const struct report_table *table, size_t row) {
    size_t shown = 0;
    for (size_t c = 0; c < table->n_columns; c++)
        shown += column_is_shown(&table->columns[c], ROOM_FULL);
    if (table->rows[row].group) {
        fprintf(out, "<tr class=\"group\"><td colspan=\"%zu\">", shown);
        put(out, table->rows[row].group);
        fputs("</td></tr>\n", out);
    }
    fputs(table->rows[row].reference ? "<tr class=\"muted\">" : "<tr>", out);
    for (size_t c = 0; c < table->n_columns; c++)
        if (column_is_shown(&table->columns[c], ROOM_FULL))
            put_cell(out, table, row, c);
    fputs("</tr>\n", out);
}

static void put_table(struct page *page, const struct report_table *table) {
    char text[4 * CELL_TEXT_SIZE];
    open_card(page);
    fputs("<table><tr>", page->out);
    for (size_t c = 0; c < table->n_columns; c++)
        if (column_is_shown(&table->columns[c], ROOM_FULL))
            put_element(page->out, "th", column_is_of_words(&table->columns[c]) ? "t" : NULL,
                        column_heading(&table->columns[c], text));
    fputs("</tr>\n", page->out);
    for (size_t r = 0; r < table->n_rows; r++)
        if (table->rows[r].room <= ROOM_FULL)
            put_row(page->out, table, r);
    fputs("</table>\n", page->out);
}

/* ---- pictures ---- */

static void put_base64(FILE *out, const uint8_t *data, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t word = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                        (left > 2 ? data[i + 2] : 0);
        fputc(digits[word >> 18], out);
        fputc(digits[word >> 12 & 63], out);
        fputc(left > 1 ? digits[word >> 6 & 63] : '=', out);
        fputc(left > 2 ? digits[word & 63] : '=', out);
    }
}

static void put_picture(struct page *page, const char *svg, int why, const char *caption,
                        const char *link) {
    (void)link;
    open_card(page);
    fputs("<figure><figcaption>", page->out);
    put(page->out, caption);
    if (!svg)
        fputs(why == ENOENT ? ": no picture, since gnuplot is not installed here (package "
                              "gnuplot-nox)"
                            : ": gnuplot failed to draw it",
              page->out);
    fputs("</figcaption>", page->out);
    if (svg) {
        fputs("<img alt=\"", page->out);
        put(page->out, caption);
        fputs("\" src=\"data:image/svg+xml;base64,", page->out);
        put_base64(page->out, (const uint8_t *)svg, strlen(svg));
        fputs("\">", page->out);
    }
    fputs("</figure>\n", page->out);
}

const struct format format_html = {
    .name = "html",
    .serves = FOR_READERS,
    .room = ROOM_FULL,
    .pictures = true,
    .begin = begin,
    .end = end,
    .heading = put_heading,
    .paragraph = put_paragraph,
    .command = put_command,
    .statement = put_statement,
    .list = put_list,
    .table = put_table,
    .picture = put_picture,
    .fold = put_fold,
    .unfold = put_unfold,
};
