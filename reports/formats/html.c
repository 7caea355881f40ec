/* SPDX-License-Identifier: MIT */
/*
 * One page that works offline, without scripts, and on paper; its own script makes plots and tables
 * interactive. The content under one heading, or of one part, is a card.
 */
#include <ctype.h>

#include "reports/formats/html_private.h"

static void put_html_paragraph(struct page *page, enum style of, const char *text) {
    static const char *const classes[] = {NULL, "verdict", "note"};
    html_open_card(page);
    html_put_sentence(page->out, "p", classes[of], text);
}

static void put_html_command(struct page *page, const char *command) {
    html_open_card(page);
    fputs("<p>", page->out);
    html_put_element(page->out, "code", NULL, command);
    fputs("</p>\n", page->out);
}

static void put_html_statement(struct page *page, const char *state, double confidence,
                               const char *sentence) {
    html_open_card(page);
    fprintf(page->out, "<p><span class=\"badge %s\">%s</span>", state, state);
    if (confidence > 0)
        fprintf(page->out, "<span class=\"muted\">confidence %.0f %%</span>", 100 * confidence);
    fputs("</p>\n", page->out);
    if (*sentence)
        html_put_sentence(page->out, "p", "verdict", sentence);
}

static void put_fields(struct page *page, const struct page_field *fields, size_t n) {
    html_open_card(page);
    fputs("<dl class=\"fields\">\n", page->out);
    for (size_t i = 0; i < n; i++) {
        if (!fields[i].text)
            continue;
        html_put_element(page->out, "dt", NULL, fields[i].name);
        html_put_sentence(page->out, "dd", fields[i].name, fields[i].text);
    }
    fputs("</dl>\n", page->out);
}

static void put_html_list(struct page *page, const char *label, char *const *items, size_t n) {
    html_open_card(page);
    if (label) {
        fprintf(page->out, "<h3>%c", toupper((unsigned char)*label));
        html_put(page->out, label + 1);
        fputs("</h3>\n", page->out);
    }
    html_put_items(page->out, items, n);
}

static void put_fold(struct page *page, const char *title) {
    struct html *h = page->state;
    html_open_card(page);
    fputs("<details class=\"fold\">", page->out);
    html_put_element(page->out, "summary", NULL, title);
    page->open = h->in_part;
}

static void put_unfold(struct page *page) {
    struct html *h = page->state;
    if (!h->in_part)
        html_close_part(page);
    fputs("</details>\n", page->out);
    page->open = true;
}

static void put_html_table(struct page *page, const struct report_table *table) {
    html_open_card(page);
    html_table(page, table);
}

static void put_html_bars(struct page *page, const struct page_bars *bars) {
    html_open_card(page);
    html_bars(page, bars);
}

static void put_html_picture(struct page *page, const struct page_picture *picture) {
    html_open_card(page);
    html_picture(page, picture);
}

const struct format format_html = {
    .name = "html",
    .serves = FOR_READERS,
    .room = ROOM_FULL,
    .pictures = true,
    .begin = html_begin,
    .end = html_end,
    .part = html_part,
    .heading = html_heading,
    .paragraph = put_html_paragraph,
    .command = put_html_command,
    .statement = put_html_statement,
    .fields = put_fields,
    .list = put_html_list,
    .table = put_html_table,
    .picture = put_html_picture,
    .bars = put_html_bars,
    .data = html_data,
    .fold = put_fold,
    .unfold = put_unfold,
};
